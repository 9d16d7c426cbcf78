//! Where results go: a file that appears whole or not at all, standard output, or memory.
//!
//! A file is written under another name beside its place ([`partial`]), flushed to disk and renamed; if
//! anything goes wrong before that, the other file is removed and what stood in the place is untouched. The
//! files of one run appear together ([`write_together`]): all are on disk under other names before the first
//! is renamed. [`place`] says where a path leads.

pub(crate) mod live;
mod partial;
mod place;
mod terminal;
mod together;

use std::fs::OpenOptions;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, ErrorKind, Result};
#[cfg(feature = "columnar")]
use crate::formats::MemorySink;
use crate::formats::{FileFormat, Format};
pub use live::abandon_outputs;
use partial::Partial;
pub(crate) use partial::draw_letters;
pub use place::Place;
use terminal::SpeltOut;
pub(crate) use together::neutralises_formulas;
pub(crate) use together::settle_own_file;
use together::{add, cancellation, place_of};
pub use together::{
    expect_unchanged, make_output_folder, neutralise_formulas, settle_output, stop_outputs_when,
    write_together,
};

/// A file, standard output or memory.
#[derive(Debug, Clone)]
pub enum Target {
    /// A file; its extension tells the format.
    Path(PathBuf),
    /// Standard output; CSV unless the caller says otherwise.
    Stdout,
    /// Memory, for tables.
    #[cfg(feature = "columnar")]
    Memory(MemorySink),
}

impl From<PathBuf> for Target {
    /// `-` is standard output.
    fn from(path: PathBuf) -> Self {
        if path.as_os_str() == "-" {
            Self::Stdout
        } else {
            Self::Path(path)
        }
    }
}

impl From<&Path> for Target {
    fn from(path: &Path) -> Self {
        path.to_path_buf().into()
    }
}

impl From<&str> for Target {
    fn from(path: &str) -> Self {
        PathBuf::from(path).into()
    }
}

impl From<Option<PathBuf>> for Target {
    /// None is standard output.
    fn from(path: Option<PathBuf>) -> Self {
        path.map_or(Self::Stdout, Self::from)
    }
}

impl Target {
    /// The name in messages.
    pub fn name(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Stdout => "standard output".into(),
            #[cfg(feature = "columnar")]
            Self::Memory(_) => "memory".into(),
        }
    }

    /// The format: the one given, else told by the extension, else CSV for standard output and devices.
    pub fn format(&self, given: Option<FileFormat>) -> Result<FileFormat> {
        match (given, self) {
            (Some(format), _) => Ok(format),
            // A device or a pipe is as good as standard output.
            (None, Self::Path(path)) if Place::of(path).is_stream() => Ok(Format::Csv.into()),
            (None, Self::Path(path)) => FileFormat::of_path(path),
            (None, Self::Stdout) => Ok(Format::Csv.into()),
            #[cfg(feature = "columnar")]
            (None, Self::Memory(_)) => Ok(Format::Arrow.into()),
        }
    }
}

/// Lets `write` fill a file that appears only if all of it was written. Standard output and devices are
/// written as they are. Errors carry the target's name.
pub fn write_whole(target: &Target, write: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>) -> Result<()> {
    let written = match target {
        Target::Stdout => fill_stream(io::stdout(), write),
        Target::Path(path) => write_path(path, write),
        #[cfg(feature = "columnar")]
        Target::Memory(_) => {
            let words = "only tables can be written to memory; give a path";
            Err(Error::syntax(words))
        }
    };
    written.map_err(|error| error.in_file(target.name()))
}

fn write_path(path: &Path, write: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>) -> Result<()> {
    let place = match place_of(path) {
        // Somebody may have opened it to append to a file, and given us the descriptor's name.
        Place::Stream(path) => {
            return fill_stream(OpenOptions::new().append(true).open(path)?, write);
        }
        Place::File(place) => place,
    };
    // On any error below the partial file is removed when it goes out of scope.
    let partial = Partial::new(&place)?;
    fill(&partial.file, write)?;
    partial.finish()?;
    add(path.display().to_string(), partial)
}

/// Fills standard output or a device. On a terminal, control characters are spelt out; elsewhere data stay as
/// they are.
fn fill_stream<W: Write + Send + IsTerminal>(
    output: W,
    write: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>,
) -> Result<()> {
    if output.is_terminal() {
        fill(SpeltOut::new(output), write).map(drop)
    } else {
        fill(output, write).map(drop)
    }
}

