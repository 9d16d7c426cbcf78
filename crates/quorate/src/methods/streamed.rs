//! Methods over labels that do not fit into memory: passes over blocks of whole tasks.
//!
//! A pass needs the model and one block; posteriors are made anew from the model before, not kept. So memory follows
//! the workers and the size of a block, not the labels. The answer is that of the method in memory up to the order of
//! summation.

use super::majority_vote::fill_votes;
use super::one_coin::estimate_accuracies;
use super::{Method, Values, find};
use crate::annotations::{ByTask, TaskBlock};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::model::{AnswerCounts, DawidSkene, Em, Sweep, count_rows, reserve_model};

/// Labels in blocks of whole tasks, which can be gone through again and again.
pub trait LabelBlocks {
    /// What can go wrong on the way.
    type Error: From<Error>;

    /// Number of workers.
    fn worker_count(&self) -> usize;

    /// Number of classes.
    fn class_count(&self) -> usize;

    /// Number of tasks.
    fn task_count(&self) -> u64;

    /// Hands over every block, in the same order each time; stops at the first error.
    fn for_each(
        &mut self,
        visit: &mut dyn FnMut(&TaskBlock) -> Result<(), Self::Error>,
    ) -> Result<(), Self::Error>;
}

/// Names of the methods that can go through labels in blocks.
pub const STREAMED: [&str; 3] = ["majority-vote", "dawid-skene", "one-coin"];

/// A method that can go through labels in blocks.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamedMethod {
    /// Vote shares, ties to the lowest class.
    MajorityVote,
    /// EM from majority vote with full confusion matrices.
    DawidSkene(Em),
    /// EM from majority vote with one accuracy a worker.
    OneCoin(Em),
}

/// What a method found; [`posterior`](Self::posterior) gives the rest, block by block.
#[derive(Debug, Clone)]
pub struct StreamedFit {
    /// The last model.
    pub model: DawidSkene,
    /// Objective at each pass.
    pub trace: Vec<f64>,
    /// Rounds done.
    pub iterations: usize,
    /// Whether the posteriors stopped moving.
    pub converged: bool,
    /// Shares of the classes among the votes.
    vote_prior: Vec<f64>,
    by_votes: bool,
}

impl StreamedMethod {
    /// The streamed form of a method with these parameters; an error names the methods that have one.
    pub fn new(method: &'static Method, parameters: &[(String, String)]) -> Result<Self> {
        let values = Values::with(method.parameters, parameters)?;
        let refuse = |reason: String| Error::NotApplicable {
            method: method.name,
            reason,
        };
        let flat_prior = || values.text("prior") == "flat";
        match method.name {
            "majority-vote" if values.text("ties") == "lowest" => Ok(Self::MajorityVote),
            "majority-vote" => Err(refuse(
                "labels on disk are gone through block by block, which settles ties by the lowest class only: leave `ties` \
                 out, or raise --memory"
                    .into(),
            )),
            "dawid-skene" => Ok(Self::DawidSkene(Em {
                flat_prior: flat_prior(),
                ..Em::from(&values)
            })),
            "one-coin" => Ok(Self::OneCoin(Em {
                max_iter: values.integer("max-iter"),
                tol: values.number("tol"),
                smoothing: 0.0,
                flat_prior: flat_prior(),
            })),
            _ => Err(refuse(format!(
                "it needs all labels in memory; with labels on disk use one of {}, or raise --memory and leave --spill out",
                STREAMED.join(", ")
            ))),
        }
    }

    /// Whether the method of this name has a streamed form.
    pub fn exists(name: &str) -> bool {
        find(name).is_ok_and(|method| STREAMED.contains(&method.name))
    }

