//! Known truths for methods that cannot learn from them: their answer is put right afterwards, and the user told.

use super::{Aggregate, Fit};
use crate::annotations::Annotations;
use crate::context::Context;
use crate::error::Result;
use crate::model::Consensus;

/// A method whose answer on known tasks is the truth.
#[derive(Debug)]
pub(super) struct Pinned {
    pub name: &'static str,
    pub method: Box<dyn Aggregate>,
}

impl Aggregate for Pinned {
    fn fit(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        let mut fit = self.method.fit(annotations, context)?;
        if annotations.has_gold() {
            let classes = annotations.class_count();
            let mut rows = fit.consensus.into_vec();
            annotations.pin_all(&mut rows);
            fit.consensus = Consensus::new(classes, rows);
            if !self.learns_from_gold() {
                fit.warnings.push(format!(
                    "{} does not learn from gold: it only fixes the labels of the {} known tasks (dawid-skene, \
                     rob-symnmf-em and auto learn from it)",
                    self.name,
                    annotations.gold_count()
                ));
            }
        }
        if !self.uses_priors() && !context.priors().is_empty() {
            fit.warnings.push(format!(
                "{} does not use priors of classes or workers: they had no effect",
                self.name
            ));
        }
        Ok(fit)
    }

    fn learns_from_gold(&self) -> bool {
        self.method.learns_from_gold()
    }

    fn uses_priors(&self) -> bool {
        self.method.uses_priors()
    }
}
