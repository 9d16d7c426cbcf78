//! `fig:conv_symnmf1`, `fig:conv_symnmf2`: shifted ReLU against alpha = 0, error of H step by step.
//!
//! ```text
//! H (J x K): entry 0 with probability 1 - phi, else uniform in [0, 1];
//! X = H H^T (+ noise) ~ U U^T (top K eigenpairs)
//! error(t) = min over permutations P of ||H P - H_(t)||_F^2 / K
//! ```

use anyhow::Result;
use quorate::internal::linalg::lanczos::largest_eigenpairs;
use quorate::internal::linalg::small::dot;
use quorate::internal::seeded;
use quorate::internal::symnmf::Alpha;
use rand_distr::{Distribution, StandardNormal};

use crate::bench::Bench;
use crate::rotation::{Trace, follow_both, sparse_factor};
use crate::section::{Cell, Claim, Holds, Measure, Row, Section, Table};
use crate::statistics::{median, median_of};
use quorate_report::figure::{Axis, Figure, Mark, Panel, Series};

const ROWS: usize = 1000;
const CLASSES: usize = 3;
/// Steps drawn.
const STEPS: usize = 100;
/// Probability of a nonzero entry, panel by panel.
const DENSITIES: [f64; 3] = [0.7, 0.5, 0.3];
const FACTOR_STREAM: u64 = 9010;
const NOISE_STREAM: u64 = 9011;

const SHIFTED: &str = "shifted ReLU (proposed)";
const PLAIN: &str = "alpha = 0 (Huang et al. 2014)";

/// One of the two figures.
#[derive(Clone, Copy)]
struct Setting {
    name: &'static str,
    /// alpha_t = psi^(t+1).
    psi: f64,
    /// Signal-to-noise ratio in decibels.
    snr: Option<f64>,
}

pub(crate) fn run_noiseless(bench: &Bench<'_>) -> Result<Section> {
    let (name, psi, snr) = ("conv_symnmf1", 0.75, None);
    run(bench, Setting { name, psi, snr })
}

pub(crate) fn run_noisy(bench: &Bench<'_>) -> Result<Section> {
    let (name, psi, snr) = ("conv_symnmf2", 0.6, Some(30.0));
    run(bench, Setting { name, psi, snr })
}

/// The traces of both algorithms in one trial.
type Pair = [Trace; 2];

fn run(bench: &Bench<'_>, setting: Setting) -> Result<Section> {
    let mut traces: Vec<Vec<Pair>> = Vec::new();
    for (place, density) in DENSITIES.into_iter().enumerate() {
        let share = |part: usize| part as f64 / DENSITIES.len() as f64;
        traces.push(
            bench.in_parallel(bench.trials(), share(place), share(place + 1), |trial| {
                one_trial(bench, setting, density, trial)
            })?,
        );
    }
    let noise = match setting.snr {
        None => "no noise".to_owned(),
        Some(snr) => format!("SNR {snr} dB"),
    };
    let figure = Figure {
        name: setting.name.into(),
        caption: format!(
            "Squared error of H over K against the step, {noise}, psi = {}: thin dashed lines are {} trials, bold lines their medians.",
            setting.psi,
            bench.trials()
        ),
        panels: DENSITIES
            .iter()
            .zip(&traces)
            .map(|(density, pairs)| panel(*density, setting.psi, pairs))
            .collect(),
    };
    Ok(Section {
        method: vec![format!(
            "H in R^(1000 x 3) with entries zero with probability 1 - phi, else uniform in [0, 1]; X = H H^T, its top three \
             eigenpairs give U, both algorithms start at Q = I and take {STEPS} steps. {} trials.",
            bench.trials()
        )],
        differences: vec![
            "The sign of an eigenvector is arbitrary and matters, because Q starts at I: here every column of U has a sum above 0.".into(),
            "Noise is symmetric (each pair of entries of X drawn once), since a square root needs a symmetric matrix.".into(),
            "The paper's figures are not readable as numbers: the shapes are compared, not values.".into(),
        ],
        tables: vec![settled_table(&traces)],
        figures: vec![figure],
        claims: claims(&traces),
        ..Section::default()
    })
}

fn one_trial(bench: &Bench<'_>, setting: Setting, density: f64, trial: usize) -> Result<Pair> {
    let mut rng = seeded(bench.seed(trial), FACTOR_STREAM);
    let h = sparse_factor(ROWS * CLASSES, density, (0.0, 1.0), &mut rng);
    let u = square_root(&h, setting.snr, bench.seed(trial));
    let mut context = bench.context(trial)?;
    let start = quorate::internal::symnmf::identity(CLASSES);
    let alphas = [Alpha::Power(setting.psi), Alpha::Constant(0.0)];
    follow_both(&u, &h, CLASSES, &start, alphas, STEPS, &mut context)
}

/// U with U U^T nearest to H H^T plus noise.
fn square_root(h: &[f64], snr: Option<f64>, seed: u64) -> Vec<f64> {
    let noise = snr.map(|snr| symmetric_noise(deviation(h, snr), seed));
    let pairs = largest_eigenpairs(ROWS, CLASSES, 1e-12, |x, out| {
        let mut inner = [0.0; CLASSES];
        for (row, value) in h.chunks_exact(CLASSES).zip(x) {
            inner
                .iter_mut()
                .zip(row)
                .for_each(|(sum, entry)| *sum += value * entry);
        }
        for (place, (out, row)) in out.iter_mut().zip(h.chunks_exact(CLASSES)).enumerate() {
            let noise = noise
                .as_ref()
                .map_or(0.0, |noise| dot(&noise[place * ROWS..][..ROWS], x));
            *out = dot(row, &inner) + noise;
        }
    });
    let mut u = vec![0.0; ROWS * CLASSES];
    for (component, (value, vector)) in pairs.values.iter().zip(&pairs.vectors).enumerate() {
        let sign = if vector.iter().sum::<f64>() < 0.0 {
            -1.0
        } else {
            1.0
        };
        for (row, entry) in vector.iter().enumerate() {
            u[row * CLASSES + component] = sign * value.max(0.0).sqrt() * entry;
        }
    }
    u
}

