//! What the SymNMF family must show: exact recovery, the paper's synthetic tables, monotone objectives,
//! agreement of the matrix-free form with its definition, and plain words where nothing can be identified.

use quorate::evaluate::model_distance;
use quorate::internal::statistics::{PairBlocks, count_cooccurrences};
use quorate::internal::symnmf::{
    Alpha, Designated, FactorSettings, Identification, Imputing, ResidualWeights, RobustSettings, Solver,
    identify, impute_designated, impute_matrix_free, impute_robust, model_factor, random_factor,
    robust_objective,
};
use quorate::methods::{self, Fit};
use quorate::model::DawidSkene;
use quorate::simulate::{Prior, Simulation};
use quorate::{Annotations, Context};
use quorate_testkit::crowds::{crowd, table};
use rand::RngExt;

const TRIALS: u64 = 20;

fn settings(weights: ResidualWeights, solver: Solver) -> RobustSettings {
    RobustSettings {
        weights,
        evidence: 0.0,
        xi: 1e-6,
        solver,
        max_iter: 3000,
        tol: 1e-9,
    }
}

/// The paper's crowd (M = 25, K = 3, one specialist for all classes within `epsilon`) with a uniform prior,
/// as the authors' program has it.
fn paper_crowd(tasks: usize, epsilon: f64) -> Simulation {
    Simulation {
        tasks,
        epsilon,
        prior: Prior::Uniform,
        ..Simulation::default()
    }
}

/// Exact blocks, each pair missing with probability `missing`.
fn exact_blocks(model: &DawidSkene, missing: f64, seed: u64) -> PairBlocks {
    let mut rng = quorate::internal::seeded(seed, 77);
    PairBlocks::of_model(model, |_, _| rng.random::<f64>() >= missing)
}

fn in_order(blocks: &PairBlocks) -> Vec<u32> {
    (0..blocks.worker_count() as u32).collect()
}

/// The distance of the model that is identified from the blocks to the truth.
fn distance(blocks: &PairBlocks, imputing: Imputing, truth: &DawidSkene) -> f64 {
    let (workers, classes) = (truth.worker_count(), truth.class_count());
    let settings = FactorSettings {
        alpha: Alpha::Constant(1e-6),
        max_iter: 5000,
        tol: 1e-10,
    };
    let how = Identification::of_paper(imputing, workers, classes, settings);
    let found = identify(blocks, &how, &mut Context::new(0)).unwrap();
    model_distance(&found.model, truth).unwrap().mse
}

fn robust_distance(truth: &DawidSkene, missing: f64, seed: u64) -> f64 {
    let start = random_factor(truth.worker_count(), truth.class_count(), &Context::new(seed));
    let settings = settings(ResidualWeights::Robust, Solver::Exact);
    let blocks = exact_blocks(truth, missing, seed);
    distance(&blocks, Imputing::Robust(settings, start), truth)
}

fn designated_distance(truth: &DawidSkene, missing: f64, seed: u64) -> f64 {
    let blocks = exact_blocks(truth, missing, seed);
    let weights = vec![1.0; truth.worker_count()];
    distance(&blocks, Imputing::Designated(Designated::Best, weights), truth)
}

/// The paper's imputation draws one pair of workers for each missing block: exact blocks say the same through
/// whichever pair.
#[test]
fn one_random_pair_for_each_block_is_enough_for_exact_blocks() {
    for seed in 0..3 {
        let truth = paper_crowd(10, 0.0).run(seed).unwrap().model;
        let blocks = exact_blocks(&truth, 0.5, seed);
        let imputing = Imputing::Designated(Designated::Random, vec![1.0; 25]);
        let found = distance(&blocks, imputing, &truth);
        assert!(found < 1e-6, "seed {seed}: {found:e}");
    }
}

