//! Passes over blocks in other processes: what is asked goes there as bytes, what comes back adds up.
//!
//! ```text
//! pass --request--> PassRunner on each partition: its blocks, in order --PartNode..--> merged here
//! ```
//!
//! Floating-point sums depend on their order, so it is fixed by the blocks alone. What a pass returns for
//! block `i` is leaf `i` of a binary tree, and a node is the sum of its two children, left first; a child
//! without blocks is left out. A runner merges the nodes whose children it has, and the rest is merged here.
//! Neither the number of partitions nor the order in which they answer changes a bit, and a partition of `b`
//! consecutive blocks sends at most `2 log2 b` nodes.

use super::gold_worker::{KnownTasks, add_labels};
use super::{Block, Reader, TaskBlock, Wire, WireFormat, Writer, damaged};
use crate::agreement::CountPatterns;
use crate::calibrate::{CountConsensus, TryShares};
use crate::error::{Error, Result};
use crate::methods::{AddWorkerSlopes, FindOverturned, TakeSample};
use crate::model::{CountFirst, CountKnown, CountVotes, Summarise, SweepPass};
use crate::statistics::{CountPairs, JoinWorkers, OrderWorkers};
use crate::symnmf::{CountAnswers, SumOverTasks};

/// A pass over a block, as data that another process can be sent.
pub(crate) trait Pass: WireFormat + Send + Sync + 'static {
    /// What it returns.
    type Part: Part;

    /// Runs on a block.
    fn run(&mut self, block: Block<'_>) -> Self::Part;
}

/// What a pass returns; those of different blocks add up.
pub(crate) trait Part: WireFormat + Send + Sync + 'static {
    /// Adds that of later blocks.
    fn merge(&mut self, other: Self);
}

/// Runs passes on blocks that are in other processes.
pub trait RemoteBlocks {
    /// Runs the pass of a request with a [`PassRunner`] on all blocks, those of a partition in one runner,
    /// and returns what the runners return, in any order.
    fn run_remote(&mut self, request: &[u8]) -> Result<Vec<PartNode>>;
}

/// What a pass returns for the blocks `place * 2^level` and the `2^level - 1` after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartNode {
    /// Height in the tree.
    pub level: u32,
    /// Number of the node among those of its level.
    pub place: u64,
    /// The value in its binary form.
    pub bytes: Vec<u8>,
}

/// Header of a request: whether gold is a worker, workers, classes, kind of the pass.
struct Request {
    gold_worker: bool,
    workers: usize,
    classes: usize,
    pass: u64,
}

impl WireFormat for Request {
    const KIND: u8 = 6;

    fn write(&self, to: &mut Writer) {
        to.number(u64::from(self.gold_worker));
        to.number(self.workers as u64);
        to.number(self.classes as u64);
        to.number(self.pass);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            gold_worker: from.flag()?,
            workers: from.size()?,
            classes: from.size()?,
            pass: from.number()?,
        })
    }
}

/// Bytes of the header of a value, and of a request after it.
const VALUE_HEADER: usize = 5;
const REQUEST_HEADER: usize = VALUE_HEADER + 4 * 8;

/// The request for a pass over labels of so many workers and classes.
pub(super) fn request_of<P: Pass>(pass: &P, workers: usize, classes: usize) -> Vec<u8> {
    let header = Request {
        gold_worker: false,
        workers,
        classes,
        pass: u64::from(P::KIND),
    };
    let mut bytes = header.to_bytes();
    bytes.extend(pass.to_bytes());
    bytes
}

/// The same request over labels with the gold worker, the last one.
pub(super) fn mark_gold_worker(request: &[u8]) -> Vec<u8> {
    let mut request = request.to_vec();
    request[VALUE_HEADER] = 1;
    request
}

/// Merges what the runners returned; none if there were no blocks.
pub(super) fn join<P: Part>(mut nodes: Vec<PartNode>) -> Result<Option<P>> {
    nodes.sort_by_key(|node| (node.level, node.place));
    if nodes
        .windows(2)
        .any(|pair| (pair[0].level, pair[0].place) == (pair[1].level, pair[1].place))
    {
        return Err(Error::Mismatch(
            "what a pass returned for a block came twice".into(),
        ));
    }
    let mut nodes = nodes.into_iter().peekable();
    let mut level = 0;
    let mut row: Vec<(u64, P)> = Vec::new();
    loop {
        while let Some(node) = nodes.next_if(|node| node.level == level) {
            row.push((node.place, P::from_bytes(&node.bytes)?));
        }
        row.sort_by_key(|&(place, _)| place);
        if row.len() <= 1 && nodes.peek().is_none() {
            return Ok(row.pop().map(|(_, part)| part));
        }
        let mut above: Vec<(u64, P)> = Vec::with_capacity(row.len() / 2 + 1);
        for (place, part) in row {
            match above.last_mut() {
                Some((parent, left)) if *parent == place / 2 => left.merge(part),
                _ => above.push((place / 2, part)),
            }
        }
        row = above;
        level += 1;
    }
}

/// Runs the pass of a request on the blocks of a partition.
pub struct PassRunner {
    request: Request,
    running: Box<dyn RunPass>,
    last: Option<u64>,
    buffer: TaskBlock,
}

impl std::fmt::Debug for PassRunner {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("PassRunner")
            .field("pass", &self.request.pass)
            .finish_non_exhaustive()
    }
}

