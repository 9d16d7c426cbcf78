//! The tasks whose label is not that of majority vote, and who tipped them.
//!
//! Columns: task, majority (its label by votes), votes (`class:number` pairs), label, confidence, tipped_by
//! (the workers whose answers favour the label most, with the factor by which each multiplies its odds
//! against the majority's).

use anyhow::Result;
use quorate::Annotations;
use quorate::methods::{Fit, vote_fractions};
use quorate::model::explain;
use quorate_io::{ChangeRow, Target};

/// Workers named for one task.
const NAMED: usize = 3;

/// Smallest factor worth naming.
const TELLING: f64 = 1.05;

/// Writes the table.
pub fn write_changes(target: &Target, annotations: &Annotations, fit: &Fit) -> Result<()> {
    let votes = vote_fractions(annotations);
    let changed = (0..votes.len()).filter(|&task| votes.label(task) != fit.consensus.label(task));
    let classes = annotations.classes();
    let rows: Vec<ChangeRow<'_>> = changed
        .map(|task| {
            let (majority, label) = (votes.label(task), fit.consensus.label(task));
            ChangeRow {
                task: annotations.tasks().get(task),
                majority: classes.get(majority),
                votes: count_votes(annotations, task),
                label: classes.get(label),
                confidence: fit.consensus.confidence(task),
                tipped_by: name_tipping(annotations, fit, task, label, majority),
            }
        })
        .collect();
    Ok(quorate_io::write_changes(target, None, &rows)?)
}

fn count_votes(annotations: &Annotations, task: usize) -> String {
    let mut counts = vec![0; annotations.class_count()];
    for (_, answer) in annotations.labels_of_task(task) {
        counts[answer] += 1;
    }
    let given = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    let parts: Vec<String> = given
        .map(|(class, count)| format!("{}:{count}", annotations.classes().get(class)))
        .collect();
    parts.join(" ")
}

fn name_tipping(annotations: &Annotations, fit: &Fit, task: usize, label: usize, majority: usize) -> String {
    let Some(model) = &fit.model else {
        return String::new();
    };
    let told = explain(annotations, model, task, label, majority);
    let telling = told
        .iter()
        .filter(|testimony| testimony.weight.exp() >= TELLING)
        .take(NAMED);
    let parts: Vec<String> = telling
        .map(|testimony| {
            let factor = testimony.weight.exp();
            let shown = if factor < 1000.0 {
                format!("{factor:.1}")
            } else {
                ">1000".to_owned()
            };
            format!("{} (x{shown})", annotations.workers().get(testimony.worker))
        })
        .collect();
    parts.join(", ")
}
