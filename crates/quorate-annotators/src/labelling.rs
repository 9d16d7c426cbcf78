//! Who labels what: from the answers to all items to the labels of an experiment.

use quorate::internal::seeded;
use quorate::{Annotations, Result};
use rand::RngExt;
use rand::seq::{SliceRandom, index};

use crate::panel::Panel;

/// How large a share of the items each annotator labels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    /// Bounds of the probability that an annotator labels an item; drawn for each annotator between them.
    pub each: (f64, f64),
    /// The probability of two annotators drawn at random, if there are such.
    pub designated: Option<f64>,
}

/// Labels and the two designated annotators (drawn even where they label no more than others).
#[derive(Debug, Clone)]
pub struct Labelled {
    /// The labels.
    pub annotations: Annotations,
    /// The designated annotators.
    pub designated: [usize; 2],
}

/// Each annotator labels each item with its probability.
pub fn by_share(panel: &Panel, shares: Shares, seed: u64) -> Result<Labelled> {
    let mut rng = seeded(seed, 1);
    let annotators = panel.answers.len();
    let drawn = index::sample(&mut rng, annotators, 2);
    let designated = [drawn.index(0), drawn.index(1)];
    let mut labels = Vec::new();
    for (annotator, answers) in panel.answers.iter().enumerate() {
        let (low, high) = shares.each;
        let own = if low < high {
            rng.random_range(low..high)
        } else {
            low
        };
        let share = match shares.designated {
            Some(share) if designated.contains(&annotator) => share,
            _ => own,
        };
        for (item, &answer) in answers.iter().enumerate() {
            if rng.random_bool(share) {
                labels.push((item as u32, annotator as u32, u16::from(answer)));
            }
        }
    }
    Ok(Labelled {
        annotations: Annotations::from_codes(panel.items(), annotators, panel.classes, labels)?,
        designated,
    })
}

/// Shares of the items in the three parts.
pub const PARTS: [f64; 3] = [0.1, 0.3, 0.6];

/// The items are cut into three parts of 0.1, 0.3 and 0.6; each part is labelled by the annotators of one
/// group.
pub fn by_parts(panel: &Panel, groups: &[Vec<usize>; 3], seed: u64) -> Result<Annotations> {
    let mut order: Vec<u32> = (0..panel.items() as u32).collect();
    order.shuffle(&mut seeded(seed, 2));
    let size = |share: f64| (share * panel.items() as f64).round() as usize;
    let (first, rest) = order.split_at(size(PARTS[0]));
    let (second, third) = rest.split_at(size(PARTS[1]));
    let labels = [first, second, third]
        .into_iter()
        .zip(groups)
        .flat_map(|(items, group)| {
            group.iter().flat_map(move |&annotator| {
                let answers = &panel.answers[annotator];
                items
                    .iter()
                    .map(move |&item| (item, annotator as u32, u16::from(answers[item as usize])))
            })
        });
    let labels: Vec<_> = labels.collect();
    Annotations::from_codes(panel.items(), panel.answers.len(), panel.classes, labels)
}

/// Share of the blocks of pairs, the annotators' own included as in the paper, in which nobody labelled a
/// common item.
pub fn missing_share(groups: &[Vec<usize>; 3], annotators: usize) -> f64 {
    let seen = (0..annotators * annotators).filter(|cell| {
        let (a, b) = (cell / annotators, cell % annotators);
        a != b
            && groups
                .iter()
                .any(|group| group.contains(&a) && group.contains(&b))
    });
    1.0 - seen.count() as f64 / (annotators * annotators) as f64
}

/// Groups of annotators, every annotator in at least one, whose share of missing blocks is as near to
/// `missing` as such groups allow: the nearest of many draws. Where they are to be `linked`, common
/// annotators hold the three groups together; without links the parts are crowds of their own, in which the
/// classes cannot be told to be the same.
pub fn draw_groups(annotators: usize, missing: f64, linked: bool, seed: u64) -> [Vec<usize>; 3] {
    const DRAWS: usize = 5000;
    let mut rng = seeded(seed, 3);
    let mut best = (f64::INFINITY, Default::default());
    for _ in 0..DRAWS {
        // Everybody in one group, then some more places at random.
        let mut member = vec![[false; 3]; annotators];
        member
            .iter_mut()
            .for_each(|own| own[rng.random_range(0..3)] = true);
        for _ in 0..rng.random_range(0..=2 * annotators) {
            member[rng.random_range(0..annotators)][rng.random_range(0..3)] = true;
        }
        let groups: [Vec<usize>; 3] =
            std::array::from_fn(|group| (0..annotators).filter(|&one| member[one][group]).collect());
        let gap = (missing_share(&groups, annotators) - missing).abs();
        if gap < best.0 - 1e-12 && (!linked || are_linked(&groups)) {
            best = (gap, groups);
        }
    }
    best.1
}

/// Whether the groups hang together: at least two of their three pairs have a member in common.
fn are_linked(groups: &[Vec<usize>; 3]) -> bool {
    let common = |a: usize, b: usize| groups[a].iter().any(|one| groups[b].contains(one));
    [common(0, 1), common(0, 2), common(1, 2)]
        .into_iter()
        .filter(|&linked| linked)
        .count()
        >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel() -> Panel {
        Panel {
            classes: 2,
            truth: vec![0; 1000],
            answers: (0..10)
                .map(|annotator| vec![u8::from(annotator == 3); 1000])
                .collect(),
        }
    }

    #[test]
    fn shares_are_kept_and_designated_label_more() {
        let shares = Shares {
            each: (0.3, 0.5),
            designated: Some(0.8),
        };
        let labelled = by_share(&panel(), shares, 1).unwrap();
        let counts = labelled.annotations.labels_per_worker();
        for (annotator, &count) in counts.iter().enumerate() {
            let range = if labelled.designated.contains(&annotator) {
                750..850
            } else {
                250..550
            };
            assert!(range.contains(&count), "{annotator}: {count}");
        }
        let again = by_share(&panel(), shares, 1).unwrap();
        assert_eq!(
            labelled.annotations.fingerprint(),
            again.annotations.fingerprint()
        );
    }

    #[test]
    fn groups_hit_the_missing_share_and_include_everybody() {
        for (asked, linked, missing) in [
            // 4, 4 and 3 annotators with one in common: the third group stands apart.
            (0.7, false, 0.7),
            // Three linked groups over ten annotators leave at most this: 4 in each, two of them in two
            // groups.
            (0.7, true, 0.64),
            (0.5, true, 0.5),
            (0.3, true, 0.3),
        ] {
            for seed in 0..5 {
                let groups = draw_groups(10, asked, linked, seed);
                let found = missing_share(&groups, 10);
                assert!((found - missing).abs() < 1e-9, "{missing}: {found}");
                assert!(are_linked(&groups) || !linked);
                let annotations = by_parts(&panel(), &groups, seed).unwrap();
                assert!(annotations.labels_per_worker().iter().all(|&count| count > 0));
                let group_sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
                let labels = 100 * group_sizes[0] + 300 * group_sizes[1] + 600 * group_sizes[2];
                assert_eq!(annotations.label_count(), labels);
            }
        }
    }
}
