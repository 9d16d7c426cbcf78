//! `quorate data check`: whether the public data sets are there, byte for byte.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use clap::{Args, Subcommand};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::printer::Printer;

/// A line for each file, as `sha256sum` writes them.
const CHECKSUMS: &str = include_str!("data/checksums.txt");

/// What to do with the public data sets.
#[derive(Debug, Args)]
#[command(after_help = "Example: quorate data check data\n\n\
    docs/data.md says where the data sets come from and what each file holds.")]
pub struct DataArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Compare the files of a folder with the checksums of the published figures' data
    Check(CheckArgs),
}

/// What to check.
#[derive(Debug, Args)]
#[command(after_help = "Example: quorate data check data\n\n\
    Exit code 1 if a file is missing or different.")]
struct CheckArgs {
    /// Folder of the data sets (bluebird, dog, rte, ..)
    #[arg(value_name = "DIR", env = "QUORATE_DATA")]
    folder: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// What the folder holds, by path.
#[derive(Debug, Default, Serialize)]
struct Checked {
    complete: bool,
    expected: usize,
    missing: Vec<&'static str>,
    different: Vec<&'static str>,
}

/// Runs the action; the code says whether everything is there.
pub fn run(args: &DataArgs, printer: &mut Printer) -> Result<u8> {
    let Action::Check(args) = &args.action;
    let checked = check(&args.folder)?;
    if args.json {
        printer.json(&checked)?
    } else {
        printer.data(&checked.text())?
    }
    Ok(if checked.complete { 0 } else { 1 })
}

/// Each expected file: its checksum and its path.
fn expected_files() -> impl Iterator<Item = (&'static str, &'static str)> {
    CHECKSUMS.lines().filter_map(|line| line.split_once("  "))
}

fn check(folder: &Path) -> Result<Checked> {
    ensure!(
        folder.is_dir(),
        "{}: there is no such folder; expected the folder of the public data sets",
        folder.display()
    );
    let mut checked = Checked::default();
    for (checksum, path) in expected_files() {
        checked.expected += 1;
        let file = folder.join(path);
        match File::open(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => checked.missing.push(path),
            opened => {
                let found = opened.and_then(sha256);
                let found = found.with_context(|| format!("could not read {}", file.display()))?;
                if found != checksum {
                    checked.different.push(path);
                }
            }
        }
    }
    checked.complete = checked.missing.is_empty() && checked.different.is_empty();
    Ok(checked)
}

/// SHA-256 of what is read, in hexadecimal digits.
fn sha256(mut input: impl Read) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => hash.update(&buffer[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(hash.finalize().iter().fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    }))
}

impl Checked {
    fn text(&self) -> String {
        let mut text = String::new();
        for (what, paths) in [("missing", &self.missing), ("different", &self.different)] {
            for path in paths {
                let _ = writeln!(text, "{what:<11}{path}");
            }
        }
        let (missing, different) = (self.missing.len(), self.different.len());
        let _ = writeln!(
            text,
            "{} of {} files are as expected, {missing} missing, {different} different",
            self.expected - missing - different,
            self.expected
        );
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digest of the standard (FIPS 180-4) for "abc".
    #[test]
    fn sha256_of_the_standards_example() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(&b"abc"[..]).unwrap(), expected);
    }

    #[test]
    fn every_line_is_a_checksum_and_a_path() {
        assert_eq!(expected_files().count(), CHECKSUMS.lines().count());
        for (checksum, path) in expected_files() {
            assert!(checksum.len() == 64 && path.contains('/'), "{checksum} {path}");
        }
    }
}
