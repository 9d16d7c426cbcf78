//! Minimax conditional entropy: workers and tasks both bend the answers.
//!
//! ```text
//! P_mn(l | c) = exp(sigma_m[c, l] + tau_n[c, l]) / sum_l' exp(sigma_m[c, l'] + tau_n[c, l'])
//! J = sum_{labels (n,m,x)} sum_c Q_n(c) ln P_mn(x | c) + sum_n H(Q_n) - (a/2) sum_m ||sigma_m||^2 - (b/2) sum_n ||tau_n||^2
//! ```
//!
//! Worker tables `sigma_m` (`workers`), task tables `tau_n` (`tasks`), row c = truth, column l = answer;
//! `Q_n` the posterior of the truth under a flat prior. It is the dual of choosing answer distributions of
//! maximum entropy that match each worker's and each task's expected confusion counts up to slack, and truths
//! that minimise that entropy; the slack is the ridge penalty, `a = gamma K^2`, `b = a N / M`.
//!
//! 1. `Q` = vote shares, all tables 0.
//! 2. Each worker's table: maximise J, a concave problem, by L-BFGS from the last value.
//! 3. Each task's table: the same with the roles exchanged.
//! 4. `Q_n(c) ~ prod P_mn(x | c)`, in the log domain. Back to 2 until no posterior moves by more than `tol`.
//!
//! J does not fall in any step. `model=ordinal` (grades) restricts the tables to sums of indicator tables
//! `1[c >= or < s] 1[l >= or < s]`, s = 1 .. K-1: 4 (K-1) parameters instead of K^2; there the order of the
//! classes matters.
//!
//! Time a round: some ten to twenty-five gradients for each worker and each task, `O(L K^2)` each; memory
//! `O((M + N) K^2)`. With few labels a task and a small `gamma` the tasks' tables can absorb everything. The
//! confusion matrix of a worker is `softmax` of its table (the task's at 0), the prior the mean posterior.
//!
//! Differs from the paper: `gamma` is fixed (1/4, as in the compared tables) instead of cross-validated.
//!
//! D. Zhou, S. Basu, Y. Mao, J. Platt, "Learning from the wisdom of crowds by minimax entropy", NIPS 2012; D.
//! Zhou, Q. Liu, J. Platt, C. Meek, "Aggregating ordinal labels from crowds by minimax conditional entropy",
//! ICML 2014.

use rayon::prelude::*;

use crate::linalg::lbfgs::Lbfgs;
use quorate::internal::linalg::small::{add, add_scaled, column_sums, largest, norm_squared, transpose};
use quorate::internal::model::softmax_in_place;
use quorate::internal::starting_votes;
use quorate::methods::{Aggregate, Fit};
use quorate::model::{Consensus, DawidSkene};
use quorate::{Annotations, Context, Result, declare_method, declare_words};

declare_method! {
    /// Minimax conditional entropy.
    pub struct MinimaxEntropy {
        /// tables with all K x K entries free, or with parameters for ordered classes (grades)
        model: MinimaxModel = Categorical,
        /// strength of the penalties
        gamma: f64 in 1e-6..=1e9 = 0.25,
        /// largest number of rounds
        max_iter: usize in 1..=1_000_000 = 50,
        /// stops when no posterior changes by more than this
        tol: f64 in 0..=1 = 5e-3,
    }
    name: "minimax-entropy",
    aliases: ["minimax", "mmce"],
    summary: "Workers' confusion and tasks' difficulty by minimax conditional entropy",
    description: "Every worker and every task has a table that bends the probabilities of answers, held \
                  small by a penalty: it can tell a confusing task from a poor worker. Strong on moderate \
                  data with several labels a task. model=ordinal shares parameters between neighbouring \
                  classes, for grades; there the order of the classes matters.",
    citation: "D. Zhou, S. Basu, Y. Mao, J. Platt: Learning from the wisdom of crowds by minimax entropy. \
               NIPS 2012; D. Zhou, Q. Liu, J. Platt, C. Meek: Aggregating ordinal labels from crowds by \
               minimax conditional entropy. ICML 2014",
    facts: [returns_model, learns_from_gold],
}

