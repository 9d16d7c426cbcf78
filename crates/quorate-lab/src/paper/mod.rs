//! What the paper prints, value by value.
//!
//! `printed.csv` holds every table cell as printed, and the figures that stand in the running text (tables
//! `text:..`).

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Serialize;

const PRINTED: &str = include_str!("printed.csv");

/// A number as the paper prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Printed {
    /// The digits.
    pub text: String,
    /// The number; none where the paper has N/A or a dash.
    pub value: Option<f64>,
}

impl Printed {
    pub(crate) fn parse(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            value: text.parse().ok(),
        }
    }

    /// Half a unit of the last printed digit: what rounding may hide.
    pub fn half_unit(&self) -> f64 {
        let (digits, exponent) = match self.text.split_once('e') {
            Some((digits, exponent)) => (digits, exponent.parse().unwrap_or(0)),
            None => (self.text.as_str(), 0),
        };
        let decimals = digits.split_once('.').map_or(0, |(_, after)| after.len()) as i32;
        0.5 * 10f64.powi(exponent - decimals)
    }
}

type Key = (String, String, String);

static TABLE: LazyLock<BTreeMap<Key, Printed>> = LazyLock::new(|| {
    let mut reader = csv::Reader::from_reader(PRINTED.as_bytes());
    let rows = reader.records().map(|record| {
        let record = record.expect("printed.csv is part of the program and has four columns");
        let key = (record[0].to_owned(), record[1].to_owned(), record[2].to_owned());
        (key, Printed::parse(&record[3]))
    });
    rows.collect()
});

/// What stands in this cell of the paper, if anything: `printed("tab:AMT1", "RobSymNMF", "dog")`.
pub fn printed(table: &str, row: &str, column: &str) -> Option<Printed> {
    let key = (table.to_owned(), row.to_owned(), column.to_owned());
    TABLE.get(&key).cloned()
}

/// The printed time of a row, in seconds: in `"{column} time"` where each column has one, else in `"time"`.
pub fn printed_time(table: &str, row: &str, column: &str) -> Option<f64> {
    printed(table, row, &format!("{column} time"))
        .or_else(|| printed(table, row, "time"))?
        .value
}

/// The smallest number of a column, and whose it is.
pub fn best(table: &str, column: &str) -> Option<(&'static str, f64)> {
    let rows = TABLE
        .iter()
        .filter(|((name, _, place), _)| name == table && place == column);
    let numbers = rows.filter_map(|((_, row, _), printed)| Some((row.as_str(), printed.value?)));
    numbers.min_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read_once_and_is_a_number_or_says_that_there_is_none() {
        assert_eq!(
            TABLE.len(),
            PRINTED.lines().count() - 1,
            "a cell stands there twice"
        );
        for (key, printed) in TABLE.iter() {
            let known = printed
                .value
                .is_some_and(|value| value >= 0.0 && value.is_finite());
            assert!(
                known || matches!(printed.text.as_str(), "N/A" | "-"),
                "{key:?}: {printed:?}"
            );
        }
    }

    #[test]
    fn cells_stand_where_the_paper_has_them() {
        let value = |table, row, column| printed(table, row, column).unwrap().value;
        assert_eq!(value("tab:synthetic1", "DesSymNMF", "miss=50%"), Some(4.59e-4));
        assert_eq!(value("tab:synthetic2", "MV-EM", "N=10000"), Some(0.1051));
        assert_eq!(value("tab:AMT1", "TensorADMM", "dog"), Some(18.01));
        assert_eq!(value("tab:AMT1", "GhoshSVD", "dog"), None);
        assert_eq!(value("tab:AMT2", "CRIA_V", "trec time"), Some(900.34));
        assert_eq!(value("tab:uci_car", "Spectral-D&S", "miss=30%"), Some(29.14));
        assert_eq!(printed_time("tab:AMT2", "KOS", "rte"), Some(0.07));
        assert_eq!(printed_time("tab:uci_credit", "KOS", "p=0.3"), Some(0.009));
        assert_eq!(printed("tab:AMT1", "KOS", "cat"), None);
        assert_eq!(best("tab:AMT1", "bluebird"), Some(("MinimaxEntropy", 8.33)));
    }

    #[test]
    fn rounding_is_half_of_the_last_digit() {
        for (text, half) in [("0.0012", 5e-5), ("4.10e-3", 5e-6), ("36", 0.5), ("7.5", 0.05)] {
            let found = Printed::parse(text).half_unit();
            assert!((found - half).abs() < 1e-12 * half.max(1.0), "{text}: {found}");
        }
    }
}