/// On counted blocks the drawn pair matters: `pair=random` is another estimate than the average, and the same
/// one again with the same seed.
#[test]
fn the_pair_of_a_block_is_drawn_with_the_seed() {
    let crowd = paper_crowd(400, 0.1).run(2).unwrap();
    let model = |pair: &str, seed| fit("des-symnmf", &[("pair", pair)], &crowd.annotations, seed).model;
    assert_eq!(model("random", 1), model("random", 1));
    assert_ne!(model("random", 1), model("random", 2));
    assert_ne!(model("random", 1), model("average", 1));
}

/// Blocks of a known model have endless evidence: no weight may become NaN.
#[test]
fn exact_blocks_can_be_weighted_by_evidence() {
    let truth = paper_crowd(10, 0.0).run(1).unwrap().model;
    let blocks = exact_blocks(&truth, 0.3, 1);
    let settings = RobustSettings {
        evidence: 1.0,
        ..settings(ResidualWeights::Robust, Solver::Exact)
    };
    let start = random_factor(25, 3, &Context::new(1));
    let found = distance(&blocks, Imputing::Robust(settings, start), &truth);
    assert!(found < 1e-6, "{found:e}");
}

/// A factorisation that is stopped early has not converged, and the fit says so.
#[test]
fn a_factorisation_without_rest_is_not_converged() {
    let crowd = paper_crowd(400, 0.1).run(3).unwrap();
    for name in ["des-symnmf", "symnmf", "rob-symnmf"] {
        assert!(
            !fit(name, &[("steps", "1")], &crowd.annotations, 0).converged,
            "{name}"
        );
    }
    assert!(fit("rob-symnmf", &[], &crowd.annotations, 0).converged);
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn exact_blocks_with_a_specialist_give_the_model_back() {
    for seed in 0..5 {
        let truth = paper_crowd(10, 0.0).run(seed).unwrap().model;
        for missing in [0.0, 0.3, 0.5] {
            let robust = robust_distance(&truth, missing, seed);
            assert!(
                robust < 1e-6,
                "robust, {missing} missing, seed {seed}: {robust:e}"
            );
            let designated = designated_distance(&truth, missing, seed);
            assert!(
                designated < 1e-6,
                "designated, {missing} missing, seed {seed}: {designated:e}"
            );
        }
    }
}

#[test]
fn two_designated_workers_complete_everything() {
    let truth = paper_crowd(10, 0.0).run(3).unwrap().model;
    // Only pairs with worker 0 or 1 are observed: every other block is missing.
    let blocks = PairBlocks::of_model(&truth, |m, _| m < 2);
    let imputed = impute_designated(
        &blocks,
        &Designated::Pair(0, 1),
        &in_order(&blocks),
        &[1.0; 25],
        &mut Context::new(0),
    )
    .unwrap();
    let missing = imputed.missing.unwrap();
    // (0, 0) and (1, 1) have no pair of others between them.
    assert!((missing.after - 2.0 / 625.0).abs() < 1e-12, "{}", missing.after);
    assert!(missing.before > 0.8);
}

/// Table `tab:synthetic1` of the paper: mean MSE of 20 noiseless trials.
#[test]
fn noiseless_errors_are_not_above_the_papers() {
    for (missing, robust_paper, designated_paper) in [
        (0.7, 4.10e-3, 2.84e-4),
        (0.5, 1.70e-3, 4.59e-4),
        (0.3, 3.44e-4, 3.05e-4),
    ] {
        let truth = |seed| paper_crowd(10, 0.1).run(seed).unwrap().model;
        let robust = mean((0..TRIALS).map(|seed| robust_distance(&truth(seed), missing, seed)));
        assert!(
            robust <= robust_paper,
            "{missing} missing: {robust:e}, paper {robust_paper:e}"
        );
        let designated = mean((0..TRIALS).map(|seed| designated_distance(&truth(seed), missing, seed)));
        assert!(
            designated <= designated_paper,
            "{missing} missing: {designated:e}, paper {designated_paper:e}"
        );
    }
}

fn fit(name: &str, parameters: &[(&str, &str)], annotations: &Annotations, seed: u64) -> Fit {
    let given: Vec<_> = parameters
        .iter()
        .map(|(k, v)| (k.to_string(), v.to_string()))
        .collect();
    let method = methods::find(name).unwrap().with_parameters(&given).unwrap();
    method.fit(annotations, &mut Context::new(seed)).unwrap()
}

fn sampled_distance(name: &str, parameters: &[(&str, &str)], tasks: usize) -> f64 {
    mean((0..TRIALS).map(|seed| {
        let crowd = paper_crowd(tasks, 0.1).run(seed).unwrap();
        let fit = fit(name, parameters, &crowd.annotations, seed);
        model_distance(fit.model.as_ref().unwrap(), &crowd.model)
            .unwrap()
            .mse
    }))
}

/// Table `tab:synthetic2` of the paper: mean MSE of 20 trials, p = 0.3; and the rate 1 / N.
#[test]
fn sampled_errors_are_not_above_the_papers_and_fall_like_one_over_n() {
    for (name, paper) in [
        ("rob-symnmf", [0.0099, 0.0019, 0.0012]),
        ("des-symnmf", [0.0127, 0.0038, 0.0029]),
    ] {
        let errors = [1000, 5000, 10_000].map(|tasks| sampled_distance(name, &[], tasks));
        for (error, paper) in errors.iter().zip(paper) {
            assert!(*error <= paper, "{name}: {errors:?}, paper {paper}");
        }
        let slope = (errors[2] / errors[0]).ln() / 10f64.ln();
        assert!(
            (-1.15..-0.75).contains(&slope),
            "{name}: slope {slope}, {errors:?}"
        );
    }
}

#[test]
fn random_starts_do_as_well_as_votes_on_dense_data() {
    let random = sampled_distance("rob-symnmf", &[("init", "random")], 5000);
    assert!(random <= 0.0019, "{random}");
}

#[test]
fn the_robust_objective_does_not_rise() {
    let crowd = paper_crowd(300, 0.1).run(1).unwrap();
    let blocks = PairBlocks::from(&count_cooccurrences(&crowd.annotations));
    for weights in [ResidualWeights::Robust, ResidualWeights::Uniform] {
        for solver in [Solver::Exact, Solver::Gradient] {
            for evidence in [0.0, 1.0] {
                let settings = RobustSettings {
                    evidence,
                    max_iter: 100,
                    tol: 1e-12,
                    ..settings(weights, solver)
                };
                let mut context = Context::new(4);
                let mut start = random_factor(25, 3, &context);
                // Inside the ball from the beginning, so that the constraint cannot raise the objective.
                start.iter_mut().for_each(|value| *value *= 0.3);
                let imputed =
                    impute_robust(&blocks, &in_order(&blocks), start, &settings, &mut context).unwrap();
                let trace = &imputed.trace;
                assert!(
                    trace.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-12)),
                    "{weights:?} {solver:?}: {trace:?}"
                );
                let last = robust_objective(&blocks, &imputed.factor, &settings);
                assert!((last - trace[trace.len() - 1]).abs() < 1e-12 * last.abs());
                assert!(trace.len() > 5 && last < trace[0]);
            }
        }
    }
}

