//! What a fit is run with: seed, threads, progress, cancellation, memory limit, side data.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chacha20::ChaCha8Rng;
use quorate_machine::memory::{LEAST, allocated};
use rand::SeedableRng;

use crate::model::Priors;
use crate::{Error, Remedy, Result, TaskFeatures, TaskProbabilities};

/// Messages about the progress of long work. Called from the thread that runs the fit.
pub trait Progress: Send {
    /// `done` steps of `total` (if known) of the stage called `stage`.
    fn update(&mut self, stage: &str, done: usize, total: Option<usize>);
}

/// Memory that one fit may use unless the caller says otherwise.
pub const DEFAULT_MEMORY_LIMIT: u64 = 4 << 30;

/// Seed, threads, progress, cancellation, memory limit and side data of a fit.
///
/// The same annotations, method and seed give the same bits for any number of threads.
#[derive(Default)]
pub struct Context {
    seed: u64,
    memory_limit: Option<u64>,
    pool: Option<Arc<rayon::ThreadPool>>,
    progress: Option<Box<dyn Progress>>,
    cancelled: Option<Arc<AtomicBool>>,
    class_probabilities: Option<Arc<TaskProbabilities>>,
    priors: Arc<Priors>,
    features: Option<Arc<TaskFeatures>>,
    messages: Messages,
}

/// What the steps of a fit have to say; the fit takes it over at its end.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    /// What the caller should beware of.
    pub(crate) warnings: Vec<String>,
    /// What is worth knowing.
    pub(crate) notes: Vec<String>,
}

