//! What the user knows besides the labels: true labels, shares of the classes, earlier work of the workers.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use quorate::Annotations;
use quorate::annotations::Names;
use quorate::model::{ClassPrior, Priors};
use quorate_io::{
    Columns, LabelColumns, LabelOptions, ModelFile, Source, TaskLabels, read_labels, read_model,
};

use crate::column_words::{parse_label_columns, tell_label_columns};
use crate::labels::Labels;
use crate::numbers::number;
use crate::printer::Printer;
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
    /// Names of the columns of the labels.
    #[arg(skip)]
    pub like: Option<Columns>,
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

/// Labels with the truths that are known, and what is expected of classes and workers.
#[derive(Debug)]
pub struct Knowledge {
    /// The labels with their gold; classes of gold and history are among its classes.
    pub labels: Labels,
    /// Expectations for the fit.
    pub priors: Priors,
    /// The model that the history is from.
    pub earlier: Option<ModelFile>,
}

/// Reads a table of known or predicted labels and says which columns were taken. `like`: the names of the
/// columns of the annotations.
pub fn read_known(
    option: &str,
    path: &Path,
    columns: LabelColumns,
    like: Option<Columns>,
    printer: &mut Printer,
) -> Result<TaskLabels> {
    let options = LabelOptions {
        columns,
        like,
        ..LabelOptions::default()
    };
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
    /// The same, for labels in these columns: gold may have columns of the same names.
    pub fn beside(&self, columns: Columns) -> Self {
        Self {
            like: Some(columns),
            ..self.clone()
        }
    }

    /// Reads what is known and fits it to the labels. `closed`: the user listed the classes.
    pub fn apply(&self, mut labels: Labels, closed: bool, printer: &mut Printer) -> Result<Knowledge> {
        let gold = match &self.gold {
            Some(_) if labels.has_gold() => {
                bail!("truths come from --use-gold and from --gold: give one of them");
            }
            Some(path) => {
                let columns = parse_label_columns("--gold-columns", &self.gold_columns)?;
                Some(read_known("--gold", path, columns, self.like.clone(), printer)?)
            }
            None => None,
        };
        let earlier = match &self.worker_prior {
            Some(path) => Some(read_model(&Source::from(path.clone()))?),
            None => None,
        };
        let mut further: Vec<&str> = Vec::new();
        if let Some(gold) = &gold {
            further.extend(gold.classes.iter());
        }
        if let Some(earlier) = &earlier {
            further.extend(earlier.classes.iter().map(String::as_str));
        }
        further.retain(|class| labels.classes().find(class).is_none());
        if let Some(class) = further.first() {
            if closed {
                bail!(
                    "class {class:?} of --gold or --worker-prior is not among --classes: add it there, or leave --classes out"
                );
            }
            printer.note(format!(
                "{} that no worker named, known from --gold or --worker-prior: {}",
                plural(further.len(), "class"),
                further.join(", ")
            ));
            labels = labels.with_classes(further)?;
        }
        let mut priors = Priors::default();
        if let Some(gold) = &gold {
            labels = add_gold(labels, gold, printer)?;
        }
        if let Some(text) = &self.prior {
            priors.classes = Some(self.class_prior(text, labels.classes())?);
        }
        if let Some(earlier) = &earlier {
            let (counts, known) =
                earlier.history(labels.workers(), labels.classes(), self.worker_prior_weight);
            if known == 0 {
                printer.warning("none of the workers is in the model of --worker-prior: it has no effect");
            } else {
                printer.note(format!(
                    "{} of {} known from --worker-prior",
                    plural(known, "worker"),
                    labels.workers().len()
                ));
                priors.workers = Some(counts);
            }
        }
        Ok(Knowledge {
            labels,
            priors,
            earlier,
        })
    }

    /// [`apply`](Self::apply) for a command that keeps all labels in memory.
    pub fn apply_in_memory(
        &self,
        annotations: Annotations,
        closed: bool,
        printer: &mut Printer,
    ) -> Result<(Annotations, Priors)> {
        let known = self.apply(Labels::Memory(Box::new(annotations)), closed, printer)?;
        match known.labels {
            Labels::Memory(annotations) => Ok((*annotations, known.priors)),
            Labels::Disk(_) => unreachable!("labels do not move to disk"),
        }
    }

    fn class_prior(&self, text: &str, classes: &Names) -> Result<ClassPrior> {
        let shares = match text.trim() {
            "uniform" => vec![1.0 / classes.len() as f64; classes.len()],
            pairs => {
                let mut shares = vec![None; classes.len()];
                for pair in pairs.split(',') {
                    let (class, share) = pair.rsplit_once('=').with_context(|| {
                        format!("--prior {pair:?}: expected CLASS=SHARE, for example spam=0.1,ham=0.9")
                    })?;
                    let code = classes.find(class.trim()).with_context(|| {
                        let known: Vec<&str> = classes.iter().take(20).collect();
                        format!(
                            "--prior: there is no class {class:?}; the classes are {}",
                            known.join(", ")
                        )
                    })?;
                    let share: f64 = share
                        .trim()
                        .parse()
                        .ok()
                        .with_context(|| format!("--prior {pair:?}: {share:?} is not a number"))?;
                    if shares[code as usize].replace(share).is_some() {
                        bail!("--prior names class {class:?} twice");
                    }
                }
                let missing = shares.iter().position(Option::is_none);
                if let Some(class) = missing {
                    bail!("--prior gives no share for class {:?}", classes.get(class));
                }
                shares.into_iter().flatten().collect()
            }
        };
        let prior = match self.prior_weight {
            Some(tasks) => ClassPrior::worth_tasks(shares, tasks),
            None => ClassPrior::fixed(shares),
        };
        prior.map_err(|error| match error {
            quorate::Error::Parameter { problem, .. } => anyhow!("--prior {text}: {problem}"),
            error => error.into(),
        })
    }
}

fn add_gold(labels: Labels, gold: &TaskLabels, printer: &mut Printer) -> Result<Labels> {
    let (labels, known) = labels.with_gold(gold)?;
    let foreign = gold.tasks.len() - known;
    if foreign > 0 {
        printer.warning(format!(
            "{} of --gold that nobody labelled: not used",
            plural(foreign, "task")
        ));
    }
    printer.note(format!(
        "{} of {} known from --gold",
        plural(known, "task"),
        labels.task_count()
    ));
    Ok(labels)
}
