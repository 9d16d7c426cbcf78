//! One run for every face: the program, Python and a cluster call the same steps.
//!
//! ```text
//! labels --join_update--> labels of a model and new ones         (where a model is brought up to date)
//!        --Knowledge::add_to--> labels with truths, and priors
//!        --Run::over--> Outcome: the fit with its confidence, intervals
//! ```
//!
//! Labels may be a table in memory, whose posteriors are kept, or blocks on disk or on a cluster, whose
//! posteriors follow from a rule: [`RunOver`] is what a run asks of them.

mod knowledge;
mod update;

use std::sync::Arc;
use std::time::Instant;

pub use knowledge::{ClassShares, History, Knowledge, Known, LabelFacts, LabelTable, Truths};
pub use update::{Joined, UPDATABLE, join_update, updating};

use crate::annotations::Annotations;
use crate::blocks::{Blocks, gather};
use crate::calibrate::{
    CheckedLabels, ENOUGH_TRUTHS, ErrorBasis, TYPICAL_SHARE, calibrate, calibrate_fit, estimate_share,
};
use crate::context::Context;
use crate::error::Result;
use crate::intervals::{Intervals, ModelIntervals};
use crate::methods::{Aggregate, Fit};
use crate::model::{Consensus, ConsensusSummary, Rule, count_answers};

/// What is asked of a run.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// The method with its parameters.
    pub method: &'a dyn Aggregate,
    /// Whether the confidence is lowered to what it is worth if some tasks mislead many workers at once.
    pub calibrate: bool,
    /// Level of the intervals, if they are asked for.
    pub intervals: Option<f64>,
}

/// What a run comes to. `C` is where the posteriors are.
#[derive(Debug, Clone)]
pub struct Outcome<C = Consensus> {
    /// The fit.
    pub fit: Fit<C>,
    /// Intervals, if they were asked for and there is a model.
    pub intervals: Option<ModelIntervals>,
    /// Seconds that the fit took.
    pub seconds: f64,
}

impl Run<'_> {
    /// Fits, calibrates, checks the labels against known truths and draws intervals.
    pub fn over<C>(&self, labels: &mut impl RunOver<C>, context: &mut Context) -> Result<Outcome<C>> {
        let started = Instant::now();
        let mut fit = labels.fit(self.method, context)?;
        if self.calibrate && !self.method.method().calibrates_itself {
            fit = calibrated(fit, labels, context)?;
        }
        if let Some(checked) = labels.check(self.method, context)? {
            fit.error_basis = ErrorBasis::Checked(checked);
        }
        let seconds = started.elapsed().as_secs_f64();
        let intervals = match self.intervals {
            Some(level) => labels.intervals(&fit, level, context)?,
            None => None,
        };
        Ok(Outcome {
            fit,
            intervals,
            seconds,
        })
    }
}

impl<C> Outcome<C> {
    /// The same outcome with the posteriors put into another form.
    pub fn map_consensus<D>(self, form: impl FnOnce(C) -> D) -> Outcome<D> {
        Outcome {
            fit: self.fit.map_consensus(form),
            intervals: self.intervals,
            seconds: self.seconds,
        }
    }
}

/// The fit with a calibrated confidence, and with a word about it.
fn calibrated<C>(mut fit: Fit<C>, labels: &mut impl RunOver<C>, context: &mut Context) -> Result<Fit<C>> {
    if fit.model.is_none() {
        let words = "the confidence stays as it is: to calibrate it takes a method that estimates a model";
        fit.warnings.push(words.to_owned());
        return Ok(fit);
    }
    let (mut fit, share) = labels.calibrate(fit, context)?;
    fit.notes.push(format!(
        "share of tasks that mislead workers together: {share:.2}"
    ));
    Ok(fit)
}

/// Labels that a run goes over. `C` is where their posteriors are: a [`Consensus`] of all tasks, or a [`Rule`]
/// that gives them block by block.
pub trait RunOver<C> {
    /// Fits a method.
    fn fit(&mut self, method: &dyn Aggregate, context: &mut Context) -> Result<Fit<C>>;

    /// Lowers the confidence of a fit with a model, and says for which share of misleading tasks.
    fn calibrate(&mut self, fit: Fit<C>, context: &mut Context) -> Result<(Fit<C>, f64)>;

    /// Labels of tasks whose truth is known, made without it; none where too few are known, or where labels stay on
    /// disk or on a cluster.
    fn check(&mut self, method: &dyn Aggregate, context: &mut Context) -> Result<Option<CheckedLabels>>;

