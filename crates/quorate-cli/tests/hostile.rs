//! Files and names that mean harm, or are merely odd, against the built program: each test is named after
//! what once went wrong. The files in `damaged/` were written by pyarrow from three workers' labels on twelve
//! tasks.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use support::{Run, done, mode, quorate, quorate_with_input, run, symlink};
use tempfile::TempDir;

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/damaged");

/// Labels whose ids ring the bell, clear the screen and colour it, also by control characters above ASCII,
/// and their truth.
fn loud_folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (mut labels, mut truth) = (String::from("task,worker,label\n"), String::from("task,label\n"));
    for task in 0..30 {
        let name = format!("t\u{1b}[2J{task}");
        truth.push_str(&format!("{name},a\u{1b}[1m{}\u{9b}\u{7f}\n", task % 2));
        for worker in 0..3 {
            let label = if worker == 2 && task % 3 == 0 {
                (task + 1) % 2
            } else {
                task % 2
            };
            labels.push_str(&format!("{name},w\u{7}{worker},a\u{1b}[1m{label}\u{9b}\u{7f}\n"));
        }
    }
    fs::write(folder.path().join("loud.csv"), labels).unwrap();
    fs::write(folder.path().join("truth.csv"), truth).unwrap();
    folder
}

fn is_loud(text: &str) -> bool {
    text.contains(|letter: char| letter.is_control() && letter != '\n' && letter != '\t')
}

#[test]
fn no_command_lets_escape_or_bell_through() {
    let folder = loud_folder();
    done(folder.path(), "aggregate loud.csv -m ds -o out.csv");
    for arguments in [
        "inspect loud.csv --all --replicates 20",
        "inspect loud.csv --json --replicates 20",
        "workers loud.csv --all",
        "workers loud.csv --json",
        "compare loud.csv --truth truth.csv",
        "compare loud.csv --json",
        "judges loud.csv",
        "judges loud.csv --json --gold truth.csv",
        "plan loud.csv --budget 9 -o plan.csv",
        "plan loud.csv --budget 9 -o plan.csv --json",
        "plan loud.csv --budget 9 --simulate --truth truth.csv",
        "plan loud.csv --goal comparable -o plan.csv",
        "report loud.csv -o page.html",
        "evaluate out.csv truth.csv",
        "evaluate out.csv truth.csv --json",
        "aggregate loud.csv -o out.csv --review 5 --gold truth.csv",
        "aggregate loud.csv -o out.csv --json",
        "aggregate loud.csv -o out.csv --classes a",
        "aggregate loud.csv -o out.csv --keep-workers w\u{1b}",
        "aggregate loud.csv -o out.csv -m \u{1b}[2J",
        "aggregate loud.csv -o out.csv -p \u{1b}=1",
        "aggregate loud.csv -o out.csv --prior \u{1b}=1",
        "aggregate loud.csv -o out.csv --seed \u{1b}",
        "aggregate loud.csv second\u{1b}.csv",
        "aggregate no\u{1b}.csv",
        "aggregate loud.csv -o no\u{1b}/out.csv",
        "\u{1b}",
    ] {
        let Run { stdout, stderr, .. } = run(folder.path(), arguments);
        assert!(
            !is_loud(&stdout) && !is_loud(&stderr),
            "{arguments:?}: {stdout:?} {stderr:?}"
        );
        if arguments.contains("--json") {
            serde_json::from_str::<serde_json::Value>(&stdout)
                .unwrap_or_else(|error| panic!("{arguments}: {error}"));
        }
    }
}

/// Runs the program on a terminal of its own (`script`, which comes with every Linux); all that it showed
/// there.
fn on_terminal(folder: &Path, arguments: &str) -> String {
    let shown = Command::new("script")
        .args([
            "-qec",
            &format!("'{}' {arguments}", env!("CARGO_BIN_EXE_quorate")),
            "/dev/null",
        ])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("the program script, of util-linux");
    String::from_utf8(shown.stdout).unwrap()
}

