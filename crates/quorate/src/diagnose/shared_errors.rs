//! Two workers who make the same errors.
//!
//! Good workers agree because both are right; that says nothing. What independent workers do not share is
//! errors. For a pair (m, j) and a task with q the posterior of the *others*, both left out:
//!
//! ```text
//! y_n = (1 - q(a))^2 if both answered a, else 0                 how surely they share an error
//! e_n = sum_a (1 - q(a))^2 sum_k q(k) A_m(a, k) A_j(a, k)       the same, if they err independently given the truth
//! Y = sum_n y_n,    E = sum_n e_n
//! ```
//!
//! e_n is the exact expectation of y_n under the model, however unsure the others are; the square lets tasks
//! on which they are sure count most. Y is a sum of many independent terms between 0 and 1, so its upper tail
//! is about that of a Poisson variable with mean E, or below.
//!
//! Where workers are mediocre, answers that agree beyond what the truth explains say more than common errors
//! alone (with two classes every two errors are the same). So agreement is tested as well, again given the
//! others:
//!
//! ```text
//! P_n = sum_a sum_k q(k) A_m(a, k) A_j(a, k),    G = sum_n ([both answered the same] - P_n),    V = sum_n P_n (1 - P_n)
//! ```
//!
//! Two good workers have P_n near 1 and gain nothing by agreeing.
//!
//! Real tasks are not equally hard, and everyone errs on the hard ones: all pairs share more than the model
//! says. That is the crowd's common dependence, and no sign of copying. So a pair is compared with the other
//! pairs: common errors have mean `l E` and variance `l E + t (l E)^2` (negative binomial, l >= 1), excess
//! agreement has mean `l' V` and variance `V + t' V^2` (normal, l' >= 0), with l, t >= 0 estimated from the
//! pairs that are not outliers (upper tail above 1 %, repeated until settled). The smaller of the two
//! p-values, doubled, is corrected for all pairs with enough shared tasks by
//! [`discoveries`](super::discoveries). A flagged pair must also share a fifth of what it could share beyond
//! what is expected, errors or agreement:
//!
//! ```text
//! overlap = max( (Y - l E) / (min(errors of m, of j) - l E),   (G - l' V) / (shared tasks - sum_n P_n) )
//! ```
//!
//! The same pass sums what the mean correlation of errors needs (see `effective_labels`): `w_n = Pr(both
//! wrong)` against its expectation `1 - sum_a p_m(a) q(a) - sum_a p_j(a) q(a) + sum_a q(a) P(a, a)`.
//!
//! Limits: two workers who are nearly always right share hardly any errors, copied or not: among some hundred
//! pairs it takes about eight common errors where one is usual; a copy of a copy is seen as one group;
//! workers who learned the same wrong rule look like copies; others who are wrong together make honest pairs
//! suspicious, which is why groups get one voice and the test is repeated. Time: K^2 for each pair of labels
//! on a task; above [`MAX_STEPS`] only every s-th task is used, and tasks with more than [`MAX_ON_A_TASK`]
//! labels never are. Pairs with too few shared tasks to be tested count for the mean correlation alone; above
//! [`MAX_LOOSE`] pairs of labels these are taken from every s-th task. Memory: the pairs with enough shared
//! tasks.

use std::ops::Range;

use super::answer_tables::AnswerTable;
use super::discoveries::discoveries;
use super::distributions::{count_tail, normal_tail};
use super::others::Others;
use crate::context::Context;
use crate::parallel::{balanced_ranges, map_ranges};
use crate::statistics::{PairSums, SharedTask};

/// Most steps (pairs of labels times K^2) of one pass over the pairs.
pub const MAX_STEPS: f64 = 2e9;
/// Tasks with more labels than this are left out: every two of their workers would be a pair with one task in
/// common.
pub const MAX_ON_A_TASK: usize = 1000;
/// Most pairs of labels of workers with few tasks in common that are looked at: a mean over a million says
/// enough.
const MAX_LOOSE: f64 = 1e6;
/// Least overlap of a flagged pair.
const MIN_OVERLAP: f64 = 0.2;
/// Upper tail below which a pair does not count as ordinary.
const OUTLIER: f64 = 0.01;

