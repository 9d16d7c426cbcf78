//! Labels on disk: the same answers as in memory, nothing left behind.

mod support;

use std::fs;
use std::path::Path;

use support::quorate;

/// A crowd with repeated rows, abstentions, a task without labels, rows out of order.
fn write_labels(path: &Path) {
    let mut text = String::from("task,worker,label\n");
    let mut state = 7u64;
    let mut draw = |limit: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    for row in 0..6000 {
        let (task, worker) = (draw(900), draw(40));
        let truth = task % 3;
        let label = if draw(10) < 4 + worker % 5 { truth } else { draw(3) };
        match row % 97 {
            0 => text.push_str(&format!("task {task},w{worker},\n")),
            1 => text.push_str(&format!("\"only, {row}\",w{worker},nan\n")),
            _ => text.push_str(&format!("task {task},w{worker},c{label}\n")),
        }
    }
    fs::write(path, text).unwrap();
}

fn lines(path: &Path) -> Vec<String> {
    fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

#[test]
fn labels_on_disk_give_the_answers_of_labels_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    write_labels(&folder.path().join("labels.csv"));
    // So little memory that the labels go to more than ten partitions.
    for (method, memory) in [
        ("majority-vote", "4"),
        ("dawid-skene", "0.0001"),
        ("one-coin", "4"),
        ("pooled-ds", "0.0001"),
        ("fast-ds", "0.0001"),
        ("ibcc", "4"),
        ("rob-symnmf", "0.001"),
        ("rob-symnmf-em", "4"),
        ("des-symnmf", "0.001"),
    ] {
        for extra in [&[][..], &["--duplicates", "first"], &["--duplicates", "keep"]] {
            let mut in_memory = vec![
                "aggregate",
                "labels.csv",
                "-m",
                method,
                "--probabilities",
                "-o",
                "a.csv",
            ];
            in_memory.extend(["--workers", "wa.csv"]);
            in_memory.extend(extra);
            let mut on_disk = vec![
                "aggregate",
                "labels.csv",
                "-m",
                method,
                "--probabilities",
                "-o",
                "b.csv",
            ];
            on_disk.extend(["--workers", "wb.csv", "--spill", "spill", "--memory", memory]);
            on_disk.extend(extra);
            let first = quorate(folder.path(), &in_memory);
            assert_eq!(first.code, 0, "{}", first.stderr);
            let second = quorate(folder.path(), &on_disk);
            assert_eq!(second.code, 0, "{}", second.stderr);
            // Same tasks in the same order, same labels, probabilities to the printed precision.
            assert_eq!(
                lines(&folder.path().join("a.csv")),
                lines(&folder.path().join("b.csv")),
                "{method} {extra:?}"
            );
            assert_eq!(
                lines(&folder.path().join("wa.csv")),
                lines(&folder.path().join("wb.csv")),
                "{method} {extra:?}"
            );
            assert_eq!(fs::read_dir(folder.path().join("spill")).unwrap().count(), 0);
        }
    }
}

#[test]
fn what_needs_memory_is_refused_in_words_and_bad_rows_are_named() {
    let folder = tempfile::tempdir().unwrap();
    write_labels(&folder.path().join("labels.csv"));
    let run = quorate(
        folder.path(),
        &["aggregate", "labels.csv", "-m", "glad", "--spill", "s"],
    );
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("dawid-skene"), "{}", run.stderr);
    for option in ["--features", "--probabilities-in"] {
        let arguments = ["aggregate", "labels.csv", "--spill", "s", option, "nosuch.csv"];
        let run = quorate(folder.path(), &arguments);
        assert_eq!(run.code, 2);
        assert!(run.stderr.contains(option), "{}", run.stderr);
    }
    let keep = [
        "aggregate",
        "labels.csv",
        "-m",
        "ds",
        "--spill",
        "s",
        "--model",
        "model.json",
        "--keep-labels",
    ];
    let run = quorate(folder.path(), &keep);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("--keep-labels"), "{}", run.stderr);
    fs::write(folder.path().join("bad.csv"), "task,worker,label\na,b,c\na,,c\n").unwrap();
    let run = quorate(
        folder.path(),
        &[
            "aggregate",
            "bad.csv",
            "-m",
            "dawid-skene",
            "--spill",
            "s",
            "-o",
            "out.csv",
        ],
    );
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("line 3"), "{}", run.stderr);
    assert!(!folder.path().join("out.csv").exists());
    assert_eq!(fs::read_dir(folder.path().join("s")).unwrap().count(), 0);
}

