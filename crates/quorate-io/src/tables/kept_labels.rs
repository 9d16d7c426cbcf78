//! The labels that a model rests on, kept beside its file, so that it can be brought up to date.
//!
//! ```text
//! "quorate\0"                                        what it is
//! u32 version, u64 fingerprint                       of these labels, the one in the model file
//! Zstandard frame with checksum, of
//!   u64 rows, u64 abstentions                        that went into the table
//!   u32 tasks, u32 workers, u32 classes, u32 labels
//!   for tasks, workers, classes:  u64 bytes, u32 length of each name, the names one behind the other
//!   u32 labels of each task;  u32 worker of each label;  u16 class of each label
//! ```
//!
//! All numbers little-endian, labels in the order of the table: reading is a copy, no name is looked up.
//! Damage is found by the checksum. Lengths are believed only as far as there are bytes: memory grows with
//! what was read.

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};

use quorate::annotations::{Annotations, Duplicates, Names, RowCounts};
use quorate::blocks::TaskBlock;

use super::model::ModelFile;
use crate::error::{ErrorKind, Result};
use crate::target::{Target, write_whole};

const MAGIC: &[u8; 8] = b"quorate\0";
const VERSION: u32 = 1;

/// A fast level: the file is read and written with every update.
const LEVEL: i32 = 1;

/// Bytes that are reserved before any of them was seen.
const RESERVED: u64 = 1 << 20;

/// The name of the labels' file for a model at this path: `model.json` has `model.labels.bin`.
fn file_name(model: &Path) -> String {
    let stem = model.file_stem().unwrap_or_default().to_string_lossy();
    format!("{stem}.labels.bin")
}

/// Writes the labels beside the model's place, and notes their file in the model.
///
/// # Panics
/// If the model is one of other labels.
pub fn write_kept_labels(path: &Path, annotations: &Annotations, model: &mut ModelFile) -> Result<()> {
    let fingerprint = fingerprint(model).expect("a model that was just made has a fingerprint");
    let name = file_name(path);
    let target = Target::from(path.with_file_name(&name));
    write_whole(&target, |output| {
        output.write_all(MAGIC)?;
        output.write_all(&VERSION.to_le_bytes())?;
        output.write_all(&fingerprint.to_le_bytes())?;
        let mut packed = zstd::Encoder::new(output, LEVEL)?;
        packed.include_checksum(true)?;
        write_table(&mut packed, annotations)?;
        packed.finish()?;
        Ok(())
    })?;
    model.labels_file = Some(name);
    Ok(())
}

/// Reads the labels that the model at `path` rests on, and makes sure that they are these.
pub fn read_kept_labels(path: &Path, model: &ModelFile) -> Result<Annotations> {
    let wrong = |words: String| Err(ErrorKind::KeptLabels(words).into());
    let Some(name) = &model.labels_file else {
        let words = "the labels that this model rests on were not kept";
        return wrong(words.into());
    };
    let place: PathBuf = path.with_file_name(name);
    if Path::new(name)
        .file_name()
        .is_none_or(|last| last != name.as_str())
    {
        return wrong(format!(
            "found {name:?} as the file of the labels, expected the name of a file in the same folder"
        ));
    }
    let read = || {
        let mut input = BufReader::with_capacity(1 << 17, File::open(&place)?);
        check_start(&mut input, model)?;
        let mut unpacked = zstd::Decoder::with_buffer(input)?;
        read_table(&mut unpacked)
    };
    read().map_err(|error| error.in_file(place.display().to_string()))
}

fn fingerprint(model: &ModelFile) -> Option<u64> {
    u64::from_str_radix(&model.fingerprint, 16).ok()
}

fn check_start(input: &mut impl Read, model: &ModelFile) -> Result<()> {
    let wrong = |words: String| Err(ErrorKind::KeptLabels(words).into());
    if read_array(input)? != *MAGIC {
        return wrong("found something else, expected kept labels".into());
    }
    let version = u32::from_le_bytes(read_array(input)?);
    if version != VERSION {
        return wrong(format!("found format version {version}, expected {VERSION}"));
    }
    if Some(u64::from_le_bytes(read_array(input)?)) != fingerprint(model) {
        return wrong("does not hold the labels that this model was fitted on".into());
    }
    Ok(())
}

