//! `aggregate --update` beside a full fit: the last rows of a file are new, the others were fitted before.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};
use clap::Args;
use quorate_testkit::public_data;

use crate::child::{Usage, find_program, run_listening, run_measured, scratch};
use crate::generate::{GenerateArgs, ensure_file};
use crate::measure::seconds;

/// Which labels, and how many of them are new.
#[derive(Debug, Args)]
pub struct UpdateArgs {
    /// Files of labels with the columns task, worker, label, without quotes; a large simulated crowd if there
    /// is none
    files: Vec<PathBuf>,
    /// The public data sets instead (`docs/data.md`)
    #[arg(long, conflicts_with = "files")]
    public: bool,
    /// Labels of the simulated crowd
    #[arg(long, default_value_t = 5_000_000)]
    labels: u64,
    /// Workers of the simulated crowd
    #[arg(long, default_value_t = 10_000)]
    workers: u64,
    /// Shares of the rows that are new
    #[arg(long, value_delimiter = ',', default_value = "0.1")]
    new_share: Vec<f64>,
    /// Parameters of both fits
    #[arg(short, long = "param", value_name = "NAME=VALUE")]
    parameters: Vec<String>,
    /// The program to measure; the one built beside this one if not given
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// Prints a Markdown table.
pub fn run(args: &UpdateArgs) -> anyhow::Result<()> {
    let program = find_program(args.program.as_deref())?;
    let files = if args.public {
        let sets = ["bluebird", "dog", "rte", "trec", "web", "labelme"];
        sets.map(|set| public_data::folder().join(set).join("labels.csv"))
            .to_vec()
    } else if args.files.is_empty() {
        vec![ensure_file(&GenerateArgs::of_labels(args.labels, args.workers))?]
    } else {
        args.files.clone()
    };
    let folder = scratch("update");
    fs::create_dir_all(&folder)?;
    println!(
        "| labels | new | full: passes, CPU, time, memory | update: passes, CPU, time, memory | CPU of a full fit | other labels \
         | largest difference |"
    );
    println!("|{}", "---|".repeat(7));
    let measured = files
        .iter()
        .try_for_each(|file| measure(args, &program, file, &folder));
    fs::remove_dir_all(&folder)?;
    measured
}

/// One line for each share.
fn measure(args: &UpdateArgs, program: &Path, all: &Path, folder: &Path) -> anyhow::Result<()> {
    let aggregate = |labels: &Path, output: &str| {
        let mut command = Command::new(program);
        command.arg("aggregate").arg(labels);
        command.arg("-o").arg(folder.join(output));
        command
            .arg("--probabilities")
            .args(args.parameters.iter().flat_map(|parameter| ["-p", parameter]));
        command
    };
    let (old, new, model) = (
        folder.join("old.csv"),
        folder.join("new.csv"),
        folder.join("model.json"),
    );
    let full = Fitted::run(aggregate(all, "full.csv").args(["-m", "dawid-skene"]))?;
    for &share in &args.new_share {
        let rows = cut(all, share, &old, &new)?;
        let mut first = aggregate(&old, "old-labels.csv");
        first.args(["-m", "dawid-skene", "--keep-labels", "--model"]);
        run_measured(first.arg(&model))?;
        let update = Fitted::run(aggregate(&new, "update.csv").arg("--update").arg(&model))?;
        let (other, largest) = compare(&folder.join("full.csv"), &folder.join("update.csv"))?;
        println!(
            "| {} ({rows}) | {} % | {full} | {update} | {:.2} | {other} | {largest:.6} |",
            name(all),
            100.0 * share,
            update.usage.cpu / full.usage.cpu,
        );
    }
    Ok(())
}

/// A data set by its folder, another file by its own name.
fn name(file: &Path) -> String {
    let place = match file.file_name() {
        Some(last) if last == "labels.csv" => file.parent().unwrap_or(file),
        _ => file,
    };
    place
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// A run of the program, and the passes that it told of.
struct Fitted {
    usage: Usage,
    passes: usize,
}

impl Fitted {
    fn run(command: &mut Command) -> anyhow::Result<Self> {
        let (usage, said) = run_listening(command)?;
        let passes = said
            .split(" iteration")
            .next()
            .and_then(|before| before.rsplit(' ').next());
        Ok(Self {
            usage,
            passes: passes
                .and_then(|number| number.replace(',', "").parse().ok())
                .context("the program did not tell how many iterations it took")?,
        })
    }
}

impl std::fmt::Display for Fitted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Usage { wall, cpu, memory } = self.usage;
        let (cpu, wall) = (seconds(cpu), seconds(wall));
        write!(f, "{}, {cpu}, {wall}, {memory:.0} MB", self.passes)
    }
}

