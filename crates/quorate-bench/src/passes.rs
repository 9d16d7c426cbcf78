//! One EM pass beside a plain reading of the same bytes from memory, in turns.

use std::path::PathBuf;

use clap::Args;
use quorate::methods::vote_fractions;
use quorate::model::{Em, EmStart};
use quorate::{Annotations, Context};
use quorate_io::{ReadOptions, Source, read_annotations};
use rayon::prelude::*;

use crate::measure::{Best, seconds};

/// On what to measure.
#[derive(Debug, Args)]
pub struct PassesArgs {
    /// A file of labels, for example one that `generate` made
    file: PathBuf,
    /// Threads; 0 takes all
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Rounds, of which the best of each side counts
    #[arg(short, long, default_value_t = 5)]
    runs: usize,
}

/// Prints both times and their ratio.
pub fn run(args: &PassesArgs) -> anyhow::Result<()> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(args.threads)
        .build()?;
    pool.install(|| measure(args))
}

fn measure(args: &PassesArgs) -> anyhow::Result<()> {
    let annotations =
        read_annotations(&Source::from(args.file.clone()), &ReadOptions::default())?.annotations;
    let votes = vote_fractions(&annotations);
    let (mut reading, mut short, mut long) = (Best::default(), Best::default(), Best::default());
    let mut bytes = 0;
    for _ in 0..args.runs {
        bytes = reading.note(|| read_all(&annotations, votes.as_slice()));
        short.note(|| rounds(2, &annotations))?;
        long.note(|| rounds(7, &annotations))?;
    }
    // Of the best times: the smallest difference would be one where the short run was disturbed.
    let pass = Best {
        wall: (long.wall - short.wall) / 5.0,
        cpu: (long.cpu - short.cpu) / 5.0,
    };
    let labels = annotations.label_count() as f64;
    println!(
        "{labels} labels, {} workers, {} classes, {} threads",
        annotations.worker_count(),
        annotations.class_count(),
        rayon::current_num_threads()
    );
    println!(
        "reading labels, starts and posteriors   {:>10}   {:.2} GB/s",
        seconds(reading.wall),
        bytes as f64 / reading.wall / 1e9
    );
    println!(
        "one EM pass                             {:>10}   {:.1} ns a label",
        seconds(pass.wall),
        1e9 * pass.wall / labels
    );
    println!(
        "  CPU time                              {:>10}   {:.1} ns a label",
        seconds(pass.cpu),
        1e9 * pass.cpu / labels
    );
    println!("the pass takes {:.1}x as long", pass.wall / reading.wall);
    Ok(())
}

/// Sums everything that a pass reads in order; returns the bytes.
fn read_all(annotations: &Annotations, rows: &[f64]) -> usize {
    let starts = annotations.task_starts();
    let tasks = annotations.task_count();
    let chunk = tasks.div_ceil(64).max(1);
    let sum: f64 = (0..tasks)
        .into_par_iter()
        .step_by(chunk)
        .map(|first| {
            let last = (first + chunk).min(tasks);
            let mut sum = 0u64;
            let (workers, labels) = annotations.labels_between(first..last);
            sum += workers.iter().map(|&worker| u64::from(worker)).sum::<u64>();
            sum += labels.iter().map(|&label| u64::from(label)).sum::<u64>();
            sum += starts[first..last]
                .iter()
                .map(|&start| u64::from(start))
                .sum::<u64>();
            let width = rows.len() / tasks;
            // Independent sums, so that additions do not wait for each other.
            let mut sums = [0.0; 8];
            for values in rows[first * width..last * width].chunks(8) {
                sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
            }
            sum as f64 + sums.iter().sum::<f64>()
        })
        .sum();
    std::hint::black_box(sum);
    6 * annotations.label_count() + 4 * starts.len() + 8 * rows.len()
}

fn rounds(max_iter: usize, annotations: &Annotations) -> anyhow::Result<()> {
    let em = Em {
        max_iter,
        tol: 0.0,
        ..Em::default()
    };
    em.fit(annotations, EmStart::Votes, &mut Context::new(0))?;
    Ok(())
}
