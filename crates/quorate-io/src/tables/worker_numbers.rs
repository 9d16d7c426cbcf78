//! A number for each worker: `worker` and a column of numbers (what a label costs, how many a worker can
//! give).

use std::collections::HashMap;

use crate::error::{Error, ErrorKind, Result};
use crate::formats::{FileFormat, Row, RowSink, field, find_column, scan};
use crate::source::Source;

/// More than anybody pays or gives: sums of such numbers stay far from infinity.
const MOST: f64 = 1e12;

/// Reads the column `column` for every worker of a table; a worker with two different numbers is an error.
pub fn read_worker_numbers(
    source: &Source,
    format: Option<FileFormat>,
    column: &str,
) -> Result<HashMap<String, f64>> {
    let mut sink = NumberSink {
        column,
        numbers: HashMap::new(),
    };
    scan(source, format, &mut sink, &mut |_, _| {})?;
    Ok(sink.numbers)
}

struct NumberSink<'a> {
    column: &'a str,
    numbers: HashMap<String, f64>,
}

impl RowSink for NumberSink<'_> {
    fn select(&mut self, names: &[String]) -> Result<Vec<usize>> {
        Ok(vec![
            find_column(names, "worker", "worker")?,
            find_column(names, self.column, self.column)?,
        ])
    }

    fn row(&mut self, row: &impl Row) -> Result<()> {
        let (worker, text) = (field(row, 0, "worker")?, field(row, 1, self.column)?);
        if worker.is_empty() {
            return Err(Error::from(quorate::Error::EmptyId("worker")).in_column("worker"));
        }
        let number = match text.trim().parse::<f64>() {
            Ok(number) if (0.0..=MOST).contains(&number) => number,
            _ => {
                let range = "a number from 0 to 1000000000000";
                return Err(not_a_number(text.to_owned(), range).in_column(self.column));
            }
        };
        match self.numbers.insert(worker.to_owned(), number) {
            Some(earlier) if earlier != number => {
                let found = format!("{earlier}, then {number} for worker {worker}");
                Err(not_a_number(found, "one number for each worker").in_column(self.column))
            }
            _ => Ok(()),
        }
    }
}

fn not_a_number(found: String, expected: &'static str) -> Error {
    Error::new(ErrorKind::Number { found, expected })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<HashMap<String, f64>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("costs.csv");
        std::fs::write(&path, text).unwrap();
        read_worker_numbers(&Source::from(path), None, "cost")
    }

    #[test]
    fn one_number_for_each_worker() {
        let numbers = read("worker,cost\nann,0.5\nbob, 2\nann,0.5\n").unwrap();
        assert_eq!((numbers["ann"], numbers["bob"]), (0.5, 2.0));
    }

    #[test]
    fn what_is_no_number_is_named_with_its_line() {
        for bad in ["x", "-1", "inf", "nan", ""] {
            let message = read(&format!("worker,cost\nann,1\nbob,{bad}\n"))
                .unwrap_err()
                .to_string();
            assert!(message.contains("3") && message.contains("cost"), "{message}");
        }
        assert!(read("worker,cost\nann,1\nann,2\n").is_err());
        assert!(read("worker,price\nann,1\n").is_err());
    }
}