/// Cuts the last rows off into a file of their own; returns the number of all rows.
fn cut(all: &Path, share: f64, old: &Path, new: &Path) -> anyhow::Result<usize> {
    let open = || File::open(all).with_context(|| format!("could not read {}", all.display()));
    let rows = BufReader::new(open()?).split(b'\n').count().saturating_sub(1);
    let kept = rows - (share * rows as f64).round() as usize;
    if !(1..rows).contains(&kept) {
        bail!("of {rows} rows {kept} would be old: both parts need some");
    }
    let mut lines = BufReader::new(open()?).split(b'\n');
    let header = lines.next().context("the file is empty")??;
    let (mut old, mut new) = (
        BufWriter::new(File::create(old)?),
        BufWriter::new(File::create(new)?),
    );
    for output in [&mut old, &mut new] {
        output.write_all(&header)?;
        output.write_all(b"\n")?;
    }
    for (row, line) in lines.enumerate() {
        let output = if row < kept { &mut old } else { &mut new };
        output.write_all(&line?)?;
        output.write_all(b"\n")?;
    }
    old.flush()?;
    new.flush()?;
    Ok(rows)
}

/// Tasks with another label, and the largest difference of two printed numbers.
fn compare(full: &Path, update: &Path) -> anyhow::Result<(usize, f64)> {
    let lines = |path: &Path| anyhow::Ok(BufReader::new(File::open(path)?).lines());
    let (mut other, mut largest) = (0, 0.0f64);
    let (mut full, mut update) = (lines(full)?, lines(update)?);
    loop {
        let (full, update) = match (full.next(), update.next()) {
            (Some(full), Some(update)) => (full?, update?),
            (None, None) => return Ok((other, largest)),
            _ => bail!("the two outputs differ in length"),
        };
        let mut fields = full.split(',').zip(update.split(','));
        if fields.next().is_none_or(|(a, b)| a != b) {
            bail!("the two outputs have their tasks in another order");
        }
        other += usize::from(fields.next().is_some_and(|(a, b)| a != b));
        for (a, b) in fields {
            if let (Ok(a), Ok(b)) = (a.parse::<f64>(), b.parse::<f64>()) {
                largest = largest.max((a - b).abs());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_cut_and_compared() {
        let folder = scratch("update-test");
        fs::create_dir_all(&folder).expect("a folder");
        let path = |name: &str| folder.join(name);
        fs::write(path("all"), "h\n1\n2\n3\n4\n").expect("a file");
        assert_eq!(
            cut(&path("all"), 0.25, &path("old"), &path("new")).expect("cut"),
            4
        );
        assert_eq!(fs::read(path("old")).expect("old"), b"h\n1\n2\n3\n");
        assert_eq!(fs::read(path("new")).expect("new"), b"h\n4\n");
        assert!(cut(&path("all"), 0.0, &path("old"), &path("new")).is_err());
        fs::write(path("a"), "task,label,c\nt,x,0.5\nu,y,1\n").expect("a file");
        fs::write(path("b"), "task,label,c\nt,x,0.25\nu,x,1\n").expect("a file");
        assert_eq!(compare(&path("a"), &path("b")).expect("compared"), (1, 0.25));
        fs::write(path("b"), "task,label,c\nt,x,0.25\n").expect("a file");
        assert!(compare(&path("a"), &path("b")).is_err());
        fs::remove_dir_all(&folder).expect("removed");
    }
}
