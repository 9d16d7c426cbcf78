//! Theorem 3 (`thm:converge`): how fast Q comes to its place, against the density of H.
//!
//! ```text
//! q_(t) <= rho q_(t-1) (no noise),   rho = O(K eta sigma^4 / gamma_0^2),
//! eta proportional to |Delta|, the nonzeros of H
//! if   2 sigma q_(0) < min over Delta of H
//! ```

use anyhow::Result;
use quorate::internal::seeded;
use quorate::internal::symnmf::{Alpha, identity};
use rand::RngExt;

use super::{power_law, slope_words};
use crate::bench::Bench;
use crate::rotation::{Trace, follow_both, sparse_factor, turned};
use crate::section::{Claim, Holds, Section};
use crate::statistics::{fit_line, median, median_of};
use quorate_report::figure::{Axis, Figure, Mark, Panel, Series};

const ROWS: usize = 1000;
const CLASSES: usize = 3;
const DENSITIES: [f64; 9] = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];
/// Nonzero entries are uniform between these: the theorem needs them away from 0.
const ENTRIES: (f64, f64) = (0.5, 1.0);
/// A constant threshold between the zeros and the nonzeros.
const ALPHA: f64 = 0.25;
const STEPS: usize = 40;
/// Where rounding takes over.
const FLOOR: f64 = 1e-24;
const STREAM: u64 = 9040;

const SHIFTED: &str = "shifted ReLU, alpha = 0.25";
const PLAIN: &str = "alpha = 0";

pub(crate) fn run(bench: &Bench<'_>) -> Result<Section> {
    let trials = bench.trials();
    // [trial][density]: traces of both thresholds.
    let traces = bench.in_parallel(trials, 0.0, 1.0, |trial| {
        DENSITIES
            .iter()
            .map(|&density| one_trial(bench, density, trial))
            .collect::<Result<Vec<_>>>()
    })?;
    let factors = |algorithm: usize| -> Vec<(f64, f64)> {
        let at = |place: usize| {
            let all = traces
                .iter()
                .filter_map(|trial| contraction(&trial[place][algorithm]));
            median(&all.collect::<Vec<f64>>())
        };
        DENSITIES.into_iter().zip((0..).map(at)).collect()
    };
    let (shifted, plain) = (factors(0), factors(1));
    let straight = straightness(&traces);
    let rising = shifted.windows(2).all(|pair| pair[1].1 >= pair[0].1);
    let below_one = shifted.iter().all(|point| point.1 < 1.0);
    let both = shifted.iter().zip(&plain);
    let faster = both.filter(|(shifted, plain)| shifted.1 <= plain.1).count();
    Ok(Section {
        method: vec![format!(
            "H in R^(1000 x 3), entries nonzero with the density on the axis and then uniform in [0.5, 1], no noise. Q starts at the right \
             rotation turned so far that q_(0) is nine tenths of what the theorem allows, 2 sigma q_(0) < min H. The contraction \
             factor of a trial is exp of the slope of log q_(t) over t, until rounding; median over {trials} trials."
        )],
        differences: vec![
            "The paper has no experiment for this theorem; the set-up is ours. Entries in [0, 1] as in fig:conv_symnmf1 violate the theorem's \
             condition, since the smallest entry is near 0."
                .into(),
            "Only a necessary consequence is tested: the constants in rho are not given.".into(),
        ],
        figures: vec![figure(&traces, &shifted, &plain)],
        claims: vec![
            Claim::new(
                "Theorem 3: Q converges linearly (geometrically), up to the order of columns",
                Holds::when(below_one && straight >= 0.98),
                format!(
                    "contraction factors from {:.2e} to {:.2e}; log q against t is straight (median R^2 {straight:.4})",
                    shifted[0].1,
                    shifted[DENSITIES.len() - 1].1
                ),
            ),
            Claim::new(
                "Theorem 3: a sparser H means a smaller factor, hence faster convergence",
                Holds::when(rising),
                format!(
                    "slope of the factor over the density in log-log {} (1 if only |Delta| changed; here sigma and gamma_0 grow too)",
                    slope_words(power_law(&shifted))
                ),
            ),
            Claim::new(
                "The threshold is what makes it contract: alpha = 0 is slower",
                Holds::count(faster, DENSITIES.len()),
                format!("smaller factor with the threshold at {faster} of {} densities", DENSITIES.len()),
            ),
        ],
        ..Section::default()
    })
}

