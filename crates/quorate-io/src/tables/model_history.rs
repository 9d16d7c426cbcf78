//! A model file as the history of its workers: what it rests on, carried from one batch of data to the next.

use quorate::Fit;
use quorate::annotations::Names;
use quorate::internal::model::ConsensusSummary;
use quorate::internal::run::{History, LabelFacts};
use quorate::methods::{Method, Values};
use quorate::model::{AnswerCounts, Priors};

use super::model::{ModelFile, ModelWorker};
use crate::error::Result;

impl ModelWorker {
    /// Expected number of times that the worker gave `answer` to a task of class `truth`.
    fn count(&self, answer: usize, truth: usize, prior: &[f64]) -> f64 {
        match &self.counts {
            Some(counts) => counts[answer][truth],
            None => self.labels as f64 * prior[truth] * self.confusion[answer][truth],
        }
    }
}

impl ModelFile {
    /// The same model with the counts that it rests on, and with the workers of an earlier model that are not
    /// in this one, so that what is known of them is not lost.
    ///
    /// # Panics
    /// If the counts are of another number of workers or classes.
    pub fn resting_on(mut self, counts: &AnswerCounts, earlier: Option<&Self>) -> Self {
        assert_eq!(
            counts.worker_count(),
            self.workers.len(),
            "the counts are of this model"
        );
        let classes = self.classes.len();
        for (m, worker) in self.workers.iter_mut().enumerate() {
            worker.counts = Some(
                counts
                    .worker(m)
                    .chunks_exact(classes)
                    .map(<[f64]>::to_vec)
                    .collect(),
            );
            worker.labels = counts.worker(m).iter().sum::<f64>().round() as u64;
        }
        let Some(earlier) = earlier else { return self };
        let known: Names = self.workers.iter().map(|worker| worker.id.as_str()).collect();
        for worker in earlier
            .workers
            .iter()
            .filter(|worker| known.find(&worker.id).is_none())
        {
            if let Some(moved) = earlier.reorder(worker, &self.classes) {
                self.workers.push(moved);
            }
        }
        self
    }

    /// A worker of this model over other classes; a class that this model lacks gets a uniform column. None
    /// if one of this model's classes is not among them.
    fn reorder(&self, worker: &ModelWorker, classes: &[String]) -> Option<ModelWorker> {
        let place = |class: &String| self.classes.iter().position(|own| own == class);
        if self.classes.iter().any(|class| !classes.contains(class)) {
            return None;
        }
        let order: Vec<Option<usize>> = classes.iter().map(place).collect();
        let cells = |cell: &dyn Fn(Option<usize>, Option<usize>) -> f64| {
            let row = |a: &Option<usize>| order.iter().map(|k| cell(*a, *k)).collect();
            order.iter().map(row).collect::<Vec<Vec<f64>>>()
        };
        Some(ModelWorker {
            id: worker.id.clone(),
            labels: worker.labels,
            confusion: cells(&|a, k| match (a, k) {
                (Some(a), Some(k)) => worker.confusion[a][k],
                (None, Some(_)) => 0.0,
                (_, None) => 1.0 / classes.len() as f64,
            }),
            counts: Some(cells(&|a, k| match (a, k) {
                (Some(a), Some(k)) => worker.count(a, k, &self.prior),
                _ => 0.0,
            })),
        })
    }
}

/// Where a model is from, and what was known before it was fitted.
#[derive(Debug, Clone)]
pub struct ModelOrigin {
    /// The method.
    pub method: &'static Method,
    /// Parameters that were given.
    pub parameters: Vec<(String, String)>,
    /// The seed.
    pub seed: u64,
    /// What was expected of classes and workers.
    pub priors: Priors,
    /// The model that the history of the workers is from.
    pub earlier: Option<ModelFile>,
}

impl ModelOrigin {
    /// The file of a fit's model, with the answers that it rests on, if it has one. `summary` is that of the
    /// fit, with its counts.
    pub fn model_file<C>(
        &self,
        fit: &Fit<C>,
        summary: &ConsensusSummary,
        labels: LabelFacts<'_>,
        fingerprint: u64,
    ) -> Result<Option<ModelFile>> {
        let (Some(model), Some(counts)) = (&fit.model, &summary.counts) else {
            return Ok(None);
        };
        let values = Values::with(self.method.parameters, &self.parameters)?;
        let values = values
            .iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let given = |worker: usize| summary.worker_labels[worker];
        let file = ModelFile::of(labels.workers, labels.classes, given, fingerprint, model);
        let mut counts = counts.clone();
        if let Some(history) = &self.priors.workers {
            counts.merge(history);
        }
        let file = file.fitted_by(self.method.name, values, self.seed);
        Ok(Some(file.resting_on(&counts, self.earlier.as_ref())))
    }
}

impl History for ModelFile {
    fn classes(&self) -> Vec<&str> {
        self.classes.iter().map(String::as_str).collect()
    }

    /// Classes are matched by name.
    fn answers(&self, workers: &Names, classes: &Names, weight: f64) -> (AnswerCounts, usize) {
        let mut counts = AnswerCounts::zero(workers.len(), classes.len());
        let codes: Vec<Option<u32>> = self.classes.iter().map(|class| classes.find(class)).collect();
        let mut known = 0;
        for worker in &self.workers {
            let Some(m) = workers.find(&worker.id) else {
                continue;
            };
            known += 1;
            for (a, answer) in codes.iter().enumerate() {
                for (k, truth) in codes.iter().enumerate() {
                    if let (Some(answer), Some(truth)) = (answer, truth) {
                        let count = weight * worker.count(a, k, &self.prior);
                        counts.add(m as usize, *answer as usize, *truth as usize, count);
                    }
                }
            }
        }
        (counts, known)
    }
}