#[test]
fn the_matrix_free_objective_is_that_of_the_pairs_up_to_a_constant_and_falls() {
    let crowd = Simulation {
        tasks: 200,
        workers: 12,
        ..paper_crowd(200, 0.1)
    }
    .run(5)
    .unwrap();
    let annotations = &crowd.annotations;
    let pair_settings = RobustSettings {
        evidence: 1.0,
        ..settings(ResidualWeights::Uniform, Solver::Exact)
    };
    let counts = count_cooccurrences(annotations);
    let blocks = PairBlocks::from(&counts);
    // The library scales base weights to mean 1.
    let scale = counts
        .iter()
        .map(|(_, _, shared, _)| f64::from(shared))
        .sum::<f64>()
        / counts.pair_count() as f64;
    let free = |start: &[f64], sweeps| {
        impute_matrix_free(
            &mut quorate::internal::blocks::Passes::over(&mut &*annotations),
            start.to_vec(),
            sweeps,
            1e-12,
            &mut Context::new(0),
        )
        .unwrap()
    };
    let starts = [1, 2].map(|seed| random_factor(12, 3, &Context::new(seed)));
    let by_pairs = starts
        .each_ref()
        .map(|start| scale * robust_objective(&blocks, start, &pair_settings));
    let by_tasks = starts.each_ref().map(|start| free(start, 1).trace[0]);
    let (expected, found) = (by_pairs[1] - by_pairs[0], by_tasks[1] - by_tasks[0]);
    assert!(
        (expected - found).abs() < 1e-8 * expected.abs().max(1.0),
        "{expected} {found}"
    );

    let votes = model_factor(fit("majority-vote", &[], annotations, 0).model.as_ref().unwrap());
    let trace = free(&votes, 50).trace;
    assert!(
        trace.len() > 5 && trace.windows(2).all(|pair| pair[1] <= pair[0]),
        "{trace:?}"
    );
}