impl Context {
    /// A context with this seed, all threads of the machine and no progress reports.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            ..Self::default()
        }
    }

    /// Uses this many threads (0: all of the machine).
    pub fn with_threads(mut self, threads: usize) -> Result<Self> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = (threads > 0).then(|| pool.build()).transpose();
        let failed = |error| format!("could not start {threads} threads: {error}");
        let pool = pool.map_err(|error| Error::parameter("threads", failed(error)))?;
        self.pool = pool.map(Arc::new);
        Ok(self)
    }

    /// Refuses work that would need more than this many bytes.
    pub fn with_memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = Some(bytes);
        self
    }

    /// Reports progress here.
    pub fn with_progress(mut self, progress: impl Progress + 'static) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// Stops with [`Error::Cancelled`] soon after the flag is set.
    pub fn with_cancellation(mut self, flag: Arc<AtomicBool>) -> Self {
        self.cancelled = Some(flag);
        self
    }

    /// Gives the methods that use a classifier its class probabilities for the tasks.
    pub fn with_class_probabilities(mut self, probabilities: TaskProbabilities) -> Self {
        self.class_probabilities = Some(Arc::new(probabilities));
        self
    }

    /// The classifier's class probabilities, if they were given.
    pub fn class_probabilities(&self) -> Option<Arc<TaskProbabilities>> {
        self.class_probabilities.clone()
    }

    /// Gives the methods that look at the tasks themselves the numbers that describe them.
    pub fn with_features(mut self, features: impl Into<Arc<TaskFeatures>>) -> Self {
        self.features = Some(features.into());
        self
    }

    /// The numbers that describe the tasks, if they were given.
    pub fn features(&self) -> Option<Arc<TaskFeatures>> {
        self.features.clone()
    }

    /// Gives the methods that use them expectations about classes and workers.
    pub fn with_priors(mut self, priors: Priors) -> Self {
        self.priors = Arc::new(priors);
        self
    }

    /// Changes the expectations, for a step that works on a changed table.
    pub(crate) fn set_priors(&mut self, priors: Arc<Priors>) {
        self.priors = priors;
    }

    /// Expectations about classes and workers; empty if none were given.
    pub fn priors(&self) -> Arc<Priors> {
        self.priors.clone()
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The largest amount of memory that one fit may plan for, in bytes.
    pub(crate) fn memory_limit(&self) -> u64 {
        self.memory_limit.unwrap_or(DEFAULT_MEMORY_LIMIT)
    }

    #[doc(hidden)]
    /// A generator of its own for each `stream` (restart, worker, replicate): streams of one seed never
    /// overlap, and a stream does not depend on how much another one drew.
    pub fn rng(&self, stream: u64) -> ChaCha8Rng {
        seeded(self.seed, stream)
    }

    /// Says that `done` of `total` steps are finished; fails if the caller asked to stop.
    pub fn step(&mut self, stage: &str, done: usize, total: Option<usize>) -> Result<()> {
        let is_set = |flag: &Arc<AtomicBool>| flag.load(Ordering::Relaxed);
        if self.cancelled.as_ref().is_some_and(is_set) {
            return Err(Error::Cancelled);
        }
        if let Some(progress) = &mut self.progress {
            progress.update(stage, done, total);
        }
        Ok(())
    }

    /// Tells a fact about the run that is worth knowing: one of the fit's notes.
    pub fn note(&mut self, note: impl Into<String>) {
        self.messages.notes.push(note.into());
    }

    /// Tells what the caller should beware of: one of the fit's warnings.
    pub fn warn(&mut self, warning: impl Into<String>) {
        self.messages.warnings.push(warning.into());
    }

    /// What was told during `run`.
    pub(crate) fn messages_of<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> (T, Messages) {
        let before = std::mem::take(&mut self.messages);
        let result = run(self);
        (result, std::mem::replace(&mut self.messages, before))
    }

    /// Fails with [`Error::TooLarge`] if `needed` bytes for `what`, with all that is allocated (in programs
    /// whose allocator counts it), are above the limit.
    pub fn reserve(&self, what: impl Into<String>, needed: u64, hint: impl Into<String>) -> Result<()> {
        let (limit, in_use) = (self.memory_limit(), allocated());
        if needed > limit || needed.saturating_add(in_use) > limit.max(LEAST) {
            return Err(Error::TooLarge {
                what: what.into(),
                needed,
                in_use,
                limit,
                hint: hint.into(),
                remedy: Some(Remedy::RaiseMemoryLimit),
            });
        }
        Ok(())
    }

    /// Runs `work` on the context's threads.
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        let Some(pool) = &self.pool else {
            return work();
        };
        let (mut work, mut result) = (Some(work), None);
        install(pool, &mut || result = work.take().map(|work| work()));
        result.expect("a pool runs the work it is given")
    }
}

/// One installation for all kinds of work: a generic one would be compiled again for each of them.
fn install(pool: &rayon::ThreadPool, work: &mut (dyn FnMut() + Send)) {
    pool.install(work);
}

/// The generator behind every seed in this library: ChaCha with 8 rounds, one stream for each use.
pub fn seeded(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;

    #[test]
    fn streams_of_one_seed_differ_and_repeat() {
        let context = Context::new(1);
        let first = context.rng(0).next_u64();
        assert_eq!(first, context.rng(0).next_u64());
        assert_ne!(first, context.rng(1).next_u64());
        assert_ne!(first, Context::new(2).rng(0).next_u64());
    }

    #[test]
    fn cancellation_and_memory_limit_are_errors() {
        let flag = Arc::new(AtomicBool::new(false));
        let mut context = Context::new(0)
            .with_cancellation(flag.clone())
            .with_memory_limit(1 << 20);
        assert_eq!(context.step("x", 0, None), Ok(()));
        flag.store(true, Ordering::Relaxed);
        assert_eq!(context.step("x", 1, None), Err(Error::Cancelled));
        let message = context
            .reserve("a table", 1 << 31, "use fewer classes")
            .unwrap_err()
            .to_string();
        assert_eq!(
            message,
            "a table would need about 2.0 GiB of memory, above the limit of 1.0 MiB: use fewer classes"
        );
    }
}
