//! `quorate plan --simulate`: what a plan would have bought on data with known truth.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;
use quorate::Annotations;
use quorate::methods::Aggregate;
use quorate::plan::{Replay, ReplayCurve, Strategy};
use quorate_io::{Source, read_truth};
use serde_json::{Value, json};

use super::text::estimate;
use crate::numbers::{MOST, whole};
use crate::printer::Printer;
use crate::session::Session;
use crate::text_table::{TextTable, count};

/// A plan played on known data.
#[derive(Debug, Args)]
#[command(next_help_heading = "Trying a plan on data with known truth")]
pub struct ReplayArgs {
    /// Hide most labels, show them as planned, and compare with random labels and with the most uncertain
    /// tasks first
    #[arg(long, requires = "truth", conflicts_with_all = [
        "output", "retired", "goal", "costs", "capacities", "exclude", "target", "retire", "shared"
    ])]
    pub simulate: bool,
    /// The truth (columns task, label)
    #[arg(long, value_name = "FILE", requires = "simulate")]
    pub truth: Option<PathBuf>,
    /// Labels per task that are shown at the start
    #[arg(long, value_name = "LABELS", default_value_t = 2, value_parser = whole::<usize>(1, MOST))]
    pub start: usize,
    /// Rounds in which the budget is spent
    #[arg(long, value_name = "NUMBER", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub rounds: u16,
}

impl ReplayArgs {
    /// Plays all strategies and prints their errors. The limits are new labels that a worker can give, and
    /// the share that a plan explores with.
    pub fn run(
        &self,
        budget: Option<f64>,
        (capacity, explore): (Option<u32>, Option<f64>),
        annotations: &Annotations,
        method: &dyn Aggregate,
        (session, as_json): (&Session, bool),
        printer: &mut Printer,
    ) -> Result<()> {
        let truth = self.truth.clone().context("--simulate needs --truth")?;
        let truth = read_truth(&Source::from(truth), annotations)?;
        let budget = budget.unwrap_or(annotations.task_count() as f64);
        let replay = Replay {
            start: self.start,
            capacity,
            explore,
            ..Replay::spending(budget, usize::from(self.rounds))?
        };
        let mut curves = Vec::new();
        for strategy in Strategy::ALL {
            let mut context = session.context(strategy.name(), 0)?;
            curves.push(replay.run(strategy, annotations, &truth, method, &mut context)?);
        }
        if as_json {
            return printer.json(&replay_json(&curves));
        }
        printer.data(&table(&curves))?;
        describe(&curves, printer);
        Ok(())
    }
}

/// What a plan and another strategy need for the error that the other one ends with.
struct Beside {
    strategy: Strategy,
    /// That error.
    error: f64,
    /// New labels of the other strategy until it is there; 0 if no label made it better.
    labels: f64,
    /// New labels of the plan; None if it does not get there.
    planned: Option<f64>,
}

/// The plan, which is the first of the curves, beside each of the others.
fn beside(curves: &[ReplayCurve]) -> Vec<Beside> {
    let Some((plan, others)) = curves.split_first() else {
        return Vec::new();
    };
    let compared = |other: &ReplayCurve| {
        let error = other.points.last()?.1;
        Some(Beside {
            strategy: other.strategy,
            error,
            labels: other.labels_to(error)?,
            planned: plan.labels_to(error),
        })
    };
    others.iter().filter_map(compared).collect()
}

fn table(curves: &[ReplayCurve]) -> String {
    let mut table = TextTable::new([">labels", ">plan", ">most uncertain first", ">random"]);
    let rounds = curves.iter().map(|curve| curve.points.len()).max().unwrap_or(0);
    for round in 0..rounds {
        let error = |curve: &ReplayCurve| {
            let point = curve.points.get(round);
            point.map_or(String::new(), |(_, error)| format!("{:.2} %", 100.0 * error))
        };
        let labels = curves
            .iter()
            .filter_map(|curve| curve.points.get(round))
            .map(|point| point.0)
            .max();
        let first = [count(labels.unwrap_or(0))];
        table.row(first.into_iter().chain(curves.iter().map(error)));
    }
    table.render()
}

/// Says which labels the plan saves on the way to the error that the others end with.
fn describe(curves: &[ReplayCurve], printer: &mut Printer) {
    for beside in beside(curves) {
        let (other, reached) = (beside.strategy.name(), 100.0 * beside.error);
        printer.note(match beside.planned {
            _ if beside.labels == 0.0 => {
                format!("the labels of {other} did not lower the error of {reached:.2} %")
            }
            Some(planned) => format!(
                "to an error of {reached:.2} %: {} new labels as planned, {} with {other}",
                count(planned.round() as usize),
                count(beside.labels.round() as usize),
            ),
            None => format!("the plan did not reach the {reached:.2} % of {other} within the budget"),
        });
    }
}

/// A replay for programs.
pub fn replay_json(curves: &[ReplayCurve]) -> Value {
    let points = |curve: &ReplayCurve| (curve.strategy.name().to_owned(), json!(curve.points));
    let forecasts = curves.iter().flat_map(|curve| &curve.forecasts);
    json!({
        "curves": curves.iter().map(points).collect::<serde_json::Map<_, _>>(),
        "forecasts": forecasts.map(estimate).collect::<Vec<_>>(),
        "to_the_error_of": beside(curves).iter().map(|beside| (beside.strategy.name().to_owned(), json!({
            "error": beside.error,
            "labels": beside.labels,
            "planned": beside.planned,
        }))).collect::<serde_json::Map<_, _>>(),
    })
}
