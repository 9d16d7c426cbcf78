//! Runs experiments: seeds, trials, where the data are, progress over the whole run, Ctrl-C.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use quorate::internal::statistics::PairBlocks;
use quorate::internal::symnmf::{Designated, MissingBlocks, impute_designated};
use quorate::{Annotations, Context};
use rayon::prelude::*;

use crate::registry::Experiment;
use crate::section::{Report, Section};

/// Which set-up of the synthetic experiments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setup {
    /// As the paper's text says.
    Text,
    /// As the text says, but the prior uniform as in the authors' program.
    Uniform,
    /// As the authors' program has it.
    Code,
    /// All of them, side by side.
    All,
}

/// How to run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Fewer trials and steps.
    pub quick: bool,
    /// Trials of every experiment, instead of its own number.
    pub trials: Option<usize>,
    /// Seed of the first trial; trial t has this plus t.
    pub seed: u64,
    /// Where the data sets are.
    pub data: PathBuf,
    /// Which set-up of the synthetic experiments.
    pub setup: Setup,
    /// Number of threads; 0 takes all.
    pub threads: usize,
    /// Memory that one fit may use, in bytes.
    pub memory: u64,
    /// How the run was asked for, to be printed on the page.
    pub command: String,
}

/// Messages how far the whole run is.
pub trait Watch: Sync {
    /// `done` of `total` units of work, now in the experiment called `name`. A unit is about a second.
    fn update(&self, name: &str, done: f64, total: f64);
}

/// What one experiment is run on.
pub struct Bench<'a> {
    settings: &'a Settings,
    experiment: &'static Experiment,
    cancelled: &'a Arc<AtomicBool>,
    watch: &'a (dyn Fn(f64) + Sync),
}

/// Runs the experiments one after the other.
pub fn run(
    experiments: &[&'static Experiment],
    settings: &Settings,
    cancelled: &Arc<AtomicBool>,
    watch: &dyn Watch,
) -> Result<Report> {
    check_data(experiments, &settings.data)?;
    let costs: Vec<f64> = experiments.iter().map(|one| one.estimate(settings)).collect();
    let total: f64 = costs.iter().sum();
    let started = Instant::now();
    let mut sections = Vec::new();
    for (place, (experiment, cost)) in experiments.iter().zip(&costs).enumerate() {
        let before: f64 = costs[..place].iter().sum();
        let own = |share: f64| watch.update(experiment.name, before + share.clamp(0.0, 1.0) * cost, total);
        own(0.0);
        let bench = Bench {
            settings,
            experiment,
            cancelled,
            watch: &own,
        };
        let began = Instant::now();
        let section = (experiment.run)(&bench)?;
        sections.push(Section {
            name: experiment.name.into(),
            title: experiment.title.into(),
            seconds: Some(began.elapsed().as_secs_f64()),
            ..section
        });
    }
    Ok(Report {
        command: settings.command.clone(),
        quick: settings.quick,
        seed: settings.seed,
        sections,
        seconds: Some(started.elapsed().as_secs_f64()),
    })
}

/// Says at once, not after an hour, which data are not there.
fn check_data(experiments: &[&'static Experiment], folder: &Path) -> Result<()> {
    for experiment in experiments {
        for needed in experiment.data {
            let path = folder.join(needed);
            if !path.exists() {
                bail!(
                    "{}: no {}; expected the data sets in a folder given by --data or QUORATE_DATA \
                     (now {}). The experiments on made-up data need none: quorate reproduce --list",
                    experiment.name,
                    path.display(),
                    folder.display()
                );
            }
        }
    }
    Ok(())
}

impl Bench<'_> {
    /// Whether trials and steps are to be few.
    pub fn quick(&self) -> bool {
        self.settings.quick
    }

    /// Number of trials.
    pub fn trials(&self) -> usize {
        self.experiment.trials(self.settings)
    }

    /// The seed of a trial.
    pub fn seed(&self, trial: usize) -> u64 {
        self.settings.seed.wrapping_add(trial as u64)
    }

    /// Where the data sets are.
    pub fn data(&self) -> &Path {
        &self.settings.data
    }

    /// Which set-up of the synthetic experiments.
    pub fn setup(&self) -> Setup {
        self.settings.setup
    }

    /// What a fit of this trial is run with.
    pub fn context(&self, trial: usize) -> Result<Context> {
        Ok(Context::new(self.seed(trial))
            .with_threads(self.settings.threads)?
            .with_memory_limit(self.settings.memory)
            .with_cancellation(Arc::clone(self.cancelled)))
    }

    /// The co-occurrence blocks of a table, and how many are missing before and after designated imputation.
    pub fn impute(&self, trial: usize, annotations: &Annotations) -> Result<(PairBlocks, MissingBlocks)> {
        let mut context = self.context(trial)?;
        let blocks = PairBlocks::observed(annotations, &mut context)?;
        let order = annotations.canonical_worker_order();
        let weights = vec![1.0; blocks.worker_count()];
        let imputed = impute_designated(&blocks, &Designated::Best, &order, &weights, &mut context)?;
        Ok((
            blocks,
            imputed
                .missing
                .context("designated imputation counts missing blocks")?,
        ))
    }

    /// Fails if the user asked to stop.
    pub fn check(&self) -> Result<()> {
        if self.cancelled.load(Ordering::Relaxed) {
            Err(quorate::Error::Cancelled.into())
        } else {
            Ok(())
        }
    }

    /// Says that this share of the experiment is done; fails if the user asked to stop.
    pub fn done(&self, share: f64) -> Result<()> {
        self.check()?;
        (self.watch)(share);
        Ok(())
    }

    /// Does `count` independent pieces of work on all threads, results in order. Not for anything that is
    /// timed.
    pub fn in_parallel<T: Send>(
        &self,
        count: usize,
        from: f64,
        to: f64,
        work: impl Fn(usize) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let finished = AtomicUsize::new(0);
        self.context(0)?.run(|| {
            let pieces = (0..count).into_par_iter().map(|piece| {
                let result = work(piece)?;
                let done = finished.fetch_add(1, Ordering::Relaxed) + 1;
                self.done(from + (to - from) * done as f64 / count as f64)?;
                Ok(result)
            });
            pieces.collect()
        })
    }
}
