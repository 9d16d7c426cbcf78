//! Panels of judges.

use pyo3::prelude::*;
use quorate::judges::{Judges, Panel, Unscored, VerdictPolicy};
use quorate_cli::documents;
use quorate_io::{
    Columns, LabelOptions, ReadOptions, Source, TaskLabels, read_judgements, read_labels,
    write_panel_verdicts,
};

use crate::data::Data;
use crate::errors::{Failure, raise, words};
use crate::fitting::bytes_of;
use crate::job;
use crate::kinds::Kinds;
use crate::table::ArrowTable;

fn policy_of(name: &str) -> Result<VerdictPolicy, Failure> {
    Ok(match name {
        "model" => VerdictPolicy::Model,
        "majority" => VerdictPolicy::Majority,
        "strict-majority" => VerdictPolicy::StrictMajority,
        other => {
            return Err(Failure::Parameter(format!(
                "policy: found {other:?}, expected \"model\", \"majority\" or \"strict-majority\""
            )));
        }
    })
}

/// The verdicts of a panel as a table, and the report on it as a JSON document.
#[pyfunction]
#[pyo3(signature = (
    data, *, gold, columns, classes, missing, policy, unscored, quorum, positive, seed, threads, memory, progress
))]
pub fn judges(
    py: Python<'_>,
    data: &Data,
    gold: Option<&Data>,
    columns: (String, String, String),
    classes: Option<Vec<String>>,
    missing: Vec<String>,
    policy: &str,
    unscored: &str,
    quorum: usize,
    positive: Option<String>,
    seed: u64,
    threads: usize,
    memory: f64,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(ArrowTable, String)> {
    let memory = bytes_of(memory).map_err(|failure| raise(py, failure))?;
    let policy = policy_of(policy).map_err(|failure| raise(py, failure))?;
    let (task, worker, label) = columns;
    let options = ReadOptions {
        columns: Columns { task, worker, label },
        classes,
        missing,
        ..ReadOptions::default()
    };
    let (source, known) = (data.source.clone(), gold.map(|gold| gold.source.clone()));
    let unscored = unscored.to_owned();
    let (panel, report, document, columns) = job::run(py, threads, progress, move |job| {
        let (panel, columns) = read_panel(&source, known.as_ref(), &options)?;
        let classes = panel.annotations().classes();
        let told = |error: &dyn std::fmt::Display| Failure::Parameter(error.to_string());
        let positive =
            documents::find_positive(classes, positive.as_deref()).map_err(|error| told(&error))?;
        let unscored = match unscored.as_str() {
            "keep" => Unscored::Kept,
            "leave-out" => Unscored::LeftOut,
            "fail" => Unscored::As(documents::other_class(classes, positive).map_err(|error| told(&error))?),
            other => {
                return Err(told(&format!(
                    "unscored: found {other:?}, expected \"keep\", \"fail\" or \"leave-out\""
                )));
            }
        };
        let settings = Judges {
            policy,
            unscored,
            quorum,
        };
        let report = settings.run(&panel, &mut job.context(seed, memory))?;
        let document = documents::judges(&report, &panel, positive, &words)
            .map_err(|error| Failure::Input(error.to_string()))?;
        Ok((panel, report, document, columns))
    })?;
    let kinds = Kinds {
        task: data.kind(&columns.task),
        worker: data.kind(&columns.worker),
        label: data.kind(&columns.label),
    };
    let table = ArrowTable::written(kinds, |target| {
        write_panel_verdicts(target, None, &panel, &report.verdicts)
    });
    Ok((table.map_err(|failure| raise(py, failure))?, document))
}

/// The judgements, with the truths that are known.
fn read_panel(
    source: &Source,
    gold: Option<&Source>,
    options: &ReadOptions,
) -> Result<(Panel, Columns), Failure> {
    let read = read_judgements(source, options, &mut |_, _| {})?;
    let known: Option<TaskLabels> = match gold {
        Some(gold) => Some(read_labels(gold, &LabelOptions::default())?),
        None => None,
    };
    let panel = read.panel.map(|annotations| match &known {
        Some(known) => {
            let further: Vec<&str> = known
                .classes
                .iter()
                .filter(|class| annotations.classes().find(class).is_none())
                .collect();
            let annotations = annotations.with_classes(further)?;
            let truths = known.truths_in(&annotations);
            annotations.with_gold(truths)
        }
        None => Ok(annotations),
    })?;
    Ok((panel, read.layout.columns))
}
