//! The co-occurrence frequencies R_mj of observed pairs, with who is whose neighbour.

use super::{CoOccurrence, cap_labels, count_cooccurrences, pair_cost};
use crate::blocks::{Block, Extent, Pass, Passes, Stage, State, wire_format};
use crate::linalg::small::transpose;
use crate::parallel::add_up;
use crate::{Annotations, Context, DawidSkene, Result};

/// K x K blocks R_mj (sum 1) of observed pairs m < j with their evidence S_mj, and the symmetric adjacency.
#[derive(Debug, Clone)]
pub struct PairBlocks {
    workers: usize,
    classes: usize,
    pairs: Vec<(u32, u32)>,
    shared: Vec<f64>,
    values: Vec<f64>,
    starts: Vec<usize>,
    /// (neighbour, pair) of each worker, in order of neighbour.
    neighbours: Vec<(u32, u32)>,
}

/// Bytes that a pair takes while it is counted and turned into a block.
pub(crate) fn pair_bytes(classes: u64) -> u64 {
    12 * classes * classes + 40
}

impl PairBlocks {
    /// From given blocks (m, j, S_mj, R_mj `[answer of m][answer of j]`), m < j, each pair once: exact blocks
    /// of a known model, say.
    pub fn new(
        workers: usize,
        classes: usize,
        blocks: impl IntoIterator<Item = (usize, usize, f64, Vec<f64>)>,
    ) -> Self {
        let (mut pairs, mut shared, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (m, j, evidence, block) in blocks {
            assert!(
                m < j && j < workers && block.len() == classes * classes,
                "blocks are K x K with m < j"
            );
            pairs.push((m as u32, j as u32));
            shared.push(evidence);
            values.extend(block);
        }
        let mut starts = vec![0usize; workers + 1];
        for &(m, j) in &pairs {
            starts[m as usize + 1] += 1;
            starts[j as usize + 1] += 1;
        }
        add_up(&mut starts);
        let mut next = starts.clone();
        let mut neighbours = vec![(0, 0); 2 * pairs.len()];
        for (pair, &(m, j)) in pairs.iter().enumerate() {
            for (worker, other) in [(m, j), (j, m)] {
                neighbours[next[worker as usize]] = (other, pair as u32);
                next[worker as usize] += 1;
            }
        }
        for worker in 0..workers {
            neighbours[starts[worker]..starts[worker + 1]].sort_unstable();
        }
        Self {
            workers,
            classes,
            pairs,
            shared,
            values,
            starts,
            neighbours,
        }
    }

    /// The exact blocks `A_m D A_j^T` of a known model for the pairs that `observed` accepts, with endless
    /// evidence: the noiseless case.
    pub fn of_model(model: &DawidSkene, mut observed: impl FnMut(usize, usize) -> bool) -> Self {
        let (workers, classes) = (model.worker_count(), model.class_count());
        let pairs = (0..workers).flat_map(|m| (m + 1..workers).map(move |j| (m, j)));
        let observed = pairs.filter(|&(m, j)| observed(m, j));
        let blocks = observed.map(|(m, j)| (m, j, f64::INFINITY, model.co_occurrence(m, j)));
        Self::new(workers, classes, blocks)
    }

    /// The observed pairs of a table, refused if their blocks would not fit into memory. Tasks with very many
    /// labels count with some of them ([`cap_labels`]), and a warning says so.
    pub fn observed(annotations: &Annotations, context: &mut Context) -> Result<Self> {
        const WORTH_COUNTING: u64 = 1 << 32;
        let capped = cap_labels(annotations, context)?;
        capped.note.into_iter().for_each(|note| context.warn(note));
        let annotations = &*capped.annotations;
        let workers = annotations.worker_count() as u64;
        let cost = context.run(|| pair_cost(annotations, WORTH_COUNTING));
        let pairs = cost.pairs.unwrap_or(cost.events.min(workers * workers / 2));
        context.reserve(
            format!("the co-occurrences of {pairs} pairs of workers"),
            pairs * pair_bytes(annotations.class_count() as u64),
            "use a method without pairs, such as dawid-skene",
        )?;
        Ok(Self::from(&context.run(|| count_cooccurrences(annotations))))
    }

    /// The observed pairs of labels that are not in memory, block by block; none if there are more than
    /// `most`, or more than fit into memory.
    pub(crate) fn of_blocks(
        passes: &mut Passes<'_>,
        most: u64,
        context: &mut Context,
    ) -> Result<Option<Self>> {
        let classes = passes.class_count();
        // Two tables of counts while blocks are merged, and the blocks made of them.
        let room = context.memory_limit() / 3 / pair_bytes(classes as u64);
        let most = most.min(room);
        let total = passes.run(&mut CountPairs { most }, Stage::single("pairs"), context)?;
        Ok(total.counts.map(|counts| Self::from(&counts)))
    }

    /// Number of workers.
    pub fn worker_count(&self) -> usize {
        self.workers
    }

    /// Number of classes.
    pub fn class_count(&self) -> usize {
        self.classes
    }

    /// Number of observed pairs.
    pub fn pair_count(&self) -> usize {
        self.pairs.len()
    }

    /// The two workers of a pair, m < j.
    pub fn pair(&self, pair: usize) -> (usize, usize) {
        let (m, j) = self.pairs[pair];
        (m as usize, j as usize)
    }

    /// R_mj of a pair, `[answer of m][answer of j]`.
    pub fn block(&self, pair: usize) -> &[f64] {
        let size = self.classes * self.classes;
        &self.values[pair * size..][..size]
    }

    /// S_mj of a pair.
    pub fn shared(&self, pair: usize) -> f64 {
        self.shared[pair]
    }

    /// (neighbour, pair) of a worker, in order of neighbour.
    pub fn neighbours(&self, worker: usize) -> impl ExactSizeIterator<Item = (usize, usize)> + Clone + '_ {
        let entries = self.neighbours[self.starts[worker]..self.starts[worker + 1]].iter();
        entries.map(|&(other, pair)| (other as usize, pair as usize))
    }