impl PassRunner {
    /// For this request; fails if it is none.
    pub fn new(request: &[u8]) -> Result<Self> {
        let (header, pass) = request
            .split_at_checked(REQUEST_HEADER)
            .ok_or_else(|| damaged("shorter than its header"))?;
        let request = Request::from_bytes(header)?;
        Ok(Self {
            running: open(request.pass, pass)?,
            request,
            last: None,
            buffer: TaskBlock::default(),
        })
    }

    /// Runs on a block. Blocks come in rising order; codes are checked.
    pub fn add(&mut self, number: u64, labels: &TaskBlock) -> Result<()> {
        if self.last.is_some_and(|last| last >= number) {
            return Err(Error::Mismatch("blocks of a partition out of order".into()));
        }
        self.last = Some(number);
        let Request {
            gold_worker,
            workers,
            classes,
            ..
        } = self.request;
        let crowd = workers - usize::from(gold_worker && workers > 0);
        labels.check(crowd, classes)?;
        let mut block = labels.view(crowd, classes);
        if gold_worker {
            add_labels(block, crowd as u32, &mut self.buffer);
            block = self.buffer.view(workers, classes);
        }
        self.running.add(number, block);
        Ok(())
    }

    /// Takes in what another runner of the same request returned, in the order of the first block of each
    /// node.
    pub fn add_node(&mut self, node: &PartNode) -> Result<()> {
        let first = node.place.checked_shl(node.level).unwrap_or(u64::MAX);
        if self.last.is_some_and(|last| last >= first) {
            return Err(Error::Mismatch("parts of a pass out of order".into()));
        }
        self.last = Some(first);
        self.running.add_node(node)
    }

    /// What the pass returned, merged as far as the blocks at hand allow.
    pub fn finish(self) -> Vec<PartNode> {
        self.running.finish()
    }
}

/// A pass whose kind is known at run time only.
trait RunPass: Send + Sync {
    fn add(&mut self, number: u64, block: Block<'_>);

    fn add_node(&mut self, node: &PartNode) -> Result<()>;

    fn finish(self: Box<Self>) -> Vec<PartNode>;
}

/// A pass and the nodes so far, none of them a sibling of the next.
struct Running<P: Pass> {
    pass: P,
    nodes: Vec<(u32, u64, P::Part)>,
}

impl<P: Pass> Running<P> {
    /// Adds a node behind the others, and merges siblings.
    fn push(&mut self, mut level: u32, mut place: u64, mut part: P::Part) {
        while let Some((left_level, left_place, mut left)) = self.nodes.pop() {
            if left_level != level || left_place + 1 != place || place.is_multiple_of(2) {
                self.nodes.push((left_level, left_place, left));
                break;
            }
            left.merge(part);
            (level, place, part) = (level + 1, place / 2, left);
        }
        self.nodes.push((level, place, part));
    }
}

impl<P: Pass> RunPass for Running<P> {
    fn add(&mut self, number: u64, block: Block<'_>) {
        let part = self.pass.run(block);
        self.push(0, number, part);
    }

    fn add_node(&mut self, node: &PartNode) -> Result<()> {
        self.push(node.level, node.place, P::Part::from_bytes(&node.bytes)?);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Vec<PartNode> {
        let node = |(level, place, part): (u32, u64, P::Part)| PartNode {
            level,
            place,
            bytes: part.to_bytes(),
        };
        self.nodes.into_iter().map(node).collect()
    }
}

/// All passes that can run in other processes.
macro_rules! passes {
    ($($pass:ty),+ $(,)?) => {
        #[cfg(test)]
        const KINDS: &[u8] = &[$(<$pass>::KIND),+];

        fn open(kind: u64, pass: &[u8]) -> Result<Box<dyn RunPass>> {
            $(if kind == u64::from(<$pass>::KIND) {
                return Ok(Box::new(Running::<$pass> { pass: Wire::from_bytes(pass)?, nodes: Vec::new() }));
            })+
            Err(damaged("with a pass that is not known here"))
        }
    };
}
passes!(
    KnownTasks,
    CountVotes,
    CountKnown,
    CountFirst,
    SweepPass,
    Summarise,
    CountConsensus,
    TryShares,
    FindOverturned,
    JoinWorkers,
    OrderWorkers,
    CountPairs,
    CountAnswers,
    SumOverTasks,
    TakeSample,
    AddWorkerSlopes,
    CountPatterns,
);

#[cfg(test)]
mod tests {
    use super::super::gold_worker::TaskCount;
    use super::*;

    #[test]
    fn every_pass_has_a_kind_of_its_own() {
        let mut kinds = KINDS.to_vec();
        kinds.sort_unstable();
        kinds.dedup();
        assert_eq!(kinds.len(), KINDS.len());
    }

    #[test]
    fn nodes_of_any_levels_come_to_the_sum_and_none_may_come_twice() {
        let node = |level, place, count| PartNode {
            level,
            place,
            bytes: TaskCount(count).to_bytes(),
        };
        // Blocks 0 to 3 in one node, 5 and 6 alone, 4 and 7 empty; then block 16.
        let nodes = vec![node(0, 6, 30), node(2, 0, 1), node(0, 16, 1000), node(0, 5, 200)];
        assert_eq!(
            join::<TaskCount>(nodes.clone()).unwrap().map(|sum| sum.0),
            Some(1231)
        );
        assert!(join::<TaskCount>(Vec::new()).unwrap().is_none());
        let twice = [nodes, vec![node(0, 6, 30)]].concat();
        assert!(join::<TaskCount>(twice).is_err());
    }
}
