//! `quorate plan --simulate`: what a plan would have bought on data with known truth.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;
use quorate::Annotations;
use quorate::methods::Aggregate;
use quorate::plan::{Replay, ReplayCurve, Strategy};
use quorate_io::{LabelOptions, Source, read_labels};

use crate::numbers::{MOST, whole};
use crate::printer::Printer;
use crate::session::Session;
use crate::text_table::{Side, TextTable, count};

/// A plan played on known data.
#[derive(Debug, Args)]
#[command(next_help_heading = "Trying a plan on data with known truth")]
pub struct ReplayArgs {
    /// Hide most labels, show them as planned, and compare with random labels and with the most uncertain
    /// tasks first
    #[arg(long, requires = "truth")]
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
    /// Plays all strategies and prints their errors. The limits are new labels that a worker can give, and the share
    /// that a plan explores with.
    pub fn run(
        &self,
        budget: Option<f64>,
        (capacity, explore): (Option<u32>, Option<f64>),
        annotations: &Annotations,
        method: &dyn Aggregate,
        session: &Session,
        printer: &mut Printer,
    ) -> Result<()> {
        let truth = self.truth.clone().context("--simulate needs --truth")?;
        let truth = read_labels(&Source::from(truth), &LabelOptions::default())?.codes_in(annotations);
        let rounds = usize::from(self.rounds);
        let budget = budget.unwrap_or(annotations.task_count() as f64);
        let replay = Replay {
            start: self.start,
            batch: ((budget / rounds as f64).ceil() as usize).max(1),
            rounds,
            capacity,
            explore,
        };
        let mut curves = Vec::new();
        for strategy in Strategy::ALL {
            let mut context = session.context(strategy.name(), 0)?;
            curves.push(replay.run(strategy, annotations, &truth, method, &mut context)?);
        }
        printer.data(&table(&curves))?;
        describe(&curves, printer);
        Ok(())
    }
}

fn table(curves: &[ReplayCurve]) -> String {
    let mut table = TextTable::new(&[
        ("labels", Side::Right),
        ("plan", Side::Right),
        ("most uncertain first", Side::Right),
        ("random", Side::Right),
    ]);
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

/// Labels that the plan saves on the way to the error that the others end with.
fn describe(curves: &[ReplayCurve], printer: &mut Printer) {
    let Some((plan, others)) = curves.split_first() else {
        return;
    };
    for other in others {
        let Some(&(_, reached)) = other.points.last() else {
            continue;
        };
        match (plan.labels_to(reached), other.labels_to(reached)) {
            (Some(mine), Some(theirs)) if theirs > 0.0 => printer.note(format!(
                "to an error of {:.2} %: {} new labels as planned, {} with {}",
                100.0 * reached,
                count(mine.round() as usize),
                count(theirs.round() as usize),
                other.strategy.name()
            )),
            _ => printer.note(format!(
                "the plan did not reach the {:.2} % of {} within the budget",
                100.0 * reached,
                other.strategy.name()
            )),
        }
    }
}
