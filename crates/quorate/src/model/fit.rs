//! What a method returns: one type, whether the posteriors of all tasks are in memory or follow block by
//! block.

use std::sync::Arc;

use super::consensus::{TIE, break_ties, heaviest, leaders};
use super::posterior::Sweep;
use super::{Consensus, ConsensusSummary, DawidSkene, VoteShares, count_answers};
use crate::blocks::{Block, Passes, PosteriorRule, Reader, Wire, WireFormat, wire_format};
use crate::calibrate::{ErrorBasis, ErrorEstimate, calibrate_rows, sharpen_rows};
use crate::linalg::small::{add_scaled, largest};
use crate::{Annotations, Result};

/// What a method found. `C` is where the posteriors are: a [`Consensus`] of all tasks, or a [`Rule`] that
/// gives them block by block.
#[derive(Debug, Clone)]
pub struct Fit<C = Consensus> {
    /// Posterior over the classes for every task.
    pub consensus: C,
    /// Prior and confusion matrices, for the methods that estimate them.
    pub model: Option<DawidSkene>,
    /// One number for each worker in the method's own terms (a weight, a skill), for methods that have one.
    pub worker_scores: Option<Vec<f64>>,
    /// For each task the chance that an average worker answers it wrongly, for methods in which tasks differ.
    pub task_difficulty: Option<Vec<f64>>,
    /// The objective before each iteration and at the end; empty for methods without one.
    pub trace: Vec<f64>,
    /// Iterations done.
    pub iterations: usize,
    /// Whether the iteration reached its tolerance.
    pub converged: bool,
    /// What the estimated error of the labels rests on.
    pub error_basis: ErrorBasis,
    /// What the caller should beware of in this result, each in one sentence.
    pub warnings: Vec<String>,
    /// Facts about the run that are worth knowing.
    pub notes: Vec<String>,
}

/// A fit to labels in blocks.
pub type BlockFit = Fit<Rule>;

