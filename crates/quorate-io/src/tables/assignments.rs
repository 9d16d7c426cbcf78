//! Who should label what: `task, worker`, with what each label gains and costs where it is known.

use quorate::plan::{Dispatched, Planned};
use quorate::{Annotations, Fit};

use crate::error::Result;
use crate::formats::ColumnKind::{self, Number, Text};
use crate::formats::{Cell, FileFormat, find_columns_named, scan, sink, write_rows};
use crate::source::Source;
use crate::target::Target;

/// Writes the labels of a plan, which was made from this fit: task, worker, expected gain, cost, and the
/// task's confidence now.
pub fn write_plan(
    target: &Target,
    format: Option<FileFormat>,
    annotations: &Annotations,
    fit: &Fit,
    planned: &Planned,
) -> Result<()> {
    let numbers = ["gain", "cost", "confidence"].map(|name| (name, Number));
    write_rows(target, format, IDS.into_iter().chain(numbers), |each| {
        planned.assignments.iter().try_for_each(|next| {
            let [task, worker] = id_cells(annotations, (next.task, next.worker));
            let confidence = fit.consensus.confidence(next.task);
            each(&[
                task,
                worker,
                next.gain.into(),
                next.cost.into(),
                confidence.into(),
            ])
        })
    })
}

/// Writes the labels of a dispatch: task, worker.
pub fn write_dispatch(
    target: &Target,
    format: Option<FileFormat>,
    annotations: &Annotations,
    dispatched: &Dispatched,
) -> Result<()> {
    write_rows(target, format, IDS, |each| {
        let mut assignments = dispatched.assignments.iter();
        assignments.try_for_each(|&pair| each(&id_cells(annotations, pair)))
    })
}

const IDS: [(&str, ColumnKind); 2] = [("task", Text), ("worker", Text)];

fn id_cells(annotations: &Annotations, (task, worker): (usize, usize)) -> [Cell<'_>; 2] {
    [
        Cell::Text(annotations.tasks().get(task)),
        Cell::Text(annotations.workers().get(worker)),
    ]
}

/// Pairs of task and worker that were read, and what there is to say about them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssignmentsRead {
    /// The pairs (task, worker), in the order of the file.
    pub pairs: Vec<(u32, u32)>,
    /// Rows about tasks or workers that the annotations do not have: not used.
    pub foreign: usize,
}

/// Reads pairs of task and worker of `annotations`.
pub fn read_assignments(
    source: &Source,
    format: Option<FileFormat>,
    annotations: &Annotations,
) -> Result<AssignmentsRead> {
    let found = AssignmentsRead {
        pairs: Vec::new(),
        foreign: 0,
    };
    let choose = |_: &mut _, names: &[String]| find_columns_named(names, &["task", "worker"]);
    let mut rows = sink(found, choose, |found: &mut AssignmentsRead, row| {
        let (task, worker) = (row.id(0, "task")?, row.id(1, "worker")?);
        let (tasks, workers) = (annotations.tasks(), annotations.workers());
        match tasks.find(task).zip(workers.find(worker)) {
            Some(pair) => found.pairs.push(pair),
            None => found.foreign += 1,
        }
        Ok(())
    });
    scan(source, format, &mut rows, &mut |_, _| {})?;
    Ok(rows.state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan.csv");
        let table = Annotations::from_triples([("t1", "ann", "a"), ("t2", "bob", "b")]).unwrap();
        let dispatched = Dispatched {
            designated: None,
            assignments: vec![(0, 0)],
            attached: Vec::new(),
            out_of_reach_before: None,
            out_of_reach_after: None,
        };
        write_dispatch(&Target::from(path.clone()), None, &table, &dispatched).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "task,worker\nt1,ann\n");
        let read = |rows: [(&str, &str, &str); 2]| {
            let table = Annotations::from_triples(rows).unwrap();
            read_assignments(&Source::from(path.clone()), None, &table).unwrap()
        };
        let found = read([("t0", "ann", "a"), ("t1", "bob", "b")]);
        assert_eq!((found.pairs, found.foreign), (vec![(1, 0)], 0));
        let stranger = read([("t1", "bob", "a"), ("t2", "bob", "b")]);
        assert_eq!((stranger.pairs, stranger.foreign), (vec![], 1));
    }

    #[test]
    fn a_plan_has_a_row_for_each_label() {
        let rows = [("t1", "ann", "a"), ("t1", "bob", "b"), ("t2", "bob", "b")];
        let table = Annotations::from_triples(rows).unwrap();
        let fit = quorate::aggregate(&table).unwrap();
        let planned = Planned {
            assignments: vec![quorate::plan::Assignment {
                task: 1,
                worker: 0,
                gain: 0.25,
                cost: 2.0,
            }],
            ..quorate::plan::Plan::new(1.0)
                .run(&table, &fit, &mut quorate::Context::new(0))
                .unwrap()
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan.csv");
        write_plan(&Target::from(path.clone()), None, &table, &fit, &planned).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "task,worker,gain,cost,confidence");
        assert!(lines[1].starts_with("t2,ann,0.25") && lines.len() == 2, "{text}");
    }
}
