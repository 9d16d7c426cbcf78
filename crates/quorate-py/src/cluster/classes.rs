//! The classes of labels whose distinct values were gathered elsewhere.

use pyo3::prelude::*;
use quorate::annotations::{ClassOrder, Names};
use quorate::internal::annotations::join_codes;
use quorate::internal::run::Known;
use quorate_cli::reading::similar_classes;
use quorate_cli::run_words::tell_further;

use crate::arguments::MessageLog;
use crate::errors::{Failure, raise};

/// Most classes of a table.
const MOST: usize = quorate::annotations::MAX_CLASSES;

/// Classes, codes of those found, notes, warnings.
type Arranged = (Vec<String>, Vec<u16>, Vec<String>, Vec<String>);

/// Puts classes in order as a table in memory has them: `found` in the labels so many times (`counts`),
/// `further` known from gold or earlier work. Returns the classes, the code of each one found, notes and
/// warnings.
#[pyfunction]
#[pyo3(signature = (found, counts, *, further, normalize))]
pub fn arrange_classes(
    py: Python<'_>,
    found: Vec<String>,
    counts: Vec<u64>,
    further: Vec<String>,
    normalize: bool,
) -> PyResult<Arranged> {
    if found.len() + further.len() > MOST {
        let words = format!(
            "found {} distinct labels, expected at most {MOST} classes: is it the right label column?",
            found.len()
        );
        return Err(raise(py, Failure::Input(words)));
    }
    let names: Names = found.iter().map(String::as_str).collect();
    let (natural, natural_codes) = ClassOrder::Natural.arrange(&names);
    let mut messages = MessageLog::default();
    let mut natural_counts = vec![0; natural.len()];
    for (&code, count) in natural_codes.iter().zip(counts) {
        natural_counts[usize::from(code)] += count;
    }
    let groups = similar_classes(&natural, &|| natural_counts.clone(), normalize, &mut messages);
    let (joined, joined_codes) = join_codes(&natural, &groups);
    let mut all = joined.clone();
    further.iter().for_each(|class| {
        all.intern(class);
    });
    let (classes, codes) = if all.len() > joined.len() {
        ClassOrder::Natural.arrange(&all)
    } else {
        (all, (0..joined.len() as u16).collect())
    };
    let codes = natural_codes
        .iter()
        .map(|&code| codes[usize::from(joined_codes[usize::from(code)])])
        .collect();
    let unknown = further.iter().map(String::as_str);
    let known = Known {
        further_classes: unknown.filter(|class| joined.find(class).is_none()).collect(),
        ..Known::default()
    };
    tell_further(&known, &mut messages);
    let classes = classes.iter().map(str::to_owned).collect();
    Ok((classes, codes, messages.notes, messages.warnings))
}