fn one_trial(bench: &Bench<'_>, density: f64, trial: usize) -> Result<[Trace; 2]> {
    bench.check()?;
    let mut rng = seeded(bench.seed(trial), STREAM);
    let h = sparse_factor(ROWS * CLASSES, density, ENTRIES, &mut rng);
    let sigma = h.iter().map(|value| value * value).sum::<f64>().sqrt();
    let positive = h.iter().copied().filter(|&value| value > 0.0);
    let smallest = positive.fold(f64::INFINITY, f64::min);
    // For a small turn q_(0) is the square of its angle.
    let angle = (0.9 * smallest / (2.0 * sigma)).sqrt();
    let draw: Vec<f64> = (0..CLASSES * CLASSES)
        .map(|_| rng.random::<f64>() - 0.5)
        .collect();
    // U = H: the right rotation is the identity.
    let start = turned(&identity(CLASSES), angle, &draw, CLASSES);
    let mut context = bench.context(trial)?;
    let alphas = [Alpha::Constant(ALPHA), Alpha::Constant(0.0)];
    follow_both(&h, &h, CLASSES, &start, alphas, STEPS, &mut context)
}

/// log q over t as far as it means something.
fn logs(trace: &Trace) -> Vec<(f64, f64)> {
    let above = trace.q_error.iter().enumerate().take_while(|(_, q)| **q > FLOOR);
    above.map(|(step, q)| (step as f64, q.ln())).collect()
}

/// exp of the slope of log q over t.
fn contraction(trace: &Trace) -> Option<f64> {
    Some(fit_line(&logs(trace))?.slope.exp())
}

/// The median over trials and densities of R^2 of log q over t, with the threshold.
fn straightness(traces: &[Vec<[Trace; 2]>]) -> f64 {
    let squares: Vec<f64> = traces
        .iter()
        .flatten()
        .filter_map(|pair| {
            let points = logs(&pair[0]);
            let line = fit_line(&points).filter(|_| points.len() > 2)?;
            let mean = points.iter().map(|point| point.1).sum::<f64>() / points.len() as f64;
            let total: f64 = points.iter().map(|point| (point.1 - mean).powi(2)).sum();
            let rest: f64 = points
                .iter()
                .map(|point| (point.1 - line.intercept - line.slope * point.0).powi(2))
                .sum();
            Some(1.0 - rest / total)
        })
        .collect();
    median(&squares)
}

fn figure(traces: &[Vec<[Trace; 2]>], shifted: &[(f64, f64)], plain: &[(f64, f64)]) -> Figure {
    let shown = [1, 5, 8];
    let mut series = Vec::new();
    for place in shown {
        let name = format!("density {}", DENSITIES[place]);
        let at = |step: usize| median_of(traces, |trial| trial[place][0].q_error[step]);
        let points = (0..=STEPS)
            .map(|step| (step as f64, at(step)))
            .take_while(|point| point.1 > FLOOR);
        series.push(Series::new(name, Mark::Bold, points.collect()));
    }
    Figure {
        name: "thm-converge".into(),
        caption: "Left: contraction factor of q against the density of H. Right: q step by step with the shifted ReLU; medians.".into(),
        panels: vec![
            Panel {
                title: "contraction factor".into(),
                x: Axis::linear("density of H"),
                y: Axis::log("factor of q in a step"),
                series: vec![
                    Series::new(SHIFTED, Mark::DotLine, shifted.to_vec()),
                    Series::new(PLAIN, Mark::DotLine, plain.to_vec()),
                ],
            },
            Panel {
                title: "error of Q".into(),
                x: Axis::linear("step t"),
                y: Axis::log("q: squared error of Q"),
                series,
            },
        ],
    }
}
