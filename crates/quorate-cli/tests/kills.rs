//! The program is killed, at random moments and at chosen calls: every file is the old one or the new one,
//! and the next run works and removes what was left. `QUORATE_FAULTS=all` for hundreds of kills;
//! `scripts/faults` prints the figures.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use quorate_testkit::{conditional_test, run_tests};
use support::world::{
    Snapshot, command, is_left_over, is_long, labels, restore, snapshot, with_fault, without_faults,
    without_linux, without_unix,
};

fn main() -> ExitCode {
    let (faults, linux, unix) = (&without_faults(), &without_linux(), &without_unix());
    run_tests(vec![
        conditional_test!(killed_at_random_moments, unix),
        conditional_test!(killed_at_every_call, faults),
        conditional_test!(two_processes_at_once, unix),
        conditional_test!(the_second_of_two_updates_at_once_is_refused, unix),
        conditional_test!(a_signal_that_was_ignored_stays_ignored, linux),
    ])
}

const LINES: [(&str, &str, &str); 3] = [
    (
        "aggregate",
        "aggregate old.csv -q -m dawid-skene -o out.csv --workers out-workers.csv",
        "aggregate labels.csv -q -m dawid-skene -o out.csv --workers out-workers.csv",
    ),
    (
        "aggregate --spill",
        "aggregate old.csv -q -m dawid-skene -o out.csv --spill scratch",
        "aggregate labels.csv -q -m dawid-skene -o out.csv --spill scratch",
    ),
    (
        "aggregate --update",
        "aggregate old.csv -q -m dawid-skene -o out.csv --model m.json --keep-labels",
        "aggregate labels.csv -q --update m.json --model m.json -o out.csv",
    ),
];

/// Numbers that are the same in every run (SplitMix64).
struct Moments(u64);

impl Moments {
    fn draw(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) as f64 / u64::MAX as f64
    }
}

#[derive(Default)]
struct Figures {
    kills: usize,
    old: usize,
    new: usize,
    between: usize,
    left: usize,
}

struct World<'a> {
    folder: &'a Path,
    line: &'a str,
    old: &'a Snapshot,
    new: &'a Snapshot,
}

impl World<'_> {
    /// Every file is old or new; the next run works and leaves what an undisturbed one does. `gentle`:
    /// nothing may be left.
    fn check(&self, what: &str, gentle: bool, figures: &mut Figures) {
        let found = snapshot(self.folder);
        let is_extra = |name: &&String| !self.old.contains_key(*name) && !self.new.contains_key(*name);
        let extra: Vec<&String> = found.keys().filter(is_extra).collect();
        let known = |name: &str| is_left_over(name) || name.starts_with("scratch/");
        assert!(extra.iter().all(|name| known(name)), "{what}: {extra:?}");
        assert!(!gentle || extra.is_empty(), "{what}: {extra:?} stay");
        figures.kills += 1;
        figures.left += usize::from(!extra.is_empty());
        // Labels that a model rests on are there before it, and after it.
        let outputs = self
            .old
            .keys()
            .chain(self.new.keys())
            .filter(|name| !name.contains(".labels.bin"));
        let (mut is_old, mut is_new) = (true, true);
        for name in outputs {
            let (was, is, will) = (self.old.get(name), found.get(name), self.new.get(name));
            assert!(is == was || is == will, "{what}: {name} is neither old nor new");
            is_old &= is == was;
            is_new &= is == will;
        }
        match (is_old, is_new) {
            (true, _) => figures.old += 1,
            (_, true) => figures.new += 1,
            _ => figures.between += 1,
        }
        let again = command(self.folder, self.line).output().unwrap();
        let words = String::from_utf8_lossy(&again.stderr);
        assert!(again.status.success(), "{what}, then: {words}");
        let after = snapshot(self.folder);
        // An update that had come to its end is done twice: other labels, and so other files.
        let left = |name: &&String| name.contains(".quorate-") || name.starts_with("scratch/q");
        assert!(
            !after.keys().any(|name| left(&name)),
            "{what}: {:?}",
            after.keys()
        );
        let names = after.keys().filter(|name| name.contains(".labels.bin")).count();
        assert!(names <= 1, "{what}: {:?}", after.keys());
    }
}

