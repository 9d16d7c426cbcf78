//! Reading beside `wc -l`, which only counts line feeds: the same cached file, one after the other, in turns.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, bail};
use clap::Args;
use quorate_io::{ReadOptions, Source, read_annotations};

use crate::measure::{cpu_seconds, peak_memory, seconds};

/// What to read.
#[derive(Debug, Args)]
pub struct ReadingArgs {
    /// A file of labels, for example one that `large` made
    file: PathBuf,
    /// Threads; 0 takes all
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Rounds, of which the best of each side counts
    #[arg(short, long, default_value_t = 5)]
    runs: usize,
}

/// Prints times, CPU times and their ratio.
pub fn run(args: &ReadingArgs) -> anyhow::Result<()> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(args.threads)
        .build()?;
    let source = Source::from(args.file.clone());
    let (mut wc, mut wall, mut cpu, mut labels) = (f64::INFINITY, f64::INFINITY, f64::INFINITY, 0);
    for _ in 0..args.runs {
        wc = wc.min(count_lines(args)?);
        let (started, used) = (Instant::now(), cpu_seconds());
        let read = pool.install(|| read_annotations(&source, &ReadOptions::default()))?;
        wall = wall.min(started.elapsed().as_secs_f64());
        cpu = cpu.min(cpu_seconds() - used);
        labels = read.annotations.label_count();
    }
    let size = std::fs::metadata(&args.file)?.len() as f64;
    println!(
        "{labels} labels, {:.0} MB, {} threads",
        size / 1e6,
        pool.current_num_threads()
    );
    println!("wc -l          {:>10}   {:.2} GB/s", seconds(wc), size / wc / 1e9);
    println!(
        "reading        {:>10}   {:.2} GB/s, {:.1} ns a label",
        seconds(wall),
        size / wall / 1e9,
        1e9 * wall / labels as f64
    );
    println!(
        "  CPU time     {:>10}   {:.1} ns a label",
        seconds(cpu),
        1e9 * cpu / labels as f64
    );
    println!("wc -l is       {:>9.1}x as fast", wall / wc);
    if let Some(peak) = peak_memory() {
        println!(
            "peak memory    {peak:>7.0} MB   {:.1} bytes a label, names included",
            peak * 1048576.0 / labels as f64
        );
    }
    Ok(())
}

fn count_lines(args: &ReadingArgs) -> anyhow::Result<f64> {
    let started = Instant::now();
    let status = Command::new("wc")
        .arg("-l")
        .arg(&args.file)
        .stdout(Stdio::null())
        .status();
    if !status.context("could not run wc")?.success() {
        bail!("wc failed");
    }
    Ok(started.elapsed().as_secs_f64())
}
