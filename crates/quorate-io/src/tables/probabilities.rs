//! Class probabilities of tasks from a classifier: columns `task` and `p:<class>` for each class.

use quorate::{Annotations, TaskProbabilities};

use super::SideData;
use super::column_roles::{Role, Wanted, find_columns};
use super::labels::{PROBABILITY_PREFIX, probability};
use crate::error::{Error, Result};
use crate::formats::{find_column, read_side};
use crate::source::Source;

/// Reads predictions for the tasks of `annotations`, lined up with their tasks and classes. A class without a
/// column has probability 0; a column of a class that the annotations do not have is an error.
pub fn read_probabilities(source: &Source, annotations: &Annotations) -> Result<SideData<TaskProbabilities>> {
    let found = SideData::new(TaskProbabilities::none(annotations));
    let classes = annotations.classes();
    // What was found, the class of each column behind the task's, and a row.
    let state = (found, Vec::new(), vec![0.0; classes.len()]);
    let (found, ..) = read_side(
        source,
        state,
        |(_, codes, _), names| {
            let mut chosen = find_columns(names, &[Wanted::usual(Role::Task)])?;
            for (column, name) in names.iter().enumerate() {
                let Some(class) = name.strip_prefix(PROBABILITY_PREFIX) else {
                    continue;
                };
                let Some(code) = classes.find(class) else {
                    return Err(Error::unknown_class(class, classes).in_column(name));
                };
                chosen.push(column);
                codes.push(code as usize);
            }
            if codes.is_empty() {
                let first = classes.iter().next().unwrap_or_default();
                find_column(names, &format!("{PROBABILITY_PREFIX}{first}"), "probability")?;
            }
            Ok(chosen)
        },
        |(found, codes, values), row| {
            let Some(task) = annotations.tasks().find(row.field(0)?) else {
                found.foreign += 1;
                return Ok(());
            };
            if found.data.row(task as usize).is_some() {
                let name = annotations.tasks().get(task as usize);
                let again = format!("found task {name:?} again, expected one row for each task");
                return Err(Error::syntax(again).in_column("task"));
            }
            values.fill(0.0);
            for (slot, &class) in codes.iter().enumerate() {
                values[class] = probability(row, slot + 1)?;
            }
            Ok(found.data.set(task as usize, values)?)
        },
    )?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<SideData<TaskProbabilities>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.csv");
        std::fs::write(&path, text).unwrap();
        let annotations = Annotations::from_codes(2, 1, 3, [(0, 0, 0), (1, 0, 2)]).unwrap();
        read_probabilities(&Source::from(path), &annotations)
    }

    #[test]
    fn columns_find_their_classes_and_foreign_tasks_are_counted() {
        let read = read("task,p:2,p:0\nt1,0.25,0.75\nelsewhere,1,0\n").unwrap();
        assert_eq!(read.data.row(1), Some(&[0.75, 0.0, 0.25][..]));
        assert_eq!(read.data.row(0), None);
        assert_eq!(read.foreign, 1);
    }

    #[test]
    fn bad_predictions_are_errors_with_their_place() {
        for (text, found) in [
            ("task,p:9\nt0,1\n", "column \"p:9\""),
            ("task,label\nt0,1\n", "p:0"),
            ("task,p:0,p:1,p:2\nt0,0.5,0.1,x\n", "line 2, column \"p:2\""),
            ("task,p:0,p:1,p:2\nt0,0.5,0.1,0.1\n", "line 2"),
            (
                "task,p:0\nt0,1\nt1,1\nt0,1\n",
                "line 4, column \"task\": found task \"t0\" again",
            ),
        ] {
            let message = read(text).unwrap_err().to_string();
            assert!(message.contains(found), "{message}");
        }
    }
}
