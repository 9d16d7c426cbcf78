//! Large label files, made row by row: seeded, in parallel, in constant memory.
//!
//! Every task is a function of the seed and its number, so that rows can be written in any order without
//! being held.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, bail};
use clap::Args;
use rayon::prelude::*;

use crate::child::run_measured;

/// What to make, and where.
#[derive(Debug, Args)]
pub struct GenerateArgs {
    /// The file to make
    file: PathBuf,
    /// Number of labels
    #[arg(long)]
    labels: u64,
    /// Number of workers
    #[arg(long)]
    workers: u64,
    /// Labels of each task
    #[arg(long, default_value_t = LABELS_PER_TASK, value_parser = clap::value_parser!(u64).range(1..))]
    labels_per_task: u64,
    /// Skewed: one worker gives half of the labels (one on each task at most), and one more task has this
    /// many
    #[arg(long, value_name = "LABELS")]
    skew: Option<u64>,
}

const LABELS_PER_TASK: u64 = 5;

impl GenerateArgs {
    /// A crowd of this size, in a file of the folder for temporary files.
    pub fn of_labels(labels: u64, workers: u64) -> Self {
        let name = format!("quorate-bench-{labels}-labels-{workers}-workers.csv");
        Self {
            file: std::env::temp_dir().join(name),
            labels,
            workers,
            labels_per_task: LABELS_PER_TASK,
            skew: None,
        }
    }
}

/// Makes the file: four classes, rows by task. Activity falls off as a power law, accuracies lie between 0.4
/// and 0.9.
pub fn run(args: &GenerateArgs) -> anyhow::Result<()> {
    if args.labels_per_task > args.workers {
        bail!(
            "a task with {} labels needs as many workers, and there are {}",
            args.labels_per_task,
            args.workers
        );
    }
    args.write()
}

/// The file, made in a process of its own if it is not there: who measures memory stays small.
pub fn ensure_file(args: &GenerateArgs) -> anyhow::Result<PathBuf> {
    if !args.file.exists() {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("generate").arg(&args.file);
        command.args(["--labels", &args.labels.to_string()]);
        command.args(["--workers", &args.workers.to_string()]);
        run_measured(&mut command).context("could not make the labels")?;
    }
    Ok(args.file.clone())
}

/// Rows that one thread makes before they are written.
const BLOCK: u64 = 1 << 18;

const CLASSES: u64 = 4;

impl GenerateArgs {
    fn rows(&self) -> u64 {
        self.labels / self.labels_per_task * self.labels_per_task
    }

    /// Writes the labels as CSV; the name ends in `.partial` until the file is whole.
    fn write(&self) -> anyhow::Result<()> {
        let path = &self.file;
        let partial = path.with_extension("partial");
        let file = File::create(&partial).with_context(|| format!("could not make {}", partial.display()))?;
        let mut output = BufWriter::with_capacity(1 << 20, file);
        output.write_all(b"task,worker,label\n")?;
        if let Some(labels) = self.skew {
            self.write_long_task(&mut output, labels)?;
        }
        let blocks: Vec<u64> = (0..self.rows().div_ceil(BLOCK)).collect();
        // Few blocks at a time: memory stays small however long the file is.
        for wave in blocks.chunks(16) {
            let texts: Vec<Vec<u8>> = wave.par_iter().map(|&block| self.block(block)).collect();
            for text in texts {
                output.write_all(&text)?;
            }
        }
        output.flush()?;
        std::fs::rename(&partial, path)?;
        Ok(())
    }

    fn write_long_task(&self, output: &mut impl Write, labels: u64) -> anyhow::Result<()> {
        for worker in 0..labels.min(self.workers) {
            let mut draws = Draws::new(u64::MAX - 1, worker);
            writeln!(output, "long,w{worker},{}", self.answer(worker, 0, &mut draws))?;
        }
        Ok(())
    }

    fn block(&self, block: u64) -> Vec<u8> {
        let mut text = Vec::with_capacity(BLOCK as usize * 20);
        let mut labels = Vec::new();
        let mut last = u64::MAX;
        for row in block * BLOCK..((block + 1) * BLOCK).min(self.rows()) {
            let (task, place) = (row / self.labels_per_task, row % self.labels_per_task);
            if task != last {
                self.label_task(task, &mut labels);
                last = task;
            }
            let (worker, label) = labels[place as usize];
            text.push(b't');
            push_number(&mut text, task);
            text.extend_from_slice(b",w");
            push_number(&mut text, worker);
            text.push(b',');
            push_number(&mut text, label);
            text.push(b'\n');
        }
        text
    }

    fn label_task(&self, task: u64, labels: &mut Vec<(u64, u64)>) {
        let mut draws = Draws::new(1, task);
        let truth = draws.below(CLASSES);
        let busy = self.labels_per_task as f64 / 2.0;
        labels.clear();
        while (labels.len() as u64) < self.labels_per_task {
            let share = draws.unit();
            let worker = match self.skew {
                Some(_) if labels.is_empty() && draws.unit() < busy => 0,
                // Density ~ rank^(-1/2).
                _ => (share * share * self.workers as f64) as u64,
            };
            if !labels.iter().any(|&(known, _)| known == worker) {
                labels.push((worker, self.answer(worker, truth, &mut draws)));
            }
        }
    }

    fn answer(&self, worker: u64, truth: u64, draws: &mut Draws) -> u64 {
        let accuracy = 0.4 + 0.5 * Draws::new(2, worker).unit();
        if draws.unit() < accuracy {
            return truth;
        }
        let other = draws.below(CLASSES - 1);
        other + u64::from(other >= truth)
    }
}

/// SplitMix64: a stream for each (purpose, number).
struct Draws(u64);

impl Draws {
    fn new(purpose: u64, number: u64) -> Self {
        let mut draws =
            Self(number.wrapping_mul(0xd134_2543_de82_ef95) ^ purpose.wrapping_mul(0x2545_f491_4f6c_dd1d));
        draws.next();
        draws
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }
}

fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Appends a number in decimal.
fn push_number(text: &mut Vec<u8>, mut number: u64) {
    let start = text.len();
    loop {
        text.push(b'0' + (number % 10) as u8);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text[start..].reverse();
}
