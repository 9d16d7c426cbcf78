//! Rankings of items from comparisons, and the tables that are made of them.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use quorate::Context;
use quorate::annotations::Names;
use quorate::ranking::{ComparisonTable, Comparisons, Ranked};
use quorate_cli::catalog::find;
use quorate_cli::choices::{BOTH_BAD, SCALES};
use quorate_cli::documents::{self, Scale, scale_of, tell_read};
use quorate_io::{
    ComparisonOptions, ComparisonsRead, Target, read_comparisons, write_leaderboard, write_next_pairs,
    write_rank_judges, write_whole, write_wins,
};
use quorate_report::figure;
use quorate_report::ranking::{RankReport, findings};

use crate::arguments::{MessageLog, Running, arguments, choice, number};
use crate::data::Data;
use crate::errors::{Failure, raise};
use crate::kinds::{Kind, RankKinds};
use crate::labels::format_of;
use crate::table::ArrowTable;

/// Most comparisons that are proposed at once.
const MAX_NEXT: usize = 1_000_000;

arguments! {
    /// What to rank and how.
    pub struct Wanted {
        /// Name of the method; none for the usual one.
        pub method: Option<String>,
        /// Its parameters.
        pub parameters: Vec<(String, String)>,
        /// Names of columns by what they hold.
        pub columns: Vec<(String, String)>,
        /// What a file is.
        pub format: Option<String>,
        /// What becomes of rows that call both items bad.
        pub both_bad: String,
        /// A column whose values are ranked apart.
        pub by: Option<String>,
        /// Unit of the scores.
        pub scale: String,
        /// Level of intervals.
        pub level: f64,
    }
}

impl Wanted {
    fn reading(&self) -> Result<ComparisonOptions, Failure> {
        let (format, tool) = format_of(self.format.as_deref())?;
        if let Some(tool) = tool {
            return Err(Failure::Parameter(format!(
                "format: found {:?}, an export of labels; expected a format of tables for comparisons",
                tool.name()
            )));
        }
        Ok(ComparisonOptions {
            format,
            columns: self.columns.clone(),
            both_bad: choice(BOTH_BAD, "both_bad", &self.both_bad)?,
            by: self.by.clone(),
        })
    }

    fn level(&self) -> Result<f64, Failure> {
        let level = self.level;
        if (0.0..1.0).contains(&level) {
            return Ok(level);
        }
        Err(Failure::Parameter(format!(
            "level: found {level}, expected a number from 0 to below 1"
        )))
    }
}

arguments! {
    /// What is on the page.
    pub struct Page {
        /// Where it is written, too.
        pub path: Option<PathBuf>,
        /// Its title.
        pub title: String,
        /// Whether downloads are safe in spreadsheets.
        pub spreadsheet_safe: bool,
    }
}

/// What was ranked, and how.
struct Run {
    ranked: Vec<Ranked>,
    kinds: RankKinds,
    scale: Scale,
    level: f64,
    memory: u64,
    parameters: Vec<(String, String)>,
    seed: u64,
    messages: MessageLog,
}

/// The rankings of a table, or of its parts.
#[pyclass(frozen, module = "quorate._quorate")]
pub struct Rankings {
    run: Arc<Run>,
}

/// The items of one table, ranked.
#[pyclass(frozen, module = "quorate._quorate")]
pub struct Ranking {
    run: Arc<Run>,
    place: usize,
}

/// Ranks the items of a table, or of each of its parts.
#[pyfunction]
pub fn rank(py: Python<'_>, data: &Data, wanted: Wanted, running: Running) -> PyResult<Rankings> {
    let checked = || -> Result<_, Failure> {
        let scale = choice(SCALES, "scale", &wanted.scale)?;
        Ok((wanted.reading()?, wanted.level()?, scale))
    };
    let (options, level, scale) = checked().map_err(|failure| raise(py, failure))?;
    let (source, seed, memory) = (data.source.clone(), running.seed, running.bytes());
    let (method, by) = (wanted.method, options.by.clone());
    let parameters = wanted.parameters.clone();
    let (ranked, columns, messages) = running.run(py, move |job| {
        let read = read_comparisons(&source, &options, &mut |done, total| {
            job.tell("reading", done, total);
        })?;
        let mut messages = MessageLog::default();
        tell_read(&read, options.both_bad, &mut messages);
        let ComparisonsRead { tables, columns } = read;
        let ranked = tables.into_iter().map(|(by, table)| -> Result<_, Failure> {
            let method = find(method.as_deref().unwrap_or(table.default_method()))?;
            let method = method.ranking_with(&parameters)?;
            let mut context = job.context(seed, memory);
            Ok(Ranked::run(by, table, method.as_ref(), level, &mut context)?)
        });
        Ok((ranked.collect::<Result<Vec<_>, _>>()?, columns, messages))
    })?;
    let kinds = RankKinds {
        item: kind_of(data, &columns, &["left", "right", "chosen", "rejected", "item"]),
        judge: kind_of(data, &columns, &["judge"]),
        by: by.map_or(Kind::Text, |by| data.kind(&by)),
    };
    let run = Run {
        ranked,
        kinds,
        scale,
        level,
        memory,
        parameters: wanted.parameters,
        seed,
        messages,
    };
    Ok(Rankings { run: Arc::new(run) })
}

