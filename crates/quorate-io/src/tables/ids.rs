//! A column of ids: the workers to keep, say; or a plain list, one id on each line.

use std::io::Read;

use quorate::annotations::Names;

use super::column_roles::{Role, Wanted, find_columns};
use crate::error::{ErrorKind, Result};
use crate::formats::{
    Cell, ColumnKind, Compression, FileFormat, Row, RowSink, field, find_column, scan, write_rows,
};
use crate::source::Source;
use crate::target::Target;

/// Reads the distinct values of the column `column` of a table; empty ones do not count. The columns `task`
/// and `worker` are found under their other names, too. A file whose name ends in `.txt` has an id on each
/// line and no header.
pub fn read_ids(source: &Source, format: Option<FileFormat>, column: &str) -> Result<Names> {
    let mut sink = IdSink {
        column: column.to_owned(),
        ids: Names::default(),
    };
    if let (None, Source::Path(path)) = (format, source)
        && path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("txt"))
    {
        return read_list(source).map_err(|error| error.in_file(source.name()));
    }
    scan(source, format, &mut sink, &mut |_, _| {})?;
    Ok(sink.ids)
}

/// Writes ids as a table of one column.
pub fn write_ids(target: &Target, format: Option<FileFormat>, column: &str, ids: Vec<&str>) -> Result<()> {
    write_rows(target, format, [(column, ColumnKind::Text)], |each| {
        ids.iter().try_for_each(|id| each(&[Cell::Text(id)]))
    })
}

fn read_list(source: &Source) -> Result<Names> {
    let mut text = String::new();
    let read = source
        .open_text(Compression::None, &mut |_, _| {})?
        .read_to_string(&mut text);
    read.map_err(|_| ErrorKind::NotUtf8)?;
    let mut ids = Names::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        ids.intern(line);
    }
    Ok(ids)
}

struct IdSink {
    column: String,
    ids: Names,
}

impl RowSink for IdSink {
    fn select(&mut self, names: &[String]) -> Result<Vec<usize>> {
        let role = [Role::Task, Role::Worker]
            .into_iter()
            .find(|role| role.name() == self.column);
        let found = match role {
            Some(role) => {
                let name = &self.column;
                find_columns(names, &[Wanted { role, name }])?
            }
            None => vec![find_column(names, &self.column, &self.column)?],
        };
        self.column = names[found[0]].clone();
        Ok(found)
    }

    fn row(&mut self, row: &impl Row) -> Result<()> {
        let id = field(row, 0, &self.column)?;
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
        std::fs::write(&path, "Annotator ID;n\nann;1\n").unwrap();
        let ids = read_ids(&Source::from(path.clone()), None, "worker").unwrap();
        assert_eq!(ids.iter().collect::<Vec<_>>(), ["ann"]);
        let list = folder.path().join("workers.txt");
        std::fs::write(&list, "ann\n\n bob\nann\n").unwrap();
        let ids = read_ids(&Source::from(list), None, "worker").unwrap();
        assert_eq!(ids.iter().collect::<Vec<_>>(), ["ann", "bob"]);
        let message = read_ids(&Source::from(path), None, "person")
            .unwrap_err()
            .to_string();
        assert!(message.contains("person"), "{message}");
    }
}
