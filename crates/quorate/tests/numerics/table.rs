//! Random small tables, and the same labels under other codes.

use quorate::Annotations;
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

/// Labels with codes, and the truths that are known.
#[derive(Debug, Clone)]
pub struct Table {
    pub tasks: usize,
    pub workers: usize,
    pub classes: usize,
    pub labels: Vec<(u32, u32, u16)>,
    pub gold: Vec<(u32, u16)>,
}

impl Table {
    /// Two to fifty classes, mostly few; workers from adversaries to experts; one label per task to all.
    pub fn draw(rng: &mut impl Rng) -> Self {
        let classes = match rng.random_range(0..10) {
            0..5 => 2,
            5..8 => rng.random_range(3..6),
            _ => rng.random_range(6..51),
        };
        let (tasks, workers) = (rng.random_range(1..16), rng.random_range(1..9));
        let density = [0.0, 0.3, 0.6, 1.0][rng.random_range(0..4usize)];
        let skill: Vec<f64> = (0..workers)
            .map(|_| [0.0, 0.3, 0.6, 0.9, 1.0][rng.random_range(0..5usize)])
            .collect();
        let (mut labels, mut gold) = (Vec::new(), Vec::new());
        let with_gold = rng.random_bool(0.1);
        for task in 0..tasks as u32 {
            let truth = rng.random_range(0..classes) as u16;
            if with_gold && rng.random_bool(0.3) {
                gold.push((task, truth));
            }
            let someone = rng.random_range(0..workers);
            for (worker, &skill) in skill.iter().enumerate() {
                if worker != someone && !rng.random_bool(density) {
                    continue;
                }
                let label = if rng.random_bool(skill) {
                    truth
                } else {
                    rng.random_range(0..classes) as u16
                };
                // Some tables repeat labels.
                let times = if rng.random_bool(0.02) { 2 } else { 1 };
                labels.extend(std::iter::repeat_n((task, worker as u32, label), times));
            }
        }
        Self {
            tasks,
            workers,
            classes,
            labels,
            gold,
        }
    }

    pub fn build(&self) -> Annotations {
        let labels = self.labels.iter().copied();
        let table = Annotations::from_codes(self.tasks, self.workers, self.classes, labels).unwrap();
        if self.gold.is_empty() {
            table
        } else {
            table.with_gold(self.gold.iter().copied()).unwrap()
        }
    }

    /// The same labels in another order of rows, with other codes; and the codes.
    pub fn recoded(&self, codes: &Codes, rng: &mut impl Rng) -> Self {
        let Codes {
            tasks,
            workers,
            classes,
        } = codes;
        let label = |&(n, m, k): &(u32, u32, u16)| {
            (
                tasks[n as usize],
                workers[m as usize],
                classes[usize::from(k)] as u16,
            )
        };
        let known = |&(n, k): &(u32, u16)| (tasks[n as usize], classes[usize::from(k)] as u16);
        let mut labels: Vec<_> = self.labels.iter().map(label).collect();
        labels.shuffle(rng);
        Self {
            labels,
            gold: self.gold.iter().map(known).collect(),
            ..self.clone()
        }
    }

    /// Whether the votes on some task tie: such ties go to the lowest class, so that its code matters.
    pub fn ties(&self) -> bool {
        let mut votes = vec![0u32; self.tasks * self.classes];
        for &(n, _, k) in &self.labels {
            votes[n as usize * self.classes + usize::from(k)] += 1;
        }
        votes.chunks_exact(self.classes).any(|row| {
            let most = row.iter().max().copied().unwrap_or(0);
            row.iter().filter(|&&count| count == most).count() > 1
        })
    }
}

/// New codes of tasks, workers and classes.
pub struct Codes {
    pub tasks: Vec<u32>,
    pub workers: Vec<u32>,
    pub classes: Vec<u32>,
}

impl Codes {
    /// Other codes for all but, on request, the classes.
    pub fn draw(table: &Table, keep_classes: bool, rng: &mut impl Rng) -> Self {
        let mut shuffled = |length: usize, keep: bool| {
            let mut codes: Vec<u32> = (0..length as u32).collect();
            if !keep {
                codes.shuffle(rng);
            }
            codes
        };
        Self {
            tasks: shuffled(table.tasks, false),
            workers: shuffled(table.workers, false),
            classes: shuffled(table.classes, keep_classes),
        }
    }
}
