//! GLAD: abilities of workers against the easiness of tasks.
//!
//! ```text
//! Pr(x_mn = y_n) = sigmoid(a_m e^{b_n}),   each wrong class: (1 - sigmoid(a_m e^{b_n})) / (K - 1)
//! a_m ~ N(1, 1),   b_n ~ N(1, 1),   y_n uniform
//! ```
//!
//! Symbols: `a` is `ability`, `b` is `log_easiness`, `s = a_m e^{b_n}` the score of a label, `q_n` the
//! posterior, `r = q_n(x)` the probability that a label is right.
//!
//! 1. Start from `a = 1`, `b = 1`.
//! 2. E: `q_n(k) ~ exp( sum over labels x = k of (s + ln(K - 1)) )`: the terms common to all classes cancel.
//! 3. M: raise `Q = sum over labels [r ln sigmoid(s) + (1 - r) ln(1 - sigmoid(s))] - sum (a_m - 1)^2 / 2 -
//!    sum (b_n
//!    - 1)^2 / 2`: given `b` every `a_m` stands alone, given `a` every `b_n`, so both are improved in turn by
//!      one Newton step each (curvature from the Fisher information), halved until `Q` does not fall;
//!      `m-steps` turns.
//! 4. Stop when `J` changes by less than `tol` of its value, or after `max-iter` rounds. `J` is the
//!    log-posterior of labels, abilities and easiness (the trace); it does not fall.
//!
//! `O(L)` for each turn of step 3; memory `O(M + N K)`. Errors are even over the wrong classes, so it fails
//! where workers lean towards a class. A negative ability is an adversary, whose answers count against
//! themselves.
//!
//! Differs from the paper: Newton steps one coordinate at a time for a joint conjugate gradient, same
//! objective; `K` classes by spreading errors evenly. The confusion matrix of a worker is its mean over the
//! tasks it labelled; the prior returned is the mean posterior.
//!
//! J. Whitehill, P. Ruvolo, T. Wu, J. Bergsma, J. Movellan, "Whose vote should count more: optimal
//! integration of labels from labelers of unknown expertise", NIPS 2009.

use quorate::internal::model::{reserve_confusions, softmax_in_place};
use quorate::internal::parallel::{balanced_ranges, map_rows};
use quorate::internal::starting_votes;
use quorate::methods::{Aggregate, Fit};
use quorate::model::{Consensus, DawidSkene};
use quorate::{Annotations, Context, Result, declare_method};

declare_method! {
    /// GLAD by EM.
    pub struct Glad {
        /// largest number of EM rounds
        max_iter: usize in 1..=1_000_000 = 100,
        /// stops when the objective changes by less than this share of its value
        tol: f64 in 0..=1 = 1e-5,
        /// turns of abilities and easiness in each M-step
        m_steps: usize in 1..=1_000_000 = 10,
    }
    name: "glad",
    aliases: ["whitehill"],
    summary: "Abilities of workers and easiness of tasks, by EM",
    description: "Every worker has an ability and every task an easiness; the chance of a right answer \
                  grows with their product. Adversaries get a negative ability and count against \
                  themselves. Useful where tasks differ much in difficulty; fails where workers lean \
                  towards a class.",
    citation: "J. Whitehill, P. Ruvolo, T. Wu, J. Bergsma, J. Movellan: Whose vote should count more: \
               optimal integration of labels from labelers of unknown expertise. NIPS 2009",
    facts: [returns_model, learns_from_gold],
}

/// Mean of the normal priors of abilities and log-easiness; their variance is 1.
const PRIOR_MEAN: f64 = 1.0;

/// Log-easiness stays within this of 0, so that its exponential stays finite.
const LARGEST_LOG_EASINESS: f64 = 30.0;

/// Halvings of a step before it is given up.
const HALVINGS: usize = 30;

