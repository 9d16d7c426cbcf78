//! Who answers at random: workers with no sign that they follow the truth, who are very unlikely to be
//! useful.
//!
//! A worker follows the truth with probability `lambda` and else answers by habit. Given the others'
//! posterior `q_n` without the worker, and its habits `r` (how often it gives each answer, without the label
//! itself),
//!
//! ```text
//! L_m(lambda) = prod_n (lambda q_n(x_n) + (1 - lambda) r_m(x_n))
//! lambda_m = 0 with probability pi,  else  lambda_m ~ Beta(a, b)
//! U_m = Pr(lambda_m >= u | L_m),      u = two thirds of the typical worker's lambda
//! ```
//!
//! the two-groups model (Efron 2008): a share `pi` of the workers answers at random, and the others differ in
//! `lambda`. `pi`, `a` and `b` are not known; `U_m` is averaged over a grid of them by how well each explains
//! all workers. What is common in the crowd helps to judge each worker: where random answers are common and
//! nobody is just below `u`, sixty labels suffice.
//!
//! Flagged are workers whose labels show no sign of life (`lambda = 0` is not rejected at 5 %), in the order
//! of `U_m`, while the mean of `U_m` over those flagged is at most the level: it is the expected share of
//! useful workers among them (Newton et al. 2004). A worker who truly knows a little, well below two thirds
//! of the typical share, can be flagged if its labels happen to show no sign of it.

use rayon::prelude::*;

use super::answer_tables::AnswerTable;

/// Values of lambda: 0 to 1 in equal steps, the last one a little below 1 so that no likelihood is 0.
const GRID: usize = 41;
const LARGEST_SHARE: f64 = 0.999;
/// Shares of spammers that are considered, and what each is worth beforehand: few are expected.
const SPAMMERS: [(f64, f64); 7] = [
    (0.005, 1.0),
    (0.02, 1.0),
    (0.05, 1.0),
    (0.1, 1.0),
    (0.2, 0.5),
    (0.35, 0.25),
    (0.5, 0.1),
];
/// Means of the others' lambda that are considered, in steps, and its concentrations `a + b`.
const MEANS: usize = 19;
const CONCENTRATIONS: [f64; 6] = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
/// Workers that the distribution is learnt from: more add nothing.
const ENOUGH_WORKERS: usize = 1000;
/// Distributions with a smaller part of the weight are left out.
const MIN_WEIGHT: f64 = 1e-3;
/// Labels that the crowd's shares are worth among a worker's habits.
const HABIT_LABELS: f64 = 1.0;
/// Factors that are multiplied before a logarithm is taken: each is at least 1e-9 or so.
const FACTORS: usize = 16;

/// The probability that each worker is useful: its lambda is at least `least`.
pub(super) fn useful_probabilities(tables: &[&AnswerTable], least: f64) -> Vec<f64> {
    let useful = (0..GRID).filter(|&at| grid(at) < least).count();
    let shares = crowd_shares(tables);
    let likelihoods: Vec<[f64; GRID]> = tables
        .par_iter()
        .map(|table| likelihoods(table, &shares))
        .collect();
    let crowds = weigh_crowds(&likelihoods);
    let judge = |likelihood: &[f64; GRID]| {
        let of = |crowd: &CrowdAnswers| crowd.weight * crowd.useful_probability(likelihood, useful);
        crowds.iter().map(of).sum()
    };
    likelihoods.par_iter().map(judge).collect()
}

/// A share of spammers and a distribution of the others' lambda.
struct CrowdAnswers {
    spammers: f64,
    /// Probability of each lambda of the grid among the others.
    density: [f64; GRID],
    weight: f64,
}

impl CrowdAnswers {
    /// Probability that a worker's lambda is that of cell `useful` of the grid or more.
    fn useful_probability(&self, likelihood: &[f64; GRID], useful: usize) -> f64 {
        let spammer = self.spammers * likelihood[0];
        let others = 1.0 - self.spammers;
        let all = spammer + others * dot(likelihood, &self.density);
        others * dot(&likelihood[useful..], &self.density[useful..]) / all
    }
}

/// The crowds that explain the workers, with weights that sum to 1.
fn weigh_crowds(likelihoods: &[[f64; GRID]]) -> Vec<CrowdAnswers> {
    let stride = likelihoods.len().div_ceil(ENOUGH_WORKERS).max(1);
    let sample: Vec<&[f64; GRID]> = likelihoods.iter().step_by(stride).collect();
    let shapes: Vec<(f64, f64)> = (1..=MEANS)
        .map(|step| step as f64 / (MEANS + 1) as f64)
        .flat_map(|mean| CONCENTRATIONS.map(|sum| (mean * sum, (1.0 - mean) * sum)))
        // With a below 1 the others would be spammers themselves.
        .filter(|&(a, _)| a >= 1.0)
        .collect();
    let of_shape = |&(a, b): &(f64, f64)| {
        let density = beta_density(a, b);
        let others: Vec<f64> = sample
            .iter()
            .map(|likelihood| dot(&likelihood[..], &density))
            .collect();
        SPAMMERS.map(|(spammers, expected)| {
            let of_worker = |(likelihood, other): (&&[f64; GRID], &f64)| {
                (spammers * likelihood[0] + (1.0 - spammers) * other)
                    .max(f64::MIN_POSITIVE)
                    .ln()
            };
            let weight = f64::ln(expected) + sample.iter().zip(&others).map(of_worker).sum::<f64>();
            CrowdAnswers {
                spammers,
                density,
                weight,
            }
        })
    };
    let mut crowds: Vec<CrowdAnswers> = shapes.par_iter().flat_map_iter(of_shape).collect();
    let top = crowds
        .iter()
        .map(|crowd| crowd.weight)
        .fold(f64::NEG_INFINITY, f64::max);
    crowds
        .iter_mut()
        .for_each(|crowd| crowd.weight = (crowd.weight - top).exp());
    crowds.retain(|crowd| crowd.weight >= MIN_WEIGHT);
    let sum: f64 = crowds.iter().map(|crowd| crowd.weight).sum();
    crowds.iter_mut().for_each(|crowd| crowd.weight /= sum);
    crowds
}

