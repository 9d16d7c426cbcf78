//! The tasks whose label is not that of majority vote, and who tipped them.
//!
//! Columns: task, majority (its label by votes), votes (`class:number` pairs), label, confidence, tipped_by (the workers whose
//! answers favour the label most, with the factor by which each multiplies its odds against the majority's).

use anyhow::Result;
use quorate::Annotations;
use quorate::methods::{Fit, vote_fractions};
use quorate::model::explain;
use quorate_io::{Cell, ColumnKind, RowSource, Target, write_table};

/// Workers named for one task.
const NAMED: usize = 3;

/// Smallest factor worth naming.
const TELLING: f64 = 1.05;

struct Change {
    task: usize,
    majority: usize,
    votes: String,
    label: usize,
    confidence: f64,
    tipped_by: String,
}

struct Changes<'a> {
    annotations: &'a Annotations,
    rows: Vec<Change>,
}

/// Writes the table.
pub fn write_changes(target: &Target, annotations: &Annotations, fit: &Fit) -> Result<()> {
    let votes = vote_fractions(annotations);
    let changed = (0..votes.len()).filter(|&task| votes.label(task) != fit.consensus.label(task));
    let rows = changed
        .map(|task| {
            let (majority, label) = (votes.label(task), fit.consensus.label(task));
            Change {
                task,
                majority,
                votes: count_votes(annotations, task),
                label,
                confidence: fit.consensus.confidence(task),
                tipped_by: name_tipping(annotations, fit, task, label, majority),
            }
        })
        .collect();
    write_table(target, None, &Changes { annotations, rows })?;
    Ok(())
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

impl RowSource for Changes<'_> {
    fn columns(&self) -> Vec<(String, ColumnKind)> {
        let text = |name: &str| (name.to_owned(), ColumnKind::Text);
        let confidence = ("confidence".to_owned(), ColumnKind::Number);
        vec![
            text("task"),
            text("majority"),
            text("votes"),
            text("label"),
            confidence,
            text("tipped_by"),
        ]
    }

    fn for_each_row(
        &self,
        each: &mut dyn FnMut(&[Cell<'_>]) -> quorate_io::Result<()>,
    ) -> quorate_io::Result<()> {
        let (tasks, classes) = (self.annotations.tasks(), self.annotations.classes());
        for row in &self.rows {
            each(&[
                Cell::Text(tasks.get(row.task)),
                Cell::Text(classes.get(row.majority)),
                Cell::Text(&row.votes),
                Cell::Text(classes.get(row.label)),
                Cell::from(row.confidence),
                Cell::Text(&row.tipped_by),
            ])?;
        }
        Ok(())
    }
}
