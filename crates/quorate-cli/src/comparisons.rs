//! Comparisons as the commands take them: options, reading, and what is said of what was read.

use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};
use clap::Args;
use quorate::Remedy;
use quorate::ranking::{BothBad, ComparisonTable, Comparisons, Ranked};
use quorate_io::{ComparisonOptions, ComparisonsRead, FileFormat, Source, read_comparisons};

use crate::catalog::find;
use crate::choices;
use crate::input::{InputArgs, with_bar};
use crate::messages::Messages;
use crate::printer::Printer;
use crate::session::Session;
use crate::text_table::plural;

/// Where comparisons are read from, and how.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Reading")]
pub struct ComparisonArgs {
    /// Comparisons: .csv .tsv .jsonl .json .parquet .arrow, and .gz or .zst of the text ones. `-` is standard input
    #[arg(value_name = "COMPARISONS")]
    pub file: PathBuf,
    /// Names of the columns, where they are not found by themselves (left, right, winner, chosen, rejected, item, rank,
    /// ranking, judge, prompt, weight)
    #[arg(long, value_name = "left=NAME,..", value_delimiter = ',')]
    columns: Vec<String>,
    /// Format of the file, where its name does not tell it
    #[arg(long, value_name = "FORMAT", value_parser = choices::one_of(choices::TABLES))]
    format: Option<FileFormat>,
    /// What becomes of rows that call both items bad
    #[arg(long, default_value = "tie", value_parser = choices::one_of(choices::BOTH_BAD))]
    both_bad: BothBad,
    /// A leaderboard for each value of this column
    #[arg(long, value_name = "COLUMN")]
    pub by: Option<String>,
}

/// Whether a file was refused because it holds comparisons where labels are expected, and can be read again.
pub fn are_meant(input: &InputArgs, error: &anyhow::Error) -> bool {
    let refused = error.downcast_ref::<quorate_io::Error>();
    refused.and_then(quorate_io::Error::remedy) == Some(Remedy::RankComparisons)
        && input.labels.as_os_str() != "-"
}

/// Roles of columns that only comparisons and rankings have.
const OWN_ROLES: [&str; 8] = [
    "left", "right", "winner", "chosen", "rejected", "item", "rank", "ranking",
];

/// Whether the options of a command that takes labels, too, name columns of comparisons.
pub fn are_named(input: &InputArgs) -> bool {
    let is_own = |given: &String| {
        given
            .split_once('=')
            .is_some_and(|(role, _)| OWN_ROLES.contains(&role))
    };
    input.columns.iter().any(is_own)
}

impl ComparisonArgs {
    /// The comparisons of a command that takes labels, too.
    pub fn of(input: &InputArgs, by: Option<String>) -> Result<Self> {
        let format = input
            .format
            .map(|format| format.table().ok_or(format))
            .transpose();
        Ok(Self {
            file: input.labels.clone(),
            columns: input.columns.clone(),
            format: format.map_err(|_| {
                anyhow!("--format names the export of a tool, and the file holds comparisons")
            })?,
            both_bad: BothBad::default(),
            by,
        })
    }

    /// Reads, and says what was set aside.
    pub fn read(&self, printer: &mut Printer) -> Result<Vec<(Option<String>, ComparisonTable)>> {
        let pair = |given: &String| match given.split_once('=') {
            Some((role, name)) => Ok((role.to_owned(), name.to_owned())),
            None => {
                bail!("--columns {given:?}: expected pairs such as left=model_1,right=model_2,winner=vote")
            }
        };
        let options = ComparisonOptions {
            format: self.format,
            columns: self.columns.iter().map(pair).collect::<Result<_>>()?,
            both_bad: self.both_bad,
            by: self.by.clone(),
        };
        let source = Source::from(self.file.clone());
        let read = with_bar(&source, printer, |progress| {
            read_comparisons(&source, &options, progress)
        })?;
        tell_read(&read, self.both_bad, printer);
        Ok(read.tables)
    }
}

/// Says what was read from columns of other names, and which rows are not among the comparisons.
pub fn tell_read(read: &ComparisonsRead, both_bad: BothBad, messages: &mut dyn Messages) {
    let unusual = read.columns.iter().filter(|(role, name)| role != name);
    let unusual: Vec<String> = unusual.map(|(role, name)| format!("{role} = {name:?}")).collect();
    if !unusual.is_empty() {
        messages.note(format!("columns {}", unusual.join(", ")));
    }
    for (by, table) in &read.tables {
        if let ComparisonTable::Pairs(table) = table {
            tell_set_aside(by.as_deref(), table, both_bad, messages);
        }
    }
}

fn tell_set_aside(by: Option<&str>, table: &Comparisons, both_bad: BothBad, messages: &mut dyn Messages) {
    let aside = table.set_aside();
    let place = by.map_or(String::new(), |by| format!("{by}: "));
    let rows = |count: u64| plural(count as usize, "row");
    if aside.unanswered > 0 {
        messages.note(format!(
            "{place}{} without an outcome: not used",
            rows(aside.unanswered)
        ));
    }
    if aside.weightless > 0 {
        messages.note(format!(
            "{place}{} with weight 0: not used",
            rows(aside.weightless)
        ));
    }
    if aside.both_bad > 0 {
        let what = match both_bad {
            BothBad::Drop => "left out".to_owned(),
            BothBad::Tie => format!("ties ({} leaves them out)", messages.value("both-bad", "drop")),
        };
        messages.note(format!(
            "{place}{} that call both items bad: {what}",
            rows(aside.both_bad)
        ));
    }
}

/// Fits a method to each table; the usual one for the kind of table where none is named.
pub fn rank_all(
    tables: Vec<(Option<String>, ComparisonTable)>,
    method: Option<&str>,
    parameters: &[(String, String)],
    level: f64,
    session: &Session,
) -> Result<Vec<Ranked>> {
    let one = |(by, table): (Option<String>, ComparisonTable)| {
        let method = find(method.unwrap_or(table.default_method()))?;
        let rank = method.ranking_with(parameters)?;
        let mut context = session.context(method.name, 0)?;
        Ok(Ranked::run(by, table, rank.as_ref(), level, &mut context)?)
    };
    tables.into_iter().map(one).collect()
}
