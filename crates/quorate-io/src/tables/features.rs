//! Features of tasks: numbers that describe them, from a table or a NumPy array.
//!
//! A table (any format) has a column `task` and holds nothing but numbers in the others. A `.npy` file has a
//! row for each task: that of the task whose id is the row's number, counted from 0, or the one in the same
//! place of a list of tasks.

use quorate::annotations::Names;
use quorate::{Annotations, TaskFeatures};

use super::SideData;
use super::column_roles::{Role, Wanted, find_columns};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::{npy, read_side};
use crate::source::Source;

/// Reads features for the tasks of `annotations`; a task without features is an error. `order` says which
/// task each row of a `.npy` file is about.
pub fn read_features(
    source: &Source,
    annotations: &Annotations,
    order: Option<&Names>,
) -> Result<SideData<TaskFeatures>> {
    let read = match source {
        Source::Path(path) if path.extension().is_some_and(|extension| extension == "npy") => {
            line_up(&npy::read(path)?, annotations, order)
        }
        _ if order.is_some() => Err(Error::mismatch(
            "this table says itself which task each row is about: a list of tasks goes with a .npy file only",
        )),
        _ => read_table(source, annotations),
    };
    read.and_then(|read| {
        read.data.check(annotations)?;
        Ok(read)
    })
    .map_err(|error| error.in_file(source.name()))
}

/// Gives each task its row of the array.
fn line_up(
    rows: &npy::NumberRows,
    annotations: &Annotations,
    order: Option<&Names>,
) -> Result<SideData<TaskFeatures>> {
    if let Some(order) = order
        && order.len() != rows.rows
    {
        return Err(Error::mismatch(format!(
            "found {} rows, but the list of tasks names {}: expected one row for each, in the same order",
            rows.rows,
            order.len()
        )));
    }
    let mut features = TaskFeatures::none(annotations, rows.width);
    for (task, name) in annotations.tasks().iter().enumerate() {
        let row = match order {
            Some(order) => order.find(name).map(|row| row as usize),
            None => name.parse().ok().filter(|&row| row < rows.rows),
        };
        match row {
            Some(row) => features
                .set(task, rows.row(row))
                .map_err(|error| Error::mismatch(format!("row {row} (task {name:?}): {error}")))?,
            None => return Err(no_row(name, rows.rows, order.is_some())),
        }
    }
    Ok(SideData {
        data: features,
        foreign: rows.rows.saturating_sub(annotations.task_count()),
    })
}

fn no_row(task: &str, rows: usize, listed: bool) -> Error {
    if listed {
        Error::mismatch(format!(
            "the list of tasks does not name task {task:?}: every task of the labels needs a row"
        ))
    } else {
        Error::new(ErrorKind::FeatureRows(format!(
            "found {rows} rows, numbered from 0, but task {task:?} is not one of these numbers"
        )))
    }
}

fn read_table(source: &Source, annotations: &Annotations) -> Result<SideData<TaskFeatures>> {
    let found = SideData::new(TaskFeatures::none(annotations, 0));
    let (found, _) = read_side(
        source,
        (found, Vec::new()),
        |(found, _), names| {
            let task = find_columns(names, &[Wanted::usual(Role::Task)])?[0];
            if names.len() == 1 {
                return Err(Error::mismatch(
                    "found no column beside \"task\": expected one for each feature",
                ));
            }
            found.data = TaskFeatures::none(annotations, names.len() - 1);
            let others = (0..names.len()).filter(|&column| column != task);
            Ok([task].into_iter().chain(others).collect())
        },
        |(found, values), row| {
            let name = row.field(0)?;
            let Some(task) = annotations.tasks().find(name) else {
                found.foreign += 1;
                return Ok(());
            };
            if found.data.is_known(task as usize) {
                return Err(Error::mismatch(format!(
                    "found task {name:?} again: keep one row for each task"
                )));
            }
            values.clear();
            for slot in 1..row.names.len() {
                values.push(row.number(slot, FEATURE, |value: &f32| value.is_finite())?);
            }
            Ok(found.data.set(task as usize, values)?)
        },
    )?;
    Ok(found)
}

const FEATURE: &str = "a finite number: all columns but \"task\" are features";

#[cfg(test)]
mod tests {
    use super::*;

    fn annotations(tasks: &[&str]) -> Annotations {
        let mut builder = quorate::AnnotationsBuilder::default();
        for task in tasks {
            builder.push(task, "ann", "x").unwrap();
        }
        builder.build().unwrap()
    }

    fn read(
        name: &str,
        bytes: &[u8],
        tasks: &[&str],
        order: Option<&[&str]>,
    ) -> Result<SideData<TaskFeatures>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let order = order.map(|ids| {
            let mut names = Names::default();
            for id in ids {
                names.intern(id);
            }
            names
        });
        read_features(&Source::from(path), &annotations(tasks), order.as_ref())
    }

    fn array() -> Vec<u8> {
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }\n";
        let data: Vec<u8> = (0..6u8)
            .flat_map(|value| f32::from(value).to_le_bytes())
            .collect();
        npy::tests::file(header, &data)
    }

    #[test]
    fn rows_find_their_tasks() {
        let table = read(
            "f.csv",
            b"x,task,y\n1,b,-2.5\n3,elsewhere,4\n5,a,6e2\n",
            &["a", "b"],
            None,
        )
        .unwrap();
        assert_eq!(table.data.row(0), [5.0, 600.0]);
        assert_eq!((table.data.row(1), table.foreign), (&[1.0, -2.5][..], 1));
        let numbered = read("f.npy", &array(), &["2", "0"], None).unwrap();
        assert_eq!((numbered.data.row(0), numbered.foreign), (&[4.0, 5.0][..], 1));
        let listed = read("f.npy", &array(), &["a", "b", "c"], Some(&["c", "a", "b"])).unwrap();
        assert_eq!((listed.data.row(2), listed.foreign), (&[0.0, 1.0][..], 0));
    }

    #[test]
    fn what_does_not_line_up_is_an_error() {
        type Case<'a> = (&'a str, &'a [u8], &'a [&'a str], Option<&'a [&'a str]>, &'a str);
        let array = array();
        let cases: [Case<'_>; 9] = [
            (
                "f.csv",
                b"task,x\na,1\n",
                &["a", "b"],
                None,
                "1 of 2 tasks have no features (\"b\")",
            ),
            (
                "f.csv",
                b"task,x\na,1\na,2\n",
                &["a"],
                None,
                "line 3: found task \"a\" again",
            ),
            (
                "f.csv",
                b"task,x\na,red\n",
                &["a"],
                None,
                "line 2, column \"x\": found \"red\"",
            ),
            ("f.csv", b"task,x\na,nan\n", &["a"], None, "finite"),
            ("f.csv", b"task\na\n", &["a"], None, "no column beside"),
            ("f.csv", b"task,x\na,1\n", &["a"], Some(&["a"]), ".npy file only"),
            ("f.npy", &array, &["0", "3"], None, "is not one of these numbers"),
            (
                "f.npy",
                &array,
                &["a"],
                Some(&["a", "b"]),
                "3 rows, but the list of tasks names 2",
            ),
            (
                "f.npy",
                &array,
                &["z"],
                Some(&["a", "b", "c"]),
                "does not name task \"z\"",
            ),
        ];
        for (name, bytes, tasks, order, said) in cases {
            let message = read(name, bytes, tasks, order).unwrap_err().to_string();
            assert!(message.contains(said) && message.contains(name), "{message}");
        }
    }
}
