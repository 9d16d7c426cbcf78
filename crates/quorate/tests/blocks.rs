//! Labels in blocks: every method that goes through them gives the answer that it gives in memory.

use quorate::annotations::Names;
use quorate::internal::annotations::NO_GOLD;
use quorate::internal::blocks::{Block, Blocks, TaskBlock, Wire};
use quorate::internal::calibrate::{TYPICAL_SHARE, calibrate, calibrate_fit, estimate_share};
use quorate::internal::model::{ConsensusSummary, Steps, VoteShares};
use quorate::internal::statistics::{CoOccurrence, count_cooccurrences};
use quorate::intervals::Intervals;
use quorate::methods::{Aggregate, Fit, METHODS, Method};
use quorate::model::{AnswerCounts, ClassPrior, Priors, count_answers, posterior, vote_fractions};
use quorate::simulate::{Coverage, Quality, Simulation};
use quorate::{Annotations, Context, Error};

/// A table cut into blocks of tasks, as labels on disk are.
struct Pieces {
    workers: Names,
    classes: usize,
    blocks: Vec<TaskBlock>,
    has_gold: bool,
}

impl Pieces {
    fn of(annotations: &Annotations, count: usize) -> Self {
        let tasks = annotations.task_count();
        let piece = |piece: usize| {
            let mut block = TaskBlock {
                starts: vec![0],
                ..TaskBlock::default()
            };
            for task in tasks * piece / count..tasks * (piece + 1) / count {
                let (workers, labels) = annotations.task_slices(task);
                block.worker.extend_from_slice(workers);
                block.label.extend_from_slice(labels);
                block.starts.push(block.worker.len() as u32);
                if annotations.has_gold() {
                    let truth = annotations.gold(task);
                    block.gold.push(truth.map_or(NO_GOLD, |class| class as u32));
                }
            }
            block
        };
        Self {
            workers: annotations.workers().clone(),
            classes: annotations.class_count(),
            blocks: (0..count).map(piece).collect(),
            has_gold: annotations.has_gold(),
        }
    }

    fn views(&self) -> impl Iterator<Item = Block<'_>> {
        self.blocks
            .iter()
            .map(|block| block.view(self.workers.len(), self.classes))
    }
}

impl Blocks for Pieces {
    fn workers(&self) -> &Names {
        &self.workers
    }

    fn class_count(&self) -> usize {
        self.classes
    }

    fn task_count(&self) -> u64 {
        self.views().map(|block| block.task_count() as u64).sum()
    }

    fn label_count(&self) -> u64 {
        self.views().map(|block| block.label_count() as u64).sum()
    }

    fn has_gold(&self) -> bool {
        self.has_gold
    }

    fn for_each(&mut self, visit: &mut dyn FnMut(Block<'_>) -> quorate::Result<()>) -> quorate::Result<()> {
        self.views().try_for_each(visit)
    }
}

fn crowd(seed: u64, classes: usize) -> (Annotations, Vec<u16>) {
    let simulation = Simulation {
        tasks: 300,
        workers: 20,
        classes,
        coverage: Coverage::PerTask(6),
        quality: Quality::Accuracy {
            lowest: 0.5,
            highest: 0.95,
            concentration: 4.0,
        },
        ..Simulation::default()
    };
    let crowd = simulation.run(seed).unwrap();
    let truth = crowd.truth.iter().map(|&class| class as u16).collect();
    (crowd.annotations, truth)
}

fn streaming() -> impl Iterator<Item = &'static Method> {
    METHODS.iter().filter(|method| method.streams)
}

