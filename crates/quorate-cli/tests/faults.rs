//! System calls of the real program fail, one at a time (`quorate-faults`): afterwards all files are the old
//! ones or all are the new ones, and nothing else is there. `QUORATE_FAULTS=all` tries every call;
//! `scripts/faults` prints the figures.

mod support;

use std::fs;
use std::path::Path;
use std::process::{ExitCode, Output};

use quorate_testkit::{conditional_test, run_tests};
use support::symlink;
use support::world::{
    Snapshot, command, is_left_over, is_long, labels, library, restore, snapshot, truth, with_fault,
    without_faults, without_linux, without_unix,
};

fn main() -> ExitCode {
    let (faults, linux, unix) = (&without_faults(), &without_linux(), &without_unix());
    run_tests(vec![
        conditional_test!(aggregate_where_nothing_was, faults),
        conditional_test!(aggregate_over_earlier_files, faults),
        conditional_test!(aggregate_on_disk, faults),
        conditional_test!(
            a_full_disk_during_an_update_leaves_a_model_that_can_be_updated,
            faults
        ),
        conditional_test!(simulate_on_a_full_disk_leaves_nothing, faults),
        conditional_test!(report, faults),
        conditional_test!(plan, faults),
        conditional_test!(convert_judges_workers, faults),
        conditional_test!(reproduce, faults),
        conditional_test!(pictures, faults),
        conditional_test!(a_full_standard_output_leaves_nothing, linux),
        conditional_test!(clocks_that_jump_change_nothing, faults),
        conditional_test!(a_temporary_folder_that_is_gone_is_not_needed_or_named, &None),
        conditional_test!(a_planted_link_is_not_followed_and_one_given_on_purpose_is, unix),
        conditional_test!(
            a_read_only_output_is_refused_and_appending_keeps_what_is_there,
            unix
        ),
    ])
}

const EINTR: i32 = 4;
const EIO: i32 = 5;
const EACCES: i32 = 13;
const EMFILE: i32 = 24;
const ENOSPC: i32 = 28;

/// Calls of a kind: its letter, its name, the error, and whether all calls from the first one on fail (a full
/// disk stays full).
const FAULTS: [(char, &str, i32, bool); 14] = [
    ('w', "write: no space", ENOSPC, true),
    ('w', "write: input/output", EIO, false),
    ('r', "read: input/output", EIO, false),
    ('f', "fsync", EIO, false),
    ('n', "rename", EACCES, false),
    ('c', "create: not allowed", EACCES, false),
    ('c', "create: too many files", EMFILE, false),
    ('t', "truncate", ENOSPC, false),
    ('u', "unlink", EACCES, false),
    ('m', "mkdir", EACCES, false),
    ('l', "link", EACCES, false),
    ('p', "chmod", EACCES, false),
    ('w', "write: interrupted", EINTR, false),
    ('r', "read: interrupted", EINTR, false),
];

/// Runs a command with faults. `before`: lines that make what is there before, run one after the other.
fn survive(name: &str, before: &[&str], arguments: &str) {
    let outside = tempfile::tempdir().unwrap();
    let folder = fs::canonicalize(outside.path()).unwrap().join("run");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("old.csv"), labels(40, 5, 1)).unwrap();
    fs::write(folder.join("labels.csv"), labels(50, 6, 0)).unwrap();
    fs::write(folder.join("truth.csv"), truth(50)).unwrap();
    for line in before {
        let ran = command(&folder, line).output().unwrap();
        assert!(ran.status.success(), "{line}: {}", words(&ran));
    }
    let old = snapshot(&folder);
    let log = outside.path().join("log");
    let clean = with_fault(&folder, arguments, "", Some(&log));
    assert!(clean.status.success(), "{arguments}: {}", words(&clean));
    let new = snapshot(&folder);
    let log = fs::read_to_string(log).unwrap();
    assert!(!log.is_empty(), "{arguments}: no call was seen");
    let world = World {
        folder: &folder,
        arguments,
        old: &old,
        new: &new,
    };
    for (letter, what, error, stays) in FAULTS {
        let calls = log.matches(letter).count();
        let most = if is_long() { 400 } else { 5 };
        let (mut injected, mut undone) = (0, 0);
        for first in sample(calls, most) {
            let last = if stays { usize::MAX >> 1 } else { first };
            let fault = format!("{letter}:{first}:{last}:{error}");
            restore(&folder, &old);
            let ran = with_fault(&folder, arguments, &fault, None);
            undone += usize::from(world.check(&fault, &ran, letter == 'u', error == EINTR));
            injected += 1;
        }
        tell(format!("{name}\t{what}\t{calls}\t{injected}\t{undone}"));
    }
    for kind in ['w', 'r'] {
        restore(&folder, &old);
        let ran = with_fault(
            &folder,
            arguments,
            &format!("{kind}:1:{}:short", usize::MAX >> 1),
            None,
        );
        world.check("short", &ran, false, true);
    }
    let shorts = log.matches(['w', 'r']).count();
    tell(format!("{name}\tshort reads and writes\t{shorts}\t{shorts}\t0"));
}

