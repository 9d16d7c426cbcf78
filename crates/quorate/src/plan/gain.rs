//! What more labels on a task are worth: the expected accuracy of its consensus after s of them.
//!
//! A label of a typical worker is right with probability p and otherwise any of the other classes,
//! `e = (1 - p) / (K - 1)` each. With the posterior q of a task, and the outcome counted as `c_k` answers for
//! class k,
//!
//! ```text
//! A(s) = sum over outcomes of max_k q_k Pr(outcome | k),
//! A(s) = sum_t C(s, t) o^(s-t) e^t F(t),   F(t) = sum over c_1 + c_2 + c_3 = t of  t!/(c_1! c_2! c_3!) max_k q_k (p/e)^c_k
//! ```
//!
//! with the three most probable classes in F and `o = 1 - p - 2 e`, the chance of an answer for none of them.
//! Another class k adds what it wins over the most probable one,
//!
//! ```text
//! q_k sum_c sum_b C(s, c) C(s-c, b) p^c e^b (1 - p - e)^(s-c-b) max(0, 1 - (q_1 / q_k) (p/e)^(b-c)),
//! ```
//!
//! with c answers for k and b for the most probable class: exact up to three classes, and for the first
//! label.
//!
//! One label often cannot overturn a consensus and is worth nothing by itself; two or three can. So labels
//! are valued by the upper concave envelope of `A(0), A(1), ..`: the best gain per label that is in reach.
//! (Frazier and Powell 2010, Paradoxes in learning and the marginal value of information.)

/// Labels that one plan looks ahead on a task.
pub const LOOKAHEAD: usize = 6;

/// Most probable classes that are told apart.
const TOP: usize = 3;

/// Expected accuracy after `0..=LOOKAHEAD` labels. `accuracy` is that of the typical worker on this task;
/// below chance, labels are taken to say nothing.
pub fn accuracy_after(row: &[f64], accuracy: f64) -> [f64; LOOKAHEAD + 1] {
    let classes = row.len();
    let top = most_probable(row);
    let mut after = [top[0]; LOOKAHEAD + 1];
    let chance = 1.0 / classes as f64;
    if classes < 2 || accuracy <= chance {
        return after;
    }
    let right = accuracy.min(1.0 - 1e-6);
    let wrong = (1.0 - right) / (classes - 1) as f64;
    let told_apart = classes.min(TOP);
    let other = (1.0 - right - (told_apart - 1) as f64 * wrong).max(0.0);
    let mut f = [0.0; LOOKAHEAD + 1];
    let mut odds = [1.0; LOOKAHEAD + 1];
    for c in 1..=LOOKAHEAD {
        odds[c] = odds[c - 1] * right / wrong;
    }
    let mut scale = 1.0;
    for (t, value) in f.iter_mut().enumerate() {
        *value = scale * best_of_outcomes(&top, &odds, t, told_apart);
        scale *= wrong;
    }
    let mut others = [0.0; LOOKAHEAD + 1];
    let mut skipped = [false; TOP];
    for &q in row.iter().filter(|_| classes > TOP) {
        // Each of the most probable classes is passed over once.
        if let Some(place) = (0..TOP).find(|&place| !skipped[place] && top[place] == q) {
            skipped[place] = true;
        } else if q * odds[LOOKAHEAD] > top[0] {
            add_wins(q, top[0], right, wrong, &odds, &mut others);
        }
    }
    for s in 1..=LOOKAHEAD {
        let mut sum = 0.0;
        let mut power = 1.0;
        for t in (0..=s).rev() {
            sum += BINOMIAL[s][t] * power * f[t];
            power *= other;
        }
        after[s] = (sum + others[s]).max(after[s - 1]).min(1.0);
    }
    after
}

/// Gain per label of each of the next labels: slopes of the upper concave envelope, falling.
pub fn gains(after: &[f64; LOOKAHEAD + 1]) -> [f64; LOOKAHEAD] {
    let mut gains = [0.0; LOOKAHEAD];
    let mut from = 0;
    while from < LOOKAHEAD {
        let slope = |to: usize| (after[to] - after[from]) / (to - from) as f64;
        // Of equal slopes the longer one: fewer pieces.
        let best = (from + 1..=LOOKAHEAD).max_by(|&a, &b| slope(a).total_cmp(&slope(b)));
        let best = best.unwrap_or(LOOKAHEAD);
        gains[from..best].fill(slope(best).max(0.0));
        from = best;
    }
    gains
}

/// The largest probabilities, falling; 0 where there are fewer classes.
fn most_probable(row: &[f64]) -> [f64; TOP] {
    let mut top = [0.0; TOP];
    for &q in row {
        if q > top[0] {
            top = [q, top[0], top[1]];
        } else if q > top[1] {
            top = [top[0], q, top[1]];
        } else if q > top[2] {
            top[2] = q;
        }
    }
    top
}

