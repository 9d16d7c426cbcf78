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
//! Damage is found by the checksum, other labels by their fingerprint. Lengths are believed only as far as
//! there are bytes: memory grows with what was read.
//!
//! The fingerprint is in the file's name, too, and the model names its file. So the labels of a new model
//! never take the place of those of the old one: the rename of the model alone decides which are in use,
//! whenever a run is cut short. The old file is removed afterwards.

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};

use quorate::annotations::{Annotations, Duplicates, Names, RowCounts};
use quorate::internal::blocks::TaskBlock;

use super::model::ModelFile;
use crate::binary::{read_array, read_bytes, read_numbers, read_u32, read_u64, write_numbers};
use crate::error::{ErrorKind, Result};
use crate::target::{Target, settle_own_file, write_whole};

const MAGIC: &[u8; 8] = b"quorate\0";
const VERSION: u32 = 1;

/// A fast level: the file is read and written with every update.
const LEVEL: i32 = 1;

/// What the names of the labels' files of a model start with: those of `model.json` with `model.`. Models in
/// one folder whose names differ share none.
fn name_start(model: &Path) -> String {
    let is_json = model.extension().is_some_and(|extension| extension == "json");
    let name = if is_json {
        model.file_stem()
    } else {
        model.file_name()
    };
    format!("{}.", name.unwrap_or_default().to_string_lossy())
}

/// What they end with.
const NAME_END: &str = "labels.bin";

/// Whether a file is one for labels of a model whose files start so: `model.0123456789abcdef.labels.bin`.
fn is_labels_file(name: &str, start: &str) -> bool {
    let middle = name
        .strip_prefix(start)
        .and_then(|rest| rest.strip_suffix(NAME_END));
    let digits = middle.and_then(|middle| middle.strip_suffix('.'));
    digits.is_some_and(|digits| digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The name that the labels' file had before it carried the fingerprint, if it is there.
fn plainly_named(path: &Path, start: &str) -> Option<String> {
    let name = format!("{start}{NAME_END}");
    let mut found = [0; MAGIC.len()];
    let mut file = File::open(path.with_file_name(&name)).ok()?;
    file.read_exact(&mut found).ok()?;
    (found == *MAGIC).then_some(name)
}

/// Writes the labels beside the model's place, and notes their file in the model. The labels that an earlier
/// model at this place rested on are removed once both files have their names, where this is part of
/// [`write_together`](crate::write_together).
///
/// # Panics
/// If the model has no fingerprint.
pub fn write_kept_labels(path: &Path, annotations: &Annotations, model: &mut ModelFile) -> Result<()> {
    let fingerprint = fingerprint(model).expect("a model that was just made has a fingerprint");
    let start = name_start(path);
    let name = format!("{start}{fingerprint:016x}.{NAME_END}");
    let place = path.with_file_name(&name);
    let plain = plainly_named(path, &start);
    settle_own_file(&place, move |name| {
        is_labels_file(name, &start) || plain.as_deref() == Some(name)
    });
    write_whole(&Target::from(place), |output| {
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
    let of_model = |error: crate::Error| error.in_file(path.display().to_string());
    let Some(name) = &model.labels_file else {
        let words = "the labels that this model rests on were not kept";
        return wrong(words.into()).map_err(of_model);
    };
    let place: PathBuf = path.with_file_name(name);
    if Path::new(name)
        .file_name()
        .is_none_or(|last| last != name.as_str())
    {
        return wrong(format!(
            "found {name:?} as the file of the labels, expected the name of a file in the same folder"
        ))
        .map_err(of_model);
    }
    let read = || {
        let file = match File::open(&place) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return wrong("the labels that this model rests on are not there".into());
            }
            file => file?,
        };
        let mut input = BufReader::with_capacity(1 << 17, file);
        check_start(&mut input, model).map_err(cut_short)?;
        let mut unpacked = zstd::Decoder::with_buffer(input)?;
        let labels = read_table(&mut unpacked).map_err(cut_short)?;
        // The checksum says that the file is as it was written, not that it holds what it says.
        if Some(labels.fingerprint()) == fingerprint(model) {
            Ok(labels)
        } else {
            wrong("found other labels than those that this model was fitted on".into())
        }
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
    let version = read_u32(input)?;
    if version != VERSION {
        return wrong(format!("found format version {version}, expected {VERSION}"));
    }
    if Some(read_u64(input)?) != fingerprint(model) {
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
    write_numbers(output, labels.iter().map(|label| label.to_le_bytes()))?;
    Ok(())
}

/// Numbers in pieces: packing them one by one takes longer than packing.
fn read_table(input: &mut impl Read) -> Result<Annotations> {
    let rows = RowCounts {
        rows: read_u64(input)?,
        abstentions: read_u64(input)?,
        repeated: 0,
        duplicates: Duplicates::Keep,
    };
    let mut counts = Vec::new();
    read_numbers(input, 4, u32::from_le_bytes, &mut counts)?;
    let mut names = |which: usize| read_names(input, counts[which] as usize);
    let (tasks, workers, classes) = (names(0)?, names(1)?, names(2)?);
    let (mut lengths, mut block) = (Vec::new(), TaskBlock::default());
    read_numbers(input, tasks.len(), u32::from_le_bytes, &mut lengths)?;
    block.starts.push(0);
    for length in lengths {
        let end = block.starts[block.starts.len() - 1].checked_add(length);
        block.starts.push(end.ok_or_else(damaged)?);
    }
    let labels = counts[3] as usize;
    read_numbers(input, labels, u32::from_le_bytes, &mut block.worker)?;
    read_numbers(input, labels, u16::from_le_bytes, &mut block.label)?;
    // At the end of the frame the checksum is looked at.
    let mut more = Vec::new();
    input.take(1).read_to_end(&mut more)?;
    if !more.is_empty() {
        return Err(damaged());
    }
    Ok(Annotations::from_block(tasks, workers, classes, block, rows)?)
}

fn read_names(input: &mut impl Read, count: usize) -> Result<Names> {
    let (bytes, mut lengths, mut text) = (read_u64(input)?, Vec::new(), Vec::new());
    read_numbers(input, count, u32::from_le_bytes, &mut lengths)?;
    read_bytes(input, bytes, &mut text)?;
    let mut end = 0usize;
    let mut ends = Vec::new();
    for length in lengths {
        end = end.checked_add(length as usize).ok_or_else(damaged)?;
        ends.push(end);
    }
    let text = String::from_utf8(text).map_err(|_| damaged())?;
    Names::from_text(text, ends).ok_or_else(damaged)
}

/// What ends before its end, or cannot be unpacked, is damaged.
fn cut_short(error: crate::Error) -> crate::Error {
    match error.io_kind() {
        Some(_) => damaged(),
        None => error,
    }
}

fn damaged() -> crate::Error {
    let words = "the kept labels are damaged or cut short: get the whole file";
    ErrorKind::KeptLabels(words.into()).into()
}
