//! `auto`: `task-effects` for half of the answer; votes, `fast-ds` and `dawid-skene` for the rest.
//!
//! ```text
//! q_n(k) = (4 task-effects + 2 majority-vote + fast-ds + dawid-skene) / 8
//! ```
//!
//! No single model wins everywhere, and the likelihood does not tell which one is nearest to the truth.
//! `task-effects` is the best of them by far where some tasks mislead many workers at once. All others take
//! workers for independent and err together there, so together they must not outvote it. The others are there
//! for sparse labels and for the confidence: where the members agree, the average is as sure as they are;
//! where they differ, it is as unsure as one should be.
//!
//! | member | weight | what it assumes |
//! |---|---|---|
//! | `task-effects` | 4 | workers and tasks differ |
//! | `majority-vote` | 2 | all workers are alike |
//! | `fast-ds` | 1 | a worker has a confusion matrix; every task has one label at every step |
//! | `dawid-skene`, smoothed | 1 | a worker has a confusion matrix of its own |
//!
//! The model returned is counted against the average, each worker drawn to the crowd by one label a column:
//! it is the model that goes with these labels. The confidence is then lowered to what it is worth if some
//! tasks mislead more than the members allow for ([`calibrate`](crate::calibrate)). A member that would need
//! too much memory is left out, with a warning. Workers who copy each other count once (`shared::copying`),
//! unless labels come in blocks. With more than 32 classes and fewer labels than the workers' matrices have
//! cells, votes are averaged with the sparse form of `dawid-skene` alone (with `one-coin`, if labels come in
//! blocks), and with fewer than five tasks a class their shares are not estimated. Costs the sum of its
//! members, linear in labels. Design and ablation: `docs/auto.md`.

use super::pooled_ds::match_model;
use super::shared::copying::{count_once, find_copies};
use super::task_effects::see_variation;
use super::{
    Aggregate, BlockFit, DawidSkeneEm, FastDawidSkene, Fit, MajorityVote, OneCoin, PriorUse, TaskEffects,
    learn_in,
};
use crate::annotations::Annotations;
use crate::blocks::{Passes, Stage};
use crate::calibrate::{
    ErrorBasis, TaskVariation, TryPowers, calibrate_rows, count_consensus, expected_doubt, learn_share,
    sharpen_rows,
};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::model::{RuleSource, reserve_passes};
use crate::{declare_method, declare_words};

declare_method! {
    /// The average of several models.
    pub struct Auto {
        /// largest number of rounds of each member
        max_iter: usize in 1..=1_000_000 = 200,
        /// share of tasks that mislead workers beyond what the members allow for, for the confidence; 0: take
        /// the average as it is
        misled: f64 in 0..=0.9 = 0.3,
        /// what the labels of workers who copy each other count for: one label of each group on a task, or
        /// all of them
        copies: Copies = Once,
    }
    name: "auto",
    aliases: ["average", "ensemble"],
    summary: "task-effects averaged with votes, fast-ds and dawid-skene: safe to leave on",
    description: "Half of the answer is task-effects, in which tasks can mislead many workers at once; a quarter is \
                  the votes, the rest fast-ds and smoothed dawid-skene. No model is right for every crowd and the data cannot say \
                  which one is; this average is near the best of them almost everywhere and far from the worst. The \
                  confidence allows for tasks that mislead; with gold it learns how many there are.",
    citation: "This project; the members as cited there",
    facts: [returns_model, learns_from_gold, uses_priors, streams, calibrates_itself],
}

declare_words! {
    /// What the labels of workers who copy each other count for.
    pub enum Copies {
        /// One label of each group on a task.
        Once = "once",
        /// All of them.
        All = "all",
    }
}

/// What is said where the model does not fit into memory, and with it what the confidence is calibrated by.
const UNCALIBRATED: &str = "the confidence is not lowered for tasks that mislead many workers, and there is no model: \
                            confusion matrices of all workers would need more memory than the limit; with a higher limit \
                            the estimated error can be higher, too";

/// Pseudo-labels a column that draw the returned model to the crowd.
pub(super) const MODEL_STRENGTH: f64 = 1.0;

