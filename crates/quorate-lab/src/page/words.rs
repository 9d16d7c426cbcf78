//! Numbers and names in words, the same in every form of the page.

use crate::section::{Measure, Section, Table, Time};
use crate::statistics::{Summary, median};

pub(super) const TITLE: &str = "The paper's experiments, run again";

pub(super) const PAPER: &str = "S. Ibrahim, X. Fu: Crowdsourcing via Annotator Co-occurrence Imputation and Provable Symmetric \
    Nonnegative Matrix Factorization, ICML 2021. Every table and figure: the printed value beside ours.";

/// The rule behind the verdicts, for the reader of the page.
pub(super) const RULE: &str = "Verdicts. Equal: our mean is within t s (1/n + 1/n_paper)^(1/2) of the printed value, where s is the \
    standard deviation of our n trials and t the 95 % point of Student's distribution, plus half a unit of the last printed \
    digit; on a fixed set of tasks also within three tasks, since a difference of fewer than four tasks can never be two \
    standard errors of McNemar's test. Better and worse: beyond that. On a fixed set of tasks they say what was measured on \
    these tasks, not what other tasks would show.";

pub(super) fn number(value: f64, measure: Measure) -> String {
    match measure {
        _ if !value.is_finite() => "-".into(),
        Measure::Percent => format!("{value:.2}"),
        Measure::Number if value == 0.0 => "0".into(),
        Measure::Number if !(0.01..1e4).contains(&value.abs()) => format!("{value:.2e}"),
        Measure::Number => {
            let decimals = (2.0 - value.abs().log10().floor()).clamp(0.0, 6.0) as usize;
            format!("{value:.decimals$}")
        }
    }
}

/// Mean and spread.
pub(super) fn ours(summary: &Summary, measure: Measure) -> String {
    let mean = number(summary.mean, measure);
    match summary.spread {
        Some(spread) if spread > 0.0 => format!("{mean} ± {}", number(spread, measure)),
        _ => mean,
    }
}

pub(super) fn seconds(value: f64) -> String {
    match value {
        value if value < 0.001 => format!("{:.2} ms", 1e3 * value),
        value if value < 1.0 => format!("{:.1} ms", 1e3 * value),
        value if value < 100.0 => format!("{value:.2} s"),
        value => format!("{value:.0} s"),
    }
}

/// The paper's time and ours.
pub(super) fn times(time: Option<&Time>) -> [String; 2] {
    let paper = time.and_then(|time| time.paper);
    let ours = time.and_then(|time| time.seconds);
    [
        paper.map_or(String::new(), |value| format!("{value} s")),
        ours.map_or(String::new(), seconds),
    ]
}

/// How many cells are better, equal, worse; nothing where no value is printed.
pub(super) fn verdict_counts(section: &Section) -> [String; 3] {
    let counts = section.verdicts();
    match counts.iter().sum() {
        0usize => Default::default(),
        _ => counts.map(|count| count.to_string()),
    }
}

/// "3 of 4 claims".
pub(super) fn claim_counts(section: &Section) -> String {
    match section.claims_holding() {
        (_, 0) => String::new(),
        (holding, all) => format!("{holding} of {all}"),
    }
}

/// How our times compare with the printed ones, if both are there.
pub(super) fn speed(table: &Table) -> Option<String> {
    let times = table.rows.iter().flat_map(|row| {
        let own = row.time.iter();
        own.chain(row.cells.iter().filter_map(|cell| cell.time.as_ref()))
    });
    let factors: Vec<f64> = times
        .filter_map(|time| Some(time.paper? / time.seconds?))
        .collect();
    if factors.is_empty() {
        return None;
    }
    let least = factors.iter().copied().fold(f64::INFINITY, f64::min);
    let most = factors.iter().copied().fold(0.0, f64::max);
    let mut text = format!(
        "Printed time over ours: median {}, from {} to {} (another machine and another language: an order of magnitude).",
        factor(median(&factors)),
        factor(least),
        factor(most)
    );
    for (slow, fast) in RACES {
        if let Some((paper, ours)) = ratio(table, slow, fast) {
            text.push_str(&format!(
                " {slow} takes {} times as long as {fast} in the paper, {} times here.",
                factor(paper),
                factor(ours)
            ));
        }
    }
    Some(text)
}

/// Rows whose times the paper compares.
const RACES: [(&str, &str); 2] = [("CNMF", "RobSymNMF"), ("CrowdLayer", "RobSymNMF-EM")];

/// Time of one row over that of another, in the paper and here, all columns together.
fn ratio(table: &Table, slow: &str, fast: &str) -> Option<(f64, f64)> {
    let times = |name: &str| -> Option<(f64, f64)> {
        let row = table.rows.iter().find(|row| row.name == name)?;
        let own = row.time.iter();
        let times = own.chain(row.cells.iter().filter_map(|cell| cell.time.as_ref()));
        let pairs: Vec<(f64, f64)> = times
            .map(|time| time.paper.zip(time.seconds))
            .collect::<Option<_>>()?;
        let sum = |part: fn(&(f64, f64)) -> f64| pairs.iter().map(part).sum::<f64>();
        (!pairs.is_empty()).then(|| (sum(|pair| pair.0), sum(|pair| pair.1)))
    };
    let (slow, fast) = (times(slow)?, times(fast)?);
    Some((slow.0 / fast.0, slow.1 / fast.1))
}

fn factor(value: f64) -> String {
    match value {
        value if value < 10.0 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_or_two_decimals() {
        for (value, words) in [
            (0.000284, "2.84e-4"),
            (0.0127, "0.0127"),
            (1.5, "1.50"),
            (123.4, "123"),
            (0.0, "0"),
        ] {
            assert_eq!(number(value, Measure::Number), words);
        }
        assert_eq!(number(11.114, Measure::Percent), "11.11");
        assert_eq!(number(f64::NAN, Measure::Percent), "-");
        assert_eq!(seconds(0.0123), "12.3 ms");
        assert_eq!(seconds(250.4), "250 s");
    }
}
