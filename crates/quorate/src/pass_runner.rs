//! What another process does with a request: the list of all passes, and who runs them on its blocks.

use std::sync::Arc;

use crate::agreement::CountPatterns;
use crate::blocks::{
    Block, Extent, GatherLabels, KnownTasks, PartNode, Pass, PosteriorRule, PosteriorsByLabels, Reader,
    Request, State, TaskBlock, Wire, WireFormat, add_labels, damaged, kind_of,
};
use crate::calibrate::{CountConsensus, TryPowers, TryShares};
use crate::error::{Error, Result};
use crate::methods::{AddWorkerSlopes, FindOverturned, Learnt, TakeSample};
use crate::model::{BlockFit, CountFirst, CountKnown, CountVotes, FirstRule, Summarise, Sweep, SweepPass};
use crate::statistics::{CountPairs, JoinWorkers, OrderWorkers};
use crate::symnmf::{CountAnswers, SumOverTasks};

/// Runs the pass of a request on the blocks of a partition.
pub struct PassRunner {
    request: Request,
    running: Box<dyn RunPass>,
    last: Option<u64>,
    buffer: TaskBlock,
}

impl std::fmt::Debug for PassRunner {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("PassRunner").finish_non_exhaustive()
    }
}

impl PassRunner {
    /// For this request; fails if it is none.
    pub fn new(request: &[u8]) -> Result<Self> {
        let mut request = Request::from_bytes(request)?;
        let before = match &request.before[..] {
            [] => None,
            bytes => Some(open_rule(bytes)?),
        };
        let pass = std::mem::take(&mut request.pass);
        Ok(Self {
            running: open(&pass, before)?,
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
        let (workers, classes) = (self.request.workers, self.request.classes);
        let gold_worker = self.request.gold_worker;
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

    /// What the pass gathered, merged as far as the blocks at hand allow.
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
    before: Option<Box<dyn PosteriorRule>>,
    rows: Vec<f64>,
    nodes: Vec<(u32, u64, P::State)>,
}

impl<P: Pass> Running<P> {
    /// Adds a node behind the others, and merges siblings.
    fn push(&mut self, mut level: u32, mut place: u64, mut state: P::State) {
        while let Some((left_level, left_place, mut left)) = self.nodes.pop() {
            if left_level != level || left_place + 1 != place || place.is_multiple_of(2) {
                self.nodes.push((left_level, left_place, left));
                break;
            }
            left.merge(state);
            (level, place, state) = (level + 1, place / 2, left);
        }
        self.nodes.push((level, place, state));
    }
}

impl<P: Pass> RunPass for Running<P> {
    fn add(&mut self, number: u64, block: Block<'_>) {
        let width = self.pass.width(block.class_count());
        self.rows.clear();
        self.rows.resize(block.task_count() * width, 0.0);
        if let Some(rule) = &self.before {
            rule.fill(block, &mut self.rows);
        }
        let mut state = self.pass.start(Extent::of(block));
        self.pass.visit(&mut state, block, &mut self.rows);
        self.pass.finish(&mut state);
        self.push(0, number, state);
    }

    fn add_node(&mut self, node: &PartNode) -> Result<()> {
        self.push(node.level, node.place, P::State::from_bytes(&node.bytes)?);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Vec<PartNode> {
        let node = |(level, place, state): (u32, u64, P::State)| {
            let bytes = state.to_bytes();
            PartNode { level, place, bytes }
        };
        self.nodes.into_iter().map(node).collect()
    }
}

/// All passes that can run in other processes.
macro_rules! passes {
    ($($pass:ty),+ $(,)?) => {
        #[cfg(test)]
        const KINDS: &[u8] = &[$(<$pass>::KIND),+];

        fn open(pass: &[u8], before: Option<Box<dyn PosteriorRule>>) -> Result<Box<dyn RunPass>> {
            let kind = kind_of(pass)?;
            $(if kind == <$pass>::KIND {
                let pass = <$pass>::from_bytes(pass)?;
                return Ok(Box::new(Running { pass, before, rows: Vec::new(), nodes: Vec::new() }));
            })+
            Err(damaged("with a pass that is not known here"))
        }
    };
}
passes!(
    KnownTasks,
    GatherLabels,
    CountVotes,
    CountKnown,
    CountFirst,
    SweepPass,
    Summarise,
    CountConsensus,
    TryShares,
    TryPowers,
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

/// A rule of posteriors from its binary form.
fn open_rule(bytes: &[u8]) -> Result<Box<dyn PosteriorRule>> {
    Ok(match kind_of(bytes)? {
        kind if kind == FirstRule::KIND => Box::new(FirstRule::from_bytes(bytes)?),
        kind if kind == Sweep::KIND => Box::new(Sweep::from_bytes(bytes)?),
        kind if kind == BlockFit::KIND => Box::new(BlockFit::from_bytes(bytes)?),
        _ => open_rule_of_fit(bytes)?,
    })
}

/// A rule that can be a part of a fit: not a fit again, which could go on without end.
fn open_rule_of_fit(bytes: &[u8]) -> Result<Box<dyn PosteriorRule>> {
    Ok(match kind_of(bytes)? {
        kind if kind == Learnt::KIND => Box::new(Learnt::from_bytes(bytes)?),
        kind if kind == PosteriorsByLabels::KIND => Box::new(PosteriorsByLabels::from_bytes(bytes)?),
        _ => return Err(damaged("with posteriors of a kind that is not known here")),
    })
}

impl WireFormat for Arc<dyn PosteriorRule> {
    fn write(&self, to: &mut Vec<u8>) {
        self.bytes().write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(open_rule_of_fit(&Vec::read(from)?)?.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pass_has_a_kind_of_its_own() {
        let mut kinds = KINDS.to_vec();
        kinds.sort_unstable();
        kinds.dedup();
        assert_eq!(kinds.len(), KINDS.len());
    }
}
