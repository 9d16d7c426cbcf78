//! The pages of `docs/`: the reference pages can be made from the program, the summary lists every page,
//! links lead somewhere.
//!
//! The pages of the commands and the methods are not kept in the repository: `scripts/book` has this test
//! write them (`QUORATE_WRITE_DOCS=1`).

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use support::done;

fn root() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

/// Pages that are made when the book is built.
const MADE: [&str; 2] = ["reference/commands.md", "reference/methods.md"];

/// Markdown files under a folder.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().unwrap() != "book" {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Runs the program in an empty folder.
fn quorate(arguments: &str) -> String {
    done(tempfile::tempdir().unwrap().path(), arguments).stdout
}

/// The names in the first column of a list, behind a heading and up to a blank line.
fn names(text: &str, heading: &str) -> Vec<String> {
    let list = text.lines().skip_while(|line| !line.starts_with(heading)).skip(1);
    let list = list.take_while(|line| !line.trim().is_empty());
    // What is indented further goes on with the line before.
    list.filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

/// A page: its head, and what the program prints about each name.
fn page(file: &str, head: &str, names: &[String], print: impl Fn(&str) -> String) {
    let mut page = format!("{head}\n");
    for name in names {
        let text = print(name);
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        assert!(lines.len() > 3, "{name}: {text}");
        let lines = lines.join("\n");
        page.push_str(&format!("\n## {name}\n\n```text\n{}\n```\n", lines.trim_end()));
    }
    if std::env::var_os("QUORATE_WRITE_DOCS").is_some() {
        fs::write(root().join("docs").join(file), page).unwrap();
    }
}

#[test]
fn the_page_of_the_commands_has_the_help_of_each() {
    let mut commands = names(&quorate("--help"), "Commands:");
    commands.retain(|command| command != "help");
    assert!(
        commands.len() > 10 && commands.contains(&"aggregate".to_owned()),
        "{commands:?}"
    );
    let head = "# Commands\n\nThe help of every command, as `quorate COMMAND --help` prints it.";
    page(MADE[0], head, &commands, |command| {
        let help = quorate(&format!("{command} --help"));
        assert!(help.contains(&format!("quorate {command}")), "{help}");
        help
    });
}

#[test]
fn the_page_of_the_methods_has_each_method_of_the_table() {
    let list: serde_json::Value = serde_json::from_str(&quorate("methods --json")).unwrap();
    let methods = list.as_array().unwrap().iter();
    let methods: Vec<String> = methods
        .map(|method| method["name"].as_str().unwrap().to_owned())
        .collect();
    for method in quorate::methods::METHODS.iter().chain(quorate_baselines::METHODS) {
        assert!(methods.iter().any(|name| name == method.name), "{}", method.name);
    }
    let head = "# Methods\n\nWhat `quorate methods NAME` prints of every method. Errors and times on public data: \
                [methods on public data](../methods.md).";
    page(MADE[1], head, &methods, |method| {
        quorate(&format!("methods {method}"))
    });
}

#[test]
fn the_summary_lists_every_page_once() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let found = pages(&docs).into_iter();
    let mut names: Vec<String> = found
        .map(|page| page.strip_prefix(&docs).unwrap().display().to_string())
        .filter(|name| name != "SUMMARY.md")
        .collect();
    names.extend(MADE.map(String::from));
    names.sort();
    names.dedup();
    for name in names {
        let listed = summary.matches(&format!("]({name})")).count();
        assert_eq!(listed, 1, "{name} is listed {listed} times in docs/SUMMARY.md");
    }
}

/// Targets of the links of a page, outside of code.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (index, part) in text.split("```").enumerate() {
        if index % 2 == 1 {
            continue;
        }
        for rest in part.split("](").skip(1) {
            found.extend(rest.split_once(')').map(|(target, _)| target.to_owned()));
        }
    }
    found
}

#[test]
fn no_relative_link_is_broken() {
    let root = root();
    let mut all = pages(&root.join("docs"));
    all.extend(pages(&root.join("examples")));
    all.extend(
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root.join(name)),
    );
    let mut checked = 0;
    for page in all {
        for link in links(&fs::read_to_string(&page).unwrap()) {
            if link.contains("://") || link.starts_with('#') {
                continue;
            }
            let file = link.split('#').next().unwrap_or_default();
            let made = page.ends_with("docs/SUMMARY.md") && MADE.contains(&file);
            assert!(
                made || page.parent().unwrap().join(file).exists(),
                "{link} in {}",
                page.display()
            );
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked}");
}