#[cfg_attr(not(target_os = "linux"), ignore = "needs Linux: the program script")]
#[test]
fn data_on_a_terminal_are_spelt_out_and_in_a_pipe_as_they_are() {
    let folder = loud_folder();
    for arguments in [
        "aggregate loud.csv -m mv -q",
        "aggregate loud.csv -m mv -q -o /dev/stdout",
        "plan loud.csv --budget 9 -q",
    ] {
        // Lines end in CR LF on a terminal.
        let shown = on_terminal(folder.path(), arguments).replace("\r\n", "\n");
        assert!(shown.starts_with("task,"), "{shown}");
        assert!(!is_loud(&shown), "{arguments}: {shown:?}");
    }
    assert!(on_terminal(folder.path(), "aggregate loud.csv -m mv -q").contains("t\\u{1b}[2J0,"));
    let piped = done(folder.path(), "aggregate loud.csv -m mv -q").stdout;
    assert!(
        piped.contains("t\u{1b}[2J0,a\u{1b}[1m0\u{9b}\u{7f},"),
        "{piped:?}"
    );
    // An argument that clap repeats.
    let shown = on_terminal(folder.path(), "aggregate loud.csv \"$(printf 'b\\033[2J')\"");
    assert!(
        shown.contains("unexpected argument") && !shown.contains('\u{1b}'),
        "{shown:?}"
    );
}

#[test]
fn formulas_are_neutralised_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = String::new();
    for task in ["=1+1", "+2", "-3", "@SUM(A1)", "\"=A,1\"", "plain", "'quoted"] {
        for worker in ["=cmd|' /C calc'!A0", "ann", "bob"] {
            rows.push_str(&format!("{task},{worker},-yes\n"));
        }
    }
    rows.push_str("plain,cem,no\n");
    support::write(folder.path(), "labels.csv", &rows);
    let plain = done(folder.path(), "aggregate labels.csv -m mv -q").stdout;
    assert!(plain.contains("\n=1+1,-yes,1\n"), "{plain}");
    let safe = "aggregate labels.csv -m mv -q --spreadsheet-safe";
    let expected = "task,label,confidence\n'=1+1,'-yes,1\n'+2,'-yes,1\n'-3,'-yes,1\n'@SUM(A1),'-yes,1\n\"'=A,1\",'-yes,1\n\
                    plain,'-yes,0.75\n'quoted,'-yes,1\n";
    assert_eq!(done(folder.path(), safe).stdout, expected);
    // Every command that writes CSV, every table; columns, too.
    for (arguments, files) in [
        (
            "aggregate labels.csv -m ds --probabilities --spreadsheet-safe -o out.csv --workers workers.tsv",
            "out.csv workers.tsv",
        ),
        (
            "aggregate labels.csv -m ds --spreadsheet-safe -o out.csv --intervals intervals.csv",
            "out.csv intervals.csv",
        ),
        ("convert labels.csv long.csv --spreadsheet-safe", "long.csv"),
        (
            "convert labels.csv wide.csv --to wide --spreadsheet-safe",
            "wide.csv",
        ),
        (
            "workers labels.csv -o verdicts.csv --spreadsheet-safe",
            "verdicts.csv",
        ),
        (
            "judges labels.csv -o verdicts.csv --spreadsheet-safe",
            "verdicts.csv",
        ),
        (
            "plan labels.csv --budget 5 -m ds -o plan.csv --retired retired.csv --retire 0.5 --spreadsheet-safe",
            "plan.csv retired.csv",
        ),
    ] {
        done(folder.path(), arguments);
        for file in files.split(' ') {
            let text = fs::read_to_string(folder.path().join(file)).unwrap();
            assert!(text.lines().count() > 1, "{arguments}: {file}");
            for field in text.split(['\n', ',', '\t']).map(|field| field.trim_matches('"')) {
                let is_formula = field.starts_with(['=', '+', '-', '@']) && field.parse::<f64>().is_err();
                assert!(!is_formula, "{arguments}: {file}: {field:?}");
            }
        }
    }
    let batch = "HITId,AssignmentId,WorkerId,AssignmentStatus,Input.text,Answer.kind,Approve\n\
                 h1,a1,w1,Submitted,\"=HYPERLINK(\"\"x,y\"\")\",@yes,\nh1,a2,w2,Submitted,+1,@yes,\n";
    fs::write(folder.path().join("batch.csv"), batch).unwrap();
    let review = "convert batch.csv review.csv --to mturk-review -m mv";
    let read = || fs::read_to_string(folder.path().join("review.csv")).unwrap();
    done(folder.path(), review);
    let plain = "HITId,AssignmentId,WorkerId,AssignmentStatus,Input.text,Answer.kind,Approve,Reject\n\
                 h1,a1,w1,Submitted,\"=HYPERLINK(\"\"x,y\"\")\",@yes,x,\nh1,a2,w2,Submitted,+1,@yes,x,\n";
    assert_eq!(read(), plain);
    done(folder.path(), &format!("{review} --spreadsheet-safe"));
    let safe = plain
        .replace("\"=", "\"'=")
        .replace("+1", "'+1")
        .replace("@yes", "'@yes");
    assert_eq!(read(), safe);
    // Other formats are not for spreadsheets.
    done(folder.path(), "convert labels.csv long.jsonl --spreadsheet-safe");
    assert!(
        fs::read_to_string(folder.path().join("long.jsonl"))
            .unwrap()
            .contains("\"=1+1\"")
    );
}

