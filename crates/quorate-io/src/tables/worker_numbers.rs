//! A number for each worker: `worker` and a column of numbers (what a label costs, how many a worker can
//! give).

use std::collections::HashMap;

use quorate::annotations::Names;

use crate::error::{Error, ErrorKind, Result};
use crate::formats::{FileFormat, find_columns_named, scan, sink};
use crate::source::Source;

/// More than anybody pays or gives: sums of such numbers stay far from infinity.
const MAX_NUMBER: f64 = 1e12;

/// Numbers of workers that were read, and what there is to say about them.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkerNumbersRead {
    /// The number of each worker; None for workers who are not listed.
    pub numbers: Vec<Option<f64>>,
    /// Workers of the table who are not among these: not used.
    pub foreign: usize,
}

impl WorkerNumbersRead {
    /// The numbers, with this one for workers who are not listed.
    pub fn or(&self, others: f64) -> Vec<f64> {
        self.numbers
            .iter()
            .map(|number| number.unwrap_or(others))
            .collect()
    }

    /// The numbers rounded down, within the range of their type.
    pub fn whole_or(&self, others: u32) -> Vec<u32> {
        let whole = |number: &Option<f64>| number.map_or(others, |number| number as u32);
        self.numbers.iter().map(whole).collect()
    }
}

/// Reads the column `column` of a table for each of these workers; a worker with two different numbers is an
/// error.
pub fn read_worker_numbers(
    source: &Source,
    format: Option<FileFormat>,
    column: &str,
    workers: &Names,
) -> Result<WorkerNumbersRead> {
    let wrong = |found: String, expected: &'static str| {
        let number = Error::new(ErrorKind::Number { found, expected });
        Err(number.in_column(column))
    };
    let choose = |_: &mut _, names: &[String]| find_columns_named(names, &["worker", column]);
    let mut rows = sink(
        HashMap::new(),
        choose,
        |numbers: &mut HashMap<String, f64>, row| {
            let (worker, text) = (row.id(0, "worker")?, row.field(1)?);
            let number = match text.trim().parse::<f64>() {
                Ok(number) if (0.0..=MAX_NUMBER).contains(&number) => number,
                _ => return wrong(text.to_owned(), "a number from 0 to 1000000000000"),
            };
            match numbers.insert(worker.to_owned(), number) {
                Some(earlier) if earlier != number => wrong(
                    format!("{earlier}, then {number} for worker {worker}"),
                    "one number for each worker",
                ),
                _ => Ok(()),
            }
        },
    );
    scan(source, format, &mut rows, &mut |_, _| {})?;
    let numbers: Vec<Option<f64>> = workers
        .iter()
        .map(|worker| rows.state.get(worker).copied())
        .collect();
    let known = numbers.iter().flatten().count();
    Ok(WorkerNumbersRead {
        foreign: rows.state.len() - known,
        numbers,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<WorkerNumbersRead> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("costs.csv");
        std::fs::write(&path, text).unwrap();
        let workers: Names = ["cem", "bob", "ann"].into_iter().collect();
        read_worker_numbers(&Source::from(path), None, "cost", &workers)
    }

    #[test]
    fn one_number_for_each_worker() {
        let read = read("worker,cost\nann,0.5\nbob, 2\nann,0.5\ndan,1\n").unwrap();
        assert_eq!((read.or(1.0), read.foreign), (vec![1.0, 2.0, 0.5], 1));
        assert_eq!(read.whole_or(7), [7, 2, 0]);
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