#[test]
fn the_matrix_free_form_recovers_the_model() {
    let error = sampled_distance("rob-symnmf", &[("form", "matrix-free")], 5000);
    assert!(error < 0.004, "{error}");
}

#[test]
fn what_cannot_be_identified_is_said() {
    let nobody = Annotations::from_codes(4, 4, 2, (0..4).map(|n| (n, n, (n % 2) as u16))).unwrap();
    for name in ["rob-symnmf", "rob-symnmf-em", "des-symnmf", "symnmf"] {
        let fit = fit(name, &[], &nobody, 0);
        assert!(
            fit.warnings[0].starts_with("no two workers share a task"),
            "{name}: {:?}",
            fit.warnings
        );
        assert_eq!(fit.consensus.labels(), [0, 1, 0, 1], "{name}");
    }
    let apart = (0..40).flat_map(|n| (0..6).map(move |m| (n, m, (n % 2) as u16)));
    let apart = Annotations::from_codes(40, 6, 2, apart.filter(|&(n, m, _)| (n < 20) == (m < 3))).unwrap();
    for name in ["rob-symnmf", "des-symnmf"] {
        let fit = fit(name, &[], &apart, 0);
        assert!(
            fit.warnings
                .iter()
                .any(|text| text.contains("2 connected components")),
            "{name}: {:?}",
            fit.warnings
        );
        assert!((0..40).all(|n| fit.consensus.label(n) == n % 2), "{name}");
    }
    // Two workers who toss coins: nobody can say which component is which class.
    let mut rng = quorate::internal::seeded(1, 1);
    let coins: Vec<_> = (0..400)
        .flat_map(|n| (0..4).map(move |m| (n, m)))
        .map(|(n, m)| (n, m, rng.random_range(0..2)))
        .collect();
    let coins = Annotations::from_codes(400, 4, 2, coins).unwrap();
    let fit = fit("rob-symnmf", &[], &coins, 0);
    assert!(
        fit.notes.iter().any(|note| note.starts_with("alignment margin")),
        "{:?}",
        fit.notes
    );
}

#[test]
fn a_designated_worker_that_does_not_exist_is_an_error() {
    let annotations = table(&crowd(20, 4, 2, 0.9, 1));
    for (given, problem) in [
        ("worker 0,nobody", "no worker \"nobody\""),
        ("worker 0,worker 0", "different"),
        ("worker 0", "found 1 id(s), expected two"),
        ("worker 0,worker 1,worker 2", "found 3 id(s), expected two"),
    ] {
        let parameters = [("designated".to_string(), given.to_string())];
        let method = methods::find("des-symnmf")
            .unwrap()
            .with_parameters(&parameters)
            .unwrap();
        let message = method
            .fit(&annotations, &mut Context::new(0))
            .unwrap_err()
            .to_string();
        assert!(message.contains(problem), "{message}");
    }
}