#[cfg_attr(not(unix), ignore = "needs Unix: symbolic links")]
#[test]
fn no_output_of_any_command_overwrites_an_input_through_a_link() {
    let folder = support::folder();
    done(
        folder.path(),
        "aggregate labels.csv -m ds -o out.csv --model model.json",
    );
    symlink("labels.csv", folder.path().join("link.csv"));
    symlink("truth.csv", folder.path().join("truth-link.csv"));
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    let before = [read("labels.csv"), read("truth.csv"), read("model.json")];
    for arguments in [
        "aggregate labels.csv -o link.csv",
        "aggregate link.csv -o labels.csv",
        "aggregate labels.csv -o new.csv --changes link.csv",
        "aggregate labels.csv -o new.csv --workers link.csv",
        "aggregate labels.csv -o new.csv --review link.csv",
        "aggregate labels.csv -o new.csv --intervals link.csv",
        "aggregate labels.csv -o new.csv --model link.csv",
        "aggregate labels.csv -o new.csv --gold truth.csv --workers truth-link.csv",
        "aggregate labels.csv -o truth-link.csv --drop-tasks truth.csv",
        "aggregate labels.csv -o new.csv --worker-prior model.json --model model.json",
        "aggregate labels.csv -o new.csv --workers ./new.csv",
        "convert labels.csv link.csv",
        "workers labels.csv -o link.csv",
        "judges labels.csv -o link.csv",
        "report labels.csv -o link.csv",
        "plan labels.csv --budget 5 -o link.csv",
        "plan labels.csv --budget 5 -o new.csv --retired new.csv",
        "plan labels.csv --budget 5 -o truth-link.csv --exclude truth.csv",
        "evaluate truth.csv truth.csv --picture truth-link.csv",
    ] {
        let refused = run(folder.path(), arguments);
        assert_eq!(refused.code, 2, "{arguments}");
        let words = ["would overwrite", "both go to"];
        assert!(
            words.iter().any(|words| refused.stderr.contains(words)),
            "{arguments}: {}",
            refused.stderr
        );
    }
    assert_eq!(
        before,
        [read("labels.csv"), read("truth.csv"), read("model.json")]
    );
    assert!(!folder.path().join("new.csv").exists());
}

#[test]
fn a_missing_folder_is_found_before_anything_is_read() {
    let folder = support::folder();
    for option in [
        "-o",
        "--workers",
        "--changes",
        "--model",
        "--review",
        "--intervals",
    ] {
        let arguments = format!("aggregate nowhere.csv {option} no/such.csv");
        let refused = run(folder.path(), &arguments);
        assert_eq!(refused.code, 2);
        let words = format!("{option} no/such.csv: the folder no does not exist");
        assert!(refused.stderr.contains(&words), "{}", refused.stderr);
        assert!(!refused.stderr.contains("partial"), "{}", refused.stderr);
    }
}