impl Aggregate for Glad {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        reserve_confusions(annotations, context)?;
        let classes = annotations.class_count();
        let mut skills = Skills::start(annotations);
        let mut rows = vec![0.0; annotations.task_count() * classes];
        if annotations.has_gold() {
            rows = starting_votes(annotations, context)?.into_vec();
            context.run(|| improve_abilities(annotations, &rows, &mut skills));
        }
        let (mut trace, mut converged) = (Vec::<f64>::new(), false);
        for round in 0..self.max_iter {
            context.step("GLAD", round, Some(self.max_iter))?;
            let objective =
                context.run(|| find_posteriors(annotations, &skills, &mut rows)) + skills.log_prior();
            let settled = |last: &f64| (objective - last).abs() <= self.tol * last.abs();
            converged = trace.last().is_some_and(settled);
            trace.push(objective);
            if converged || round + 1 == self.max_iter {
                break;
            }
            for _ in 0..self.m_steps {
                context.run(|| {
                    improve_abilities(annotations, &rows, &mut skills);
                    improve_easiness(annotations, &rows, &mut skills);
                });
            }
        }
        let consensus = Consensus::new(classes, rows);
        Ok(Fit {
            model: Some(average_model(annotations, &skills, &consensus)),
            worker_scores: Some(skills.ability),
            iterations: trace.len(),
            trace,
            converged,
            ..Fit::direct(consensus)
        })
    }
}

/// What the labels are explained by.
#[derive(Debug, Clone, PartialEq)]
struct Skills {
    ability: Vec<f64>,
    log_easiness: Vec<f64>,
    /// `e^{b_n}`, kept beside `b_n`.
    easiness: Vec<f64>,
}

impl Skills {
    fn start(annotations: &Annotations) -> Self {
        Self {
            ability: vec![PRIOR_MEAN; annotations.worker_count()],
            log_easiness: vec![PRIOR_MEAN; annotations.task_count()],
            easiness: vec![PRIOR_MEAN.exp(); annotations.task_count()],
        }
    }

    fn log_prior(&self) -> f64 {
        let values = self.ability.iter().chain(&self.log_easiness);
        -0.5 * values.map(|value| (value - PRIOR_MEAN).powi(2)).sum::<f64>()
    }
}

/// E-step: posteriors into `rows`; returns the log-likelihood of the labels.
fn find_posteriors(annotations: &Annotations, skills: &Skills, rows: &mut [f64]) -> f64 {
    let classes = annotations.class_count();
    let spread = ((classes.max(2) - 1) as f64).ln();
    let ranges = balanced_ranges(annotations.task_starts(), 64);
    let parts = map_rows(ranges, rows, classes, |tasks, rows| {
        let mut log_likelihood = 0.0;
        for (task, row) in tasks.zip(rows.chunks_exact_mut(classes)) {
            row.fill(0.0);
            let (mut base, mut labelled) = (-(classes as f64).ln(), false);
            for (worker, answer) in annotations.labels_of_task(task) {
                let score = skills.ability[worker] * skills.easiness[task];
                base -= softplus(score) + spread;
                row[answer] += score + spread;
                labelled = true;
            }
            annotations.pin_logs(task, row);
            let sum = softmax_in_place(row);
            log_likelihood += if labelled { base + sum } else { 0.0 };
        }
        log_likelihood
    });
    parts.into_iter().sum()
}

/// One Newton step for every ability, easiness fixed.
fn improve_abilities(annotations: &Annotations, rows: &[f64], skills: &mut Skills) {
    let classes = annotations.class_count();
    let by_worker = annotations.by_worker();
    let (ability, easiness) = (&mut skills.ability, &skills.easiness);
    let ranges = balanced_ranges(by_worker.starts(), 64);
    map_rows(ranges, ability, 1, |workers, part| {
        for (worker, ability) in workers.zip(part) {
            let labels = by_worker.labels(worker);
            let labels = labels.map(|(task, answer)| (easiness[task], rows[task * classes + answer]));
            let (mut gradient, mut curvature) = (PRIOR_MEAN - *ability, 1.0);
            for (easiness, right) in labels.clone() {
                let guess = sigmoid(*ability * easiness);
                gradient += (right - guess) * easiness;
                curvature += guess * (1.0 - guess) * easiness * easiness;
            }
            let objective = |ability: f64| {
                let terms = labels.clone();
                let terms = terms.map(|(easiness, right)| explain(right, ability * easiness));
                terms.sum::<f64>() - 0.5 * (ability - PRIOR_MEAN).powi(2)
            };
            *ability = climb(*ability, gradient / curvature, objective);
        }
    });
}

