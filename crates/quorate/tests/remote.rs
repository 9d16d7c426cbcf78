//! Passes over blocks in other processes: every method that streams gives the bits of one partition for any
//! number of partitions, the answer of the same blocks here, and that of the table in memory.

use quorate::annotations::Names;
use quorate::diagnose::Overview;
use quorate::internal::blocks::{Block, Blocks, PartNode, RemoteBlocks, TaskBlock, Wire};
use quorate::internal::model::BlockFit;
use quorate::internal::model::ConsensusSummary;
use quorate::internal::pass_runner::PassRunner;
use quorate::methods::{METHODS, Method};
use quorate::model::{ClassPrior, DawidSkene, Priors};
use quorate::simulate::{Amount, Coverage, Quality, Simulation};
use quorate::{Annotations, Context, Error, Result};
use quorate_baselines::find;

const BLOCKS: u64 = 16;

/// A table dealt into blocks that only answer to requests; some blocks are empty.
struct Cluster<'a> {
    annotations: &'a Annotations,
    /// Number, labels, and codes of the tasks in the table.
    blocks: Vec<(u64, TaskBlock, Vec<usize>)>,
    partitions: usize,
    /// The last request.
    last: Vec<u8>,
}

impl<'a> Cluster<'a> {
    fn of(annotations: &'a Annotations, partitions: usize) -> Self {
        let mut blocks: Vec<(u64, TaskBlock, Vec<usize>)> = Vec::new();
        for number in (0..BLOCKS).filter(|number| number % 5 != 2) {
            let mine = |task: &usize| {
                (*task as u64 * 7919) % BLOCKS == number
                    || (number == 3 && (*task as u64 * 7919) % BLOCKS % 5 == 2)
            };
            let tasks: Vec<usize> = (0..annotations.task_count()).filter(mine).collect();
            let mut block = TaskBlock {
                starts: vec![0],
                ..TaskBlock::default()
            };
            for &task in &tasks {
                for (worker, label) in annotations.labels_of_task(task) {
                    block.worker.push(worker as u32);
                    block.label.push(label as u16);
                }
                block.starts.push(block.label.len() as u32);
                if annotations.has_gold() {
                    block
                        .gold
                        .push(annotations.gold(task).map_or(u32::MAX, |class| class as u32));
                }
            }
            blocks.push((number, block, tasks));
        }
        Self {
            annotations,
            blocks,
            partitions,
            last: Vec::new(),
        }
    }

    /// Posteriors of all tasks in the order of the table, from a fit that went through its binary form.
    fn posteriors(&self, fit: &BlockFit) -> Vec<f64> {
        let classes = self.annotations.class_count();
        let fit = BlockFit::from_bytes(&fit.to_bytes()).unwrap();
        let mut rows = vec![0.0; self.annotations.task_count() * classes];
        for (_, block, tasks) in &self.blocks {
            let found = fit.posteriors(block.view(self.annotations.worker_count(), classes));
            for (row, &task) in found.chunks_exact(classes).zip(tasks) {
                rows[task * classes..][..classes].copy_from_slice(row);
            }
        }
        rows
    }
}

impl Blocks for Cluster<'_> {
    fn workers(&self) -> &Names {
        self.annotations.workers()
    }

    fn class_count(&self) -> usize {
        self.annotations.class_count()
    }

    fn task_count(&self) -> u64 {
        self.annotations.task_count() as u64
    }

    fn label_count(&self) -> u64 {
        self.annotations.label_count() as u64
    }

    fn has_gold(&self) -> bool {
        self.annotations.has_gold()
    }

    fn remote(&mut self) -> Option<&mut dyn RemoteBlocks> {
        Some(self)
    }

    fn for_each(&mut self, _: &mut dyn FnMut(Block<'_>) -> Result<()>) -> Result<()> {
        Err(Error::Mismatch(
            "blocks in other processes cannot be handed over".into(),
        ))
    }
}

impl RemoteBlocks for Cluster<'_> {
    fn run_remote(&mut self, request: &[u8]) -> Result<Vec<PartNode>> {
        self.last = request.to_vec();
        let mut nodes = Vec::new();
        // The last partition answers first.
        for blocks in self
            .blocks
            .chunks(self.blocks.len().div_ceil(self.partitions))
            .rev()
        {
            let mut runner = PassRunner::new(request)?;
            for (number, block, _) in blocks {
                let sent = TaskBlock::from_bytes(&block.to_bytes())?;
                runner.add(*number, &sent)?;
            }
            nodes.extend(runner.finish());
        }
        // A second stage merges some of the nodes, as a cluster with many partitions would.
        if self.partitions > 2 {
            nodes.sort_by_key(|node| node.place << node.level);
            let late = nodes.split_off(nodes.len() / 2);
            let mut runner = PassRunner::new(request)?;
            nodes.iter().try_for_each(|node| runner.add_node(node))?;
            nodes = late.into_iter().chain(runner.finish()).collect();
        }
        Ok(nodes)
    }
}

