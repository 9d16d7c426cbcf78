//! What can go wrong: what was found, what was expected, and a typed remedy.

use std::sync::Arc;

use crate::remedy::Remedy;

/// Result of everything in this library that can fail on bad input.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Bad input or a request that cannot be met. Non-convergence is not an error: see
/// [`Fit`](crate::methods::Fit).
#[derive(Debug, thiserror::Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// No label is left to work with.
    #[error("there are no labels: {0}")]
    NoLabels(String),
    /// A task or worker id is empty.
    #[error("the {0} id is empty: every row needs a task, a worker and a label")]
    EmptyId(&'static str),
    /// A label outside the classes that the caller allowed.
    #[error("label {label:?} is not one of the given classes {}", list(classes))]
    UnknownClass {
        /// The label that was found.
        label: String,
        /// The classes that were given.
        classes: Vec<String>,
    },
    /// A class from elsewhere that is not among those that the caller allowed.
    #[error("class {class:?} of {of} is not among the classes that are allowed")]
    UnlistedClass {
        /// The class.
        class: String,
        /// Where it is from.
        of: &'static str,
    },
    /// Truths are marked in the labels, and others are given beside them.
    #[error("truths are marked in the labels, and others are given beside them")]
    TruthsTwice,
    /// The same class was given twice.
    #[error("class {0:?} is given twice")]
    RepeatedClass(String),
    /// One worker answered one task twice, and the caller asked for that to be an error.
    #[error(
        "worker {worker:?} labelled task {task:?} more than once: keep one row, or choose what to do \
         with repeated rows (last, first, keep)"
    )]
    RepeatedLabel {
        /// The task's id.
        task: String,
        /// The worker's id.
        worker: String,
    },
    /// More distinct values than the table can hold.
    #[error("more than {limit} distinct {what}: {hint}")]
    TooMany {
        /// What there are too many of.
        what: &'static str,
        /// The largest number allowed.
        limit: usize,
        /// What to do about it.
        hint: &'static str,
    },
    /// A method would need more memory than the context allows.
    #[error(
        "{what} would need about {} of memory{}, above the limit of {}: {hint}",
        format_bytes(*needed),
        if needed > limit { String::new() } else { format!(" beside the {} in use", format_bytes(*in_use)) },
        format_bytes(*limit)
    )]
    TooLarge {
        /// What is too large.
        what: String,
        /// Bytes needed.
        needed: u64,
        /// Bytes that are allocated already; 0 where nobody counts them.
        in_use: u64,
        /// Bytes allowed.
        limit: u64,
        /// What to do about it.
        hint: String,
        /// What else would help.
        remedy: Option<Remedy>,
    },
    /// The method is not defined for this input (binary-only method with more classes, say).
    #[error("{method} cannot be used here: {reason}")]
    NotApplicable {
        /// The method's name.
        method: &'static str,
        /// Why, and what to do.
        reason: String,
    },
    /// The method cannot go through labels block by block.
    #[error(
        "{method} needs all labels in memory; methods that go through them in blocks are {}",
        streaming()
    )]
    NeedsAllLabels {
        /// The method's name.
        method: &'static str,
    },
    /// Labels could not be read again from where they are.
    #[error("{0}")]
    Source(SourceError),
    /// The method needs something besides the labels, and it was not given.
    #[error("{method} cannot be used here: {reason}")]
    MissingInput {
        /// The method's name.
        method: &'static str,
        /// What it needs.
        reason: &'static str,
        /// How to give it.
        remedy: Remedy,
    },
    /// No method of this name.
    #[error("there is no method {name:?}{}", suggest(suggestion))]
    UnknownMethod {
        /// The name asked for.
        name: String,
        /// The nearest known name, if one is near.
        suggestion: Option<String>,
    },
    /// A parameter that is unknown, out of range or not of the right kind.
    #[error("parameter {name:?}: {problem}")]
    Parameter {
        /// The parameter's name.
        name: String,
        /// What was found and what was expected.
        problem: String,
    },
    /// Two values that should fit together do not.
    #[error("{0}")]
    Mismatch(String),
    /// The caller asked to stop.
    #[error("cancelled")]
    Cancelled,
}

impl Error {
    /// What is wrong with the value of a parameter.
    pub(crate) fn parameter(name: &str, problem: impl Into<String>) -> Self {
        let (name, problem) = (name.to_owned(), problem.into());
        Self::Parameter { name, problem }
    }

    /// What would take more memory than there is, whatever the caller does.
    pub(crate) fn too_large(what: String, needed: u64, limit: u64, hint: &str) -> Self {
        Self::TooLarge {
            what,
            needed,
            in_use: 0,
            limit,
            hint: hint.to_owned(),
            remedy: None,
        }
    }

    /// What the caller can do about it, where something can be done.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::TooLarge { remedy, .. } => *remedy,
            Self::MissingInput { remedy, .. } => Some(*remedy),
            Self::UnknownMethod { .. } => Some(Remedy::ListMethods),
            Self::UnlistedClass { .. } => Some(Remedy::ListClass),
            Self::TruthsTwice => Some(Remedy::GiveTruthsOnce),
            _ => None,
        }
    }
}

fn list(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("{name:?}")).collect();
    let mut text = shown.join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(", and {} more", names.len() - SHOWN));
    }
    text
}

fn suggest(suggestion: &Option<String>) -> String {
    let words = |name: &String| format!(" (did you mean {name:?}?)");
    suggestion.as_ref().map(words).unwrap_or_default()
}

/// A number of bytes for people: three digits at most, and never none where there are some.
pub fn format_bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let (mut size, mut unit) = (bytes as f64 / 1024.0, 0);
    while size >= 999.5 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    let digits = usize::from(size < 9.95);
    format!("{size:.digits$} {}", UNITS[unit])
}

/// Names of the methods that go through labels in blocks.
fn streaming() -> String {
    let streaming = crate::methods::METHODS.iter().filter(|method| method.streams);
    streaming.map(|method| method.name).collect::<Vec<_>>().join(", ")
}

/// Why labels could not be read from where they are.
#[derive(Debug, Clone)]
pub struct SourceError(Arc<dyn std::error::Error + Send + Sync>);

impl SourceError {
    /// From the error of whoever holds the labels.
    pub fn new(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(error))
    }
}

impl std::fmt::Display for SourceError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The same error, not one that reads the same.
impl PartialEq for SourceError {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
