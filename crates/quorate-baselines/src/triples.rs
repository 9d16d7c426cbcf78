//! Co-occurrences of the answers of three workers.
//!
//! ```text
//! T_mji(a, b, c) = share of the tasks labelled by m, j and i where they answered a, b and c,      m < j < i
//! ```
//!
//! Only observed triples are stored, and of each only the cells that occur. There can be far more triples
//! than labels (`sum_n C(d_n, 3)` events), so two caps hold, both with seeded sampling that does not depend
//! on the order of rows: of a task with more than [`MAX_ON_A_TASK`] labels only those of the workers first
//! in a seeded order are used, and if there are more distinct triples than asked for, those whose seeded hash
//! is below `2^-s` of its range are kept, with the least `s` that is enough. The counts of a kept triple are
//! complete up to the first cap.

use rustc_hash::FxHashMap;

use quorate::Annotations;

/// Labels of one task that are used for triples: 9880 triples at most.
pub const MAX_ON_A_TASK: usize = 40;

/// Observed triples of workers with their answer frequencies.
#[derive(Debug, Clone, Default)]
pub struct Triples {
    members: Vec<[u32; 3]>,
    starts: Vec<usize>,
    /// Answers of m, j, i and their share.
    cells: Vec<([u16; 3], f64)>,
    /// How many bits of the hash were needed to get below the cap: about `2^-bits` of all triples are here.
    pub sampling_bits: u32,
    /// Tasks of which not all labels were used.
    pub cut_tasks: usize,
}

/// Counts at most `most` triples; `seed` decides which, if there are more.
pub fn count_triples(annotations: &Annotations, most: usize, seed: u64) -> Triples {
    // Ranks in the natural order of names: the sample does not depend on the order of rows.
    let mut rank = vec![0u64; annotations.worker_count()];
    for (place, worker) in annotations.workers().natural_order().into_iter().enumerate() {
        rank[worker] = place as u64;
    }
    let mut found: FxHashMap<[u32; 3], Vec<([u16; 3], u32)>> = FxHashMap::default();
    let (mut bits, mut cut_tasks) = (0, 0);
    let mut labels: Vec<(u32, u16)> = Vec::new();
    for task in 0..annotations.task_count() {
        let (workers, answers) = annotations.task_slices(task);
        labels.clear();
        labels.extend(workers.iter().copied().zip(answers.iter().copied()));
        if labels.len() > MAX_ON_A_TASK {
            cut_tasks += 1;
            labels.sort_by_key(|&(worker, _)| (mix(seed ^ mix(rank[worker as usize])), worker));
            labels.truncate(MAX_ON_A_TASK);
            labels.sort_unstable();
        }
        for (at, &(m, a)) in labels.iter().enumerate() {
            let later = labels.iter().enumerate().skip(at + 1);
            for (next, &(j, b)) in later.filter(|(_, (j, _))| *j > m) {
                for &(i, c) in labels[next + 1..].iter().filter(|(i, _)| *i > j) {
                    let members = [m, j, i];
                    if bits > 0 && hash(seed, members, &rank).leading_zeros() < bits {
                        continue;
                    }
                    let cells = found.entry(members).or_default();
                    match cells.binary_search_by_key(&[a, b, c], |cell| cell.0) {
                        Ok(place) => cells[place].1 += 1,
                        Err(place) => cells.insert(place, ([a, b, c], 1)),
                    }
                }
            }
        }
        while found.len() > most {
            bits += 1;
            found.retain(|members, _| hash(seed, *members, &rank).leading_zeros() >= bits);
        }
    }
    Triples::collect(found, bits, cut_tasks)
}

/// A hash of the three workers that does not depend on their order.
fn hash(seed: u64, members: [u32; 3], rank: &[u64]) -> u64 {
    let mut ranks = members.map(|worker| rank[worker as usize]);
    ranks.sort_unstable();
    let take_in = |state, &rank: &u64| mix(state ^ mix(rank.wrapping_add(1)));
    ranks.iter().fold(seed, take_in)
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Triples {
    fn collect(
        found: FxHashMap<[u32; 3], Vec<([u16; 3], u32)>>,
        sampling_bits: u32,
        cut_tasks: usize,
    ) -> Self {
        let mut sorted: Vec<_> = found.into_iter().collect();
        sorted.sort_unstable_by_key(|(members, _)| *members);
        let mut triples = Self {
            starts: vec![0],
            sampling_bits,
            cut_tasks,
            ..Self::default()
        };
        for (members, cells) in sorted {
            let shared: u32 = cells.iter().map(|cell| cell.1).sum();
            triples.members.push(members);
            let share = |&(cell, count): &([u16; 3], u32)| (cell, f64::from(count) / f64::from(shared));
            triples.cells.extend(cells.iter().map(share));
            triples.starts.push(triples.cells.len());
        }
        triples
    }

    /// Number of triples.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// The three workers, in rising order.
    pub fn members(&self, triple: usize) -> [usize; 3] {
        self.members[triple].map(|worker| worker as usize)
    }

    /// Their answers and the share of each combination.
    pub fn cells(&self, triple: usize) -> &[([u16; 3], f64)] {
        &self.cells[self.starts[triple]..self.starts[triple + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn everybody(tasks: u32, workers: u32) -> Annotations {
        let labels = (0..tasks).flat_map(|n| (0..workers).map(move |m| (n, m, ((n + m * m) % 3) as u16)));
        Annotations::from_codes(tasks as usize, workers as usize, 3, labels).unwrap()
    }

    #[test]
    fn equals_the_definition() {
        let annotations = everybody(7, 5);
        let triples = count_triples(&annotations, 1000, 1);
        assert_eq!(
            (triples.len(), triples.sampling_bits, triples.cut_tasks),
            (10, 0, 0)
        );
        for triple in 0..triples.len() {
            let [m, j, i] = triples.members(triple);
            assert!(m < j && j < i);
            for &([a, b, c], share) in triples.cells(triple) {
                let answer = |task: usize, worker: usize| annotations.task_slices(task).1[worker];
                let same = |task: &usize| [answer(*task, m), answer(*task, j), answer(*task, i)] == [a, b, c];
                assert!((share - (0..7).filter(same).count() as f64 / 7.0).abs() < 1e-12);
            }
            assert!((triples.cells(triple).iter().map(|cell| cell.1).sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn caps_hold_and_kept_counts_are_complete() {
        let annotations = everybody(5, 20);
        let triples = count_triples(&annotations, 300, 1);
        assert!((50..=300).contains(&triples.len()), "{}", triples.len());
        assert!(triples.sampling_bits > 0);
        let all = count_triples(&annotations, 1_000_000, 1);
        for triple in 0..triples.len() {
            let same = |other: &usize| all.members(*other) == triples.members(triple);
            let other = (0..all.len()).find(same).unwrap();
            assert_eq!(triples.cells(triple), all.cells(other));
        }
        let crowded = count_triples(&everybody(2, 50), 1_000_000, 1);
        assert_eq!((crowded.cut_tasks, crowded.len()), (2, 9880));
    }
}