/// A line of figures for `scripts/faults`.
fn tell(figures: String) {
    if is_long() {
        println!("faults\t{figures}");
    }
}

/// The first, the last and some between them.
fn sample(calls: usize, most: usize) -> Vec<usize> {
    let mut chosen: Vec<usize> = if calls <= most {
        (1..=calls).collect()
    } else {
        (0..most)
            .map(|place| 1 + place * (calls - 1) / (most - 1))
            .collect()
    };
    chosen.dedup();
    chosen
}

fn words(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stderr).into_owned()
}

struct World<'a> {
    folder: &'a Path,
    arguments: &'a str,
    old: &'a Snapshot,
    new: &'a Snapshot,
}

impl World<'_> {
    /// All old and an error in words, or all new; true if it was an error. `leaves`: a file that could not be
    /// removed may stay until the next run; `harmless`: it must not be an error.
    fn check(&self, fault: &str, ran: &Output, leaves: bool, harmless: bool) -> bool {
        let context = format!("{} with {fault}: {}", self.arguments, words(ran));
        assert!(!context.contains("panicked"), "{context}");
        let mut found = snapshot(self.folder);
        let expected = match ran.status.code() {
            Some(0) => self.new,
            Some(2) if !harmless => self.old,
            code => panic!("{code:?}: {context}"),
        };
        if leaves {
            let had = found.len();
            found.retain(|name, _| expected.contains_key(name) || !is_left_over(name));
            // A folder that could not be emptied stays with what is in it.
            found.retain(|name, _| expected.contains_key(name) || !name.ends_with('/'));
            if found.len() < had {
                let again = command(self.folder, self.arguments).output().unwrap();
                let after = snapshot(self.folder);
                let left: Vec<_> = after
                    .keys()
                    .filter(|name| is_left_over(name) && !self.new.contains_key(*name))
                    .collect();
                assert!(
                    again.status.success() && left.is_empty(),
                    "{left:?} stay: {context}"
                );
            }
        }
        let names: Vec<_> = found.keys().collect();
        let same = timeless(&found) == timeless(expected);
        assert!(same, "{names:?}, not all old or all new: {context}");
        let failed = ran.status.code() == Some(2);
        if failed {
            let told = words(ran);
            let names_file = [
                "labels.csv",
                "truth.csv",
                "out",
                "m.json",
                "m.",
                "spill",
                "scratch",
            ];
            assert!(told.contains("error: "), "{context}");
            assert!(
                names_file.iter().any(|name| told.contains(name)),
                "no file is named: {context}"
            );
        }
        failed
    }
}

/// The files without the times that `reproduce` writes into its pages: "0.53 ms", `"seconds":5.3e-4`.
fn timeless(files: &Snapshot) -> Snapshot {
    let without = |(name, bytes): (&String, &Vec<u8>)| {
        let mut bytes = bytes.clone();
        if name.starts_with("out/results.") || name == "out/index.html" {
            bytes.retain(|byte| !b"0123456789.-emus".contains(byte));
        }
        (name.clone(), bytes)
    };
    files.iter().map(without).collect()
}

const AGGREGATE: &str = "aggregate labels.csv -q -m dawid-skene -o out.csv --probabilities --workers out-workers.csv --changes \
                         out-changes.csv --review out-review.csv --intervals out-intervals.csv --model m.json --keep-labels";

fn aggregate_where_nothing_was() {
    survive("aggregate", &[], AGGREGATE);
}

fn aggregate_over_earlier_files() {
    survive(
        "aggregate, again",
        &[&AGGREGATE.replace("labels.csv -q", "old.csv -q")],
        AGGREGATE,
    );
}

fn aggregate_on_disk() {
    let line = "aggregate labels.csv -q -m dawid-skene -o out.csv --workers out-workers.csv --spill scratch";
    survive(
        "aggregate --spill",
        &[&line.replace("labels.csv", "old.csv")],
        line,
    );
}

