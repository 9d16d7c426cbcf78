//! Exports of annotation tools beside a plain `serde_json` parse of the same file: Label Studio JSON on one
//! line, and JSONL of judgements, made here in constant memory.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use clap::Args;
use quorate_io::{ReadOptions, Source, read_annotations};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::Value;

use crate::measure::{Best, peak_memory, seconds};

/// How much to read, and where to put it.
#[derive(Debug, Args)]
pub struct ExportsArgs {
    /// Answers in each file
    #[arg(long, default_value_t = 5_000_000)]
    answers: u64,
    /// Folder for the files, which are removed at the end
    #[arg(long, default_value_os_t = std::env::temp_dir())]
    folder: PathBuf,
    /// Rounds, of which the best of each side counts
    #[arg(short, long, default_value_t = 3)]
    runs: usize,
}

const WORKERS: u64 = 500;
const ANSWERS_PER_TASK: u64 = 5;
const CLASSES: [&str; 4] = ["positive", "negative", "neutral", "mixed"];

/// A number that looks like chance, the same in every run.
fn mixed(number: u64) -> u64 {
    let mut hash = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 16
}

/// Worker and label of an answer: those of one task differ in their workers.
fn answer(task: u64, place: u64) -> (u64, &'static str) {
    let worker = (mixed(task) + place * 7) % WORKERS;
    let truth = mixed(task ^ 0xff) % 4;
    let label = if mixed(task * 8 + place).is_multiple_of(4) {
        mixed(task + place) % 4
    } else {
        truth
    };
    (worker, CLASSES[label as usize])
}

/// Prints times, rates and their ratios.
pub fn run(args: &ExportsArgs) -> Result<()> {
    let tasks = args.answers / ANSWERS_PER_TASK;
    let files = [
        ("Label Studio JSON", "quorate-bench-label-studio.json", true),
        (
            "JSONL, an object for each judgement",
            "quorate-bench-judgements.jsonl",
            false,
        ),
        (
            "JSONL, a map of judges for each item",
            "quorate-bench-judges.jsonl",
            false,
        ),
    ];
    let write = [write_label_studio, write_judgements, write_judges];
    let paths: Vec<PathBuf> = files.iter().map(|(_, name, _)| args.folder.join(name)).collect();
    for (path, write) in paths.iter().zip(write) {
        write(path, tasks)?;
    }
    // Before anything holds a whole file: what reading takes at its most.
    for ((title, _, _), path) in files.iter().zip(&paths) {
        let read = read_annotations(&Source::from(path.as_path()), &ReadOptions::default())?;
        ensure!(
            read.annotations.label_count() as u64 == tasks * ANSWERS_PER_TASK,
            "{title}: answers are missing"
        );
        let peak = peak_memory().unwrap_or(f64::NAN);
        let bytes = std::fs::metadata(path)?.len() as f64 / 1e6;
        println!("{title}: {bytes:.0} MB, peak memory so far {peak:.0} MB");
    }
    for ((title, _, is_array), path) in files.iter().zip(&paths) {
        measure(title, path, *is_array, args.runs)?;
        std::fs::remove_file(path)?;
    }
    Ok(())
}

fn measure(title: &str, path: &Path, is_array: bool, runs: usize) -> Result<()> {
    let (mut reading, mut values, mut nothing) = (Best::default(), Best::default(), Best::default());
    let text = std::fs::read(path)?;
    for _ in 0..runs {
        reading.note(|| read_annotations(&Source::from(path), &ReadOptions::default()))?;
        values.note(|| parse::<Value>(&text, is_array))?;
        nothing.note(|| parse::<IgnoredAny>(&text, is_array))?;
    }
    println!("\n{title}");
    for (what, best) in [
        ("reading", reading),
        ("serde_json, into values", values),
        ("serde_json, nothing kept", nothing),
    ] {
        println!(
            "  {what:<26}{:>10} by the clock {:>10} of CPU time, {:>5.0} MB/s of it",
            seconds(best.wall),
            seconds(best.cpu),
            text.len() as f64 / best.cpu / 1e6
        );
    }
    println!(
        "  by CPU time, reading is {:.2} times as fast as parsing into values, {:.2} times as fast as parsing and keeping nothing",
        values.cpu / reading.cpu,
        nothing.cpu / reading.cpu
    );
    Ok(())
}

