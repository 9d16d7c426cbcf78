//! EigenRatio: reliabilities from the eigenvectors of the agreement rates.
//!
//! ```text
//! R1[m, j] = (agreements - disagreements of m and j) / tasks they share,    R2[m, j] = 1 where they share any
//! R1 ~ R2 o (r r^T),     r_m = 2 Pr(m is right) - 1     =>     r ~ v1 / v2 elementwise
//! ```
//!
//! `v1` and `v2` are the leading eigenvectors of R1 (`agreement`) and R2 (`overlap`), `w` (`weights`) their
//! ratio: since `R2 ~ mu v2 v2^T`, `R1 ~ mu (v2 o r)(v2 o r)^T`.
//!
//! 1. R1 and R2 over the observed pairs, diagonals 1, for each part of the crowd that is connected by shared
//!    tasks.
//! 2. `v1`, `v2`: algebraically largest eigenvalue, by Lanczos; `v2` nonnegative.
//! 3. `w_m = v1[m] / v2[m]` where `v2[m] > 1e-9 max v2`, else 0: two workers without overlap would give 0/0.
//! 4. Scores `s_n = sum_m a_nm w_m`, turned in each part to go with the vote totals.
//! 5. Label by the sign of `s_n`; the row is the share of the weight on either side; score 0: the votes. More
//!    than two classes: [`thresholds`](crate::thresholds).
//!
//! Worker scores are reliabilities `c w`, `c^2 = sum n R1 w w / sum n (w w)^2` over pairs with `n` shared
//! tasks (least squares), cut to [-1, 1]; with more than two classes their mean over the thresholds.
//!
//! Counting pairs takes `sum_n d_n^2`, memory `K^2` numbers an observed pair. Needs pairs with enough shared
//! tasks for their rates to mean something: all pairs count alike. Differs from the paper: each part of the
//! crowd is solved and turned by itself, and ties get the votes.
//!
//! N. Dalvi, A. Dasgupta, R. Kumar, V. Rastogi, "Aggregating crowdsourced binary ratings", WWW 2013.

use crate::thresholds::{Decisions, Signs, fit_thresholds, give_ties_their_votes};
use quorate::internal::linalg::lanczos::largest_eigenpairs;
use quorate::internal::statistics::{PairBlocks, worker_components};
use quorate::methods::{Aggregate, Fit};
use quorate::model::Consensus;
use quorate::{Annotations, Context, Result, declare_method};

declare_method! {
    /// EigenRatio.
    pub struct EigenRatio {}
    name: "eigen-ratio",
    aliases: ["eigenratio"],
    summary: "Reliabilities from eigenvectors of pairwise agreement rates",
    description: "How often two workers agree, less how often they do not, is the product of their \
                  reliabilities; the leading eigenvector of these rates, divided by that of the overlap, \
                  gives the reliabilities, and they weigh the votes. Needs pairs with enough tasks in \
                  common. For two classes; with more it asks K - 1 ordered questions.",
    citation: "N. Dalvi, A. Dasgupta, R. Kumar, V. Rastogi: Aggregating crowdsourced binary ratings. WWW \
               2013",
    facts: [uses_class_order, canonical_order],
}

/// Entries of v2 below this share of the largest say that the worker is not connected.
const DISCONNECTED: f64 = 1e-9;

impl Aggregate for EigenRatio {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        let blocks = PairBlocks::observed(annotations, context)?;
        let parts = connected_parts(annotations);
        fit_thresholds(annotations, context, "thresholds", |signs, votes, context| {
            if blocks.pair_count() == 0 {
                let why = "no two workers share a task, so there are no agreement rates";
                return Ok(signs.majority(votes, why));
            }
            Ok(context.run(|| decide(signs, votes, &blocks, &parts)))
        })
    }
}

/// The workers of each connected part, parts of one worker left out.
fn connected_parts(annotations: &Annotations) -> Vec<Vec<usize>> {
    let components = worker_components(annotations);
    let mut parts = vec![Vec::new(); components.count()];
    for (worker, &part) in components.of_worker.iter().enumerate() {
        parts[part as usize].push(worker);
    }
    parts.retain(|part: &Vec<usize>| part.len() > 1);
    parts
}

fn decide(signs: Signs<'_>, votes: &Consensus, blocks: &PairBlocks, parts: &[Vec<usize>]) -> Decisions {
    let rates = agreement_rates(signs, blocks);
    let totals = signs.vote_totals();
    let by_worker = signs.annotations.by_worker();
    let mut weights = vec![0.0; blocks.worker_count()];
    let mut reliabilities = weights.clone();
    for part in parts {
        let ratio = eigenvector_ratio(blocks, &rates, part);
        for (&worker, weight) in part.iter().zip(&ratio) {
            weights[worker] = *weight;
        }
        // sum_n s_n r_n, label by label.
        let signed = |&worker: &usize| -> f64 {
            let labels = by_worker.labels(worker);
            let votes = labels.map(|(task, answer)| signs.sign(answer) * totals[task]);
            votes.sum::<f64>() * weights[worker]
        };
        let against = part.iter().map(signed).sum::<f64>() < 0.0;
        let turn = if against { -1.0 } else { 1.0 };
        let scale = reliability_scale(blocks, &rates, part, &weights);
        for &worker in part {
            weights[worker] *= turn;
            reliabilities[worker] = (scale * weights[worker]).clamp(-1.0, 1.0);
        }
    }
    let mut above = signs.shares(|_, worker| weights[worker], 0.0);
    give_ties_their_votes(signs, votes, &mut above);
    let (weights, warnings) = (reliabilities, Vec::new());
    Decisions {
        above,
        weights,
        warnings,
    }
}

