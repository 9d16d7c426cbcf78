//! The pages of `docs/`: reference pages follow from the program, the summary lists every page, links lead
//! somewhere.
//!
//! `QUORATE_WRITE_DOCS=1 cargo test -p quorate-cli --all-features --test docs` writes the reference pages
//! anew.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use support::done;

fn root() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

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

/// The page of the commands: the help of each.
fn commands_page() -> String {
    let mut page = String::from(
        "# Commands\n\nThe help of every command, as `quorate COMMAND --help` prints it. This page is written by a test:\n\
         `QUORATE_WRITE_DOCS=1 cargo test -p quorate-cli --all-features --test docs`.\n",
    );
    let commands = names(&quorate("--help"), "Commands:");
    assert!(commands.contains(&"aggregate".to_owned()), "{commands:?}");
    for command in commands.iter().filter(|command| *command != "help") {
        let help = quorate(&format!("{command} --help"));
        let help: Vec<&str> = help.lines().map(str::trim_end).collect();
        page.push_str(&format!(
            "\n## quorate {command}\n\n```text\n{}\n```\n",
            help.join("\n").trim_end()
        ));
    }
    page
}

/// The page of the methods: what the table of methods says of each.
fn methods_page() -> String {
    let mut page = String::from(
        "# Methods\n\nWhat `quorate methods NAME` prints of every method. This page is written by a test:\n\
         `QUORATE_WRITE_DOCS=1 cargo test -p quorate-cli --all-features --test docs`.\n\
         Errors and times on public data: [methods on public data](../methods.md).\n",
    );
    let list: serde_json::Value = serde_json::from_str(&quorate("methods --json")).unwrap();
    let list = list.as_array().unwrap();
    assert!(list.len() > 20);
    let mut under = "##";
    for method in list {
        let name = method["name"].as_str().unwrap();
        if under == "##" && method["baseline"] == true {
            page.push_str(
                "\n## Baselines from the literature\n\nThey are here to repeat the literature's comparisons.\n",
            );
            under = "###";
        }
        let text = quorate(&format!("methods {name}"));
        let text: Vec<&str> = text.lines().map(str::trim_end).collect();
        page.push_str(&format!(
            "\n{under} {name}\n\n```text\n{}\n```\n",
            text.join("\n").trim_end()
        ));
    }
    page
}

fn check(file: &str, wanted: &str) {
    let path = root().join("docs/reference").join(file);
    if std::env::var_os("QUORATE_WRITE_DOCS").is_some() {
        fs::write(&path, wanted).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == wanted,
        "docs/reference/{file} is not current: run QUORATE_WRITE_DOCS=1 cargo test -p quorate-cli --all-features --test docs"
    );
}

// With fewer features there are fewer commands and methods than on the pages.
#[cfg(all(feature = "lab", feature = "deep", feature = "columnar"))]
#[test]
fn reference_pages_are_current() {
    check("commands.md", &commands_page());
    check("methods.md", &methods_page());
}

#[cfg(not(all(feature = "lab", feature = "deep", feature = "columnar")))]
#[test]
fn every_command_and_method_of_this_build_is_on_the_pages() {
    let page = |file| fs::read_to_string(root().join("docs/reference").join(file)).unwrap();
    for (file, wanted) in [("commands.md", commands_page()), ("methods.md", methods_page())] {
        for heading in wanted.lines().filter(|line| line.starts_with("##")) {
            assert!(page(file).contains(heading), "{heading} in {file}");
        }
    }
}

#[test]
fn the_summary_lists_every_page_once() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    for page in pages(&docs) {
        let name = page.strip_prefix(&docs).unwrap().display().to_string();
        // Written by `quorate reproduce` as one of its outputs; the book has the page that explains it.
        if name == "SUMMARY.md" || name == "reproduction/results.md" {
            continue;
        }
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
            assert!(
                page.parent().unwrap().join(file).exists(),
                "{link} in {}",
                page.display()
            );
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked}");
}