/// Fits in memory and in blocks, and compares posteriors, model and course.
fn check(method: &Method, annotations: &Annotations, pieces: usize, priors: &Priors, tolerance: f64) {
    let aggregate = method.with_defaults().unwrap();
    let context = || Context::new(3).with_priors(priors.clone());
    let whole = aggregate.fit(annotations, &mut context()).unwrap();
    let mut blocks = Pieces::of(annotations, pieces);
    let parts = aggregate.fit_block_by_block(&mut blocks, &mut context()).unwrap();
    let rows: Vec<f64> = blocks.views().flat_map(|block| parts.posteriors(block)).collect();
    assert_eq!(rows.len(), whole.consensus.as_slice().len());
    let close = |what: &str, a: &[f64], b: &[f64]| {
        for (a, b) in a.iter().zip(b) {
            assert!(
                (a - b).abs() <= tolerance,
                "{} in {pieces} blocks, {what}: {a} {b}",
                method.name
            );
        }
    };
    close("posteriors", &rows, whole.consensus.as_slice());
    let (model, expected) = (parts.model.unwrap(), whole.model.unwrap());
    close("prior", model.prior(), expected.prior());
    close("matrices", model.confusions(), expected.confusions());
    assert_eq!(
        (parts.converged, &parts.warnings),
        (whole.converged, &whole.warnings)
    );
    if method.name != "auto" {
        assert_eq!(parts.iterations, whole.iterations, "{}", method.name);
        assert_eq!(parts.trace.len(), whole.trace.len(), "{}", method.name);
    }
}

/// All but those that look for the effects of tasks anew in every block, which end within a tolerance of each
/// other.
fn same_in_blocks() -> impl Iterator<Item = &'static Method> {
    streaming().filter(|method| !["auto", "task-effects"].contains(&method.name))
}

#[test]
fn methods_in_blocks_give_the_answer_of_memory() {
    for (seed, classes) in [(1, 2), (2, 3)] {
        let (annotations, _) = crowd(seed, classes);
        for method in same_in_blocks() {
            for pieces in [1, 2, 7] {
                check(method, &annotations, pieces, &Priors::default(), 1e-9);
            }
        }
    }
}

#[test]
fn gold_class_prior_and_worker_history_enter_blocks_too() {
    let (annotations, truth) = crowd(3, 3);
    let gold = (0..40).map(|task| (task, truth[task as usize]));
    let annotations = annotations.with_gold(gold).unwrap();
    let mut history = AnswerCounts::zero(annotations.worker_count(), 3);
    for class in 0..3 {
        history.add(0, class, class, 20.0);
        history.add(1, (class + 1) % 3, class, 15.0);
    }
    let priors = Priors {
        classes: Some(ClassPrior::worth_tasks(vec![0.5, 0.3, 0.2], 30.0).unwrap()),
        workers: Some(history),
    };
    for method in same_in_blocks() {
        check(method, &annotations, 5, &priors, 1e-8);
    }
}

#[test]
fn task_effects_and_auto_in_blocks_are_those_of_memory() {
    let (annotations, truth) = crowd(4, 3);
    let known = annotations
        .clone()
        .with_gold((0..20).map(|task| (task, truth[task as usize])))
        .unwrap();
    for annotations in [annotations, known] {
        for name in ["task-effects", "auto"] {
            let method = quorate::methods::find(name).unwrap().with_defaults().unwrap();
            let whole = method.fit(&annotations, &mut Context::new(0)).unwrap();
            let mut blocks = Pieces::of(&annotations, 4);
            let parts = method
                .fit_block_by_block(&mut blocks, &mut Context::new(0))
                .unwrap();
            let rows: Vec<f64> = blocks.views().flat_map(|block| parts.posteriors(block)).collect();
            let gaps = rows.iter().zip(whole.consensus.as_slice());
            let gap = gaps.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            // In memory the effects are warm from the round before, and a posterior may still move by the
            // tolerance, 1e-3.
            assert!(gap < 5e-3, "{name}: {gap}");
            assert_eq!(parts.warnings, whole.warnings);
        }
    }
}

/// A small table is gathered: the same bits as in memory, wherever the labels were.
#[test]
fn small_tables_in_blocks_are_fitted_in_memory() {
    let (annotations, truth) = crowd(6, 3);
    let known = annotations
        .clone()
        .with_gold((0..20).map(|task| (task, truth[task as usize])))
        .unwrap();
    for annotations in [annotations, known] {
        for method in streaming() {
            let aggregate = method.with_defaults().unwrap();
            let whole = aggregate.fit(&annotations, &mut Context::new(3)).unwrap();
            let mut blocks = Pieces::of(&annotations, 4);
            let parts = aggregate.fit_blocks(&mut blocks, &mut Context::new(3)).unwrap();
            let rows: Vec<f64> = blocks.views().flat_map(|block| parts.posteriors(block)).collect();
            assert_eq!(rows, whole.consensus.as_slice(), "{}", method.name);
            assert_eq!(parts.model, whole.model, "{}", method.name);
            assert_eq!(parts.notes, whole.notes, "{}", method.name);
        }
    }
}

