//! A model brought up to date: a fit of the labels that it rests on and of new ones together.
//!
//! The labels of the model were kept. They are joined with the new ones as if all rows stood in one file, and
//! fitted from the votes, as a full fit does, in fewer passes (`model/squarem`). A start from the saved counts
//! would save little more, and end in another optimum of the likelihood than a full fit for a few tasks.

use crate::annotations::{Annotations, Duplicates};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::methods::{Aggregate, DawidSkeneEm, Declared, Fit, Method, Values};

/// The one method whose models can be brought up to date.
pub const UPDATABLE: &str = "dawid-skene";

/// How many labels, tasks and workers came together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Joined {
    /// Labels that the model rests on.
    pub old_labels: usize,
    /// Labels that were added to them.
    pub new_labels: usize,
    /// Tasks that the model does not know.
    pub new_tasks: usize,
    /// Workers whom it does not know.
    pub new_workers: usize,
}

/// The labels that a model rests on, followed by the new ones. `closed`: the caller listed the classes of the
/// new ones, and no others are allowed.
pub fn join_update(
    old: Annotations,
    new: &Annotations,
    duplicates: Duplicates,
    closed: bool,
) -> Result<(Annotations, Joined)> {
    let missing = |class: &&str| new.classes().find(class).is_none();
    if let (true, Some(class)) = (closed, old.classes().iter().find(missing)) {
        return Err(Error::UnlistedClass {
            class: class.to_owned(),
            of: "the labels of the model",
        });
    }
    let (old_labels, tasks, workers) = (old.label_count(), old.task_count(), old.worker_count());
    let joined = old.concat(new, duplicates)?;
    let counts = Joined {
        old_labels,
        new_labels: new.label_count(),
        new_tasks: joined.task_count() - tasks,
        new_workers: joined.worker_count() - workers,
    };
    Ok((joined, counts))
}

/// [`UPDATABLE`] with these parameters, in fewer passes over the labels.
pub fn updating(values: &Values) -> Box<dyn Aggregate> {
    Box::new(Updating(DawidSkeneEm::from(values)))
}

/// `dawid-skene`, accelerated.
#[derive(Debug)]
struct Updating(DawidSkeneEm);

impl Declared for Updating {
    fn method(&self) -> &'static Method {
        self.0.method()
    }

    fn values(&self) -> Vec<String> {
        self.0.values()
    }
}

impl Aggregate for Updating {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        self.0.fit_accelerated(annotations, context)
    }
}
