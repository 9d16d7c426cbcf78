//! How much less comparisons tell where answers on one prompt hang together.
//!
//! ```text
//! deff = G / (G - 1)  mean over directions u of  [ sum_c (sum_{e in c} z_e)^2 / sum_e E z_e^2 ],   z_e = slope of e along H^-1 u
//! ```
//!
//! The sandwich (clusters `c`, `G` of them) and the model give the variance of each contrast `u` of the scores; the
//! mean of their ratios over 32 random contrasts widens all intervals alike. A ratio for each item would follow
//! noise where prompts are few. Below one it is taken for chance.

use rand::RngExt;

use super::curvature::Curvature;
use super::davidson::Problem;
use super::observations::Observations;
use crate::context::seeded;

const DIRECTIONS: usize = 32;

/// Where the stream of random numbers of the directions is.
const STREAM: u64 = 1 << 41;

/// Fewest clusters that say anything.
const MIN_CLUSTERS: usize = 5;

/// By how much the variances of a model that takes all answers for independent are too small. `rows` are the
/// observations, by judge; the model may pool the judges. The cluster of a row is its prompt, else its judge.
pub(super) fn design_effect(problem: &Problem<'_>, curvature: &Curvature<'_>, rows: &Observations) -> f64 {
    let by_prompt = !rows.prompts.is_empty();
    let clusters = if by_prompt {
        rows.prompts.iter().max().map_or(0, |&last| last as usize + 1)
    } else {
        rows.judges()
    };
    let models_judges = problem.rows.judges() == rows.judges();
    if clusters < MIN_CLUSTERS || (!by_prompt && models_judges) {
        return 1.0;
    }
    let mut seen = vec![false; clusters];
    let mut rng = seeded(0, STREAM);
    // Entry by entry the values of all directions, so that the slopes of a row are found once.
    let mut scores = vec![[0.0; DIRECTIONS]; problem.rows.items];
    let mut judges = vec![[[0.0; DIRECTIONS]; 3]; problem.rows.judges()];
    for place in 0..DIRECTIONS {
        let mut direction: Vec<f64> = (0..problem.rows.items)
            .map(|_| if rng.random() { 1.0 } else { -1.0 })
            .collect();
        problem.components.center(&mut direction);
        let (by_item, by_judge) = curvature.solve_for(&direction);
        scores
            .iter_mut()
            .zip(by_item)
            .for_each(|(scores, score)| scores[place] = score);
        for (judges, parts) in judges.iter_mut().zip(by_judge) {
            judges
                .iter_mut()
                .zip(parts)
                .for_each(|(judge, part)| judge[place] = part);
        }
    }
    let mut sums = vec![[0.0; DIRECTIONS]; clusters];
    let mut expected = [0.0; DIRECTIONS];
    for judge in 0..rows.judges() {
        let own = if models_judges { judge } else { 0 };
        let a = curvature.parameters().judge[own][0];
        let [by_discrimination, by_position, by_ties] = &judges[own];
        for place in rows.rows(judge) {
            let row = rows.get(place);
            let (slopes, difference) = problem.slopes_at(&row, curvature.parameters(), own);
            let along = problem.along(difference);
            let cluster = if by_prompt {
                rows.prompts[place] as usize
            } else {
                judge
            };
            seen[cluster] = true;
            let (left, right, sums) = (&scores[row.left], &scores[row.right], &mut sums[cluster]);
            for u in 0..DIRECTIONS {
                let by_eta =
                    a * (left[u] - right[u]) + along[0] * by_discrimination[u] + along[1] * by_position[u];
                let by_nu = by_ties[u];
                sums[u] += slopes.eta * by_eta + slopes.nu * by_nu;
                // A weight is a number of answers alike: their slopes add up.
                expected[u] += slopes.eta_eta * by_eta * by_eta
                    + 2.0 * slopes.eta_nu * by_eta * by_nu
                    + slopes.nu_nu * by_nu * by_nu;
            }
        }
    }
    let ratio = |u: usize| sums.iter().map(|sums| sums[u] * sums[u]).sum::<f64>() / expected[u];
    let ratios: Vec<f64> = (0..DIRECTIONS)
        .filter(|&u| expected[u] > 0.0)
        .map(ratio)
        .collect();
    let clusters = seen.iter().filter(|seen| **seen).count() as f64;
    if ratios.is_empty() || clusters < MIN_CLUSTERS as f64 {
        return 1.0;
    }
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    (mean * clusters / (clusters - 1.0)).max(1.0)
}
