//! A large simulated crowd: reading, one EM iteration, whole methods, peak memory.

use std::path::{Path, PathBuf};

use clap::Args;
use quorate::model::{Em, EmStart};
use quorate::{Annotations, Context};
use quorate_baselines::find;
use quorate_io::{ReadOptions, Source, read_annotations};

use crate::generate::{Crowd, RowOrder};
use crate::measure::{best_of, peak_memory, seconds};

/// How large.
#[derive(Debug, Args)]
pub struct LargeArgs {
    /// Number of tasks
    #[arg(long, default_value_t = 1_000_000)]
    tasks: u64,
    /// Number of workers
    #[arg(long, default_value_t = 10_000)]
    workers: u64,
    /// Number of classes
    #[arg(long, default_value_t = 4)]
    classes: u64,
    /// Labels of each task
    #[arg(long, default_value_t = 5)]
    labels_per_task: u64,
    /// Order of the rows
    #[arg(long, value_enum, default_value = "task")]
    order: RowOrder,
    /// Skewed: one worker gives half of the labels (one on each task at most), and one more task has this
    /// many
    #[arg(long, value_name = "LABELS")]
    skew: Option<u64>,
    /// Threads; 0 takes all
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Methods to run from end to end
    #[arg(
        short,
        long,
        value_delimiter = ',',
        default_value = "majority-vote,dawid-skene,rob-symnmf"
    )]
    methods: Vec<String>,
    /// Where the labels are kept; made if it is not there
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Runs of each short measurement, of which the best counts
    #[arg(short, long, default_value_t = 3)]
    runs: usize,
}

/// Makes the crowd if need be, then measures.
pub fn run(args: &LargeArgs) -> anyhow::Result<()> {
    let path = args.file.clone().unwrap_or_else(|| {
        let name = format!(
            "quorate-bench-{}x{}x{}x{}{}{}.csv",
            args.tasks,
            args.workers,
            args.classes,
            args.labels_per_task,
            if args.order == RowOrder::Random {
                "-random"
            } else {
                ""
            },
            args.skew.map_or(String::new(), |labels| format!("-skew{labels}")),
        );
        std::env::temp_dir().join(name)
    });
    if !path.exists() {
        make(args, &path)?;
        // Memory is measured over the life of a process: leave the simulation out of it.
        println!("made {}; run the same command again to measure", path.display());
        return Ok(());
    }
    let source = Source::from(path.clone());
    let size = std::fs::metadata(&path)?.len() as f64 / 1e6;
    let (time, annotations) = best_of(1, || {
        Ok(read_annotations(&source, &ReadOptions::default())?.annotations)
    })?;
    println!(
        "labels                 {:>12}   ({size:.0} MB of CSV)",
        annotations.label_count()
    );
    println!(
        "reading                {:>12}   ({:.1} million labels a second)",
        seconds(time),
        millions(&annotations, time)
    );
    report_memory("after reading");
    let iteration = em_iteration(&annotations, args)?;
    println!("one EM iteration       {:>12}", seconds(iteration));
    report_memory("after EM");
    for name in &args.methods {
        let method = find(name)?.with_defaults()?;
        let (time, fit) = best_of(1, || Ok(method.fit(&annotations, &mut context(args)?)?))?;
        println!(
            "{name:<22} {:>12}   ({} iterations)",
            seconds(time),
            fit.iterations
        );
    }
    report_memory("at the end");
    Ok(())
}

fn context(args: &LargeArgs) -> quorate::Result<Context> {
    Context::new(0).with_threads(args.threads)
}

fn millions(annotations: &Annotations, time: f64) -> f64 {
    annotations.label_count() as f64 / time / 1e6
}

/// Ten rounds more, divided by ten: what starting and ending costs falls out.
fn em_iteration(annotations: &Annotations, args: &LargeArgs) -> anyhow::Result<f64> {
    let rounds = |max_iter| {
        let em = Em {
            max_iter,
            tol: 0.0,
            ..Em::default()
        };
        let timed = best_of(args.runs, || {
            Ok(em.fit(annotations, EmStart::Votes, &mut context(args)?)?)
        });
        timed.map(|(time, _)| time)
    };
    Ok((rounds(12)? - rounds(2)?) / 10.0)
}

fn report_memory(when: &str) {
    if let Some(peak) = peak_memory() {
        println!("peak memory            {peak:>9.0} MB   ({when})");
    }
}

fn make(args: &LargeArgs, path: &Path) -> anyhow::Result<()> {
    Crowd {
        tasks: args.tasks,
        workers: args.workers,
        classes: args.classes,
        labels_per_task: args.labels_per_task,
        skew: args.skew,
    }
    .write(path, args.order)
}
