//! Blocks in other processes: a pass goes there as bytes, and what comes back adds up.
//!
//! ```text
//! pass --request--> PassRunner on each partition: its blocks, in order --PartNode..--> merged here
//! ```
//!
//! Floating-point sums depend on their order, so it is fixed by the blocks alone. The state of a pass after
//! block `i` is leaf `i` of a binary tree, and a node is the sum of its two children, left first; a child
//! without blocks is left out. A [`PassRunner`](crate::pass_runner::PassRunner) merges the nodes whose
//! children it has, and the rest is merged here. Neither the number of partitions nor the order in which they
//! answer changes a bit, and a partition of `b` consecutive blocks sends at most `2 log2 b` nodes.

use super::{Pass, State, Wire, wire_format};
use crate::error::{Error, Result};

/// Runs passes on blocks that are in other processes.
pub trait RemoteBlocks {
    /// Runs the pass of a request with a [`PassRunner`](crate::pass_runner::PassRunner) on all blocks, those
    /// of a partition in one runner, and returns what the runners return, in any order.
    fn run_remote(&mut self, request: &[u8]) -> Result<Vec<PartNode>>;
}

/// What a pass gathered from the blocks `place * 2^level` and the `2^level - 1` after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartNode {
    /// Height in the tree.
    pub level: u32,
    /// Number of the node among those of its level.
    pub place: u64,
    /// The value in its binary form.
    pub bytes: Vec<u8>,
}

/// A pass over labels of so many workers and classes.
pub(crate) struct Request {
    /// Whether gold is one more worker, the last one.
    pub(crate) gold_worker: bool,
    pub(crate) workers: usize,
    pub(crate) classes: usize,
    /// The pass.
    pub(crate) pass: Vec<u8>,
    /// The rule of the posteriors of the pass before; empty if nobody reads them.
    pub(crate) before: Vec<u8>,
}
wire_format!(6 Request { gold_worker, workers, classes, pass, before });

/// The request for a pass over labels of so many workers and classes.
pub(super) fn request_of(pass: &impl Pass, before: Vec<u8>, workers: usize, classes: usize) -> Vec<u8> {
    let (gold_worker, pass) = (false, pass.to_bytes());
    Request {
        gold_worker,
        workers,
        classes,
        pass,
        before,
    }
    .to_bytes()
}

/// The same request over labels with the gold worker, the last one.
pub(super) fn mark_gold_worker(request: &[u8]) -> Result<Vec<u8>> {
    let mut request = Request::from_bytes(request)?;
    request.gold_worker = true;
    Ok(request.to_bytes())
}

/// Merges what the runners returned; none if there were no blocks.
pub(super) fn join<S: State>(mut nodes: Vec<PartNode>) -> Result<Option<S>> {
    let key = |node: &PartNode| (node.level, node.place);
    nodes.sort_by_key(key);
    if nodes.windows(2).any(|pair| key(&pair[0]) == key(&pair[1])) {
        return Err(Error::Mismatch(
            "what a pass returned for a block came twice".into(),
        ));
    }
    let mut nodes = nodes.into_iter().peekable();
    let mut level = 0;
    let mut row: Vec<(u64, S)> = Vec::new();
    loop {
        while let Some(node) = nodes.next_if(|node| node.level == level) {
            row.push((node.place, S::from_bytes(&node.bytes)?));
        }
        row.sort_by_key(|&(place, _)| place);
        if row.len() <= 1 && nodes.peek().is_none() {
            return Ok(row.pop().map(|(_, state)| state));
        }
        let mut above: Vec<(u64, S)> = Vec::with_capacity(row.len() / 2 + 1);
        for (place, state) in row {
            match above.last_mut() {
                Some((parent, left)) if *parent == place / 2 => left.merge(state),
                _ => above.push((place / 2, state)),
            }
        }
        row = above;
        level += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_any_levels_come_to_the_sum_and_none_may_come_twice() {
        let node = |level, place, count: u64| PartNode {
            level,
            place,
            bytes: count.to_bytes(),
        };
        // Blocks 0 to 3 in one node, 5 and 6 alone, 4 and 7 empty; then block 16.
        let nodes = vec![node(0, 6, 30), node(2, 0, 1), node(0, 16, 1000), node(0, 5, 200)];
        assert_eq!(join::<u64>(nodes.clone()).unwrap(), Some(1231));
        assert!(join::<u64>(Vec::new()).unwrap().is_none());
        let twice = [nodes, vec![node(0, 6, 30)]].concat();
        assert!(join::<u64>(twice).is_err());
    }
}
