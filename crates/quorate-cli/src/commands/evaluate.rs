//! `quorate evaluate`: labels against the known truth, or a leaderboard against the known order.

mod leaderboard;

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use quorate::annotations::Names;
use quorate::evaluate::{Bins, Evaluate, Evaluation, Predictions, TieRule};
use quorate::internal::annotations::{Similarity, find_similar};
use quorate::model::Consensus;
use quorate_io::{ErrorKind, Source, Target, TaskLabels, read_ids, read_scores, write_whole};
use quorate_report::figure::reliability;
use serde::Serialize;

use crate::choices::{TIES, one_of};
use crate::column_words::parse_label_columns;
use crate::files::{Content, Files};
use crate::knowledge::read_known;
use crate::memory::MemoryArgs;
use crate::numbers::{below_one, number};
use crate::printer::Printer;
use crate::record::{each, record};
use crate::text_table::{TextTable, count, plural};

/// What to compare with what.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    quorate aggregate labels.csv --probabilities -o out.csv && quorate evaluate out.csv truth.csv\n  \
    quorate evaluate out.csv truth.csv --json --fail-above 10\n\n\
    Only tasks that both files have are scored. Log loss needs the probabilities of all classes (aggregate\n\
    --probabilities), calibration the confidence.\n\
    A leaderboard (item and score or rank, as `quorate rank -o` writes it) is compared with the known scores or ranks of\n\
    its items: Kendall's tau, pairs in the right order, and how honest the chances of being better are.")]
pub struct EvaluateArgs {
    /// Predicted labels: columns task, label and, if there, confidence and p:CLASS
    predicted: PathBuf,
    /// The truth: columns task, label
    truth: PathBuf,
    /// Names of the columns of the predictions, where they are not found by themselves
    #[arg(long, value_name = "task=NAME,label=NAME", value_delimiter = ',')]
    columns: Vec<String>,
    /// Names of the columns of the truth, where they are not found by themselves
    #[arg(long, value_name = "task=NAME,label=NAME", value_delimiter = ',')]
    truth_columns: Vec<String>,
    /// What a tie counts for: the label that was written, or a fair share (needs p:CLASS columns)
    #[arg(long, value_parser = one_of(TIES), default_value = "lowest")]
    ties: TieRule,
    /// Number of bins of the calibration table
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000))]
    bins: u16,
    /// Draw the reliability curve (what the confidence said against how often it was right) as SVG
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Leave these tasks out (a table with a column `task`), for example those that were given as --gold
    #[arg(long, value_name = "FILE")]
    except: Option<PathBuf>,
    /// Classes of the two files that differ only in case and white space are the same
    #[arg(long)]
    normalize: bool,
    /// Show all classes; without it the twenty with most truths
    #[arg(long)]
    all_classes: bool,
    /// Level of the intervals of a leaderboard
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, value_parser = below_one)]
    level: f64,
    /// Exit with code 1 if the error is above this many percent
    #[arg(long, value_name = "PERCENT", value_parser = number(0.0, 100.0))]
    fail_above: Option<f64>,
    /// For programs: JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    memory: MemoryArgs,
}

