//! Several starts of MACE, round by round side by side.

use quorate_machine::dispatch;

use super::guessers::Update;
use super::pass::{Lanes, Pass, Tempered};
use super::race::TOGETHER;
use quorate::Annotations;
use quorate::blocks::Block;
use quorate::internal::parallel::{
    add, balanced_ranges, even_ranges, map_rows_with, private_chunks, split_rows,
};
use rayon::prelude::*;

/// Workers of a chunk of an M-step.
const WORKERS_A_CHUNK: usize = 256;

/// `S` starts.
pub(super) struct Starts<'a, const S: usize> {
    annotations: &'a Annotations,
    update: Update,
    /// `[worker][start][guess, know, xi..]`.
    parameters: Vec<f64>,
    /// `gain` and `right`, `[worker][answer]`.
    gains: Vec<Lanes<S>>,
    rights: Vec<Lanes<S>>,
    /// Number of labels, `[worker][answer]`.
    given: &'a [f64],
    /// `C` of each chunk; after a pass the first one is the sum.
    counts: Vec<Vec<Lanes<S>>>,
    /// What the flat prior of the classes adds to the log-likelihood.
    flat: f64,
    /// That, and `sum ln(guess xi)` over all labels.
    base: Lanes<S>,
}

impl<'a, const S: usize> Starts<'a, S> {
    /// From the parameters of each, `[worker][guess, know, xi..]`.
    pub(super) fn new(
        annotations: &'a Annotations,
        given: &'a [f64],
        update: Update,
        lanes: [&[f64]; S],
    ) -> Self {
        let (workers, classes) = (annotations.worker_count(), annotations.class_count());
        let width = 2 + classes;
        let mut parameters = vec![0.0; workers * S * width];
        for (at, cells) in parameters.chunks_exact_mut(width).enumerate() {
            cells.copy_from_slice(&lanes[at % S][at / S * width..][..width]);
        }
        let labels = Block::from(annotations);
        let labelled = (0..labels.task_count()).filter(|&task| !labels.task(task).0.is_empty());
        let mut starts = Self {
            annotations,
            update,
            parameters,
            gains: vec![[0.0; S]; workers * classes],
            rights: vec![[0.0; S]; workers * classes],
            given,
            counts: Vec::new(),
            flat: -(classes as f64).ln() * labelled.count() as f64,
            base: [0.0; S],
        };
        starts.each_worker(|_, _, _| {});
        starts
    }

    /// Counts against votes that are drawn to the uniform distribution by a weight for each task and start.
    pub(super) fn count_tempered(&mut self, votes: &[f64], weights: &[Lanes<S>]) {
        self.pass(Some((votes, weights)));
    }

    /// E-step and counts; returns the log-likelihood of each start.
    pub(super) fn expect(&mut self) -> Lanes<S> {
        let mut logs = self.pass(None);
        add(&mut logs, &self.base);
        logs
    }

    /// M-step from the counts of the last pass.
    pub(super) fn maximise(&mut self) {
        let counts = std::mem::take(&mut self.counts);
        let (classes, given) = (self.annotations.class_count(), self.given);
        let update = self.update;
        self.each_worker(|worker, parameters, rights| {
            let cells = worker * classes..(worker + 1) * classes;
            let (found, given) = (&counts[0][cells.clone()], &given[cells]);
            for (s, parameters) in parameters.chunks_exact_mut(2 + classes).enumerate() {
                let [guess, know, guesses @ ..] = parameters else {
                    continue;
                };
                let (mut known, mut total) = (0.0, 0.0);
                for (answer, guesses) in guesses.iter_mut().enumerate() {
                    let expected = found[answer][s] * rights[answer][s];
                    known += expected;
                    total += given[answer];
                    *guesses = given[answer] - expected;
                }
                update.maximise(total - known, known, guesses, (guess, know));
            }
        });
        self.counts = counts;
    }

