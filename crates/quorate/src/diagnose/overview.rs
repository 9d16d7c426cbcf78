//! Plain facts of labels in blocks, wherever they are: what is there, how far workers agree, who is
//! connected.

use crate::agreement::{CountPatterns, Undefined, overall};
use crate::annotations::Names;
use crate::blocks::{Blocks, Passes, Stage};
use crate::context::Context;
use crate::error::Result;
use crate::statistics::{Components, Crowd};

/// What two passes over the labels tell.
#[derive(Debug, Clone, PartialEq)]
pub struct Overview {
    /// Tasks, those without labels included.
    pub tasks: u64,
    /// Labels.
    pub labels: u64,
    /// Tasks that nobody labelled.
    pub unlabelled_tasks: u64,
    /// Tasks with at least two labels.
    pub pairable_tasks: u64,
    /// Labels of each class, in order of class.
    pub labels_per_class: Vec<u64>,
    /// Least and greatest number of labels on a labelled task.
    pub labels_per_task: (u64, u64),
    /// Labels of each worker.
    pub labels_per_worker: Vec<u32>,
    /// Pairs of labels on the same task.
    pub pairs_of_labels: u64,
    /// Connected parts of the crowd.
    pub parts: Components,
    /// Coefficients of agreement by name.
    pub agreement: Vec<(&'static str, std::result::Result<f64, Undefined>)>,
}

/// Names of the coefficients, in order.
const COEFFICIENTS: [&str; 6] = [
    "observed",
    "fleiss",
    "alpha_nominal",
    "alpha_ordinal",
    "alpha_interval",
    "ac1",
];

impl Overview {
    /// Of labels of these classes: two passes.
    pub fn of(blocks: &mut dyn Blocks, classes: &Names, context: &mut Context) -> Result<Self> {
        let mut passes = Passes::over(blocks);
        let crowd = Crowd::of(&mut passes, context)?;
        let (tasks, labels) = (passes.task_count(), passes.label_count());
        let patterns = passes.run(&mut CountPatterns {}, Stage::single("agreement"), context)?;
        let mut labels_per_class = vec![0; classes.len()];
        let (mut labelled, mut least, mut most) = (0, u64::MAX, 0);
        for (pattern, &tasks) in patterns.iter().zip(patterns.tasks()) {
            for &(class, labels) in pattern.counts {
                labels_per_class[usize::from(class)] += u64::from(labels) * tasks;
            }
            labelled += tasks;
            (least, most) = (least.min(pattern.labels as u64), most.max(pattern.labels as u64));
        }
        let coefficients = overall(&patterns, classes);
        Ok(Self {
            tasks,
            labels,
            unlabelled_tasks: tasks - labelled,
            pairable_tasks: patterns.pairable_tasks(),
            labels_per_class,
            labels_per_task: (least.min(most), most),
            labels_per_worker: crowd.labels,
            pairs_of_labels: crowd.pairs_of_labels,
            parts: crowd.parts,
            agreement: COEFFICIENTS.into_iter().zip(coefficients).collect(),
        })
    }
}
