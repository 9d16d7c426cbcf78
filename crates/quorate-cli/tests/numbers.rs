//! Every number that the program takes has a finite range: what lies outside is refused in words, what lies
//! inside gives a finite result, and nothing hangs. The options are those that the command line declares, the
//! parameters those of the table of methods, so that a new one is tried without a word here, or fails for
//! want of a command to try it in.

mod support;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use quorate::methods::{Kind, Method};
use quorate::{AnnotationsBuilder, Context};

/// What no option may take as it stands, and what one may.
const VALUES: [&str; 14] = [
    "inf",
    "-inf",
    "nan",
    "1e308",
    "1e305",
    "-1",
    "0",
    "-0",
    "5e-324",
    "0.5",
    "99999999999",
    "1000000000000000000",
    "18446744073709551615",
    "99999999999999999999999999",
];

/// Far more than any of these runs takes; far less than a count that is believed.
const PATIENCE: Duration = Duration::from_secs(180);

/// What an option needs beside it to matter.
type Beside = (&'static str, &'static str);

/// A command in which each of its options matters: (command, arguments, arguments that some options need).
const COMMANDS: [(&str, &str, &[Beside]); 12] = [
    (
        "aggregate",
        "labels.csv -m ds -o out.csv --json",
        &[
            ("--level", "--intervals intervals.csv"),
            ("--review-tasks", "--review review.csv"),
            ("--prior-weight", "--prior cat=0.5,dog=0.5"),
            ("--worker-prior-weight", "--worker-prior model.json"),
        ],
    ),
    (
        "compare",
        "labels.csv -m mv,ds --json",
        &[
            ("--prior-weight", "--prior cat=0.5,dog=0.5"),
            ("--worker-prior-weight", "--worker-prior model.json"),
        ],
    ),
    ("convert", "labels.csv converted.jsonl", &[]),
    ("demo", "--json", &[]),
    ("evaluate", "truth.csv truth.csv --json", &[]),
    ("inspect", "labels.csv --json", &[]),
    ("judges", "labels.csv --json", &[]),
    (
        "plan",
        "labels.csv --json -o plan.csv",
        &[
            ("--shared", "--goal comparable"),
            ("--start", "--simulate --truth truth.csv --budget 6"),
            ("--rounds", "--simulate --truth truth.csv --budget 6"),
            ("--prior-weight", "--prior cat=0.5,dog=0.5"),
            ("--worker-prior-weight", "--worker-prior model.json"),
        ],
    ),
    ("rank", "votes.csv --json", &[]),
    (
        "report",
        "labels.csv -o page.html",
        &[
            ("--prior-weight", "--prior cat=0.5,dog=0.5"),
            ("--worker-prior-weight", "--worker-prior model.json"),
        ],
    ),
    (
        "simulate",
        "-o crowd --json",
        &[("--designated-density", "--designated 2")],
    ),
    ("workers", "labels.csv --json", &[]),
];

/// Options of `simulate` that go with `--pairs`.
const PAIR_OPTIONS: [&str; 7] = [
    "--items",
    "--judges",
    "--prompts",
    "--spread",
    "--ties",
    "--position",
    "--random-judges",
];

/// What goes with an option that is needed unless it is the one on trial.
fn needed(command: &str, option: &str) -> &'static str {
    match command {
        "plan" if !["--budget", "--shared", "--start", "--rounds"].contains(&option) => "--budget 6",
        "inspect" if option != "--replicates" => "--replicates 20",
        "demo" if option != "--tasks" => "--tasks 200",
        "simulate" if option == "--comparisons" => "--pairs",
        "simulate" if PAIR_OPTIONS.contains(&option) => "--pairs --comparisons 50",
        "simulate" if option == "--tasks" => "--workers 5",
        "simulate" if option == "--workers" => "--tasks 50",
        "simulate" => "--tasks 50 --workers 5",
        _ => "",
    }
}

