//! The trials: annotators trained, items labelled, methods fitted.

use anyhow::Result;
use quorate::Annotations;
use quorate_annotators::{ANNOTATORS, DataSet, Panel, by_parts, by_share, draw_groups};

use super::{Column, Experiment, Training, Who};
use crate::bench::Bench;
use crate::contender::{DES_SYMNMF, DES_SYMNMF_EM};

/// What came out.
pub(super) struct Runs {
    /// `[method][column]`.
    pub(super) methods: Vec<Vec<Measured>>,
    /// Share of right answers `[annotator][trial]`, in percent.
    pub(super) accuracies: Vec<Vec<f64>>,
    /// How many classes an annotator ever answers with `[annotator][trial]`.
    pub(super) answered: Vec<Vec<f64>>,
    /// Missing blocks `[column]`, in percent.
    pub(super) missing: Vec<Missing>,
}

/// One method in one column.
#[derive(Default)]
pub(super) struct Measured {
    /// Error of each trial, in percent.
    pub(super) errors: Vec<f64>,
    /// Time of each fit.
    pub(super) seconds: Vec<f64>,
    /// Why it could not be used in a trial.
    pub(super) failure: Option<String>,
}

/// Missing blocks in percent of all, trial by trial.
#[derive(Default)]
pub(super) struct Missing {
    pub(super) before: Vec<f64>,
    pub(super) after: Vec<f64>,
}

/// Labels of a column, with what `des-symnmf` is told.
struct DrawnLabels {
    annotations: Annotations,
    designated: Option<String>,
}

pub(super) fn run(
    bench: &Bench<'_>,
    experiment: &Experiment,
    data: &DataSet,
    training: Training,
    from: f64,
    to: f64,
) -> Result<Runs> {
    let columns = experiment.columns.len();
    let methods = experiment.contenders.iter();
    let mut runs = Runs {
        methods: methods
            .map(|_| (0..columns).map(|_| Measured::default()).collect())
            .collect(),
        accuracies: vec![Vec::new(); ANNOTATORS.len()],
        answered: vec![Vec::new(); ANNOTATORS.len()],
        missing: (0..columns).map(|_| Missing::default()).collect(),
    };
    let trials = bench.trials();
    let pieces = (trials * (columns + 1)) as f64;
    for trial in 0..trials {
        let done = |place: usize| {
            let pieces_done = (trial * (columns + 1) + place) as f64;
            bench.done(from + (to - from) * pieces_done / pieces)
        };
        done(0)?;
        let seed = bench.seed(trial);
        let panel = bench
            .context(trial)?
            .run(|| Panel::train(data, training.cut(experiment.set), seed))?;
        for (all, own) in runs.accuracies.iter_mut().zip(panel.accuracies()) {
            all.push(100.0 * own);
        }
        for (all, own) in runs.answered.iter_mut().zip(panel.classes_answered()) {
            all.push(own as f64);
        }
        let truth: Vec<Option<usize>> = panel.truth.iter().map(|&class| Some(class.into())).collect();
        for (place, column) in experiment.columns.iter().enumerate() {
            done(place + 1)?;
            let labels = column.labels(&panel, seed)?;
            runs.fit_all(bench, experiment, place, trial, &labels, &truth)?;
            runs.missing[place].add(bench, trial, &labels.annotations)?;
        }
    }
    Ok(runs)
}

impl Column {
    /// The labels of this column.
    fn labels(&self, panel: &Panel, seed: u64) -> Result<DrawnLabels> {
        match self.who {
            Who::Shares(shares) => {
                let labelled = by_share(panel, shares, seed)?;
                let names = labelled.annotations.workers();
                let designated = labelled.designated.map(|worker| names.get(worker)).join(",");
                Ok(DrawnLabels {
                    designated: shares.designated.map(|_| designated),
                    annotations: labelled.annotations,
                })
            }
            Who::Parts { missing, linked } => {
                let groups = draw_groups(panel.answers.len(), missing, linked, seed);
                Ok(DrawnLabels {
                    annotations: by_parts(panel, &groups, seed)?,
                    designated: None,
                })
            }
        }
    }
}

impl Runs {
    fn fit_all(
        &mut self,
        bench: &Bench<'_>,
        experiment: &Experiment,
        column: usize,
        trial: usize,
        labels: &DrawnLabels,
        truth: &[Option<usize>],
    ) -> Result<()> {
        for (contender, columns) in experiment.contenders.iter().zip(&mut self.methods) {
            let told = [DES_SYMNMF, DES_SYMNMF_EM].contains(contender);
            let pair = labels.designated.iter().filter(|_| told);
            let more: Vec<(&str, &str)> = pair.map(|pair| ("designated", pair.as_str())).collect();
            let measured = &mut columns[column];
            let mut context = bench.context(trial)?;
            match contender.fit_or_reason(&more, &labels.annotations, &mut context)? {
                Ok((fit, seconds)) => {
                    measured.errors.push(contender.error(&fit, truth)?);
                    measured.seconds.push(seconds);
                }
                Err(reason) => measured.failure = Some(reason),
            }
        }
        Ok(())
    }
}

impl Missing {
    fn add(&mut self, bench: &Bench<'_>, trial: usize, annotations: &Annotations) -> Result<()> {
        let (_, missing) = bench.impute(trial, annotations)?;
        self.before.push(100.0 * missing.before);
        self.after.push(100.0 * missing.after);
        Ok(())
    }
}
