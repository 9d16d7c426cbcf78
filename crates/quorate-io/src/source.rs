//! Where a table comes from, and its bytes: opened, counted for progress, unpacked.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
#[cfg(feature = "columnar")]
use crate::formats::MemoryTable;
use crate::formats::{Compression, FileFormat, Format};

/// A file, standard input or a table in memory.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// A file; its extension tells the format.
    Path(PathBuf),
    /// Standard input; CSV unless the caller says otherwise.
    Stdin,
    /// A table in memory.
    #[cfg(feature = "columnar")]
    Memory(MemoryTable),
}

/// Called with the bytes done and, where known, the bytes in all.
pub type Progress<'a> = &'a mut dyn FnMut(u64, Option<u64>);

impl From<PathBuf> for Source {
    /// `-` is standard input.
    fn from(path: PathBuf) -> Self {
        if path.as_os_str() == "-" {
            Self::Stdin
        } else {
            Self::Path(path)
        }
    }
}

impl From<&Path> for Source {
    fn from(path: &Path) -> Self {
        path.to_path_buf().into()
    }
}

impl From<&str> for Source {
    fn from(path: &str) -> Self {
        PathBuf::from(path).into()
    }
}

impl Source {
    /// The name in messages.
    pub fn name(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Stdin => "standard input".into(),
            #[cfg(feature = "columnar")]
            Self::Memory(table) => table.name().to_owned(),
        }
    }

    /// Whether its bytes can be had only once: standard input, a pipe or a device.
    pub(crate) fn is_stream(&self) -> bool {
        match self {
            Self::Path(path) => {
                std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
            }
            Self::Stdin => true,
            #[cfg(feature = "columnar")]
            Self::Memory(_) => false,
        }
    }

    /// The format: the one given, else told by the extension, else CSV for standard input.
    pub fn format(&self, given: Option<FileFormat>) -> Result<FileFormat> {
        match (given, self) {
            (Some(format), _) => Ok(format),
            (None, Self::Path(path)) => FileFormat::of_path(path),
            (None, Self::Stdin) => Ok(Format::Csv.into()),
            #[cfg(feature = "columnar")]
            (None, Self::Memory(_)) => Ok(Format::Arrow.into()),
        }
    }

    /// The unpacked bytes of a text file, without a byte order mark.
    pub(crate) fn open_text<'a>(
        &self,
        compression: Compression,
        progress: Progress<'a>,
    ) -> Result<Box<dyn Read + 'a>> {
        let (input, total): (Box<dyn Read>, _) = match self {
            Self::Path(path) => {
                let file = File::open(path)?;
                let total = file.metadata()?.len();
                (Box::new(file), Some(total))
            }
            Self::Stdin => (Box::new(io::stdin()), None),
            #[cfg(feature = "columnar")]
            Self::Memory(_) => return Err(not_a_file()),
        };
        let counted = Counted {
            input,
            done: 0,
            total,
            progress,
        };
        let unpacked: Box<dyn Read + 'a> = match compression {
            Compression::None => Box::new(counted),
            Compression::Gzip => Box::new(Unpacked {
                name: "gzip",
                input: GzipMembers::new(BufReader::with_capacity(1 << 16, counted)),
            }),
            Compression::Zstd => Box::new(Unpacked {
                name: "Zstandard",
                input: zstd::Decoder::new(counted)?,
            }),
        };
        check_start(unpacked)
    }

    /// The unpacked bytes of a text, for a reader that tells nobody how far it has come.
    pub(crate) fn open_owned(&self, compression: Compression) -> Result<Box<dyn Read>> {
        // A closure that holds nothing: there is nothing to leak.
        self.open_text(compression, Box::leak(Box::new(|_, _| {})))
    }

    /// The file itself, for formats that are read from the end; standard input is spooled to disk.
    #[cfg_attr(not(feature = "columnar"), allow(dead_code))]
    pub(crate) fn open_file(&self) -> Result<File> {
        match self {
            Self::Path(path) => {
                let file = File::open(path)?;
                // A pipe has no end to read from.
                if file.metadata()?.is_file() {
                    Ok(file)
                } else {
                    spooled(file)
                }
            }
            Self::Stdin => spooled(io::stdin().lock()),
            #[cfg(feature = "columnar")]
            Self::Memory(_) => Err(not_a_file()),
        }
    }
}