    /// Fits the method.
    pub fn fit<B: LabelBlocks>(
        &self,
        blocks: &mut B,
        context: &mut Context,
    ) -> Result<StreamedFit, B::Error> {
        let (workers, classes) = (blocks.worker_count(), blocks.class_count());
        reserve_model(workers, classes, context)?;
        let mut counts = AnswerCounts::zero(workers, classes);
        let mut rows = Vec::new();
        blocks.for_each(&mut |block| {
            context.step("votes", 0, None)?;
            let labels = block.view(workers, classes);
            rows.resize(labels.task_count() * classes, 0.0);
            let part = context.run(|| {
                fill_votes(labels, &mut rows);
                count_rows(labels, &rows, classes)
            });
            counts.merge(&part);
            Ok(())
        })?;
        let vote_prior = counts.prior();
        match self {
            Self::MajorityVote => Ok(StreamedFit {
                model: counts.to_model(0.0),
                trace: Vec::new(),
                iterations: 0,
                converged: true,
                vote_prior,
                by_votes: true,
            }),
            Self::DawidSkene(em) => run(
                em,
                &|counts| counts.to_model(em.smoothing),
                blocks,
                counts,
                context,
            ),
            Self::OneCoin(em) => run(em, &estimate_accuracies, blocks, counts, context),
        }
    }
}

/// EM from the counts against the votes.
fn run<B: LabelBlocks>(
    em: &Em,
    estimate: &dyn Fn(&AnswerCounts) -> DawidSkene,
    blocks: &mut B,
    votes: AnswerCounts,
    context: &mut Context,
) -> Result<StreamedFit, B::Error> {
    let (workers, classes) = (blocks.worker_count(), blocks.class_count());
    let vote_prior = votes.prior();
    let maximise = |counts: &AnswerCounts| em.with_prior(estimate(counts));
    let mut fit = StreamedFit {
        model: maximise(&votes),
        trace: Vec::new(),
        iterations: 1,
        converged: false,
        vote_prior,
        by_votes: false,
    };
    let mut before: Option<DawidSkene> = None;
    let mut rows = Vec::new();
    for round in 1..=em.max_iter {
        // The pass after the last round only tells the objective of the model that is returned.
        let last = round == em.max_iter;
        let (sweep, sweep_before) = (Sweep::new(&fit.model), before.as_ref().map(Sweep::new));
        let (mut counts, mut log_likelihood, mut change) = (AnswerCounts::zero(workers, classes), 0.0, 0.0);
        blocks.for_each(&mut |block| {
            context.step("EM", round, Some(em.max_iter))?;
            let labels = block.view(workers, classes);
            rows.resize(labels.task_count() * classes, 0.0);
            let result = context.run(|| {
                match &sweep_before {
                    Some(before) => drop(before.run(labels, &mut rows, false)),
                    None => vote_rows(labels, &fit.vote_prior, &mut rows),
                }
                sweep.run(labels, &mut rows, !last)
            });
            log_likelihood += result.log_likelihood;
            change += result.change;
            if let Some(part) = &result.counts {
                counts.merge(part);
            }
            Ok(())
        })?;
        fit.trace.push(log_likelihood + em.log_prior(&fit.model));
        if last {
            break;
        }
        fit.converged = change / ((2 * blocks.task_count()) as f64) < em.tol;
        if fit.converged {
            // In memory the posterior is made once more from the same model: the objective stands twice.
            fit.trace.push(fit.trace[fit.trace.len() - 1]);
            break;
        }
        before = Some(std::mem::replace(&mut fit.model, maximise(&counts)));
        fit.iterations = round + 1;
    }
    Ok(fit)
}

fn vote_rows(labels: ByTask<'_>, prior: &[f64], rows: &mut [f64]) {
    fill_votes(labels, rows);
    for (task, row) in rows.chunks_exact_mut(prior.len()).enumerate() {
        if labels.task(task).0.is_empty() {
            row.copy_from_slice(prior);
        }
    }
}

impl StreamedFit {
    /// The posterior rows of a block's tasks, one after another.
    pub fn posterior(&self, block: &TaskBlock, rows: &mut Vec<f64>) {
        let classes = self.model.class_count();
        let labels = block.view(self.model.worker_count(), classes);
        rows.resize(labels.task_count() * classes, 0.0);
        if self.by_votes {
            vote_rows(labels, &self.vote_prior, rows);
        } else {
            Sweep::new(&self.model).run(labels, rows, false);
        }
    }

    /// The vote shares of a block's tasks, one after another.
    pub fn votes(&self, block: &TaskBlock, rows: &mut Vec<f64>) {
        let classes = self.model.class_count();
        let labels = block.view(self.model.worker_count(), classes);
        rows.resize(labels.task_count() * classes, 0.0);
        vote_rows(labels, &self.vote_prior, rows);
    }
}