    /// Copies the parameters of one start.
    pub(super) fn store(&self, lane: usize, parameters: &mut [f64]) {
        let width = 2 + self.annotations.class_count();
        let found = self.parameters.chunks_exact(width).skip(lane).step_by(S);
        for (cells, found) in parameters.chunks_exact_mut(width).zip(found) {
            cells.copy_from_slice(found);
        }
    }

    /// Changes the parameters of every worker, given them and `right`, and tabulates what follows from them.
    fn each_worker(&mut self, change: impl Fn(usize, &mut [f64], &[Lanes<S>]) + Sync) {
        let classes = self.annotations.class_count();
        let workers = self.annotations.worker_count();
        let ranges = even_ranges(workers, workers.div_ceil(WORKERS_A_CHUNK));
        let width = S * (2 + classes);
        let parameters = split_rows(ranges.clone(), &mut self.parameters, |range| range.len() * width);
        let gains = split_rows(ranges.clone(), &mut self.gains, |range| range.len() * classes);
        let rights = split_rows(ranges, &mut self.rights, |range| range.len() * classes);
        let parts: Vec<_> = parameters.into_iter().zip(gains).zip(rights).collect();
        let given = self.given;
        let bases: Vec<Lanes<S>> = parts
            .into_par_iter()
            .map(|(((range, parameters), (_, gains)), (_, rights))| {
                let mut base = [0.0; S];
                let tables = gains
                    .chunks_exact_mut(classes)
                    .zip(rights.chunks_exact_mut(classes));
                for ((worker, parameters), (gains, rights)) in
                    range.zip(parameters.chunks_exact_mut(width)).zip(tables)
                {
                    change(worker, parameters, rights);
                    let given = &given[worker * classes..][..classes];
                    tabulate(parameters, given, gains, rights, &mut base);
                }
                base
            })
            .collect();
        self.base = [self.flat; S];
        bases.iter().for_each(|base| add(&mut self.base, base));
    }

    fn pass(&mut self, tempered: Option<(&[f64], &[Lanes<S>])>) -> Lanes<S> {
        let labels = Block::from(self.annotations);
        let cells = self.gains.len();
        // The same chunks for any number of lanes: which starts go together must not change their sums.
        let ranges = balanced_ranges(
            self.annotations.task_starts(),
            private_chunks(labels.label_count(), TOGETHER * cells),
        );
        let mut counts = std::mem::take(&mut self.counts);
        counts.resize_with(ranges.len(), || vec![[0.0; S]; cells]);
        let parts = map_rows_with(ranges, &mut [0u8; 0], 0, counts.iter_mut(), |tasks, _, counts| {
            counts.fill([0.0; S]);
            dispatch::run(Pass {
                labels,
                tasks,
                gains: &self.gains,
                tempered: tempered.map(|(votes, weights)| Tempered { votes, weights }),
                counts,
            })
        });
        if let Some((total, parts)) = counts.split_first_mut() {
            for part in parts {
                for (total, part) in total.as_flattened_mut().iter_mut().zip(part.as_flattened()) {
                    *total += part;
                }
            }
        }
        self.counts = counts;
        let mut logs = [0.0; S];
        parts.iter().for_each(|part| add(&mut logs, part));
        logs
    }
}

/// Smallest probability of a guess.
const FLOOR: f64 = 1e-300;

/// `gain` and `right` of a worker, and its part of `sum ln(guess xi)`.
fn tabulate<const S: usize>(
    parameters: &[f64],
    given: &[f64],
    gains: &mut [Lanes<S>],
    rights: &mut [Lanes<S>],
    base: &mut Lanes<S>,
) {
    for (s, parameters) in parameters.chunks_exact(2 + gains.len()).enumerate() {
        let (guess, know) = (parameters[0], parameters[1]);
        for (answer, xi) in parameters[2..].iter().enumerate() {
            // Never given: looked up by nobody.
            if given[answer] > 0.0 {
                let guessed = (guess * xi).max(FLOOR);
                let log = guessed.ln();
                gains[answer][s] = (guessed + know).ln() - log;
                rights[answer][s] = know / (guessed + know);
                base[s] += given[answer] * log;
            }
        }
    }
}
