//! Options that take one of a few names: each name, what it means, and what it stands for. The program and
//! the Python package have the same lists.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use quorate::annotations::Duplicates;
use quorate::evaluate::TieRule;
use quorate::judges::VerdictPolicy;
use quorate::ranking::BothBad;
use quorate_io::Format;

use crate::commands::rank::Scale;

/// The names of an option, what each means, and its value.
pub type Choices<T> = &'static [(&'static str, &'static str, T)];

/// What to do with repeated rows.
pub const DUPLICATES: Choices<Duplicates> = &[
    ("last", "The last row", Duplicates::Last),
    ("first", "The first row", Duplicates::First),
    ("keep", "Every row, each as a label of its own", Duplicates::Keep),
    ("error", "None: it is an error", Duplicates::Error),
];

/// What a tie counts for.
pub const TIES: Choices<TieRule> = &[
    ("lowest", "The lowest of the tied classes counts", TieRule::Lowest),
    (
        "fractional",
        "The truth among t tied classes counts 1/t",
        TieRule::Fractional,
    ),
];

/// How a verdict is reached.
pub const POLICIES: Choices<VerdictPolicy> = &[
    (
        "model",
        "The most probable class, judges weighed by how good and how independent they are",
        VerdictPolicy::Model,
    ),
    (
        "majority",
        "The answer that most judges gave; none if there is a tie",
        VerdictPolicy::Majority,
    ),
    (
        "strict-majority",
        "An answer that more than half of the judges gave who were asked, failures included",
        VerdictPolicy::StrictMajority,
    ),
];

/// What becomes of comparisons that call both items bad.
pub const BOTH_BAD: Choices<BothBad> = &[
    ("tie", "They are ties", BothBad::Tie),
    ("drop", "They are left out", BothBad::Drop),
];

/// Unit of the scores of items.
pub const SCALES: Choices<Scale> = &[
    (
        "log-odds",
        "Difference of two scores: log odds of a win; the mean is 0",
        Scale::LogOdds,
    ),
    (
        "elo",
        "400 points are a factor of ten in the odds; the mean is 1000",
        Scale::Elo,
    ),
];

/// File formats of tables.
pub const TABLES: Choices<Format> = &[
    ("csv", "", Format::Csv),
    ("tsv", "", Format::Tsv),
    ("jsonl", "", Format::Jsonl),
    ("json", "", Format::Json),
    ("parquet", "", Format::Parquet),
    ("arrow", "", Format::Arrow),
];

/// Parses the name of a choice.
pub fn one_of<T: Copy + Send + Sync>(choices: Choices<T>) -> impl TypedValueParser<Value = T> {
    let names = choices.iter().map(|&(name, about, _)| match about {
        "" => PossibleValue::new(name),
        about => PossibleValue::new(name).help(about),
    });
    let value = |name: String| choices.iter().find(|choice| choice.0 == name);
    PossibleValuesParser::new(names).map(move |name| value(name).expect("the parser knows the names").2)
}

/// The choice of this name for an argument.
pub fn find<T: Copy>(choices: Choices<T>, argument: &str, name: &str) -> Result<T, String> {
    let found = choices.iter().find(|choice| choice.0 == name);
    found.map(|choice| choice.2).ok_or_else(|| {
        let names: Vec<String> = choices.iter().map(|choice| format!("{:?}", choice.0)).collect();
        let (last, first) = names.split_last().expect("there are choices");
        format!(
            "{argument}: found {name:?}, expected {} or {last}",
            first.join(", ")
        )
    })
}
