//! What the workers of a crowd did, and which of them are connected by shared tasks: one pass over the
//! labels.

use super::components::{Components, Joining};
use crate::annotations::WorkerOrder;
use crate::blocks::{Block, Part, Pass, Passes, Reader, Stage, WireFormat, Writer};
use crate::context::Context;
use crate::error::Result;

/// What is known of a crowd before anything is estimated.
pub(crate) struct Crowd {
    /// Labels of each worker.
    pub(crate) labels: Vec<u32>,
    /// Connected parts.
    pub(crate) parts: Components,
    /// Pairs of labels on the same task.
    pub(crate) pairs_of_labels: u64,
}

impl Crowd {
    /// Goes over the labels once.
    pub(crate) fn of(passes: &mut Passes<'_>, context: &mut Context) -> Result<Self> {
        let joined = passes.fold(&mut JoinWorkers, Stage::single("crowd"), context)?;
        let joined = joined.unwrap_or_else(|| JoinedWorkers {
            joining: Joining::new(passes.worker_count()),
            pairs_of_labels: 0,
        });
        let (labels, parts) = joined.joining.finish();
        Ok(Self {
            labels,
            parts,
            pairs_of_labels: joined.pairs_of_labels,
        })
    }
}

/// The workers in their canonical order ([`WorkerOrder`]).
pub(crate) fn worker_order(passes: &mut Passes<'_>, context: &mut Context) -> Result<Vec<u32>> {
    let order = passes.fold(&mut OrderWorkers, Stage::single("order of workers"), context)?;
    let order = order.unwrap_or_else(|| WorkerOrder::new(passes.worker_count(), passes.class_count()));
    Ok(order.finish(passes.workers()))
}

/// Joins the workers of each task.
pub(crate) struct JoinWorkers;

impl WireFormat for JoinWorkers {
    const KIND: u8 = 40;

    fn write(&self, _: &mut Writer) {}

    fn read(_: &mut Reader<'_>) -> Result<Self> {
        Ok(Self)
    }
}

impl Pass for JoinWorkers {
    type Part = JoinedWorkers;

    fn run(&mut self, block: Block<'_>) -> JoinedWorkers {
        let mut joining = Joining::new(block.worker_count());
        joining.add(block);
        let sizes = block.starts.windows(2).map(|task| u64::from(task[1] - task[0]));
        JoinedWorkers {
            joining,
            pairs_of_labels: sizes.map(|size| size * size.saturating_sub(1) / 2).sum(),
        }
    }
}

/// Workers joined by some tasks, and the pairs of labels on these.
pub(crate) struct JoinedWorkers {
    joining: Joining,
    pairs_of_labels: u64,
}

impl Part for JoinedWorkers {
    fn merge(&mut self, other: Self) {
        self.joining.merge(&other.joining);
        self.pairs_of_labels += other.pairs_of_labels;
    }
}

impl WireFormat for JoinedWorkers {
    const KIND: u8 = 41;

    fn write(&self, to: &mut Writer) {
        self.joining.write(to);
        to.number(self.pairs_of_labels);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            joining: Joining::read(from)?,
            pairs_of_labels: from.number()?,
        })
    }
}

/// Gathers what workers are ordered by.
pub(crate) struct OrderWorkers;

impl WireFormat for OrderWorkers {
    const KIND: u8 = 42;

    fn write(&self, _: &mut Writer) {}

    fn read(_: &mut Reader<'_>) -> Result<Self> {
        Ok(Self)
    }
}

impl Pass for OrderWorkers {
    type Part = WorkerOrder;

    fn run(&mut self, block: Block<'_>) -> WorkerOrder {
        let mut order = WorkerOrder::new(block.worker_count(), block.class_count());
        order.add(block);
        order
    }
}
