//! What the user knows besides the labels: true labels, shares of the classes, earlier work of the workers.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use clap::Args;
use quorate::internal::run::{ClassShares, History, Knowledge, LabelTable};
use quorate::model::Priors;
use quorate_io::{Columns, LabelOptions, ModelFile, Source, TaskLabels, read_labels, read_model};

use crate::column_words::{parse_label_columns, tell_label_columns};
use crate::input::InputArgs;
use crate::numbers::number;
use crate::printer::Printer;
use crate::run_words::tell_known;
use crate::text_table::plural;

/// What is known beforehand.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "What you know already")]
pub struct KnowledgeArgs {
    /// Tasks whose truth is known (columns task, label): fixed in every step, and workers are learnt from
    /// them
    #[arg(long, value_name = "FILE")]
    pub gold: Option<PathBuf>,
    /// Names of the columns of --gold, where they are neither found by themselves nor those of --columns
    #[arg(
        long,
        value_name = "task=NAME,label=NAME",
        value_delimiter = ',',
        requires = "gold"
    )]
    pub gold_columns: Vec<String>,
    /// Shares of the classes, for example spam=0.1,ham=0.9, or `uniform`; held fixed unless --prior-weight is
    /// given
    #[arg(long, value_name = "CLASS=SHARE,..")]
    pub prior: Option<String>,
    /// Let the data correct --prior: it counts as much as this many tasks
    #[arg(long, value_name = "TASKS", requires = "prior", value_parser = number(1e-6, 1e12))]
    pub prior_weight: Option<f64>,
    /// A model of earlier labels (from --model): what it rests on counts as if those labels were here, too
    #[arg(long, value_name = "MODEL")]
    pub worker_prior: Option<PathBuf>,
    /// Weight of an earlier label beside a new one: below 1 where workers change
    #[arg(long, value_name = "SHARE", requires = "worker_prior", default_value_t = 1.0, value_parser = number(1e-6, 1000.0))]
    pub worker_prior_weight: f64,
}

/// Reads a table of known or predicted labels and says which columns were taken. `like`: the names of the
/// columns of the annotations.
pub fn read_known(
    option: &str,
    path: &Path,
    columns: Columns,
    like: Option<Columns>,
    printer: &mut Printer,
) -> Result<TaskLabels> {
    let options = LabelOptions { columns, like };
    let read = read_labels(&Source::from(path), &options)?;
    tell_label_columns(option, &options.columns, &read.columns, printer);
    if read.unlabelled > 0 {
        printer.warning(format!(
            "{} of {option} without a label: not used",
            plural(read.unlabelled as usize, "row")
        ));
    }
    Ok(read)
}

impl KnowledgeArgs {
    /// Reads what is known and adds it to the labels. With them come the priors, and the model that the
    /// history of the workers is from.
    pub fn add_to<L: LabelTable>(
        &self,
        labels: L,
        input: &InputArgs,
        printer: &mut Printer,
    ) -> Result<(L, Priors, Option<ModelFile>)> {
        let gold = match &self.gold {
            Some(path) => {
                let columns = parse_label_columns("--gold-columns", &self.gold_columns)?;
                Some(read_known(
                    "--gold",
                    path,
                    columns,
                    Some(input.columns()?),
                    printer,
                )?)
            }
            None => None,
        };
        let earlier = match &self.worker_prior {
            Some(path) => Some(read_model(&Source::from(path.clone()))?),
            None => None,
        };
        let weight = self.worker_prior_weight;
        let knowledge = Knowledge {
            gold: gold.as_ref().map(TaskLabels::truths),
            classes: self.class_shares()?,
            history: earlier.as_ref().map(|model| (model as &dyn History, weight)),
            closed: input.classes.is_some(),
        };
        let (labels, known) = knowledge
            .add_to(labels)
            .map_err(|error| match (error, &self.prior) {
                (quorate::Error::Parameter { name, problem }, Some(prior)) if name == "prior" => {
                    anyhow!("--prior {prior}: {problem}")
                }
                (error, _) => error.into(),
            })?;
        tell_known(&known, labels.facts(), printer);
        Ok((labels, known.priors, earlier))
    }

    /// What --prior says; no shares mean equal ones.
    fn class_shares(&self) -> Result<Option<ClassShares>> {
        let Some(text) = &self.prior else {
            return Ok(None);
        };
        let share = |pair: &str| {
            let (class, share) = pair.rsplit_once('=').with_context(|| {
                format!("--prior {pair:?}: expected CLASS=SHARE, for example spam=0.1,ham=0.9")
            })?;
            let number = share.trim().parse().ok();
            let number = number.with_context(|| format!("--prior {pair:?}: {share:?} is not a number"))?;
            Ok((class.trim().to_owned(), number))
        };
        let shares = match text.trim() {
            "uniform" => Vec::new(),
            pairs => pairs.split(',').map(share).collect::<Result<_>>()?,
        };
        Ok(Some(ClassShares {
            shares,
            tasks: self.prior_weight,
        }))
    }
}