/// One step for every log-easiness, abilities fixed.
fn improve_easiness(annotations: &Annotations, rows: &[f64], skills: &mut Skills) {
    let classes = annotations.class_count();
    let (ability, log_easiness) = (&skills.ability, &mut skills.log_easiness);
    let ranges = balanced_ranges(annotations.task_starts(), 64);
    map_rows(ranges, log_easiness, 1, |tasks, part| {
        for (task, log_easiness) in tasks.zip(part) {
            let labels = annotations.labels_of_task(task);
            let labels = labels.map(|(worker, answer)| (ability[worker], rows[task * classes + answer]));
            let easiness = log_easiness.exp();
            let (mut gradient, mut curvature) = (PRIOR_MEAN - *log_easiness, 1.0);
            for (ability, right) in labels.clone() {
                let score = ability * easiness;
                let guess = sigmoid(score);
                gradient += (right - guess) * score;
                curvature += guess * (1.0 - guess) * score * score;
            }
            let objective = |value: f64| {
                let easiness = value.exp();
                let terms = labels.clone();
                let terms = terms.map(|(ability, right)| explain(right, ability * easiness));
                terms.sum::<f64>() - 0.5 * (value - PRIOR_MEAN).powi(2)
            };
            *log_easiness = climb(*log_easiness, gradient / curvature, objective)
                .clamp(-LARGEST_LOG_EASINESS, LARGEST_LOG_EASINESS);
        }
    });
    for (easiness, log) in skills.easiness.iter_mut().zip(&skills.log_easiness) {
        *easiness = log.exp();
    }
}

/// `from + step`, the step halved until the objective does not fall.
fn climb(from: f64, step: f64, objective: impl Fn(f64) -> f64) -> f64 {
    if step == 0.0 {
        return from;
    }
    let (start, mut step) = (objective(from), step);
    for _ in 0..HALVINGS {
        if objective(from + step) >= start {
            return from + step;
        }
        step *= 0.5;
    }
    from
}

/// `r ln sigmoid(s) + (1 - r) ln(1 - sigmoid(s))`.
fn explain(right: f64, score: f64) -> f64 {
    right * score - softplus(score)
}

/// `ln(1 + e^s)` without overflow.
fn softplus(score: f64) -> f64 {
    score.max(0.0) + (-score.abs()).exp().ln_1p()
}

fn sigmoid(score: f64) -> f64 {
    1.0 / (1.0 + (-score).exp())
}