fn fill<W: Write + Send>(output: W, write: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>) -> Result<W> {
    let mut output = Remembering {
        output,
        failure: None,
        cancelled: cancellation(),
    };
    let written = {
        let mut buffered = BufWriter::with_capacity(1 << 16, &mut output);
        let written = write(&mut buffered).and_then(|()| Ok(buffered.flush()?));
        // What is left in the buffer after an error is not worth writing.
        let _ = buffered.into_parts();
        written
    };
    if output.is_cancelled() {
        return Err(quorate::Error::Cancelled.into());
    }
    match (written, output.failure) {
        (Err(_), Some(failure)) => Err(Error::new(ErrorKind::Io(failure))),
        (Err(error), None) => Err(error),
        (Ok(()), _) => Ok(output.output),
    }
}

/// Keeps the first input or output error: some formats wrap it beyond recognition on the way up. Ends when
/// the run is stopped.
struct Remembering<W> {
    output: W,
    failure: Option<io::Error>,
    cancelled: Option<Arc<AtomicBool>>,
}

impl<W> Remembering<W> {
    fn is_cancelled(&self) -> bool {
        self.cancelled
            .as_ref()
            .is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    fn note<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        result.inspect_err(|error| {
            let copy = match error.raw_os_error() {
                Some(code) => io::Error::from_raw_os_error(code),
                None => io::Error::new(error.kind(), error.to_string()),
            };
            if error.kind() != io::ErrorKind::Interrupted {
                self.failure.get_or_insert(copy);
            }
        })
    }
}

impl<W: Write> Write for Remembering<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        if self.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        let result = self.output.write(buffer);
        self.note(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.output.flush();
        self.note(result)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        let target = Target::from(path.as_path());
        write_whole(&target, |output| Ok(output.write_all(b"old")?)).unwrap();
        let error = write_whole(&target, |output| {
            output.write_all(&[b'x'; 200_000])?;
            Err(Error::syntax("no"))
        })
        .unwrap_err();
        assert_eq!(error.file(), Some(target.name().as_str()));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["out.csv"]);
        write_whole(&target, |output| Ok(output.write_all(b"new")?)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["out.csv"]);
    }

    #[test]
    fn files_of_one_run_appear_together_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| {
            let target = Target::from(folder.path().join(name));
            write_whole(&target, |output| Ok(output.write_all(b"x")?))
        };
        let failed = write_together(|| {
            write("a.csv")?;
            assert!(!folder.path().join("a.csv").exists());
            write("no/b.csv")
        });
        assert!(failed.is_err());
        assert_eq!(names(folder.path()), Vec::<String>::new());
        write_together(|| {
            write("a.csv")?;
            write("b.csv")
        })
        .unwrap();
        assert_eq!(names(folder.path()), ["a.csv", "b.csv"]);
        // Afterwards files appear at once again.
        write("c.csv").unwrap();
        assert_eq!(names(folder.path()), ["a.csv", "b.csv", "c.csv"]);
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error_with_the_name() {
        let folder = tempfile::tempdir().unwrap();
        let target = Target::from(folder.path().join("no/out.csv"));
        let error = write_whole(&target, |_| Ok(())).unwrap_err();
        assert_eq!(error.io_kind(), Some(io::ErrorKind::NotFound));
        assert!(error.to_string().starts_with(&target.name()));
        let error = write_whole(&folder.path().into(), |_| Ok(())).unwrap_err();
        assert_eq!(error.io_kind(), Some(io::ErrorKind::IsADirectory));
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_links_and_permissions_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real.csv"), folder.path().join("link.csv"));
        fs::write(&real, "old").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write_whole(&link.as_path().into(), |output| Ok(output.write_all(b"new")?)).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(write_whole(&"/dev/null".into(), |output| Ok(output.write_all(b"x")?)).is_ok());
    }

    #[test]
    fn the_first_output_error_is_the_one_reported() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let wrapped = fill(Closed, |output| {
            output
                .write_all(&[0; 1 << 20])
                .map_err(|error| Error::syntax(error.to_string()))
        });
        assert!(wrapped.err().unwrap().is_broken_pipe());
        let on_flush = fill(Closed, |output| Ok(output.write_all(b"x")?));
        assert!(on_flush.err().unwrap().is_broken_pipe());
    }
}
