//! Panels of judges.

use std::sync::Arc;

use pyo3::prelude::*;
use quorate::internal::run::{Knowledge, LabelTable};
use quorate::judges::{Judges, Unscored};
use quorate_cli::choices::POLICIES;
use quorate_cli::documents;
use quorate_cli::reading::settle_panel;
use quorate_cli::run_words::tell_known;
use quorate_io::{LabelOptions, TaskLabels, read_judgements, read_labels, write_panel_verdicts};

use crate::arguments::{MessageLog, Running, arguments, choice};
use crate::data::Data;
use crate::errors::{Failure, raise, words};
use crate::labels::Reading;
use crate::table::ArrowTable;

arguments! {
    /// How a panel is judged.
    pub struct Judging {
        /// Items whose truth is known.
        pub gold: Option<Py<Data>>,
        /// How a verdict is reached.
        pub policy: String,
        /// What an item without a verdict counts for.
        pub unscored: String,
        /// Judges who must have answered for a verdict.
        pub quorum: usize,
        /// The class whose share is the pass rate.
        pub positive: Option<String>,
    }
}

/// The verdicts of a panel as a table, the report on it as a JSON document, and what to beware of.
#[pyfunction]
pub fn judges(
    py: Python<'_>,
    data: &Data,
    judging: Judging,
    reading: Reading,
    running: Running,
) -> PyResult<(ArrowTable, String, Vec<String>)> {
    let policy = choice(POLICIES, "policy", &judging.policy).map_err(|failure| raise(py, failure))?;
    let normalize = reading.normalize;
    let options = reading.options().map_err(|failure| raise(py, failure))?;
    let (source, seed, memory) = (data.source.clone(), running.seed, running.bytes());
    let (panel, report, document, columns, messages) = running.run(py, move |job| {
        let mut messages = MessageLog::default();
        let read = read_judgements(&source, &options, &mut |_, _| {})?;
        let columns = read.layout.columns.clone();
        let panel = settle_panel(read, &options, normalize, &mut messages)?;
        let gold = judging.gold.as_ref();
        let gold = gold
            .map(|gold| read_labels(&gold.get().source, &LabelOptions::default()))
            .transpose()?;
        let knowledge = Knowledge {
            gold: gold.as_ref().map(TaskLabels::truths),
            closed: options.classes.is_some(),
            ..Knowledge::default()
        };
        let panel = panel.map(|annotations| -> Result<_, Failure> {
            let (annotations, known) = knowledge.add_to(Arc::new(annotations))?;
            tell_known(&known, annotations.facts(), &mut messages);
            Ok(Arc::unwrap_or_clone(annotations))
        })?;
        let classes = panel.annotations().classes();
        let wrong = |error: anyhow::Error| Failure::Parameter(error.to_string());
        let positive = documents::find_positive(classes, judging.positive.as_deref()).map_err(wrong)?;
        let settings = Judges {
            policy,
            unscored: match judging.unscored.as_str() {
                "keep" => Unscored::Kept,
                "leave-out" => Unscored::LeftOut,
                "fail" => Unscored::As(documents::other_class(classes, positive).map_err(wrong)?),
                other => {
                    return Err(Failure::Parameter(format!(
                        "unscored: found {other:?}, expected \"keep\", \"fail\" or \"leave-out\""
                    )));
                }
            },
            quorum: judging.quorum,
        };
        let report = settings.run(&panel, &mut job.context(seed, memory))?;
        let document = documents::judges(&report, &panel, positive, &words)
            .map_err(|error| Failure::Input(error.to_string()))?;
        Ok((panel, report, document, columns, messages))
    })?;
    let table = ArrowTable::written(data.kinds(&columns), |target| {
        write_panel_verdicts(target, &panel, &report.verdicts)
    });
    Ok((
        table.map_err(|failure| raise(py, failure))?,
        document,
        messages.warnings,
    ))
}
