//! `quorate convert`: labels from any layout to any other, and the consensus back to the tool that the
//! answers are from.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use quorate::Annotations;
use quorate::methods::DEFAULT_METHOD;
use quorate_io::{
    ExportParts, ExportRead, FileFormat, Source, Target, TaskLabels, Tool, WriteBack, write_annotations,
    write_back, write_export, write_wide,
};

use crate::args::RunArgs;
use crate::catalog::find;
use crate::files::{Content, Files};
use crate::input::InputArgs;
use crate::knowledge::read_known;
use crate::numbers::share;
use crate::printer::Printer;
use crate::session::Session;
use crate::spreadsheet::SpreadsheetArgs;
use crate::text_table::plural;

/// What to convert, and into what.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    quorate convert export.json labels.csv\n  \
    quorate convert labels.csv wide.csv --to wide\n  \
    quorate convert batch.csv labels.jsonl --to judges\n  \
    quorate convert export.json predictions.json --to label-studio-predictions --consensus labels.csv\n  \
    quorate convert batch.csv upload.csv --to mturk-review\n\n\
    Without --to the output is a table with columns task, worker, label. The forms that carry a consensus \
    (label-studio-predictions, prodigy-review, argilla-suggestions, mturk-review, ground-truth-reply, \
    ground-truth-manifest) are the input again with the consensus in it: that of --consensus, else the one that \
    the method gives.")]
pub struct ConvertArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Where it goes; the extension tells the format of a table. `-` is standard output
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// What to write
    #[arg(long, value_name = "FORMAT", value_parser = parser(), help_heading = "Output")]
    to: Option<Form>,
    /// Labels with their confidence, as `quorate aggregate` writes them, for the forms that carry a consensus
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    consensus: Option<PathBuf>,
    /// Method for the consensus, where --consensus does not give it
    #[arg(short, long, default_value = DEFAULT_METHOD, help_heading = "Output")]
    method: String,
    /// mturk-review: reject an answer that is not the consensus only where the consensus is surer than this
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, value_parser = share, help_heading = "Output")]
    reject_above: f64,
    #[command(flatten)]
    spreadsheet: SpreadsheetArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A table with a row for each label.
    Long(Option<FileFormat>),
    /// A table with a column for each worker.
    Wide,
    /// The layout of a tool.
    Export(Tool),
    /// The input with the consensus in it.
    Back(WriteBack),
}

const WIDE: &str = "wide";

fn parser() -> impl TypedValueParser<Value = Form> {
    let tables = ["csv", "tsv", "jsonl", "json", "parquet", "arrow"];
    let tables = tables.map(|name| PossibleValue::new(name).help("a table with columns task, worker, label"));
    let wide = PossibleValue::new(WIDE).help("a table with a row for each task and a column for each worker");
    let tools = Tool::ALL.map(|tool| PossibleValue::new(tool.name()).help(tool.title()));
    let back = WriteBack::ALL.map(|form| PossibleValue::new(form.name()).help(form.title()));
    let names = tables.into_iter().chain([wide]).chain(tools).chain(back);
    PossibleValuesParser::new(names).map(|name| {
        let (tool, back) = (name.parse().ok(), name.parse().ok());
        match name.as_str() {
            WIDE => Form::Wide,
            name => tool
                .map(Form::Export)
                .or(back.map(Form::Back))
                .unwrap_or_else(|| Form::Long(name.parse().ok())),
        }
    })
}