/// A pair of workers and the errors they share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairErrors {
    /// The two workers, as codes.
    pub workers: (usize, usize),
    /// Tasks that both labelled and on which others answered too.
    pub shared: u32,
    /// Y: common errors, each with the weight of how sure the others are.
    pub common: f64,
    /// E: the same if the two erred independently.
    pub expected: f64,
    /// Errors, with the same weight, of the one with fewer.
    pub fewer_errors: f64,
    /// Tasks with the same answer of both.
    pub agreed: u32,
    /// Sum of P: the same, if the two answered independently given the truth.
    pub expected_agreed: f64,
    /// V.
    pub(super) agreement_variance: f64,
    /// Pr(both wrong) summed, less its expectation; and the product of the workers' standard deviations of
    /// being wrong.
    pub(super) covariance: (f64, f64),
    /// p-value among the other pairs (1 if not tested).
    pub p_value: f64,
    /// Share of the errors that could be shared and are, beyond what is expected.
    pub overlap: f64,
    /// Whether the pair is flagged.
    pub flagged: bool,
}

/// The crowd's common dependence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Baseline {
    /// l: common errors of ordinary pairs over what independence predicts, at least 1.
    pub inflation: f64,
    /// t: spread of the inflation between pairs.
    pub spread: f64,
    /// l': excess agreement of ordinary pairs, as a correlation, at least 0.
    pub correlation: f64,
    /// t': spread of that between pairs.
    pub correlation_spread: f64,
}

/// What one pass over the pairs gives.
pub(super) struct CommonErrors {
    /// The pairs with enough shared tasks.
    pub pairs: Vec<PairErrors>,
    /// Sums of [`PairErrors::covariance`] over all other pairs.
    pub rest: (f64, f64),
    /// Every how many-th task was used.
    pub stride: usize,
    /// Tasks left out for their many labels.
    pub crowded: usize,
}

/// Counts common errors of all pairs; those with fewer than `min_shared` tasks are only summed up.
pub(super) fn count_common_errors(
    others: &Others<'_>,
    tables: &[AnswerTable],
    min_shared: u32,
    context: &Context,
) -> CommonErrors {
    let annotations = others.annotations;
    let sizes = annotations
        .task_starts()
        .windows(2)
        .map(|pair| (pair[1] - pair[0]) as usize);
    let crowded = sizes.clone().filter(|&size| size > MAX_ON_A_TASK).count();
    let events: f64 = sizes
        .filter(|&size| size <= MAX_ON_A_TASK)
        .map(|size| (size * size.saturating_sub(1) / 2) as f64)
        .sum();
    let stride = (events * (others.classes * others.classes) as f64 / MAX_STEPS)
        .ceil()
        .max(1.0) as usize;
    let strides = Strides {
        all: stride,
        loose: stride.max((events / MAX_LOOSE).ceil() as usize),
    };
    let ranges = balanced_ranges(annotations.by_worker().starts(), 64);
    let parts = context.run(|| {
        map_ranges(ranges, |workers| {
            count_range(others, tables, workers, min_shared, strides)
        })
    });
    let mut found = CommonErrors {
        pairs: Vec::new(),
        rest: (0.0, 0.0),
        stride,
        crowded,
    };
    for (pairs, rest) in parts {
        found.pairs.extend(pairs);
        found.rest = (found.rest.0 + rest.0, found.rest.1 + rest.1);
    }
    found
}

/// Every how many-th task is looked at, for all pairs and for pairs with too few shared tasks to be tested.
#[derive(Debug, Clone, Copy)]
struct Strides {
    all: usize,
    loose: usize,
}

fn count_range(
    others: &Others<'_>,
    tables: &[AnswerTable],
    workers: Range<usize>,
    min_shared: u32,
    strides: Strides,
) -> (Vec<PairErrors>, (f64, f64)) {
    let annotations = others.annotations;
    let chosen = |task: usize| {
        task.is_multiple_of(strides.all) && annotations.task_slices(task).0.len() <= MAX_ON_A_TASK
    };
    let deviation = |worker: usize| {
        (tables[worker].error * (1.0 - tables[worker].error))
            .max(0.0)
            .sqrt()
    };
    let mut pairs = PairSums::new(annotations);
    let mut kept: Vec<PairErrors> = Vec::new();
    let mut rest = (0.0, 0.0);
    let mut q = vec![0.0; others.classes];
    for m in workers {
        let start = |j, shared| {
            Some(SharedErrors {
                pair: PairErrors::new(m, j),
                loose: shared < min_shared,
                errors: (0.0, 0.0),
            })
        };
        let add = |sums: &mut SharedErrors, shared: SharedTask| {
            let SharedTask {
                task,
                answers,
                places,
            } = shared;
            if (sums.loose && task % strides.loose != 0)
                || others.voices_without(task, places.0, places.1) == 0
            {
                return;
            }
            others.without(task, places.0, places.1, &mut q);
            let (m, j) = sums.pair.workers;
            sums.pair.add(others, &q, (m, answers.0), (j, answers.1));
            sums.errors.0 += sureness(q[answers.0]);
            sums.errors.1 += sureness(q[answers.1]);
        };
        for (j, SharedErrors { mut pair, errors, .. }) in pairs.of_worker(m, chosen, start, add) {
            pair.fewer_errors = errors.0.min(errors.1);
            pair.covariance.1 = f64::from(pair.shared) * deviation(m) * deviation(j);
            if pair.shared >= min_shared {
                kept.push(pair);
            } else {
                rest = (rest.0 + pair.covariance.0, rest.1 + pair.covariance.1);
            }
        }
    }
    (kept, rest)
}