/// Each worker's chance of a right answer, averaged over the tasks it labelled.
fn average_model(annotations: &Annotations, skills: &Skills, consensus: &Consensus) -> DawidSkene {
    let classes = annotations.class_count();
    let mut prior = vec![0.0; classes];
    for row in consensus.as_slice().chunks_exact(classes) {
        let pairs = prior.iter_mut().zip(row);
        pairs.for_each(|(total, q)| *total += q / consensus.len() as f64);
    }
    let accuracy = |worker: usize| {
        let ability = skills.ability[worker];
        let labels = annotations.by_worker().labels(worker);
        let count = labels.len();
        let chances = labels.map(|(task, _)| sigmoid(ability * skills.easiness[task]));
        match count {
            0 => sigmoid(ability * PRIOR_MEAN.exp()),
            count => chances.sum::<f64>() / count as f64,
        }
    };
    let accuracy: Vec<f64> = (0..annotations.worker_count()).map(accuracy).collect();
    DawidSkene::one_coin(prior, &accuracy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorate::methods::vote_fractions;
    use quorate_testkit::toys::{assert_close, assert_rising, toy_a, toy_b};

    fn second_class(rows: &[f64]) -> Vec<f64> {
        rows.iter().skip(1).step_by(2).copied().collect()
    }

    #[test]
    fn toy_b_first_round_by_hand() {
        let (annotations, mut rows) = (toy_b(), vec![0.0; 16]);
        let skills = Skills::start(&annotations);
        assert_close(&[sigmoid(1f64.exp())], &[0.938097], 1e-6);
        let objective = find_posteriors(&annotations, &skills, &mut rows) + skills.log_prior();
        let expected = [
            0.938097, 0.999713, 0.995664, 0.995664, 0.061903, 0.061903, 0.000287, 0.004336,
        ];
        assert_close(&second_class(&rows), &expected, 1e-6);
        assert_close(&[objective], &[-37.605340], 1e-6);
    }

    #[test]
    fn toy_b_converged() {
        let method = Glad {
            max_iter: 5000,
            tol: 1e-14,
            m_steps: 20,
        };
        let fit = method.fit(&toy_b(), &mut Context::new(0)).unwrap();
        assert_rising(&fit.trace);
        assert_close(&[*fit.trace.last().unwrap()], &[-22.190632], 1e-6);
        let abilities = [1.246481, 1.095537, 0.367400, 0.064355, -0.269218];
        assert_close(&fit.worker_scores.unwrap(), &abilities, 1e-4);
        let expected = [
            0.996970, 0.998030, 0.999999, 0.670183, 0.003030, 0.000004, 0.001970, 0.000010,
        ];
        assert_close(&second_class(fit.consensus.as_slice()), &expected, 1e-4);
    }

    #[test]
    fn a_step_follows_the_gradient() {
        // Worked example: gradients of Q at the start; a full Newton step is gradient / curvature.
        let (annotations, mut rows) = (toy_b(), vec![0.0; 16]);
        let start = Skills::start(&annotations);
        find_posteriors(&annotations, &start, &mut rows);
        let mut moved = start.clone();
        improve_abilities(&annotations, &rows, &mut moved);
        let gradient = [0.804434, -1.890277, -4.115534, -7.167233, -11.886698];
        let slope = 0.938097 * (1.0 - 0.938097) * 2f64.exp();
        for (worker, (gradient, labels)) in gradient.iter().zip([8.0, 8.0, 7.0, 7.0, 7.0]).enumerate() {
            let full = gradient / (1.0 + labels * slope);
            let halvings = (full / (moved.ability[worker] - 1.0)).log2();
            assert!((halvings - halvings.round()).abs() < 1e-4, "{halvings}");
        }
        let mut eased = start.clone();
        improve_easiness(&annotations, &rows, &mut eased);
        let gradient = [-4.763483, -1.879273, -2.068771, -2.068771];
        for (task, (gradient, labels)) in gradient.iter().zip([5.0, 5.0, 4.0, 4.0]).enumerate() {
            let full = gradient / (1.0 + labels * slope);
            let halvings = (full / (eased.log_easiness[task] - 1.0)).log2();
            assert!((halvings - halvings.round()).abs() < 1e-4, "{halvings}");
        }
    }

    #[test]
    fn equal_skills_give_the_majority_vote() {
        let (annotations, mut rows) = (toy_a(), vec![0.0; 18]);
        find_posteriors(&annotations, &Skills::start(&annotations), &mut rows);
        let labels = Consensus::new(3, rows).labels();
        assert_eq!(labels, vote_fractions(&annotations).labels());
    }

    #[test]
    fn the_objective_does_not_fall() {
        let fit = Glad::default().fit(&toy_a(), &mut Context::new(0)).unwrap();
        assert_rising(&fit.trace);
    }
}