#[test]
fn kept_labels_of_another_table_with_a_valid_checksum_are_refused() {
    let folder = support::folder();
    let path = |name: &str| folder.path().join(name);
    let labels = fs::read_to_string(path("labels.csv")).unwrap();
    fs::write(path("other.csv"), labels.replace("t5,ann,dog", "t5,ann,cat")).unwrap();
    let mut kept = Vec::new();
    for name in ["labels", "other"] {
        done(
            folder.path(),
            &format!("aggregate {name}.csv -m ds -o out.csv --model {name}.json --keep-labels"),
        );
        let start = format!("{name}.");
        let files = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let is_kept = |path: &std::path::PathBuf| {
            let file = path.file_name().unwrap().to_string_lossy().into_owned();
            file.starts_with(&start) && file.ends_with(".labels.bin")
        };
        kept.push(files.into_iter().find(is_kept).unwrap());
    }
    // What names the model, from the one; the packed labels with their checksum, from the other.
    let packed = |bytes: &[u8]| {
        bytes
            .windows(4)
            .position(|four| four == [0x28, 0xb5, 0x2f, 0xfd])
            .unwrap()
    };
    let (own, other) = (fs::read(&kept[0]).unwrap(), fs::read(&kept[1]).unwrap());
    fs::write(
        &kept[0],
        [&own[..packed(&own)], &other[packed(&other)..]].concat(),
    )
    .unwrap();
    let refused = run(
        folder.path(),
        "aggregate labels.csv --update labels.json -o new.csv",
    );
    assert_eq!(refused.code, 2);
    assert!(
        refused
            .stderr
            .contains("found other labels than those that this model was fitted on"),
        "{}",
        refused.stderr
    );
    assert!(!path("new.csv").exists());
}

#[test]
fn tasks_twice_or_missing_in_probabilities_are_said() {
    let folder = support::folder();
    done(
        folder.path(),
        "aggregate labels.csv -m ds --probabilities -o p.csv",
    );
    let text = fs::read_to_string(folder.path().join("p.csv")).unwrap();
    let last = text.lines().last().unwrap();
    fs::write(folder.path().join("twice.csv"), format!("{text}{last}\n")).unwrap();
    let short: String = text.lines().take(9).map(|line| format!("{line}\n")).collect();
    fs::write(folder.path().join("short.csv"), short).unwrap();
    let refused = run(
        folder.path(),
        "aggregate labels.csv -m crowdlab --probabilities-in twice.csv",
    );
    assert_eq!(refused.code, 2);
    let words =
        "twice.csv, line 14, column \"task\": found task \"t11\" again, expected one row for each task";
    assert!(refused.stderr.contains(words), "{}", refused.stderr);
    for command in [
        "aggregate labels.csv -m crowdlab",
        "compare labels.csv -m crowdlab",
    ] {
        let found = done(folder.path(), &format!("{command} --probabilities-in short.csv"));
        let words = "4 tasks without a row in --probabilities-in";
        assert!(found.stderr.contains(words), "{}", found.stderr);
    }
}

#[test]
fn one_column_for_two_things_is_refused() {
    let folder = support::folder();
    for arguments in [
        "aggregate labels.csv --columns task=worker",
        "aggregate labels.csv --columns task=label,label=label",
        "aggregate labels.csv -m ds --spill . --columns worker=task",
        "evaluate truth.csv truth.csv --columns task=label",
    ] {
        let refused = run(folder.path(), arguments);
        assert_eq!(refused.code, 2, "{arguments}");
        assert!(
            refused.stderr.contains("cannot hold both"),
            "{arguments}: {}",
            refused.stderr
        );
    }
}