declare_words! {
    /// What tables look like.
    pub enum MinimaxModel {
        /// All K x K entries are free.
        Categorical = "categorical",
        /// Sums of indicator tables of ordered classes.
        Ordinal = "ordinal",
    }
}

/// The inner problems need not be solved to the last digit: the next round starts where this one stopped.
const INNER: Lbfgs = Lbfgs {
    max_iter: 25,
    tol: 1e-3,
    memory: 10,
};

impl Aggregate for MinimaxEntropy {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        let (tasks, workers) = (annotations.task_count() as u64, annotations.worker_count() as u64);
        let classes = annotations.class_count();
        context.reserve(
            format!("a {classes} x {classes} table for each of {tasks} tasks and {workers} workers"),
            16 * (tasks + workers) * (classes * classes) as u64,
            "use dawid-skene, which has no tables for tasks",
        )?;
        let mut state = State::new(self, annotations, starting_votes(annotations, context)?);
        let mut trace = vec![context.run(|| state.objective(annotations))];
        let (mut iterations, mut converged) = (0, false);
        while iterations < self.max_iter && !converged {
            context.step("rounds", iterations, Some(self.max_iter))?;
            context.run(|| state.fit_workers(annotations));
            context.step("rounds", iterations, Some(self.max_iter))?;
            let change = context.run(|| {
                state.fit_tasks(annotations);
                state.update_posterior(annotations)
            });
            iterations += 1;
            trace.push(context.run(|| state.objective(annotations)));
            converged = change < self.tol;
        }
        let model = state.worker_model();
        Ok(Fit {
            model: Some(model),
            trace,
            iterations,
            converged,
            ..Fit::direct(Consensus::new(classes, state.posterior))
        })
    }
}

/// Tables, their parameters, and the posterior.
struct State {
    classes: usize,
    form: MinimaxModel,
    worker_penalty: f64,
    task_penalty: f64,
    /// Parameters, `[worker][parameter]` and `[task][parameter]`.
    worker_parameters: Vec<f64>,
    task_parameters: Vec<f64>,
    /// Tables they stand for, `[..][truth][answer]`.
    workers: Vec<f64>,
    tasks: Vec<f64>,
    /// Q, `[task][truth]`.
    posterior: Vec<f64>,
}

impl State {
    fn new(settings: &MinimaxEntropy, annotations: &Annotations, votes: Consensus) -> Self {
        let (tasks, workers) = (annotations.task_count(), annotations.worker_count());
        let classes = annotations.class_count();
        let width = settings.model.parameters(classes);
        let worker_penalty = settings.gamma * (classes * classes) as f64;
        Self {
            classes,
            form: settings.model,
            worker_penalty,
            task_penalty: worker_penalty * tasks as f64 / workers as f64,
            worker_parameters: vec![0.0; workers * width],
            task_parameters: vec![0.0; tasks * width],
            workers: vec![0.0; workers * classes * classes],
            tasks: vec![0.0; tasks * classes * classes],
            posterior: votes.into_vec(),
        }
    }

    fn fit_workers(&mut self, annotations: &Annotations) {
        let (classes, form, penalty) = (self.classes, self.form, self.worker_penalty);
        let (block, by_worker) = (classes * classes, annotations.by_worker());
        let (tasks, posterior) = (&self.tasks, &self.posterior);
        let parameters = &mut self.worker_parameters;
        for_each_table(
            form,
            classes,
            parameters,
            &mut self.workers,
            |worker, theta, table| {
                let answers = by_worker.labels(worker).map(|(task, answer)| Answer {
                    base: &tasks[task * block..][..block],
                    weights: &posterior[task * classes..][..classes],
                    answer,
                });
                fit_table(form, classes, penalty, answers, theta, table);
            },
        );
    }

