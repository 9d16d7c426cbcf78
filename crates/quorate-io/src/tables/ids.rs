//! A column of ids: the workers to keep, say.

use quorate::annotations::Names;

use crate::error::Result;
use crate::formats::{
    Cell, ColumnKind, FileFormat, Row, RowSink, RowSource, field, find_column, scan, write_table,
};
use crate::source::Source;
use crate::target::Target;

/// Reads the distinct values of the column `column` of a table; empty ones do not count.
pub fn read_ids(source: &Source, format: Option<FileFormat>, column: &str) -> Result<Names> {
    let mut sink = IdSink {
        column,
        ids: Names::default(),
    };
    scan(source, format, &mut sink, &mut |_, _| {})?;
    Ok(sink.ids)
}

/// Writes ids as a table of one column.
pub fn write_ids(target: &Target, format: Option<FileFormat>, column: &str, ids: Vec<&str>) -> Result<()> {
    write_table(target, format, &IdRows { column, ids })
}

struct IdRows<'a> {
    column: &'a str,
    ids: Vec<&'a str>,
}

impl RowSource for IdRows<'_> {
    fn columns(&self) -> Vec<(String, ColumnKind)> {
        vec![(self.column.to_owned(), ColumnKind::Text)]
    }

    fn for_each_row(&self, each: &mut dyn FnMut(&[Cell<'_>]) -> Result<()>) -> Result<()> {
        self.ids.iter().try_for_each(|id| each(&[Cell::Text(id)]))
    }
}

struct IdSink<'a> {
    column: &'a str,
    ids: Names,
}

impl RowSink for IdSink<'_> {
    fn select(&mut self, names: &[String]) -> Result<Vec<usize>> {
        Ok(vec![find_column(names, self.column, self.column)?])
    }

    fn row(&mut self, row: &impl Row) -> Result<()> {
        let id = field(row, 0, self.column)?;
        if !id.is_empty() {
            self.ids.intern(id);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinct_ids_of_one_column() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("workers.csv");
        std::fs::write(&path, "n,worker\n3,ann\n2,bob\n1,ann\n0,\n").unwrap();
        let ids = read_ids(&Source::from(path.clone()), None, "worker").unwrap();
        assert_eq!(ids.iter().collect::<Vec<_>>(), ["ann", "bob"]);
        let message = read_ids(&Source::from(path), None, "person")
            .unwrap_err()
            .to_string();
        assert!(message.contains("person"), "{message}");
    }
}