/// Exit code and all that was said; no code where it took too long.
fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let log = folder.join("said.log");
    let said = File::create(&log).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_quorate"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(said.try_clone().unwrap())
        .stderr(said)
        .spawn()
        .unwrap();
    let start = Instant::now();
    let code = loop {
        match child.try_wait().unwrap() {
            Some(status) => break Some(status.code().unwrap_or(-1)),
            None if start.elapsed() > PATIENCE => {
                child.kill().unwrap();
                child.wait().unwrap();
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(3)),
        }
    };
    (code, fs::read_to_string(log).unwrap())
}

/// Whether a number that is none stands in a text.
fn has_no_number(text: &str) -> bool {
    let mut words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.any(|word| ["inf", "nan", "infinity"].contains(&word.to_lowercase().as_str()))
}

/// Tries a value; what is wrong with what came of it.
fn try_value(
    folder: &Path,
    (command, base, extra): (&str, &str, &str),
    option: &str,
    value: &str,
) -> Option<String> {
    let setting = format!("{option}={value}");
    let mut arguments = vec![command];
    for more in [base, extra, needed(command, option)] {
        arguments.extend(more.split_whitespace());
    }
    arguments.push(&setting);
    let (code, said) = run(folder, &arguments);
    let wrong = match code {
        Some(0 | 1) => has_no_number(&said).then_some("a result that is not finite"),
        Some(2) if said.contains("panicked") => Some("a panic"),
        Some(2) if !said.contains(option) && !said.contains("--memory") => {
            Some("an error without the option")
        }
        Some(2) => None,
        Some(_) => Some("an end that is no exit code"),
        None => Some("no end"),
    };
    wrong.map(|wrong| format!("{}: {wrong}: {said}", arguments.join(" ")))
}