/// Reads both files, scores, prints; code 1 if the error is above the limit asked for.
pub fn run(args: &EvaluateArgs, printer: &mut Printer) -> Result<u8> {
    args.memory.apply();
    Files::default()
        .reads("the predictions", Some(&args.predicted))
        .reads("the truth", Some(&args.truth))
        .reads("--except", args.except.as_ref())
        .writes("--picture", args.picture.as_ref(), Content::Other)
        .check(false)?;
    let columns = parse_label_columns("--columns", &args.columns)?;
    let predicted = match read_known("the predictions", &args.predicted, columns, None, printer) {
        // A leaderboard has no column of labels.
        Err(error) if lacks_columns(&error) => match read_scores(&Source::from(args.predicted.clone())) {
            Ok(scores) => return leaderboard::run(args, &scores, printer),
            Err(other) if matches!(other.kind(), ErrorKind::Missing { .. }) => return Err(error),
            Err(other) => return Err(other.into()),
        },
        read => read?,
    };
    let columns = parse_label_columns("--truth-columns", &args.truth_columns)?;
    let truth = read_known("the truth", &args.truth, columns, None, printer)?;
    let except = match &args.except {
        Some(path) => read_ids(&Source::from(path.clone()), "task")?,
        None => Names::default(),
    };
    let matched = Matched::new(&predicted, &truth, &except, args.normalize);
    let settings = Evaluate {
        ties: args.ties,
        bins: Bins::EqualWidth(args.bins.into()),
    };
    if args.ties == TieRule::Fractional && predicted.probabilities.is_none() {
        printer.warning(
            "ties cannot be seen without the probabilities of all classes (aggregate --probabilities)",
        );
    }
    if let Some(warning) = matched.check_classes(&predicted, &truth)? {
        printer.warning(warning);
    }
    let evaluation = matched.score(&predicted, &settings)?;
    let missing = matched.missing(&truth, &except);
    if let Some(path) = &args.picture {
        let Some(calibration) = &evaluation.calibration else {
            bail!("--picture needs predictions with a confidence (as `quorate aggregate` writes them)");
        };
        let picture = reliability::draw(calibration, evaluation.error.scored);
        write_whole(&Target::from(path.clone()), |output| {
            Ok(output.write_all(picture.as_bytes())?)
        })?;
        printer.note(format!("the reliability curve is in {}", path.display()));
    }
    if args.json {
        printer.json(&as_json(&evaluation, &matched.classes, missing))?;
    } else {
        let shown = if args.all_classes {
            usize::MAX
        } else {
            SHOWN_CLASSES
        };
        printer.data(&as_text(&evaluation, &matched.classes, missing, shown))?;
    }
    let above = args
        .fail_above
        .is_some_and(|limit| 100.0 * evaluation.error.rate > limit);
    if above {
        printer.warning(format!(
            "the error is above {} %",
            args.fail_above.unwrap_or_default()
        ));
    }
    Ok(if above { 1 } else { 0 })
}

fn lacks_columns(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<quorate_io::Error>();
    error.is_some_and(|error| matches!(error.kind(), ErrorKind::Missing { .. }))
}

/// The document of `evaluate --json`, and what there is to warn of.
pub(crate) fn document(
    predicted: &TaskLabels,
    truth: &TaskLabels,
    except: &Names,
    (settings, normalize): (&Evaluate, bool),
) -> Result<(impl Serialize + use<>, Option<String>)> {
    let matched = Matched::new(predicted, truth, except, normalize);
    let warning = matched.check_classes(predicted, truth)?;
    let evaluation = matched.score(predicted, settings)?;
    let missing = matched.missing(truth, except);
    Ok((as_json(&evaluation, &matched.classes, missing), warning))
}

/// Predictions and truth with common class codes, by predicted task.
struct Matched {
    classes: Names,
    /// Code of each of the predictions' classes.
    codes: Vec<usize>,
    /// True class of each predicted task.
    truth: Vec<Option<usize>>,
}

impl Matched {
    /// The same number written in another way (1 and 1.0) is the same class; with `normalize`, words that
    /// differ in case and white space only are, too.
    fn new(predicted: &TaskLabels, truth: &TaskLabels, except: &Names, normalize: bool) -> Self {
        let mut all: Names = predicted.classes.clone();
        truth.classes.iter().for_each(|class| {
            all.intern(class);
        });
        let mut same: HashMap<&str, &str> = HashMap::new();
        for group in find_similar(&all) {
            let names: Vec<&str> = group
                .codes
                .iter()
                .map(|&code| all.get(usize::from(code)))
                .collect();
            let own = names.iter().find(|name| predicted.classes.find(name).is_some());
            let joined = normalize || group.similarity == Similarity::Number;
            if let (true, Some(own)) = (joined, own) {
                same.extend(names.iter().map(|name| (*name, *own)));
            }
        }
        let own = |class| *same.get(class).unwrap_or(&class);
        let mut classes = Names::default();
        // Those of the probability columns come first and in their order: ties go to the lowest of them.
        let codes = predicted
            .classes
            .iter()
            .map(|class| classes.intern(own(class)) as usize)
            .collect();
        let truths: Vec<Option<usize>> = predicted
            .tasks
            .iter()
            .map(|task| truth.label(task).filter(|_| except.find(task).is_none()))
            .map(|class| Some(classes.intern(own(class?)) as usize))
            .collect();
        Self {
            classes,
            codes,
            truth: truths,
        }
    }

