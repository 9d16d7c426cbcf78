//! What the workers of a crowd did, and which of them are connected by shared tasks: one pass over the
//! labels.

use super::components::{Components, Joining};
use crate::annotations::WorkerOrder;
use crate::blocks::{Block, Extent, Pass, Passes, Stage, wire_format};
use crate::{Context, Result};

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
        let stage = Stage::single("crowd");
        let (joining, pairs_of_labels) = passes.run(&mut JoinWorkers {}, stage, context)?;
        let (labels, parts) = joining.finish();
        Ok(Self {
            labels,
            parts,
            pairs_of_labels,
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
    /// Workers joined by some tasks, and the pairs of labels on these.
    type State = (Joining, u64);

    fn start(&mut self, extent: Extent) -> Self::State {
        (Joining::new(extent.workers), 0)
    }

    fn visit(&mut self, (joining, pairs): &mut Self::State, block: Block<'_>, _: &mut [f64]) {
        joining.add(block);
        *pairs += block.pairs_of_labels();
    }
}

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
