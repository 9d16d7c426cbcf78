//! Where an output path leads: to a file that is replaced, or to a stream that is written as it is.
//!
//! A link that is there when the place is settled is followed, also one to a file that is not there yet: its
//! owner meant the file behind it. From then on links count for nothing: the file is put in its place by a
//! rename, which replaces a link that somebody planted there meanwhile, and never writes through it.

use std::fs;
use std::path::{Path, PathBuf};

/// Where an output goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A file: the path without links.
    File(PathBuf),
    /// A device, a pipe, or what one of our own descriptors is open on: written as it is.
    Stream(PathBuf),
}

/// Links that are followed before they count as a circle.
const MAX_LINKS: usize = 40;

impl Place {
    /// Where the path leads now.
    pub fn of(path: &Path) -> Self {
        if fs::metadata(path).is_ok_and(|present| !present.is_file() && !present.is_dir()) {
            return Self::Stream(path.to_path_buf());
        }
        let mut place = path.to_path_buf();
        for _ in 0..MAX_LINKS {
            let folder = fs::canonicalize(folder_of(&place)).unwrap_or_else(|_| folder_of(&place).into());
            // `/dev/stdout`, `/dev/fd/3`: a file that somebody opened for us, maybe to append to it.
            if folder.starts_with("/proc") {
                return Self::Stream(path.to_path_buf());
            }
            place = folder.join(place.file_name().unwrap_or_default());
            match fs::read_link(&place) {
                Ok(target) => place = folder.join(target),
                Err(_) => break,
            }
        }
        Self::File(place)
    }

    /// The path without links, or the stream as it was given.
    pub fn path(&self) -> &Path {
        match self {
            Self::File(path) | Self::Stream(path) => path,
        }
    }

    /// Whether what is written there cannot be replaced as a whole.
    pub fn is_stream(&self) -> bool {
        matches!(self, Self::Stream(_))
    }
}

/// The folder of a path.
pub(super) fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_lead_to_their_files_and_descriptors_are_streams() {
        let folder = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(folder.path()).unwrap();
        let file = |name: &str| folder.join(name);
        assert_eq!(Place::of(&file("new.csv")), Place::File(file("new.csv")));
        symlink("new.csv", file("a.csv")).unwrap();
        symlink(file("a.csv"), file("b.csv")).unwrap();
        // Not there yet, by a link to a link.
        assert_eq!(Place::of(&file("b.csv")), Place::File(file("new.csv")));
        fs::write(file("new.csv"), "").unwrap();
        assert_eq!(Place::of(&file("b.csv")), Place::File(file("new.csv")));
        assert!(Place::of(Path::new("/dev/null")).is_stream());
        // A circle ends, and is told by whoever opens it.
        symlink("y.csv", file("x.csv")).unwrap();
        symlink("x.csv", file("y.csv")).unwrap();
        assert!(!Place::of(&file("x.csv")).is_stream());
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsRawFd;
            let open = fs::File::open(file("new.csv")).unwrap();
            let path = PathBuf::from(format!("/dev/fd/{}", open.as_raw_fd()));
            assert!(Place::of(&path).is_stream());
        }
    }
}
