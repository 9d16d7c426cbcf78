//! The inner loops alone: interning, the sweep, counting of pairs, imputation.
//!
//! `cargo bench -p quorate-bench`, or one of them: `cargo bench -p quorate-bench -- sweep`.

use std::sync::LazyLock;

use divan::Bencher;
use divan::counter::ItemsCount;
use quorate::internal::blocks::Passes;
use quorate::internal::model::{Em, EmStart};
use quorate::internal::statistics::{PairBlocks, count_cooccurrences};
use quorate::internal::symnmf::{
    ResidualWeights, RobustSettings, Solver, impute_matrix_free, impute_robust, random_factor,
};
use quorate::model::posterior;
use quorate::simulate::{Amount, Coverage, Quality, Simulated, Simulation};
use quorate::{Annotations, AnnotationsBuilder, Context};

fn main() {
    divan::main();
}

/// 500,000 labels of 2000 workers on 100,000 tasks, in four classes.
static CROWD: LazyLock<Simulated> = LazyLock::new(|| {
    Simulation {
        tasks: 100_000,
        workers: 2000,
        classes: 4,
        quality: Quality::Accuracy {
            lowest: 0.4,
            highest: 0.9,
            concentration: 1.0,
        },
        experts: Amount::Number(0),
        coverage: Coverage::PerTask(5),
        activity_exponent: 0.5,
        ..Simulation::default()
    }
    .run(1)
    .expect("the settings are sound")
});

fn labels() -> &'static Annotations {
    &CROWD.annotations
}

fn per_label<'a, 'b>(bencher: Bencher<'a, 'b>) -> Bencher<'a, 'b> {
    bencher.counter(ItemsCount::new(labels().label_count()))
}

/// Names to codes, row by row, and the table from the codes.
#[divan::bench(sample_count = 10)]
fn interning(bencher: Bencher<'_, '_>) {
    let table = labels();
    let rows: Vec<[&str; 3]> = (0..table.task_count())
        .flat_map(|task| {
            let name = move |(worker, label)| {
                [
                    table.tasks().get(task),
                    table.workers().get(worker),
                    table.classes().get(label),
                ]
            };
            table.labels_of_task(task).map(name)
        })
        .collect();
    per_label(bencher).bench(|| {
        let mut builder = AnnotationsBuilder::default();
        for [task, worker, label] in &rows {
            builder.push(task, worker, label).expect("sound rows");
        }
        builder.build()
    });
}

/// Posteriors of all tasks under a model.
#[divan::bench(sample_count = 20)]
fn posterior_sweep(bencher: Bencher<'_, '_>) {
    per_label(bencher).bench(|| posterior(labels(), &CROWD.model));
}

/// Five passes of EM: posteriors and counts together.
#[divan::bench(sample_count = 20)]
fn em_five_passes(bencher: Bencher<'_, '_>) {
    let em = Em {
        max_iter: 5,
        tol: 0.0,
        ..Em::default()
    };
    per_label(bencher).bench(|| em.fit(labels(), EmStart::Votes, &mut Context::new(0)));
}

/// Answers of every pair of workers that share a task.
#[divan::bench(sample_count = 20)]
fn cooccurrences(bencher: Bencher<'_, '_>) {
    per_label(bencher).bench(|| count_cooccurrences(labels()));
}

/// Five sweeps of robust imputation over stored pairs.
#[divan::bench(sample_count = 10)]
fn robust_five_sweeps(bencher: Bencher<'_, '_>) {
    let mut context = Context::new(0);
    let blocks = PairBlocks::observed(labels(), &mut context).expect("there are pairs");
    let order = labels().canonical_worker_order();
    let settings = RobustSettings {
        weights: ResidualWeights::Robust,
        evidence: 1.0,
        xi: 1e-3,
        solver: Solver::Exact,
        max_iter: 5,
        tol: 0.0,
    };
    bencher
        .counter(ItemsCount::new(blocks.pair_count()))
        .with_inputs(|| random_factor(labels().worker_count(), 4, &Context::new(0)))
        .bench_local_values(|start| impute_robust(&blocks, &order, start, &settings, &mut context));
}

/// Five steps of imputation without pairs.
#[divan::bench(sample_count = 10)]
fn matrix_free_five_steps(bencher: Bencher<'_, '_>) {
    let mut context = Context::new(0);
    per_label(bencher)
        .with_inputs(|| random_factor(labels().worker_count(), 4, &Context::new(0)))
        .bench_local_values(|start| {
            let mut blocks = labels();
            impute_matrix_free(&mut Passes::over(&mut blocks), start, 5, 0.0, &mut context)
        });
}
