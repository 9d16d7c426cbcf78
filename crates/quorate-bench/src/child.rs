//! Other programs, run and measured: time, CPU time and peak memory of each.
//!
//! A child starts with the peak memory of the process that starts it. Whoever measures therefore holds
//! nothing large itself: files are made and compared in children, too.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, bail};
use wait4::Wait4;

/// What a child took.
#[derive(Debug, Clone, Copy)]
pub struct Usage {
    /// Seconds on the clock.
    pub wall: f64,
    /// Seconds of CPU time, user and system, of all threads.
    pub cpu: f64,
    /// Largest resident memory in MB.
    pub memory: f64,
}

impl Usage {
    /// The least of each: runs disturb each other only upwards.
    pub fn least(self, other: Self) -> Self {
        Self {
            wall: self.wall.min(other.wall),
            cpu: self.cpu.min(other.cpu),
            memory: self.memory.min(other.memory),
        }
    }
}

/// Runs a command to its end; what it says is shown only when it fails.
pub fn run_measured(command: &mut Command) -> anyhow::Result<Usage> {
    Ok(run_listening(command)?.0)
}

/// Runs a command to its end; also returns what it said on standard error.
pub fn run_listening(command: &mut Command) -> anyhow::Result<(Usage, String)> {
    let log = scratch("stderr");
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(&log)?)
        .spawn()
        .with_context(|| format!("could not start {}", command.get_program().display()))?;
    let end = child.wait4()?;
    let wall = started.elapsed().as_secs_f64();
    let said = std::fs::read_to_string(&log).unwrap_or_default();
    let _ = std::fs::remove_file(&log);
    if !end.status.success() {
        let last = said.lines().rfind(|line| !line.trim().is_empty());
        bail!("{} ({})", last.unwrap_or("said nothing").trim(), end.status);
    }
    let usage = Usage {
        wall,
        cpu: (end.rusage.utime + end.rusage.stime).as_secs_f64(),
        memory: end.rusage.maxrss as f64 / 1e6,
    };
    Ok((usage, said))
}

/// The best of `runs` runs; one that takes longer than `long` seconds is not repeated.
pub fn best_measured(runs: usize, long: f64, mut command: impl FnMut() -> Command) -> anyhow::Result<Usage> {
    let mut best = run_measured(&mut command())?;
    for _ in 1..runs {
        if best.wall > long {
            break;
        }
        best = best.least(run_measured(&mut command())?);
    }
    Ok(best)
}

/// The program `quorate` that was built beside this one.
pub fn find_program(given: Option<&Path>) -> anyhow::Result<PathBuf> {
    let path = match given {
        Some(path) => path.to_path_buf(),
        None => std::env::current_exe()?.with_file_name(format!("quorate{}", std::env::consts::EXE_SUFFIX)),
    };
    if !path.exists() {
        bail!(
            "{} is not there: build it with cargo build --release -p quorate-cli, or name it with --program",
            path.display()
        );
    }
    Ok(path)
}

/// A name for a file of this process that is soon removed.
pub fn scratch(purpose: &str) -> PathBuf {
    std::env::temp_dir().join(format!("quorate-bench-{}-{purpose}", std::process::id()))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_fails_is_an_error_with_its_last_words() {
        let script = "echo first >&2; echo last words >&2; exit 3";
        let error = run_measured(Command::new("sh").args(["-c", script])).expect_err("it fails");
        assert!(error.to_string().starts_with("last words ("), "{error}");
    }
}
