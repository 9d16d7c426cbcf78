//! The table as the sparse form sees it, and the M-step.

use std::ops::Range;

use super::SparseEm;
use super::candidates::Candidates;
use super::cells::{BYTES_A_TOUCH, CellCounts, Cells, touches};
use super::strengths::Strengths;
use super::tally::{SparseTally, Sums, rest_scale};
use crate::linalg::small::{add_scaled, normalise};
use crate::model::{ACCURACY_MARGIN, ClassPrior, Consensus, VOTES_WORTH};
use crate::{Annotations, Context, Error, Result};

/// Most candidates of a task where cells are kept: a class that few of very many workers named has no chance.
const MAX_CANDIDATES: usize = 64;

/// With cells: pseudo-labels that draw a worker's accuracy to that of the crowd.
const ACCURACY_STRENGTH: f64 = 1.0;

/// The table with what does not change between rounds.
pub(super) struct SparseProblem<'a> {
    pub(super) settings: SparseEm,
    pub(super) annotations: &'a Annotations,
    pub(super) candidates: Candidates,
    pub(super) cells: Option<Cells>,
    labels: Vec<f64>,
    class_prior: Option<ClassPrior>,
}

/// Parameters of the model, as counts where a task's own part can be taken out.
pub(super) struct SparseWeights {
    pub(super) prior: Vec<f64>,
    /// Expected right answers of each worker.
    right: Vec<f64>,
    /// Labels of each worker that `right` is of.
    given: Vec<f64>,
    /// The accuracy that workers are drawn to, and by how many labels.
    drawn_to: f64,
    drawn_by: f64,
    /// What the seen cells hold; none without cells.
    pub(super) counts: Option<CellCounts>,
    pub(super) strengths: Strengths,
    /// Whether the posteriors that a sweep starts from are in these counts.
    pub(super) own_counted: bool,
}

impl SparseWeights {
    /// Accuracy of a worker without some labels, of which so many are right.
    pub(super) fn accuracy(&self, worker: usize, right: f64, labels: f64) -> f64 {
        let total = self.given[worker] - labels + self.drawn_by;
        let share = (self.right[worker] - right + self.drawn_by * self.drawn_to) / total;
        let share = if total > 0.0 { share } else { self.drawn_to };
        share.clamp(ACCURACY_MARGIN, 1.0 - ACCURACY_MARGIN)
    }
}

impl<'a> SparseProblem<'a> {
    pub(super) fn new(settings: SparseEm, annotations: &'a Annotations, context: &Context) -> Result<Self> {
        let priors = context.priors();
        priors.check(annotations.worker_count(), annotations.class_count())?;
        let limit = settings.cells.map_or(usize::MAX, |_| MAX_CANDIDATES);
        let candidates = Candidates::of(annotations, limit);
        let touched = settings.cells.map_or(0, |_| touches(annotations, &candidates));
        let (tasks, classes) = (annotations.task_count() as u64, annotations.class_count() as u64);
        context.reserve(
            format!("the probabilities of {classes} classes for each of {tasks} tasks, and the answers seen"),
            8 * tasks * classes + touched * BYTES_A_TOUCH,
            "split the tasks into several files or merge rare classes",
        )?;
        // Places and touches are numbered with 32 bits.
        if touched.max(candidates.len() as u64) > u64::from(u32::MAX) {
            let what = format!("{touched} pairs of a label and a class that it may stand for");
            let limit = u64::from(u32::MAX) * BYTES_A_TOUCH;
            let hint = "split the tasks into several files, or use one-coin";
            return Err(Error::too_large(what, touched * BYTES_A_TOUCH, limit, hint));
        }
        Ok(Self {
            cells: settings.cells.map(|_| Cells::new(annotations, &candidates)),
            labels: annotations
                .labels_per_worker()
                .into_iter()
                .map(f64::from)
                .collect(),
            class_prior: priors.classes.clone(),
            settings,
            annotations,
            candidates,
        })
    }

    pub(super) fn row(&self, task: usize) -> Range<usize> {
        self.candidates.starts()[task]..self.candidates.starts()[task + 1]
    }

    pub(super) fn even_prior(&self) -> Vec<f64> {
        let classes = self.annotations.class_count();
        vec![1.0 / classes as f64; classes]
    }

