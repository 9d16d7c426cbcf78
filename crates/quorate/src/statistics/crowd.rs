//! What the workers of a crowd did, and which of them are connected by shared tasks: one pass over the
//! labels.

use super::components::{Components, Joining};
use crate::annotations::WorkerOrder;
use crate::blocks::{Block, Extent, Pass, Passes, Stage, State, wire_format};
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
        let joined = passes.run(&mut JoinWorkers {}, Stage::single("crowd"), context)?;
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
    let order = passes.run(&mut OrderWorkers {}, Stage::single("order of workers"), context)?;
    Ok(order.finish(passes.workers()))
}

/// Joins the workers of each task.
pub(crate) struct JoinWorkers {}
wire_format!(40 JoinWorkers {});

impl Pass for JoinWorkers {
    type State = JoinedWorkers;

    fn start(&mut self, extent: Extent) -> JoinedWorkers {
        JoinedWorkers {
            joining: Joining::new(extent.workers),
            pairs_of_labels: 0,
        }
    }

    fn visit(&mut self, joined: &mut JoinedWorkers, block: Block<'_>, _: &mut [f64]) {
        joined.joining.add(block);
        let sizes = block.starts.windows(2).map(|task| u64::from(task[1] - task[0]));
        joined.pairs_of_labels += sizes.map(|size| size * size.saturating_sub(1) / 2).sum::<u64>();
    }
}

/// Workers joined by some tasks, and the pairs of labels on these.
pub(crate) struct JoinedWorkers {
    joining: Joining,
    pairs_of_labels: u64,
}

impl State for JoinedWorkers {
    fn merge(&mut self, other: Self) {
        self.joining.merge(&other.joining);
        self.pairs_of_labels += other.pairs_of_labels;
    }
}

wire_format!(41 JoinedWorkers { joining, pairs_of_labels });

/// Gathers what workers are ordered by.
pub(crate) struct OrderWorkers {}
wire_format!(42 OrderWorkers {});

impl Pass for OrderWorkers {
    type State = WorkerOrder;

    fn start(&mut self, extent: Extent) -> WorkerOrder {
        WorkerOrder::new(extent.workers, extent.classes)
    }

    fn visit(&mut self, order: &mut WorkerOrder, block: Block<'_>, _: &mut [f64]) {
        order.add(block);
    }
}