/// What a class with probability `q` wins over the most probable one after `0..=LOOKAHEAD` labels.
fn add_wins(
    q: f64,
    first: f64,
    right: f64,
    wrong: f64,
    odds: &[f64; LOOKAHEAD + 1],
    wins: &mut [f64; LOOKAHEAD + 1],
) {
    let neither = 1.0 - right - wrong;
    let power = |base: f64, exponent: usize| base.powi(exponent as i32);
    for (s, win) in wins.iter_mut().enumerate() {
        for c in 1..=s {
            for b in 0..=(s - c).min(c) {
                let ahead = 1.0 - first / q * odds[b] / odds[c];
                if ahead > 0.0 {
                    let ways = BINOMIAL[s][c] * BINOMIAL[s - c][b];
                    *win += q * ways * power(right, c) * power(wrong, b) * power(neither, s - c - b) * ahead;
                }
            }
        }
    }
}

/// F(t) without its power of e: the sum over the ways in which t answers fall on the classes told apart.
fn best_of_outcomes(top: &[f64; TOP], odds: &[f64; LOOKAHEAD + 1], t: usize, told_apart: usize) -> f64 {
    let mut sum = 0.0;
    for first in 0..=t {
        let rest = t - first;
        let from = if told_apart == TOP { 0 } else { rest };
        for second in from..=rest {
            let ways = BINOMIAL[t][first] * BINOMIAL[rest][second];
            let (one, two) = (top[0] * odds[first], top[1] * odds[second]);
            sum += ways * one.max(two).max(top[2] * odds[rest - second]);
        }
    }
    sum
}

const BINOMIAL: [[f64; LOOKAHEAD + 1]; LOOKAHEAD + 1] = {
    let mut table = [[0.0; LOOKAHEAD + 1]; LOOKAHEAD + 1];
    let mut n = 0;
    while n <= LOOKAHEAD {
        table[n][0] = 1.0;
        let mut k = 1;
        while k <= n {
            table[n][k] = table[n - 1][k - 1] + table[n - 1][k];
            k += 1;
        }
        n += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    /// All answer sequences, one by one.
    fn enumerate(row: &[f64], right: f64, labels: u32) -> f64 {
        let classes = row.len();
        let wrong = (1.0 - right) / (classes - 1) as f64;
        let mut sum = 0.0;
        for code in 0..classes.pow(labels) {
            let mut weights = row.to_vec();
            let mut left = code;
            for _ in 0..labels {
                let answer = left % classes;
                left /= classes;
                for (k, weight) in weights.iter_mut().enumerate() {
                    *weight *= if k == answer { right } else { wrong };
                }
            }
            sum += weights.iter().copied().fold(0.0, f64::max);
        }
        sum
    }

    #[test]
    fn equals_the_sum_over_all_answers_for_two_and_three_classes() {
        for row in [
            vec![0.5, 0.5],
            vec![0.83, 0.17],
            vec![0.2, 0.5, 0.3],
            vec![0.9, 0.06, 0.04],
        ] {
            for right in [0.55, 0.7, 0.95] {
                let after = accuracy_after(&row, right);
                for (labels, found) in after.iter().enumerate() {
                    let expected = enumerate(&row, right, labels as u32);
                    assert!((found - expected).abs() < 1e-12, "{row:?} {right} {labels}");
                }
            }
        }
    }

    #[test]
    fn is_exact_for_the_first_label_and_near_for_more_classes() {
        let row = [0.4, 0.3, 0.15, 0.1, 0.05];
        let after = accuracy_after(&row, 0.7);
        assert!((after[1] - enumerate(&row, 0.7, 1)).abs() < 1e-12);
        for (labels, found) in after.iter().enumerate().take(5).skip(2) {
            let exact = enumerate(&row, 0.7, labels as u32);
            assert!((found - exact).abs() < 0.02, "{labels}: {found} {exact}");
        }
    }

    #[test]
    fn one_label_that_cannot_overturn_is_worth_a_part_of_several_that_can() {
        let after = accuracy_after(&[0.8, 0.2], 0.7);
        assert!((after[1] - 0.8).abs() < 1e-12, "one label changes nothing");
        let gains = gains(&after);
        assert!(gains[0] > 0.01);
        assert!(gains.windows(2).all(|pair| pair[0] >= pair[1]));
        let total: f64 = gains.iter().sum();
        assert!((total - (after[LOOKAHEAD] - after[0])).abs() < 1e-12);
    }

    #[test]
    fn labels_at_or_below_chance_and_a_single_class_are_worth_nothing() {
        assert_eq!(gains(&accuracy_after(&[0.5, 0.5], 0.5)), [0.0; LOOKAHEAD]);
        assert_eq!(gains(&accuracy_after(&[0.5, 0.5], 0.2)), [0.0; LOOKAHEAD]);
        assert_eq!(gains(&accuracy_after(&[1.0], 0.9)), [0.0; LOOKAHEAD]);
    }
}
