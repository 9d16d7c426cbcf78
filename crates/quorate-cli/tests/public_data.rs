//! The program on the public data sets.

mod support;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use quorate_testkit::{public_data, public_test, run_public_tests};
use support::{done, write};

const UPDATED: [&str; 5] = ["bluebird", "dog", "rte", "labelme", "web"];

fn main() -> ExitCode {
    run_public_tests(vec![public_test!(
        an_update_of_the_public_sets_ends_where_a_full_fit_ends,
        UPDATED
    )])
}

/// The public data sets, cut into old and new rows; both fits run to their ends.
fn an_update_of_the_public_sets_ends_where_a_full_fit_ends() {
    let data = public_data::folder();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for set in UPDATED {
        let all = fs::read_to_string(data.join(set).join("labels.csv")).unwrap();
        let rows: Vec<&str> = all.lines().skip(1).collect();
        fs::write(folder.join("all.csv"), &all).unwrap();
        let settings = "-p tol=1e-11 -p max-iter=50000 --probabilities";
        done(folder, &format!("aggregate all.csv -m ds {settings} -o full.csv"));
        for old in [rows.len() / 2, rows.len() * 9 / 10] {
            write(folder, "old.csv", &(rows[..old].join("\n") + "\n"));
            write(folder, "new.csv", &(rows[old..].join("\n") + "\n"));
            done(
                folder,
                "aggregate old.csv -m ds --model m.json --keep-labels -o out.csv",
            );
            done(
                folder,
                &format!("aggregate new.csv --update m.json {settings} -o update.csv"),
            );
            assert_same_to_print(folder, set);
        }
    }
}

/// Labels alike, and no probability further off than the last digit.
fn assert_same_to_print(folder: &Path, set: &str) {
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let (full, update) = (read("full.csv"), read("update.csv"));
    assert_eq!(full.lines().count(), update.lines().count(), "{set}");
    for (full, update) in full.lines().zip(update.lines()).skip(1) {
        let split = |line: &str| -> (Vec<String>, Vec<f64>) {
            let fields: Vec<&str> = line.split(',').collect();
            let numbers = fields[2..].iter().map(|field| field.parse().unwrap());
            (
                fields[..2].iter().map(|&field| field.to_owned()).collect(),
                numbers.collect(),
            )
        };
        let ((names, numbers), (other_names, other_numbers)) = (split(full), split(update));
        assert_eq!(names, other_names, "{set}");
        for (a, b) in numbers.iter().zip(&other_numbers) {
            assert!((a - b).abs() < 1.5e-6, "{set}: {full} {update}");
        }
    }
}
