//! The files of a command, checked before any work: nothing that is read or written is overwritten by
//! surprise, and every output can be written.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use quorate_io::{Place, Target, settle_output};

/// What a file will hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A table; its format must be known.
    Table,
    /// Anything else.
    Other,
}

/// The files that a command reads and writes, each with the name that the user knows it by.
#[derive(Debug, Default)]
pub struct Files<'a> {
    inputs: Vec<(&'static str, &'a Path)>,
    outputs: Vec<(&'static str, &'a Path, Content)>,
}

/// A file that is taken.
#[derive(Debug, PartialEq, Eq)]
struct Taken {
    /// Where its path leads.
    path: PathBuf,
    /// Device and number of a file that is there.
    file: Option<(u64, u64)>,
}

impl<'a> Files<'a> {
    /// Notes a file that is read, if it is given.
    pub fn reads(mut self, name: &'static str, path: Option<&'a PathBuf>) -> Self {
        self.inputs.extend(path.map(|path| (name, path.as_path())));
        self
    }

    /// Notes a file that is written, if it is given.
    pub fn writes(mut self, name: &'static str, path: Option<&'a PathBuf>, content: Content) -> Self {
        self.outputs
            .extend(path.map(|path| (name, path.as_path(), content)));
        self
    }

    /// Fails if an output is an input or another output, or cannot be written; settles where the outputs go.
    /// `format_given`: the user said which format `-o` has.
    pub fn check(&self, format_given: bool) -> Result<()> {
        let mut taken: Vec<(&str, Taken)> = Vec::new();
        for &(name, path, content) in &self.outputs {
            if path.as_os_str() == "-" {
                continue;
            }
            let place = settle_output(path);
            if place.is_stream() {
                continue;
            }
            check_writable(place.path()).with_context(|| format!("{name} {}", path.display()))?;
            if content == Content::Table && !(format_given && name == "-o") {
                Target::from(path).format(None)?;
            }
            let place = Taken::by(place);
            for &(input, read) in &self.inputs {
                if read.as_os_str() != "-" && Taken::by(Place::of(read)).collides(&place) {
                    bail!(
                        "{name} {} would overwrite {input}: choose another file",
                        path.display()
                    );
                }
            }
            if let Some((other, _)) = taken.iter().find(|(_, other)| other.collides(&place)) {
                bail!(
                    "{other} and {name} both go to {}: choose another file for one of them",
                    path.display()
                );
            }
            taken.push((name, place));
        }
        Ok(())
    }
}

fn check_writable(path: &Path) -> Result<()> {
    if let Ok(present) = fs::metadata(path) {
        if present.is_dir() {
            bail!("this is a folder: give the name of a file");
        }
        if present.permissions().readonly() {
            bail!("the file is read-only: choose another one, or make it writable");
        }
    }
    let folder = folder_of(path);
    match fs::metadata(&folder) {
        Err(_) => bail!("the folder {} does not exist", folder.display()),
        Ok(found) if !found.is_dir() => bail!("{} is not a folder", folder.display()),
        Ok(found) if found.permissions().readonly() => {
            bail!("the folder {} is read-only", folder.display())
        }
        Ok(_) => Ok(()),
    }
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

impl Taken {
    fn by(place: Place) -> Self {
        Self {
            file: file_number(place.path()),
            path: place.path().to_path_buf(),
        }
    }

    /// Whether two outputs are one file, also where file names are the same in capitals and small letters.
    fn collides(&self, other: &Self) -> bool {
        let folded = |place: &Self| place.path.to_string_lossy().to_lowercase();
        self == other
            || (self.file.is_some() && self.file == other.file)
            || (self.file.is_none() && other.file.is_none() && folded(self) == folded(other))
    }
}

#[cfg(unix)]
fn file_number(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let found = fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn file_number(_: &Path) -> Option<(u64, u64)> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_differ_from_inputs_and_from_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        let (labels, other) = (file("labels.csv"), file("other.csv"));
        fs::write(&labels, "").unwrap();
        let check = |output: &PathBuf, workers: Option<&PathBuf>| {
            let files = Files::default()
                .reads("the labels", Some(&labels))
                .writes("-o", Some(output), Content::Table)
                .writes("--workers", workers, Content::Table);
            files.check(false).map_err(|error| format!("{error:#}"))
        };
        assert!(check(&other, None).is_ok());
        let refused = check(&labels, None).unwrap_err();
        assert!(refused.contains("would overwrite the labels"), "{refused}");
        let dotted = folder.path().join(".").join("labels.csv");
        assert!(check(&dotted, None).is_err());
        let refused = check(&other, Some(&other)).unwrap_err();
        assert!(refused.contains("-o and --workers both go to"), "{refused}");
        // Not there yet, and the same where capitals do not count.
        assert!(check(&other, Some(&file("OTHER.csv"))).is_err());
        let refused = check(&file("no/such.csv"), None).unwrap_err();
        assert!(refused.contains("does not exist"), "{refused}");
        let refused = check(&file("out.xyz"), None).unwrap_err();
        assert!(refused.contains(".xyz"), "{refused}");
        assert!(check(&PathBuf::from("-"), None).is_ok());
        #[cfg(unix)]
        {
            let link = file("link.csv");
            std::os::unix::fs::symlink(&labels, &link).unwrap();
            assert!(check(&link, None).is_err());
            let hard = file("hard.csv");
            fs::hard_link(&labels, &hard).unwrap();
            assert!(check(&hard, None).is_err());
            assert!(check(&PathBuf::from("/dev/null"), Some(&PathBuf::from("/dev/null"))).is_ok());
        }
    }
}