/// Everything that a run can be told and asked for, besides labels.
#[test]
fn gold_priors_history_changes_calibration_and_json_are_those_of_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    write_labels(&path("labels.csv"));
    // A class that no worker named, and a task that nobody labelled.
    fs::write(
        path("gold.csv"),
        "task,label\ntask 3,c0\ntask 4,c1\ntask 5,b\nnobody,c2\n",
    )
    .unwrap();
    let history = [
        "aggregate",
        "labels.csv",
        "-m",
        "ds",
        "--model",
        "old.json",
        "-o",
        "o.csv",
    ];
    assert_eq!(quorate(folder.path(), &history).code, 0);
    for method in ["dawid-skene", "rob-symnmf-em"] {
        let run = |name: &str, extra: &[&str]| {
            let files = ["out", "workers", "changes"].map(|kind| format!("{kind}-{name}.csv"));
            let model = format!("{name}.json");
            let mut arguments = vec![
                "aggregate",
                "labels.csv",
                "-m",
                method,
                "--probabilities",
                "--json",
            ];
            arguments.extend(["-o", &files[0], "--workers", &files[1], "--changes", &files[2]]);
            arguments.extend([
                "--model",
                &model,
                "--gold",
                "gold.csv",
                "--worker-prior",
                "old.json",
            ]);
            arguments.extend([
                "--prior",
                "b=0.1,c0=0.3,c1=0.3,c2=0.3",
                "--prior-weight",
                "20",
                "--calibrate",
            ]);
            arguments.extend(extra);
            let run = quorate(folder.path(), &arguments);
            assert_eq!(run.code, 0, "{}", run.stderr);
            let mut json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
            for differs in ["fit_seconds", "spilled_bytes"] {
                json.as_object_mut().unwrap().remove(differs);
            }
            let model: serde_json::Value =
                serde_json::from_str(&fs::read_to_string(path(&model)).unwrap()).unwrap();
            (
                files.map(|file| lines(&path(&file))),
                json,
                model["fingerprint"].clone(),
            )
        };
        let (memory, disk) = (
            run("memory", &[]),
            run("disk", &["--spill", "s", "--memory", "0.001"]),
        );
        assert!(memory.0[2].len() > 10);
        assert_eq!(memory.0, disk.0, "{method}");
        assert_eq!(memory.2, disk.2);
        // Estimates are compared number by number, too.
        let flat = |mut json: serde_json::Value| {
            let mut error = json["estimated_error"].take();
            let all = json.as_object_mut().unwrap();
            all.append(error.as_object_mut().unwrap());
            all.clone()
        };
        let (a, b) = (flat(memory.1), flat(disk.1));
        assert!(a.keys().eq(b.keys()), "{a:?} {b:?}");
        for (key, value) in &a {
            match (value.as_f64(), b[key].as_f64()) {
                (Some(x), Some(y)) => assert!((x - y).abs() <= 1e-6 * x.abs(), "{key}: {x} {y}"),
                _ => assert_eq!(value, &b[key], "{key}"),
            }
        }
    }
}

#[test]
fn intervals_on_disk_are_near_those_of_memory() {
    let folder = tempfile::tempdir().unwrap();
    write_labels(&folder.path().join("labels.csv"));
    let accuracies = |name: &str, extra: &[&str]| -> Vec<f64> {
        let mut arguments = vec![
            "aggregate",
            "labels.csv",
            "-m",
            "ds",
            "-o",
            "o.csv",
            "--intervals",
            name,
        ];
        arguments.extend(extra);
        let run = quorate(folder.path(), &arguments);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let rows = lines(&folder.path().join(name)).into_iter();
        rows.filter(|row| row.starts_with("accuracy"))
            .map(|row| row.split(',').nth(4).unwrap().parse().unwrap())
            .collect()
    };
    let memory = accuracies("memory.csv", &[]);
    let disk = accuracies("disk.csv", &["--spill", "s", "--memory", "0.001"]);
    assert_eq!((memory.len(), disk.len()), (40, 40));
    for (a, b) in memory.iter().zip(&disk) {
        assert!((a - b).abs() < 0.03, "{a} {b}");
    }
}