    /// Vote shares; nothing for classes that nobody named.
    pub(super) fn votes(&self) -> Vec<f64> {
        let mut rows = vec![0.0; self.candidates.len()];
        for task in 0..self.annotations.task_count() {
            let row = &mut rows[self.row(task)];
            let named = self.candidates.of_task(task);
            if self.annotations.gold(task).is_some() {
                row[0] = 1.0;
                continue;
            }
            for (_, answer) in self.annotations.labels_of_task(task) {
                // A class beyond the candidates counts for the rest.
                let place = named.binary_search(&(answer as u16)).unwrap_or(named.len());
                row[place] += 1.0;
            }
            if row.iter().sum::<f64>() > 0.0 {
                normalise(row)
            } else {
                row[named.len()] = 1.0
            }
        }
        rows
    }

    /// Right answers and masses under these posteriors, over the tasks that `counts` accepts.
    pub(super) fn count(&self, rows: &[f64], prior: &[f64], counts: impl Fn(usize) -> bool) -> Sums {
        let mut tally = SparseTally::new(self.annotations);
        let counted = (0..self.annotations.task_count()).filter(|&task| counts(task));
        counted.for_each(|task| tally.add(self, task, &rows[self.row(task)], prior));
        tally.finish(prior)
    }

    /// The first weights where truths are known: counted on the known tasks, with the votes behind them.
    pub(super) fn start_from_gold(&self, rows: &[f64], votes: &Sums, strengths: Strengths) -> SparseWeights {
        let known = |task| self.annotations.gold(task).is_some();
        let by_votes = self.maximise(rows, votes.clone(), strengths);
        let mut given = vec![VOTES_WORTH; self.labels.len()];
        let mut masked = vec![0.0; rows.len()];
        for task in (0..self.annotations.task_count()).filter(|&task| known(task)) {
            masked[self.row(task)].copy_from_slice(&rows[self.row(task)]);
            for (worker, _) in self.annotations.labels_of_task(task) {
                given[worker] += 1.0;
            }
        }
        let mut right = self.count(rows, &self.even_prior(), known).right;
        add_scaled(&mut right, VOTES_WORTH, &self.accuracies(&by_votes));
        SparseWeights {
            counts: self.cells.as_ref().map(|cells| cells.count(&masked)),
            right,
            given,
            drawn_by: 0.0,
            own_counted: false,
            ..by_votes
        }
    }

    /// M-step.
    pub(super) fn maximise(&self, rows: &[f64], sums: Sums, strengths: Strengths) -> SparseWeights {
        let total: f64 = self.labels.iter().sum();
        let share = sums.right.iter().sum::<f64>() / total;
        SparseWeights {
            prior: self.prior(&sums.mass),
            drawn_to: if total > 0.0 { share } else { 1.0 },
            drawn_by: self.cells.as_ref().map_or(0.0, |_| ACCURACY_STRENGTH),
            right: sums.right,
            given: self.labels.clone(),
            counts: self.cells.as_ref().map(|cells| cells.count(rows)),
            strengths,
            own_counted: self.cells.is_some(),
        }
    }

    /// How often each worker is right.
    pub(super) fn accuracies(&self, weights: &SparseWeights) -> Vec<f64> {
        let accuracy = |worker| weights.accuracy(worker, 0.0, 0.0);
        (0..self.labels.len()).map(accuracy).collect()
    }

    fn prior(&self, mass: &[f64]) -> Vec<f64> {
        let mut mass = mass.to_vec();
        if let Some(prior) = &self.class_prior {
            let Some(weight) = prior.weight() else {
                return prior.shares().to_vec();
            };
            add_scaled(&mut mass, weight, prior.shares());
        }
        if self.settings.flat_prior || mass.iter().sum::<f64>() <= 0.0 {
            return self.even_prior();
        }
        normalise(&mut mass);
        mass
    }

    /// Probability of a particular wrong answer.
    pub(super) fn wrong(&self, accuracy: f64) -> f64 {
        (1.0 - accuracy) / self.others()
    }

    /// Number of wrong answers to a task.
    pub(super) fn others(&self) -> f64 {
        (self.annotations.class_count().max(2) - 1) as f64
    }

    /// The posteriors over all classes.
    pub(super) fn spread(&self, rows: &[f64], prior: &[f64]) -> Consensus {
        let classes = self.annotations.class_count();
        let mut dense = vec![0.0; self.annotations.task_count() * classes];
        for (task, full) in dense.chunks_exact_mut(classes).enumerate() {
            let named = self.candidates.of_task(task);
            let row = &rows[self.row(task)];
            let scale = rest_scale(named, row, prior);
            if scale > 0.0 {
                add_scaled(full, scale, prior);
            }
            for (&class, &q) in named.iter().zip(row) {
                full[class as usize] = q;
            }
        }
        Consensus::new(classes, dense)
    }
}