/// All bytes of an input in a temporary file.
#[cfg_attr(not(feature = "columnar"), allow(dead_code))]
fn spooled(mut input: impl Read) -> Result<File> {
    let folder = std::env::temp_dir();
    let copied = tempfile::tempfile_in(&folder).and_then(|mut spool| {
        io::copy(&mut input, &mut spool)?;
        spool.rewind()?;
        Ok(spool)
    });
    let named = |error: io::Error| {
        let words = format!(
            "it could not be copied to a file in {}: {error}",
            folder.display()
        );
        io::Error::new(error.kind(), words)
    };
    Ok(copied.map_err(named)?)
}

/// What only files have is asked of a table in memory.
#[cfg(feature = "columnar")]
fn not_a_file() -> Error {
    Error::syntax("found a table in memory, expected a file; give a path")
}

/// Drops a UTF-8 byte order mark and refuses what is plainly not text.
fn check_start<'a>(mut input: Box<dyn Read + 'a>) -> Result<Box<dyn Read + 'a>> {
    let mut start = Vec::with_capacity(4);
    input.by_ref().take(4).read_to_end(&mut start)?;
    let told = |what: &str, todo: &str| {
        Err(Error::syntax(format!(
            "found {what}, expected plain text; {todo}"
        )))
    };
    match *start {
        [0xef, 0xbb, 0xbf, ..] => drop(start.drain(..3)),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => return told("UTF-16 text", "save the file as UTF-8"),
        [0x1f, 0x8b, ..] => return told("gzip data", "let the name end in .gz or give the format"),
        [0x28, 0xb5, 0x2f, 0xfd] => {
            return told("Zstandard data", "let the name end in .zst or give the format");
        }
        [b'P', b'A', b'R', b'1'] => {
            return told(
                "a Parquet file",
                "let the name end in .parquet or give the format",
            );
        }
        [b'P', b'K', 3, 4] => return told("a zip or Excel file", "export the sheet as CSV"),
        _ => {}
    }
    Ok(Box::new(Cursor::new(start).chain(input)))
}

/// Tells the caller how far reading has come.
struct Counted<'a> {
    input: Box<dyn Read>,
    done: u64,
    total: Option<u64>,
    progress: Progress<'a>,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = loop {
            match self.input.read(buffer) {
                // A signal came in between; not every reader above asks again.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.done += count as u64;
        (self.progress)(self.done, self.total);
        Ok(count)
    }
}

/// The members of a gzip file, one behind the other, and zeros behind the last, as some programs write them.
struct GzipMembers<R>(Option<flate2::bufread::GzDecoder<R>>);

impl<R: BufRead> GzipMembers<R> {
    fn new(input: R) -> Self {
        Self(Some(flate2::bufread::GzDecoder::new(input)))
    }
}

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.0 {
            let count = member.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            let Some(mut rest) = self.0.take().map(flate2::bufread::GzDecoder::into_inner) else {
                break;
            };
            loop {
                let next = rest.fill_buf()?;
                match next.first() {
                    None => return Ok(0),
                    Some(0) => {
                        let zeros = next.iter().take_while(|&&byte| byte == 0).count();
                        rest.consume(zeros);
                    }
                    Some(0x1f) => break,
                    Some(_) => {
                        return Err(io::Error::new(
                            io::ErrorKind::FileTooLarge,
                            "found other bytes behind the end of the gzip data; cut them off, or get the file anew",
                        ));
                    }
                }
            }
            self.0 = Some(flate2::bufread::GzDecoder::new(rest));
        }
        Ok(0)
    }
}

/// Puts decompression errors in words.
struct Unpacked<R> {
    name: &'static str,
    input: R,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.input.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            // Ours, in words already: no decoder says this.
            io::ErrorKind::FileTooLarge => error,
            io::ErrorKind::UnexpectedEof => io::Error::new(
                error.kind(),
                format!("the {} data is cut short; get the whole file", self.name),
            ),
            kind => io::Error::new(
                kind,
                format!("the file is not valid {} data ({error}); get it anew", self.name),
            ),
        })
    }
}