    /// The pair of two different workers, if it was observed.
    pub fn find(&self, a: usize, b: usize) -> Option<usize> {
        let entries = &self.neighbours[self.starts[a]..self.starts[a + 1]];
        let at = entries.binary_search_by_key(&(b as u32), |&(other, _)| other);
        Some(entries[at.ok()?].1 as usize)
    }

    /// R_ab with the answers of `a` as rows, whichever way the pair is stored.
    pub fn oriented(&self, a: usize, b: usize) -> Option<Vec<f64>> {
        let block = self.block(self.find(a, b)?);
        Some(if a < b {
            block.to_vec()
        } else {
            transpose(block, self.classes)
        })
    }

    /// R of a pair of this worker with another one, both answers given, whichever way the pair is stored.
    pub fn cell(&self, (worker, other): (usize, usize), pair: usize, answers: (usize, usize)) -> f64 {
        let (row, column) = if worker < other {
            answers
        } else {
            (answers.1, answers.0)
        };
        self.block(pair)[row * self.classes + column]
    }
}

impl From<&CoOccurrence> for PairBlocks {
    fn from(counts: &CoOccurrence) -> Self {
        let frequencies = counts.iter().map(|(m, j, shared, cells)| {
            let total = f64::from(shared);
            let share = |&count: &u32| f64::from(count) / total;
            (m, j, total, cells.iter().map(share).collect())
        });
        Self::new(counts.worker_count(), counts.class_count(), frequencies)
    }
}

/// Counts the pairs of workers of a block, unless there are more than `most`.
pub(crate) struct CountPairs {
    most: u64,
}

wire_format!(44 CountPairs { most });

impl Pass for CountPairs {
    type State = CountedPairs;

    fn start(&mut self, extent: Extent) -> CountedPairs {
        CountedPairs::of(CoOccurrence::empty(extent.workers, extent.classes), self.most)
    }

    fn visit(&mut self, pairs: &mut CountedPairs, block: Block<'_>, _: &mut [f64]) {
        // Once there are too many, no more are counted.
        if pairs.counts.is_some() {
            pairs.merge(CountedPairs::of(CoOccurrence::of_block(block), self.most));
        }
    }
}

/// Pairs of workers while there are not too many.
pub(crate) struct CountedPairs {
    most: u64,
    /// None if there are more than `most`.
    counts: Option<CoOccurrence>,
}

impl CountedPairs {
    fn of(counts: CoOccurrence, most: u64) -> Self {
        let counts = Some(counts).filter(|counts| counts.pair_count() as u64 <= most);
        Self { most, counts }
    }
}

impl State for CountedPairs {
    fn merge(&mut self, other: Self) {
        if let (Some(counts), Some(others)) = (self.counts.take(), other.counts) {
            *self = Self::of(counts.merge(&others), self.most);
        }
    }
}

wire_format!(45 CountedPairs { most, counts });
