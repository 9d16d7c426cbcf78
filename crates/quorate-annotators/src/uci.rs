//! The UCI data sets Car, Credit (Statlog Australian) and Connect-4 as integer codes, coded as in the
//! authors' program.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use flate2::read::GzDecoder;

use crate::rows::FeatureRows;

/// Which data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Uci {
    /// 67,557 positions of the game after 8 moves; win, loss or draw.
    Connect4,
    /// 690 applications for a credit card; refused or granted.
    Credit,
    /// 1,728 descriptions of cars; four grades.
    Car,
}

/// A data set with known classes.
#[derive(Debug, Clone, PartialEq)]
pub struct DataSet {
    /// A row of codes for each example.
    pub rows: FeatureRows,
    /// The class of each example.
    pub labels: Vec<u8>,
    /// Number of classes.
    pub classes: usize,
}

/// Widths of the bins of Credit's columns A1 to A14; where there is none, every value has a code of its own.
const CREDIT_BINS: [Option<f64>; 14] = {
    let mut bins = [None; 14];
    bins[1] = Some(3.0);
    bins[2] = Some(3.0);
    bins[6] = Some(3.0);
    bins[9] = Some(3.0);
    bins[12] = Some(20.0);
    bins[13] = Some(5000.0);
    bins
};

/// Values of Car's columns in order of their codes, the class last.
const CAR_VALUES: [&[&str]; 7] = [
    &["low", "med", "high", "vhigh"],
    &["low", "med", "high", "vhigh"],
    &["2", "3", "4", "5more"],
    &["2", "4", "more"],
    &["small", "med", "big"],
    &["low", "med", "high"],
    &["unacc", "acc", "good", "vgood"],
];

const CONNECT4_CELLS: &[&str] = &["x", "o", "b"];
const CONNECT4_CLASSES: &[&str] = &["win", "loss", "draw"];

impl Uci {
    /// Items to label, as the paper prints.
    pub fn items(self) -> usize {
        match self {
            Self::Connect4 => 20_561,
            Self::Credit => 540,
            Self::Car => 1352,
        }
    }

    /// The file in the folder `uci`.
    pub fn file(self) -> &'static str {
        match self {
            Self::Connect4 => "connect4.csv.gz",
            Self::Credit => "credit.csv",
            Self::Car => "car.csv",
        }
    }

    /// Reads the data set from the folder of the UCI files.
    pub fn load(self, folder: &Path) -> Result<DataSet> {
        let path = folder.join(self.file());
        let file = File::open(&path).with_context(|| format!("{}", path.display()))?;
        let input: Box<dyn Read> = match self {
            Self::Connect4 => Box::new(GzDecoder::new(file)),
            _ => Box::new(file),
        };
        self.parse(input).with_context(|| format!("{}", path.display()))
    }

    fn parse(self, input: impl Read) -> Result<DataSet> {
        let mut reader = csv::Reader::from_reader(input);
        let mut columns: Vec<Vec<String>> = vec![Vec::new(); reader.headers()?.len()];
        for record in reader.records() {
            for (column, value) in columns.iter_mut().zip(&record?) {
                column.push(value.to_owned());
            }
        }
        let wanted = match self {
            Self::Connect4 => 43,
            Self::Credit => 15,
            Self::Car => 7,
        };
        if columns.len() != wanted || columns[0].is_empty() {
            bail!(
                "found {} columns, expected {wanted}, the class last",
                columns.len()
            );
        }
        let coded: Vec<Vec<usize>> = columns
            .iter()
            .enumerate()
            .map(|(place, column)| {
                let codes = match self {
                    Self::Connect4 if place == 42 => by_list(column, CONNECT4_CLASSES),
                    Self::Connect4 => by_list(column, CONNECT4_CELLS),
                    Self::Credit => by_value(column, CREDIT_BINS.get(place).copied().flatten()),
                    Self::Car => by_list(column, CAR_VALUES[place]),
                };
                codes.with_context(|| format!("column {}", place + 1))
            })
            .collect::<Result<_>>()?;
        let (class, features) = coded.split_last().context("no columns")?;
        let values = (0..class.len()).flat_map(|row| features.iter().map(move |column| column[row] as f32));
        Ok(DataSet {
            rows: FeatureRows::new(features.len(), values.collect()),
            labels: class.iter().map(|&code| (code - 1) as u8).collect(),
            classes: class.iter().copied().max().unwrap_or(0),
        })
    }
}

/// Codes from 1 in the order of a list.
fn by_list(column: &[String], list: &[&str]) -> Result<Vec<usize>> {
    let code = |value: &String| match list.iter().position(|known| known == value) {
        Some(place) => Ok(place + 1),
        None => bail!("found {value:?}, expected one of {}", list.join(", ")),
    };
    column.iter().map(code).collect()
}

/// Codes from 1 in order of value, or of bins from the smallest value on; empty bins have no code.
fn by_value(column: &[String], bin: Option<f64>) -> Result<Vec<usize>> {
    let numbers: Vec<f64> = column
        .iter()
        .map(|value| {
            value
                .trim()
                .parse()
                .with_context(|| format!("found {value:?}, expected a number"))
        })
        .collect::<Result<_>>()?;
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let places: Vec<f64> = numbers
        .iter()
        .map(|number| bin.map_or(*number, |width| ((number - least) / width).floor()))
        .collect();
    let mut distinct = places.clone();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    Ok(places
        .iter()
        .map(|place| distinct.partition_point(|known| known < place) + 1)
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_values_are_errors() {
        let error = Uci::Car
            .parse(&b"a,b,c,d,e,f,g\nlow,low,2,2,small,low,bad\n"[..])
            .unwrap_err();
        assert!(format!("{error:#}").contains("found \"bad\""), "{error:#}");
        assert!(Uci::Credit.parse(&b"a,b\n1,2\n"[..]).is_err());
    }
}