fn each(run: impl Fn(&str, &World<'_>), tasks: usize) {
    for (name, first, line) in LINES {
        let outside = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(outside.path()).unwrap();
        fs::write(folder.join("old.csv"), labels(tasks / 2, 6, 1)).unwrap();
        fs::write(folder.join("labels.csv"), labels(tasks, 6, 0)).unwrap();
        assert!(command(&folder, first).output().unwrap().status.success());
        let old = snapshot(&folder);
        assert!(command(&folder, line).output().unwrap().status.success());
        let new = snapshot(&folder);
        run(
            name,
            &World {
                folder: &folder,
                line,
                old: &old,
                new: &new,
            },
        );
    }
}

fn tell(name: &str, how: &str, figures: &Figures) {
    let Figures {
        kills,
        old,
        new,
        between,
        left,
    } = figures;
    if is_long() {
        println!("kills\t{name}\t{how}\t{kills}\t{old}\t{new}\t{between}\t{left}");
    }
}

fn killed_at_random_moments() {
    each(
        |name, world| {
            restore(world.folder, world.old);
            let started = Instant::now();
            assert!(
                command(world.folder, world.line)
                    .output()
                    .unwrap()
                    .status
                    .success()
            );
            let usual = started.elapsed().as_secs_f64();
            for (seed, signal) in ["KILL", "TERM", "HUP", "INT"].into_iter().enumerate() {
                let mut moments = Moments(seed as u64);
                let mut figures = Figures::default();
                for _ in 0..if is_long() { 100 } else { 4 } {
                    restore(world.folder, world.old);
                    let mut child = command(world.folder, world.line).spawn().unwrap();
                    std::thread::sleep(Duration::from_secs_f64(1.1 * usual * moments.draw()));
                    let kill = format!("kill -{signal} {} 2>/dev/null", child.id());
                    let _ = Command::new("sh").args(["-c", &kill]).status().unwrap();
                    child.wait().unwrap();
                    world.check(&format!("{name}, {signal}"), signal != "KILL", &mut figures);
                }
                tell(name, signal, &figures);
            }
        },
        if is_long() { 3000 } else { 800 },
    );
}

/// Between any two calls that change the disk.
fn killed_at_every_call() {
    each(
        |name, world| {
            let log = tempfile::NamedTempFile::new().unwrap();
            restore(world.folder, world.old);
            with_fault(world.folder, world.line, "", Some(log.path()));
            let log = fs::read_to_string(log.path()).unwrap();
            let mut figures = Figures::default();
            for kind in ['w', 'f', 'n', 'c', 'u', 'm', 'l', 'p'] {
                let calls = log.matches(kind).count();
                for call in 1..=calls.min(if is_long() { 1000 } else { 6 }) {
                    restore(world.folder, world.old);
                    let fault = format!("{kind}:{call}:{call}:kill");
                    with_fault(world.folder, world.line, &fault, None);
                    world.check(&format!("{name}, {fault}"), false, &mut figures);
                }
            }
            tell(name, "KILL at a call", &figures);
        },
        60,
    );
}

/// Two at once on the same output and the same folder for spilled labels: one's complete file, nobody in the
/// other's way.
fn two_processes_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("a.csv"), labels(300, 6, 0)).unwrap();
    fs::write(folder.join("b.csv"), labels(400, 6, 1)).unwrap();
    let line = |name: &str| {
        format!("aggregate {name}.csv -q -m dawid-skene -o out.csv --workers out-workers.csv --spill scratch")
    };
    let alone = ["a", "b"].map(|name| {
        assert!(command(folder, &line(name)).output().unwrap().status.success());
        snapshot(folder)
    });
    for _ in 0..if is_long() { 100 } else { 10 } {
        let started = ["a", "b"].map(|name| command(folder, &line(name)).spawn().unwrap());
        for child in started {
            let ran = child.wait_with_output().unwrap();
            assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        }
        let found = snapshot(folder);
        assert!(alone.contains(&found), "{:?}", found.keys());
    }
}

/// Both read the same model; what the first added would have been lost.
fn the_second_of_two_updates_at_once_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("old.csv"), labels(40, 6, 0)).unwrap();
    fs::write(path("new.csv"), labels(60, 6, 1)).unwrap();
    let run = |line: &str| command(folder.path(), line).output().unwrap();
    assert!(
        run("aggregate old.csv -q -m dawid-skene -o out.csv --model m.json --keep-labels")
            .status
            .success()
    );
    assert!(
        Command::new("mkfifo")
            .arg(path("pipe.csv"))
            .status()
            .unwrap()
            .success()
    );
    let slow = command(
        folder.path(),
        "aggregate pipe.csv -q --update m.json --model m.json -o out-slow.csv",
    )
    .spawn()
    .unwrap();
    // It has read the model when it opens the pipe.
    let mut pipe = fs::OpenOptions::new().write(true).open(path("pipe.csv")).unwrap();
    assert!(
        run("aggregate new.csv -q --update m.json --model m.json -o out.csv")
            .status
            .success()
    );
    let first = snapshot(folder.path());
    std::io::Write::write_all(&mut pipe, labels(20, 6, 2).as_bytes()).unwrap();
    drop(pipe);
    let slow = slow.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&slow.stderr);
    assert_eq!(slow.status.code(), Some(2), "{words}");
    assert!(words.contains("m.json") && words.contains("run again"), "{words}");
    assert_eq!(snapshot(folder.path()), first);
}

/// The handler of SIGHUP replaced the one that `nohup` had set, and a run ended with its terminal.
fn a_signal_that_was_ignored_stays_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    assert!(
        Command::new("mkfifo")
            .arg(path("pipe.csv"))
            .status()
            .unwrap()
            .success()
    );
    for (ignored, code) in [("trap '' HUP; ", Some(0)), ("", Some(129))] {
        let line = format!(
            "{ignored}exec {} aggregate pipe.csv -q -o out.csv",
            env!("CARGO_BIN_EXE_quorate")
        );
        // The tests themselves may run under `nohup`; a shell cannot undo that.
        let mut child = Command::new("env")
            .args(["--default-signal=HUP", "sh", "-c", &line])
            .current_dir(folder.path())
            .spawn()
            .unwrap();
        // It watches for signals long before it opens the pipe.
        let mut pipe = fs::OpenOptions::new().write(true).open(path("pipe.csv")).unwrap();
        let kill = format!("kill -HUP {}", child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        std::thread::sleep(Duration::from_millis(100));
        let _ = std::io::Write::write_all(&mut pipe, labels(50, 6, 0).as_bytes());
        drop(pipe);
        assert_eq!(child.wait().unwrap().code(), code, "{line}");
    }
}
