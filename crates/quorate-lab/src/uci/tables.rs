//! The tables: errors, gaps to majority voting, the annotators, missing blocks.

use quorate_annotators::ANNOTATORS;

use super::runs::{Measured, Runs};
use super::{Experiment, Training, Who};
use crate::contender::{Contender, MAJORITY_VOTE};
use crate::paper::{Printed, printed, printed_time};
use crate::section::{Cell, Measure, Row, Table, Time};
use crate::statistics::mean;
use crate::verdict::{Better, Noise};

const PAPER_TRIALS: usize = 20;

/// All tables of one way of training.
pub(super) fn all(experiment: &Experiment, training: Training, runs: &Runs) -> Vec<Table> {
    let mut tables = vec![
        errors(experiment, training, runs),
        gaps(experiment, training, runs),
        annotators(experiment, training, runs),
    ];
    if let Who::Parts(_) = experiment.columns[0].who {
        tables.push(missing(experiment, runs));
    }
    tables
}

fn titles(experiment: &Experiment) -> [&'static str; 3] {
    experiment.columns.each_ref().map(|column| column.title)
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
        let seconds: Vec<f64> = columns
            .iter()
            .flat_map(|measured| &measured.seconds)
            .copied()
            .collect();
        table.rows.push(Row {
            name: contender.title.into(),
            method: contender.words(),
            cells: cells.collect(),
            time: Some(Time {
                paper: printed_time(experiment.table, contender.paper, ""),
                seconds: (!seconds.is_empty()).then(|| mean(&seconds)),
            }),
        });
    }
    table
}

/// Error minus that of majority voting in the same trial, beside the paper's difference.
fn gaps(experiment: &Experiment, training: Training, runs: &Runs) -> Table {
    let title = format!(
        "Points of error above majority voting (below: negative) in the same trial; annotators {}",
        training.words(experiment.set)
    );
    let mut table = Table::new(title, Measure::Percent, titles(experiment));
    let Some(votes) = place_of(experiment, &MAJORITY_VOTE) else {
        return table;
    };
    for (contender, columns) in experiment.contenders.iter().zip(&runs.methods) {
        if *contender == MAJORITY_VOTE {
            continue;
        }
        let cells = (0..experiment.columns.len()).map(|column| {
            let paper = paper_gap(experiment, contender, column);
            match (&columns[column].failure, &runs.methods[votes][column].failure) {
                (None, None) => {
                    let gaps = gaps_of(&columns[column], &runs.methods[votes][column]);
                    Cell::new(paper, &gaps, Noise::of_trials(PAPER_TRIALS), Better::Lower)
                }
                _ => Cell::failed(paper, "see the table of errors"),
            }
        });
        table.rows.push(Row {
            name: contender.title.into(),
            method: contender.words(),
            cells: cells.collect(),
            time: None,
        });
    }
    table
}

/// Where a method stands among the rows.
pub(super) fn place_of(experiment: &Experiment, wanted: &Contender) -> Option<usize> {
    experiment
        .contenders
        .iter()
        .position(|contender| contender == wanted)
}

fn gaps_of(own: &Measured, votes: &Measured) -> Vec<f64> {
    own.errors
        .iter()
        .zip(&votes.errors)
        .map(|(own, votes)| own - votes)
        .collect()
}

fn paper_gap(experiment: &Experiment, contender: &Contender, column: usize) -> Option<Printed> {
    let key = experiment.columns[column].key;
    let value = |row: &str| printed(experiment.table, row, key)?.value;
    let gap = value(contender.paper)? - value(MAJORITY_VOTE.paper)?;
    let text = format!("{gap:.2}");
    Some(Printed {
        value: text.parse().ok(),
        text,
    })
}

fn annotators(experiment: &Experiment, training: Training, runs: &Runs) -> Table {
    let title = format!(
        "Right answers of each annotator in percent, on all items; annotators {}",
        training.words(experiment.set)
    );
    let mut table = Table::new(title, Measure::Percent, ["right answers"]);
    for (name, trials) in ANNOTATORS.iter().zip(&runs.accuracies) {
        table.rows.push(Row {
            name: (*name).into(),
            method: String::new(),
            cells: vec![Cell::ours(trials)],
            time: None,
        });
    }
    table
}

fn missing(experiment: &Experiment, runs: &Runs) -> Table {
    let mut table = Table::new(
        "Missing co-occurrence blocks in percent of all 100, before and after designated imputation",
        Measure::Percent,
        ["before", "after"],
    );
    for (column, missing) in experiment.columns.iter().zip(&runs.missing) {
        let Who::Parts(share) = column.who else { continue };
        let wanted = format!("{:.0}", 100.0 * share);
        let asked = Printed {
            value: wanted.parse().ok(),
            text: wanted,
        };
        let noise = Noise::of_trials(PAPER_TRIALS);
        let after = printed("text:missing", "car", &format!("{} after", column.key));
        table.rows.push(Row {
            name: column.title.into(),
            method: "des-symnmf".into(),
            cells: vec![
                Cell {
                    paper: Some(asked),
                    ..Cell::ours(&missing.before)
                },
                Cell::new(after, &missing.after, noise, Better::Lower),
            ],
            time: None,
        });
    }
    table
}