/// The density of a Beta distribution in the middle of the grid's cells, so that its ends are finite; sums to
/// 1.
fn beta_density(a: f64, b: f64) -> [f64; GRID] {
    let mut density = [0.0; GRID];
    for (at, cell) in density.iter_mut().enumerate() {
        let lambda = (at as f64 + 0.5) / GRID as f64;
        *cell = ((a - 1.0) * lambda.ln() + (b - 1.0) * (1.0 - lambda).ln()).exp();
    }
    let sum: f64 = density.iter().sum();
    density.map(|cell| cell / sum)
}

fn dot(one: &[f64], two: &[f64]) -> f64 {
    one.iter().zip(two).map(|(a, b)| a * b).sum()
}

/// Which of the candidates to flag, so that the expected share of useful workers among them is at most
/// `level`.
pub(super) fn flag(useful: &[f64], candidates: &[bool], level: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..useful.len()).filter(|&worker| candidates[worker]).collect();
    order.sort_by(|&a, &b| useful[a].total_cmp(&useful[b]));
    let mut flagged = vec![false; useful.len()];
    let mut false_alarms = 0.0;
    for (before, worker) in order.into_iter().enumerate() {
        false_alarms += useful[worker];
        if false_alarms > level * (before + 1) as f64 {
            break;
        }
        flagged[worker] = true;
    }
    flagged
}

fn grid(at: usize) -> f64 {
    (at as f64 / (GRID - 1) as f64).min(LARGEST_SHARE)
}

/// How often each answer is given, over all workers; no share is zero.
fn crowd_shares(tables: &[&AnswerTable]) -> Vec<f64> {
    let classes = tables.first().map_or(0, |table| table.purity.len());
    let mut shares = vec![1.0; classes];
    for table in tables {
        for (share, answer) in shares.iter_mut().zip(&table.purity) {
            *share += answer.0;
        }
    }
    let sum: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= sum);
    shares
}

/// The likelihood at every lambda, relative to the largest.
fn likelihoods(table: &AnswerTable, crowd: &[f64]) -> [f64; GRID] {
    // Without the label itself: else habits would foretell a label by having seen it.
    let others = table.tasks - 1.0 + HABIT_LABELS;
    let habits: Vec<f64> = table
        .purity
        .iter()
        .zip(crowd)
        .map(|(answer, share)| (answer.0 - 1.0 + HABIT_LABELS * share).max(0.0) / others)
        .collect();
    let mut logs = [0.0; GRID];
    for labels in table.evidence.chunks(FACTORS) {
        let mut products = [1.0; GRID];
        for &(q, answer) in labels {
            let habit = habits[usize::from(answer)];
            let gain = f64::from(q) - habit;
            for (at, product) in products.iter_mut().enumerate() {
                *product *= habit + grid(at) * gain;
            }
        }
        logs.iter_mut()
            .zip(&products)
            .for_each(|(log, product)| *log += product.max(1e-300).ln());
    }
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logs.map(|log| (log - top).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::worker_kinds::tests::table;

    #[test]
    fn the_likelihood_is_that_of_its_formula() {
        // 3 agreeing and 1 other label, two answers of equal share among the crowd.
        let table = table(&[2.0, 1.0, 0.0, 1.0], 2);
        let found = likelihoods(&table, &[0.5, 0.5]);
        let habits = [(3.0 - 1.0 + 0.5) / 4.0, (1.0 - 1.0 + 0.5) / 4.0];
        let formula = |lambda: f64| -> f64 {
            let label = |q: f64, answer: usize| lambda * q + (1.0 - lambda) * habits[answer];
            label(0.96, 0).powi(2) * label(0.04, 0) * label(0.96, 1)
        };
        for at in [0, 10, 40] {
            let expected = formula(grid(at)) / formula(grid(20));
            // The table holds q in single precision.
            assert!((found[at] / found[20] / expected - 1.0).abs() < 1e-5);
        }
    }

    #[test]
    fn flags_while_the_expected_share_of_false_alarms_is_kept() {
        let (useful, all) = ([0.8, 0.001, 0.03, 0.5], [true; 4]);
        assert_eq!(flag(&useful, &all, 0.05), [false, true, true, false]);
        assert_eq!(flag(&useful, &all, 0.01), [false, true, false, false]);
        assert_eq!(
            flag(&useful, &[true, false, true, true], 0.05),
            [false, false, true, false]
        );
        assert_eq!(flag(&[], &[], 0.01), [false; 0]);
    }
}
