//! The JSON documents of the program, for faces in other languages.

use anyhow::Result;
use quorate::annotations::Names;
use quorate::diagnose::{Finding, Inspection};
use quorate::evaluate::Evaluate;
use quorate::internal::model::ConsensusSummary;
use quorate::internal::run::{LabelFacts, Outcome};
use quorate::judges::{Panel, PanelReport};
use quorate::plan::{Dispatched, Planned, ReplayCurve};
use quorate::ranking::Ranked;
use quorate::{Annotations, Remedy};
use quorate_io::{ModelOrigin, TaskLabels};

use crate::commands::{evaluate, inspect, judges as judges_command, plan as plan_command, rank};
use crate::run_summary::RunSummary;

/// What `aggregate --json` prints.
pub fn run<C>(
    origin: &ModelOrigin,
    outcome: &Outcome<C>,
    facts: &ConsensusSummary,
    labels: LabelFacts<'_>,
) -> String {
    let summary = RunSummary::new(origin, outcome, facts, labels, None);
    serde_json::to_string(&summary).expect("a summary is a document")
}

/// What `inspect --json` prints; `advice` gives the words for what to do about a finding.
pub fn inspection(
    inspection: &Inspection,
    annotations: &Annotations,
    advice: &dyn Fn(&Finding) -> String,
) -> Result<String> {
    let document = inspect::json::as_json(inspection, annotations, advice);
    Ok(serde_json::to_string(&document)?)
}

/// What `evaluate --json` prints, and what there is to warn of. `how`: the settings, and whether classes that
/// differ only in case and white space are the same.
pub fn evaluation(
    predicted: &TaskLabels,
    truth: &TaskLabels,
    except: &Names,
    how: (&Evaluate, bool),
) -> Result<(String, Option<String>)> {
    let (document, warning) = evaluate::document(predicted, truth, except, how)?;
    Ok((serde_json::to_string(&document)?, warning))
}

/// What `plan --json` prints.
pub fn plan(planned: &Planned, annotations: &Annotations) -> String {
    plan_command::text::plan_json(planned, annotations).to_string()
}

/// What `plan --goal comparable --json` prints.
pub fn dispatch(dispatched: &Dispatched, annotations: &Annotations) -> String {
    plan_command::text::dispatch_json(dispatched, annotations).to_string()
}

/// What `plan --simulate --json` prints.
pub fn replay(curves: &[ReplayCurve]) -> String {
    plan_command::replay::replay_json(curves).to_string()
}

/// What `judges --json` prints; `advice` has the words for a remedy.
pub fn judges(
    report: &PanelReport,
    panel: &Panel,
    positive: usize,
    advice: &dyn Fn(Remedy) -> &'static str,
) -> Result<String> {
    let document = judges_command::json::as_json(report, panel, positive, advice);
    Ok(serde_json::to_string(&document)?)
}

/// What `rank --json` prints of one table, `next` comparisons to make included.
pub fn ranking(ranked: &Ranked, scale: Scale, level: f64, next: Option<usize>) -> Result<String> {
    let document = rank::json::as_json(std::slice::from_ref(ranked), scale, level, next);
    Ok(serde_json::to_string(&document)?)
}

pub use judges_command::words::{find_positive, other_class};
pub use rank::{Scale, scale_of};

pub use crate::comparisons::tell_read;
