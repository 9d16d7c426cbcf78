//! `--memory` is kept: the peak of the built program is measured. And files that state too much, or are not what they seem, are
//! errors in words.
#![cfg(target_os = "linux")]

mod support;

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use wait4::Wait4;

const MIB: u64 = 1 << 20;

/// Exit code, what was said, and the largest resident memory in bytes.
fn measured(folder: &Path, arguments: &str) -> (i32, String, u64) {
    let log = folder.join("stderr");
    let mut child = Command::new(env!("CARGO_BIN_EXE_quorate"))
        .args(arguments.split(' '))
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let end = child.wait4().unwrap();
    let said = fs::read_to_string(&log).unwrap();
    (end.status.code().unwrap_or(-1), said, end.rusage.maxrss)
}

fn packed(path: &Path, rows: impl Iterator<Item = String>) {
    let mut output = flate2::write::GzEncoder::new(File::create(path).unwrap(), flate2::Compression::fast());
    output.write_all(b"task,worker,label\n").unwrap();
    rows.for_each(|row| output.write_all(row.as_bytes()).unwrap());
    output.finish().unwrap();
}

#[test]
fn a_bomb_of_one_row_stays_within_the_memory_limit() {
    let folder = tempfile::tempdir().unwrap();
    packed(
        &folder.path().join("bomb.csv.gz"),
        (0..200).map(|_| "1,1,1\n".repeat(100_000)),
    );
    for more in ["-m dawid-skene", "-m glad", "-m dawid-skene --spill ."] {
        let arguments = format!("aggregate bomb.csv.gz --memory 0.1 -o out.csv {more}");
        let (code, said, peak) = measured(folder.path(), &arguments);
        assert_eq!(code, 0, "{said}");
        assert!(
            said.contains("19,999,999 rows with the task and worker"),
            "{said}"
        );
        assert!(peak < 128 * MIB, "{more}: {} MiB", peak / MIB);
    }
}

#[test]
fn labels_beyond_the_memory_limit_go_to_disk_or_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let rows = (0..1_000_000).map(|task| {
        let row = |worker: u32| format!("t{task},w{},{}\n", (task + worker) % 999, (task + worker) % 2);
        (0..4).map(row).collect()
    });
    packed(&folder.path().join("many.csv.gz"), rows);
    let (code, said, peak) = measured(
        folder.path(),
        "aggregate many.csv.gz -m majority-vote --memory 0.08 -o out.csv",
    );
    assert!(code == 0 && said.contains("kept on disk"), "{said}");
    assert!(peak < 102 * MIB, "{} MiB", peak / MIB);
    let (code, said, peak) = measured(
        folder.path(),
        "aggregate many.csv.gz -m glad --memory 0.08 -o none.csv",
    );
    assert!(
        code == 2 && said.contains("raise the limit with --memory"),
        "{said}"
    );
    assert!(peak < 102 * MIB, "{} MiB", peak / MIB);
    assert!(!folder.path().join("none.csv").exists());
}

#[test]
fn text_behind_a_closing_quote_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    support::write(folder.path(), "labels.csv", "t1,a,x\n\"t2\",a,y\n\"t3\"x,a,x\n");
    for more in ["", " --spill ."] {
        let run = support::run(
            folder.path(),
            &format!("aggregate labels.csv -o out.csv -m majority-vote{more}"),
        );
        assert_eq!(run.code, 2);
        assert!(
            run.stderr
                .contains("labels.csv, line 4: found text behind a closing quote"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn bytes_behind_gzip_data_are_said_to_be_that() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("labels.csv.gz");
    packed(&path, (0..9).map(|row| format!("t{row},a,x\n")));
    let whole = fs::read(&path).unwrap();
    fs::write(&path, [&whole[..], b"trailing"].concat()).unwrap();
    let run = support::run(folder.path(), "aggregate labels.csv.gz -o out.csv");
    assert!(
        run.code == 2 && run.stderr.contains("behind the end of the gzip data"),
        "{}",
        run.stderr
    );
    // Zeros, as some programs pad with.
    fs::write(&path, [&whole[..], &[0; 512]].concat()).unwrap();
    let run = support::run(folder.path(), "aggregate labels.csv.gz -o out.csv");
    assert_eq!(run.code, 0, "{}", run.stderr);
}