fn write_table(output: &mut impl Write, annotations: &Annotations) -> Result<()> {
    let rows = annotations.rows();
    output.write_all(&rows.rows.to_le_bytes())?;
    output.write_all(&rows.abstentions.to_le_bytes())?;
    let names = [annotations.tasks(), annotations.workers(), annotations.classes()];
    let counts = names
        .map(Names::len)
        .into_iter()
        .chain([annotations.label_count()]);
    write_numbers(output, counts.map(|count| (count as u32).to_le_bytes()))?;
    for names in names {
        let bytes: usize = names.iter().map(str::len).sum();
        output.write_all(&(bytes as u64).to_le_bytes())?;
        write_numbers(output, names.iter().map(|name| (name.len() as u32).to_le_bytes()))?;
        for name in names.iter() {
            output.write_all(name.as_bytes())?;
        }
    }
    let starts = annotations.task_starts();
    write_numbers(
        output,
        starts.windows(2).map(|pair| (pair[1] - pair[0]).to_le_bytes()),
    )?;
    let (workers, labels) = annotations.labels_between(0..annotations.task_count());
    write_numbers(output, workers.iter().map(|worker| worker.to_le_bytes()))?;
    write_numbers(output, labels.iter().map(|label| label.to_le_bytes()))
}

/// Numbers in pieces: packing them one by one takes longer than packing.
fn write_numbers<const N: usize>(
    output: &mut impl Write,
    numbers: impl Iterator<Item = [u8; N]>,
) -> Result<()> {
    let mut piece = Vec::with_capacity(1 << 16);
    for number in numbers {
        if piece.len() + N > piece.capacity() {
            output.write_all(&piece)?;
            piece.clear();
        }
        piece.extend_from_slice(&number);
    }
    Ok(output.write_all(&piece)?)
}

fn read_table(input: &mut impl Read) -> Result<Annotations> {
    let rows = RowCounts {
        rows: u64::from_le_bytes(read_array(input)?),
        abstentions: u64::from_le_bytes(read_array(input)?),
        repeated: 0,
        duplicates: Duplicates::Keep,
    };
    let mut count = || -> Result<u64> { Ok(u32::from_le_bytes(read_array(input)?).into()) };
    let (tasks, workers, classes, labels) = (count()?, count()?, count()?, count()?);
    let mut names = |count| read_names(input, count);
    let (tasks, workers, classes) = (names(tasks)?, names(workers)?, names(classes)?);
    let mut starts = vec![0u32];
    for length in read_numbers(input, tasks.len() as u64, u32::from_le_bytes)? {
        let end = starts[starts.len() - 1].checked_add(length);
        starts.push(end.ok_or_else(damaged)?);
    }
    let block = TaskBlock {
        starts,
        worker: read_numbers(input, labels, u32::from_le_bytes)?,
        label: read_numbers(input, labels, u16::from_le_bytes)?,
        gold: Vec::new(),
    };
    // At the end of the frame the checksum is looked at.
    if input.read(&mut [0]).map_err(|_| damaged())? != 0 {
        return Err(damaged());
    }
    Ok(Annotations::from_block(tasks, workers, classes, block, rows)?)
}

fn read_names(input: &mut impl Read, count: u64) -> Result<Names> {
    let bytes = u64::from_le_bytes(read_array(input)?);
    let mut end = 0usize;
    let mut ends = Vec::new();
    for length in read_numbers(input, count, u32::from_le_bytes)? {
        end = end.checked_add(length as usize).ok_or_else(damaged)?;
        ends.push(end);
    }
    let text = String::from_utf8(read_bytes(input, bytes)?).map_err(|_| damaged())?;
    Names::from_text(text, ends).ok_or_else(damaged)
}

fn read_numbers<T, const N: usize>(
    input: &mut impl Read,
    count: u64,
    number: fn([u8; N]) -> T,
) -> Result<Vec<T>> {
    let bytes = read_bytes(input, count * N as u64)?;
    let numbers = bytes.as_chunks().0.iter().map(|bytes| number(*bytes));
    Ok(numbers.collect())
}

fn read_bytes(input: &mut impl Read, count: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(count.min(RESERVED) as usize);
    input.take(count).read_to_end(&mut bytes).map_err(|_| damaged())?;
    match bytes.len() as u64 == count {
        true => Ok(bytes),
        false => Err(damaged()),
    }
}

fn read_array<const N: usize>(input: &mut impl Read) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes).map_err(|_| damaged())?;
    Ok(bytes)
}

fn damaged() -> crate::Error {
    let words = "the kept labels are damaged or cut short: get the whole file";
    ErrorKind::KeptLabels(words.into()).into()
}
