//! What is known besides the labels: true labels, shares of the classes, earlier work of the workers. It comes
//! by name, and becomes part of the labels and of the priors.

use std::sync::Arc;

use crate::annotations::{Annotations, Names, RowCounts, SimilarClasses};
use crate::error::{Error, Result};
use crate::model::{AnswerCounts, ClassPrior, Priors};

/// What is known besides the labels.
#[derive(Clone, Default)]
pub struct Knowledge<'a> {
    /// True labels of some tasks.
    pub gold: Option<Truths<'a>>,
    /// Shares of the classes.
    pub classes: Option<ClassShares>,
    /// What the workers did earlier, and the weight of an earlier label beside a new one.
    pub history: Option<(&'a dyn History, f64)>,
    /// Whether the caller listed the classes, and no others are allowed.
    pub closed: bool,
}

/// Known truths by name.
#[derive(Debug, Clone, Copy)]
pub struct Truths<'a> {
    /// The tasks.
    pub tasks: &'a Names,
    /// The classes.
    pub classes: &'a Names,
    /// Code of each task's class.
    pub labels: &'a [usize],
}

/// Expected shares of the classes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClassShares {
    /// The share of each class by name; empty for equal shares.
    pub shares: Vec<(String, f64)>,
    /// Number of tasks that the shares count for; none: they are held fixed.
    pub tasks: Option<f64>,
}

/// Earlier work of workers, such as a model of earlier labels.
pub trait History {
    /// The classes that it knows.
    fn classes(&self) -> Vec<&str>;

    /// Earlier answers of these workers, times `weight`, and how many of the workers it knows.
    fn answers(&self, workers: &Names, classes: &Names, weight: f64) -> (AnswerCounts, usize);
}

/// Labels that classes and truths can be added to.
pub trait LabelTable: Sized {
    /// What there is to say of them.
    fn facts(&self) -> LabelFacts<'_>;

    /// Number of labels of each class.
    fn class_counts(&self) -> Vec<u64>;

    /// The same labels with each group of classes made one.
    fn with_joined_classes(self, groups: &[SimilarClasses]) -> Self;

    /// The same labels with further classes that no worker named.
    fn with_further_classes(self, further: &Names) -> Result<Self>;

    /// The same labels with the truth of some tasks known, and how many of these tasks there are. The classes of
    /// the truths are among those of the labels.
    fn with_truths(self, truths: Truths<'_>) -> Result<(Self, usize)>;
}

/// What there is to say of labels, wherever they are.
#[derive(Debug, Clone, Copy)]
pub struct LabelFacts<'a> {
    /// Names of the workers.
    pub workers: &'a Names,
    /// Names of the classes.
    pub classes: &'a Names,
    /// What happened to the rows on the way in.
    pub rows: &'a RowCounts,
    /// Number of tasks.
    pub tasks: u64,
    /// Number of labels.
    pub labels: u64,
    /// Whether the truth of some tasks is known.
    pub has_gold: bool,
}

impl<'a> From<&'a Annotations> for LabelFacts<'a> {
    fn from(annotations: &'a Annotations) -> Self {
        Self {
            workers: annotations.workers(),
            classes: annotations.classes(),
            rows: annotations.rows(),
            tasks: annotations.task_count() as u64,
            labels: annotations.label_count() as u64,
            has_gold: annotations.has_gold(),
        }
    }
}

/// What knowledge came to.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Expectations for the fit.
    pub priors: Priors,
    /// Classes that no worker named.
    pub further_classes: Names,
    /// Tasks whose truth is known, and how many truths are of other tasks.
    pub gold: Option<(usize, usize)>,
    /// Workers with a history.
    pub workers: Option<usize>,
}