/// Members stop when the mean change of a posterior falls below this: an average does not need the last
/// digits.
const TOL: f64 = 1e-5;

/// Pseudo-count in every cell of the members with a matrix for each worker.
const SMOOTHING: f64 = 0.1;

/// A member of the average.
struct Member {
    name: &'static str,
    weight: f64,
    method: Box<dyn Aggregate>,
}

impl Auto {
    /// The members for labels of which some share a task; where none do, nothing can be learnt of workers,
    /// and the two that need no rounds are enough.
    fn members_for(&self, compared: bool) -> Vec<Member> {
        let [effects, votes, fast, matrices] = self.members();
        if compared {
            vec![effects, votes, fast, matrices]
        } else {
            let method = Box::new(TaskEffects::default().max_iter(1));
            vec![Member { method, ..effects }, votes]
        }
    }

    /// The members. All but the first assume independent workers and err together where that is wrong: half
    /// of the weight is the least that keeps them from outvoting it.
    fn members(&self) -> [Member; 4] {
        let member = |name, weight, method| Member { name, weight, method };
        let (effects, votes) = (TaskEffects::default(), MajorityVote::default());
        let fast = FastDawidSkene::default().max_iter(self.max_iter);
        [
            member("task-effects", 4.0, Box::new(effects)),
            member("majority-vote", 2.0, Box::new(votes)),
            member("fast-ds", 1.0, Box::new(fast)),
            member("dawid-skene", 1.0, Box::new(self.smoothed())),
        ]
    }

    /// The member with a confusion matrix for each worker.
    fn smoothed(&self) -> DawidSkeneEm {
        DawidSkeneEm {
            max_iter: self.max_iter,
            tol: TOL,
            smoothing: SMOOTHING,
            ..DawidSkeneEm::default()
        }
    }

    /// The average of the members, which the passes then know for posteriors; after the `notes` on the labels
    /// come those of the members.
    fn average(
        &self,
        notes: Vec<String>,
        passes: &mut Passes<'_>,
        context: &mut Context,
    ) -> Result<(BlockFit, Option<TaskVariation>)> {
        let compared = can_compare(passes, context);
        let mut ballot = Ballot {
            notes,
            ..Ballot::default()
        };
        let mut shown = None;
        if lacks_labels(passes, context) {
            self.ask_few(&mut ballot, passes, context)?;
        } else {
            if compared && self.misled > 0.0 {
                shown = see_variation(passes, context)?;
            }
            for member in self.members_for(compared) {
                ballot.ask(&member, passes, context)?;
            }
        }
        if !compared {
            // Said once, of the average.
            ballot.warnings.clear();
        }
        if !ballot.left_out.is_empty() {
            ballot.warnings.push(format!(
                "left out of the average, since they would need more memory than the limit: {}",
                ballot.left_out.join(", ")
            ));
        }
        let rule = Fit::direct(RuleSource::Average(ballot.fits).into());
        let agreed = passes.finish_average(rule.clone());
        let mut notes: Vec<String> = ballot
            .names
            .iter()
            .zip(agreed)
            .map(|(name, share)| {
                format!(
                    "{name} agrees with the average on {:.1} % of the tasks",
                    100.0 * share
                )
            })
            .collect();
        notes.append(&mut ballot.notes);
        let fit = Fit {
            task_difficulty: ballot.difficulty,
            iterations: ballot.iterations.max(1),
            warnings: ballot.warnings,
            notes,
            ..rule
        };
        Ok((fit, shown))
    }

