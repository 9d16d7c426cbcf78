//! A number for each worker: `worker` and a column of numbers (what a label costs, how many a worker can
//! give).

use std::collections::HashMap;

use quorate::annotations::Names;

use super::SideData;
use crate::error::{Error, Result};
use crate::formats::{Row, find_columns_named, read_side};
use crate::source::Source;

/// More than anybody pays or gives: sums of such numbers stay far from infinity.
const MAX_NUMBER: f64 = 1e12;

/// Reads the column `column` of a table for each of these workers, None for those who are not listed; a
/// worker with two different numbers is an error.
pub fn read_worker_numbers(
    source: &Source,
    column: &str,
    workers: &Names,
) -> Result<SideData<Vec<Option<f64>>>> {
    let choose = |_: &mut _, names: &[String]| find_columns_named(names, &["worker", column]);
    let take = |numbers: &mut HashMap<String, f64>, row: &Row<'_>| {
        let worker = row.id(0, "worker")?;
        let number: f64 = row.number(1, "a number from 0 to 1000000000000", |number| {
            (0.0..=MAX_NUMBER).contains(number)
        })?;
        match numbers.insert(worker.to_owned(), number) {
            Some(earlier) if earlier != number => {
                let found = format!("{earlier}, then {number} for worker {worker}");
                Err(Error::number(&found, "one number for each worker").in_column(column))
            }
            _ => Ok(()),
        }
    };
    let found = read_side(source, HashMap::new(), choose, take)?;
    let data: Vec<Option<f64>> = workers.iter().map(|worker| found.get(worker).copied()).collect();
    let known = data.iter().flatten().count();
    Ok(SideData {
        data,
        foreign: found.len() - known,
    })
}
