//! Workers to look at: spammers, adversaries, one-sided ones.
//!
//! All from the table T_m of a worker's answers against the others' (n tasks, margins p_a and q_k as shares):
//!
//! | kind | statistic | flagged if |
//! |---|---|---|
//! | one-sided | share of the most frequent answer a; the same among tasks that the others do not take for a | Wilson lower bounds above 0.75 and 0.65 |
//! | spammer | probability that lambda, the share of answers that follow the truth, is that of a useful worker (`spammers`) | so small that the level is kept, *and* no sign that lambda is above 0 (p > 0.05) |
//! | careless | the estimate of lambda | too small for a worker two thirds as informative as the typical one |
//! | adversary | z = (p_o - p_e) / sqrt((p_e + p_e^2 - sum_k p_k q_k (p_k + q_k)) / n) | z is significantly negative |
//!
//! *Careless.* A worker follows the truth with probability `lambda` and else answers by habit, with its own
//! shares `r` of the answers. Given the others' posterior `q_n` without the worker,
//!
//! ```text
//! Pr(x_n) = lambda q_n(x_n) + (1 - lambda) r(x_n),      l(lambda) = sum_n ln Pr(x_n)
//! ```
//!
//! which is concave in `lambda`; its largest value over `[0, 0.999]` gives the estimate. One number instead
//! of a table of K x K cells has far more power, and unsure tasks count for what they are worth. The null
//! hypothesis is that the worker tells at least two thirds as much as the typical one (the label-weighted
//! median of the estimates): its p-value is the normal tail of `sqrt(2 (l(estimate) - l(2/3 typical)))`. The
//! typical worker is measured against the same imperfect posterior, so that noise of the others cancels.
//!
//! *Adversary.* z is Cohen's kappa over its standard error under independence (Fleiss, Cohen and Everitt
//! 1969): worse than guessing with the same class shares.
//!
//! *One-sided.* Such a worker may still know something: the rare other answers can be right. It is not called
//! a spammer as well.
//!
//! Careless workers and adversaries are corrected for many workers by [`discoveries`](super::discoveries).
//! Limits: where most of the crowd is bad or colludes, "the others" are wrong and the roles swap; a worker
//! who saw tasks of one class only looks one-sided if the others err on them; workers with few labels are
//! never flagged; normal and chi-square approximations need [`MIN_TASKS`] tasks.

use super::answer_tables::AnswerTable;
use super::discoveries::discoveries;
use super::distributions::normal_tail;
use super::spammers;
use crate::evaluate::wilson_interval;
use rayon::prelude::*;

/// Tasks with other labels that a worker needs to be tested.
pub const MIN_TASKS: f64 = 10.0;
/// Share of the typical worker's lambda that a spammer is shown not to reach.
pub(super) const SHARE_OF_TYPICAL: f64 = 2.0 / 3.0;
/// With two classes a guess is right half of the time, and an honest worker on a bad day looks like a spammer: the
/// level is this part of what it is with more.
const TWO_CLASSES: f64 = 0.4;
/// p-value of the test of independence below which nobody is called a spammer.
const SIGN_OF_LIFE: f64 = 0.05;

/// What is known about one worker from the others' answers.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkerCheck {
    /// The worker's code.
    pub worker: usize,
    /// Tasks on which others answered too.
    pub tasks: usize,
    /// Share of them on which the others agree with the worker.
    pub accuracy: f64,
    /// What that share would be if the worker guessed with the same class shares.
    pub chance: f64,
    /// lambda: estimated share of answers that follow the truth instead of the worker's habits: 0 nothing, 1
    /// everything.
    pub informativeness: f64,
    /// p-value of "at least two thirds as informative as the typical worker".
    pub useful_p: f64,
    /// Probability that the worker is at least two thirds as informative as the typical one.
    pub useful_probability: f64,
    /// p-value of "independent of the others".
    pub independent_p: f64,
    /// p-value of "not worse than guessing".
    pub not_worse_p: f64,
    /// The most frequent answer and its share.
    pub favourite: (usize, f64),
    /// Gives nearly always the same answer, whatever the others say.
    pub one_sided: bool,
    /// Answers say nothing about the truth.
    pub spammer: bool,
    /// Answers say something, but much less than those of the typical worker.
    pub careless: bool,
    /// Systematically wrong.
    pub adversary: bool,
}

