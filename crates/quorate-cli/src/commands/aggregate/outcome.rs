//! What a run comes to, wherever the labels are: made in one place, written and told of in one place.

use std::sync::Arc;

use anyhow::Result;
use quorate::internal::model::{ConsensusSummary, Rule};
use quorate::internal::run::{LabelTable, Outcome, RunOver};
use quorate::{Annotations, Consensus, Context};
use quorate_io::{SpilledLabels, TaskResults, WantedResults};

use crate::input::InputArgs;
use crate::printer::Printer;
use crate::session::Session;
use crate::text_table::plural;

/// A fit that can be written, with facts about labels and consensus.
pub struct Results<'l> {
    /// The fit and the intervals.
    pub outcome: Outcome<TaskResults<'l>>,
    /// The facts.
    pub summary: ConsensusSummary,
}

/// Labels of this command: a table in memory, or on disk.
pub trait LabelSource: LabelTable + RunOver<Self::Posteriors> {
    /// Where the posteriors are.
    type Posteriors;

    /// Gives the fits what is known of the tasks.
    fn with_side_data(&self, session: Session, _: &InputArgs, _: &mut Printer) -> Result<Session> {
        Ok(session)
    }

    /// What is to be written of a run.
    fn results<'l>(
        &'l mut self,
        outcome: Outcome<Self::Posteriors>,
        wanted: WantedResults,
        context: &mut Context,
    ) -> Result<Outcome<TaskResults<'l>>>;
}

impl LabelSource for Arc<Annotations> {
    type Posteriors = Consensus;

    fn with_side_data(&self, session: Session, input: &InputArgs, printer: &mut Printer) -> Result<Session> {
        session.with_side_data(input, self, printer)
    }

    fn results<'l>(
        &'l mut self,
        outcome: Outcome,
        _: WantedResults,
        _: &mut Context,
    ) -> Result<Outcome<TaskResults<'l>>> {
        Ok(outcome.map_consensus(|consensus| TaskResults::Memory(self, consensus)))
    }
}

impl LabelSource for SpilledLabels {
    type Posteriors = Rule;

    fn results<'l>(
        &'l mut self,
        outcome: Outcome<Rule>,
        wanted: WantedResults,
        context: &mut Context,
    ) -> Result<Outcome<TaskResults<'l>>> {
        let results = self.results(&outcome.fit, wanted, &mut || context.step("posteriors", 0, None))?;
        Ok(outcome.map_consensus(|_| TaskResults::Disk(Box::new(results))))
    }
}

impl<'l> Results<'l> {
    /// With the facts of an outcome.
    pub fn new(outcome: Outcome<TaskResults<'l>>, wanted: WantedResults) -> Self {
        let summary = outcome.fit.consensus.summary(wanted.counts);
        Self { outcome, summary }
    }

    /// How much was labelled, in words.
    pub fn size(&self) -> String {
        let labels = &self.outcome.fit.consensus;
        format!(
            "{}, {}, {}, {}{}",
            plural(self.summary.tasks as usize, "task"),
            plural(labels.facts().workers.len(), "worker"),
            plural(labels.facts().classes.len(), "class"),
            plural(self.summary.labels as usize, "label"),
            if labels.spilled_bytes().is_some() {
                ", on disk"
            } else {
                ""
            }
        )
    }
}