    fn fit_tasks(&mut self, annotations: &Annotations) {
        let (classes, form, penalty) = (self.classes, self.form, self.task_penalty);
        let block = classes * classes;
        let (workers, posterior) = (&self.workers, &self.posterior);
        let parameters = &mut self.task_parameters;
        for_each_table(
            form,
            classes,
            parameters,
            &mut self.tasks,
            |task, theta, table| {
                let answers = annotations.labels_of_task(task).map(|(worker, answer)| Answer {
                    base: &workers[worker * block..][..block],
                    weights: &posterior[task * classes..][..classes],
                    answer,
                });
                fit_table(form, classes, penalty, answers, theta, table);
            },
        );
    }

    /// `sum ln P_mn(x | c)` over the labels of a task, for each c.
    fn log_likelihoods(&self, annotations: &Annotations, task: usize, out: &mut [f64]) {
        let classes = self.classes;
        let block = classes * classes;
        let own = &self.tasks[task * block..][..block];
        out.fill(0.0);
        let mut row = vec![0.0; classes];
        for (worker, answer) in annotations.labels_of_task(task) {
            let base = &self.workers[worker * block..][..block];
            for (c, cell) in out.iter_mut().enumerate() {
                row.copy_from_slice(&own[c * classes..][..classes]);
                add(&mut row, &base[c * classes..]);
                *cell += row[answer] - log_sum_exp(&row);
            }
        }
    }

    /// E-step; returns the largest change of a posterior.
    fn update_posterior(&mut self, annotations: &Annotations) -> f64 {
        let classes = self.classes;
        let mut posterior = vec![0.0; self.posterior.len()];
        let rows = posterior.par_chunks_exact_mut(classes).enumerate();
        rows.for_each(|(task, row)| {
            self.log_likelihoods(annotations, task, row);
            annotations.pin_logs(task, row);
            softmax_in_place(row);
        });
        let changes = posterior.iter().zip(&self.posterior).map(|(a, b)| (a - b).abs());
        let change = changes.fold(0.0, f64::max);
        self.posterior = posterior;
        change
    }

    /// J.
    fn objective(&self, annotations: &Annotations) -> f64 {
        let classes = self.classes;
        let of_task = |task: usize| -> f64 {
            let mut logs = vec![0.0; classes];
            self.log_likelihoods(annotations, task, &mut logs);
            let row = &self.posterior[task * classes..][..classes];
            let possible = row.iter().zip(&logs).filter(|(q, _)| **q > 0.0);
            possible.map(|(q, log)| q * (log - q.ln())).sum()
        };
        let tasks = (0..annotations.task_count()).into_par_iter();
        let parts: Vec<f64> = tasks.map(of_task).collect();
        parts.iter().sum::<f64>()
            - 0.5 * self.worker_penalty * norm_squared(&self.worker_parameters)
            - 0.5 * self.task_penalty * norm_squared(&self.task_parameters)
    }

    /// Confusion matrices of the workers on a task of no peculiarity, and the mean posterior.
    fn worker_model(&self) -> DawidSkene {
        let classes = self.classes;
        let mut confusion = Vec::with_capacity(self.workers.len());
        for table in self.workers.chunks_exact(classes * classes) {
            let mut rows = table.to_vec();
            rows.chunks_exact_mut(classes)
                .for_each(|row| _ = softmax_in_place(row));
            confusion.extend(transpose(&rows, classes));
        }
        let tasks = (self.posterior.len() / classes) as f64;
        let sums = column_sums(&self.posterior, classes);
        let prior = sums.iter().map(|sum| sum / tasks).collect();
        DawidSkene::new(prior, confusion)
    }
}

