//! Who should label what: `task, worker`, with what each label gains and costs where it is known.

use quorate::plan::{Dispatched, Planned};
use quorate::{Annotations, Fit};

use super::SideData;
use crate::error::Result;
use crate::formats::ColumnKind::{self, Number, Text};
use crate::formats::{Cell, find_columns_named, read_side, write_rows};
use crate::source::Source;
use crate::target::Target;

/// Writes the labels of a plan, which was made from this fit: task, worker, expected gain, cost, and the
/// task's confidence now.
pub fn write_plan(target: &Target, annotations: &Annotations, fit: &Fit, planned: &Planned) -> Result<()> {
    let numbers = ["gain", "cost", "confidence"].map(|name| (name, Number));
    write_rows(target, IDS.into_iter().chain(numbers), |each| {
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
pub fn write_dispatch(target: &Target, annotations: &Annotations, dispatched: &Dispatched) -> Result<()> {
    write_rows(target, IDS, |each| {
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

/// Reads pairs (task, worker) of `annotations`, in the order of the file.
pub fn read_assignments(source: &Source, annotations: &Annotations) -> Result<SideData<Vec<(u32, u32)>>> {
    let choose = |_: &mut _, names: &[String]| find_columns_named(names, &["task", "worker"]);
    read_side(
        source,
        SideData::default(),
        choose,
        |found: &mut SideData<Vec<_>>, row| {
            let (task, worker) = (row.id(0, "task")?, row.id(1, "worker")?);
            let (tasks, workers) = (annotations.tasks(), annotations.workers());
            match tasks.find(task).zip(workers.find(worker)) {
                Some(pair) => found.data.push(pair),
                None => found.foreign += 1,
            }
            Ok(())
        },
    )
}
