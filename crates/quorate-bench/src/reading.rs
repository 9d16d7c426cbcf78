//! Reading beside `wc -l`, which only counts line feeds: the same cached file, one after the other, in turns.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, bail};
use clap::Args;
use quorate_io::{FileFormat, Format, ReadOptions, Source, Target, read_annotations, write_annotations};

use crate::measure::{Best, peak_memory, seconds};

/// What to read.
#[derive(Debug, Args)]
pub struct ReadingArgs {
    /// A file of labels, for example one that `generate` made
    file: PathBuf,
    /// Threads; 0 takes all
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Rounds, of which the best of each side counts
    #[arg(short, long, default_value_t = 5)]
    runs: usize,
    /// Write the labels to this Parquet file, too, and read that
    #[arg(long, value_name = "FILE")]
    parquet: Option<PathBuf>,
}

/// Prints times, CPU times and their ratio.
pub fn run(args: &ReadingArgs) -> anyhow::Result<()> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(args.threads)
        .build()?;
    let (mut wc, mut table) = (f64::INFINITY, Reading::default());
    for _ in 0..args.runs {
        wc = wc.min(count_lines(args)?);
        table.read(&pool, &args.file)?;
    }
    let size = std::fs::metadata(&args.file)?.len() as f64;
    println!(
        "{} labels, {:.0} MB, {} threads",
        table.labels,
        size / 1e6,
        pool.current_num_threads()
    );
    println!("wc -l          {:>10}   {:.2} GB/s", seconds(wc), size / wc / 1e9);
    table.print("reading", size);
    println!("wc -l is       {:>9.1}x as fast", table.best.wall / wc);
    if let Some(peak) = peak_memory() {
        println!(
            "peak memory    {peak:>7.0} MB   {:.1} bytes a label, names included",
            peak * 1048576.0 / table.labels as f64
        );
    }
    if let Some(file) = &args.parquet {
        write_parquet(&pool, &args.file, file)?;
        let mut parquet = Reading::default();
        for _ in 0..args.runs {
            parquet.read(&pool, file)?;
        }
        parquet.print("as Parquet", std::fs::metadata(file)?.len() as f64);
    }
    Ok(())
}

/// The best of several readings of a file.
#[derive(Default)]
struct Reading {
    best: Best,
    labels: usize,
}

impl Reading {
    fn read(&mut self, pool: &rayon::ThreadPool, file: &Path) -> anyhow::Result<()> {
        let source = Source::from(file.to_owned());
        let read = || pool.install(|| read_annotations(&source, &ReadOptions::default()));
        self.labels = self.best.note(read)?.annotations.label_count();
        Ok(())
    }

    fn print(&self, name: &str, size: f64) {
        let Best { wall, cpu } = self.best;
        let a_label = |time: f64| 1e9 * time / self.labels as f64;
        println!(
            "{name:<14} {:>10}   {:.2} GB/s, {:.1} ns a label",
            seconds(wall),
            size / wall / 1e9,
            a_label(wall)
        );
        println!(
            "  CPU time     {:>10}   {:.1} ns a label",
            seconds(cpu),
            a_label(cpu)
        );
    }
}

/// Writes the labels of one file to another.
fn write_parquet(pool: &rayon::ThreadPool, from: &Path, to: &Path) -> anyhow::Result<()> {
    let source = Source::from(from.to_owned());
    let read = pool.install(|| read_annotations(&source, &ReadOptions::default()))?;
    let format = FileFormat::from(Format::Parquet);
    write_annotations(&Target::from(to.to_owned()), Some(format), &read.annotations)?;
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
