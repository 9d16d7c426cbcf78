//! `quorate aggregate` beyond memory: labels on disk, passes over blocks of them.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use quorate::methods::{LabelBlocks, Method, STREAMED, StreamedFit, StreamedMethod, Values};
use quorate_io::{
    Compression, ModelFile, ResultSummary, Source, SpillOptions, SpilledLabels, Target, WorkerRow,
    spill_annotations, write_model, write_workers,
};
use serde_json::json;

use crate::args::RunArgs;
use crate::commands::fit_report::FitReport;
use crate::input::InputArgs;
use crate::printer::Printer;
use crate::progress::Bar;
use crate::session::Session;
use crate::text_table::plural;

/// Where labels go that do not fit into memory.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Beyond memory")]
pub struct SpillArgs {
    /// Keep the labels on disk in this folder, and go through them in blocks
    ///
    /// Happens by itself, in the output's folder (else the system's folder for temporary files), when a file would
    /// need more than --memory and the method can do it: auto (with four of its nine members), majority-vote, dawid-skene,
    /// one-coin, pooled-ds. The files take less room than the labels as CSV and are removed at the end; those of a run that was
    /// killed are removed by the next run in the same place.
    #[arg(long, value_name = "DIR")]
    spill: Option<PathBuf>,
}

/// What to write.
pub struct Outputs {
    /// The labels.
    pub labels: Target,
    /// Whether with the probability of every class.
    pub probabilities: bool,
    /// A table of the workers.
    pub workers: Option<Target>,
    /// The model.
    pub model: Option<Target>,
    /// Whether to print a summary as JSON.
    pub json: bool,
}

/// A run with labels on disk.
pub struct Spilling<'a> {
    input: &'a InputArgs,
    run: &'a RunArgs,
    place: PathBuf,
}

impl SpillArgs {
    /// Whether labels go to disk, and where: as asked for, or because they would not fit.
    pub fn plan<'a>(
        &self,
        input: &'a InputArgs,
        run: &'a RunArgs,
        method: &Method,
        output: Option<&Path>,
        printer: &mut Printer,
    ) -> Result<Option<Spilling<'a>>> {
        if let Some(place) = &self.spill {
            let place = place.clone();
            return Ok(Some(Spilling { input, run, place }));
        }
        let Some(needed) = memory_needed(input) else {
            return Ok(None);
        };
        if needed <= run.memory * GIB {
            return Ok(None);
        }
        if !StreamedMethod::exists(method.name) {
            printer.warning(format!(
                "the labels may need {:.1} GiB, above --memory {} GiB, and {} needs them all in memory; {} can keep them on \
                 disk",
                needed / GIB,
                run.memory,
                method.name,
                STREAMED.join(", ")
            ));
            return Ok(None);
        }
        let folder = output
            .and_then(Path::parent)
            .map(|folder| match folder.as_os_str().is_empty() {
                true => PathBuf::from("."),
                false => folder.to_path_buf(),
            });
        let place = folder.unwrap_or_else(std::env::temp_dir);
        printer.note(format!(
            "the labels may need {:.1} GiB, above --memory {} GiB: they are kept on disk in {} (--spill DIR for another \
             place)",
            needed / GIB,
            run.memory,
            place.display()
        ));
        Ok(Some(Spilling { input, run, place }))
    }
}

const GIB: f64 = (1u64 << 30) as f64;

/// Bytes of memory for a label while a file is read, and for what a method keeps: codes, names, posteriors.
const BYTES_A_ROW: f64 = 32.0;

/// Places of a file that are looked at, and bytes at each.
const SAMPLES: u64 = 16;
const SAMPLE: u64 = 1 << 14;

/// An estimate for a text file from its lines at some places; none for anything else.
fn memory_needed(input: &InputArgs) -> Option<f64> {
    let source = Source::from(input.labels.clone());
    let Source::Path(path) = &source else {
        return None;
    };
    let format = source.format(input.format.map(Into::into)).ok()?;
    let size = std::fs::metadata(path).ok().filter(|file| file.is_file())?.len();
    if !format.format.is_text() || format.compression != Compression::None {
        return None;
    }
    let mut file = File::open(path).ok()?;
    let (mut bytes, mut lines) = (0, 0);
    for sample in 0..SAMPLES {
        let mut text = Vec::new();
        file.seek(SeekFrom::Start(size / SAMPLES * sample)).ok()?;
        file.by_ref().take(SAMPLE).read_to_end(&mut text).ok()?;
        bytes += text.len();
        lines += text.iter().filter(|&&byte| byte == b'\n').count();
    }
    (bytes > 0).then(|| size as f64 / bytes as f64 * lines as f64 * BYTES_A_ROW)
}

