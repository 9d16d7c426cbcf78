//! Exports in several files: the files of a folder, or of a zip file.

use std::path::{Path, PathBuf};

use super::archive::{Archive, Entry};
use crate::error::{Error, Result};
use crate::formats::{FileFormat, Format};

/// How deep folders are looked into.
const DEEPEST: usize = 8;

/// Whether a file can be one of an export: JSON or a table of text.
fn is_export(path: &Path) -> bool {
    let hidden = path
        .file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with(['.', '_']));
    let text = |format: FileFormat| {
        matches!(
            format.format,
            Format::Csv | Format::Tsv | Format::Json | Format::Jsonl
        )
    };
    !hidden && FileFormat::of_path(path).is_ok_and(text)
}

/// The files of an export in a folder and the folders in it, in order of their paths.
pub(super) fn in_folder(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    collect(folder, 0, &mut files)?;
    files.sort();
    Ok(files)
}

fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && depth < DEEPEST {
            collect(&path, depth + 1, files)?;
        } else if is_export(&path) {
            files.push(path);
        }
    }
    Ok(())
}

/// A zip file, and the files of an export in it, in order of their names.
pub(super) fn in_archive(path: &Path) -> Result<(Archive, Vec<Entry>)> {
    let archive = Archive::open(path)?;
    let mut entries: Vec<Entry> = archive
        .entries
        .iter()
        .filter(|entry| is_export(Path::new(&entry.name)))
        .cloned()
        .collect();
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    Ok((archive, entries))
}

/// The name of a file without its extensions: the user, where a tool writes a file for each.
pub(super) fn stem(path: &Path) -> Result<String> {
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let extensions = [".gz", ".zst", ".jsonl", ".ndjson", ".json", ".csv", ".tsv"];
    let mut stem = name.as_str();
    for extension in extensions {
        stem = stem.strip_suffix(extension).unwrap_or(stem);
    }
    if stem.is_empty() {
        Err(Error::syntax(
            "found a file without a name, expected that of a user",
        ))
    } else {
        Ok(stem.to_owned())
    }
}
