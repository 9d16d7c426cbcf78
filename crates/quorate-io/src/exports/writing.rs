//! Labels into the layout of any tool, and the consensus back into the file that the answers are from.

use std::io::{Read, Write};

use quorate::Annotations;

use super::consensus::WrittenConsensus;
use super::labelled::Labelled;
use super::{
    Tool, WriteBack, answers_json, appen, argilla, doccano, ground_truth, judges, label_studio,
    label_studio_min, labelbox, mturk, mturk_review, prodigy, toloka, triples,
};
use crate::error::{Error, Result};
use crate::formats::{
    Cell, ColumnKind, Compression, Format, RowSource, write_packed, write_rows, write_table,
};
use crate::source::Source;
use crate::tables::TaskLabels;
use crate::target::Target;

/// What goes into the file of a tool besides the labels.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExportParts<'a> {
    /// The name of the question; `label` if there is none.
    pub question: Option<&'a str>,
    /// Tasks whose truth is known, with that truth: for tools that have a place for it.
    pub gold: &'a [(String, String)],
}

/// Writes labels in the layout of a tool, whole or not at all.
pub fn write_export(
    target: &Target,
    tool: Tool,
    annotations: &Annotations,
    parts: ExportParts<'_>,
) -> Result<()> {
    let labelled = &Labelled::new(annotations, parts.question, parts.gold);
    let format = target.format(None).ok().map(|format| format.format);
    let table = |usual: Format, rows: &dyn RowSource| {
        let named = format.filter(|format| matches!(format, Format::Csv | Format::Tsv));
        let format = crate::FileFormat {
            format: named.unwrap_or(usual),
            compression: packing(target),
        };
        write_table(target, Some(format), rows)
    };
    let json = |write: &dyn Fn(&mut dyn Write) -> Result<()>| {
        write_packed(target, packing(target), |output| write(output))
    };
    match tool {
        Tool::LabelStudio => json(&|output| label_studio::write(output, labelled)),
        Tool::LabelStudioMin if matches!(format, Some(Format::Csv | Format::Tsv)) => {
            table(Format::Csv, &label_studio_min::rows(labelled))
        }
        Tool::LabelStudioMin => json(&|output| label_studio_min::write_json(output, labelled)),
        Tool::Prodigy => json(&|output| prodigy::write(output, labelled)),
        Tool::Argilla => json(&|output| argilla::write(output, format != Some(Format::Jsonl), labelled)),
        Tool::Doccano => json(&|output| doccano::write(output, labelled)),
        Tool::Mturk => table(Format::Csv, &mturk::rows(labelled)),
        Tool::Toloka => table(Format::Tsv, &toloka::rows(labelled)),
        Tool::Appen => table(Format::Csv, &appen::rows(labelled)),
        Tool::GroundTruth => json(&|output| ground_truth::write(output, labelled)),
        Tool::Judges => json(&|output| judges::write(output, labelled)),
        Tool::Labelbox => json(&|output| labelbox::write(output, labelled)),
        Tool::Triples => json(&|output| triples::write(output, labelled)),
        Tool::AnswersJson => json(&|output| answers_json::write(output, labelled)),
    }
}

/// Writes labels as a table with a row for each task and a column for each worker, whole or not at all. The
/// format is told by the extension. Workers whose names would not be read back are refused.
pub fn write_wide(target: &Target, annotations: &Annotations) -> Result<()> {
    let mut names = annotations.workers().iter();
    if let Some(worker) = names.find(|name| name.trim() != *name || *name == "task") {
        let problem = format!(
            "the worker {worker:?} cannot be the name of a column: blanks at its ends, or the name of the tasks' \
             column, would not be read back; rename the worker, or write a row for each label"
        );
        return Err(Error::syntax(problem));
    }
    let workers = annotations
        .workers()
        .iter()
        .map(|name| (name, ColumnKind::OptionalText));
    let columns = [("task", ColumnKind::Text)].into_iter().chain(workers);
    write_rows(target, columns, |each| {
        annotations.tasks().iter().enumerate().try_for_each(|(n, task)| {
            let mut cells = vec![Cell::Missing; annotations.worker_count() + 1];
            cells[0] = Cell::Text(task);
            for (m, x) in annotations.labels_of_task(n) {
                let cell = Cell::Text(annotations.classes().get(x));
                if std::mem::replace(&mut cells[m + 1], cell) != Cell::Missing {
                    let worker = annotations.workers().get(m);
                    let problem = format!(
                        "{worker:?} answered task {task:?} more than once, and a wide table has one cell for it; keep \
                         one answer"
                    );
                    return Err(Error::syntax(problem));
                }
            }
            each(&cells)
        })
    })
}

fn packing(target: &Target) -> Compression {
    match target {
        Target::Path(path) => Compression::of_path(path),
        _ => Compression::None,
    }
}

/// Writes the export of a tool again, whole or not at all, with the consensus in it. `reject_above`: how sure
/// the consensus has to be for a Mechanical Turk assignment with another answer to be rejected. Returns how
/// many tasks have no consensus.
pub fn write_back(
    target: &Target,
    form: WriteBack,
    source: &Source,
    question: &str,
    labels: &TaskLabels,
    reject_above: f64,
) -> Result<u64> {
    let path = match source {
        Source::Path(path) if path.is_file() => path,
        _ => {
            let problem =
                "expected one file, which is read a second time; found a folder, a pipe or standard input";
            return Err(Error::syntax(problem).in_file(source.name()));
        }
    };
    let consensus = &WrittenConsensus::new(labels, question);
    let as_array = target
        .format(None)
        .is_ok_and(|format| format.format != Format::Jsonl);
    let mut without = 0;
    write_packed(target, packing(target), |output| {
        let mut progress = |_: u64, _: Option<u64>| {};
        let input: Box<dyn Read + '_> = source.open_text(Compression::of_path(path), &mut progress)?;
        without = match form {
            WriteBack::LabelStudioPredictions => label_studio::write_predictions(input, output, consensus),
            WriteBack::ProdigyReview => prodigy::write_review(input, output, consensus),
            WriteBack::ArgillaSuggestions => argilla::write_suggestions(input, output, as_array, consensus),
            WriteBack::MturkReview => mturk_review::write(input, output, consensus, reject_above),
            WriteBack::GroundTruthReply => ground_truth::write_reply(input, output, consensus),
            WriteBack::GroundTruthManifest => ground_truth::write_manifest(input, output, consensus),
        }
        .map_err(|error| error.in_file(source.name()))?;
        Ok(())
    })?;
    Ok(without)
}
