//! The assignment problem: a permutation of least cost or greatest gain.
//!
//! Shortest augmenting paths with potentials (Jonker and Volgenant 1987), `O(n^3)`.

/// The permutation `p` that maximises the sum of `gain[row * n + p[row]]`. Of equal ones, the same for the
/// same input.
pub fn maximise(gain: &[f64], n: usize) -> Vec<usize> {
    let cost: Vec<f64> = gain.iter().map(|value| -value).collect();
    minimise(&cost, n)
}

/// The permutation `p` that minimises the sum of `cost[row * n + p[row]]`.
pub fn minimise(cost: &[f64], n: usize) -> Vec<usize> {
    assert_eq!(cost.len(), n * n, "the cost matrix must be n x n");
    // A path through costs that cannot be compared would never end.
    assert!(cost.iter().all(|value| value.is_finite()), "costs must be finite");
    // Row and column 0 are sentinels; `row_of[column]` is the row that holds the column.
    let (mut row_potential, mut column_potential) = (vec![0.0; n + 1], vec![0.0; n + 1]);
    let mut row_of = vec![0usize; n + 1];
    let mut previous = vec![0usize; n + 1];
    for row in 1..=n {
        row_of[0] = row;
        let mut column = 0;
        let mut slack = vec![f64::INFINITY; n + 1];
        let mut visited = vec![false; n + 1];
        loop {
            visited[column] = true;
            let current = row_of[column];
            let (mut step, mut next) = (f64::INFINITY, 0);
            for j in 1..=n {
                if visited[j] {
                    continue;
                }
                let reduced = cost[(current - 1) * n + j - 1] - row_potential[current] - column_potential[j];
                if reduced < slack[j] {
                    slack[j] = reduced;
                    previous[j] = column;
                }
                if slack[j] < step {
                    step = slack[j];
                    next = j;
                }
            }
            for j in 0..=n {
                if visited[j] {
                    row_potential[row_of[j]] += step;
                    column_potential[j] -= step;
                } else {
                    slack[j] -= step;
                }
            }
            column = next;
            if row_of[column] == 0 {
                break;
            }
        }
        while column != 0 {
            row_of[column] = row_of[previous[column]];
            column = previous[column];
        }
    }
    let mut permutation = vec![0; n];
    for column in 1..=n {
        permutation[row_of[column] - 1] = column - 1;
    }
    permutation
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn permutations(n: usize) -> Vec<Vec<usize>> {
        if n == 0 {
            return vec![vec![]];
        }
        let insert = |shorter: Vec<usize>| {
            (0..n).map(move |position| {
                let mut longer = shorter.clone();
                longer.insert(position, n - 1);
                longer
            })
        };
        permutations(n - 1).into_iter().flat_map(insert).collect()
    }

    proptest! {
        #[test]
        fn as_good_as_trying_all(n in 1usize..6, values in proptest::collection::vec(-1.0f64..1.0, 25)) {
            let cost = &values[..n * n];
            let value = |p: &[usize]| -> f64 { (0..n).map(|row| cost[row * n + p[row]]).sum() };
            let best = permutations(n).iter().map(|p| value(p)).fold(f64::INFINITY, f64::min);
            let found = minimise(cost, n);
            let mut sorted = found.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..n).collect::<Vec<_>>());
            prop_assert!((value(&found) - best).abs() < 1e-12);
        }
    }
}
