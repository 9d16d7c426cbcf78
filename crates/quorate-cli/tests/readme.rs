//! The commands of the README and of pages like it, run as they stand, their output beside the page's.
//!
//! `QUORATE_WRITE_DOCS=1 cargo test -p quorate-cli --all-features --test readme` writes the output into the
//! pages.

use std::path::Path;
use std::process::Command;

/// The pages, and how many commands each has at least.
const PAGES: [(&str, usize); 2] = [("README.md", 6), ("docs/guide/ranking.md", 5)];

/// A command of a page and the lines that it shows below.
struct Shown {
    command: String,
    output: Vec<String>,
}

/// The commands in blocks marked `console`.
fn commands(page: &str) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    for block in page.split("```console\n").skip(1) {
        for line in block.split("```").next().unwrap().lines() {
            match line.strip_prefix("$ ") {
                Some(command) => found.push(Shown {
                    command: command.to_owned(),
                    output: Vec::new(),
                }),
                None => found.last_mut().unwrap().output.push(line.to_owned()),
            }
        }
    }
    found
}

/// Runs a command; `head -N FILE` is done here.
fn run(folder: &Path, command: &str) -> Vec<String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let text = match words[..] {
        ["quorate", ref arguments @ ..] => {
            let output = Command::new(env!("CARGO_BIN_EXE_quorate"))
                .args(arguments)
                .current_dir(folder)
                .output()
                .unwrap();
            let words = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.success(), "{command}: {words}");
            words + &String::from_utf8(output.stdout).unwrap()
        }
        ["head", number, file] => {
            let text = std::fs::read_to_string(folder.join(file)).unwrap();
            let number = number.trim_start_matches('-').parse().unwrap();
            text.lines()
                .take(number)
                .map(|line| format!("{line}\n"))
                .collect()
        }
        _ => panic!("{command}: neither quorate nor head"),
    };
    text.lines().map(|line| line.trim_end().to_owned()).collect()
}

/// The page with this output below a command.
fn with_output(page: &str, shown: &Shown, found: &[String]) -> String {
    let block = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let command = format!("$ {}\n", shown.command);
    let old = format!("{command}{}", block(&shown.output));
    page.replacen(&old, &format!("{command}{}", block(found)), 1)
}

/// A line with times put as `TIME`, in single blanks.
fn without_times(line: &str) -> String {
    // The rule under a header is as wide as the times.
    if line.trim().chars().all(|letter| letter == '-') {
        return String::new();
    }
    let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    for index in 1..words.len() {
        let unit = words[index].trim_end_matches([',', ';', ')']).to_owned();
        if ["us", "ms", "s"].contains(&unit.as_str()) && words[index - 1].parse::<f64>().is_ok() {
            words[index - 1] = "TIME".into();
        }
    }
    words
        .join(" ")
        .replace("TIME us", "TIME")
        .replace("TIME ms", "TIME")
        .replace("TIME s", "TIME")
}

#[test]
fn the_commands_of_pages_print_what_they_show() {
    for (page, least) in PAGES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
        let mut text = std::fs::read_to_string(&path).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let commands = commands(&text);
        assert!(commands.len() >= least, "{page}");
        assert!(
            commands.iter().filter(|shown| !shown.output.is_empty()).count() >= 3,
            "{page}"
        );
        let write = std::env::var_os("QUORATE_WRITE_DOCS").is_some();
        for shown in commands {
            if shown.command.contains(".parquet") && !cfg!(feature = "columnar") {
                continue;
            }
            let found = run(folder.path(), &shown.command);
            if shown.output.is_empty() {
                continue;
            }
            if write {
                text = with_output(&text, &shown, &found);
                continue;
            }
            let plain = |lines: &[String]| lines.iter().map(|line| without_times(line)).collect::<Vec<_>>();
            assert_eq!(plain(&found), plain(&shown.output), "{page}: {}", shown.command);
        }
        if write {
            std::fs::write(path, text).unwrap();
        }
    }
}