    /// Refuses files whose classes have nothing in common, and warns where most truths are classes that were
    /// never predicted: the error would measure spelling.
    fn check_classes(&self, predicted: &TaskLabels, truth: &TaskLabels) -> Result<Option<String>> {
        let scored = self.truth.iter().flatten().count();
        let foreign = self
            .truth
            .iter()
            .flatten()
            .filter(|&class| !self.codes.contains(class))
            .count();
        if scored == 0 || 2 * foreign < scored {
            return Ok(None);
        }
        let some = |names: &Names| {
            let quoted: Vec<String> = names.iter().take(5).map(|name| format!("{name:?}")).collect();
            quoted.join(", ")
        };
        let classes = format!(
            "predicted classes are {}, true ones {}",
            some(&predicted.classes),
            some(&truth.classes)
        );
        if foreign == scored {
            bail!(
                "no true class was ever predicted, so every label would count as wrong: {classes}; are these files about the same \
                 classes?"
            );
        }
        Ok(Some(format!(
            "{foreign} of {} have a true class that was never predicted: {classes}",
            plural(scored, "task")
        )))
    }

    /// Number of truths that nothing was predicted for.
    fn missing(&self, truth: &TaskLabels, except: &Names) -> usize {
        let left_out = truth.tasks.iter().filter(|task| except.find(task).is_some());
        truth.tasks.len() - left_out.count() - self.truth.iter().flatten().count()
    }

    fn score(&self, predicted: &TaskLabels, settings: &Evaluate) -> quorate::Result<Evaluation> {
        let classes = self.classes.len();
        let labels: Vec<Option<usize>> = predicted
            .labels
            .iter()
            .map(|&label| Some(self.codes[label]))
            .collect();
        match (&predicted.probabilities, &predicted.confidence) {
            (Some(rows), _) => {
                let consensus = Consensus::new(classes, self.widen(rows, predicted.classes.len()));
                settings.run(
                    &Predictions::from_consensus_and_labels(&consensus, &labels)?,
                    &self.truth,
                )
            }
            (None, Some(confidence)) => {
                let confidence: Vec<f64> = confidence.iter().map(|value| value.clamp(0.0, 1.0)).collect();
                settings.run(
                    &Predictions::from_confidences(classes, &labels, &confidence)?,
                    &self.truth,
                )
            }
            (None, None) => settings.run(&Predictions::from_labels(classes, &labels)?, &self.truth),
        }
    }

    /// Rows over all classes from rows over the predicted ones. Files round: the rows are made to sum to 1
    /// again.
    fn widen(&self, rows: &[f64], width: usize) -> Vec<f64> {
        let classes = self.classes.len();
        let mut full = vec![0.0; rows.len() / width * classes];
        for (row, wide) in rows.chunks_exact(width).zip(full.chunks_exact_mut(classes)) {
            let sum: f64 = row.iter().sum();
            for (&code, value) in self.codes.iter().zip(row) {
                wide[code] += (value / sum).clamp(0.0, 1.0);
            }
        }
        full
    }
}

/// Classes that are shown unless more are asked for.
const SHOWN_CLASSES: usize = 20;

/// The classes with most truths, in natural order.
fn shown_classes(evaluation: &Evaluation, classes: &Names, most: usize) -> Vec<usize> {
    let order = classes.natural_order();
    let mut frequent = order.clone();
    frequent.sort_by_key(|&class| std::cmp::Reverse(evaluation.per_class[class].support));
    frequent.truncate(most);
    order
        .into_iter()
        .filter(|class| frequent.contains(class))
        .collect()
}

