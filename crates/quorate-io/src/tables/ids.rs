//! A column of ids: the workers to keep, say; or a plain list, one id on each line.

use std::io::Read;

use quorate::annotations::Names;

use super::column_roles::{Role, Wanted, find_columns};
use crate::error::{ErrorKind, Result};
use crate::formats::{Cell, ColumnKind, Compression, find_columns_named, read_side, write_rows};
use crate::source::Source;
use crate::target::Target;

/// Reads the distinct values of the column `column` of a table; empty ones do not count. The columns `task`
/// and `worker` are found under their other names, too. A file whose name ends in `.txt` has an id on each
/// line and no header.
pub fn read_ids(source: &Source, column: &str) -> Result<Names> {
    if let Source::Path(path) = source
        && path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("txt"))
    {
        return read_list(source).map_err(|error| error.in_file(source.name()));
    }
    let choose = |_: &mut _, names: &[String]| {
        let roles = [Role::Task, Role::Worker];
        match roles.into_iter().find(|role| role.name() == column) {
            Some(role) => find_columns(names, &[Wanted { role, name: column }]),
            None => find_columns_named(names, &[column]),
        }
    };
    read_side(source, Names::default(), choose, |ids: &mut Names, row| {
        match row.field(0)? {
            "" => {}
            id => drop(ids.intern(id)),
        }
        Ok(())
    })
}

/// Writes ids as a table of one column.
pub fn write_ids(target: &Target, column: &str, ids: Vec<&str>) -> Result<()> {
    write_rows(target, [(column, ColumnKind::Text)], |each| {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinct_ids_of_one_column() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("workers.csv");
        std::fs::write(&path, "n,worker\n3,ann\n2,bob\n1,ann\n0,\n").unwrap();
        let ids = read_ids(&Source::from(path.clone()), "worker").unwrap();
        assert_eq!(ids.iter().collect::<Vec<_>>(), ["ann", "bob"]);
        std::fs::write(&path, "Annotator ID;n\nann;1\n").unwrap();
        let ids = read_ids(&Source::from(path.clone()), "worker").unwrap();
        assert_eq!(ids.iter().collect::<Vec<_>>(), ["ann"]);
        let list = folder.path().join("workers.txt");
        std::fs::write(&list, "ann\n\n bob\nann\n").unwrap();
        let ids = read_ids(&Source::from(list), "worker").unwrap();
        assert_eq!(ids.iter().collect::<Vec<_>>(), ["ann", "bob"]);
        let message = read_ids(&Source::from(path), "person").unwrap_err().to_string();
        assert!(message.contains("person"), "{message}");
    }
}