/// Parses a whole file that is in memory already, value by value.
fn parse<T: for<'de> serde::Deserialize<'de>>(text: &[u8], is_array: bool) -> Result<()> {
    if is_array {
        let mut parser = serde_json::Deserializer::from_slice(text);
        return Ok(Elements::<T>(std::marker::PhantomData).deserialize(&mut parser)?);
    }
    for value in serde_json::Deserializer::from_slice(text).into_iter::<T>() {
        value?;
    }
    Ok(())
}

/// The elements of an array, dropped one by one.
struct Elements<T>(std::marker::PhantomData<T>);

impl<'de, T: serde::Deserialize<'de>> DeserializeSeed<'de> for Elements<T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<(), D::Error> {
        parser.deserialize_seq(self)
    }
}

impl<'de, T: serde::Deserialize<'de>> Visitor<'de> for Elements<T> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element::<T>()?.is_some() {}
        Ok(())
    }
}

/// The fields that Label Studio 1.23 writes, in its order.
fn write_label_studio(path: &Path, tasks: u64) -> Result<()> {
    let mut output = BufWriter::with_capacity(1 << 20, File::create(path)?);
    for task in 0..tasks {
        write!(
            output,
            "{}{{\"id\":{task},\"annotations\":[",
            if task == 0 { "[" } else { "," }
        )?;
        for place in 0..ANSWERS_PER_TASK {
            let (worker, label) = answer(task, place);
            write!(
                output,
                "{}{{\"id\":{},\"completed_by\":{worker},\"result\":[{{\"id\":\"aXfyP{place}Qs\",\"from_name\":\"sentiment\",\
                 \"to_name\":\"text\",\"type\":\"choices\",\"origin\":\"manual\",\"value\":{{\"choices\":[\"{label}\"]}}}}],\
                 \"was_cancelled\":false,\"ground_truth\":false,\"created_at\":\"2024-05-01T10:00:00.000000Z\",\
                 \"updated_at\":\"2024-05-01T10:00:00.000000Z\",\"draft_created_at\":null,\"lead_time\":2.5,\"prediction\":{{}},\
                 \"result_count\":1,\"unique_id\":\"305a62c7-c59e-47c5-8c18-e9714ac3f1d4\",\"task\":{task},\"project\":1}}",
                if place == 0 { "" } else { "," },
                task * ANSWERS_PER_TASK + place,
            )?;
        }
        write!(
            output,
            "],\"drafts\":[],\"predictions\":[],\"data\":{{\"text\":\"Sentence number {task}, with the \\\"words\\\" that \
             somebody wrote about a thing that they had bought.\"}},\"meta\":{{}},\"inner_id\":{task},\"project\":1}}"
        )?;
    }
    output.write_all(b"]")?;
    Ok(output.flush()?)
}

fn write_judgements(path: &Path, tasks: u64) -> Result<()> {
    let mut output = BufWriter::with_capacity(1 << 20, File::create(path)?);
    for task in 0..tasks {
        for place in 0..ANSWERS_PER_TASK {
            let (worker, label) = answer(task, place);
            writeln!(
                output,
                "{{\"item\":\"q{task}\",\"judge\":\"model-{worker}@p1\",\"label\":\"{label}\"}}"
            )?;
        }
    }
    Ok(output.flush()?)
}

fn write_judges(path: &Path, tasks: u64) -> Result<()> {
    let mut output = BufWriter::with_capacity(1 << 20, File::create(path)?);
    for task in 0..tasks {
        write!(output, "{{\"item\":\"q{task}\",\"judges\":{{")?;
        for place in 0..ANSWERS_PER_TASK {
            let (worker, label) = answer(task, place);
            write!(
                output,
                "{}\"model-{worker}@p1\":\"{label}\"",
                if place == 0 { "" } else { "," }
            )?;
        }
        writeln!(output, "}}}}")?;
    }
    Ok(output.flush()?)
}