/// R1 of every pair.
fn agreement_rates(signs: Signs<'_>, blocks: &PairBlocks) -> Vec<f64> {
    let classes = blocks.class_count();
    let rate = |pair: usize| -> f64 {
        let sign = |(cell, share)| signs.sign(cell / classes) * signs.sign(cell % classes) * share;
        blocks.block(pair).iter().enumerate().map(sign).sum()
    };
    (0..blocks.pair_count()).map(rate).collect()
}

/// `v1 / v2` for the workers of one part.
fn eigenvector_ratio(blocks: &PairBlocks, rates: &[f64], part: &[usize]) -> Vec<f64> {
    let mut place = vec![0u32; blocks.worker_count()];
    for (at, &worker) in part.iter().enumerate() {
        place[worker] = at as u32;
    }
    let leading = |value: &dyn Fn(usize) -> f64| {
        let mut pairs = largest_eigenpairs(part.len(), 1, 1e-10, |x, out| {
            for (at, &worker) in part.iter().enumerate() {
                let term = |(other, pair): (usize, usize)| value(pair) * x[place[other] as usize];
                out[at] = x[at] + blocks.neighbours(worker).map(term).sum::<f64>();
            }
        });
        pairs.vectors.swap_remove(0)
    };
    let (v1, v2) = (leading(&|pair| rates[pair]), leading(&|_| 1.0));
    let largest = v2.iter().fold(0.0f64, |top, value| top.max(value.abs()));
    let is_connected = |b: &f64| b.abs() > DISCONNECTED * largest;
    let ratio = |(a, b): (&f64, &f64)| if is_connected(b) { a / b.abs() } else { 0.0 };
    v1.iter().zip(&v2).map(ratio).collect()
}

/// The scale at which products of weights fit the agreement rates best; 0 if they do not fit at all.
fn reliability_scale(blocks: &PairBlocks, rates: &[f64], part: &[usize], weights: &[f64]) -> f64 {
    let (mut fit, mut size) = (0.0, 0.0);
    for &worker in part {
        for (other, pair) in blocks.neighbours(worker) {
            let product = weights[worker] * weights[other];
            fit += blocks.shared(pair) * rates[pair] * product;
            size += blocks.shared(pair) * product * product;
        }
    }
    if fit > 0.0 && size > 0.0 {
        (fit / size).sqrt()
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorate_testkit::toys::{assert_close, toy_b};

    #[test]
    fn toy_b_by_hand() {
        let annotations = toy_b();
        let signs = Signs {
            annotations: &annotations,
            threshold: 0,
        };
        let blocks = PairBlocks::observed(&annotations, &mut Context::new(0)).unwrap();
        let rates = agreement_rates(signs, &blocks);
        let row = |m: usize| -> Vec<f64> {
            let of = |j: usize| {
                if j == m {
                    1.0
                } else {
                    rates[blocks.find(m, j).unwrap()]
                }
            };
            (0..5).map(of).collect()
        };
        assert_close(&row(0), &[1.0, 0.75, 0.428571, 0.142857, -0.428571], 1e-6);
        assert_close(&row(3), &[0.142857, -0.142857, -0.666667, 1.0, -0.666667], 1e-6);
        let ratio = eigenvector_ratio(&blocks, &rates, &[0, 1, 2, 3, 4]);
        let turn = ratio[0].signum();
        let expected = [1.011819, 0.932056, -0.463404, 1.012370, -1.366697];
        assert_close(
            &ratio.iter().map(|w| w * turn).collect::<Vec<_>>(),
            &expected,
            1e-6,
        );
        let mut scores = [0.0; 8];
        signs.multiply(&expected, &mut scores);
        let wanted = [
            4.786344, -0.898595, 2.847167, 0.628729, -4.786344, -1.834798, 0.898595, -4.322941,
        ];
        assert_close(&scores, &wanted, 1e-5);
        let fit = EigenRatio::default()
            .fit(&annotations, &mut Context::new(0))
            .unwrap();
        assert_eq!(fit.consensus.labels(), [1, 0, 1, 1, 0, 0, 1, 0]);
    }

    #[test]
    fn exact_rates_give_the_reliabilities() {
        // With equal reliabilities the diagonal does no harm: w is constant.
        let r = 0.6f64;
        let block = vec![
            (1.0 + r * r) / 4.0,
            (1.0 - r * r) / 4.0,
            (1.0 - r * r) / 4.0,
            (1.0 + r * r) / 4.0,
        ];
        let pairs = (0..4).flat_map(|m| (m + 1..4).map(move |j| (m, j)));
        let blocks = PairBlocks::new(4, 2, pairs.map(|(m, j)| (m, j, 10.0, block.clone())));
        let rates = vec![r * r; blocks.pair_count()];
        let part = [0, 1, 2, 3];
        let weights = eigenvector_ratio(&blocks, &rates, &part);
        let scale = reliability_scale(&blocks, &rates, &part, &weights);
        for weight in weights {
            assert!(((scale * weight).abs() - r).abs() < 1e-9);
        }
    }

    #[test]
    fn workers_without_overlap_are_majority_vote_and_said() {
        let annotations = Annotations::from_codes(2, 2, 2, [(0, 0, 1), (1, 1, 0)]).unwrap();
        let fit = EigenRatio::default()
            .fit(&annotations, &mut Context::new(0))
            .unwrap();
        assert_eq!(fit.consensus.labels(), [1, 0]);
        assert!(fit.warnings[0].contains("majority vote"));
    }
}