#[test]
fn bad_parameters_and_numbers_of_a_model_file_are_refused_with_its_name() {
    let folder = support::folder();
    done(
        folder.path(),
        "aggregate labels.csv -m ds -o out.csv --model m.json --keep-labels",
    );
    let text = fs::read_to_string(folder.path().join("m.json")).unwrap();
    let first_count = text.find("\"counts\":[[").unwrap() + "\"counts\":[[".len();
    let count_end = first_count + text[first_count..].find(',').unwrap();
    let huge = format!("{}1e300{}", &text[..first_count], &text[count_end..]);
    for (name, damaged) in [
        (
            "parameter.json",
            text.replace("\"tol\":\"1e-6\"", "\"tol\":\"inf\""),
        ),
        ("count.json", huge),
        (
            "classes.json",
            text.replace("\"classes\": [\"cat\"", "\"classes\": [\"dog\""),
        ),
        (
            "labels.json",
            text.replace("\"labels\":12", "\"labels\":18446744073709551615"),
        ),
    ] {
        assert_ne!(damaged, text, "{name}");
        fs::write(folder.path().join(name), &damaged).unwrap();
        for option in ["--update", "--worker-prior"] {
            // A prior rests on the numbers of a model, not on its parameters.
            if (name, option) == ("parameter.json", "--worker-prior") {
                continue;
            }
            let method = if option == "--update" { "" } else { " -m ds" };
            let refused = run(
                folder.path(),
                &format!("aggregate labels.csv{method} {option} {name} -o new.csv"),
            );
            assert_eq!(refused.code, 2, "{name} {option}: {}", refused.stderr);
            assert!(
                refused.stderr.starts_with(&format!("error: {name}")),
                "{option}: {}",
                refused.stderr
            );
        }
    }
}

#[cfg(feature = "columnar")]
#[test]
fn brotli_is_named_and_parquet_through_a_pipe_is_read() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["brotli.parquet", "snappy.parquet"] {
        fs::copy(Path::new(HERE).join(name), folder.path().join(name)).unwrap();
    }
    let refused = run(folder.path(), "aggregate brotli.parquet");
    assert_eq!(refused.code, 2);
    assert!(
        refused
            .stderr
            .contains("packed with Brotli, which is not supported"),
        "{}",
        refused.stderr
    );
    let direct = done(folder.path(), "aggregate snappy.parquet -m ds").stdout;
    assert!(direct.lines().count() == 13, "{direct}");
    #[cfg(unix)]
    {
        let pipe = folder.path().join("pipe.parquet");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let writer = std::thread::spawn({
            let (from, pipe) = (folder.path().join("snappy.parquet"), pipe.clone());
            move || fs::write(pipe, fs::read(from).unwrap()).unwrap()
        });
        assert_eq!(done(folder.path(), "aggregate pipe.parquet -m ds").stdout, direct);
        writer.join().unwrap();
    }
}

/// Every byte of the file is set to other values in turn; every run must end in an error in words, or in
/// labels.
#[cfg(feature = "columnar")]
fn damage_every_byte(name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read(Path::new(HERE).join(name)).unwrap();
    let damaged_name = format!("damaged.{}", name.rsplit('.').next().unwrap());
    let path = folder.path().join(&damaged_name);
    let all = std::env::var("QUORATE_FAULTS").is_ok_and(|faults| faults == "all");
    let every = if all { 1 } else { 7 };
    let mut ended = [0; 2];
    for place in (0..whole.len()).step_by(every) {
        for value in [0xff, whole[place] ^ 0x40, whole[place].wrapping_add(1)] {
            let mut damaged = whole.clone();
            damaged[place] = value;
            fs::write(&path, &damaged).unwrap();
            let found = quorate(
                folder.path(),
                &["aggregate", &damaged_name, "-m", "mv", "-q", "--memory", "0.2"],
            );
            let case = format!("{name}: byte {place} set to {value}: {}", found.stderr);
            match found.code {
                0 => assert!(found.stderr.is_empty(), "{case}"),
                2 => assert!(
                    found.stderr.starts_with("error: ") && found.stderr.lines().count() == 1,
                    "{case}"
                ),
                _ => panic!("{case}"),
            }
            assert!(!found.stderr.contains("panicked"), "{case}");
            ended[usize::from(found.code == 2)] += 1;
        }
    }
    println!(
        "damaged\t{name}\t{}\t{}\t{}",
        ended[0] + ended[1],
        ended[1],
        ended[0]
    );
}

#[cfg(feature = "columnar")]
#[test]
fn a_damaged_byte_of_lz4_packed_arrow_is_an_error_in_words() {
    damage_every_byte("lz4.arrow");
}