/// A full disk left the new labels beside the old model, and the history could not be used any more.
fn a_full_disk_during_an_update_leaves_a_model_that_can_be_updated() {
    let first = "aggregate old.csv -q -m dawid-skene -o out.csv --model m.json --keep-labels";
    let update = "aggregate labels.csv -q --update m.json --model m.json -o out.csv";
    survive("aggregate --update", &[first], update);
}

/// Files of a simulation appeared one by one, and a full disk left a part of them.
fn simulate_on_a_full_disk_leaves_nothing() {
    survive("simulate", &[], "simulate -q --tasks 50 --workers 8 -o out/deep");
    survive(
        "simulate, again",
        &["simulate -q --tasks 30 --workers 5 --seed 3 -o out"],
        "simulate -q --tasks 50 --workers 8 -o out",
    );
}

fn report() {
    survive(
        "report",
        &["report old.csv -q -o out.html"],
        "report labels.csv -q -o out.html",
    );
}

fn plan() {
    let line = "plan labels.csv -q -m dawid-skene --budget 20 --retired out-retired.csv -o out.csv";
    survive("plan", &[&line.replace("labels.csv", "old.csv")], line);
}

fn convert_judges_workers() {
    survive(
        "convert",
        &["convert old.csv out.csv -q --to wide"],
        "convert labels.csv out.csv -q --to wide",
    );
    survive(
        "judges",
        &["judges old.csv -q -o out.csv"],
        "judges labels.csv -q -o out.csv",
    );
    survive(
        "workers",
        &["workers old.csv -q -o out.csv"],
        "workers labels.csv -q -o out.csv",
    );
}

fn reproduce() {
    let line = "reproduce thm:svdimputation -q --trials 2 -o out";
    survive("reproduce", &[&format!("{line} --setup text")], line);
}

fn pictures() {
    let labelled = "aggregate labels.csv -q -m dawid-skene -o labelled.csv";
    survive(
        "evaluate --picture",
        &[labelled],
        "evaluate labelled.csv truth.csv --picture out.svg",
    );
    survive("demo --picture", &[], "demo -q --tasks 60 --picture out.svg");
}

/// Standard output that is full is an error, and the files of the run do not appear.
fn a_full_standard_output_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("labels.csv"), labels(50, 6, 0)).unwrap();
    for line in [
        "workers labels.csv -o out.csv --json",
        "aggregate labels.csv -m dawid-skene --workers out.csv",
        "aggregate labels.csv -m dawid-skene --workers out.csv -o /dev/full",
    ] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ran = command(folder.path(), line).stdout(full).output().unwrap();
        assert_eq!(ran.status.code(), Some(2), "{line}: {}", words(&ran));
        assert!(words(&ran).contains("No space left"), "{line}: {}", words(&ran));
        assert_eq!(snapshot(folder.path()).len(), 1, "{line}");
    }
}

/// Clocks that jump by up to an hour, forth and back, change nothing: not the results, not the waits for
/// locks.
fn clocks_that_jump_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = fs::canonicalize(folder.path()).unwrap();
    for (file, content) in [
        ("labels.csv", labels(50, 6, 0)),
        ("old.csv", labels(40, 5, 1)),
        ("truth.csv", truth(50)),
    ] {
        fs::write(folder.join(file), content).unwrap();
    }
    for line in [
        AGGREGATE,
        "aggregate labels.csv -q --update m.json --model m.json -o out.csv",
        "aggregate labels.csv -q -o out.csv --spill .",
        "compare labels.csv -q --truth truth.csv -m majority-vote,mace --limit 7200 --json",
        "simulate -q --tasks 50 --workers 8 -o made",
        "report labels.csv -q -o out.html",
        "plan labels.csv -q --budget 20 -o out.csv",
    ] {
        let old = snapshot(&folder);
        let clean = command(&folder, line).output().unwrap();
        assert!(clean.status.success(), "{line}: {}", words(&clean));
        let new = snapshot(&folder);
        restore(&folder, &old);
        let jumping = command(&folder, line)
            .env("LD_PRELOAD", library())
            .env("QUORATE_FAULT_FOLDER", &folder)
            .env("QUORATE_FAULT_CLOCK", "1")
            .output()
            .unwrap();
        assert!(jumping.status.success(), "{line}: {}", words(&jumping));
        assert!(snapshot(&folder) == new, "{line}");
    }
}