/// What the values of the columns with these roles are; text where they differ.
fn kind_of(data: &Data, columns: &[(&'static str, String)], roles: &[&str]) -> Kind {
    let mut kinds = columns
        .iter()
        .filter(|(role, _)| roles.contains(role))
        .map(|(_, name)| data.kind(name));
    let first = kinds.next().unwrap_or(Kind::Text);
    if kinds.all(|kind| kind == first) {
        first
    } else {
        Kind::Text
    }
}

impl Run {
    fn leaderboard(&self, ranked: &[Ranked], target: &Target) -> quorate_io::Result<()> {
        let scale = scale_of(self.scale, &self.ranked[0].fit);
        write_leaderboard(target, None, ranked, scale)
    }

    fn report(&self, ranked: &[Ranked], page: &Page) -> Result<String, Failure> {
        let html = RankReport {
            title: &page.title,
            ranked,
            level: self.level,
            scale: scale_of(self.scale, &self.ranked[0].fit),
            seed: self.seed,
            spreadsheet_safe: page.spreadsheet_safe,
        }
        .to_html();
        if let Some(path) = &page.path {
            write_whole(&Target::from(path.clone()), |output| {
                Ok(output.write_all(html.as_bytes())?)
            })?;
        }
        Ok(html)
    }

    fn table(
        &self,
        py: Python<'_>,
        write: impl FnOnce(&Target) -> quorate_io::Result<()>,
    ) -> PyResult<ArrowTable> {
        ArrowTable::written(self.kinds, write).map_err(|failure| raise(py, failure))
    }
}

#[pymethods]
impl Rankings {
    /// How many there are.
    fn __len__(&self) -> usize {
        self.run.ranked.len()
    }

    /// One of them.
    fn at(&self, place: usize) -> Ranking {
        Ranking {
            run: Arc::clone(&self.run),
            place,
        }
    }

    /// The leaderboards as one table.
    fn leaderboard(&self, py: Python<'_>) -> PyResult<ArrowTable> {
        let run = &self.run;
        run.table(py, |target| run.leaderboard(&run.ranked, target))
    }

    /// The report page, as HTML; also written to a file, if there is a path.
    fn report(&self, py: Python<'_>, page: Page) -> PyResult<String> {
        let run = &self.run;
        py.detach(|| run.report(&run.ranked, &page))
            .map_err(|failure| raise(py, failure))
    }

    /// Writes the leaderboards to a file.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let written = self.run.leaderboard(&self.run.ranked, &Target::from(path));
        written.map_err(|error| raise(py, error.into()))
    }
}

impl Ranking {
    fn ranked(&self) -> &Ranked {
        &self.run.ranked[self.place]
    }

    fn own(&self) -> &[Ranked] {
        std::slice::from_ref(self.ranked())
    }

    fn items(&self) -> &Names {
        self.ranked().items()
    }

    fn pairs(&self, py: Python<'_>, what: &str) -> PyResult<&Comparisons> {
        self.ranked().pairs().ok_or_else(|| {
            let words = format!("{what} is for comparisons of two items, and these are rankings");
            raise(py, Failure::Input(words))
        })
    }

    fn item(&self, py: Python<'_>, name: &str) -> PyResult<usize> {
        let found = self.items().find(name).map(|item| item as usize);
        found.ok_or_else(|| {
            let words = format!("found {name:?}, which is not among the items");
            raise(py, Failure::Parameter(words))
        })
    }
}

#[pymethods]
impl Ranking {
    /// What the fit says of itself.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (fit, facts) = (&self.ranked().fit, PyDict::new(py));
        facts.set_item("method", fit.method)?;
        facts.set_item("parameters", &self.run.parameters)?;
        facts.set_item("seed", self.run.seed)?;
        facts.set_item("iterations", fit.iterations)?;
        facts.set_item("converged", fit.converged)?;
        facts.set_item("trace", &fit.trace)?;
        facts.set_item(
            "warnings",
            [&self.run.messages.warnings[..], &fit.warnings].concat(),
        )?;
        facts.set_item("notes", [&self.run.messages.notes[..], &fit.notes].concat())?;
        Ok(facts)
    }

    /// The number of comparisons, or of rankings.
    fn __len__(&self) -> usize {
        match &self.ranked().table {
            ComparisonTable::Pairs(table) => table.len(),
            ComparisonTable::Rankings(table) => table.len(),
        }
    }

    /// The ranking in numbers, as a JSON document.
    fn document(&self, py: Python<'_>, next: Option<usize>) -> PyResult<String> {
        documents::ranking(self.ranked(), self.run.scale, self.run.level, next)
            .map_err(|error| raise(py, Failure::Input(error.to_string())))
    }

    /// The leaderboard.
    fn leaderboard(&self, py: Python<'_>) -> PyResult<ArrowTable> {
        self.run
            .table(py, |target| self.run.leaderboard(self.own(), target))
    }

    /// The report page, as HTML; also written to a file, if there is a path.
    fn report(&self, py: Python<'_>, page: Page) -> PyResult<String> {
        py.detach(|| self.run.report(self.own(), &page))
            .map_err(|failure| raise(py, failure))
    }

    /// Writes the leaderboard to a file.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let written = self.run.leaderboard(self.own(), &Target::from(path));
        written.map_err(|error| raise(py, error.into()))
    }

    /// What is settled and what is not, a sentence each.
    fn findings(&self) -> Vec<String> {
        findings(self.ranked(), self.run.level)
    }

    /// The judges; none where nobody is named.
    fn judges(&self, py: Python<'_>) -> PyResult<Option<ArrowTable>> {
        let Some(pairs) = self.ranked().pairs().filter(|pairs| !pairs.judges().is_empty()) else {
            return Ok(None);
        };
        let write = |target: &Target| write_rank_judges(target, None, pairs.judges(), &self.ranked().fit);
        self.run.table(py, write).map(Some)
    }

    /// How every item fared against every other one.
    fn matrix(&self, py: Python<'_>) -> PyResult<ArrowTable> {
        let pairs = self.pairs(py, "matrix")?;
        self.run
            .table(py, |target| write_wins(target, None, pairs, &self.ranked().fit))
    }

    /// For each item, in the order of the leaderboard, the shares that it would win against each of them.
    fn win_probability(&self, py: Python<'_>) -> PyResult<Vec<Vec<Option<f64>>>> {
        let (fit, order) = (&self.ranked().fit, self.ranked().fit.order());
        let context = Context::new(0).with_memory_limit(self.run.memory);
        let needed = 32 * (order.len() as u64).pow(2);
        context
            .reserve(
                "the square of win probabilities",
                needed,
                "better(..) tells of two items at a time",
            )
            .map_err(|error| raise(py, error.into()))?;
        let row = |&i: &usize| order.iter().map(|&j| fit.win_probability(i, j)).collect();
        Ok(order.iter().map(row).collect())
    }

    /// The comparisons that help the ranking most.
    fn next_pairs(&self, py: Python<'_>, count: &Bound<'_, PyAny>) -> PyResult<ArrowTable> {
        let (pairs, count): (_, usize) = (self.pairs(py, "next_pairs")?, number("n", count)?);
        if count > MAX_NEXT {
            let words = format!("n: found {count}, expected at most {MAX_NEXT}");
            return Err(raise(py, Failure::Parameter(words)));
        }
        let next = py.detach(|| self.ranked().fit.next_pairs(count));
        self.run
            .table(py, |target| write_next_pairs(target, None, pairs, &next))
    }

    /// Chance that one item is better than another; none where that is not known.
    fn better(&self, py: Python<'_>, item: &str, than: &str) -> PyResult<Option<f64>> {
        Ok(self
            .ranked()
            .fit
            .better(self.item(py, item)?, self.item(py, than)?))
    }

    /// The style sheet of pictures, and the leaderboard with its intervals.
    fn picture(&self) -> (&'static str, String) {
        let scale = scale_of(self.run.scale, &self.ranked().fit);
        let style = figure::Style::Inline;
        (
            figure::CSS,
            figure::leaderboard::draw(self.items(), &self.ranked().standings, scale, style),
        )
    }
}
