//! How cautious a confidence must be: as much as the effects of tasks that the labels show.
//!
//! ```text
//! own      mean doubt of a model without effects of tasks: right where workers err independently
//! raised   mean doubt with an allowance for tasks that mislead
//! w        1 where the labels show effects of tasks, or cannot show any; 0 where they show none
//! lo(d) = (1 - w) lo(own) + w lo(raised)
//! ```
//!
//! Then every posterior is raised to the power that makes `d` the mean doubt: labels, their order and ties stay.
//! The numbers were chosen on the public data sets and on simulated crowds of independent workers, of which nearly all
//! showed a variance of effects below 0.02 (`docs/calibration.md`).

use super::error::{from_lo, lo};
use crate::blocks::{Block, Extent, Pass, State, wire_format};
use crate::linalg::small::largest;
use crate::parallel::{add, balanced_ranges, map_ranges, map_rows};

/// Variance of the effects of tasks, in log-odds, from which the full allowance is made.
const VISIBLE: f64 = 0.05;

/// The variance that is expected where the labels tell nothing of it.
const EXPECTED: f64 = 0.15;

/// What labels show of the effects of tasks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TaskVariation {
    /// Mean doubt of the model without effects, over tasks whose truth is not known.
    pub(crate) own_doubt: f64,
    /// Estimated variance of the effects: by how much answers on a task go together beyond that model.
    pub(crate) variance: f64,
    /// How far the labels can tell: labels over labels and parameters.
    pub(crate) determined: f64,
}

impl TaskVariation {
    /// w, the share of the allowance that is made.
    pub(crate) fn caution(&self) -> f64 {
        let variance = self.determined * self.variance + (1.0 - self.determined) * EXPECTED;
        (variance / VISIBLE).clamp(0.0, 1.0)
    }
}

/// The mean doubt to aim at.
pub(crate) fn expected_doubt(shown: &TaskVariation, raised: f64) -> f64 {
    let caution = shown.caution();
    let both = (1.0 - caution) * lo(shown.own_doubt) + caution * lo(raised);
    from_lo(both).clamp(0.0, 1.0)
}

/// Fourths of the powers that are tried.
const POWERS: [usize; 11] = [2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24];
const TRIED: usize = POWERS.len();

/// Adds up the doubts of the posteriors raised to each power.
pub(crate) struct TryPowers {}
wire_format!(63 TryPowers {});

/// Sums of doubts by power, and the number of tasks.
pub(crate) struct PowerDoubts {
    sums: Vec<f64>,
    tasks: u64,
}
wire_format!(64 PowerDoubts { sums, tasks });

impl State for PowerDoubts {
    fn merge(&mut self, other: Self) {
        add(&mut self.sums, &other.sums);
        self.tasks += other.tasks;
    }
}

impl Pass for TryPowers {
    type State = PowerDoubts;

    fn width(&self, classes: usize) -> usize {
        classes
    }

    fn reads_posteriors(&self) -> bool {
        true
    }

    fn start(&mut self, _: Extent) -> PowerDoubts {
        PowerDoubts {
            sums: vec![0.0; TRIED],
            tasks: 0,
        }
    }

    fn visit(&mut self, doubts: &mut PowerDoubts, block: Block<'_>, rows: &mut [f64]) {
        let (rows, classes) = (&*rows, block.class_count());
        let parts = map_ranges(balanced_ranges(block.starts, 64), |tasks| {
            let (mut sums, mut count) = ([0.0; TRIED], 0);
            for task in tasks.filter(|&task| is_open(block, task)) {
                count += 1;
                let row = &rows[task * classes..][..classes];
                let top = largest(row);
                let mut totals = [0.0; TRIED];
                for cell in row {
                    // Relative to the label: its own term is 1.
                    let fourth = (cell / top).sqrt().sqrt();
                    for (total, power) in totals.iter_mut().zip(powers(fourth)) {
                        *total += power;
                    }
                }
                for (sum, total) in sums.iter_mut().zip(totals) {
                    *sum += 1.0 - 1.0 / total;
                }
            }
            (sums, count)
        });
        for (sums, count) in parts {
            add(&mut doubts.sums, &sums);
            doubts.tasks += count;
        }
    }
}

/// The tried powers of a number whose fourth root is this.
fn powers(root: f64) -> [f64; TRIED] {
    let two = root * root;
    let four = two * two;
    let (three, six, eight) = (two * root, four * two, four * four);
    let five = four * root;
    let (twelve, sixteen) = (eight * four, eight * eight);
    [
        two,
        three,
        four,
        five,
        six,
        six * root,
        eight,
        eight * two,
        twelve,
        sixteen,
        twelve * twelve,
    ]
}

/// Whether a task has labels and no known truth.
fn is_open(block: Block<'_>, task: usize) -> bool {
    !block.task(task).0.is_empty() && block.gold(task).is_none()
}

impl PowerDoubts {
    /// The mean doubt of the posteriors as they are; none without tasks.
    pub(crate) fn mean(&self) -> Option<f64> {
        let at = POWERS.iter().position(|&fourths| fourths == 4)?;
        (self.tasks > 0).then(|| self.sums[at] / self.tasks as f64)
    }

