//! What an experiment gives back: tables, figures and claims, the paper beside ours.

use serde::Serialize;

use crate::paper::Printed;
use crate::statistics::{Summary, mean};
use crate::verdict::{Better, Noise, Verdict, student};
use quorate_report::figure::Figure;

/// Everything that was run.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// How it was run, as a command line.
    pub command: String,
    /// Whether trials or steps were cut (`--quick`).
    pub quick: bool,
    /// The seed of the first trial.
    pub seed: u64,
    /// One for each experiment.
    pub sections: Vec<Section>,
    /// Time of the whole run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

/// One table, figure or theorem of the paper.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Section {
    /// The experiment's name (filled in by the runner).
    pub name: String,
    /// What it is in the paper (filled in by the runner).
    pub title: String,
    /// How the numbers were obtained: a paragraph each.
    pub method: Vec<String>,
    /// Where the set-up differs from the paper's, and why.
    pub differences: Vec<String>,
    /// The tables.
    pub tables: Vec<Table>,
    /// The figures.
    pub figures: Vec<Figure>,
    /// What the paper says, and what was found.
    pub claims: Vec<Claim>,
    /// What else is worth knowing, a sentence each.
    pub findings: Vec<String>,
    /// Time of the whole experiment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

/// How the numbers of a table are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Percent, two decimals.
    Percent,
    /// Three significant digits, small numbers with an exponent.
    Number,
}

/// A table: rows of methods, columns of settings or data sets.
#[derive(Debug, Clone, Serialize)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// How its numbers are written.
    pub measure: Measure,
    /// Column heads.
    pub columns: Vec<String>,
    /// Rows.
    pub rows: Vec<Row>,
}

/// One row of a table.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The paper's name, or ours for what the paper does not have.
    pub name: String,
    /// How it is called here: a method with its parameters.
    pub method: String,
    /// One for each column.
    pub cells: Vec<Cell>,
    /// Time of the row, where the paper prints one for all columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
}

/// One value: paper and ours.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Cell {
    /// What the paper prints.
    pub paper: Option<Printed>,
    /// What we find.
    pub ours: Option<Summary>,
    /// Ours against the paper's.
    pub verdict: Option<Verdict>,
    /// Time of this cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
    /// A word on it: why there is no number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Times in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Time {
    /// What the paper prints.
    pub paper: Option<f64>,
    /// Ours, mean over the trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

/// A statement of the paper.
#[derive(Debug, Clone, Serialize)]
pub struct Claim {
    /// What the paper says.
    pub says: String,
    /// Whether it holds here.
    pub holds: Holds,
    /// What was measured.
    pub found: String,
}

/// Whether a claim was confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Holds {
    /// Yes.
    Yes,
    /// In part.
    Partly,
    /// No.
    No,
    /// The difference is within noise.
    Undecided,
}

impl Holds {
    /// Yes or no.
    pub fn when(condition: bool) -> Self {
        if condition { Self::Yes } else { Self::No }
    }

    /// Whether `ours` is below `other` by more than `noise`.
    pub fn below(ours: f64, other: f64, noise: f64) -> Self {
        match other - ours {
            gap if gap > noise => Self::Yes,
            gap if gap >= -noise => Self::Undecided,
            _ => Self::No,
        }
    }

    /// Whether `ours` is below `other` over the same trials, by more than their differences vary.
    pub fn paired_below(ours: &[f64], other: &[f64]) -> Self {
        let gaps: Vec<f64> = ours.iter().zip(other).map(|(own, other)| own - other).collect();
        let summary = Summary::of(&gaps);
        match summary.spread {
            Some(spread) => {
                let error = spread / (gaps.len() as f64).sqrt();
                Self::below(summary.mean, 0.0, student(gaps.len() - 1) * error)
            }
            None => Self::Undecided,
        }
    }

    /// Yes if all of them hold, in part if some do; no if some do not and none does; else within noise.
    pub fn all(parts: &[Self]) -> Self {
        let some = |wanted| parts.contains(&wanted);
        match (some(Self::Yes) || some(Self::Partly), some(Self::No)) {
            (true, _) if parts.iter().all(|part| *part == Self::Yes) => Self::Yes,
            (true, _) => Self::Partly,
            (false, true) => Self::No,
            (false, false) => Self::Undecided,
        }
    }

    /// Yes if all of them hold, partly if some do.
    pub fn count(holding: usize, of: usize) -> Self {
        match holding {
            all if all == of => Self::Yes,
            0 => Self::No,
            _ => Self::Partly,
        }
    }

    /// The class of its colour on the page.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Yes => "better",
            Self::Partly | Self::Undecided => "open",
            Self::No => "worse",
        }
    }

    /// The words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Yes => "holds",
            Self::Partly => "holds in part",
            Self::No => "does not hold",
            Self::Undecided => "within noise",
        }
    }
}

impl Claim {
    /// What the paper says, whether it holds, what was measured.
    pub fn new(says: impl Into<String>, holds: Holds, found: impl Into<String>) -> Self {
        Self {
            says: says.into(),
            holds,
            found: found.into(),
        }
    }
}