impl Knowledge<'_> {
    /// The labels with what is known of them.
    pub fn add_to<L: LabelTable>(&self, mut labels: L) -> Result<(L, Known)> {
        if self.gold.is_some() && labels.facts().has_gold {
            return Err(Error::TruthsTwice);
        }
        let further = self.further_classes(labels.facts().classes)?;
        if !further.is_empty() {
            labels = labels.with_further_classes(&further)?;
        }
        let mut gold = None;
        if let Some(truths) = self.gold {
            let known;
            (labels, known) = labels.with_truths(truths)?;
            gold = Some((known, truths.tasks.len() - known));
        }
        let known = self.priors(labels.facts().workers, labels.facts().classes)?;
        Ok((
            labels,
            Known {
                further_classes: further,
                gold,
                ..known
            },
        ))
    }

    /// Classes that are known from here alone.
    fn further_classes(&self, classes: &Names) -> Result<Names> {
        let of_gold = self.gold.iter().flat_map(|gold| gold.classes.iter());
        let of_gold = of_gold.map(|class| (class, "the known truths"));
        let of_history = self.history.iter().flat_map(|(history, _)| history.classes());
        let of_history = of_history.map(|class| (class, "the earlier model"));
        let all = of_gold.chain(of_history);
        let mut further = all.filter(|(class, _)| classes.find(class).is_none());
        if self.closed
            && let Some((class, of)) = further.next()
        {
            return Err(Error::UnlistedClass {
                class: class.to_owned(),
                of,
            });
        }
        Ok(further.map(|(class, _)| class).collect())
    }

    /// The priors alone, for labels that have their classes and truths already.
    pub fn priors(&self, workers: &Names, classes: &Names) -> Result<Known> {
        let shares = self
            .classes
            .as_ref()
            .map(|shares| shares.of(classes))
            .transpose()?;
        let history = self
            .history
            .map(|(history, weight)| history.answers(workers, classes, weight));
        let known = history.as_ref().map(|&(_, known)| known);
        Ok(Known {
            priors: Priors {
                classes: shares,
                workers: history.filter(|&(_, known)| known > 0).map(|(counts, _)| counts),
            },
            workers: known,
            ..Known::default()
        })
    }
}

impl ClassShares {
    /// The shares of these classes.
    fn of(&self, classes: &Names) -> Result<ClassPrior> {
        let wrong = |problem| {
            Err(Error::Parameter {
                name: "prior".into(),
                problem,
            })
        };
        let mut shares = vec![None; classes.len()];
        for (class, share) in &self.shares {
            let Some(code) = classes.find(class) else {
                let known: Vec<&str> = classes.iter().take(20).collect();
                let known = known.join(", ");
                return wrong(format!("there is no class {class:?}; the classes are {known}"));
            };
            if shares[code as usize].replace(*share).is_some() {
                return wrong(format!("class {class:?} is named twice"));
            }
        }
        if self.shares.is_empty() {
            shares.fill(Some(1.0 / classes.len() as f64));
        }
        if let Some(class) = shares.iter().position(Option::is_none) {
            return wrong(format!("there is no share for class {:?}", classes.get(class)));
        }
        let shares = shares.into_iter().flatten().collect();
        match self.tasks {
            Some(tasks) => ClassPrior::worth_tasks(shares, tasks),
            None => ClassPrior::fixed(shares),
        }
    }
}

/// A table in memory: copied only where something is added to one that is in use elsewhere.
impl LabelTable for Arc<Annotations> {
    fn facts(&self) -> LabelFacts<'_> {
        LabelFacts::from(&**self)
    }

    fn class_counts(&self) -> Vec<u64> {
        let counts = self.summary().labels_per_class;
        counts.into_iter().map(|count| count as u64).collect()
    }

    fn with_joined_classes(self, groups: &[SimilarClasses]) -> Self {
        Arc::new(Arc::unwrap_or_clone(self).with_joined_classes(groups))
    }

    fn with_further_classes(self, further: &Names) -> Result<Self> {
        Arc::unwrap_or_clone(self)
            .with_classes(further.iter())
            .map(Arc::new)
    }

    fn with_truths(self, truths: Truths<'_>) -> Result<(Self, usize)> {
        let known: Vec<(u32, u16)> = truths
            .named()
            .filter_map(|(task, class)| {
                let class = self.classes().find(class)?;
                Some((self.tasks().find(task)?, class as u16))
            })
            .collect();
        let count = known.len();
        Ok((Arc::new(Arc::unwrap_or_clone(self).with_gold(known)?), count))
    }
}

impl<'a> Truths<'a> {
    /// Every task with its class.
    pub fn named(&self) -> impl Iterator<Item = (&'a str, &'a str)> + 'a {
        let Self {
            tasks,
            classes,
            labels,
        } = *self;
        tasks
            .iter()
            .zip(labels)
            .map(|(task, &label)| (task, classes.get(label)))
    }
}