#[test]
fn methods_that_need_all_labels_say_so() {
    let (annotations, _) = crowd(5, 2);
    for method in METHODS.iter().filter(|method| !method.streams) {
        let mut blocks = Pieces::of(&annotations, 2);
        let refused = method
            .with_defaults()
            .unwrap()
            .fit_block_by_block(&mut blocks, &mut Context::new(0))
            .unwrap_err();
        assert_eq!(refused, Error::NeedsAllLabels { method: method.name });
    }
}

#[test]
fn accelerated_rounds_in_blocks_end_where_they_end_in_memory() {
    let (annotations, _) = crowd(6, 3);
    let em = quorate::internal::model::Em {
        tol: 1e-9,
        accelerated: true,
        ..Default::default()
    };
    let start = quorate::internal::model::EmStart::Votes;
    let whole: Fit = em.fit(&annotations, start.clone(), &mut Context::new(0)).unwrap();
    let mut blocks = Pieces::of(&annotations, 3);
    let mut passes = quorate::internal::blocks::Passes::over(&mut blocks);
    let parts = em.run(&mut passes, start, &mut Context::new(0)).unwrap();
    assert_eq!(parts.iterations, whole.iterations);
    let pairs = parts.model.as_ref().unwrap().confusions().iter();
    for (a, b) in pairs.zip(whole.model.as_ref().unwrap().confusions()) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
}

#[test]
fn steps_of_blocks_merge_into_those_of_the_whole_also_through_bytes() {
    let (annotations, _) = crowd(7, 3);
    let model = count_answers(&annotations, &vote_fractions(&annotations)).to_model(0.1);
    let close = |a: &AnswerCounts, b: &AnswerCounts| {
        let cells = (0..a.worker_count()).flat_map(|m| a.worker(m).iter().zip(b.worker(m)));
        cells.into_iter().all(|(a, b)| (a - b).abs() < 1e-9)
    };
    let mut steps = Steps::default();
    let whole = steps.take((&annotations).into(), &model);
    let mut pieces = Pieces::of(&annotations, 4);
    let mut counted = AnswerCounts::zero(annotations.worker_count(), 3);
    let (mut log_likelihood, mut pairs) = (0.0, CoOccurrence::empty(annotations.worker_count(), 3));
    for block in pieces.views() {
        let step = steps.take(block, &model);
        counted.merge(&AnswerCounts::from_bytes(&step.counts.to_bytes()).unwrap());
        log_likelihood += step.log_likelihood;
        let part = CoOccurrence::of_block(block);
        pairs = pairs.merge(&CoOccurrence::from_bytes(&part.to_bytes()).unwrap());
    }
    assert!(close(&counted, &whole.counts));
    assert!((log_likelihood - whole.log_likelihood).abs() < 1e-9 * whole.log_likelihood.abs());
    let (_, likelihood) = posterior(&annotations, &model);
    assert!((likelihood - whole.log_likelihood).abs() < 1e-9 * likelihood.abs());
    assert_eq!(pairs, count_cooccurrences(&annotations));
    // Posteriors and votes.
    let method = quorate::methods::DawidSkeneEm::default();
    let fit = method
        .fit_block_by_block(&mut pieces, &mut Context::new(0))
        .unwrap();
    let (rows, _) = posterior(&annotations, fit.model.as_ref().unwrap());
    let parts: Vec<f64> = pieces.views().flat_map(|block| fit.posteriors(block)).collect();
    assert_eq!(parts, rows.as_slice());
    let shares = VoteShares::of_blocks(&mut pieces).unwrap();
    let votes: Vec<f64> = pieces.views().flat_map(|block| shares.rows(block)).collect();
    assert_eq!(votes, vote_fractions(&annotations).as_slice());
}

