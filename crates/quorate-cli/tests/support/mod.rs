//! What the tests of the program share: running it, and a small table.
#![allow(dead_code)] // each test program uses a part of it

pub mod world;

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
        .env_remove("QUORATE_DATA")
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

/// A symbolic link, for tests that run on Unix only.
pub fn symlink(target: impl AsRef<Path>, link: impl AsRef<Path>) {
    #[cfg(unix)]
    std::os::unix::fs::symlink(target, link).unwrap();
    #[cfg(not(unix))]
    unreachable!("{:?} to {:?}", link.as_ref(), target.as_ref());
}

/// The permissions of a file, for tests that run on Unix only.
pub fn mode(path: &Path) -> u32 {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::mode(&fs::metadata(path).unwrap()) & 0o7777;
    #[cfg(not(unix))]
    unreachable!("{path:?}");
}

/// Writes a table of annotations: the header, then these rows.
pub fn write(folder: &Path, name: &str, rows: &str) {
    fs::write(folder.join(name), format!("task,worker,label\n{rows}")).unwrap();
}

/// Runs the program with the words of a line, split at blanks.
pub fn run(folder: &Path, arguments: &str) -> Run {
    quorate(folder, &arguments.split(' ').collect::<Vec<_>>())
}

/// The same, and it must succeed.
pub fn done(folder: &Path, arguments: &str) -> Run {
    let run = run(folder, arguments);
    assert_eq!(run.code, 0, "{arguments}: {}", run.stderr);
    run
}

/// What differs from run to run or in its last digits is put in other words: `TIME` for times, and then
/// without the blanks and lines that go by their widths; numbers with many digits to six decimals.
pub fn stable(text: &str) -> String {
    let mut timed = false;
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let mut words: Vec<String> = line.split(' ').map(rounded).collect();
        for index in 1..words.len() {
            let unit = words[index].trim_end_matches([';', ',', ')']).to_owned();
            let time = ["us", "ms", "s", "min"].contains(&unit.as_str());
            let seconds = words[index - 1].ends_with("seconds\":");
            if time && words[index - 1].parse::<f64>().is_ok() {
                words[index - 1] = format!("TIME{}", &words[index][unit.len()..]);
                words[index].clear();
                timed = true;
            } else if seconds {
                words[index] = "TIME,".into();
            }
        }
        lines.push(words.join(" "));
    }
    if timed {
        for line in &mut lines {
            let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
            *line = words.join(" ");
        }
        lines.retain(|line| line.is_empty() || line.contains(|letter| letter != '-'));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The word, a number with more than eight decimals to six.
fn rounded(word: &str) -> String {
    let number = word.trim_end_matches([',', ';']);
    let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    match number.parse::<f64>() {
        Ok(value) if decimals > 8 => format!("{value:.6}{}", &word[number.len()..]),
        _ => word.to_owned(),
    }
}