/// Reads and writes.
pub fn run(args: &ConvertArgs, printer: &mut Printer) -> Result<()> {
    args.run.apply_limits();
    args.spreadsheet.apply();
    let form = args.to.unwrap_or(Form::Long(None));
    let is_table = matches!(form, Form::Long(None) | Form::Wide);
    let content = if is_table { Content::Table } else { Content::Other };
    args.input
        .files(Files::default())
        .reads("--consensus", args.consensus.as_ref())
        .writes("OUT", Some(&args.output), content)
        .check(false)?;
    if !matches!(form, Form::Back(_)) && args.consensus.is_some() {
        bail!("--consensus is for the forms that carry one, such as --to label-studio-predictions");
    }
    let (annotations, export) = args.input.read_with_export(printer)?;
    let target = Target::from(args.output.clone());
    match form {
        Form::Long(format) => write_annotations(&target, format, &annotations)?,
        Form::Wide => write_wide(&target, &annotations)?,
        Form::Export(tool) => {
            if tool == Tool::Doccano && args.output.extension().is_none_or(|extension| extension != "zip") {
                bail!("doccano has a file for each worker: let the name of the output end in .zip");
            }
            let parts = ExportParts {
                question: export.as_ref().and_then(|export| export.question.as_deref()),
                gold: export.as_ref().map_or(&[], |export| &export.gold),
            };
            write_export(&target, tool, &annotations, parts)?;
        }
        Form::Back(back) => return args.write_back(back, &annotations, export.as_ref(), &target, printer),
    }
    printer.note(format!(
        "written: {} of {} on {}",
        plural(annotations.label_count(), "label"),
        plural(annotations.worker_count(), "worker"),
        plural(annotations.task_count(), "task")
    ));
    Ok(())
}

impl ConvertArgs {
    fn write_back(
        &self,
        form: WriteBack,
        annotations: &Annotations,
        export: Option<&ExportRead>,
        target: &Target,
        printer: &mut Printer,
    ) -> Result<()> {
        let Some(export) = export.filter(|export| export.tool == form.tool()) else {
            bail!(
                "--to {} writes {}, and needs it as the input: {}",
                form.name(),
                form.title(),
                form.tool().title()
            );
        };
        let mut consensus = match &self.consensus {
            Some(path) => read_known("--consensus", path, Default::default(), None, printer)?,
            None => self.aggregate(annotations, printer)?,
        };
        // Classes have numbers in some forms: the same ones whether a class won a task or not.
        annotations.classes().iter().for_each(|class| {
            consensus.classes.intern(class);
        });
        let question = export.question.as_deref().unwrap_or("label");
        let source = Source::from(self.input.labels.clone());
        let without = write_back(target, form, &source, question, &consensus, self.reject_above)?;
        if without > 0 {
            printer.warning(format!(
                "{} without a consensus: written without one",
                plural(without as usize, "task")
            ));
        }
        printer.note(format!("written: {}", form.title()));
        Ok(())
    }

    /// The consensus of the chosen method.
    fn aggregate(&self, annotations: &Annotations, printer: &mut Printer) -> Result<TaskLabels> {
        let method = find(&self.method)?;
        let session = Session::start(&self.run, printer.quiet());
        let fit = method
            .with_parameters(&[])?
            .fit(annotations, &mut session.context(method.name, 0)?)?;
        printer.note(format!(
            "consensus of {} (--consensus FILE for another)",
            method.name
        ));
        let labels: Vec<usize> = (0..annotations.task_count())
            .map(|n| fit.consensus.label(n))
            .collect();
        let confidence = labels
            .iter()
            .enumerate()
            .map(|(n, &label)| fit.consensus.row(n)[label]);
        Ok(TaskLabels {
            tasks: annotations.tasks().clone(),
            classes: annotations.classes().clone(),
            confidence: Some(confidence.collect()),
            labels,
            ..TaskLabels::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use quorate_io::Format;

    use super::*;

    #[test]
    fn a_table_is_the_default_and_names_are_forms() {
        let command = clap::Command::new("x").arg(clap::Arg::new("to").value_parser(parser()));
        let form = |name: &str| {
            let matches = command.clone().try_get_matches_from(["x", name]).unwrap();
            *matches.get_one::<Form>("to").unwrap()
        };
        assert_eq!(form("wide"), Form::Wide);
        assert_eq!(form("csv"), Form::Long(Some(Format::Csv.into())));
        assert_eq!(form("doccano"), Form::Export(Tool::Doccano));
        assert_eq!(form("mturk-review"), Form::Back(WriteBack::MturkReview));
    }
}
