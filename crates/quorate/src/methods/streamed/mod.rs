//! Methods over labels that do not fit into memory: passes over blocks of whole tasks.
//!
//! A pass needs the model and one block; posteriors are made anew from the model before, not kept. So memory follows
//! the workers and the size of a block, not the labels. The answer is that of the method in memory up to the order of
//! summation, but for `auto`, of which fewer members can do it.

mod rounds;

use super::majority_vote::fill_votes;
use super::one_coin::estimate_accuracies;
use super::{Auto, DawidSkeneEm, MajorityVote, Method, OneCoin, PooledDawidSkene, Ties, Values, find};
use crate::annotations::{ByTask, TaskBlock};
use crate::calibrate::calibrate_rows;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::model::{AnswerCounts, DawidSkene, Em, Sweep, count_rows, reserve_model};
use rounds::{run, run_auto, run_pooled};

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

    /// Number of labels.
    fn label_count(&self) -> u64;

    /// Hands over every block, in the same order each time; stops at the first error.
    fn for_each(
        &mut self,
        visit: &mut dyn FnMut(&TaskBlock) -> Result<(), Self::Error>,
    ) -> Result<(), Self::Error>;
}

/// Names of the methods that can go through labels in blocks.
pub const STREAMED: [&str; 5] = ["auto", "majority-vote", "dawid-skene", "one-coin", "pooled-ds"];

/// A method that can go through labels in blocks.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamedMethod {
    /// Vote shares, ties to the lowest class.
    MajorityVote,
    /// EM from majority vote with full confusion matrices.
    DawidSkene(Em),
    /// EM from majority vote with one accuracy a worker.
    OneCoin(Em),
    /// EM from majority vote with workers drawn to the crowd.
    PooledDawidSkene(PooledDawidSkene),
    /// The average of the votes and of those members of `auto` that can go through blocks.
    Auto(Auto),
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
    answers: Answers,
}

/// What the posteriors are made of.
#[derive(Debug, Clone)]
enum Answers {
    Votes,
    Model,
    /// The votes and these models, each with the same say, if a share `misled` of the tasks mislead workers together.
    Average {
        members: Vec<DawidSkene>,
        misled: f64,
    },
}

impl StreamedMethod {
    /// The streamed form of a method with these parameters; an error names the methods that have one.
    pub fn new(method: &'static Method, parameters: &[(String, String)]) -> Result<Self> {
        let values = Values::with(method.parameters, parameters)?;
        let refuse = |reason: String| Error::NotApplicable {
            method: method.name,
            reason,
        };
        match method.name {
            "majority-vote" if MajorityVote::from(&values).ties == Ties::Lowest => Ok(Self::MajorityVote),
            "majority-vote" => Err(refuse(
                "labels on disk are gone through block by block, which settles ties by the lowest class only: leave `ties` \
                 out, or allow more memory"
                    .into(),
            )),
            "dawid-skene" => Ok(Self::DawidSkene(DawidSkeneEm::from(&values).em())),
            "one-coin" => Ok(Self::OneCoin(OneCoin::from(&values).em())),
            "pooled-ds" => Ok(Self::PooledDawidSkene(PooledDawidSkene::from(&values))),
            "auto" => Ok(Self::Auto(Auto::from(&values))),
            _ => Err(refuse(format!(
                "it needs all labels in memory; with labels on disk use one of {}, or keep the labels in memory",
                STREAMED.join(", ")
            ))),
        }
    }

    /// Whether the method of this name has a streamed form.
    pub fn exists(name: &str) -> bool {
        find(name).is_ok_and(|method| STREAMED.contains(&method.name))
    }

    /// How the streamed form differs from the one in memory, if it does.
    pub fn difference(&self) -> Option<&'static str> {
        matches!(self, Self::Auto(_)).then_some(
            "auto over labels on disk is the average of majority-vote, pooled-ds (strengths 4 and 1) and smoothed dawid-skene: its \
             other members need all labels in memory",
        )
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
                answers: Answers::Votes,
            }),
            Self::DawidSkene(em) => run(
                em,
                &|counts| counts.to_model(em.smoothing),
                blocks,
                counts,
                context,
            ),
            Self::OneCoin(em) => run(em, &estimate_accuracies, blocks, counts, context),
            Self::PooledDawidSkene(pooled) => run_pooled(pooled, blocks, counts, context),
            Self::Auto(auto) => run_auto(auto, blocks, counts, context),
        }
    }
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
        match &self.answers {
            Answers::Votes => vote_rows(labels, &self.vote_prior, rows),
            Answers::Model => drop(Sweep::new(&self.model).run(labels, rows)),
            Answers::Average { members, misled } => {
                vote_rows(labels, &self.vote_prior, rows);
                let mut row = vec![0.0; rows.len()];
                for member in members {
                    Sweep::new(member).run(labels, &mut row);
                    rows.iter_mut().zip(&row).for_each(|(sum, q)| *sum += q);
                }
                let share = 1.0 / (1 + members.len()) as f64;
                rows.iter_mut().for_each(|sum| *sum *= share);
                calibrate_rows(labels, &self.model, rows, *misled);
            }
        }
    }

    /// Expected answers of the workers to a block's tasks, of which `rows` are the posteriors.
    pub fn count(&self, block: &TaskBlock, rows: &[f64]) -> AnswerCounts {
        let classes = self.model.class_count();
        count_rows(block.view(self.model.worker_count(), classes), rows, classes)
    }

    /// The vote shares of a block's tasks, one after another.
    pub fn votes(&self, block: &TaskBlock, rows: &mut Vec<f64>) {
        let classes = self.model.class_count();
        let labels = block.view(self.model.worker_count(), classes);
        rows.resize(labels.task_count() * classes, 0.0);
        vote_rows(labels, &self.vote_prior, rows);
    }
}