/// Checks all workers that have enough tasks; `level` is the false discovery rate of each kind. Also returns
/// the typical informativeness.
pub(super) fn check_workers(tables: &[AnswerTable], level: f64) -> (Vec<WorkerCheck>, f64) {
    let tested: Vec<usize> = (0..tables.len())
        .filter(|&worker| tables[worker].tasks >= MIN_TASKS)
        .collect();
    let shares: Vec<TruthShare<'_>> = tested
        .par_iter()
        .map(|&worker| TruthShare::of(&tables[worker]))
        .collect();
    let typical = typical_informativeness(&shares);
    let mut checks: Vec<WorkerCheck> = tested
        .par_iter()
        .zip(&shares)
        .map(|(&worker, share)| check(worker, &tables[worker], share, typical))
        .collect();
    let apply = |p_value: fn(&WorkerCheck) -> f64, checks: &[WorkerCheck]| {
        let p_values: Vec<f64> = checks.iter().map(p_value).collect();
        discoveries(&p_values, level)
    };
    let of_tested: Vec<&AnswerTable> = tested.iter().map(|&worker| &tables[worker]).collect();
    let useful = spammers::useful_probabilities(&of_tested, SHARE_OF_TYPICAL * typical);
    let lifeless: Vec<bool> = checks
        .iter()
        .map(|check| check.independent_p > SIGN_OF_LIFE)
        .collect();
    let two = of_tested.iter().all(|table| table.purity.len() == 2);
    let spammers = spammers::flag(&useful, &lifeless, if two { TWO_CLASSES * level } else { level });
    let useless = apply(|check| check.useful_p, &checks);
    let worse = apply(|check| check.not_worse_p, &checks);
    for (at, check) in checks.iter_mut().enumerate() {
        check.useful_probability = useful[at];
        check.adversary = worse[at] && !check.one_sided;
        check.spammer = spammers[at] && !check.one_sided && !worse[at];
        check.careless = useless[at] && !check.one_sided && !worse[at] && !check.spammer;
    }
    (checks, typical)
}

/// What a worker's labels say about the share of its answers that follow the truth.
struct TruthShare<'t> {
    evidence: &'t [(f32, u16)],
    /// r, the share of each answer.
    habits: Vec<f64>,
    /// The estimate of lambda.
    estimate: f64,
}

/// Largest share: the likelihood stays finite.
const LARGEST_SHARE: f64 = 0.999;
/// Steps of Newton's method, safeguarded by bisection, and the length of a step after which no other is
/// needed.
const MAX_STEPS: usize = 50;
const SMALL_STEP: f64 = 1e-7;

impl<'t> TruthShare<'t> {
    fn of(table: &'t AnswerTable) -> Self {
        let total: f64 = table.purity.iter().map(|answer| answer.0).sum();
        let mut share = Self {
            evidence: &table.evidence,
            habits: table.purity.iter().map(|answer| answer.0 / total).collect(),
            estimate: 0.0,
        };
        share.estimate = share.maximise();
        share
    }

    /// `(q - r, r)` of each label.
    fn terms(&self) -> impl Iterator<Item = (f64, f64)> {
        self.evidence.iter().map(|&(q, answer)| {
            let habit = self.habits[usize::from(answer)];
            (f64::from(q) - habit, habit)
        })
    }

    fn log_likelihood(&self, lambda: f64) -> f64 {
        self.terms()
            .map(|(gain, habit)| (habit + lambda * gain).ln())
            .sum()
    }

    /// First and second derivative of the log-likelihood.
    fn derivatives(&self, lambda: f64) -> (f64, f64) {
        self.terms().fold((0.0, 0.0), |(first, second), (gain, habit)| {
            let ratio = gain / (habit + lambda * gain);
            (first + ratio, second - ratio * ratio)
        })
    }

    fn maximise(&self) -> f64 {
        let (mut low, mut high) = (0.0, LARGEST_SHARE);
        if self.derivatives(low).0 <= 0.0 {
            return low;
        }
        if self.derivatives(high).0 >= 0.0 {
            return high;
        }
        let mut lambda = 0.5;
        for _ in 0..MAX_STEPS {
            let (slope, curvature) = self.derivatives(lambda);
            *(if slope > 0.0 { &mut low } else { &mut high }) = lambda;
            let newton = lambda - slope / curvature;
            let next = if low < newton && newton < high {
                newton
            } else {
                (low + high) / 2.0
            };
            let step = (next - lambda).abs();
            lambda = next;
            if step < SMALL_STEP {
                break;
            }
        }
        lambda
    }

    /// Upper tail of the signed root of the likelihood ratio against this share.
    fn p_value(&self, lambda: f64) -> f64 {
        let gain = self.log_likelihood(self.estimate) - self.log_likelihood(lambda);
        normal_tail((2.0 * gain.max(0.0)).sqrt())
    }
}

