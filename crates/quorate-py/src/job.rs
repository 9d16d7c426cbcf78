//! Long work: on threads of its own, without the interpreter's lock, stopped by Ctrl-C, with progress.
//!
//! The work runs on a pool that lives as long as it does, so nothing is left that a fork could break. The
//! caller's thread waits, and every tenth of a second looks for signals and hands progress to the callback:
//! Python code runs on the caller's thread only. Work that needs an answer from Python on its way asks that
//! thread ([`run_asking`]).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use quorate::{Context, Progress};

use crate::errors::{Failure, raise};

/// How often the caller's thread looks for signals.
const GLANCE: Duration = Duration::from_millis(100);

/// How long work that was reported to stop may take before it is left to itself.
const FAREWELL: Duration = Duration::from_millis(700);

/// How far the work has come.
#[derive(Debug, Clone, Default, PartialEq)]
struct ProgressStep {
    stage: String,
    done: u64,
    total: Option<u64>,
}

/// What a piece of work is run with.
#[derive(Debug, Clone, Default)]
pub struct Job {
    cancelled: Arc<AtomicBool>,
    step: Arc<Mutex<ProgressStep>>,
}

impl Job {
    /// A context of a fit that is cancelled with the job and tells it of its progress.
    pub fn context(&self, seed: u64, memory: u64) -> Context {
        Context::new(seed)
            .with_memory_limit(memory)
            .with_cancellation(Arc::clone(&self.cancelled))
            .with_progress(self.clone())
    }

    /// Says how far the work has come.
    pub fn tell(&self, stage: &str, done: u64, total: Option<u64>) {
        let mut step = self.step.lock().unwrap_or_else(PoisonError::into_inner);
        if step.stage != stage {
            step.stage = stage.to_owned();
        }
        (step.done, step.total) = (done, total);
    }

    fn step(&self) -> ProgressStep {
        self.step.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Progress for Job {
    fn update(&mut self, stage: &str, done: usize, total: Option<usize>) {
        self.tell(stage, done as u64, total.map(|total| total as u64));
    }
}

/// A question of the work to Python: bytes, and where the answer goes.
struct Question<A> {
    bytes: Vec<u8>,
    answer: Sender<A>,
}

/// What the caller's thread hears from the work.
enum News<T, A> {
    Asked(Question<A>),
    Done(Result<T, Failure>),
}

/// Asks Python on the caller's thread.
pub struct Asker<A>(Box<dyn Fn(Question<A>) -> bool + Send>);

impl<A> Asker<A> {
    /// The answer; none if Python failed or left, and the work should end.
    pub fn ask(&self, bytes: Vec<u8>) -> Option<A> {
        let (answer, waiting) = mpsc::channel();
        if (self.0)(Question { bytes, answer }) {
            waiting.recv().ok()
        } else {
            None
        }
    }
}

/// Answers questions of the work.
pub type Answer<'a, A> = &'a dyn Fn(Vec<u8>) -> PyResult<A>;

/// Runs the work on this many threads (0: all of the machine, which is also the most) and waits for it.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Job) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    run_asking(py, threads, progress, &|_| Ok(()), move |job, _| work(job))
}

/// The same for work that asks Python on its way.
pub fn run_asking<T: Send + 'static, A: Send + 'static>(
    py: Python<'_>,
    threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
    answer: Answer<'_, A>,
    work: impl FnOnce(&Job, Asker<A>) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let job = Job::default();
    let own = job.clone();
    // More threads than processors would only wait for each other.
    let threads = threads.min(std::thread::available_parallelism().map_or(1, usize::from));
    let (sender, mut receiver) = mpsc::channel();
    let questions = sender.clone();
    let asker = Asker(Box::new(move |question| {
        questions.send(News::Asked(question)).is_ok()
    }));
    let thread = std::thread::Builder::new().name("quorate".into()).spawn(move || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let result = match pool {
            Ok(pool) => pool.install(|| work(&own, asker)),
            Err(error) => Err(Failure::Parameter(format!(
                "threads: could not start {threads} threads: {error}"
            ))),
        };
        // The caller may have left.
        let _ = sender.send(News::Done(result));
    });
    thread.map_err(|error| PyRuntimeError::new_err(format!("could not start a thread: {error}")))?;
    let mut reported = ProgressStep::default();
    loop {
        let waiting = &mut receiver;
        match py.detach(move || waiting.recv_timeout(GLANCE)) {
            Ok(News::Done(result)) => return result.map_err(|failure| raise(py, failure)),
            Ok(News::Asked(question)) => {
                // Without an answer the work ends; what Python raised is what is reported.
                report(progress, &job, &mut reported)?;
                let found = answer(question.bytes)?;
                let _ = question.answer.send(found);
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err(
                    "internal error: the work ended in a panic, which is written above; please report it",
                ));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let stopped = py
            .check_signals()
            .and_then(|()| report(progress, &job, &mut reported));
        if let Err(error) = stopped {
            job.cancelled.store(true, Ordering::Relaxed);
            // A moment to stop; work that does not is left to itself, and its result to nobody.
            let _ = py.detach(move || receiver.recv_timeout(FAREWELL));
            return Err(error);
        }
    }
}

/// Hands progress to the callback, if there is news.
fn report(progress: Option<&Bound<'_, PyAny>>, job: &Job, reported: &mut ProgressStep) -> PyResult<()> {
    let Some(callback) = progress else {
        return Ok(());
    };
    let step = job.step();
    if step != *reported {
        callback.call1((&step.stage, step.done, step.total))?;
        *reported = step;
    }
    Ok(())
}