impl<C> Fit<C> {
    /// The result of a method that does not iterate.
    pub fn direct(consensus: C) -> Self {
        Self {
            consensus,
            model: None,
            worker_scores: None,
            task_difficulty: None,
            trace: Vec::new(),
            iterations: 0,
            converged: true,
            error_basis: ErrorBasis::default(),
            warnings: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// How many labels are wrong, by these facts about them.
    #[doc(hidden)]
    pub fn estimate_error(&self, facts: &ConsensusSummary) -> ErrorEstimate {
        ErrorEstimate::new(
            self.error_basis,
            facts.expected_error(),
            facts.tasks,
            facts.known_tasks,
        )
    }

    /// The same fit with the posteriors in another form.
    pub(crate) fn with_consensus<D>(self, consensus: D) -> Fit<D> {
        self.map_consensus(|_| consensus)
    }

    /// The same fit with the posteriors put into another form.
    #[doc(hidden)]
    pub fn map_consensus<D>(self, form: impl FnOnce(C) -> D) -> Fit<D> {
        Fit {
            consensus: form(self.consensus),
            model: self.model,
            worker_scores: self.worker_scores,
            task_difficulty: self.task_difficulty,
            trace: self.trace,
            iterations: self.iterations,
            converged: self.converged,
            error_basis: self.error_basis,
            warnings: self.warnings,
            notes: self.notes,
        }
    }
}

impl Fit {
    /// How many labels of this table are wrong.
    pub fn estimated_error(&self, annotations: &Annotations) -> ErrorEstimate {
        let known = annotations.known_truths().count() as u64;
        ErrorEstimate::new(
            self.error_basis,
            self.consensus.expected_error(),
            annotations.task_count() as u64,
            known,
        )
    }

    /// The result of a method that does not iterate, with the model that is counted against its posteriors.
    #[doc(hidden)]
    pub fn counted(annotations: &Annotations, consensus: Consensus) -> Self {
        Self {
            model: Some(count_answers(annotations, &consensus).to_model(0.0)),
            ..Self::direct(consensus)
        }
    }
}

/// A fit in passes over a table in memory.
pub(crate) fn fit_in_memory(
    mut annotations: &Annotations,
    run: impl FnOnce(&mut Passes<'_>) -> Result<BlockFit>,
) -> Result<Fit> {
    let classes = annotations.class_count();
    let mut passes = Passes::over(&mut annotations);
    let fit = run(&mut passes)?;
    Ok(fit.with_consensus(Consensus::new(classes, passes.into_rows())))
}

/// How the posteriors of a block's tasks follow from what was learnt.
#[derive(Debug, Clone)]
pub struct Rule {
    pub(crate) source: RuleSource,
    /// Share of tasks that mislead many workers at once, to which the confidence is lowered; 0: not at all.
    pub(crate) misled: f64,
    /// The power that the posteriors are raised to after that; 1: as they are.
    pub(crate) power: f64,
    /// Whether tasks on which all labels agree keep that label: where no two labels share a task.
    pub(crate) keeps_unanimous: bool,
}

wire_format!(59 Rule { source, misled, power, keeps_unanimous });

#[derive(Debug, Clone)]
pub(crate) enum RuleSource {
    /// The shares of the votes; ties go to the lowest class, or to the most common one.
    Votes { shares: VoteShares, ties_by_prior: bool },
    /// Bayes' rule with the model of the fit.
    Model,
    /// A rule of the method's own.
    Rule(Arc<dyn PosteriorRule>),
    /// Bayes' rule with weights of another kind.
    Weights(Arc<Sweep>),
    /// A mean with these weights.
    Average(Vec<(f64, BlockFit)>),
    /// The passes have the posteriors, and nothing else makes them.
    Cached,
}

wire_format!(58 enum RuleSource {
    0 => Model {},
    1 => Votes { shares: shares, ties_by_prior: ties_by_prior },
    2 => Rule { 0: rule },
    3 => Weights { 0: sweep },
    4 => Average { 0: members },
    5 => Cached {},
});

impl From<Arc<Sweep>> for Rule {
    fn from(sweep: Arc<Sweep>) -> Self {
        RuleSource::Weights(sweep).into()
    }
}

impl From<RuleSource> for Rule {
    fn from(source: RuleSource) -> Self {
        Self {
            source,
            misled: 0.0,
            power: 1.0,
            keeps_unanimous: false,
        }
    }
}

impl BlockFit {
    /// The posterior rows of a block's tasks, one after another.
    pub fn posteriors(&self, block: Block<'_>) -> Vec<f64> {
        let mut rows = vec![0.0; block.task_count() * block.class_count()];
        self.fill_posteriors(block, &mut rows);
        rows
    }

    /// Writes the posterior rows of a block's tasks.
    pub(crate) fn fill_posteriors(&self, block: Block<'_>, rows: &mut [f64]) {
        match &self.consensus.source {
            RuleSource::Votes {
                shares,
                ties_by_prior,
            } => {
                shares.fill(block, rows);
                if *ties_by_prior {
                    break_ties(rows, block.class_count(), |tied| heaviest(shares.prior(), tied));
                }
            }
            RuleSource::Model => {
                if let Some(model) = &self.model {
                    Sweep::new(model).run(block, rows);
                }
            }
            RuleSource::Rule(rule) => rule.fill(block, rows),
            RuleSource::Weights(sweep) => sweep.fill(block, rows),
            RuleSource::Average(members) => {
                rows.fill(0.0);
                let mut part = vec![0.0; rows.len()];
                for (weight, member) in members {
                    member.fill_posteriors(block, &mut part);
                    add_scaled(rows, *weight, &part);
                }
                let total: f64 = members.iter().map(|(weight, _)| weight).sum();
                rows.iter_mut().for_each(|q| *q /= total);
            }
            RuleSource::Cached => {}
        }
        if let Some(model) = self.model.as_ref().filter(|_| self.consensus.misled > 0.0) {
            calibrate_rows(block, model, rows, self.consensus.misled);
        }
        sharpen_rows(block, rows, self.consensus.power);
        if self.consensus.keeps_unanimous {
            keep_unanimous(block, rows);
        }
    }

    /// The same fit with the confidence lowered to what it is worth if this share of the tasks mislead many
    /// workers at once; needs a model.
    pub fn calibrated(mut self, share: f64) -> Self {
        self.consensus.misled = share;
        self
    }

    /// The same fit with the posteriors raised to this power.
    pub(crate) fn sharpened(mut self, power: f64) -> Self {
        self.consensus.power = power;
        self
    }
}

/// Gives unanimous tasks their label back: its probability and that of the class ahead of it change places.
/// Several classes ahead share what is left alike, and the label wins a tie by a hair, so that the codes of
/// the classes do not matter.
pub(crate) fn keep_unanimous(block: Block<'_>, rows: &mut [f64]) {
    let classes = block.class_count();
    for (task, row) in rows.chunks_exact_mut(classes).enumerate() {
        let Some(given) = block.unanimous(task) else {
            continue;
        };
        let top = largest(row);
        if row[given] < top - TIE {
            let ahead: Vec<usize> = leaders(row).collect();
            let mass: f64 = ahead.iter().map(|&k| row[k]).sum();
            let left = (mass - top + row[given]) / ahead.len() as f64;
            ahead.iter().for_each(|&k| row[k] = left);
            row[given] = top;
        }
        break_ties(row, classes, |_| given);
    }
}

impl PosteriorRule for BlockFit {
    fn fill(&self, block: Block<'_>, rows: &mut [f64]) {
        self.fill_posteriors(block, rows);
    }

    fn bytes(&self) -> Vec<u8> {
        self.to_bytes()
    }
}

/// What it takes to make the posteriors of a block: model and rule. The rest does not travel.
impl WireFormat for BlockFit {
    const KIND: u8 = 34;

    fn write(&self, to: &mut Vec<u8>) {
        self.model.write(to);
        self.consensus.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            model: WireFormat::read(from)?,
            ..Fit::direct(Rule::read(from)?)
        })
    }
}