    /// The power for which the mean doubt is this, between those that were tried: the logarithm of the mean doubt
    /// is nearly linear from one to the next.
    pub(crate) fn power_for(&self, doubt: f64) -> f64 {
        let wanted = doubt.max(f64::MIN_POSITIVE).ln();
        let log = |at: usize| {
            (self.sums[at] / self.tasks.max(1) as f64)
                .max(f64::MIN_POSITIVE)
                .ln()
        };
        let power = |at: usize| POWERS[at] as f64 / 4.0;
        // Doubts fall as powers rise.
        let Some(below) = (0..TRIED).find(|&at| log(at) <= wanted) else {
            return power(TRIED - 1);
        };
        let Some(above) = below.checked_sub(1) else {
            return power(0);
        };
        let part = (log(above) - wanted) / (log(above) - log(below)).max(f64::MIN_POSITIVE);
        power(above) + part.clamp(0.0, 1.0) * (power(below) - power(above))
    }
}

/// Raises the posteriors of tasks with labels and without known truth to a power.
pub(crate) fn sharpen_rows(labels: Block<'_>, rows: &mut [f64], power: f64) {
    let classes = labels.class_count();
    if power == 1.0 {
        return;
    }
    map_rows(
        balanced_ranges(labels.starts, 64),
        rows,
        classes,
        |tasks, rows| {
            for (task, row) in tasks.zip(rows.chunks_exact_mut(classes)) {
                if is_open(labels, task) {
                    sharpen(row, power);
                }
            }
        },
    );
}

fn sharpen(row: &mut [f64], power: f64) {
    let top = largest(row);
    let mut total = 0.0;
    for cell in &mut *row {
        // The label's own term is exactly 1, and so is that of a tie.
        *cell = (*cell / top).powf(power);
        total += *cell;
    }
    row.iter_mut().for_each(|cell| *cell /= total);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotations::Annotations;

    fn shown(variance: f64) -> TaskVariation {
        TaskVariation {
            own_doubt: 0.04,
            variance,
            determined: 1.0,
        }
    }

    #[test]
    fn without_effects_of_tasks_the_doubt_is_the_models_own() {
        assert!((expected_doubt(&shown(-0.01), 0.2) - 0.04).abs() < 1e-12);
        let full = expected_doubt(&shown(0.3), 0.2);
        assert!((full - 0.2).abs() < 1e-12);
        let half = expected_doubt(&shown(VISIBLE / 2.0), 0.2);
        assert!((lo(half) - (lo(full) + lo(0.04)) / 2.0).abs() < 1e-12);
        // Labels that cannot tell are met with caution.
        let blind = TaskVariation {
            determined: 0.4,
            ..shown(0.0)
        };
        assert_eq!(expected_doubt(&blind, 0.2), full);
    }

    #[test]
    fn the_power_gives_the_doubt_that_was_asked_for() {
        let tasks = 200;
        let labels = (0..tasks).map(|task| (task, 0, 0));
        let annotations = Annotations::from_codes(tasks as usize, 1, 3, labels).unwrap();
        let rows: Vec<f64> = (0..tasks)
            .flat_map(|task| {
                let doubt = 0.55 * f64::from(task) / f64::from(tasks);
                [1.0 - doubt, 0.7 * doubt, 0.3 * doubt]
            })
            .collect();
        let mut pass = TryPowers {};
        let mut doubts = PowerDoubts {
            sums: vec![0.0; TRIED],
            tasks: 0,
        };
        pass.visit(&mut doubts, annotations.as_block(), &mut rows.clone());
        let mean =
            |rows: &[f64]| rows.chunks_exact(3).map(|row| 1.0 - largest(row)).sum::<f64>() / f64::from(tasks);
        assert!((doubts.mean().unwrap() - mean(&rows)).abs() < 1e-12);
        for wanted in [0.1, 0.2, 0.3] {
            let mut sharpened = rows.clone();
            sharpen_rows(annotations.as_block(), &mut sharpened, doubts.power_for(wanted));
            assert!(
                (mean(&sharpened) - wanted).abs() < 2e-3,
                "{wanted} {}",
                mean(&sharpened)
            );
            let kept = |row: &[f64]| row[0] >= row[1] && row[1] >= row[2];
            assert!(
                sharpened
                    .chunks_exact(3)
                    .zip(rows.chunks_exact(3))
                    .all(|(new, old)| kept(new) == kept(old))
            );
        }
        // Out of reach: the strongest or weakest that was tried.
        assert_eq!(doubts.power_for(0.0), 6.0);
        assert_eq!(doubts.power_for(0.9), 0.5);
    }

    #[test]
    fn ties_and_known_truths_stay() {
        let annotations = Annotations::from_codes(3, 1, 2, [(0, 0, 0), (1, 0, 0)]).unwrap();
        let known = annotations.with_gold([(1, 0)]).unwrap();
        let mut rows = [0.5, 0.5, 0.9, 0.1, 0.7, 0.3];
        sharpen_rows(known.as_block(), &mut rows, 3.0);
        assert_eq!(rows, [0.5, 0.5, 0.9, 0.1, 0.7, 0.3]);
    }
}