#[cfg(feature = "columnar")]
#[test]
fn a_damaged_byte_of_zstd_packed_arrow_is_an_error_in_words() {
    damage_every_byte("zstd.arrow");
}

#[cfg(feature = "columnar")]
#[test]
fn a_damaged_byte_of_parquet_is_an_error_in_words() {
    damage_every_byte("snappy.parquet");
}

#[test]
fn repeated_rows_that_are_errors_count_only_among_the_kept_workers_on_disk_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = String::new();
    for task in 0..500 {
        for worker in 0..4 {
            let label = if (task * 7 + worker * 3) % 11 < 8 {
                "a"
            } else {
                "b"
            };
            rows.push_str(&format!("t{task},w{worker},{label}\n"));
        }
    }
    // Only a worker who is left out repeats himself.
    rows.push_str("t3,w0,b\n");
    support::write(folder.path(), "labels.csv", &rows);
    let base = "aggregate labels.csv -m ds --duplicates error";
    let memory = done(folder.path(), &format!("{base} --keep-workers w1,w2,w3"));
    let disk = done(
        folder.path(),
        &format!("{base} --keep-workers w1,w2,w3 --spill ."),
    );
    assert_eq!(memory.stdout, disk.stdout);
    let words = "1 worker left out by --keep-workers";
    assert!(memory.stderr.contains(words), "{}", memory.stderr);
    assert!(disk.stderr.contains(words), "{}", disk.stderr);
    for more in ["", " --spill ."] {
        let refused = run(folder.path(), &format!("{base} --keep-workers w0,w1{more}"));
        assert_eq!(refused.code, 2, "{more}: {}", refused.stderr);
        let words = "labels.csv, line 2002: worker \"w0\" labelled task \"t3\" more than once";
        assert!(refused.stderr.contains(words), "{more}: {}", refused.stderr);
    }
    // A pipe has no second reading.
    let text = fs::read_to_string(folder.path().join("labels.csv")).unwrap();
    let arguments = [
        "aggregate",
        "-",
        "-m",
        "ds",
        "--duplicates",
        "error",
        "--spill",
        ".",
    ];
    let refused = quorate_with_input(folder.path(), &arguments, &text);
    assert_eq!(refused.code, 2);
    for words in [
        "standard input: worker \"w0\" labelled task \"t3\"",
        "cannot be said of labels on disk that come from a pipe",
    ] {
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
    }
}

#[test]
fn ten_thousand_threads_start_no_more_than_there_are_processors() {
    let folder = support::folder();
    let start = std::time::Instant::now();
    let few = done(folder.path(), "aggregate labels.csv -m ds --threads 1").stdout;
    for threads in [2000, 10_000, 1_000_000] {
        let many = done(
            folder.path(),
            &format!("aggregate labels.csv -m ds --threads {threads}"),
        );
        assert_eq!(many.stdout, few);
    }
    assert!(start.elapsed().as_secs() < 20);
}

#[cfg_attr(not(unix), ignore = "needs Unix: permissions")]
#[test]
fn outputs_have_the_permissions_that_the_umask_gives() {
    let folder = support::folder();
    for (umask, expected) in [("022", 0o644), ("027", 0o640), ("077", 0o600)] {
        let program = env!("CARGO_BIN_EXE_quorate");
        let run = format!(
            "umask {umask} && '{program}' aggregate labels.csv -q -m ds -o out{umask}.csv --model m{umask}.json --keep-labels \
             --workers w{umask}.csv && '{program}' report labels.csv -q -o page{umask}.html"
        );
        let ran = Command::new("sh")
            .args(["-c", &run])
            .current_dir(folder.path())
            .status()
            .unwrap();
        assert!(ran.success());
        let mut seen = 0;
        for entry in fs::read_dir(folder.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.to_string_lossy().contains(umask) {
                assert_eq!(mode(&path), expected, "{}", path.display());
                seen += 1;
            }
        }
        assert_eq!(
            seen, 5,
            "the labels, the model and its labels, the workers, the page"
        );
    }
}