/// What is summed of a pair.
struct SharedErrors {
    pair: PairErrors,
    /// Whether it has too few shared tasks to be tested.
    loose: bool,
    /// Errors of both workers.
    errors: (f64, f64),
}

impl PairErrors {
    fn new(m: usize, j: usize) -> Self {
        Self {
            workers: (m, j),
            shared: 0,
            common: 0.0,
            expected: 0.0,
            fewer_errors: 0.0,
            agreed: 0,
            expected_agreed: 0.0,
            agreement_variance: 0.0,
            covariance: (0.0, 0.0),
            p_value: 1.0,
            overlap: 0.0,
            flagged: false,
        }
    }

    fn add(&mut self, others: &Others<'_>, q: &[f64], (m, a): (usize, usize), (j, b): (usize, usize)) {
        let k = q.len();
        let (of_m, of_j) = (others.model.confusion(m), others.model.confusion(j));
        let (mut both_wrong, mut expected, mut agree) = (1.0, 0.0, 0.0f64);
        for (answer, probability) in q.iter().enumerate() {
            let (row_m, row_j) = (&of_m[answer * k..][..k], &of_j[answer * k..][..k]);
            let (mut p_m, mut p_j, mut same) = (0.0, 0.0, 0.0);
            for truth in 0..k {
                p_m += q[truth] * row_m[truth];
                p_j += q[truth] * row_j[truth];
                same += q[truth] * row_m[truth] * row_j[truth];
            }
            expected += sureness(*probability) * same;
            agree += same;
            both_wrong += probability * (same - p_m - p_j);
        }
        self.shared += 1;
        self.expected += expected;
        self.expected_agreed += agree;
        self.agreement_variance += agree * (1.0 - agree).max(0.0);
        if a == b {
            self.agreed += 1;
            self.common += sureness(q[a]);
            self.covariance.0 += 1.0 - q[a] - both_wrong;
        } else {
            self.covariance.0 += (1.0 - q[a] - q[b]).max(0.0) - both_wrong;
        }
    }
}

/// How surely an answer of this probability is an error.
fn sureness(probability: f64) -> f64 {
    (1.0 - probability).powi(2)
}

/// Tests the pairs and sets their p-values and flags. Returns the baseline and the
/// number of tested pairs.
pub(super) fn test_pairs(pairs: &mut [PairErrors], min_shared: u32, level: f64) -> (Baseline, usize) {
    let tested: Vec<usize> = (0..pairs.len())
        .filter(|&pair| pairs[pair].shared >= min_shared)
        .collect();
    let errors: Vec<(f64, f64)> = tested
        .iter()
        .map(|&at| (pairs[at].common, pairs[at].expected))
        .collect();
    let excess = |pair: &PairErrors| f64::from(pair.agreed) - pair.expected_agreed;
    let agreements: Vec<(f64, f64)> = tested
        .iter()
        .map(|&at| (excess(&pairs[at]), pairs[at].agreement_variance))
        .collect();
    let (inflation, spread) = Law::Errors.settle(&errors);
    let (correlation, correlation_spread) = Law::Agreement.settle(&agreements);
    let p_values: Vec<f64> = errors
        .iter()
        .zip(&agreements)
        .map(|(&errors, &agreement)| {
            let by_errors = Law::Errors.tail(errors, (inflation, spread));
            let by_agreement = Law::Agreement.tail(agreement, (correlation, correlation_spread));
            (2.0 * by_errors.min(by_agreement)).min(1.0)
        })
        .collect();
    let found = discoveries(&p_values, level);
    for ((&at, p_value), found) in tested.iter().zip(p_values).zip(found) {
        let pair = &mut pairs[at];
        let usual = inflation * pair.expected;
        let errors = (pair.common - usual) / (pair.fewer_errors - usual).max(1e-9);
        let beyond = excess(pair) - correlation * pair.agreement_variance;
        let agreements = beyond / (f64::from(pair.shared) - pair.expected_agreed).max(1e-9);
        pair.p_value = p_value;
        pair.overlap = errors.max(agreements).clamp(0.0, 1.0);
        pair.flagged = found && pair.common > usual && pair.overlap >= MIN_OVERLAP;
    }
    let baseline = Baseline {
        inflation,
        spread,
        correlation,
        correlation_spread,
    };
    (baseline, tested.len())
}

