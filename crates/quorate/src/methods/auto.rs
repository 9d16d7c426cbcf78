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

use std::borrow::Cow;

use super::pooled_ds::match_model;
use super::shared::copying::{count_once, find_copies};
use super::{
    Aggregate, BlockFit, ClassPrior, DawidSkeneEm, FastDawidSkene, Fit, MajorityVote, OneCoin, TaskEffects,
};
use crate::annotations::Annotations;
use crate::blocks::Passes;
use crate::calibrate::{calibrate, count_consensus, estimate_share, learn_share};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::model::{Consensus, DawidSkene, RuleSource, count_answers, reserve_confusions};
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

    /// The average of the members in blocks, and the model that goes with it.
    fn learn_average(&self, passes: &mut Passes<'_>, context: &mut Context) -> Result<BlockFit> {
        let mut members = Vec::new();
        let (mut warnings, mut notes) = (Vec::new(), Vec::new());
        if self.copies == Copies::Once {
            notes.push(
                "workers who copy each other were not looked for: that needs all labels in memory".to_owned(),
            );
        }
        let compared = can_compare(
            passes.label_count(),
            passes.task_count(),
            passes.has_gold(),
            context,
        );
        let members_now = if lacks_labels(passes, context) {
            self.members_of_blocks_with_few_labels(passes, &mut warnings)
        } else {
            self.members_for(compared)
        };
        for member in members_now {
            let fit = member.method.learn(passes, context)?;
            if compared {
                warnings.extend(fit.warnings.iter().cloned());
            }
            notes.extend(fit.notes.iter().cloned());
            members.push((member.weight, fit));
        }
        let iterations = members.iter().map(|(_, fit)| fit.iterations).max();
        let total: f64 = members.iter().map(|(weight, _)| weight).sum();
        members.iter_mut().for_each(|(weight, _)| *weight /= total);
        let mut fit = BlockFit::direct(RuleSource::Average(members).into());
        let mut counts = count_consensus(&fit, passes, context)?;
        let priors = context.priors();
        priors.add_to(&mut counts);
        let model = priors.fix(match_model(&counts, MODEL_STRENGTH));
        let mut evidence = counts.labels_per_truth();
        evidence.iter_mut().for_each(|labels| *labels += MODEL_STRENGTH);
        if self.misled > 0.0 {
            let share = learn_share(&model, &evidence, self.misled, passes, context)?;
            fit = fit.calibrated(share);
        }
        Ok(Fit {
            model: Some(model),
            iterations: iterations.unwrap_or(1),
            warnings,
            notes,
            ..fit
        })
    }
}