/// A folder for temporary files that is not there is needed by few commands, and these name it.
fn a_temporary_folder_that_is_gone_is_not_needed_or_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("labels.csv"), labels(50, 6, 0)).unwrap();
    let run = |line: &str| {
        command(folder.path(), line)
            // Below a file: it cannot be made either.
            .env("TMPDIR", folder.path().join("labels.csv/nowhere"))
            .output()
            .unwrap()
    };
    for line in [
        "aggregate labels.csv -o out.csv",
        "aggregate labels.csv -o out.csv --spill .",
        "simulate -o made",
        "report labels.csv -o out.html",
        "plan labels.csv --budget 20 -o out.csv",
        "convert labels.csv out.parquet",
        "inspect labels.csv",
        "workers labels.csv -o out.csv",
    ] {
        let ran = run(line);
        assert!(ran.status.success(), "{line}: {}", words(&ran));
    }
    // Parquet is read from its end: what comes by a pipe is copied first.
    let packed = fs::File::open(folder.path().join("out.parquet")).unwrap();
    let ran = command(folder.path(), "aggregate - --format parquet")
        .env("TMPDIR", folder.path().join("nowhere"))
        .stdin(packed)
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(2), "{}", words(&ran));
    assert!(words(&ran).contains("nowhere: No such file"), "{}", words(&ran));
    // Labels beyond the limit go to the folder of the output, or to the temporary folder where there is none.
    let rows = (0..400_000).map(|row| format!("task {row},w{},{}\n", row % 7, row % 3));
    let many: String = std::iter::once("task,worker,label\n".into())
        .chain(rows)
        .collect();
    fs::write(folder.path().join("many.csv"), many).unwrap();
    let ran = run("aggregate many.csv -m majority-vote --memory 0.001");
    assert_eq!(ran.status.code(), Some(2), "{}", words(&ran));
    assert!(words(&ran).contains("nowhere"), "{}", words(&ran));
    assert!(ran.stdout.is_empty());
}

/// A link that appears in the place of an output while the program works is replaced, not followed.
fn a_planted_link_is_not_followed_and_one_given_on_purpose_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("labels.csv"), labels(50, 6, 0)).unwrap();
    fs::write(path("precious"), "mine").unwrap();
    // The labels come by a pipe: the program has settled its outputs when it opens it, and waits there.
    let made = std::process::Command::new("mkfifo")
        .arg(path("pipe.csv"))
        .status()
        .unwrap();
    assert!(made.success());
    let child = command(folder.path(), "aggregate pipe.csv -q -o out.csv")
        .spawn()
        .unwrap();
    let mut pipe = fs::OpenOptions::new().write(true).open(path("pipe.csv")).unwrap();
    symlink("precious", path("out.csv"));
    std::io::Write::write_all(&mut pipe, labels(50, 6, 0).as_bytes()).unwrap();
    drop(pipe);
    let ran = child.wait_with_output().unwrap();
    assert!(ran.status.success(), "{}", words(&ran));
    assert_eq!(fs::read(path("precious")).unwrap(), b"mine");
    assert!(fs::symlink_metadata(path("out.csv")).unwrap().is_file());
    symlink("precious", path("link.csv"));
    let ran = command(folder.path(), "aggregate labels.csv -q -o link.csv")
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", words(&ran));
    assert!(fs::symlink_metadata(path("link.csv")).unwrap().is_symlink());
    assert_eq!(
        fs::read(path("precious")).unwrap(),
        fs::read(path("out.csv")).unwrap()
    );
}

fn a_read_only_output_is_refused_and_appending_keeps_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("labels.csv"), labels(50, 6, 0)).unwrap();
    fs::write(path("out.csv"), "mine").unwrap();
    let mut permissions = fs::metadata(path("out.csv")).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(path("out.csv"), permissions).unwrap();
    let ran = command(folder.path(), "aggregate labels.csv -q -o out.csv")
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(2));
    assert!(words(&ran).contains("read-only"), "{}", words(&ran));
    assert_eq!(fs::read(path("out.csv")).unwrap(), b"mine");
    fs::write(path("log.csv"), "mine\n").unwrap();
    let log = fs::OpenOptions::new().append(true).open(path("log.csv")).unwrap();
    let ran = command(folder.path(), "aggregate labels.csv -q -o /dev/stdout")
        .stdout(log)
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", words(&ran));
    assert!(
        fs::read_to_string(path("log.csv"))
            .unwrap()
            .starts_with("mine\ntask,")
    );
}
