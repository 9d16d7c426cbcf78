//! What a pass over tasks adds up. Sums of disjoint blocks of tasks add up to those of all.

use crate::blocks::wire_format;
use crate::linalg::aligned::AlignedVec;
use crate::parallel::{add, even_ranges, map_rows};

/// Sums of the E-step over tasks; K x K tables are `[answer][truth]`.
#[derive(Debug, Clone, Default)]
pub(super) struct EffectSums {
    /// `sum_j w_j q_jk (n_jl - S_jkl)`: slope of the expected log-likelihood in the crowd's matrix.
    pub(super) slope: Vec<f64>,
    /// `sum_j w_j q_jk sum_i p_l (1 - p_l)`: its curvature.
    pub(super) curvature: Vec<f64>,
    /// `sum_j w_j q_jk`.
    pub(super) mass: Vec<f64>,
    /// `sum_jk w_j q_jk (|tau_jk|^2 + trace_jk)`.
    pub(super) moment: f64,
    /// Approximate log-likelihood of the labels.
    pub(super) log_likelihood: f64,
    /// Largest and total change of a posterior.
    pub(super) largest_change: f64,
    pub(super) change: f64,
}

impl EffectSums {
    pub(super) fn zero(classes: usize) -> Self {
        Self {
            slope: vec![0.0; classes * classes],
            curvature: vec![0.0; classes * classes],
            mass: vec![0.0; classes],
            ..Self::default()
        }
    }

    /// Adds the sums of other tasks.
    pub(super) fn merge(&mut self, other: &Self) {
        add(&mut self.slope, &other.slope);
        add(&mut self.curvature, &other.curvature);
        add(&mut self.mass, &other.mass);
        self.moment += other.moment;
        self.log_likelihood += other.log_likelihood;
        self.largest_change = self.largest_change.max(other.largest_change);
        self.change += other.change;
    }
}

/// Slopes and curvatures for each worker, `[worker][slope, curvature][answer][truth]`.
#[derive(Default)]
pub(crate) struct WorkerSums(AlignedVec);

wire_format!(52 WorkerSums { 0 });

impl WorkerSums {
    /// Zeros for so many workers, in memory that is there already where it fits.
    pub(super) fn clear(&mut self, workers: usize, classes: usize) {
        let length = workers * 2 * classes * classes;
        if self.0.len() == length {
            self.0.fill(0.0)
        } else {
            self.0 = AlignedVec::zero(length)
        }
    }

    pub(super) fn values(&self) -> &[f64] {
        &self.0
    }

    pub(super) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.0
    }

    /// Adds all tables to the first one, each number in their order.
    pub(super) fn add_up(tables: &mut [Self]) {
        const NUMBERS: usize = 1 << 14;
        let Some((total, parts)) = tables.split_first_mut() else {
            return;
        };
        let length = total.0.len();
        map_rows(
            even_ranges(length, length.div_ceil(NUMBERS)),
            &mut total.0,
            1,
            |range, total| {
                parts.iter().for_each(|part| add(total, &part.0[range.clone()]));
            },
        );
    }
}
