//! When labels go to disk, and where.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use quorate::internal::format_bytes;
use quorate::methods::Method;
use quorate_io::{Compression, Source, SpillOptions, SpilledLabels, spill_annotations};

use crate::args::RunArgs;
use crate::catalog::streaming_names;
use crate::input::{InputArgs, with_bar};
use crate::input_format::InputFormat;
use crate::printer::Printer;
use crate::reading::settle;
use crate::session::Session;

/// Where labels go that do not fit into memory.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Beyond memory")]
pub struct SpillArgs {
    /// Keep the labels on disk in this folder, and go through them in blocks
    ///
    /// Happens by itself, in the output's folder (else the system's folder for temporary files), when a file
    /// would need more than --memory and the method can do it (`quorate methods --json`: streams). The files
    /// take less room than the labels as CSV and are removed at the end; those of a run that was killed are
    /// removed by the next run in the same place.
    #[arg(long, value_name = "DIR")]
    spill: Option<PathBuf>,
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
        if needed <= run.memory.bytes() as f64 {
            return Ok(None);
        }
        let why = format!(
            "the labels may need {}, above {} GiB",
            format_bytes(needed as u64),
            run.memory.option()
        );
        if !method.streams {
            printer.warning(format!(
                "{why}, and {} needs them all in memory; {} can keep them on disk",
                method.name,
                streaming_names()
            ));
            return Ok(None);
        }
        Ok(Some(Spilling::on(input, run, output, &why, printer)))
    }

    /// Labels go to disk after all, because memory was too small for them; none where they cannot be read a
    /// second time.
    pub fn after_all<'a>(
        &self,
        input: &'a InputArgs,
        run: &'a RunArgs,
        output: Option<&Path>,
        printer: &mut Printer,
    ) -> Option<Spilling<'a>> {
        let why = format!("the labels need more than {} GiB", run.memory.option());
        input
            .labels
            .is_file()
            .then(|| Spilling::on(input, run, output, &why, printer))
    }
}

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
    let format = source.format(input.format.and_then(InputFormat::table)).ok()?;
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

impl<'a> Spilling<'a> {
    /// On disk beside the output, and says why.
    fn on(
        input: &'a InputArgs,
        run: &'a RunArgs,
        output: Option<&Path>,
        why: &str,
        printer: &mut Printer,
    ) -> Self {
        let folder = output.and_then(Path::parent).map(|folder| {
            if folder.as_os_str().is_empty() {
                PathBuf::from(".")
            } else {
                folder.to_path_buf()
            }
        });
        let place = folder.unwrap_or_else(std::env::temp_dir);
        printer.note(format!(
            "{why}: they are kept on disk in {} (--spill DIR for another place)",
            place.display()
        ));
        Self { input, run, place }
    }

    /// Reads the labels to disk, and says what was skipped or settled on the way.
    pub fn read(&self, session: &Session, printer: &mut Printer) -> Result<SpilledLabels> {
        let (source, options) = (Source::from(self.input.labels.clone()), self.input.options()?);
        let place = SpillOptions {
            place: &self.place,
            memory: self.run.memory.bytes(),
        };
        let cancelled = || session.is_cancelled();
        let spilled = with_bar(&source, printer, |progress| {
            spill_annotations(&source, &options, &place, &cancelled, progress)
        })?;
        let (layout, left_out) = (spilled.layout().clone(), spilled.left_out());
        let bytes = spilled.bytes();
        let spilled = settle(
            spilled,
            &layout,
            &left_out,
            (&options, self.input.normalize),
            printer,
        )?;
        printer.detail(format!("{} of labels on disk", format_bytes(bytes)));
        Ok(spilled)
    }
}