/// The same blocks in this process.
struct HereInBlocks<'a>(Cluster<'a>);

impl Blocks for HereInBlocks<'_> {
    fn workers(&self) -> &Names {
        self.0.workers()
    }

    fn class_count(&self) -> usize {
        self.0.class_count()
    }

    fn task_count(&self) -> u64 {
        self.0.task_count()
    }

    fn label_count(&self) -> u64 {
        self.0.label_count()
    }

    fn has_gold(&self) -> bool {
        self.0.has_gold()
    }

    fn for_each(&mut self, visit: &mut dyn FnMut(Block<'_>) -> Result<()>) -> Result<()> {
        let (workers, classes) = (self.workers().len(), self.class_count());
        let mut blocks = self.0.blocks.iter();
        blocks.try_for_each(|(_, block, _)| visit(block.view(workers, classes)))
    }
}

fn crowd(labels_per_task: usize) -> Annotations {
    let simulation = Simulation {
        tasks: 400,
        workers: 25,
        classes: 3,
        quality: Quality::Accuracy {
            lowest: 0.5,
            highest: 0.9,
            concentration: 2.0,
        },
        uniform_spammers: Amount::Number(2),
        coverage: Coverage::PerTask(labels_per_task),
        ..Simulation::default()
    };
    simulation.run(3).unwrap().annotations
}

fn known(annotations: &Annotations) -> Annotations {
    let gold = (0..annotations.task_count() as u32)
        .step_by(9)
        .map(|task| (task, (task % 3) as u16));
    annotations.clone().with_gold(gold).unwrap()
}

fn context(annotations: &Annotations, priors: bool) -> Context {
    let context = Context::new(5);
    if !priors {
        return context;
    }
    let mut history = quorate::model::AnswerCounts::zero(annotations.worker_count(), 3);
    history.add(1, 0, 0, 12.0);
    history.add(1, 2, 1, 5.0);
    context.with_priors(Priors {
        classes: Some(ClassPrior::worth_tasks(vec![0.5, 0.3, 0.2], 40.0).unwrap()),
        workers: Some(history),
    })
}

