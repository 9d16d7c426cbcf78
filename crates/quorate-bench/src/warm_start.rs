//! Where EM ends that starts from saved posteriors instead of from the votes.
//!
//! Tasks whose labels are the same as before start from their posteriors, the others from their votes.

use std::path::Path;

use anyhow::Context as _;
use quorate::annotations::Duplicates;
use quorate::methods::{DawidSkeneEm, Values, find, vote_fractions};
use quorate::model::{Consensus, EmStart, count_answers};
use quorate::{Annotations, Context};
use quorate_io::{ReadOptions, Source, read_annotations};

/// Rounds from both starts, and how the ends differ.
pub struct WarmStart {
    /// Rounds of a full fit.
    pub from_votes: usize,
    /// Rounds from the saved posteriors.
    pub from_saved: usize,
    /// Tasks with another label.
    pub other: usize,
    /// Largest difference of two probabilities.
    pub largest: f64,
    /// What the log-likelihood has above that of the full fit.
    pub above: f64,
}

/// Fits the old labels, then all labels from there and from the votes.
pub fn measure(old: &Path, new: &Path, parameters: &[(String, String)]) -> anyhow::Result<WarmStart> {
    let read = |path: &Path| {
        let read = read_annotations(&Source::from(path), &ReadOptions::default());
        anyhow::Ok(read?.annotations)
    };
    let em = DawidSkeneEm::from(&Values::with(find("dawid-skene")?.parameters, parameters)?).em();
    let (old, new) = (read(old)?, read(new)?);
    let mut context = Context::new(0);
    let mut fit = |labels: &Annotations, start: EmStart| em.fit(labels, start, &mut context);
    let before = fit(&old, EmStart::Votes)?;
    let all = old.clone().concat(&new, Duplicates::default())?;
    let full = fit(&all, EmStart::Votes)?;
    let saved = count_answers(&all, &start(&old, &before.consensus, &all));
    let warm = fit(&all, EmStart::Counts(saved))?;
    let differences = full.consensus.as_slice().iter().zip(warm.consensus.as_slice());
    let last = |trace: &[f64]| trace.last().copied().context("EM keeps a trace");
    Ok(WarmStart {
        from_votes: full.iterations,
        from_saved: warm.iterations,
        other: (0..all.task_count())
            .filter(|&task| full.consensus.label(task) != warm.consensus.label(task))
            .count(),
        largest: differences.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max),
        above: last(&warm.trace)? - last(&full.trace)?,
    })
}

fn start(old: &Annotations, saved: &Consensus, all: &Annotations) -> Consensus {
    let classes = all.class_count();
    let mut rows = vote_fractions(all).into_vec();
    let of_class: Vec<usize> = old
        .classes()
        .iter()
        .map(|class| all.classes().find(class).map_or(0, |code| code as usize))
        .collect();
    for (task, row) in rows.chunks_exact_mut(classes).enumerate() {
        let Some(before) = old.tasks().find(all.tasks().get(task)) else {
            continue;
        };
        let before = before as usize;
        if old.task_slices(before).0.len() == all.task_slices(task).0.len() {
            row.fill(0.0);
            for (&class, &probability) in of_class.iter().zip(saved.row(before)) {
                row[class] = probability;
            }
        }
    }
    Consensus::new(classes, rows)
}
