//! What a pass over the labels is: the state it starts from, what it does with a block, how states merge.

use std::fmt::Debug;
use std::sync::Arc;

use super::{Block, WireFormat};
use crate::parallel::add;

/// A pass over blocks of labels, as data that another process can be sent.
///
/// [`Passes`](super::Passes) runs it: one state for all blocks that are at hand, in order, or a state for
/// each block where the blocks are in other processes.
pub(crate) trait Pass: WireFormat + Send + Sync + 'static {
    /// What it gathers.
    type State: State;

    /// Numbers for each task that the pass reads or writes, for labels of so many classes; 0 if it works on
    /// labels alone.
    fn width(&self, _classes: usize) -> usize {
        0
    }

    /// Whether it reads the posteriors of the pass before.
    fn reads_posteriors(&self) -> bool {
        false
    }

    /// The state before the first block.
    fn start(&mut self, extent: Extent) -> Self::State;

    /// Works on a block and the posteriors of its tasks.
    fn visit(&mut self, state: &mut Self::State, block: Block<'_>, posteriors: &mut [f64]);

    /// After the last block.
    fn finish(&mut self, _state: &mut Self::State) {}

    /// What makes the posteriors that the pass wrote again; none if it wrote none.
    fn rule(&self) -> Option<Box<dyn PosteriorRule>> {
        None
    }
}

/// What a pass gathers; states of different blocks add up.
pub(crate) trait State: WireFormat + Send + Sync + 'static {
    /// Adds that of later blocks.
    fn merge(&mut self, other: Self);
}

/// A number of things.
impl State for u64 {
    fn merge(&mut self, other: Self) {
        *self += other;
    }
}

/// Numbers side by side.
impl State for Vec<f64> {
    fn merge(&mut self, other: Self) {
        add(self, &other);
    }
}

/// What is gathered side by side.
impl<A: State, B: State> State for (A, B) {
    fn merge(&mut self, other: Self) {
        self.0.merge(other.0);
        self.1.merge(other.1);
    }
}

/// What is not gathered everywhere.
impl<S: State> State for Option<S> {
    fn merge(&mut self, other: Self) {
        match (self, other) {
            (Some(state), Some(other)) => state.merge(other),
            (state, other) => *state = state.take().or(other),
        }
    }
}

/// Makes the posteriors of a block's tasks.
pub(crate) trait PosteriorRule: Debug + Send + Sync {
    /// Numbers for each task of so many classes.
    fn width(&self, classes: usize) -> usize {
        classes
    }

    /// Writes the posteriors of a block's tasks, one row after another.
    fn fill(&self, block: Block<'_>, rows: &mut [f64]);

    /// The binary form, with its header.
    fn bytes(&self) -> Vec<u8>;
}

impl<R: PosteriorRule + ?Sized> PosteriorRule for Arc<R> {
    fn width(&self, classes: usize) -> usize {
        (**self).width(classes)
    }

    fn fill(&self, block: Block<'_>, rows: &mut [f64]) {
        (**self).fill(block, rows);
    }

    fn bytes(&self) -> Vec<u8> {
        (**self).bytes()
    }
}

/// The labels that one state of a pass sees.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    pub(crate) workers: usize,
    pub(crate) classes: usize,
    pub(crate) labels: u64,
    /// Most tables of its own that a pass may hold for threads side by side: labels that are not in memory
    /// are on disk to save it.
    pub(crate) max_tables: usize,
}

impl Extent {
    /// Of one block.
    pub(crate) fn of(block: Block<'_>) -> Self {
        Self {
            workers: block.worker_count(),
            classes: block.class_count(),
            labels: block.label_count() as u64,
            max_tables: usize::MAX,
        }
    }

    /// Tables of so many numbers for threads side by side.
    pub(crate) fn tables(self, numbers: usize) -> usize {
        crate::parallel::private_chunks(self.labels as usize, numbers).min(self.max_tables)
    }
}