impl Table {
    /// A table without rows.
    pub fn new<T: Into<String>>(
        title: impl Into<String>,
        measure: Measure,
        columns: impl IntoIterator<Item = T>,
    ) -> Self {
        Self {
            title: title.into(),
            measure,
            columns: columns.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    /// Whether any cell of a column has a printed value.
    pub fn has_paper(&self, column: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|row| row.cells.get(column));
        cells.any(|cell| cell.paper.is_some())
    }

    /// Whether any cell of a column has a verdict.
    pub fn has_verdict(&self, column: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|row| row.cells.get(column));
        cells.any(|cell| cell.verdict.is_some())
    }

    /// The mean of ours in a row of this name.
    pub fn ours(&self, row: &str, column: usize) -> Option<f64> {
        let row = self.rows.iter().find(|candidate| candidate.name == row)?;
        Some(row.cells.get(column)?.ours.as_ref()?.mean)
    }

    /// How many cells are better, equal, worse.
    pub fn verdicts(&self) -> [usize; 3] {
        let cells = || self.rows.iter().flat_map(|row| &row.cells);
        [Verdict::Better, Verdict::Equal, Verdict::Worse]
            .map(|wanted| cells().filter(|cell| cell.verdict == Some(wanted)).count())
    }
}

impl Row {
    /// A row without a time.
    pub fn new(
        name: impl Into<String>,
        method: impl Into<String>,
        cells: impl IntoIterator<Item = Cell>,
    ) -> Self {
        Self {
            name: name.into(),
            method: method.into(),
            cells: cells.into_iter().collect(),
            time: None,
        }
    }

    /// With a time for all columns: the paper's, and the mean of ours.
    pub fn timed(mut self, paper: Option<f64>, seconds: &[f64]) -> Self {
        self.time = Some(Time::of(paper, seconds));
        self
    }
}

impl Time {
    fn of(paper: Option<f64>, seconds: &[f64]) -> Self {
        let seconds = (!seconds.is_empty()).then(|| mean(seconds));
        Self { paper, seconds }
    }
}

impl Cell {
    /// The paper's value, our trials and the verdict between them.
    pub fn new(paper: Option<Printed>, trials: &[f64], noise: Noise, better: Better) -> Self {
        let ours = Summary::of(trials);
        let verdict = paper
            .as_ref()
            .and_then(|printed| noise.judge(&ours, printed, better));
        Self {
            paper,
            ours: Some(ours),
            verdict,
            ..Self::default()
        }
    }

    /// Without a verdict: a fact of the data, not a result.
    pub fn without_verdict(mut self) -> Self {
        self.verdict = None;
        self
    }

    /// A value of ours alone.
    pub fn ours(trials: &[f64]) -> Self {
        Self {
            ours: Some(Summary::of(trials)),
            ..Self::default()
        }
    }

    /// No value of ours, and why.
    pub fn failed(paper: Option<Printed>, note: impl Into<String>) -> Self {
        Self {
            paper,
            note: Some(note.into()),
            ..Self::default()
        }
    }

    /// With times: the paper's, and the mean of ours.
    pub fn timed(mut self, paper: Option<f64>, seconds: &[f64]) -> Self {
        self.time = Some(Time::of(paper, seconds));
        self
    }
}

impl Report {
    /// Like this, but without our times: equal for equal seeds.
    pub fn without_times(&self) -> Self {
        let mut report = self.clone();
        report.seconds = None;
        for section in &mut report.sections {
            section.seconds = None;
            for row in section.tables.iter_mut().flat_map(|table| &mut table.rows) {
                let own = row.time.iter_mut();
                for time in own.chain(row.cells.iter_mut().filter_map(|cell| cell.time.as_mut())) {
                    time.seconds = None;
                }
            }
        }
        report
    }
}

impl Section {
    /// How many cells of its tables are better, equal, worse.
    pub fn verdicts(&self) -> [usize; 3] {
        self.tables.iter().fold([0; 3], |sums, table| {
            let own = table.verdicts();
            [sums[0] + own[0], sums[1] + own[1], sums[2] + own[2]]
        })
    }

    /// How many claims hold, and how many there are.
    pub fn claims_holding(&self) -> (usize, usize) {
        let holding = self
            .claims
            .iter()
            .filter(|claim| claim.holds == Holds::Yes)
            .count();
        (holding, self.claims.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_needs_more_than_noise() {
        assert_eq!(
            Holds::paired_below(&[1.0, 2.0, 3.0], &[2.0, 3.1, 3.9]),
            Holds::Yes
        );
        assert_eq!(Holds::paired_below(&[2.0, 3.1, 3.9], &[1.0, 2.0, 3.0]), Holds::No);
        assert_eq!(
            Holds::paired_below(&[1.0, 5.0, 3.0], &[2.0, 3.1, 3.9]),
            Holds::Undecided
        );
        assert_eq!(Holds::paired_below(&[1.0], &[2.0]), Holds::Undecided);
        assert_eq!(Holds::paired_below(&[1.0, 2.0], &[1.0, 2.0]), Holds::Undecided);
        assert_eq!(Holds::all(&[Holds::Yes, Holds::Yes]), Holds::Yes);
        assert_eq!(Holds::all(&[Holds::No, Holds::Undecided]), Holds::No);
        assert_eq!(Holds::all(&[Holds::Yes, Holds::Undecided]), Holds::Partly);
        assert_eq!(Holds::all(&[Holds::Undecided]), Holds::Undecided);
    }
}
