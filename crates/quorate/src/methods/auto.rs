//! `auto`: the plain average of seven models, from the most flexible to the most pooled.
//!
//! ```text
//! q_n(k) = (1 / 7) sum over members i of q_n^(i)(k)
//! ```
//!
//! No single model wins everywhere: a full confusion matrix for every worker is right where workers gave many labels and
//! follows its own mistakes where they gave few; one accuracy for each worker is the other way round; and the
//! likelihood does not tell which of them is nearer to the truth. Where the models agree, the average is as sure as
//! they are; where they differ, it is as unsure as one should be. The members:
//!
//! | member | what it assumes of a worker | start |
//! |---|---|---|
//! | `dawid-skene`, smoothed | a confusion matrix of its own | votes |
//! | `rob-symnmf-em` | a confusion matrix of its own | SymNMF of the co-occurrences |
//! | `pooled-ds`, strength 1 | its own matrix, drawn a little to the crowd's | votes |
//! | `pooled-ds`, strength 4 | its own matrix, drawn well to the crowd's | votes |
//! | `ibcc` | its own matrix, drawn to the diagonal | votes |
//! | `mace` | knows, or guesses in its own way | votes |
//! | `one-coin` | one accuracy for all classes | votes |
//!
//! The model returned is counted against the average, each worker drawn to the crowd by one label a column: it is the model
//! that goes with these labels. Costs the sum of its members, linear in labels. The ablation is in `docs/auto.md`.

use super::pooled_ds::match_model;
use super::{
    Aggregate, ClassSupport, DawidSkeneEm, Family, Fit, Ibcc, Kind, Mace, Method, OneCoin, Parameter,
    PooledDawidSkene, SymNmf, Values,
};
use crate::annotations::Annotations;
use crate::context::Context;
use crate::error::Result;
use crate::model::{Consensus, Em, count_answers};

pub(super) const METHOD: Method = Method {
    name: "auto",
    aliases: &["average", "ensemble"],
    summary: "The average of seven models, from flexible to pooled: safe to leave on",
    description: "Averages the posteriors of smoothed Dawid-Skene, rob-symnmf-em, two forms of pooled-ds, ibcc, mace and \
                  one-coin. No model is right for every crowd and the data cannot say which one is; their average is near the \
                  best of them almost everywhere, far from the worst, and less sure of itself where they disagree.",
    citation: "This project; the members as cited there",
    classes: ClassSupport::Any,
    uses_class_order: false,
    uses_worker_order: false,
    needs_probabilities: false,
    returns_model: true,
    parameters: PARAMETERS,
    build: |values| Box::new(Auto::from(values)),
};

const PARAMETERS: &[Parameter] = &[Parameter {
    name: "max-iter",
    about: "largest number of rounds of each member",
    kind: Kind::Integer(1, 1_000_000),
    default: "200",
}];

/// Pseudo-labels a column that draw the returned model to the crowd.
const MODEL_STRENGTH: f64 = 1.0;

/// The average of several models.
#[derive(Debug, Clone, PartialEq)]
pub struct Auto {
    /// Largest number of rounds of each member.
    pub max_iter: usize,
}

impl From<&Values> for Auto {
    fn from(values: &Values) -> Self {
        Self {
            max_iter: values.integer("max-iter"),
        }
    }
}

impl Default for Auto {
    fn default() -> Self {
        Self::from(&Values::defaults(PARAMETERS))
    }
}

impl Auto {
    /// The members, from the most flexible to the most pooled.
    fn members(&self) -> Vec<(&'static str, Box<dyn Aggregate>)> {
        let em = |em: Em| Em {
            max_iter: self.max_iter,
            smoothing: 0.1,
            ..em
        };
        let pooled = |strength| PooledDawidSkene {
            max_iter: self.max_iter,
            strength: Some(strength),
            ..PooledDawidSkene::default()
        };
        let mut symnmf = SymNmf::new(Family::Robust, true);
        symnmf.em = symnmf.em.map(em);
        let smoothed = DawidSkeneEm {
            em: em(DawidSkeneEm::default().em),
        };
        let one_coin = OneCoin {
            max_iter: self.max_iter,
            ..OneCoin::default()
        };
        // Its even first start alone: others are worth little in an average.
        let mace = Mace {
            restarts: 1,
            ..Mace::default()
        };
        let ibcc = Ibcc {
            max_iter: self.max_iter,
            ..Ibcc::default()
        };
        vec![
            ("dawid-skene", Box::new(smoothed)),
            ("rob-symnmf-em", Box::new(symnmf)),
            ("pooled-ds, strength 1", Box::new(pooled(1.0))),
            ("pooled-ds, strength 4", Box::new(pooled(4.0))),
            ("ibcc", Box::new(ibcc)),
            ("mace", Box::new(mace)),
            ("one-coin", Box::new(one_coin)),
        ]
    }
}

impl Aggregate for Auto {
    fn fit(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        let members = self.members();
        let share = 1.0 / members.len() as f64;
        let mut average = vec![0.0; annotations.task_count() * annotations.class_count()];
        let mut labels: Vec<Vec<usize>> = Vec::new();
        let (mut iterations, mut warnings) = (0, Vec::new());
        for (_, member) in &members {
            let fit = member.fit(annotations, context)?;
            for (cell, value) in average.iter_mut().zip(fit.consensus.as_slice()) {
                *cell += share * value;
            }
            iterations = iterations.max(fit.iterations);
            labels.push(fit.consensus.labels());
            // What one member says of the data holds for all.
            for warning in fit.warnings {
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
            }
        }
        let consensus = Consensus::new(annotations.class_count(), average);
        let mut counts = context.run(|| count_answers(annotations, &consensus));
        let priors = context.priors();
        priors.add_to(&mut counts);
        let model = priors.fix(match_model(&counts, MODEL_STRENGTH));
        let names: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
        Ok(Fit {
            model: Some(model),
            iterations: iterations.max(1),
            warnings,
            notes: describe_disagreement(&consensus, &names, &labels),
            ..Fit::direct(consensus)
        })
    }

    fn learns_from_gold(&self) -> bool {
        true
    }

    fn uses_priors(&self) -> bool {
        true
    }
}

/// How often each member's label is that of the average.
fn describe_disagreement(consensus: &Consensus, names: &[&str], labels: &[Vec<usize>]) -> Vec<String> {
    let average = consensus.labels();
    let tasks = average.len().max(1) as f64;
    names
        .iter()
        .zip(labels)
        .map(|(name, labels)| {
            let equal = labels.iter().zip(&average).filter(|(a, b)| a == b).count();
            format!(
                "{name} agrees with the average on {:.1} % of the tasks",
                100.0 * equal as f64 / tasks
            )
        })
        .collect()
}