/// Calls `fit` for each worker or task, with its parameters and its table.
fn for_each_table(
    form: MinimaxModel,
    classes: usize,
    parameters: &mut [f64],
    tables: &mut [f64],
    fit: impl Fn(usize, &mut [f64], &mut [f64]) + Sync + Send,
) {
    let parameters = parameters.par_chunks_exact_mut(form.parameters(classes).max(1));
    let tables = parameters.zip(tables.par_chunks_exact_mut(classes * classes));
    tables
        .enumerate()
        .for_each(|(place, (theta, table))| fit(place, theta, table));
}

/// One answer as seen from the table that is fitted: the other table, the posterior of the task, the answer.
#[derive(Clone, Copy)]
struct Answer<'a> {
    base: &'a [f64],
    weights: &'a [f64],
    answer: usize,
}

/// Maximises J over one table, all else fixed.
fn fit_table<'a>(
    form: MinimaxModel,
    classes: usize,
    penalty: f64,
    answers: impl Iterator<Item = Answer<'a>> + Clone,
    theta: &mut [f64],
    table: &mut [f64],
) {
    let mut gradient_table = vec![0.0; classes * classes];
    INNER.minimise(theta, |theta, gradient| {
        form.expand(theta, classes, table);
        let loss = table_loss(classes, answers.clone(), table, &mut gradient_table);
        form.reduce(&gradient_table, classes, gradient);
        add_scaled(gradient, penalty, theta);
        loss + 0.5 * penalty * norm_squared(theta)
    });
    form.expand(theta, classes, table);
}

/// `-sum_answers sum_c Q(c) ln P(x | c)` and its gradient in the table.
fn table_loss<'a>(
    classes: usize,
    answers: impl Iterator<Item = Answer<'a>>,
    table: &[f64],
    gradient: &mut [f64],
) -> f64 {
    gradient.fill(0.0);
    let mut loss = 0.0;
    let mut row = vec![0.0; classes];
    for Answer {
        base,
        weights,
        answer,
    } in answers
    {
        for (c, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            let range = c * classes..(c + 1) * classes;
            row.copy_from_slice(&table[range.clone()]);
            add(&mut row, &base[range.clone()]);
            let chosen = row[answer];
            let log_sum = softmax_in_place(&mut row);
            loss += weight * (log_sum - chosen);
            let out = &mut gradient[range];
            add_scaled(out, weight, &row);
            out[answer] -= weight;
        }
    }
    loss
}

fn log_sum_exp(row: &[f64]) -> f64 {
    let top = largest(row);
    top + row.iter().map(|x| (x - top).exp()).sum::<f64>().ln()
}

impl MinimaxModel {
    /// Number of parameters of a table.
    fn parameters(self, classes: usize) -> usize {
        match self {
            Self::Categorical => classes * classes,
            Self::Ordinal => 4 * (classes - 1),
        }
    }

    /// The four parameters of split `s` (1 ..) by side of truth and answer: `[truth >= s][answer >= s]`.
    fn place(split: usize, truth: usize, answer: usize) -> usize {
        4 * (split - 1) + 2 * usize::from(truth >= split) + usize::from(answer >= split)
    }

    /// The table of these parameters.
    fn expand(self, theta: &[f64], classes: usize, table: &mut [f64]) {
        if self == Self::Categorical {
            table.copy_from_slice(theta);
            return;
        }
        for (cell, value) in table.iter_mut().enumerate() {
            let (truth, answer) = (cell / classes, cell % classes);
            let parameter = |split| theta[Self::place(split, truth, answer)];
            *value = (1..classes).map(parameter).sum();
        }
    }

