//! The public data sets: file to labels, method by method.

use std::path::PathBuf;

use clap::Args;
use quorate::Context;
use quorate::methods::{METHODS, find};
use quorate_io::{ReadOptions, Source, Target, read_annotations, write_consensus};

use crate::measure::{best_of, seconds};

/// What to time.
#[derive(Debug, Args)]
pub struct PublicArgs {
    /// Methods; all that need nothing but labels if not given
    #[arg(short, long, value_delimiter = ',')]
    methods: Vec<String>,
    /// Data sets
    #[arg(
        short,
        long,
        value_delimiter = ',',
        default_value = "bluebird,dog,rte,trec,web,labelme"
    )]
    sets: Vec<String>,
    /// Runs of each, of which the best counts
    #[arg(short, long, default_value_t = 3)]
    runs: usize,
}

/// Prints a Markdown table: reading, fitting and writing together.
pub fn run(args: &PublicArgs) -> anyhow::Result<()> {
    let folder =
        std::env::var_os("QUORATE_DATA").map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
    let methods: Vec<_> = match args.methods.is_empty() {
        true => METHODS
            .iter()
            .filter(|method| !method.needs_probabilities)
            .collect(),
        false => args
            .methods
            .iter()
            .map(|name| find(name))
            .collect::<quorate::Result<_>>()?,
    };
    println!("| method | {} |", args.sets.join(" | "));
    println!("|---|{}", "---|".repeat(args.sets.len()));
    for method in methods {
        let mut line = format!("| {} |", method.name);
        for set in &args.sets {
            let source = Source::from(folder.join(set).join("labels.csv"));
            let timed = best_of(args.runs, || {
                let annotations = read_annotations(&source, &ReadOptions::default())?.annotations;
                let fit = method.with_defaults()?.fit(&annotations, &mut Context::new(0))?;
                let (tasks, classes) = (annotations.tasks(), annotations.classes());
                Ok(write_consensus(
                    &Target::from("/dev/null"),
                    None,
                    tasks,
                    classes,
                    &fit.consensus,
                    false,
                )
                .or_else(|_| write_to_folder(&annotations, &fit))?)
            });
            line.push_str(&match timed {
                Ok((time, ())) => format!(" {} |", seconds(time)),
                Err(error) => format!(" {error} |"),
            });
        }
        println!("{line}");
    }
    Ok(())
}

/// Where there is no `/dev/null`: a file that is removed again.
fn write_to_folder(
    annotations: &quorate::Annotations,
    fit: &quorate::methods::Fit,
) -> quorate_io::Result<()> {
    let path = std::env::temp_dir().join("quorate-bench-labels.csv");
    let written = write_consensus(
        &Target::from(path.clone()),
        None,
        annotations.tasks(),
        annotations.classes(),
        &fit.consensus,
        false,
    );
    let _ = std::fs::remove_file(path);
    written
}
