//! The UCI tables are read as the authors' program reads them.

use std::process::ExitCode;

use quorate_annotators::{DataSet, Uci};
use quorate_testkit::{public_data, public_test, run_public_tests};

fn main() -> ExitCode {
    run_public_tests(vec![public_test!(
        the_data_sets_are_coded_as_in_the_authors_program,
        ["uci"]
    )])
}

/// Distinct values of each column.
fn kinds(set: &DataSet) -> Vec<usize> {
    let largest = |k: usize| set.rows.iter().map(move |row| row[k]).fold(0.0, f32::max);
    (0..set.rows.width).map(|k| largest(k) as usize).collect()
}

/// Number of rows of each class.
fn counts(set: &DataSet) -> Vec<usize> {
    let count = |class| {
        set.labels
            .iter()
            .filter(|&&label| usize::from(label) == class)
            .count()
    };
    (0..set.classes).map(count).collect()
}

/// Sizes of classes and numbers of codes as found in the authors' program for the same files.
fn the_data_sets_are_coded_as_in_the_authors_program() {
    let folder = public_data::folder().join("uci");
    let car = Uci::Car.load(&folder).unwrap();
    assert_eq!(counts(&car), [1210, 384, 69, 65]);
    assert_eq!(kinds(&car), [4, 4, 4, 3, 3, 3]);
    let credit = Uci::Credit.load(&folder).unwrap();
    assert_eq!(counts(&credit), [383, 307]);
    assert_eq!(kinds(&credit), [2, 23, 10, 3, 14, 8, 8, 2, 2, 10, 2, 3, 41, 8]);
    let connect4 = Uci::Connect4.load(&folder).unwrap();
    assert_eq!(counts(&connect4), [44_473, 16_635, 6449]);
    assert_eq!(kinds(&connect4), [3; 42]);
}
