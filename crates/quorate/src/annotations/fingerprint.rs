//! The fingerprint of a table: tells whether two inputs are the same data, in memory, on disk or on a
//! cluster.
//!
//! A sum (modulo 2^64) of one hash for each task, of its name and of its labels by the names of worker and
//! class, and one for each worker and for the list of classes. A sum does not depend on the order in which it
//! is taken, nor on codes, so parts of a table are hashed wherever they are and their sums are added.

use rayon::prelude::*;

use super::{Annotations, Names};
use crate::blocks::wire_format;

/// Hashes tasks with their labels, and adds them up.
#[derive(Debug, Clone)]
pub struct Fingerprint {
    workers: Vec<u64>,
    classes: Vec<u64>,
    sum: u64,
}

impl Fingerprint {
    /// Of labels of these workers and classes; no tasks yet.
    pub fn new(workers: &Names, classes: &Names) -> Self {
        let workers: Vec<u64> = workers.iter().map(hash_name).collect();
        let classes: Vec<u64> = classes.iter().map(hash_name).collect();
        // The order of classes is part of the data: ordinal methods go by it.
        let list = classes.iter().fold(0, |list, &class| mix(list ^ class));
        let sum = workers
            .iter()
            .map(|&worker| mix(worker))
            .fold(list, u64::wrapping_add);
        // Half of the bits of a class change places: a worker and a class of the same name differ.
        let classes = classes.into_iter().map(|class| class.rotate_left(32)).collect();
        Self {
            workers,
            classes,
            sum,
        }
    }

    /// Numbers of workers and classes.
    pub fn sizes(&self) -> (usize, usize) {
        (self.workers.len(), self.classes.len())
    }

    /// The hash of a task with its labels, given as codes of workers and classes side by side.
    pub fn of_task(&self, name: &str, workers: &[u32], labels: &[u16]) -> u64 {
        let label = |(&m, &x): (&u32, &u16)| mix(self.workers[m as usize] ^ self.classes[usize::from(x)]);
        let labels = workers.iter().zip(labels).map(label).fold(0, u64::wrapping_add);
        mix(hash_name(name).wrapping_add(mix(labels)))
    }

    /// Adds the hash of a task, or the sum of those of several.
    pub fn add(&mut self, tasks: u64) {
        self.sum = self.sum.wrapping_add(tasks);
    }

    /// The fingerprint of everything so far.
    pub fn finish(&self) -> u64 {
        self.sum
    }
}

wire_format!(7 Fingerprint { workers, classes, sum });

impl Annotations {
    /// A hash of the content, names and labels: tells whether two files are the same data, in whatever order
    /// their rows stand. Known truths have no part in it.
    #[doc(hidden)]
    pub fn fingerprint(&self) -> u64 {
        let mut fingerprint = Fingerprint::new(&self.workers, &self.classes);
        let tasks = (0..self.task_count()).into_par_iter().map(|task| {
            let (workers, labels) = self.task_slices(task);
            fingerprint.of_task(self.tasks.get(task), workers, labels)
        });
        fingerprint.add(tasks.reduce(|| 0, u64::wrapping_add));
        fingerprint.finish()
    }
}

/// 64-bit FNV-1a, mixed.
fn hash_name(name: &str) -> u64 {
    mix(name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    }))
}

/// The finaliser of SplitMix64: every bit of the result depends on every bit of the number.
pub(super) fn mix(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

#[cfg(test)]
mod tests {
    use crate::annotations::{AnnotationsBuilder, Duplicates};

    type Rows<'r> = &'r [(&'r str, &'r str, &'r str)];

    fn fingerprint(rows: Rows<'_>) -> u64 {
        let mut builder = AnnotationsBuilder::new(Duplicates::Keep);
        builder.extend(rows.iter().copied());
        builder.build().unwrap().fingerprint()
    }

    const ROWS: [(&str, &str, &str); 4] = [("t", "a", "1"), ("t", "b", "2"), ("u", "b", "1"), ("v", "a", "")];

    #[test]
    fn the_order_of_rows_does_not_count() {
        let mut rows = ROWS;
        for shift in 0..4 {
            rows.rotate_left(shift);
            assert_eq!(fingerprint(&rows), fingerprint(&ROWS));
        }
    }

    #[test]
    fn everything_else_counts() {
        let changes: [Rows<'_>; 10] = [
            &[("t", "a", "1"), ("t", "b", "1"), ("u", "b", "2"), ("v", "a", "")],
            &[("t", "a", "2"), ("t", "b", "1"), ("u", "b", "1"), ("v", "a", "")],
            &[("u", "a", "1"), ("t", "b", "2"), ("u", "b", "1"), ("v", "a", "")],
            &[("t", "a", "1"), ("t", "b", "2"), ("u", "b", "1")],
            &[("t", "a", "1"), ("t", "b", "2"), ("u", "b", "1"), ("v", "c", "")],
            &[("t", "a", "1"), ("t", "b", "2"), ("u", "b", "1"), ("v", "a", "1")],
            &[("t", "a", "1"), ("t", "b", "2"), ("w", "b", "1"), ("v", "a", "")],
            &[("t", "a", "1"), ("t", "b", "3"), ("u", "b", "1"), ("v", "a", "")],
            &[
                ("t", "a", "1"),
                ("t", "a", "1"),
                ("t", "b", "2"),
                ("u", "b", "1"),
                ("v", "a", ""),
            ],
            &ROWS,
        ];
        let mut found: Vec<u64> = changes.iter().map(|rows| fingerprint(rows)).collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), changes.len());
    }
}
