//! Workers to look at: spammers, adversaries, one-sided ones.
//!
//! All from the table T_m of a worker's answers against the others' (n tasks, margins p_a and q_k as shares):
//!
//! | kind | statistic | flagged if |
//! |---|---|---|
//! | one-sided | share of the most frequent answer a; the same among tasks that the others do not take for a | Wilson lower bounds above 0.75 and 0.65 |
//! | spammer | Pearson's X^2 of T_m with d degrees of freedom | X^2 is too small for a worker two thirds as informative as the typical one, *and* gives no sign of dependence (p > 0.01) |
//! | adversary | z = (p_o - p_e) / sqrt((p_e + p_e^2 - sum_k p_k q_k (p_k + q_k)) / n) | z is significantly negative |
//!
//! *Spammer.* That independence is not rejected proves nothing about a worker with ten labels. So the null hypothesis is
//! that the worker tells at least two thirds as much as the typical one, measured by Cramer's V (label-weighted median v over
//! the workers, corrected for chance: `V^2 = (X^2 - d) / (n (min(rows, columns) - 1))`): X^2 is then noncentral
//! chi-square with noncentrality `n (2v/3)^2 (min(rows, columns) - 1)`. Counts are whole numbers, so that small tables hit
//! X^2 = 0 by luck: the tail is taken at `(X + c)^2` with `c^2` the mean of 1/expected, which for a 2 x 2 table is half a
//! count in every cell. The typical worker is measured against the same
//! imperfect consensus, so that noise of the others cancels. Both conditions together mean less than a third of the typical
//! V, seen with enough labels.
//!
//! What the level controls is that null hypothesis. A worker who truly knows a little, well below two thirds
//! of the typical V, can be flagged as well if its labels happen to show no sign of it: in crowds of 400
//! workers with accuracies down to 0.6 of two classes that met about one worker in 1300.
//!
//! *Adversary.* z is Cohen's kappa over its standard error under independence (Fleiss, Cohen and Everitt
//! 1969): worse than guessing with the same class shares.
//!
//! *One-sided.* Such a worker may still know something: the rare other answers can be right. It is not called
//! a spammer as well.
//!
//! Both tests are corrected for many workers by [`discoveries`](super::discoveries). Limits: where most of
//! the crowd is bad or colludes, "the others" are wrong and the roles swap; a worker who saw tasks of one
//! class only looks one-sided if the others err on them; workers with few labels are never flagged; normal
//! and chi-square approximations need [`LEAST_TASKS`] tasks.

use super::answer_tables::AnswerTable;
use super::discoveries::discoveries;
use super::distributions::{chi_square_tail, noncentral_chi_square, normal_tail};
use crate::evaluate::wilson_interval;

/// Tasks with other labels that a worker needs to be tested.
pub const LEAST_TASKS: f64 = 10.0;
/// Share of the typical worker's V that a spammer is shown not to reach.
const SHARE_OF_TYPICAL: f64 = 2.0 / 3.0;
/// p-value of the test of independence below which nobody is called a spammer.
const SIGN_OF_LIFE: f64 = 0.01;

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
    /// Cramer's V between the worker's answers and the others', corrected for chance: 0 nothing, 1
    /// everything.
    pub informativeness: f64,
    /// p-value of "at least two thirds as informative as the typical worker".
    pub useful_p: f64,
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
    /// Systematically wrong.
    pub adversary: bool,
}

/// Checks all workers that have enough tasks; `level` is the false discovery rate of each kind. Also returns
/// the typical informativeness.
pub(super) fn check_workers(tables: &[AnswerTable], level: f64) -> (Vec<WorkerCheck>, f64) {
    let tested: Vec<usize> = (0..tables.len())
        .filter(|&worker| tables[worker].tasks >= LEAST_TASKS)
        .collect();
    let dependences: Vec<Dependence> = tested
        .iter()
        .map(|&worker| Dependence::of(&tables[worker]))
        .collect();
    let typical = typical_informativeness(&tested, tables, &dependences);
    let mut checks: Vec<WorkerCheck> = tested
        .iter()
        .zip(&dependences)
        .map(|(&worker, dependence)| check(worker, &tables[worker], dependence, typical))
        .collect();
    let apply = |p_value: fn(&WorkerCheck) -> f64, checks: &[WorkerCheck]| {
        let p_values: Vec<f64> = checks.iter().map(p_value).collect();
        discoveries(&p_values, level)
    };
    let useless = apply(|check| check.useful_p, &checks);
    let worse = apply(|check| check.not_worse_p, &checks);
    for ((check, useless), worse) in checks.iter_mut().zip(useless).zip(worse) {
        check.adversary = worse && !check.one_sided;
        check.spammer = useless && check.independent_p > SIGN_OF_LIFE && !check.one_sided && !worse;
    }
    (checks, typical)
}

