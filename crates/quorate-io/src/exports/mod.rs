//! Exports of annotation tools: one file for each tool, which says what is the task, the worker, the label
//! and the question in it.
//!
//! ```text
//! source --recognise--> table | export of a tool --(its file)--> Answers
//!     --> labels of one question, gold, what is left out
//! ```
//!
//! A reader goes through its file once, value by value, and hands what it finds to [`answers::Answers`],
//! which picks the question, counts what is left out and keeps the truths that are marked.

mod answers;
mod answers_json;
mod appen;
mod archive;
mod argilla;
mod consensus;
mod doccano;
mod files;
mod ground_truth;
mod json;
mod judges;
mod label_studio;
mod label_studio_min;
mod labelbox;
mod labelled;
mod members;
mod mturk;
mod mturk_review;
mod prodigy;
mod recognise;
mod toloka;
mod tool;
mod triples;
mod writing;

use std::io::Read;
use std::path::Path;

pub use answers::{ExportRead, WhyLeftOut};
pub(crate) use recognise::{Content, Recognised, recognise};
pub use tool::{Tool, WriteBack};
pub use writing::{ExportParts, write_back, write_export, write_wide};

use crate::error::{Error, Result};
use crate::formats::delimiter::Delimiter;
use crate::formats::{Compression, FileFormat, Format};
use crate::source::{Progress, Source};
use crate::tables::annotations::ReadOptions;
use answers::Answers;

/// Reads an export, label by label into `take`. `input` holds the bytes of a source that can be opened only
/// once.
pub(crate) fn read_export(
    tool: Tool,
    source: &Source,
    input: Option<Box<dyn Read>>,
    options: &ReadOptions,
    take: &mut dyn FnMut(&str, &str, &str) -> Result<()>,
    progress: Progress<'_>,
) -> Result<ExportRead> {
    let mut answers = Answers::new(tool, options, take);
    let read = match (source, input) {
        (_, Some(input)) => read_one(tool, input, Path::new("-"), &mut answers),
        (Source::Path(path), None) if path.is_dir() => read_folder(tool, path, &mut answers, progress),
        (Source::Path(path), None) if archive::is_zip(path) => read_archive(tool, path, &mut answers),
        (Source::Path(path), None) => {
            let input = source.open_text(Compression::of_path(path), progress)?;
            read_one(tool, input, path, &mut answers)
        }
        (_, None) => {
            let input = source.open_text(Compression::None, progress)?;
            read_one(tool, input, Path::new("-"), &mut answers)
        }
    };
    read.and_then(|()| answers.finish())
}

/// Reads one file. Its path tells who answered, or which task it is about, where the tool writes many.
fn read_one(tool: Tool, input: impl Read, path: &Path, answers: &mut Answers<'_>) -> Result<()> {
    let format = FileFormat::of_path(path).map_or(Format::Jsonl, |format| format.format);
    let delimiter = Delimiter::of_format(format);
    match (tool, delimiter) {
        (Tool::LabelStudio, _) => label_studio::read(input, answers),
        (Tool::LabelStudioMin, None) => read_min(input, answers),
        (Tool::LabelStudioMin, Some(delimiter)) => label_studio_min::read_table(input, delimiter, answers),
        (Tool::Prodigy, _) => prodigy::read(input, answers),
        (Tool::Argilla, _) => argilla::read(input, answers),
        (Tool::Doccano, None) => doccano::read_json(input, &files::stem(path)?, answers),
        (Tool::Doccano, Some(_)) => doccano::read_table(input, &files::stem(path)?, answers),
        (Tool::Mturk, _) => mturk::read(input, answers),
        (Tool::Toloka, _) => toloka::read(input, answers),
        (Tool::Appen, _) => appen::read(input, answers),
        (Tool::GroundTruth, _) => ground_truth::read(input, path, answers),
        (Tool::Judges, _) => judges::read(input, answers),
        (Tool::Labelbox, _) => labelbox::read(input, answers),
        (Tool::Triples, _) => triples::read(input, answers),
        (Tool::AnswersJson, _) => answers_json::read(input, answers),
    }
}

/// JSON or a table, where no name tells which: the first character does.
fn read_min(mut input: impl Read, answers: &mut Answers<'_>) -> Result<()> {
    let mut start = [0; 1];
    let count = input.read(&mut start)?;
    let whole = start[..count].chain(input);
    match start {
        [b'[' | b'{'] => label_studio_min::read_json(whole, answers),
        _ => label_studio_min::read_table(whole, Delimiter::Usual(b','), answers),
    }
}

fn read_folder(tool: Tool, folder: &Path, answers: &mut Answers<'_>, progress: Progress<'_>) -> Result<()> {
    let files = files::in_folder(folder)?;
    if files.is_empty() {
        return Err(Error::empty("the JSON or CSV files of an export in this folder"));
    }
    for file in files {
        let source = Source::from(file.as_path());
        source
            .open_text(Compression::of_path(&file), progress)
            .and_then(|input| read_one(tool, input, &file, answers))
            .map_err(|error| error.in_file(source.name()))?;
    }
    Ok(())
}

fn read_archive(tool: Tool, path: &Path, answers: &mut Answers<'_>) -> Result<()> {
    let (mut archive, entries) = files::in_archive(path)?;
    if entries.is_empty() {
        return Err(Error::empty(
            "the JSON or CSV files of an export in this zip file",
        ));
    }
    for entry in entries {
        let name = format!("{} ({})", path.display(), entry.name);
        archive
            .read(&entry)
            .and_then(|input| read_one(tool, input, Path::new(&entry.name), answers))
            .map_err(|error| error.in_file(name))?;
    }
    Ok(())
}
