//! What a run is made of: the context for fits, with progress and Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use quorate::methods::DEFAULT_METHOD;
use quorate::model::Priors;
use quorate::{Annotations, Context, Fit, TaskFeatures, TaskProbabilities};

use crate::args::RunArgs;
use crate::catalog::find;
use crate::input::InputArgs;
use crate::interrupt;
use crate::knowledge::KnowledgeArgs;
use crate::printer::Printer;
use crate::progress::Bar;

/// Makes contexts for the fits of one command.
#[derive(Debug, Clone)]
pub struct Session {
    run: RunArgs,
    quiet: bool,
    probabilities: Option<TaskProbabilities>,
    features: Option<Arc<TaskFeatures>>,
    priors: Priors,
}

impl Session {
    /// A command's part of the session: what it was asked for.
    pub fn start(run: &RunArgs, quiet: bool) -> Self {
        Self {
            run: run.clone(),
            quiet,
            probabilities: None,
            features: None,
            priors: Priors::default(),
        }
    }

    /// Labels in memory with what is known of them, and the session for their fits.
    pub fn with_labels(
        input: &InputArgs,
        knowledge: &KnowledgeArgs,
        run: &RunArgs,
        printer: &mut Printer,
    ) -> Result<(Arc<Annotations>, Self)> {
        let (annotations, priors, _) = knowledge.add_to(input.read(printer)?, input, printer)?;
        let session = Self::start(run, printer.quiet()).with_priors(priors);
        let session = session.with_side_data(input, &annotations, printer)?;
        Ok((annotations, session))
    }

    /// A fit of the default method, for commands that look at the labels of one.
    pub fn default_fit(&self, annotations: &Annotations) -> Result<Fit> {
        let method = find(DEFAULT_METHOD)?.with_defaults()?;
        Ok(method.fit(annotations, &mut self.context(DEFAULT_METHOD, 0)?)?)
    }

    /// Gives every fit what the input says of the tasks: class probabilities and features.
    pub fn with_side_data(
        mut self,
        input: &InputArgs,
        annotations: &Annotations,
        printer: &mut Printer,
    ) -> Result<Self> {
        self.probabilities = input.read_probabilities(annotations, printer)?;
        self.features = input.read_features(annotations, printer)?.map(Arc::new);
        Ok(self)
    }

    /// The flag that Ctrl-C sets: fits stop at their next step, and outputs do not appear.
    pub fn cancellation(&self) -> Arc<AtomicBool> {
        let flag = interrupt::flag();
        quorate_io::stop_outputs_when(Arc::clone(&flag));
        flag
    }

    /// Gives every fit these expectations about classes and workers.
    pub fn with_priors(mut self, priors: Priors) -> Self {
        self.priors = priors;
        self
    }

    /// Whether Ctrl-C was pressed.
    pub fn is_cancelled(&self) -> bool {
        self.cancellation().load(Ordering::Relaxed)
    }

    /// A context with the seed moved by `offset` (repeated runs), with progress under `title`.
    pub fn context(&self, title: &str, offset: u64) -> Result<Context> {
        let mut context = Context::new(self.run.seed.wrapping_add(offset))
            .with_threads(self.run.useful_threads())?
            .with_memory_limit(self.run.memory.bytes())
            .with_cancellation(self.cancellation())
            .with_priors(self.priors.clone());
        if let Some(probabilities) = &self.probabilities {
            context = context.with_class_probabilities(probabilities.clone());
        }
        if let Some(features) = &self.features {
            context = context.with_features(Arc::clone(features));
        }
        Ok(match Bar::new(title, self.quiet) {
            Some(bar) => context.with_progress(bar),
            None => context,
        })
    }
}