#[test]
fn summaries_calibration_and_intervals_in_blocks() {
    let (annotations, truth) = crowd(8, 2);
    let gold = (0..30).map(|task| (task, truth[task as usize]));
    let annotations = annotations.with_gold(gold).unwrap();
    let method = quorate::methods::DawidSkeneEm::default();
    let whole = method.fit(&annotations, &mut Context::new(0)).unwrap();
    let mut blocks = Pieces::of(&annotations, 3);
    let parts = method
        .fit_block_by_block(&mut blocks, &mut Context::new(0))
        .unwrap();
    let shares = VoteShares::of_blocks(&mut blocks).unwrap();
    let mut summary = ConsensusSummary::default();
    for block in blocks.views() {
        summary.merge(&ConsensusSummary::of_block(
            block,
            &parts.posteriors(block),
            &shares,
            true,
        ));
    }
    let expected = ConsensusSummary::of(&annotations, &whole.consensus, true);
    // Sums of different blocks differ by rounding.
    assert!((summary.expected_error() - expected.expected_error()).abs() < 1e-9);
    assert!((summary.doubtful_errors - expected.doubtful_errors).abs() < 1e-9);
    for (found, expected) in summary.worker_right.iter().zip(&expected.worker_right) {
        assert!((found - expected).abs() < 1e-9);
    }
    let plain = |summary: &ConsensusSummary| ConsensusSummary {
        worker_right: Vec::new(),
        doubt: 0.0,
        doubtful_errors: 0.0,
        counts: None,
        ..summary.clone()
    };
    assert_eq!(plain(&summary), plain(&expected));
    assert_eq!(
        expected.changed_from_votes as usize,
        quorate::methods::changed_from_votes(&annotations, &whole.consensus)
    );

    let level = Intervals {
        draws: 40,
        burn_in: 10,
        ..Intervals::default()
    };
    let model = whole.model.as_ref().unwrap();
    let in_memory = level
        .run(&annotations, model, &whole.consensus, &mut Context::new(1))
        .unwrap();
    let in_blocks = level
        .run_blocks(&mut blocks, &parts, &mut Context::new(1))
        .unwrap()
        .unwrap();
    // Other random numbers: the same up to the noise of 40 draws.
    for (a, b) in in_memory.accuracy.iter().zip(&in_blocks.accuracy) {
        assert!((a.estimate - b.estimate).abs() < 0.05, "{a:?} {b:?}");
    }

    let evidence = count_answers(&annotations, &whole.consensus).labels_per_truth();
    let share = estimate_share(&annotations, model, &evidence, TYPICAL_SHARE);
    let calibrated = calibrate(&annotations, model, whole.consensus.clone(), share);
    let (parts, found) = calibrate_fit(parts, &mut blocks, &mut Context::new(0)).unwrap();
    assert_eq!(found, share);
    let rows: Vec<f64> = blocks.views().flat_map(|block| parts.posteriors(block)).collect();
    for (a, b) in rows.iter().zip(calibrated.as_slice()) {
        assert!((a - b).abs() < 1e-9);
    }
}

#[test]
fn an_error_of_the_source_ends_the_fit_with_its_words() {
    struct Broken(Pieces);
    impl Blocks for Broken {
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
            false
        }
        fn for_each(&mut self, _: &mut dyn FnMut(Block<'_>) -> quorate::Result<()>) -> quorate::Result<()> {
            let lost = std::io::Error::other("the disk is gone");
            Err(Error::Source(quorate::error::SourceError::new(lost)))
        }
    }
    let (annotations, _) = crowd(9, 2);
    let mut blocks = Broken(Pieces::of(&annotations, 2));
    for method in streaming() {
        let aggregate = method.with_defaults().unwrap();
        let error = aggregate
            .fit_block_by_block(&mut blocks, &mut Context::new(0))
            .unwrap_err();
        assert_eq!(error.to_string(), "the disk is gone", "{}", method.name);
    }
}

/// Only the engine of passes knows where labels live: nothing outside `blocks/` asks whether posteriors are
/// cached, or whether blocks are in memory or in other processes.
#[test]
fn nothing_outside_of_blocks_asks_where_labels_live() {
    fn look(folder: &std::path::Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("blocks") {
                look(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let asks = [".caches_posteriors", ".in_memory()", ".remote()", ".run_remote("];
                let lines = text.lines().enumerate();
                let lines = lines.filter(|(_, line)| asks.iter().any(|ask| line.contains(ask)));
                found
                    .extend(lines.map(|(number, line)| format!("{}:{}: {line}", path.display(), number + 1)));
            }
        }
    }
    let mut found = Vec::new();
    for source in ["src", "../quorate-baselines/src"] {
        look(
            &std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(source),
            &mut found,
        );
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
