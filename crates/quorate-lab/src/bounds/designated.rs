//! Theorem 1 (`thm:svdimputation`): error of a block imputed through two designated workers.
//!
//! ```text
//! R_mn = R_mr R_lr^-1 R_ln    (the thin SVD of the paper is exact and cancels)
//! ||R^_mn - R_mn||_F = O( K^2 gamma^3 / (rho^2 S^(1/2)) ),
//! gamma >= kappa(A),  rho = least sigma_min of a used block
//! ```

use anyhow::Result;
use quorate::internal::linalg::small::{inverse, multiply};
use quorate::internal::seeded;
use quorate::model::DawidSkene;
use quorate::simulate::{Prior, Quality, Simulation};

use super::{distance, power_law, sampled_block, slope_words, theory_line};
use crate::bench::Bench;
use crate::section::{Claim, Holds, Section};
use crate::statistics::median_of;
use quorate_report::figure::{Axis, Figure, Mark, Panel, Series};

const CLASSES: usize = 3;
/// Shared tasks of the first panel.
const SHARED: [usize; 9] = [100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000];
/// Condition numbers of the designated workers in the second panel, and its shared tasks.
const CONDITION: [f64; 7] = [1.2, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0];
const CONDITION_SHARED: usize = 1_000_000;
const STREAM: u64 = 9020;

pub(crate) fn run(bench: &Bench<'_>) -> Result<Section> {
    let trials = bench.trials();
    let by_shared = bench.in_parallel(trials, 0.0, 0.5, |trial| {
        let model = random_workers(bench.seed(trial))?;
        Ok(SHARED.map(|shared| imputation_error(&model, shared, bench.seed(trial))))
    })?;
    let by_condition = bench.in_parallel(trials, 0.5, 1.0, |trial| {
        Ok(CONDITION
            .map(|condition| imputation_error(&workers_of(condition), CONDITION_SHARED, bench.seed(trial))))
    })?;
    let shared: Vec<(f64, f64)> = medians(&SHARED.map(|shared| shared as f64), &by_shared);
    let condition: Vec<(f64, f64)> = medians(&CONDITION, &by_condition);
    let (slope, growth) = (power_law(&shared), power_law(&condition));
    let within = slope.is_some_and(|line| (line.slope + 0.5).abs() <= 0.05);
    Ok(Section {
        method: vec![
            format!(
                "First panel: four workers with accuracies 0.6 to 0.9 on three equally frequent classes; each of the three blocks used is \
                 estimated from S draws of its own; median of the error of R_mn over {trials} trials (crowds)."
            ),
            format!(
                "Second panel: m and n have condition number 1.25; the designated l and r have A = (1 - t) I + t/3 with condition number \
                 1 / (1 - t) as on the axis; S = {CONDITION_SHARED}. The bound's factor gamma^3 / rho^2 grows like its seventh power here."
            ),
        ],
        differences: vec![
            "The paper has no experiment for this theorem; the set-up is ours.".into(),
            "The three blocks are drawn independently; in real labels they share tasks. The rate in S is the same.".into(),
        ],
        figures: vec![figure(&by_shared, &shared, &condition, trials)],
        claims: vec![
            Claim::new(
                "Theorem 1: the error of an imputed block falls like S^(-1/2)",
                Holds::when(within),
                format!("fitted slope in log-log {}", slope_words(slope)),
            ),
            Claim::new(
                "Theorem 1: the error grows with the conditioning no faster than gamma^3 / rho^2 (slope 7 in this family)",
                Holds::when(growth.is_some_and(|line| line.slope > 0.0 && line.slope <= 7.0)),
                format!(
                    "fitted slope {}; to first order the error is that of R_lr^-1, whose slope tends to 2",
                    slope_words(growth)
                ),
            ),
        ],
        ..Section::default()
    })
}

/// Workers m, n, l, r.
fn random_workers(seed: u64) -> Result<DawidSkene> {
    let crowd = Simulation {
        tasks: 10,
        workers: 4,
        classes: CLASSES,
        prior: Prior::Uniform,
        quality: Quality::Accuracy {
            lowest: 0.6,
            highest: 0.9,
            concentration: 1.0,
        },
        experts: quorate::simulate::Amount::Number(0),
        ..Simulation::default()
    };
    Ok(crowd.run(seed)?.model)
}

/// m and n good, l and r of this condition number.
fn workers_of(condition: f64) -> DawidSkene {
    let matrix = |condition: f64| {
        let share = 1.0 / condition;
        (0..CLASSES * CLASSES).map(move |cell| {
            let diagonal = f64::from(u8::from(cell / CLASSES == cell % CLASSES));
            share * diagonal + (1.0 - share) / CLASSES as f64
        })
    };
    let confusion = [1.25, 1.25, condition, condition].into_iter().flat_map(matrix);
    DawidSkene::new(vec![1.0 / CLASSES as f64; CLASSES], confusion.collect())
}

