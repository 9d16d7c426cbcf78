//! Successive projection: the extreme columns of a matrix whose columns are mixtures of a few of them.
//!
//! If every column of X is a convex combination of K linearly independent columns of X, these K are found one
//! after the other: take the column with the largest residual norm, remove its direction from all columns,
//! repeat (Araujo et al. 2001; robust to noise: Gillis, Vavasis 2014). `O(K T)` inner products for T columns.

use quorate::internal::linalg::small::{add_scaled, dot, norm_squared};

/// Residual norms within this share of the largest count as equal.
const EQUAL: f64 = 1e-6;

/// Residuals below this share of the largest squared norm are rounding.
const EXHAUSTED: f64 = 1e-9;

/// Indices of up to `count` extreme columns, in the order they were found; fewer if the columns span less.
/// Columns are `[column][row]`. Of equal residuals the column with the largest norm is taken, then the first.
pub fn extreme_columns(columns: &[f64], rows: usize, count: usize) -> Vec<usize> {
    let norms: Vec<f64> = columns.chunks_exact(rows).map(norm_squared).collect();
    let largest_norm = norms.iter().copied().fold(0.0, f64::max);
    let mut residuals = norms.clone();
    let mut directions: Vec<Vec<f64>> = Vec::with_capacity(count);
    let mut picked = Vec::with_capacity(count);
    while picked.len() < count {
        let largest = residuals.iter().copied().fold(0.0, f64::max);
        if largest <= EXHAUSTED * largest_norm || largest_norm <= 0.0 {
            break;
        }
        let tied = (0..residuals.len()).filter(|&t| residuals[t] >= largest * (1.0 - EQUAL));
        let longer = |best, t| {
            if norms[t] > norms[best] * (1.0 + EQUAL) {
                t
            } else {
                best
            }
        };
        let Some(best) = tied.reduce(longer) else { break };
        let mut direction = columns[best * rows..][..rows].to_vec();
        for earlier in &directions {
            let length = dot(earlier, &direction);
            add_scaled(&mut direction, -length, earlier);
        }
        let length = norm_squared(&direction).sqrt();
        if length <= 0.0 {
            break;
        }
        direction.iter_mut().for_each(|value| *value /= length);
        for (residual, column) in residuals.iter_mut().zip(columns.chunks_exact(rows)) {
            *residual = (*residual - dot(&direction, column).powi(2)).max(0.0);
        }
        directions.push(direction);
        picked.push(best);
    }
    picked
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn picks_follow_the_worked_example() {
        let columns = [
            [0.9, 0.05, 0.05],
            [0.214286, 0.692857, 0.092857],
            [0.1, 0.2, 0.7],
            [0.7, 0.1775, 0.1225],
            [0.35, 0.490625, 0.159375],
            [0.385714, 0.275, 0.339286],
        ];
        assert_eq!(extreme_columns(columns.as_flattened(), 3, 3), [0, 2, 1]);
    }

    #[test]
    fn stops_where_the_columns_span_less() {
        assert_eq!(extreme_columns(&[1.0, 0.0, 0.5, 0.0], 2, 2), [0]);
        assert!(extreme_columns(&[0.0, 0.0], 2, 2).is_empty());
        assert!(extreme_columns(&[], 2, 2).is_empty());
    }

    proptest! {
        #[test]
        fn finds_the_corners_of_mixtures(weights in proptest::collection::vec(0.05f64..1.0, 30)) {
            let corners = [[0.8, 0.1, 0.1], [0.1, 0.7, 0.2], [0.2, 0.1, 0.7]];
            let mut columns: Vec<f64> = Vec::new();
            for mix in weights.chunks_exact(3) {
                let total: f64 = mix.iter().sum();
                columns.extend((0..3).map(|row| (0..3).map(|k| mix[k] / total * corners[k][row]).sum::<f64>()));
            }
            columns.extend(corners.as_flattened());
            let mut picked = extreme_columns(&columns, 3, 3);
            picked.sort_unstable();
            prop_assert_eq!(picked, [10, 11, 12]);
        }
    }
}