#[test]
fn no_option_takes_infinity_nan_or_a_count_without_end() {
    let folder = support::folder();
    let model = "aggregate labels.csv -m ds -o out.csv --model model.json";
    assert_eq!(support::run(folder.path(), model).code, 0);
    fs::write(
        folder.path().join("votes.csv"),
        "left,right,winner\na,b,left\nb,c,tie\nc,a,right\n",
    )
    .unwrap();
    let mut tried = BTreeSet::new();
    let mut wrong = Vec::new();
    for (command, option) in quorate_cli::numeric_options() {
        // Seeds may be any number, and the paper's experiments take minutes; its number of trials is a range
        // of clap's.
        if option == "--seed" || command == "reproduce" {
            continue;
        }
        let (_, base, extras) = COMMANDS
            .iter()
            .find(|(name, ..)| *name == command)
            .unwrap_or_else(|| panic!("{command} takes {option}: add a command to try it in"));
        let extra = extras.iter().find(|(name, _)| *name == option);
        let extra = extra.map_or("", |(_, extra)| extra);
        for value in VALUES {
            wrong.extend(try_value(folder.path(), (&command, base, extra), &option, value));
        }
        tried.insert(format!("{command} {option}"));
    }
    assert!(tried.len() > 60, "{tried:?}");
    println!(
        "numbers\toptions\t{}\t{}",
        tried.len(),
        tried.len() * VALUES.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn numbers_inside_of_words_are_finite_too() {
    let folder = support::folder();
    for arguments in [
        "evaluate truth.csv truth.csv --fail-above nan",
        "evaluate truth.csv truth.csv --fail-above inf",
        "judges labels.csv --fail-below nan",
        "judges labels.csv --fail-below effective-judges=inf",
        "judges labels.csv --fail-below effective-judges=1e308",
        "aggregate labels.csv -m ds --prior cat=nan,dog=0.5",
        "aggregate labels.csv -m ds --prior cat=inf,dog=1",
        "aggregate labels.csv -m ds --prior cat=1e308,dog=1e308",
        "simulate -o crowd --prior nan,nan,nan",
        "simulate -o crowd --prior inf,0,0",
        "simulate -o crowd --prior 1e308,1e308,1e308",
        "simulate -o crowd --accuracy nan,nan",
        "simulate -o crowd --accuracy inf,inf",
        "simulate -o crowd --spammers nan%",
        "simulate -o crowd --experts inf%",
        "simulate -o crowd --adversaries 1000000000000000000",
    ] {
        let refused = support::run(folder.path(), arguments);
        assert_eq!(refused.code, 2, "{arguments}: {}", refused.stderr);
        let option = arguments.split(' ').find(|word| word.starts_with("--"));
        assert!(
            refused.stderr.contains(option.unwrap()),
            "{arguments}: {}",
            refused.stderr
        );
    }
    for (file, text) in [
        ("costs.csv", "worker,cost\nann,nan\n"),
        ("costs.csv", "worker,cost\nann,inf\n"),
        ("costs.csv", "worker,cost\nann,1e308\nbob,1e308\ncem,1e308\n"),
        ("costs.csv", "worker,cost\nann,-1\n"),
    ] {
        fs::write(folder.path().join(file), text).unwrap();
        let arguments = "plan labels.csv --budget 9 --costs costs.csv -o plan.csv";
        let refused = support::run(folder.path(), arguments);
        assert_eq!(refused.code, 2, "{text}: {}", refused.stderr);
        assert!(refused.stderr.contains("costs.csv"), "{text}: {}", refused.stderr);
    }
}

/// A method with one parameter set, or why not.
fn with(method: &'static Method, name: &str, value: &str) -> quorate::Result<Box<dyn quorate::Aggregate>> {
    method.with_parameters(&[(name.to_owned(), value.to_owned())])
}

#[test]
fn no_parameter_takes_infinity_nan_or_a_count_without_end() {
    let mut tried = 0;
    for method in quorate_cli::catalog::methods() {
        for parameter in method.parameters {
            let most = match parameter.kind {
                Kind::Integer(_, most) => most as f64,
                Kind::Number(least, most) => {
                    assert!(least.is_finite() && most.is_finite());
                    most
                }
                Kind::Choice(_) | Kind::Text => continue,
            };
            assert!(most <= 1e9, "{} {}: {most}", method.name, parameter.name);
            for value in [
                "inf",
                "-inf",
                "nan",
                "1e308",
                "1000000000000000000",
                "18446744073709551615",
            ] {
                let Err(error) = with(method, parameter.name, value) else {
                    panic!("{} -p {}={value}", method.name, parameter.name);
                };
                let words = error.to_string();
                assert!(
                    words.contains(parameter.name) && words.contains("expected"),
                    "{words}"
                );
            }
            tried += 1;
        }
    }
    assert!(tried > 80, "{tried}");
    println!("numbers\tparameters\t{tried}\t{}", tried * 6);
}

#[test]
fn the_ends_of_every_range_give_probabilities() {
    let mut builder = AnnotationsBuilder::default();
    for task in 0..30 {
        for worker in 0..5 {
            let label = if (task * 7 + worker * 3) % 10 < 7 {
                task % 3
            } else {
                (task + worker) % 3
            };
            builder
                .push(&format!("t{task}"), &format!("w{worker}"), &format!("c{label}"))
                .unwrap();
        }
    }
    let annotations = builder.build().unwrap();
    for method in quorate_cli::catalog::methods() {
        if method.needs_features || method.needs_probabilities {
            continue;
        }
        for parameter in method.parameters {
            let Kind::Number(least, most) = parameter.kind else {
                continue;
            };
            for value in [least, most] {
                let place = format!("{} -p {}={value}", method.name, parameter.name);
                let aggregate = with(method, parameter.name, &value.to_string()).unwrap();
                let fit = match aggregate.fit(&annotations, &mut Context::new(1)) {
                    Ok(fit) => fit,
                    // Three classes are too many for some, and they say so whatever the parameter.
                    Err(error) => {
                        assert!(error.to_string().contains("two classes"), "{place}: {error}");
                        continue;
                    }
                };
                for task in 0..annotations.task_count() {
                    let row = fit.consensus.row(task);
                    let sum: f64 = row.iter().sum();
                    assert!((sum - 1.0).abs() < 1e-9, "{place}: {row:?}");
                }
            }
        }
    }
}
