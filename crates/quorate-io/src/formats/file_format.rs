//! What a file is: its format and compression, told by its name or by the caller.

use std::path::Path;
use std::str::FromStr;

use crate::error::{Error, ErrorKind, Result};

/// The extensions we know, in words for errors.
pub(crate) const KNOWN: &str = ".csv, .tsv, .jsonl (.ndjson), .json, .parquet, .arrow (.feather, .ipc), and .gz or .zst of the text ones";

/// How a table is laid out in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// Fields separated by commas, quoted where needed.
    #[default]
    Csv,
    /// Fields separated by tabs, quoted where needed.
    Tsv,
    /// Fields separated by this ASCII character, quoted where needed.
    Delimited(u8),
    /// One JSON object for each line.
    Jsonl,
    /// An array of JSON objects.
    Json,
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow IPC, the file form when written, either form when read.
    Arrow,
}

/// How a text file is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compression {
    /// Not at all.
    #[default]
    None,
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
}

/// Format and compression: `csv`, `jsonl.gz`, `parquet`, ..
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileFormat {
    /// How the table is laid out.
    pub format: Format,
    /// How the file is packed; Parquet and Arrow have a compression of their own.
    pub compression: Compression,
}

impl From<Format> for FileFormat {
    fn from(format: Format) -> Self {
        Self {
            format,
            compression: Compression::None,
        }
    }
}

impl FileFormat {
    /// The format that this file name stands for.
    pub fn of_path(path: &Path) -> Result<Self> {
        let unknown = |found: String| Error::new(ErrorKind::UnknownFormat(found));
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        let (stem, last) = name
            .rsplit_once('.')
            .ok_or_else(|| unknown("a name without an extension".into()))?;
        let compression = compression_of(last);
        let extension = match compression {
            Compression::None => last,
            _ => stem.rsplit_once('.').map_or("", |(_, extension)| extension),
        };
        match format_of(extension) {
            Some(format) if compression == Compression::None || format.is_text() => {
                Ok(Self { format, compression })
            }
            _ if compression == Compression::None => Err(unknown(format!("the extension .{last}"))),
            _ => Err(unknown(format!("the extension .{extension}.{last}"))),
        }
    }
}

impl FromStr for FileFormat {
    type Err = Error;

    /// The extension as a word, with or without its leading dot: `csv`, `.jsonl.gz`.
    fn from_str(word: &str) -> Result<Self> {
        Self::of_path(Path::new(&format!("x.{}", word.trim_start_matches('.'))))
    }
}

impl Format {
    /// Whether it is text.
    pub fn is_text(self) -> bool {
        !matches!(self, Self::Parquet | Self::Arrow)
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "CSV",
            Self::Tsv => "TSV",
            Self::Delimited(_) => "delimited text",
            Self::Jsonl => "JSONL",
            Self::Json => "JSON",
            Self::Parquet => "Parquet",
            Self::Arrow => "Arrow",
        }
    }
}

impl Compression {
    /// The compression that the end of a file name stands for.
    pub(crate) fn of_path(path: &Path) -> Self {
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        compression_of(&extension.to_lowercase())
    }
}

fn compression_of(extension: &str) -> Compression {
    match extension {
        "gz" => Compression::Gzip,
        "zst" => Compression::Zstd,
        _ => Compression::None,
    }
}

fn format_of(extension: &str) -> Option<Format> {
    Some(match extension {
        "csv" => Format::Csv,
        "tsv" => Format::Tsv,
        "jsonl" | "ndjson" => Format::Jsonl,
        "json" => Format::Json,
        "parquet" => Format::Parquet,
        "arrow" | "feather" | "ipc" => Format::Arrow,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_tell_the_format() {
        let told =
            |name: &str| FileFormat::of_path(Path::new(name)).map(|found| (found.format, found.compression));
        assert_eq!(told("a/labels.csv").unwrap(), (Format::Csv, Compression::None));
        assert_eq!(
            told("labels.2024.CSV.GZ").unwrap(),
            (Format::Csv, Compression::Gzip)
        );
        assert_eq!(told("x.ndjson.zst").unwrap(), (Format::Jsonl, Compression::Zstd));
        assert_eq!(told("x.feather").unwrap(), (Format::Arrow, Compression::None));
        let words = told("x.xlsx").unwrap_err().to_string();
        assert!(words.contains(".xlsx") && words.contains(".parquet"), "{words}");
        let words = told("labels").unwrap_err().to_string();
        assert!(words.contains("without an extension"), "{words}");
        assert!(told("x.gz").is_err());
        assert!(
            told("x.parquet.gz")
                .unwrap_err()
                .to_string()
                .contains(".parquet.gz")
        );
    }

    #[test]
    fn words_name_formats() {
        assert_eq!("jsonl".parse::<FileFormat>().unwrap(), Format::Jsonl.into());
        assert_eq!(
            ".csv.gz".parse::<FileFormat>().unwrap().compression,
            Compression::Gzip
        );
        assert!("excel".parse::<FileFormat>().is_err());
    }
}