/// Pearson's X^2 of a table.
struct Dependence {
    x2: f64,
    df: f64,
    /// min(rows, columns) - 1 of the rows and columns that are used.
    rank: f64,
    v_squared: f64,
    /// c: half a count, on the scale of X.
    step: f64,
}

impl Dependence {
    fn of(table: &AnswerTable) -> Self {
        let (rows, columns) = table.margins();
        let k = rows.len();
        let used = |margin: &[f64]| margin.iter().filter(|sum| **sum > 0.0).count() as f64;
        let (mut x2, mut inverse, mut cells) = (0.0, 0.0, 0.0);
        for (cell, observed) in table.counts.iter().enumerate() {
            let expected = rows[cell / k] * columns[cell % k] / table.tasks;
            if expected > 0.0 {
                x2 += (observed - expected).powi(2) / expected;
                inverse += 1.0 / expected;
                cells += 1.0;
            }
        }
        let (r, c) = (used(&rows) - 1.0, used(&columns) - 1.0);
        let rank = r.min(c);
        let v_squared = if rank > 0.0 {
            ((x2 - r * c) / (table.tasks * rank)).clamp(0.0, 1.0)
        } else {
            0.0
        };
        Self {
            x2,
            df: r * c,
            rank,
            v_squared,
            step: f64::sqrt(inverse / cells),
        }
    }
}

/// Median of V over the tested workers, each with the weight of its tasks.
fn typical_informativeness(tested: &[usize], tables: &[AnswerTable], dependences: &[Dependence]) -> f64 {
    let mut weighted: Vec<(f64, f64)> = tested
        .iter()
        .zip(dependences)
        .map(|(&worker, dependence)| (dependence.v_squared.sqrt(), tables[worker].tasks))
        .collect();
    weighted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = weighted.iter().map(|entry| entry.1).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    for (v, tasks) in weighted {
        sum += tasks;
        if sum >= half {
            return v;
        }
    }
    0.0
}

fn check(worker: usize, table: &AnswerTable, dependence: &Dependence, typical: f64) -> WorkerCheck {
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
    let threshold = n * (SHARE_OF_TYPICAL * typical).powi(2) * dependence.rank;
    let testable = dependence.df > 0.0 && threshold > 0.0;
    let (favourite, most) = (0..k).fold(
        (0, 0.0),
        |best, a| if rows[a] > best.1 { (a, rows[a]) } else { best },
    );
    WorkerCheck {
        worker,
        tasks: n as usize,
        accuracy,
        chance,
        informativeness: dependence.v_squared.sqrt(),
        useful_p: if testable {
            noncentral_chi_square(
                (dependence.x2.sqrt() + dependence.step).powi(2),
                dependence.df,
                threshold,
            )
        } else {
            1.0
        },
        independent_p: if testable {
            chi_square_tail(dependence.x2, dependence.df)
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
        adversary: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(counts: &[f64], k: usize) -> AnswerTable {
        AnswerTable {
            counts: counts.to_vec(),
            tasks: counts.iter().sum(),
            purity: vec![(0.0, 0.0); k],
            error: 0.0,
        }
    }

    #[test]
    fn kinds_by_hand() {
        let good = table(&[90.0, 10.0, 10.0, 90.0], 2);
        let guess = table(&[50.0, 50.0, 50.0, 50.0], 2);
        let wrong = table(&[20.0, 80.0, 80.0, 20.0], 2);
        let constant = table(&[98.0, 99.0, 2.0, 1.0], 2);
        let few = table(&[2.0, 2.0, 2.0, 2.0], 2);
        let tables = [vec![good; 5], vec![guess, wrong, constant, few]].concat();
        let (checks, typical) = check_workers(&tables, 0.01);
        assert_eq!(checks.len(), 8);
        // X^2 of the good table: 4 cells of 40^2/50; V^2 = (128 - 1) / 200.
        assert!((typical - (127.0f64 / 200.0).sqrt()).abs() < 1e-12);
        let kinds = |kind: fn(&WorkerCheck) -> bool| -> Vec<usize> {
            checks
                .iter()
                .filter(|check| kind(check))
                .map(|check| check.worker)
                .collect()
        };
        assert_eq!(kinds(|check| check.spammer), [5]);
        assert_eq!(kinds(|check| check.adversary), [6]);
        assert_eq!(kinds(|check| check.one_sided), [7]);
        assert_eq!(checks[6].accuracy, 0.2);
    }
}
