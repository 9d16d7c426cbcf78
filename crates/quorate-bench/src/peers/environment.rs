//! A virtual environment with the peers, made once and kept in the user's cache folder.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context as _;

use crate::child::{run_measured, scratch};

/// What is installed. crowd-kit 1.4 needs a scikit-learn that knows estimators by their older tags.
const PACKAGES: [&str; 3] = ["crowd-kit==1.4.2", "scikit-learn<1.7", "evalica==0.4.2"];

/// Python with the peers, and the script that runs them.
pub struct Environment {
    python: PathBuf,
    script: PathBuf,
}

impl Environment {
    /// Makes the environment if it is not there, and writes the script.
    pub fn prepare(folder: Option<PathBuf>) -> anyhow::Result<Self> {
        let folder = match folder {
            Some(folder) => folder,
            None => cache_folder()?.join("quorate-bench").join("peers"),
        };
        let python = folder.join("bin").join("python");
        let whole = folder.join(format!("installed {}", PACKAGES.join(" ")));
        if !whole.exists() {
            eprintln!("making {} with {}", folder.display(), PACKAGES.join(" "));
            run_measured(Command::new("python3").args(["-m", "venv"]).arg(&folder))
                .context("could not make a virtual environment")?;
            run_measured(
                Command::new(&python)
                    .args(["-m", "pip", "install", "--quiet"])
                    .args(PACKAGES),
            )
            .context("could not install the peers")?;
            std::fs::write(&whole, "")?;
        }
        let script = folder.join("run_peer.py");
        std::fs::write(&script, include_str!("run_peer.py"))?;
        Ok(Self { python, script })
    }

    /// The script with these arguments.
    pub fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = Command::new(&self.python);
        command.arg(&self.script).args(arguments);
        command
    }

    /// What the script writes for these arguments.
    pub fn ask(&self, arguments: &[&OsStr]) -> anyhow::Result<String> {
        let answer = scratch("answer");
        let asked = run_measured(self.command(arguments).arg(&answer));
        let text = asked.and_then(|_| Ok(std::fs::read_to_string(&answer)?));
        let _ = std::fs::remove_file(&answer);
        text
    }
}

fn cache_folder() -> anyhow::Result<PathBuf> {
    std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))
        .context("no HOME: name a folder with --environment")
}
