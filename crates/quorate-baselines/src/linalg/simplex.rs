//! Euclidean projection onto the probability simplex.
//!
//! With `u` the entries in falling order and `j` the last index with `u_j + (1 - sum_{i<=j} u_i) / j > 0`,
//! `theta = (sum_{i<=j} u_i - 1) / j` and the projection is `max(v - theta, 0)` (Duchi et al. 2008).

/// Replaces `values` by the nearest point of the simplex; `scratch` has the same length.
pub fn project_simplex(values: &mut [f64], scratch: &mut [f64]) {
    scratch.copy_from_slice(values);
    scratch.sort_unstable_by(|a, b| b.total_cmp(a));
    let (mut sum, mut theta) = (0.0, 0.0);
    for (index, &value) in scratch.iter().enumerate() {
        sum += value;
        let candidate = (sum - 1.0) / (index + 1) as f64;
        if value > candidate {
            theta = candidate;
        }
    }
    for value in values {
        *value = (*value - theta).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn project(values: &[f64]) -> Vec<f64> {
        let mut projected = values.to_vec();
        project_simplex(&mut projected, &mut values.to_vec());
        projected
    }

    #[test]
    fn worked_examples() {
        for (input, expected) in [
            ([0.5, 0.2, 0.9], [0.3, 0.0, 0.7]),
            ([1.2, 0.3, -0.5], [0.95, 0.05, 0.0]),
            ([-0.3, 0.1, -0.2], [1.0 / 6.0, 17.0 / 30.0, 4.0 / 15.0]),
        ] {
            for (found, wanted) in project(&input).iter().zip(expected) {
                assert!((found - wanted).abs() < 1e-12, "{input:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn no_point_of_the_simplex_is_nearer(
            values in proptest::collection::vec(-2.0f64..2.0, 4),
            other in proptest::collection::vec(0.01f64..1.0, 4),
        ) {
            let projected = project(&values);
            prop_assert!((projected.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let total: f64 = other.iter().sum();
            let distance = |point: &mut dyn Iterator<Item = f64>| -> f64 {
                point.zip(&values).map(|(a, b)| (a - b).powi(2)).sum()
            };
            let nearest = distance(&mut projected.iter().copied());
            let rival = distance(&mut other.iter().map(|value| value / total));
            prop_assert!(nearest <= rival + 1e-12);
        }
    }
}
