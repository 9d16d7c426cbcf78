//! A folder in which the program runs, and what it looks like before and after.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Every file by its path, with its content; folders end in `/`.
pub type Snapshot = BTreeMap<String, Vec<u8>>;

pub fn snapshot(folder: &Path) -> Snapshot {
    fn add(root: &Path, folder: &Path, to: &mut Snapshot) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().display().to_string();
            if path.is_dir() {
                to.insert(format!("{name}/"), Vec::new());
                add(root, &path, to);
            } else if path.is_file() {
                to.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    let mut found = Snapshot::new();
    add(folder, folder, &mut found);
    found
}

/// Makes the folder what it was.
pub fn restore(folder: &Path, content: &Snapshot) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let removed = if path.is_dir() {
            fs::remove_dir_all(path)
        } else {
            fs::remove_file(path)
        };
        removed.unwrap();
    }
    for (name, bytes) in content {
        match name.strip_suffix('/') {
            Some(name) => fs::create_dir_all(folder.join(name)).unwrap(),
            None => fs::write(folder.join(name), bytes).unwrap(),
        }
    }
}

/// The program with the words of a line, in a folder.
pub fn command(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quorate"));
    command
        .args(arguments.split(' '))
        .current_dir(folder)
        .env_remove("QUORATE_DATA")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// The library that makes calls fail, beside the tests.
pub fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.with_file_name("libquorate_faults.so")
}

/// Why no system call of the program can be made to fail here, if that is so.
pub fn without_faults() -> Option<String> {
    if !cfg!(target_os = "linux") {
        return Some("needs Linux, where system calls can be made to fail".into());
    }
    if !library().exists() {
        return Some(format!("needs {}, which is not there", library().display()));
    }
    let folder = tempfile::tempdir().unwrap();
    let inside = fs::canonicalize(folder.path()).unwrap();
    let log = tempfile::NamedTempFile::new().unwrap();
    let line = "simulate -q --tasks 5 --workers 3 -o made";
    with_fault(&inside, line, "", Some(log.path()));
    let seen = fs::read_to_string(log.path()).unwrap().contains('w');
    (!seen).then(|| "needs LD_PRELOAD, which has no effect on the program here".into())
}

/// What is missing where a test needs Unix.
pub fn without_unix() -> Option<String> {
    (!cfg!(unix)).then(|| "needs Unix".into())
}

/// What is missing where a test needs Linux.
pub fn without_linux() -> Option<String> {
    (!cfg!(target_os = "linux")).then(|| "needs Linux".into())
}

/// Runs the program with a fault (`KIND:FIRST:LAST:ACTION`), and a log of its calls.
pub fn with_fault(folder: &Path, arguments: &str, fault: &str, log: Option<&Path>) -> Output {
    let mut command = command(folder, arguments);
    command
        .env("LD_PRELOAD", library())
        .env("QUORATE_FAULT_FOLDER", folder)
        .env("QUORATE_FAULT", fault);
    if let Some(log) = log {
        command.env("QUORATE_FAULT_LOG", log);
    }
    command.output().unwrap()
}

/// Whether everything is tried, not a sample.
pub fn is_long() -> bool {
    std::env::var_os("QUORATE_FAULTS").is_some_and(|value| value == "all")
}

/// Labels of a small crowd; other ones for another seed.
pub fn labels(tasks: usize, workers: usize, seed: usize) -> String {
    let mut rows = String::from("task,worker,label\n");
    for task in 0..tasks {
        for worker in 0..workers {
            let chance = (task * 7919 + worker * 104_729 + task * worker * 31 + seed * 613) % 97;
            let answer = if chance > 60 + 5 * (worker % 6) {
                (task + 1 + chance % 2) % 3
            } else {
                task % 3
            };
            rows.push_str(&format!("t{task},w{worker},c{answer}\n"));
        }
    }
    rows
}

pub fn truth(tasks: usize) -> String {
    let rows = (0..tasks).map(|task| format!("t{task},c{}\n", task % 3));
    format!("task,label\n{}", rows.collect::<String>())
}

/// Files that a run may leave behind only if it was killed or could not remove them.
pub fn is_left_over(name: &str) -> bool {
    name.contains(".quorate-") || name.contains("quorate-spill-") || name.contains(".labels.bin")
}
