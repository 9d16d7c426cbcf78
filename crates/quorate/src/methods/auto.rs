//! `auto`: the plain average of nine answers, from plain votes to a confusion matrix for every worker.
//!
//! ```text
//! q_n(k) = (1 / 9) sum over members i of q_n^(i)(k)
//! ```
//!
//! No single model wins everywhere: a full confusion matrix for every worker is right where workers gave many labels and
//! follows its own mistakes where they gave few; votes are the other way round; and the likelihood does not tell which of
//! them is nearer to the truth. Where the members agree, the average is as sure as they are; where they differ, it is as
//! unsure as one should be. The members:
//!
//! | member | what it assumes of a worker | start |
//! |---|---|---|
//! | `majority-vote` | as good as any other | |
//! | `mace` | knows, or guesses in its own way | votes |
//! | `fast-ds` | a matrix of its own; every task has one label at every step | votes |
//! | `ibcc` | its own matrix, drawn to a diagonal of 4 labels | votes |
//! | `pooled-ds`, strength 4 | its own matrix, drawn well to the crowd's | votes |
//! | `pooled-ds`, strength 1 | its own matrix, drawn a little to the crowd's | votes |
//! | `dawid-skene`, smoothed | a matrix of its own | votes |
//! | `rob-symnmf` | a matrix of its own, from pairs of workers | |
//! | `rob-symnmf-em` | a matrix of its own | `rob-symnmf` |
//!
//! The model returned is counted against the average, each worker drawn to the crowd by one label a column: it is the model
//! that goes with these labels. The confidence is then lowered to what it is worth if some tasks mislead many workers at
//! once ([`calibrate`](crate::calibrate)). A member that would need too much memory is left out, with a warning. Costs the
//! sum of its members, linear in labels. Design and ablation: `docs/auto.md`.

use super::pooled_ds::match_model;
use super::{
    Aggregate, DawidSkeneEm, FastDawidSkene, Fit, Ibcc, Mace, MajorityVote, PooledDawidSkene, RobSymNmf,
};
use crate::annotations::Annotations;
use crate::blocks::Passes;
use crate::calibrate::{calibrate, count_consensus, estimate_share, learn_share};
use crate::context::Context;
use crate::declare_method;
use crate::error::{Error, Result};
use crate::model::{
    BlockFit, Consensus, DawidSkene, Em, EmStart, RuleSource, count_answers, reserve_confusions,
};

declare_method! {
    /// The average of several models.
    pub struct Auto {
        /// largest number of rounds of each member
        max_iter: usize in 1..=1_000_000 = 200,
        /// share of tasks that mislead many workers at once, for the confidence; 0: take the average as it is
        misled: f64 in 0..=0.9 = 0.3,
    }
    name: "auto",
    aliases: ["average", "ensemble"],
    summary: "The average of nine answers, with a cautious confidence: safe to leave on",
    description: "Averages majority vote, mace, fast-ds, ibcc, two forms of pooled-ds, smoothed \
                  dawid-skene, rob-symnmf and rob-symnmf-em. No model is right for every crowd and the data \
                  cannot say which one is; their average is near the best of them almost everywhere and far \
                  from the worst. The confidence allows for tasks that mislead many workers at once; with \
                  gold it learns how many there are.",
    citation: "This project; the members as cited there",
    facts: [returns_model, learns_from_gold, uses_priors, streams, calibrates_itself],
}

/// Pseudo-labels a column that draw the returned model to the crowd.
pub(super) const MODEL_STRENGTH: f64 = 1.0;

/// Members stop when the mean change of a posterior falls below this: an average does not need the last digits.
const TOL: f64 = 1e-5;

/// Pseudo-count in every cell of the members with a matrix for each worker.
const SMOOTHING: f64 = 0.1;

/// Labels of right answers, and of all wrong ones together, that `ibcc` expects of every worker and class.
const DIAGONAL: (f64, f64) = (4.0, 1.0);

impl Auto {
    /// The members that start from the votes, from the most pooled to the most flexible.
    fn members(&self, classes: usize) -> Vec<(&'static str, Box<dyn Aggregate>)> {
        let max_iter = self.max_iter;
        // Its even first start alone: others are worth little in an average.
        let mace = Mace {
            restarts: 1,
            ..Mace::default()
        };
        let fast = FastDawidSkene {
            max_iter,
            ..FastDawidSkene::default()
        };
        let ibcc = Ibcc {
            max_iter,
            right: DIAGONAL.0,
            wrong: DIAGONAL.1 / (classes.max(2) - 1) as f64,
            ..Ibcc::default()
        };
        let smoothed = DawidSkeneEm {
            max_iter,
            tol: TOL,
            smoothing: SMOOTHING,
            ..DawidSkeneEm::default()
        };
        vec![
            ("majority-vote", Box::new(MajorityVote::default())),
            ("mace", Box::new(mace)),
            ("fast-ds", Box::new(fast)),
            ("ibcc", Box::new(ibcc)),
            ("pooled-ds, strength 4", Box::new(self.pooled(4.0))),
            ("pooled-ds, strength 1", Box::new(self.pooled(1.0))),
            ("dawid-skene", Box::new(smoothed)),
        ]
    }