/// The error of R_mn = R_mr R_lr^-1 R_ln from blocks of `shared` draws; a singular estimate counts as the
/// whole block wrong.
fn imputation_error(model: &DawidSkene, shared: usize, seed: u64) -> f64 {
    let mut rng = seeded(seed, STREAM);
    let (m, n, l, r) = (0, 1, 2, 3);
    let mut estimate = |a, b| sampled_block(&model.co_occurrence(a, b), shared, &mut rng);
    let (mr, lr, ln) = (estimate(m, r), estimate(l, r), estimate(l, n));
    let truth = model.co_occurrence(m, n);
    let Some(inverse) = inverse(&lr, CLASSES) else {
        return distance(&truth, &vec![0.0; truth.len()]);
    };
    let (mut left, mut found) = (vec![0.0; truth.len()], vec![0.0; truth.len()]);
    multiply(&mr, &inverse, CLASSES, &mut left);
    multiply(&left, &ln, CLASSES, &mut found);
    distance(&found, &truth)
}

/// (x, median over the trials).
fn medians<const N: usize>(xs: &[f64; N], trials: &[[f64; N]]) -> Vec<(f64, f64)> {
    let at = |place: usize| median_of(trials, |trial| trial[place]);
    xs.iter().enumerate().map(|(place, &x)| (x, at(place))).collect()
}

fn figure(by_shared: &[[f64; 9]], shared: &[(f64, f64)], condition: &[(f64, f64)], trials: usize) -> Figure {
    let lines = trials.min(20);
    let thin = by_shared.iter().take(lines).map(|trial| {
        let points = SHARED
            .iter()
            .zip(trial)
            .map(|(&shared, &error)| (shared as f64, error));
        Series::new("measured", Mark::Thin, points.collect())
    });
    let mut first: Vec<Series> = thin.collect();
    first.push(Series::new("measured", Mark::DotLine, shared.to_vec()));
    first.push(theory_line("slope of the theorem", shared, -0.5));
    Figure {
        name: "thm-svdimputation".into(),
        caption: format!(
            "Error of an imputed block. Left: against the shared tasks S; thin lines are {lines} of {trials} trials. Right: against the \
             condition number of the designated workers. Bold: medians; dashed: the theorem's slope, -1/2 and 7."
        ),
        panels: vec![
            Panel {
                title: "error against S".into(),
                x: Axis::log("shared tasks S"),
                y: Axis::log("error of the block (Frobenius)"),
                series: first,
            },
            Panel {
                title: "error against conditioning".into(),
                x: Axis::log("condition number of A_l, A_r"),
                y: Axis::log("error of the block (Frobenius)"),
                series: vec![
                    Series::new("measured", Mark::DotLine, condition.to_vec()),
                    theory_line("slope of the theorem", &condition[..3], 7.0),
                ],
            },
        ],
    }
}

#[cfg(test)]
mod tests {
    use quorate::internal::linalg::small::{singular_values, transpose};

    use super::*;

    #[test]
    fn the_product_is_the_papers_formula_with_an_svd_of_the_stack() {
        // C = [R_mr; R_lr] = [U_m; U_l] S V^T: R_mn = U_m U_l^-1 R_nl^T, and U_l^-1 = (R_lr V S^-1)^-1.
        let model = random_workers(4).unwrap();
        let (mr, lr, ln) = (
            model.co_occurrence(0, 3),
            model.co_occurrence(2, 3),
            model.co_occurrence(2, 1),
        );
        let mut gram = vec![0.0; 9];
        for block in [&mr, &lr] {
            let mut own = vec![0.0; 9];
            multiply(&transpose(block, 3), block, 3, &mut own);
            gram.iter_mut().zip(own).for_each(|(sum, value)| *sum += value);
        }
        // V S^-1 from C^T C = V S^2 V^T.
        let (values, vectors) = quorate::internal::linalg::small::symmetric_eigen(&gram, 3);
        let scaled: Vec<f64> = (0..9)
            .map(|cell| vectors[cell] / values[cell % 3].sqrt())
            .collect();
        let (mut u_m, mut u_l) = (vec![0.0; 9], vec![0.0; 9]);
        multiply(&mr, &scaled, 3, &mut u_m);
        multiply(&lr, &scaled, 3, &mut u_l);
        let (mut left, mut found) = (vec![0.0; 9], vec![0.0; 9]);
        multiply(&u_m, &inverse(&u_l, 3).unwrap(), 3, &mut left);
        multiply(&left, &ln, 3, &mut found);
        assert!(distance(&found, &model.co_occurrence(0, 1)) < 1e-12);
    }

    #[test]
    fn the_family_has_the_condition_numbers_on_the_axis() {
        let model = workers_of(4.0);
        let values = singular_values(model.confusion(3), CLASSES);
        let largest = values.iter().copied().fold(f64::MIN, f64::max);
        let smallest = values.iter().copied().fold(f64::MAX, f64::min);
        assert!((largest / smallest - 4.0).abs() < 1e-9);
    }
}
