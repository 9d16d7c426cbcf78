//! How many labels the backgrounds are worth: what foretells left out labels best.

use super::problem::{SparseProblem, SparseWeights};
use super::touches::Touch;
use crate::parallel::{add, balanced_ranges, map_ranges};

/// Pseudo-labels a column.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Strengths {
    /// That a worker's accuracy and the crowd's errors are worth beside the worker's own cells.
    pub(crate) worker: f64,
    /// That even errors are worth beside the crowd's.
    pub(crate) crowd: f64,
}

/// How workers differ besides by their accuracies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CellSettings {
    start: Strengths,
    learns: bool,
    /// Added to what is learnt for a worker.
    extra: f64,
}

/// Values that are tried. Beyond the last a background is all there is.
const WORKER_GRID: [f64; 6] = [1.0, 4.0, 16.0, 64.0, 256.0, 4096.0];
const CROWD_GRID: [f64; 6] = [1.0, 8.0, 64.0, 512.0, 8192.0, 1e6];

/// The last round in which strengths are learnt: after it only posteriors move, so that rounds can settle.
const LAST: usize = 16;

impl CellSettings {
    /// Strengths by the data, and `extra` for that of a worker's background.
    pub(crate) fn learnt(extra: f64) -> Self {
        let (worker, crowd, learns) = (4.0, 8192.0, true);
        let start = Strengths { worker, crowd };
        Self { start, learns, extra }
    }

    /// Strengths that stay.
    #[cfg(test)]
    pub(super) fn fixed(start: Strengths) -> Self {
        Self {
            start,
            learns: false,
            extra: 0.0,
        }
    }

    pub(super) fn start(&self) -> Strengths {
        self.with_extra(self.start)
    }

    pub(super) fn learns_in(&self, round: usize) -> bool {
        self.learns && round <= LAST && round.is_power_of_two()
    }

    fn with_extra(&self, strengths: Strengths) -> Strengths {
        let worker = strengths.worker + self.extra;
        Strengths { worker, ..strengths }
    }
}

impl SparseProblem<'_> {
    /// The strengths under which the labels are likeliest, each task by counts without it. `rows`: the
    /// posteriors in these counts.
    pub(super) fn learn_strengths(&self, weights: &SparseWeights, rows: &[f64]) -> Strengths {
        let others = self.others();
        let by_crowd = |touch: &Touch, crowd| {
            if touch.right {
                1.0
            } else {
                touch.crowd_share(crowd, others)
            }
        };
        let crowd = self.best(weights, rows, CROWD_GRID, by_crowd);
        let worker = self.best(weights, rows, WORKER_GRID, |touch, worker| {
            touch.probability(Strengths { worker, crowd }, others)
        });
        let learnt = Strengths { worker, crowd };
        let cells = self.settings.cells;
        cells.map_or(learnt, |cells| cells.with_extra(learnt))
    }

    /// The value of a grid with the highest expected log-probability; of equals the first.
    fn best<const SIZE: usize>(
        &self,
        weights: &SparseWeights,
        rows: &[f64],
        grid: [f64; SIZE],
        probability: impl Fn(&Touch, f64) -> f64 + Sync,
    ) -> f64 {
        let parts = map_ranges(balanced_ranges(self.annotations.task_starts(), 64), |tasks| {
            let mut scores = [0.0; SIZE];
            for task in tasks {
                let row = &rows[self.row(task)];
                self.for_each_touch(weights, task, row, |touch| {
                    let q = row[touch.candidate];
                    // A share that small moves no score, and costs as many logarithms.
                    if q > 1e-6 {
                        for (score, &value) in scores.iter_mut().zip(&grid) {
                            *score += q * probability(&touch, value).ln();
                        }
                    }
                });
            }
            scores
        });
        let mut scores = [0.0; SIZE];
        parts.iter().for_each(|part| add(&mut scores, part));
        let better = |best, place| if scores[place] > scores[best] { place } else { best };
        grid[(0..SIZE).fold(0, better)]
    }
}