/// How a statistic x of an ordinary pair with scale s is distributed, given the crowd's (l, t).
#[derive(Debug, Clone, Copy)]
enum Law {
    /// Common errors: x = Y, s = E.
    Errors,
    /// Excess agreement: x = G, s = V.
    Agreement,
}

impl Law {
    /// Pr(X >= x).
    fn tail(self, (x, s): (f64, f64), (l, t): (f64, f64)) -> f64 {
        match self {
            Self::Errors => count_tail(x, l * s, t),
            Self::Agreement if s > 1e-9 => normal_tail((x - l * s) / (s + t * s * s).sqrt()),
            Self::Agreement => 1.0,
        }
    }

    /// `l = sum x / sum s`, and t from the variance beyond that of independent tasks.
    fn moments(self, pairs: &[(f64, f64)]) -> (f64, f64) {
        let (x, s) = pairs
            .iter()
            .fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
        let least = match self {
            Self::Errors => 1.0,
            Self::Agreement => 0.0,
        };
        let l = if s > 0.0 { (x / s).max(least) } else { least };
        let (mut excess, mut square) = (0.0, 0.0);
        for &(x, s) in pairs {
            let base = match self {
                Self::Errors => l * s,
                Self::Agreement => s,
            };
            excess += (x - l * s).powi(2) - base;
            square += base * base;
        }
        let t = if square > 0.0 {
            (excess / square).max(0.0)
        } else {
            0.0
        };
        (l, t)
    }

    /// (l, t) from the pairs that are not outliers under them. Starts without the tenth of the pairs with the
    /// greatest excess: planted pairs must not widen the spread in which they would then hide.
    fn settle(self, pairs: &[(f64, f64)]) -> (f64, f64) {
        let mut crowd = (self.moments(pairs).0, 0.0);
        let mut by_tail: Vec<(f64, (f64, f64))> =
            pairs.iter().map(|&pair| (self.tail(pair, crowd), pair)).collect();
        by_tail.sort_by(|a, b| b.0.total_cmp(&a.0));
        by_tail.truncate(pairs.len() - pairs.len() / 10);
        let mut ordinary: Vec<(f64, f64)> = by_tail.into_iter().map(|(_, pair)| pair).collect();
        for _ in 0..20 {
            let next = self.moments(&ordinary);
            if next == crowd {
                break;
            }
            crowd = next;
            let usual = |pair: &(f64, f64)| self.tail(*pair, crowd) > OUTLIER;
            ordinary = pairs.iter().copied().filter(usual).collect();
        }
        crowd
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_baseline_ignores_outliers_and_follows_the_crowd() {
        let mut counts: Vec<(f64, f64)> = (0..200).map(|at| (f64::from(at % 5) * 3.0, 4.0)).collect();
        counts.extend([(60.0, 4.0); 5]);
        let (l, t) = Law::Errors.settle(&counts);
        // Mean 6 over 4 expected; variance 18 = 6 + t 36.
        assert!(
            (l - 1.5).abs() < 1e-9 && (t - 12.0 / 36.0).abs() < 1e-9,
            "{l} {t}"
        );
        assert!(Law::Errors.tail((60.0, 4.0), (l, t)) < 1e-6);

        // Excess -8, -4, .., 8 around 0 with V = 10: mean 0, variance 32 = 10 + t 100.
        let mut excess: Vec<(f64, f64)> = (0..200).map(|at| (f64::from(at % 5) * 4.0 - 8.0, 10.0)).collect();
        excess.extend([(40.0, 10.0); 5]);
        let (l, t) = Law::Agreement.settle(&excess);
        assert!(l.abs() < 1e-9 && (t - 0.22).abs() < 1e-9, "{l} {t}");
    }
}