impl Spilling<'_> {
    /// Reads to disk, fits, writes.
    pub fn run(
        &self,
        method: &'static Method,
        parameters: &[(String, String)],
        outputs: &Outputs,
        printer: &mut Printer,
    ) -> Result<()> {
        let streamed = StreamedMethod::new(method, parameters)?;
        if let Some(difference) = streamed.difference() {
            printer.note(difference);
        }
        let session = Session::start(self.run, printer.quiet());
        let mut spilled = self.spill(&session, printer)?;
        let left_out = spilled.left_out();
        self.input.report(spilled.rows(), left_out, printer);
        printer.detail(format!(
            "{:.1} GiB of labels on disk",
            spilled.bytes() as f64 / GIB
        ));
        let mut context = session.context(method.name, 0)?;
        let started = Instant::now();
        let fit = streamed.fit(&mut spilled, &mut context)?;
        let seconds = started.elapsed().as_secs_f64();
        let results = spilled.results(&fit, outputs.model.is_some(), &mut || {
            context.step("posteriors", 0, None)
        })?;
        drop(context);
        // Side files first: when the labels are there, everything is.
        let (spilled, summary) = (results.labels(), &results.summary);
        if let Some(target) = &outputs.workers {
            write_worker_table(target, spilled, &fit, summary)?;
        }
        if let Some(target) = &outputs.model {
            let values = Values::with(method.parameters, parameters)?;
            write_model(target, &self.model_file(method, &values, spilled, &fit, summary))?;
        }
        results.write(&outputs.labels, None, outputs.probabilities)?;
        report(method, spilled, &fit, summary, seconds, printer);
        if outputs.json {
            printer.json(&json!({
                "method": method.name,
                "tasks": spilled.task_count(),
                "workers": spilled.workers().len(),
                "classes": spilled.classes().len(),
                "labels": spilled.label_count(),
                "abstentions": spilled.rows().abstentions,
                "repeated_rows": spilled.rows().repeated,
                "unlabelled_tasks": summary.unlabelled_tasks,
                "tied_tasks": summary.tied_tasks,
                "changed_from_majority_vote": summary.changed,
                "expected_error": expected_error(spilled, summary),
                "iterations": fit.iterations,
                "converged": fit.converged,
                "objective": fit.trace.last(),
                "fit_seconds": seconds,
                "seed": self.run.seed,
                "spilled_bytes": spilled.bytes(),
            }))?;
        }
        Ok(())
    }

    fn model_file(
        &self,
        method: &Method,
        values: &Values,
        spilled: &SpilledLabels,
        fit: &StreamedFit,
        summary: &ResultSummary,
    ) -> ModelFile {
        let (workers, classes) = (spilled.workers(), spilled.classes());
        let labels = |worker: usize| summary.labels[worker];
        let file = ModelFile::of(workers, classes, labels, spilled.fingerprint(), &fit.model);
        let parameters = values
            .iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let file = file.fitted_by(method.name, parameters, self.run.seed);
        match &summary.counts {
            Some(counts) => file.resting_on(counts, None),
            None => file,
        }
    }

    fn spill(&self, session: &Session, printer: &Printer) -> Result<SpilledLabels> {
        let source = Source::from(self.input.labels.clone());
        let mut bar = Bar::new(&source.name(), printer.quiet());
        let options = SpillOptions {
            place: &self.place,
            memory: (self.run.memory * GIB) as u64,
        };
        let cancelled = || session.is_cancelled();
        Ok(spill_annotations(
            &source,
            &self.input.options()?,
            &options,
            &cancelled,
            &mut |done, total| {
                if let Some(bar) = &mut bar {
                    bar.show("reading", done, total);
                }
            },
        )?)
    }
}

fn report(
    method: &Method,
    spilled: &SpilledLabels,
    fit: &StreamedFit,
    summary: &ResultSummary,
    seconds: f64,
    printer: &mut Printer,
) {
    if summary.unlabelled_tasks > 0 {
        printer.warning(format!(
            "{} without any label: the label written is only the most common class, the confidence its share",
            plural(summary.unlabelled_tasks as usize, "task")
        ));
    }
    let report = FitReport {
        method,
        size: format!(
            "{}, {}, {}, {}, on disk",
            plural(spilled.task_count() as usize, "task"),
            plural(spilled.workers().len(), "worker"),
            plural(spilled.classes().len(), "class"),
            plural(spilled.label_count() as usize, "label")
        ),
        seconds,
        iterations: fit.iterations,
        converged: fit.converged,
        changed: summary.changed as usize,
        expected_error: expected_error(spilled, summary),
        tied_tasks: summary.tied_tasks as usize,
    };
    report.warn(printer);
    report.sum_up(printer);
}

/// Share of the labels that are wrong if the confidence is right.
fn expected_error(spilled: &SpilledLabels, summary: &ResultSummary) -> f64 {
    summary.doubt / spilled.task_count().max(1) as f64
}

fn write_worker_table(
    target: &Target,
    spilled: &SpilledLabels,
    fit: &StreamedFit,
    summary: &ResultSummary,
) -> Result<()> {
    let row = |(worker, id)| {
        let given = summary.labels[worker];
        WorkerRow {
            worker: id,
            labels: given,
            accuracy: Some(fit.model.accuracy(worker)),
            agreement: (given > 0).then(|| summary.agreed[worker] as f64 / given as f64),
            confusion: Some(fit.model.confusion(worker)),
        }
    };
    let rows: Vec<WorkerRow<'_>> = spilled.workers().iter().enumerate().map(row).collect();
    write_workers(target, None, spilled.classes(), &rows)?;
    Ok(())
}