#[test]
fn refining_does_not_lower_the_objective() {
    let crowd = paper_crowd(300, 0.1).run(8).unwrap();
    for smoothing in ["0", "0.1", "1"] {
        let fit = fit(
            "rob-symnmf-em",
            &[("smoothing", smoothing)],
            &crowd.annotations,
            0,
        );
        let trace = &fit.trace;
        assert!(trace.len() > 3, "{trace:?}");
        assert!(
            trace
                .windows(2)
                .all(|pair| pair[1] >= pair[0] - 1e-9 * pair[0].abs()),
            "{smoothing}: {trace:?}"
        );
    }
}

#[test]
fn every_threshold_and_solver_gives_nearly_the_same_labels_on_dense_data() {
    let crowd = paper_crowd(1000, 0.1).run(2).unwrap();
    let usual = fit("rob-symnmf", &[], &crowd.annotations, 0).consensus.labels();
    for option in [
        ("psi", "0.5"),
        ("alpha", "0"),
        ("solver", "gradient"),
        ("form", "pairs"),
    ] {
        let labels = fit("rob-symnmf", &[option], &crowd.annotations, 0)
            .consensus
            .labels();
        let same = labels.iter().zip(&usual).filter(|(a, b)| a == b).count();
        assert!(same >= 980, "{option:?}: {same} of 1000 labels the same");
    }
}

/// A task that everybody answered, and one worker in half of the labels: pairs are capped, said, and the
/// answer stands.
#[test]
fn skewed_tables_are_capped_and_say_so() {
    let answer = |task: u32, worker: u32| {
        let wrong = (task.wrapping_mul(2_654_435_761) ^ worker.wrapping_mul(40_503)) >> 7;
        (task % 2 + u32::from(wrong.is_multiple_of(5))) as u16 % 2
    };
    let long = (0..1000).map(|worker| (0, worker, answer(0, worker)));
    let short = (1..2000u32).flat_map(|task| {
        [
            (task, 0, answer(task, 0)),
            (task, 1 + task % 999, answer(task, 1 + task % 999)),
        ]
    });
    let annotations = Annotations::from_codes(2000, 1000, 2, long.chain(short)).unwrap();
    for name in ["rob-symnmf", "rob-symnmf-uniform", "symnmf"] {
        let method = methods::find(name).unwrap().with_defaults().unwrap();
        let fit = |limit: u64| {
            method
                .fit(&annotations, &mut Context::new(3).with_memory_limit(limit))
                .unwrap()
        };
        let capped = fit(50 << 20);
        assert!(
            capped
                .warnings
                .iter()
                .any(|warning| warning.contains("have more than 500 labels")),
            "{name} {:?}",
            capped.warnings
        );
        let whole = fit(4 << 30);
        assert!(
            whole.warnings.iter().all(|warning| !warning.contains("labels:")),
            "{name} {:?}",
            whole.warnings
        );
        let same = (0..2000)
            .filter(|&task| capped.consensus.label(task) == whole.consensus.label(task))
            .count();
        // Without base weights the many pairs of the one long task outweigh all others, capped or not.
        assert!(name != "rob-symnmf" || same > 1900, "{name} {same}");
        assert_eq!(capped.consensus, fit(50 << 20).consensus);
    }
}

#[test]
fn pairs_that_are_taken_for_zero_are_warned_of() {
    let warned = |name: &str, missing_pairs: f64| {
        let crowd = Simulation {
            missing_pairs,
            ..paper_crowd(2000, 0.1)
        };
        let found = fit(name, &[], &crowd.run(3).unwrap().annotations, 0);
        found
            .warnings
            .iter()
            .any(|warning| warning.contains("are taken for 0"))
    };
    assert!(warned("symnmf", 0.5));
    for (name, missing) in [("symnmf", 0.0), ("rob-symnmf", 0.5), ("des-symnmf", 0.5)] {
        assert!(!warned(name, missing), "{name}");
    }
}
