//! What the workers of a crowd did, and which of them are connected by shared tasks: one pass over the
//! labels.

use super::components::{Components, Joining};
use crate::annotations::WorkerOrder;
use crate::blocks::{Passes, Stage};
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
        let mut joining = Joining::new(passes.worker_count());
        let mut pairs_of_labels = 0;
        passes.each_block(Stage::single("crowd"), context, &mut |block, _| {
            joining.add(block);
            let sizes = block.starts.windows(2).map(|task| u64::from(task[1] - task[0]));
            pairs_of_labels += sizes.map(|size| size * size.saturating_sub(1) / 2).sum::<u64>();
            Ok(())
        })?;
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
    let mut order = WorkerOrder::new(passes.worker_count(), passes.class_count());
    passes.each_block(Stage::single("order of workers"), context, &mut |block, _| {
        order.add(block);
        Ok(())
    })?;
    Ok(order.finish(passes.workers()))
}
