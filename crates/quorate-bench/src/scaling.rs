//! Time and peak memory over the number of labels and of threads: the built program, from file to labels.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use clap::Args;
use quorate_lab::{Axis, Figure, Mark, Panel, Series, fit_line};

use crate::child::{Usage, best_measured, find_program, scratch};
use crate::generate::{GenerateArgs, ensure_file};
use crate::measure::seconds;

/// How far.
#[derive(Debug, Args)]
pub struct ScalingArgs {
    /// Numbers of labels; five for each task, one worker for each 1000
    #[arg(long, value_delimiter = ',', default_value = "100000,1000000,10000000")]
    labels: Vec<u64>,
    /// Adds 10^8 labels: a file of 1.8 GB and some minutes
    #[arg(long)]
    largest: bool,
    /// Numbers of threads; 1, 2, .. up to the cores if not given
    #[arg(long, value_delimiter = ',')]
    threads: Vec<usize>,
    /// Methods with their parameters
    #[arg(
        short,
        long,
        value_delimiter = ',',
        default_value = "dawid-skene max-iter=10 tol=0,rob-symnmf"
    )]
    methods: Vec<String>,
    /// What the program may use of memory, in GiB
    #[arg(long, default_value_t = 4.0)]
    memory: f64,
    /// Runs of each, of which the best counts; runs of more than five seconds are not repeated
    #[arg(short, long, default_value_t = 3)]
    runs: usize,
    /// Keep the files of labels
    #[arg(long)]
    keep: bool,
    /// Where the plot goes
    #[arg(long, value_name = "FILE", default_value = "docs/images/scaling.svg")]
    plot: PathBuf,
    /// The program to measure; the one built beside this one if not given
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// One measurement.
struct Point {
    method: String,
    threads: usize,
    labels: u64,
    usage: Usage,
}

/// Seconds after which a run is not repeated.
const LONG: f64 = 5.0;

/// Slopes are taken from here on: below, starting the program counts.
const LINEAR_FROM: f64 = 1e6;

/// Prints a Markdown table, and draws.
pub fn run(args: &ScalingArgs) -> anyhow::Result<()> {
    let program = find_program(args.program.as_deref())?;
    let threads = if args.threads.is_empty() {
        thread_counts(std::thread::available_parallelism()?.get())
    } else {
        args.threads.clone()
    };
    let mut sizes = args.labels.clone();
    sizes.extend(args.largest.then_some(100_000_000));
    let mut points = Vec::new();
    println!("| labels | method | threads | time | CPU time | CPU a label | peak memory | bytes a label |");
    println!("|{}", "---|".repeat(8));
    for labels in sizes {
        let file = ensure_file(&GenerateArgs::of_labels(labels, labels.div_ceil(1000)))?;
        for method in &args.methods {
            for &threads in &threads {
                eprintln!("{labels} labels, {method}, {threads} threads");
                let usage = measure(args, &program, &file, method, threads)?;
                println!(
                    "| {labels} | {method} | {threads} | {} | {} | {:.0} ns | {:.0} MB | {:.0} |",
                    seconds(usage.wall),
                    seconds(usage.cpu),
                    1e9 * usage.cpu / labels as f64,
                    usage.memory,
                    1e6 * usage.memory / labels as f64
                );
                points.push(Point {
                    method: method.clone(),
                    threads,
                    labels,
                    usage,
                });
            }
        }
        if !args.keep {
            std::fs::remove_file(&file)?;
        }
    }
    let curves = curves(&points);
    print_slopes(&curves);
    std::fs::write(&args.plot, plot(&curves).to_svg())
        .with_context(|| format!("could not write {}", args.plot.display()))
}

/// 1, 2, 4, .. and the cores.
fn thread_counts(cores: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(1), |count| Some(2 * count));
    let mut counts: Vec<usize> = powers.take_while(|&count| count < cores).collect();
    counts.push(cores);
    counts
}

fn measure(
    args: &ScalingArgs,
    program: &Path,
    file: &Path,
    method: &str,
    threads: usize,
) -> anyhow::Result<Usage> {
    let output = scratch("labels.csv");
    let usage = best_measured(args.runs, LONG, || {
        let mut words = method.split_whitespace();
        let mut command = Command::new(program);
        command.arg("aggregate").arg(file).arg("-o").arg(&output);
        command.arg("-m").args(words.next());
        command.args(words.flat_map(|parameter| ["-p", parameter]));
        command.args(["--threads", &threads.to_string()]);
        command.args(["--memory", &args.memory.to_string()]);
        command
    });
    let _ = std::fs::remove_file(&output);
    usage
}