    /// The members where dense matrices cannot be learnt: votes, and a model that gets the weight of all that is
    /// left out: `dawid-skene` with cells for the answers that were seen alone, or one accuracy for each worker
    /// where labels come in blocks, for which there is no sparse form.
    fn ask_few(&self, ballot: &mut Ballot, passes: &mut Passes<'_>, context: &mut Context) -> Result<()> {
        let [effects, votes, fast, matrices] = self.members();
        let (labels, classes) = (passes.label_count(), passes.class_count());
        let prior = class_prior(passes.task_count(), classes);
        ballot.ask(&votes, passes, context)?;
        let weight = effects.weight + fast.weight + matrices.weight;
        let sparse = DawidSkeneEm {
            max_iter: self.max_iter,
            tol: TOL,
            prior,
            ..DawidSkeneEm::default()
        };
        let mut left_out = vec![effects.name, fast.name];
        match passes.look_at_table(|table| sparse.fit_sparse(table, context)) {
            Some(fit) => {
                let fit = passes.take_fit(fit?);
                ballot.add(&Member { weight, ..matrices }, fit, passes);
            }
            None => {
                left_out.push(matrices.name);
                let one_coin = OneCoin {
                    max_iter: self.max_iter,
                    tol: TOL,
                    prior,
                };
                let coin = Member {
                    name: "one-coin",
                    weight,
                    method: Box::new(one_coin),
                };
                ballot.ask(&coin, passes, context)?;
            }
        }
        ballot
            .warnings
            .push(describe_left_out(&left_out, labels, classes));
        Ok(())
    }

    /// The model that goes with the average, and the average with a confidence that allows for misled tasks.
    fn match_and_calibrate(
        &self,
        mut fit: BlockFit,
        shown: Option<TaskVariation>,
        passes: &mut Passes<'_>,
        context: &mut Context,
    ) -> Result<BlockFit> {
        if reserve_passes(passes, context).is_err() {
            fit.warnings.push(UNCALIBRATED.to_owned());
            return Ok(fit);
        }
        let mut counts = count_consensus(passes, context)?;
        let priors = context.priors();
        priors.add_to(&mut counts);
        let model = fit
            .model
            .insert(priors.fix(match_model(&counts, MODEL_STRENGTH)))
            .clone();
        if self.misled > 0.0 {
            let mut evidence = counts.labels_per_truth();
            evidence.iter_mut().for_each(|labels| *labels += MODEL_STRENGTH);
            let share = learn_share(&model, &evidence, self.misled, passes, context)?;
            if passes.has_gold() && share > 0.0 {
                fit.notes.push(format!(
                    "share of tasks that mislead workers together, from gold: {share:.2} (expected {:.2})",
                    self.misled
                ));
            }
            fit = fit.calibrated(share);
            let (stage, classes) = (Stage::single("calibration"), passes.class_count());
            passes.complete(classes, fit.clone(), stage, context, |_, block, rows| {
                calibrate_rows(block, &model, rows, share);
            })?;
            // Nowhere else was the range of the error measured.
            if let Some(shown) = shown {
                fit.error_basis = ErrorBasis::Calibrated {
                    caution: shown.caution(),
                };
                fit = sharpen(fit, &shown, passes, context)?;
            }
        }
        Ok(fit)
    }
}

/// What the members found.
#[derive(Default)]
struct Ballot {
    names: Vec<&'static str>,
    /// Each with its weight.
    fits: Vec<(f64, BlockFit)>,
    /// Members that would need too much memory.
    left_out: Vec<&'static str>,
    iterations: usize,
    difficulty: Option<Vec<f64>>,
    warnings: Vec<String>,
    notes: Vec<String>,
}