    /// A member that draws workers to the crowd.
    pub(super) fn pooled(&self, strength: f64) -> PooledDawidSkene {
        PooledDawidSkene {
            max_iter: self.max_iter,
            tol: TOL,
            strength,
        }
    }

    /// The member with a matrix for each worker, smoothed.
    pub(super) fn em(&self) -> Em {
        Em {
            max_iter: self.max_iter,
            tol: TOL,
            smoothing: SMOOTHING,
            ..Em::default()
        }
    }
}

/// The sum of the members' posteriors and what is worth telling of each.
struct Ballot {
    sum: Vec<f64>,
    /// Name and labels of each member.
    members: Vec<(&'static str, Vec<usize>)>,
    /// Members that would need too much memory.
    left_out: Vec<&'static str>,
    iterations: usize,
    warnings: Vec<String>,
}

impl Ballot {
    /// Fits a member and adds its answer; returns its model.
    fn ask(
        &mut self,
        (name, member): (&'static str, &dyn Aggregate),
        annotations: &Annotations,
        context: &mut Context,
    ) -> Result<Option<DawidSkene>> {
        match member.estimate(annotations, context) {
            Ok(fit) => Ok(self.add(name, fit)),
            Err(Error::TooLarge { .. }) => {
                self.left_out.push(name);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn add(&mut self, name: &'static str, fit: Fit) -> Option<DawidSkene> {
        for (cell, value) in self.sum.iter_mut().zip(fit.consensus.as_slice()) {
            *cell += value;
        }
        self.iterations = self.iterations.max(fit.iterations);
        self.members.push((name, fit.consensus.labels()));
        // What one member says of the data holds for all.
        for warning in fit.warnings {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
        fit.model
    }

    fn average(self, classes: usize) -> (Consensus, Vec<(&'static str, Vec<usize>)>) {
        let share = 1.0 / self.members.len() as f64;
        let average = self.sum.into_iter().map(|cell| cell * share).collect();
        (Consensus::new(classes, average), self.members)
    }
}

impl Aggregate for Auto {
    fn learn(&self, passes: &mut Passes<'_>, context: &mut Context) -> Result<BlockFit> {
        self.learn_average(passes, context)
    }

    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        let classes = annotations.class_count();
        let mut ballot = Ballot {
            sum: vec![0.0; annotations.task_count() * classes],
            members: Vec::new(),
            left_out: Vec::new(),
            iterations: 1,
            warnings: Vec::new(),
        };
        for (name, member) in self.members(classes) {
            ballot.ask((name, &*member), annotations, context)?;
        }
        let pairs = RobSymNmf::default();
        if let Some(model) = ballot.ask(("rob-symnmf", &pairs), annotations, context)? {
            let fit = self.em().fit(annotations, EmStart::Model(model), context)?;
            ballot.add("rob-symnmf-em", fit);
        }
        let (iterations, mut warnings) = (ballot.iterations, std::mem::take(&mut ballot.warnings));
        if !ballot.left_out.is_empty() {
            warnings.push(format!(
                "left out of the average, since they would need more memory than the limit: {}",
                ballot.left_out.join(", ")
            ));
        }
        let (consensus, members) = ballot.average(classes);
        let mut notes = describe_disagreement(&consensus, &members);
        let (model, consensus) = match reserve_confusions(annotations, context) {
            Ok(()) => self.match_and_calibrate(annotations, consensus, context, &mut notes),
            Err(_) => (None, consensus),
        };
        Ok(Fit {
            model,
            iterations,
            warnings,
            notes,
            ..Fit::direct(consensus)
        })
    }
}

impl Auto {
    /// The average of the members that go through labels in blocks.
    fn learn_average(&self, passes: &mut Passes<'_>, context: &mut Context) -> Result<BlockFit> {
        let mut members = Vec::new();
        let mut left_out = Vec::new();
        for (name, member) in self.members(passes.class_count()) {
            match member.method().streams {
                true => members.push(member.learn(passes, context)?),
                false => left_out.push(name),
            }
        }
        let pairs = RobSymNmf::default().learn(passes, context)?;
        if let Some(model) = pairs.model.clone() {
            members.push(self.em().run(passes, EmStart::Model(model), context)?);
        }
        members.push(pairs);
        let iterations = members.iter().map(|fit| fit.iterations).max().unwrap_or(1);
        let mut warnings: Vec<String> = members.iter().flat_map(|fit| fit.warnings.clone()).collect();
        warnings.dedup();
        let share = 1.0 / members.len() as f64;
        let weighted = members.into_iter().map(|fit| (share, fit)).collect();
        let mut fit = BlockFit::direct(RuleSource::Average(weighted).into());
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
            iterations,
            warnings,
            notes: match left_out.is_empty() {
                true => Vec::new(),
                false => vec![format!(
                    "left out of the average, since they need all labels in memory: {}",
                    left_out.join(", ")
                )],
            },
            ..fit
        })
    }

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
        let share = match self.misled > 0.0 {
            true => estimate_share(annotations, &model, &evidence, self.misled),
            false => 0.0,
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