fn furthest(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn fit(
    method: &Method,
    parameters: &[(String, String)],
    annotations: &Annotations,
    partitions: usize,
    priors: bool,
) -> (Vec<f64>, Option<DawidSkene>, usize, Vec<String>) {
    let mut cluster = Cluster::of(annotations, partitions);
    let aggregate = method.with_parameters(parameters).unwrap();
    let fit = aggregate
        .fit_block_by_block(&mut cluster, &mut context(annotations, priors))
        .unwrap();
    assert!(!cluster.last.is_empty());
    (
        cluster.posteriors(&fit),
        fit.model.clone(),
        fit.iterations,
        fit.warnings,
    )
}

/// Same bits for 1, 2, 3, 7 and 13 partitions; and the answer of blocks and table here within rounding, after
/// the same iterations.
fn check(method: &Method, parameters: &[(String, String)], annotations: &Annotations, priors: bool) {
    let one = fit(method, parameters, annotations, 1, priors);
    for partitions in [2, 3, 7, 13] {
        assert_eq!(
            fit(method, parameters, annotations, partitions, priors),
            one,
            "{} in {partitions} partitions",
            method.name
        );
    }
    let aggregate = method.with_parameters(parameters).unwrap();
    let mut local = HereInBlocks(Cluster::of(annotations, 1));
    let here = aggregate
        .fit_block_by_block(&mut local, &mut context(annotations, priors))
        .unwrap();
    let gap = furthest(&one.0, &local.0.posteriors(&here));
    assert!(gap < 1e-9 && one.2 == here.iterations, "{}: {gap}", method.name);
    assert_eq!(one.3, here.warnings);
    // The rounds of these follow the tasks in memory; in blocks they go another way, to a close answer.
    if ["task-effects", "auto"].contains(&method.name) {
        return;
    }
    let whole = aggregate
        .fit(annotations, &mut context(annotations, priors))
        .unwrap();
    let gap = furthest(&one.0, whole.consensus.as_slice());
    assert!(gap < 1e-9 && one.2 == whole.iterations, "{}: {gap}", method.name);
    if let (Some(found), Some(wanted)) = (&one.1, &whole.model) {
        assert!(
            furthest(found.confusions(), wanted.confusions()) < 1e-9,
            "{}",
            method.name
        );
    }
}

#[test]
fn methods_that_stream_do_not_depend_on_partitions() {
    let annotations = crowd(5);
    let streaming: Vec<_> = METHODS.iter().filter(|method| method.streams).collect();
    assert!(streaming.len() >= 8);
    for method in streaming {
        check(method, &[], &annotations, false);
    }
}

#[test]
fn gold_and_priors_travel() {
    let annotations = known(&crowd(4));
    for name in [
        "majority-vote",
        "dawid-skene",
        "one-coin",
        "fast-ds",
        "pooled-ds",
        "ibcc",
        "rob-symnmf",
        "rob-symnmf-em",
        "task-effects",
        "auto",
    ] {
        check(find(name).unwrap(), &[], &annotations, false);
        check(find(name).unwrap(), &[], &annotations, true);
    }
}

#[test]
fn parameters_that_change_the_passes() {
    let annotations = crowd(5);
    let set = |name: &str, value: &str| [(name.to_owned(), value.to_owned())];
    check(
        find("rob-symnmf").unwrap(),
        &set("form", "matrix-free"),
        &annotations,
        false,
    );
    check(
        find("rob-symnmf").unwrap(),
        &set("form", "pairs"),
        &annotations,
        false,
    );
    check(
        find("fast-ds").unwrap(),
        &set("start", "majority"),
        &annotations,
        false,
    );
    check(
        find("majority-vote").unwrap(),
        &set("ties", "prior"),
        &annotations,
        false,
    );
    check(
        find("dawid-skene").unwrap(),
        &set("max-iter", "3"),
        &annotations,
        false,
    );
}

#[test]
fn one_label_per_task_keeps_its_label() {
    check(find("dawid-skene").unwrap(), &[], &crowd(1), false);
}

#[test]
fn summary_and_overview_are_those_of_the_table() {
    let annotations = crowd(4);
    let aggregate = find("dawid-skene").unwrap().with_defaults().unwrap();
    let whole = aggregate.fit(&annotations, &mut Context::new(0)).unwrap();
    let wanted = ConsensusSummary::of(&annotations, &whole.consensus, true);
    let agreement = quorate::agreement::AgreementSettings {
        replicates: 0,
        ..Default::default()
    };
    let agreement = agreement.measure(&annotations, &Context::new(0)).unwrap();
    for partitions in [1, 2, 7] {
        let mut cluster = Cluster::of(&annotations, partitions);
        let fit = aggregate
            .fit_block_by_block(&mut cluster, &mut Context::new(0))
            .unwrap();
        let found = ConsensusSummary::of_fit(&fit, &mut cluster, true, &mut Context::new(0)).unwrap();
        assert_eq!(
            (found.tasks, found.labels, found.tied_tasks),
            (wanted.tasks, wanted.labels, wanted.tied_tasks)
        );
        assert_eq!(found.changed_from_votes, wanted.changed_from_votes);
        assert_eq!(found.worker_agreed, wanted.worker_agreed);
        assert!((found.doubt - wanted.doubt).abs() < 1e-8);
        let overview = Overview::of(&mut cluster, annotations.classes(), &mut Context::new(0)).unwrap();
        let summary = annotations.summary();
        assert_eq!(
            overview.labels_per_class,
            summary
                .labels_per_class
                .iter()
                .map(|&labels| labels as u64)
                .collect::<Vec<_>>()
        );
        assert_eq!(overview.labels_per_worker, annotations.labels_per_worker());
        assert_eq!(overview.pairable_tasks, agreement.pairable_tasks);
        let values = [
            agreement.observed,
            agreement.fleiss,
            agreement.alpha_nominal,
            agreement.alpha_ordinal,
            agreement.alpha_interval,
            agreement.ac1,
        ];
        for ((name, found), wanted) in overview.agreement.iter().zip(values) {
            assert_eq!(*found, wanted.value, "{name}");
        }
        assert_eq!(
            overview.parts,
            quorate::internal::statistics::worker_components(&annotations)
        );
    }
}

#[test]
fn damaged_requests_are_refused() {
    let annotations = crowd(3);
    let mut cluster = Cluster::of(&annotations, 1);
    let aggregate = find("dawid-skene").unwrap().with_defaults().unwrap();
    aggregate
        .fit_block_by_block(&mut cluster, &mut Context::new(0))
        .unwrap();
    let request = cluster.last;
    for length in 0..request.len() {
        assert!(PassRunner::new(&request[..length]).is_err());
    }
    for place in 0..request.len() {
        let mut other = request.clone();
        other[place] ^= 0xff;
        // Refused, or another pass; nothing panics.
        drop(PassRunner::new(&other));
    }
    let block = TaskBlock {
        starts: vec![0, 1],
        worker: vec![99],
        label: vec![0],
        gold: Vec::new(),
    };
    let mut runner = PassRunner::new(&request).unwrap();
    assert!(runner.add(0, &block).is_err(), "a worker that there is not");
    let block = TaskBlock {
        worker: vec![3],
        ..block
    };
    runner.add(4, &block).unwrap();
    assert!(runner.add(4, &block).is_err(), "blocks out of order");
}