    /// Intervals of this level around a fit, if it has a model.
    fn intervals(
        &mut self,
        fit: &Fit<C>,
        level: f64,
        context: &mut Context,
    ) -> Result<Option<ModelIntervals>>;

    /// Facts about the consensus; `counts`: the expected answers of the workers with them.
    fn summarise(&mut self, fit: &Fit<C>, counts: bool, context: &mut Context) -> Result<ConsensusSummary>;
}

impl RunOver<Consensus> for Arc<Annotations> {
    fn fit(&mut self, method: &dyn Aggregate, context: &mut Context) -> Result<Fit> {
        method.fit(self, context)
    }

    fn calibrate(&mut self, fit: Fit, context: &mut Context) -> Result<(Fit, f64)> {
        let Some(model) = fit.model.clone() else {
            return Ok((fit, 0.0));
        };
        let evidence = count_answers(self, &fit.consensus).labels_per_truth();
        let share = estimate_share(self, &model, &evidence, TYPICAL_SHARE);
        let lower = |consensus| context.run(|| calibrate(self, &model, consensus, share));
        Ok((fit.map_consensus(lower), share))
    }

    fn check(&mut self, method: &dyn Aggregate, context: &mut Context) -> Result<Option<CheckedLabels>> {
        check_labels(self, method, context)
    }

    fn intervals(&mut self, fit: &Fit, level: f64, context: &mut Context) -> Result<Option<ModelIntervals>> {
        let settings = at_level(level);
        let draw = |model| settings.run(self, model, &fit.consensus, context);
        fit.model.as_ref().map(draw).transpose()
    }

    fn summarise(&mut self, fit: &Fit, counts: bool, _: &mut Context) -> Result<ConsensusSummary> {
        Ok(ConsensusSummary::of(self, &fit.consensus, counts))
    }
}

/// Two fits, each with every other truth: half of them are enough to learn from, and the others to check.
fn check_labels(
    table: &Annotations,
    method: &dyn Aggregate,
    context: &mut Context,
) -> Result<Option<CheckedLabels>> {
    let mut known: Vec<(u32, u16)> = table.known_truths().collect();
    known.retain(|&(task, _)| !table.task_slices(task as usize).0.is_empty());
    if (known.len() as u64) < ENOUGH_TRUTHS {
        return Ok(None);
    }
    // By what is known of a task alone: neither the order of rows nor names, which tables on disk do not have.
    let content = |task: u32| table.task_slices(task as usize);
    known.sort_by(|a, b| content(a.0).cmp(&content(b.0)).then(a.1.cmp(&b.1)));
    let mut checked = CheckedLabels::default();
    for fold in 0..2 {
        let taught = known.iter().copied().skip(fold).step_by(2);
        let consensus = method.fit(&table.clone().with_gold(taught)?, context)?.consensus;
        for &(task, truth) in known.iter().skip(1 - fold).step_by(2) {
            checked.known += 1;
            checked.wrong += u64::from(consensus.label(task as usize) != usize::from(truth));
        }
    }
    Ok(Some(checked))
}

impl<B: Blocks> RunOver<Rule> for B {
    fn fit(&mut self, method: &dyn Aggregate, context: &mut Context) -> Result<Fit<Rule>> {
        method.fit_blocks(self, context)
    }

    fn calibrate(&mut self, fit: Fit<Rule>, context: &mut Context) -> Result<(Fit<Rule>, f64)> {
        calibrate_fit(fit, self, context)
    }

    fn check(&mut self, method: &dyn Aggregate, context: &mut Context) -> Result<Option<CheckedLabels>> {
        if !self.has_gold() || !method.method().streams {
            return Ok(None);
        }
        match gather(self, context)? {
            Some(table) => check_labels(&table, method, context),
            None => Ok(None),
        }
    }

    fn intervals(
        &mut self,
        fit: &Fit<Rule>,
        level: f64,
        context: &mut Context,
    ) -> Result<Option<ModelIntervals>> {
        at_level(level).run_blocks(self, fit, context)
    }

    fn summarise(
        &mut self,
        fit: &Fit<Rule>,
        counts: bool,
        context: &mut Context,
    ) -> Result<ConsensusSummary> {
        ConsensusSummary::of_fit(fit, self, counts, context)
    }
}

fn at_level(level: f64) -> Intervals {
    Intervals {
        level,
        ..Intervals::default()
    }
}