/// Median of the estimates over the tested workers, each with the weight of its labels.
fn typical_informativeness(shares: &[TruthShare<'_>]) -> f64 {
    let mut weighted: Vec<(f64, usize)> = shares
        .iter()
        .map(|share| (share.estimate, share.evidence.len()))
        .collect();
    weighted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all: usize = weighted.iter().map(|entry| entry.1).sum();
    let mut sum = 0;
    for (estimate, labels) in weighted {
        sum += labels;
        if 2 * sum >= all {
            return estimate;
        }
    }
    0.0
}

fn check(worker: usize, table: &AnswerTable, share: &TruthShare<'_>, typical: f64) -> WorkerCheck {
    let n = table.tasks;
    let (rows, columns) = table.margins();
    let k = rows.len();
    let accuracy = (0..k).map(|a| table.counts[a * k + a]).sum::<f64>() / n;
    let (mut chance, mut correction) = (0.0, 0.0);
    for (row, column) in rows.iter().zip(&columns) {
        let (p, q) = (row / n, column / n);
        chance += p * q;
        correction += p * q * (p + q);
    }
    let variance = (chance + chance * chance - correction) / n;
    let not_worse_p = if variance > 1e-15 {
        1.0 - normal_tail((accuracy - chance) / variance.sqrt())
    } else {
        1.0
    };
    let useful = SHARE_OF_TYPICAL * typical;
    let (favourite, most) = (0..k).fold(
        (0, 0.0),
        |best, a| if rows[a] > best.1 { (a, rows[a]) } else { best },
    );
    WorkerCheck {
        worker,
        tasks: n as usize,
        accuracy,
        chance,
        informativeness: share.estimate,
        useful_p: if share.estimate < useful {
            share.p_value(useful)
        } else {
            1.0
        },
        useful_probability: 0.0,
        independent_p: if share.estimate > 0.0 {
            share.p_value(0.0)
        } else {
            1.0
        },
        not_worse_p,
        favourite: (favourite, most / n),
        one_sided: {
            let elsewhere = n - columns[favourite];
            let still = most - table.counts[favourite * k + favourite];
            wilson_interval(most, n as usize).0 > 0.75 && wilson_interval(still, elsewhere as usize).0 > 0.65
        },
        spammer: false,
        careless: false,
        adversary: false,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The others are sure but for 4 %.
    pub(crate) fn table(counts: &[f64], k: usize) -> AnswerTable {
        let mut table = AnswerTable {
            counts: counts.to_vec(),
            tasks: counts.iter().sum(),
            purity: vec![(0.0, 0.0); k],
            error: 0.0,
            evidence: Vec::new(),
        };
        for (cell, &count) in counts.iter().enumerate() {
            let (answer, others) = (cell / k, cell % k);
            table.purity[answer].0 += count;
            let q = if answer == others {
                0.96
            } else {
                0.04 / (k - 1) as f32
            };
            table
                .evidence
                .extend(std::iter::repeat_n((q, answer as u16), count as usize));
        }
        table
    }

    #[test]
    fn the_share_that_follows_the_truth_by_hand() {
        // Two answers of equal share: an agreeing label has probability 0.5 + 0.46 lambda, another 0.5 - 0.46
        // lambda. With 90 of 100 agreeing the likelihood is largest where the first is 0.9: lambda = 0.4 /
        // 0.46.
        let good = table(&[45.0, 5.0, 5.0, 45.0], 2);
        let share = TruthShare::of(&good);
        assert!((share.estimate - 0.4 / 0.46).abs() < 1e-5, "{}", share.estimate);
        let gain = 90.0 * (0.9f64 / 0.5).ln() + 10.0 * (0.1f64 / 0.5).ln();
        assert!((share.p_value(0.0) - normal_tail((2.0 * gain).sqrt())).abs() < 1e-6);
        assert_eq!(TruthShare::of(&table(&[20.0, 30.0, 30.0, 20.0], 2)).estimate, 0.0);
    }

    #[test]
    fn kinds_by_hand() {
        let good = table(&[90.0, 10.0, 10.0, 90.0], 2);
        let guess = table(&[50.0, 50.0, 50.0, 50.0], 2);
        let wrong = table(&[20.0, 80.0, 80.0, 20.0], 2);
        let constant = table(&[98.0, 99.0, 2.0, 1.0], 2);
        let few = table(&[2.0, 2.0, 2.0, 2.0], 2);
        let weak = table(&[65.0, 35.0, 35.0, 65.0], 2);
        let tables = [vec![good; 5], vec![guess, wrong, constant, few, weak]].concat();
        let (checks, typical) = check_workers(&tables, 0.01);
        assert_eq!(checks.len(), 9);
        assert!((typical - 0.4 / 0.46).abs() < 1e-5, "{typical}");
        let kinds = |kind: fn(&WorkerCheck) -> bool| -> Vec<usize> {
            checks
                .iter()
                .filter(|check| kind(check))
                .map(|check| check.worker)
                .collect()
        };
        assert_eq!(kinds(|check| check.spammer), [5]);
        assert_eq!(kinds(|check| check.careless), [9]);
        assert_eq!(kinds(|check| check.adversary), [6]);
        assert_eq!(kinds(|check| check.one_sided), [7]);
        assert_eq!(checks[6].accuracy, 0.2);
    }
}
