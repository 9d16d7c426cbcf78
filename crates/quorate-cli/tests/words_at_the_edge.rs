//! The libraries never name options of the program: their texts are read by people who use Python or a page.

use std::fs;
use std::path::{Path, PathBuf};

/// Rust files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// Whether a line names an option outside its comment: `--` and a letter, at the start of a word.
fn names_an_option(line: &str) -> bool {
    let code = line.trim_start();
    let code = code.split_once("// ").map_or(code, |(code, _)| code);
    if code.starts_with("//") {
        return false;
    }
    code.match_indices("--").any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = code[at + 2..].chars().next();
        before.is_none_or(|letter| " `\"(".contains(letter))
            && after.is_some_and(|letter| letter.is_ascii_lowercase())
    })
}

#[test]
fn libraries_name_no_options() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    for name in ["quorate", "quorate-io", "quorate-deep"] {
        for file in sources(&crates.join(name).join("src")) {
            let text = fs::read_to_string(&file).unwrap();
            let lines = text.lines().zip(1..).filter(|(line, _)| names_an_option(line));
            found.extend(lines.map(|(line, number)| format!("{}:{number}: {}", file.display(), line.trim())));
        }
    }
    assert!(found.is_empty(), "use a `Remedy`:\n{}", found.join("\n"));
}

#[test]
fn options_are_recognised() {
    assert!(names_an_option(r#"    "raise the limit (--memory)","#));
    assert!(names_an_option(r#"        --classes."#));
    assert!(!names_an_option("    /// as in `--param name=value`"));
    assert!(!names_an_option("    let x = 1; // --memory"));
}
