//! What the tests of the program share: running it, and a small table.
#![allow(dead_code)] // each test program uses a part of it

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a run gave.
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Runs the program in `folder`.
pub fn quorate(folder: &Path, arguments: &[&str]) -> Run {
    quorate_with_input(folder, arguments, "")
}

pub fn quorate_with_input(folder: &Path, arguments: &[&str], input: &str) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_quorate"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The program may end before it reads everything.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A folder with a small table: three workers, of whom one is often wrong.
pub fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut labels = String::from("task,worker,label,comment\n");
    for task in 0..12 {
        let truth = if task % 3 == 0 { "cat" } else { "dog" };
        let other = if task % 3 == 0 { "dog" } else { "cat" };
        for (worker, right) in [("ann", true), ("bob", task != 4), ("cem", task % 2 == 0)] {
            let label = if right { truth } else { other };
            labels.push_str(&format!("t{task},{worker},{label},\"so, what\"\n"));
        }
    }
    fs::write(folder.path().join("labels.csv"), labels).unwrap();
    let truth = (0..12).map(|task| format!("t{task},{}\n", if task % 3 == 0 { "cat" } else { "dog" }));
    fs::write(
        folder.path().join("truth.csv"),
        format!("task,label\n{}", truth.collect::<String>()),
    )
    .unwrap();
    folder
}
