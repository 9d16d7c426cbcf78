//! The tables: errors, gaps to majority voting, the annotators, missing blocks.

use quorate_annotators::ANNOTATORS;

use super::runs::{Measured, Runs};
use super::{Experiment, Training};
use crate::contender::{Contender, DES_SYMNMF, KOS};
use crate::paper::{Printed, printed, printed_time};
use crate::section::{Cell, Measure, Row, Table};
use crate::statistics::median;
use crate::verdict::{Better, Noise};

const PAPER_TRIALS: usize = 20;

/// All tables of one way of training.
pub(super) fn all(experiment: &Experiment, training: Training, runs: &Runs) -> Vec<Table> {
    vec![
        errors(experiment, training, runs),
        gaps(experiment, training, runs),
        annotators(experiment, training, runs),
        missing(experiment, runs),
    ]
}

fn titles(experiment: &Experiment) -> impl Iterator<Item = &'static str> {
    experiment.columns.iter().map(|column| column.title)
}

/// Errors beside the paper's, without a verdict: the annotators are not the same.
fn errors(experiment: &Experiment, training: Training, runs: &Runs) -> Table {
    let title = format!("Error in percent; annotators {}", training.words(experiment.set));
    let mut table = Table::new(title, Measure::Percent, titles(experiment));
    for (contender, columns) in experiment.contenders.iter().zip(&runs.methods) {
        let cells = experiment.columns.iter().zip(columns).map(|(column, measured)| {
            let paper = printed(experiment.table, contender.paper, column.key);
            match &measured.failure {
                Some(reason) => Cell::failed(paper, reason.clone()),
                None => Cell {
                    paper,
                    ..Cell::ours(&measured.errors)
                },
            }
        });
        let seconds: Vec<f64> = columns.iter().flat_map(|one| one.seconds.clone()).collect();
        table.rows.push(
            contender
                .row(cells)
                .timed(printed_time(experiment.table, contender.paper, ""), &seconds),
        );
    }
    table
}

/// Error minus the middle one of the table's rows in the same trial, beside the paper's difference.
fn gaps(experiment: &Experiment, training: Training, runs: &Runs) -> Table {
    let title = format!(
        "Points of error above the middle method of the table (below: negative) in the same trial; annotators {}",
        training.words(experiment.set)
    );
    let mut table = Table::new(title, Measure::Percent, titles(experiment));
    let columns = 0..experiment.columns.len();
    let middles: Vec<(f64, Vec<f64>)> = columns.map(|column| middle(experiment, runs, column)).collect();
    for (contender, columns) in experiment.contenders.iter().zip(&runs.methods) {
        let cells = columns.iter().zip(&experiment.columns).zip(&middles);
        let cells = cells.map(|((measured, column), (paper_middle, middles))| {
            let value = printed(experiment.table, contender.paper, column.key).and_then(|said| said.value);
            let paper = value.map(|value| Printed::parse(&format!("{:.2}", value - paper_middle)));
            if measured.failure.is_some() {
                return Cell::failed(paper, "see the table of errors");
            }
            let gaps = measured
                .errors
                .iter()
                .zip(middles)
                .map(|(own, middle)| own - middle);
            let gaps: Vec<f64> = gaps.collect();
            Cell::new(paper, &gaps, Noise::of_trials(PAPER_TRIALS), Better::Lower)
        });
        table.rows.push(contender.row(cells));
    }
    table
}

/// The median error of the paper's rows in a column: the paper's (NaN in a column that it does not have), and
/// ours in each trial.
fn middle(experiment: &Experiment, runs: &Runs, column: usize) -> (f64, Vec<f64>) {
    let value = |one: &Contender, column: usize| {
        printed(experiment.table, one.paper, experiment.columns[column].key)?.value
    };
    let rows: Vec<(&Contender, &Measured)> = experiment
        .contenders
        .iter()
        .zip(&runs.methods)
        .map(|(contender, columns)| (contender, &columns[column]))
        .filter(|(contender, measured)| {
            **contender != KOS && measured.failure.is_none() && value(contender, 0).is_some()
        })
        .collect();
    let paper: Vec<f64> = rows.iter().filter_map(|row| value(row.0, column)).collect();
    let trials = rows.first().map_or(0, |row| row.1.errors.len());
    let ours = (0..trials).map(|trial| {
        let errors: Vec<f64> = rows.iter().map(|row| row.1.errors[trial]).collect();
        median(&errors)
    });
    (median(&paper), ours.collect())
}

/// Where a method stands among the rows.
pub(super) fn place_of(experiment: &Experiment, wanted: &Contender) -> Option<usize> {
    experiment
        .contenders
        .iter()
        .position(|contender| contender == wanted)
}

fn annotators(experiment: &Experiment, training: Training, runs: &Runs) -> Table {
    let title = format!(
        "Each annotator on all items: right answers in percent, and the number of classes it ever answers with; annotators {}",
        training.words(experiment.set)
    );
    let mut table = Table::new(title, Measure::Percent, ["right answers", "classes answered"]);
    for (place, (name, setting)) in ANNOTATORS.iter().enumerate() {
        let cells = [&runs.accuracies[place], &runs.answered[place]].map(|trials| Cell::ours(trials));
        table.rows.push(Row::new(*name, *setting, cells));
    }
    table
}

fn missing(experiment: &Experiment, runs: &Runs) -> Table {
    let mut table = Table::new(
        "Missing co-occurrence blocks in percent of all 100, before and after designated imputation",
        Measure::Percent,
        ["before", "after"],
    );
    let noise = Noise::of_trials(PAPER_TRIALS);
    for (column, missing) in experiment.columns.iter().zip(&runs.missing) {
        let said = |when| {
            printed(
                "text:missing",
                experiment.table,
                &format!("{} {when}", column.key),
            )
        };
        let before = Cell::new(said("before"), &missing.before, noise, Better::Lower);
        let after = Cell::new(said("after"), &missing.after, noise, Better::Lower);
        let cells = [before.without_verdict(), after];
        table.rows.push(Row::new(column.title, DES_SYMNMF.words(), cells));
    }
    table
}