/// One of the values of a measurement.
type Pick = fn(&Usage) -> f64;

/// Measurements that differ in the number of labels alone.
struct Curve<'a> {
    name: String,
    points: Vec<&'a Point>,
}

impl Curve<'_> {
    fn values(&self, pick: Pick) -> Vec<(f64, f64)> {
        let value = |point: &&Point| (point.labels as f64, pick(&point.usage));
        self.points.iter().map(value).collect()
    }

    /// Power of the number of labels with which it grows.
    fn slope(&self, pick: Pick) -> Option<f64> {
        let logarithms: Vec<(f64, f64)> = self
            .values(pick)
            .into_iter()
            .filter(|(labels, _)| *labels >= LINEAR_FROM)
            .map(|(labels, value)| (labels.ln(), value.ln()))
            .collect();
        fit_line(&logarithms).map(|line| line.slope)
    }
}

fn curves(points: &[Point]) -> Vec<Curve<'_>> {
    let mut curves: Vec<Curve<'_>> = Vec::new();
    for point in points {
        let method = point.method.split_whitespace().next().unwrap_or_default();
        let plural = if point.threads == 1 { "" } else { "s" };
        let name = format!("{method}, {} thread{plural}", point.threads);
        match curves.iter_mut().find(|curve| curve.name == name) {
            Some(curve) => curve.points.push(point),
            None => curves.push(Curve {
                name,
                points: vec![point],
            }),
        }
    }
    curves
}

/// Title, unit and value of each panel.
const MEASURES: [(&str, &str, Pick); 3] = [
    ("Time", "seconds", |usage| usage.wall),
    ("CPU time", "seconds", |usage| usage.cpu),
    ("Peak memory", "MB", |usage| usage.memory),
];

fn print_slopes(curves: &[Curve<'_>]) {
    println!("\nSlopes of the logarithms from 10^6 labels on; 1 is linear:\n");
    println!("| | time | CPU time | peak memory |\n|---|---|---|---|");
    for curve in curves {
        let cells = MEASURES.map(|(.., pick)| {
            let slope = curve.slope(pick);
            slope.map_or("-".to_owned(), |slope| format!("{slope:.2}"))
        });
        println!("| {} | {} |", curve.name, cells.join(" | "));
    }
}

/// Both axes logarithmic, with the slopes in the titles.
fn plot(curves: &[Curve<'_>]) -> Figure {
    let panels = MEASURES.map(|(title, unit, pick)| {
        let slopes: Vec<f64> = curves.iter().filter_map(|curve| curve.slope(pick)).collect();
        let least = slopes.iter().copied().fold(f64::INFINITY, f64::min);
        let most = slopes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Panel {
            title: if slopes.is_empty() {
                title.to_owned()
            } else {
                format!("{title}: slopes {least:.2} to {most:.2}")
            },
            x: Axis::log("labels"),
            y: Axis::log(unit),
            series: curves
                .iter()
                .map(|curve| Series::new(&curve.name, Mark::DotLine, curve.values(pick)))
                .collect(),
        }
    });
    Figure {
        name: "scaling".to_owned(),
        caption: "Time, CPU time and peak memory over the number of labels, from file to labels".to_owned(),
        panels: panels.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(labels: u64, seconds: f64) -> Point {
        Point {
            method: "dawid-skene max-iter=10".to_owned(),
            threads: 2,
            labels,
            usage: Usage {
                wall: seconds,
                cpu: seconds.powi(2),
                memory: 7.0,
            },
        }
    }

    #[test]
    fn threads_double_up_to_the_cores() {
        assert_eq!(thread_counts(1), [1]);
        assert_eq!(thread_counts(2), [1, 2]);
        assert_eq!(thread_counts(6), [1, 2, 4, 6]);
    }

    #[test]
    fn slopes_are_powers_of_the_labels_without_the_small_ones() {
        let points = [
            point(100_000, 5.0),
            point(1_000_000, 1.0),
            point(10_000_000, 10.0),
        ];
        let curves = curves(&points);
        assert_eq!(curves.len(), 1);
        assert_eq!(curves[0].name, "dawid-skene, 2 threads");
        for ((.., pick), expected) in MEASURES.into_iter().zip([1.0, 2.0, 0.0]) {
            let slope = curves[0].slope(pick).expect("two points");
            assert!((slope - expected).abs() < 1e-12, "{slope} for {expected}");
        }
    }
}