/// The standard deviation of the noise: SNR = 10 log10( (||X||_F^2 / J^2) / sigma^2 ).
fn deviation(h: &[f64], snr: f64) -> f64 {
    let mut gram = [0.0; CLASSES * CLASSES];
    for row in h.chunks_exact(CLASSES) {
        for (cell, sum) in gram.iter_mut().enumerate() {
            *sum += row[cell / CLASSES] * row[cell % CLASSES];
        }
    }
    // ||H H^T||_F = ||H^T H||_F.
    let power = dot(&gram, &gram) / (ROWS * ROWS) as f64;
    (power / 10f64.powf(snr / 10.0)).sqrt()
}

fn symmetric_noise(deviation: f64, seed: u64) -> Vec<f64> {
    let mut rng = seeded(seed, NOISE_STREAM);
    let mut noise = vec![0.0; ROWS * ROWS];
    for row in 0..ROWS {
        for column in row..ROWS {
            let draw: f64 = StandardNormal.sample(&mut rng);
            noise[row * ROWS + column] = deviation * draw;
            noise[column * ROWS + row] = deviation * draw;
        }
    }
    noise
}

fn panel(density: f64, psi: f64, pairs: &[Pair]) -> Panel {
    let mut series = Vec::new();
    for (algorithm, name) in [(1, PLAIN), (0, SHIFTED)] {
        let lines = pairs.iter().map(|pair| &pair[algorithm].h_error);
        series.extend(lines.map(|line| Series::new(name, Mark::Thin, numbered(line))));
    }
    for (algorithm, name) in [(1, PLAIN), (0, SHIFTED)] {
        series.push(Series::new(
            name,
            Mark::Bold,
            numbered(&median_line(pairs, algorithm)),
        ));
    }
    Panel {
        title: format!("phi = {density}, psi = {psi}"),
        x: Axis::linear("step t"),
        y: Axis::log("squared error of H / K"),
        series,
    }
}

fn numbered(line: &[f64]) -> Vec<(f64, f64)> {
    line.iter()
        .enumerate()
        .map(|(step, &value)| (step as f64, value / CLASSES as f64))
        .collect()
}

fn median_line(pairs: &[Pair], algorithm: usize) -> Vec<f64> {
    let at = |step: usize| median_of(pairs, |pair| pair[algorithm].h_error[step]);
    (0..=STEPS).map(at).collect()
}

/// Steps until the error stays within twice the lower of the two algorithms' last errors (at least 1e-9 of
/// the first one); the number of steps taken if it never does.
fn settling_step(pair: &Pair, algorithm: usize) -> f64 {
    let end = pair
        .iter()
        .map(|trace| trace.h_error[STEPS])
        .fold(f64::INFINITY, f64::min);
    let line = &pair[algorithm].h_error;
    let goal = (2.0 * end).max(1e-9 * line[0]);
    let after = line
        .iter()
        .rposition(|&error| error > goal)
        .map_or(0, |last| last + 1);
    after.min(STEPS) as f64
}

fn settling_steps(pairs: &[Pair], algorithm: usize) -> Vec<f64> {
    pairs.iter().map(|pair| settling_step(pair, algorithm)).collect()
}

fn settled_table(traces: &[Vec<Pair>]) -> Table {
    let columns = DENSITIES.map(|density| format!("phi = {density}"));
    let title = "Steps until the error stays within twice the better algorithm's last error (or 1e-9 of the first error); 100: not within 100 steps";
    let mut table = Table::new(title, Measure::Number, columns);
    for (algorithm, name) in [(0, SHIFTED), (1, PLAIN)] {
        let method = if algorithm == 0 {
            "alpha = psi^(t+1)"
        } else {
            "alpha = 0"
        };
        let cells = traces
            .iter()
            .map(|pairs| Cell::ours(&settling_steps(pairs, algorithm)));
        table.rows.push(Row::new(name, method, cells));
    }
    table
}

fn claims(traces: &[Vec<Pair>]) -> Vec<Claim> {
    let middle = |pairs: &Vec<Pair>, algorithm| median(&settling_steps(pairs, algorithm));
    let medians: Vec<(f64, f64)> = traces
        .iter()
        .map(|pairs| (middle(pairs, 0), middle(pairs, 1)))
        .collect();
    let faster = medians.iter().filter(|(shifted, plain)| shifted < plain).count();
    let words: Vec<String> = DENSITIES
        .iter()
        .zip(&medians)
        .map(|(density, (shifted, plain))| format!("phi = {density}: {shifted} against {plain}"))
        .collect();
    let quicker = medians
        .windows(2)
        .all(|pair| pair[1].0 <= pair[0].0 && pair[1].1 <= pair[0].1);
    vec![
        Claim::new(
            "For different sparsity levels the proposed algorithm converges faster than alpha = 0",
            Holds::count(faster, traces.len()),
            format!(
                "median steps until settled, shifted ReLU against alpha = 0: {}",
                words.join("; ")
            ),
        ),
        Claim::new(
            "As the sparsity level increases (phi decreases) both algorithms converge more quickly",
            Holds::when(quicker),
            format!("the same medians: {}", words.join("; ")),
        ),
    ]
}
