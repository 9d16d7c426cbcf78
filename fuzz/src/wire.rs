//! The binary form of what travels to other processes: blocks, models, statistics, requests for passes.
//!
//! Promise: what was read is written again, byte for byte, or refused.

use quorate::annotations::Names;
use quorate::internal::blocks::{Block, Blocks, PartNode, RemoteBlocks, TaskBlock, Wire};
use quorate::internal::model::BlockFit;
use quorate::internal::pass_runner::PassRunner;
use quorate::internal::statistics::{CoOccurrence, count_cooccurrences};
use quorate::methods::{METHODS, vote_fractions};
use quorate::model::{AnswerCounts, DawidSkene, count_answers};
use quorate::{Annotations, Context, Error, Result};

use crate::Target;

pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "wire-block",
        run: round_trip::<TaskBlock>,
        seeds: || vec![block().to_bytes()],
    },
    Target {
        name: "wire-model",
        run: round_trip::<DawidSkene>,
        seeds: || {
            vec![
                count_answers(&table(), &vote_fractions(&table()))
                    .to_model(0.1)
                    .to_bytes(),
            ]
        },
    },
    Target {
        name: "wire-statistics",
        run: |bytes| {
            round_trip::<AnswerCounts>(bytes);
            round_trip::<CoOccurrence>(bytes);
        },
        seeds: || {
            vec![
                count_answers(&table(), &vote_fractions(&table())).to_bytes(),
                count_cooccurrences(&table()).to_bytes(),
            ]
        },
    },
    Target {
        name: "wire-fit",
        run: round_trip::<BlockFit>,
        seeds: || recorded().1,
    },
    Target {
        name: "wire-request",
        run: |bytes| drop(PassRunner::new(bytes)),
        seeds: || recorded().0,
    },
];

fn round_trip<T: Wire>(bytes: &[u8]) {
    if let Ok(value) = T::from_bytes(bytes) {
        assert_eq!(value.to_bytes(), bytes);
    }
}

fn table() -> Annotations {
    let labels = (0..24u32).map(|row| (row / 3, row % 3, (row * row % 2) as u16));
    Annotations::from_codes(8, 3, 2, labels).expect("the rows are proper ones")
}

fn block() -> TaskBlock {
    let table = table();
    let (worker, label) = table.labels_between(0..table.task_count());
    TaskBlock {
        starts: table.task_starts().to_vec(),
        worker: worker.to_vec(),
        label: label.to_vec(),
        gold: Vec::new(),
    }
}

/// Blocks that answer requests and remember them.
struct Recorder {
    table: Annotations,
    block: TaskBlock,
    requests: Vec<Vec<u8>>,
}

/// The requests of all methods that stream, and their fits.
fn recorded() -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let mut recorder = Recorder {
        table: table(),
        block: block(),
        requests: Vec::new(),
    };
    let mut fits = Vec::new();
    for method in METHODS.iter().filter(|method| method.streams) {
        let method = method.with_defaults().expect("defaults are in range");
        if let Ok(fit) = method.fit_block_by_block(&mut recorder, &mut Context::new(0)) {
            fits.push(fit.to_bytes());
        }
    }
    // The first of each kind and size is enough.
    recorder
        .requests
        .sort_by_key(|request| (request.get(29..37).map(<[u8]>::to_vec), request.len()));
    recorder
        .requests
        .dedup_by_key(|request| (request.get(29..37).map(<[u8]>::to_vec), request.len()));
    (recorder.requests, fits)
}

impl Blocks for Recorder {
    fn workers(&self) -> &Names {
        self.table.workers()
    }

    fn class_count(&self) -> usize {
        self.table.class_count()
    }

    fn task_count(&self) -> u64 {
        self.table.task_count() as u64
    }

    fn label_count(&self) -> u64 {
        self.table.label_count() as u64
    }

    fn has_gold(&self) -> bool {
        false
    }

    fn remote(&mut self) -> Option<&mut dyn RemoteBlocks> {
        Some(self)
    }

    fn for_each(&mut self, _: &mut dyn FnMut(Block<'_>) -> Result<()>) -> Result<()> {
        Err(Error::Mismatch("these blocks only answer requests".into()))
    }
}

impl RemoteBlocks for Recorder {
    fn run_remote(&mut self, request: &[u8]) -> Result<Vec<PartNode>> {
        self.requests.push(request.to_vec());
        let mut runner = PassRunner::new(request)?;
        runner.add(0, &self.block)?;
        Ok(runner.finish())
    }
}