fn as_text(evaluation: &Evaluation, classes: &Names, missing: usize, shown: usize) -> String {
    let error = &evaluation.error;
    let percent = |value: f64| format!("{:.2} %", 100.0 * value);
    let rule = match evaluation.ties {
        TieRule::Lowest => "ties: the lowest class",
        TieRule::Fractional => "ties: a fair share",
    };
    let mut text = String::new();
    let mut line = |name: &str, value: String| text.push_str(&format!("{name:<19}{value}\n"));
    let interval = format!(
        "95 % interval {:.2} to {:.2} %",
        100.0 * error.interval.0,
        100.0 * error.interval.1
    );
    let (tasks, tied) = (plural(error.scored, "task"), plural(error.tied, "tied task"));
    let wrong = format!("{} of {tasks} wrong", trim(error.wrong));
    line(
        "error",
        format!("{}   ({interval}; {wrong}; {rule}, {tied})", percent(error.rate)),
    );
    line("balanced accuracy", percent(evaluation.balanced_accuracy));
    for (name, score) in [
        ("log loss", evaluation.log_loss),
        ("Brier score", evaluation.brier),
    ] {
        score
            .into_iter()
            .for_each(|score| line(name, format!("{score:.4}")));
    }
    if let Some(calibration) = &evaluation.calibration {
        line("calibration error", percent(calibration.expected_error));
    }
    for (name, tasks, why) in [
        ("not scored", error.without_truth, "without a known truth"),
        ("not predicted", missing, "of the truth file"),
    ] {
        if tasks > 0 {
            line(name, format!("{} {why}", plural(tasks, "task")));
        }
    }
    let mut table = TextTable::new(["class", ">truths", ">predicted", ">precision", ">recall", ">F1"]);
    let score = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{:.1} %", 100.0 * value));
    let listed = shown_classes(evaluation, classes, shown);
    for &class in &listed {
        let scores = &evaluation.per_class[class];
        table.row([
            classes.get(class).to_owned(),
            count(scores.support),
            trim(scores.predicted),
            score(scores.precision),
            score(scores.recall),
            score(scores.f1),
        ]);
    }
    text.push('\n');
    text.push_str(&table.render());
    if listed.len() < classes.len() {
        let more = plural(classes.len() - listed.len(), "class");
        text.push_str(&format!("  and {more} with fewer truths (--all-classes)\n"));
    }
    if let Some(calibration) = &evaluation.calibration {
        let mut table = TextTable::new(["confidence", ">tasks", ">said", ">right", ""]);
        for bin in &calibration.bins {
            table.row([
                format!("{:.2} to {:.2}", bin.lower, bin.upper),
                count(bin.count),
                format!("{:.1} %", 100.0 * bin.confidence),
                format!("{:.1} %", 100.0 * bin.accuracy),
                gauge(bin.confidence, bin.accuracy),
            ]);
        }
        text.push_str("\nWhat the confidence said against how often it was right (o said, # right):\n");
        text.push_str(&table.render());
    }
    text
}

/// A line of 40 marks: `#` up to the accuracy, `o` at the confidence.
fn gauge(confidence: f64, accuracy: f64) -> String {
    const WIDTH: usize = 40;
    let place = |value: f64| ((value * WIDTH as f64).round() as usize).min(WIDTH);
    let mut marks: Vec<char> = (0..=WIDTH)
        .map(|at| if at < place(accuracy) { '#' } else { '.' })
        .collect();
    marks[place(confidence)] = 'o';
    marks.into_iter().collect()
}

/// A count that may be a fraction under the fractional rule.
fn trim(value: f64) -> String {
    if value.fract() == 0.0 {
        count(value as usize)
    } else {
        format!("{value:.1}")
    }
}

fn as_json(evaluation: &Evaluation, classes: &Names, missing: usize) -> impl Serialize + use<> {
    let (error, calibration) = (&evaluation.error, evaluation.calibration.as_ref());
    let bins = calibration.map_or(&[][..], |calibration| &calibration.bins);
    record! {
        tasks_scored: error.scored,
        tasks_without_truth: error.without_truth,
        truths_without_prediction: missing,
        tie_rule: match evaluation.ties {
            TieRule::Lowest => "lowest",
            TieRule::Fractional => "fractional",
        },
        tied: error.tied,
        error: error.rate,
        error_interval_95: error.interval,
        balanced_accuracy: evaluation.balanced_accuracy,
        log_loss: evaluation.log_loss,
        brier: evaluation.brier,
        calibration_error: calibration.map(|calibration| calibration.expected_error),
        calibration: each(bins, |bin| record! {
            lower: bin.lower,
            upper: bin.upper,
            tasks: bin.count,
            confidence: bin.confidence,
            accuracy: bin.accuracy,
        }),
        classes: each(classes.iter().zip(&evaluation.per_class), |(class, scores)| record! {
            class: class.to_owned(),
            truths: scores.support,
            predicted: scores.predicted,
            precision: scores.precision,
            recall: scores.recall,
            f1: scores.f1,
        }),
    }
}