/// The sum of the members' posteriors and what is worth telling of each.
struct Ballot {
    sum: Vec<f64>,
    weight: f64,
    /// Name and labels of each member.
    members: Vec<(&'static str, Vec<usize>)>,
    /// Members that would need too much memory.
    left_out: Vec<&'static str>,
    iterations: usize,
    difficulty: Option<Vec<f64>>,
    warnings: Vec<String>,
    notes: Vec<String>,
}

impl Ballot {
    fn new(cells: usize) -> Self {
        Self {
            sum: vec![0.0; cells],
            weight: 0.0,
            members: Vec::new(),
            left_out: Vec::new(),
            iterations: 1,
            difficulty: None,
            warnings: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Fits a member and adds its answer.
    fn ask(&mut self, member: &Member, annotations: &Annotations, context: &mut Context) -> Result<()> {
        match member.method.estimate(annotations, context) {
            Ok(fit) => self.add(member, fit),
            Err(Error::TooLarge { .. }) => self.left_out.push(member.name),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn add(&mut self, member: &Member, fit: Fit) {
        for (cell, value) in self.sum.iter_mut().zip(fit.consensus.as_slice()) {
            *cell += member.weight * value;
        }
        self.weight += member.weight;
        self.iterations = self.iterations.max(fit.iterations);
        self.members.push((member.name, fit.consensus.labels()));
        self.difficulty = self.difficulty.take().or(fit.task_difficulty);
        self.notes.extend(fit.notes);
        // What one member says of the data holds for all.
        for warning in fit.warnings {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
    }

    fn average(&mut self, classes: usize) -> Consensus {
        let mut sum = std::mem::take(&mut self.sum);
        sum.iter_mut().for_each(|cell| *cell /= self.weight);
        Consensus::new(classes, sum)
    }
}

impl Aggregate for Auto {
    fn learn(&self, passes: &mut Passes<'_>, context: &mut Context) -> Result<BlockFit> {
        self.learn_average(passes, context)
    }

    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        let classes = annotations.class_count();
        let mut ballot = Ballot::new(annotations.task_count() * classes);
        let groups = match self.copies {
            Copies::Once => context.run(|| find_copies(annotations)),
            Copies::All => Vec::new(),
        };
        let counted = if groups.is_empty() {
            Cow::Borrowed(annotations)
        } else {
            Cow::Owned(count_once(annotations, &groups)?)
        };
        ballot
            .notes
            .extend(groups.iter().map(|group| describe_copies(group, annotations)));
        let (labels, tasks) = (counted.label_count() as u64, counted.task_count() as u64);
        let compared = can_compare(labels, tasks, annotations.has_gold(), context);
        let few = lacks_labels(&Passes::over(&mut { &*counted }), context);
        if few {
            self.ask_few(&mut ballot, &counted, context)?
        } else {
            for member in self.members_for(compared) {
                ballot.ask(&member, &counted, context)?;
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
        let consensus = ballot.average(classes);
        let mut notes = describe_disagreement(&consensus, &ballot.members);
        notes.append(&mut ballot.notes);
        let (model, consensus) = match reserve_confusions(annotations, context) {
            Ok(()) => self.match_and_calibrate(annotations, consensus, context, &mut notes),
            Err(_) => {
                ballot.warnings.push(UNCALIBRATED.to_owned());
                (None, consensus)
            }
        };
        Ok(Fit {
            model,
            task_difficulty: ballot.difficulty,
            iterations: ballot.iterations,
            warnings: ballot.warnings,
            notes,
            ..Fit::direct(consensus)
        })
    }
}

impl Auto {
    /// The model that goes with the average, and the average with a confidence that allows for misled tasks.
    fn match_and_calibrate(
        &self,
        annotations: &Annotations,
        consensus: Consensus,
        context: &mut Context,
        notes: &mut Vec<String>,
    ) -> (Option<DawidSkene>, Consensus) {
        let mut counts = context.run(|| count_answers(annotations, &consensus));
        let priors = context.priors();
        priors.add_to(&mut counts);
        let model = priors.fix(match_model(&counts, MODEL_STRENGTH));
        let mut evidence = counts.labels_per_truth();
        evidence.iter_mut().for_each(|labels| *labels += MODEL_STRENGTH);
        let share = if self.misled > 0.0 {
            estimate_share(annotations, &model, &evidence, self.misled)
        } else {
            0.0
        };
        if annotations.has_gold() && share > 0.0 {
            notes.push(format!(
                "share of tasks that mislead workers together, from gold: {share:.2} (expected {:.2})",
                self.misled
            ));
        }
        let consensus = context.run(|| calibrate(annotations, &model, consensus, share));
        (Some(model), consensus)
    }
}

/// Whether there is anything to learn of workers: tasks with two labels, known truths or expectations.
fn can_compare(labels: u64, tasks: u64, has_gold: bool, context: &Context) -> bool {
    labels > tasks || has_gold || !context.priors().is_empty()
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
fn class_prior(tasks: u64, classes: usize) -> ClassPrior {
    if tasks < TASKS_A_CLASS * classes as u64 {
        ClassPrior::Flat
    } else {
        ClassPrior::Estimated
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

impl Auto {
    /// The average where dense matrices cannot be learnt: votes, and `dawid-skene` with cells for the answers
    /// that were seen alone, which gets the weight of all that is left out.
    fn ask_few(&self, ballot: &mut Ballot, annotations: &Annotations, context: &mut Context) -> Result<()> {
        let [effects, votes, fast, matrices] = self.members();
        let (tasks, classes) = (annotations.task_count() as u64, annotations.class_count());
        ballot.ask(&votes, annotations, context)?;
        let sparse = DawidSkeneEm {
            max_iter: self.max_iter,
            tol: TOL,
            prior: class_prior(tasks, classes),
            ..DawidSkeneEm::default()
        };
        let weight = effects.weight + fast.weight + matrices.weight;
        ballot.add(
            &Member { weight, ..matrices },
            sparse.fit_sparse(annotations, context)?,
        );
        let left_out = [effects.name, fast.name];
        ballot.warnings.push(describe_left_out(
            &left_out,
            annotations.label_count() as u64,
            classes,
        ));
        Ok(())
    }

    /// The same for labels in blocks, for which there is no sparse form: votes and one accuracy for each
    /// worker.
    fn members_of_blocks_with_few_labels(
        &self,
        passes: &Passes<'_>,
        warnings: &mut Vec<String>,
    ) -> Vec<Member> {
        let [effects, votes, fast, matrices] = self.members();
        let classes = passes.class_count();
        let one_coin = OneCoin {
            max_iter: self.max_iter,
            tol: TOL,
            prior: class_prior(passes.task_count(), classes),
        };
        let left_out = [effects.name, fast.name, matrices.name];
        warnings.push(describe_left_out(&left_out, passes.label_count(), classes));
        let coin = Member {
            name: "one-coin",
            weight: effects.weight + fast.weight + matrices.weight,
            method: Box::new(one_coin),
        };
        vec![votes, coin]
    }
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
        "{} workers answer alike far beyond the tasks, and nobody else is like them: {}{more}. Their labels on a task count as one",
        group.len(),
        names.join(", ")
    )
}

/// How often each member's label is that of the average.
fn describe_disagreement(consensus: &Consensus, members: &[(&str, Vec<usize>)]) -> Vec<String> {
    let average = consensus.labels();
    let tasks = average.len().max(1) as f64;
    members
        .iter()
        .map(|(name, labels)| {
            let equal = labels.iter().zip(&average).filter(|(a, b)| a == b).count();
            format!(
                "{name} agrees with the average on {:.1} % of the tasks",
                100.0 * equal as f64 / tasks
            )
        })
        .collect()
}
