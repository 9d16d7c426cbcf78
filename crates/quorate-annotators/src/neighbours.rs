//! The k nearest neighbours, by brute force: all training rows for each item.
//!
//! Ties of distance go to the earlier training row, ties of votes to the lowest class.

use rayon::prelude::*;

use crate::rows::{FeatureRows, count_classes, most_frequent};

/// What near means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distance {
    /// The straight line.
    Euclid,
    /// The angle.
    Cosine,
}

/// The classes of `items` by the votes of the `k` nearest training rows, for each `k` asked for: `[k][item]`.
/// A `k` beyond the number of training rows takes them all.
pub fn classify(
    distance: Distance,
    train: &FeatureRows,
    labels: &[u8],
    classes: usize,
    items: &FeatureRows,
    neighbours: &[usize],
) -> Vec<Vec<u8>> {
    let (train, items) = match distance {
        Distance::Euclid => (train.clone(), items.clone()),
        // On the unit sphere the order by angle is that by distance.
        Distance::Cosine => (to_sphere(train), to_sphere(items)),
    };
    let most = neighbours.iter().copied().max().unwrap_or(0).min(train.len());
    let votes: Vec<Vec<u8>> = (0..items.len())
        .into_par_iter()
        .map_init(Vec::new, |near: &mut Vec<(f32, u32)>, item| {
            let own = items.row(item);
            near.clear();
            near.extend(
                train
                    .iter()
                    .zip(0..)
                    .map(|(row, place)| (squared_distance(own, row), place)),
            );
            let order = |a: &(f32, u32), b: &(f32, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
            if most < near.len() {
                near.select_nth_unstable_by(most, order);
                near.truncate(most);
            }
            near.sort_unstable_by(order);
            neighbours
                .iter()
                .map(|&k| {
                    let voters = near.iter().take(k).map(|&(_, place)| labels[place as usize]);
                    most_frequent(&count_classes(classes, voters))
                })
                .collect()
        })
        .collect();
    (0..neighbours.len())
        .map(|k| votes.iter().map(|row| row[k]).collect())
        .collect()
}

/// Sums of eight lanes at a time, which the compiler turns into vector instructions.
fn squared_distance(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (mut left, mut right) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    for (x, y) in (&mut left).zip(&mut right) {
        for lane in 0..LANES {
            sums[lane] += (x[lane] - y[lane]) * (x[lane] - y[lane]);
        }
    }
    let rest = left.remainder().iter().zip(right.remainder());
    sums.iter().sum::<f32>() + rest.map(|(x, y)| (x - y) * (x - y)).sum::<f32>()
}

fn to_sphere(rows: &FeatureRows) -> FeatureRows {
    let values = rows.iter().flat_map(|row| {
        let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt();
        let factor = if norm > 0.0 { 1.0 / norm } else { 0.0 };
        row.iter().map(move |x| x * factor)
    });
    FeatureRows::new(rows.width, values.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_vote_and_ties_go_to_the_first() {
        let train = FeatureRows::new(1, vec![0.0, 1.0, 2.0, 10.0, 11.0]);
        let labels = [1, 0, 0, 1, 1];
        let items = FeatureRows::new(1, vec![0.5, 0.6, 10.4]);
        let found = classify(Distance::Euclid, &train, &labels, 2, &items, &[1, 3, 99]);
        assert_eq!(found, [[1, 0, 1], [0, 0, 1], [1, 1, 1]]);
    }

    #[test]
    fn cosine_sees_directions() {
        let train = FeatureRows::new(2, vec![1.0, 0.1, 0.1, 1.0]);
        let items = FeatureRows::new(2, vec![90.0, 10.0, 0.01, 0.2]);
        let found = classify(Distance::Cosine, &train, &[0, 1], 2, &items, &[1]);
        assert_eq!(found, [[0, 1]]);
    }
}