#[test]
fn a_file_above_the_memory_goes_to_disk_by_itself_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    write_labels(&folder.path().join("labels.csv"));
    let run = quorate(
        folder.path(),
        &[
            "aggregate",
            "labels.csv",
            "-m",
            "majority-vote",
            "-o",
            "out.csv",
            "--memory",
            "0.0001",
        ],
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("kept on disk in"), "{}", run.stderr);
    let left: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn the_default_method_goes_to_disk() {
    let folder = tempfile::tempdir().unwrap();
    write_labels(&folder.path().join("labels.csv"));
    let disk = [
        "aggregate",
        "labels.csv",
        "--spill",
        "s",
        "-o",
        "disk.csv",
        "--json",
    ];
    let run = quorate(folder.path(), &disk);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let summary: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(summary["estimated_error"]["value"].as_f64().unwrap() > 0.0);
    assert_eq!(summary["warnings"].as_array().unwrap().len(), 0);
    let memory = quorate(
        folder.path(),
        &["aggregate", "labels.csv", "-o", "memory.csv", "-q"],
    );
    assert_eq!(memory.code, 0);
    // Effects of tasks are looked for anew in every block: nearly the same labels.
    let label = |line: &String| line.rsplit_once(',').unwrap().0.to_owned();
    let (disk, memory) = (
        lines(&folder.path().join("disk.csv")),
        lines(&folder.path().join("memory.csv")),
    );
    assert_eq!(disk.len(), memory.len());
    let equal = disk
        .iter()
        .zip(&memory)
        .filter(|(a, b)| label(a) == label(b))
        .count();
    assert!(equal * 100 >= 99 * disk.len(), "{equal} of {}", disk.len());
}

#[test]
fn a_model_from_disk_is_the_model_from_memory() {
    let folder = tempfile::tempdir().unwrap();
    write_labels(&folder.path().join("labels.csv"));
    let model = |name: &str, extra: &[&str]| -> serde_json::Value {
        let mut arguments = vec![
            "aggregate",
            "labels.csv",
            "-m",
            "ds",
            "-o",
            "out.csv",
            "--model",
            name,
        ];
        arguments.extend(extra);
        let run = quorate(folder.path(), &arguments);
        assert_eq!(run.code, 0, "{}", run.stderr);
        serde_json::from_str(&fs::read_to_string(folder.path().join(name)).unwrap()).unwrap()
    };
    let memory = model("memory.json", &[]);
    let disk = model("disk.json", &["--spill", "s", "--memory", "0.0001"]);
    let numbers = |model: &serde_json::Value| -> Vec<f64> {
        let workers = model["workers"].as_array().unwrap();
        let matrices = |key: &str| -> Vec<f64> {
            let rows = workers.iter().flat_map(|worker| worker[key].as_array().unwrap());
            rows.flat_map(|row| row.as_array().unwrap())
                .map(|cell| cell.as_f64().unwrap())
                .collect()
        };
        [matrices("confusion"), matrices("counts")].concat()
    };
    for key in ["method", "parameters", "classes"] {
        assert_eq!(memory[key], disk[key], "{key}");
    }
    let (memory, disk) = (numbers(&memory), numbers(&disk));
    assert_eq!(memory.len(), disk.len());
    for (memory, disk) in memory.iter().zip(&disk) {
        assert!((memory - disk).abs() < 1e-6, "{memory} {disk}");
    }
}

#[cfg_attr(not(unix), ignore = "needs Unix: outputs of a killed run")]
#[test]
fn a_killed_run_leaves_no_half_of_an_output_and_a_rerun_works() {
    use std::process::{Command, Stdio};
    use std::time::Duration;

    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_labels(&folder.join("labels.csv"));
    let arguments = [
        "aggregate",
        "labels.csv",
        "-m",
        "ds",
        "--spill",
        "s",
        "--memory",
        "0.0001",
        "--model",
        "model.json",
        "-o",
        "out.csv",
    ];
    let reference = quorate(folder, &arguments);
    assert_eq!(reference.code, 0, "{}", reference.stderr);
    let whole = [
        fs::read(folder.join("out.csv")).unwrap(),
        fs::read(folder.join("model.json")).unwrap(),
    ];
    // Wherever the kill hits: what is there is whole.
    for delay in [0, 2, 5, 10, 20, 40, 80, 160, 320] {
        for name in ["out.csv", "model.json"] {
            let _ = fs::remove_file(folder.join(name));
        }
        let mut child = Command::new(env!("CARGO_BIN_EXE_quorate"))
            .args(arguments)
            .current_dir(folder)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(delay));
        let _ = child.kill();
        child.wait().unwrap();
        for (name, whole) in ["out.csv", "model.json"].iter().zip(&whole) {
            if let Ok(found) = fs::read(folder.join(name)) {
                assert!(&found == whole, "{name} after {delay} ms");
            }
        }
    }
    let again = quorate(folder, &arguments);
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert!(fs::read(folder.join("out.csv")).unwrap() == whole[0]);
    assert_eq!(fs::read_dir(folder.join("s")).unwrap().count(), 0);
}