    /// The gradient in the parameters from that in the table.
    fn reduce(self, table: &[f64], classes: usize, gradient: &mut [f64]) {
        if self == Self::Categorical {
            gradient.copy_from_slice(table);
            return;
        }
        gradient.fill(0.0);
        for (cell, value) in table.iter().enumerate() {
            for split in 1..classes {
                gradient[Self::place(split, cell / classes, cell % classes)] += value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorate::methods::vote_fractions;
    use quorate_testkit::toys::{assert_close, toy_a, toy_b};

    #[test]
    fn gradients_of_toy_b_at_zero() {
        let annotations = toy_b();
        let votes = vote_fractions(&annotations);
        for (worker, expected) in [
            (0, [-0.825, 0.825, 0.825, -0.825]),
            (1, [-1.075, 1.075, 0.075, -0.075]),
            (4, [0.35, -0.35, 0.15, -0.15]),
        ] {
            let mut gradient = [0.0; 4];
            let answers = annotations
                .by_worker()
                .labels(worker)
                .map(|(task, answer)| Answer {
                    base: &[0.0; 4],
                    weights: votes.row(task),
                    answer,
                });
            table_loss(2, answers, &[0.0; 4], &mut gradient);
            assert_close(&gradient, &expected, 1e-12);
        }
    }

    #[test]
    fn one_round_of_toy_b_by_hand() {
        let annotations = toy_b();
        let mut state = State::new(
            &MinimaxEntropy::default(),
            &annotations,
            vote_fractions(&annotations),
        );
        assert_close(&[state.worker_penalty, state.task_penalty], &[1.0, 1.6], 1e-12);
        state.fit_workers(&annotations);
        state.fit_tasks(&annotations);
        // The printed digits beyond the third depend on the inner tolerance.
        assert_close(
            &state.workers[..4],
            &[0.287077, -0.287077, -0.272724, 0.272724],
            5e-4,
        );
        assert_close(
            &state.tasks[..4],
            &[-0.119212, 0.119212, -0.030419, 0.030419],
            5e-4,
        );
        assert_close(&[state.objective(&annotations)], &[-18.52489], 1e-4);
        state.update_posterior(&annotations);
        assert_close(&[state.objective(&annotations)], &[-18.38460], 2e-4);
        let ones: Vec<f64> = state.posterior.iter().skip(1).step_by(2).copied().collect();
        let expected = [
            0.643579, 0.772166, 0.779804, 0.590495, 0.385557, 0.236544, 0.241629, 0.292653,
        ];
        assert_close(&ones, &expected, 5e-4);
    }

    #[test]
    fn the_objective_does_not_fall() {
        for model in [MinimaxModel::Categorical, MinimaxModel::Ordinal] {
            let method = MinimaxEntropy {
                model,
                tol: 0.0,
                max_iter: 15,
                ..MinimaxEntropy::default()
            };
            let fit = method.fit(&toy_a(), &mut Context::new(0)).unwrap();
            assert!(
                fit.trace.windows(2).all(|pair| pair[1] >= pair[0] - 1e-9),
                "{:?}",
                fit.trace
            );
        }
    }

    #[test]
    fn ordinal_gradients_match_differences() {
        let (classes, form) = (3, MinimaxModel::Ordinal);
        let answers = [0, 2, 1].map(|answer| Answer {
            base: &[0.1; 9],
            weights: &[0.2, 0.5, 0.3],
            answer,
        });
        let theta: Vec<f64> = (0..8).map(|at| 0.1 * f64::from(at) - 0.3).collect();
        let loss = |theta: &[f64], gradient: &mut [f64]| {
            let (mut table, mut of_table) = ([0.0; 9], [0.0; 9]);
            form.expand(theta, classes, &mut table);
            let loss = table_loss(classes, answers.into_iter(), &table, &mut of_table);
            form.reduce(&of_table, classes, gradient);
            loss
        };
        let (mut gradient, mut unused) = ([0.0; 8], [0.0; 8]);
        loss(&theta, &mut gradient);
        for at in 0..8 {
            let mut shifted = |by: f64| {
                let mut theta = theta.clone();
                theta[at] += by;
                loss(&theta, &mut unused)
            };
            let slope = (shifted(1e-5) - shifted(-1e-5)) / 2e-5;
            assert!((slope - gradient[at]).abs() < 1e-8, "{slope} {}", gradient[at]);
        }
    }
}