impl Ballot {
    /// Fits a member and adds its answer.
    fn ask(&mut self, member: &Member, passes: &mut Passes<'_>, context: &mut Context) -> Result<()> {
        match learn_in(&*member.method, passes, context) {
            Ok(fit) => self.add(member, fit, passes),
            Err(Error::TooLarge { .. }) => self.left_out.push(member.name),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Adds an answer that the passes have for posteriors.
    fn add(&mut self, member: &Member, mut fit: BlockFit, passes: &mut Passes<'_>) {
        passes.add_to_average(member.weight);
        self.names.push(member.name);
        self.iterations = self.iterations.max(fit.iterations);
        self.difficulty = self.difficulty.take().or(fit.task_difficulty.take());
        self.notes.append(&mut fit.notes);
        // What one member says of the data holds for all.
        for warning in std::mem::take(&mut fit.warnings) {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
        self.fits.push((member.weight, fit));
    }
}

impl Aggregate for Auto {
    fn learn(&self, passes: &mut Passes<'_>, context: &mut Context) -> Result<BlockFit> {
        let (mut notes, mut copies) = (Vec::new(), Vec::new());
        let groups = match self.copies {
            Copies::Once => passes.look_at_table(|table| context.run(|| find_copies(table))),
            Copies::All => Some(Vec::new()),
        };
        if groups.is_none() {
            notes.push(
                "workers who copy each other were not looked for: that needs all labels in memory".to_owned(),
            );
        }
        let groups = groups.unwrap_or_default();
        let counted_once = |table: &Annotations| {
            copies.extend(groups.iter().map(|group| describe_copies(group, table)));
            (!groups.is_empty()).then(|| count_once(table, &groups))
        };
        let (mut fit, shown) = match passes.look_at_table(counted_once).flatten().transpose()? {
            Some(table) => passes.over_other_table(&table, |passes| self.average(notes, passes, context))?,
            None => self.average(notes, passes, context)?,
        };
        fit.warnings.splice(0..0, copies);
        self.match_and_calibrate(fit, shown, passes, context)
    }
}

/// The fit with posteriors as sure as they may be by what the labels show of the effects of tasks.
fn sharpen(
    mut fit: BlockFit,
    shown: &TaskVariation,
    passes: &mut Passes<'_>,
    context: &mut Context,
) -> Result<BlockFit> {
    let stage = Stage::single("calibration");
    let doubts = passes.run(&mut TryPowers {}, stage, context)?;
    let Some(raised) = doubts.mean() else {
        return Ok(fit);
    };
    let power = doubts.power_for(expected_doubt(shown, raised));
    fit = fit.sharpened(power);
    let classes = passes.class_count();
    passes.complete(classes, fit.clone(), stage, context, |_, block, rows| {
        sharpen_rows(block, rows, power);
    })?;
    Ok(fit)
}

/// Whether there is anything to learn of workers: tasks with two labels, known truths or expectations.
fn can_compare(passes: &Passes<'_>, context: &Context) -> bool {
    passes.label_count() > passes.task_count() || passes.has_gold() || !context.priors().is_empty()
}

/// With more classes than this `task-effects` has no task effects.
const MANY_CLASSES: usize = 32;

/// With fewer tasks a class than this the shares of the classes are not estimated: a class that a wrong label
/// names on another task would look twice as common as the right one.
const TASKS_A_CLASS: u64 = 5;

/// Whether there are many classes, and fewer labels than cells of the workers' matrices: a pseudo-count in
/// every cell of a column of a thousand would outweigh all labels of a worker.
fn lacks_labels(passes: &Passes<'_>, context: &Context) -> bool {
    let classes = passes.class_count();
    let cells = passes.worker_count() as u64 * (classes * classes) as u64;
    classes > MANY_CLASSES && passes.label_count() < cells && context.priors().workers.is_none()
}

/// The shares of the classes, or even ones where there are too few tasks to learn them.
fn class_prior(tasks: u64, classes: usize) -> PriorUse {
    if tasks < TASKS_A_CLASS * classes as u64 {
        PriorUse::Flat
    } else {
        PriorUse::Estimated
    }
}

/// Says which members are left out.
fn describe_left_out(names: &[&str], labels: u64, classes: usize) -> String {
    format!(
        "left out of the average: {}, since {labels} labels are too few for matrices of {classes} x {classes} answers of \
         every worker",
        names.join(", ")
    )
}

/// Names of the workers that are shown.
const NAMED: usize = 6;

/// Says that these workers count as one.
fn describe_copies(group: &[usize], annotations: &Annotations) -> String {
    let names: Vec<&str> = group
        .iter()
        .take(NAMED)
        .map(|&worker| annotations.workers().get(worker))
        .collect();
    let more = if group.len() > NAMED { ", .." } else { "" };
    format!(
        "{} workers answer alike far beyond the tasks, and nobody else is like them: {}{more}. They are copies, or the only ones who \
         are right; their labels on a task count as one",
        group.len(),
        names.join(", ")
    )
}
