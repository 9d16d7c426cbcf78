//! What the workspace depends on: licences, sources, duplicates and reasons. `deny.toml` and
//! `docs/dependencies.md` are held to the lock file, and it to them. Nothing is fetched: advisories need
//! `cargo deny check advisories` and a network.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// What cargo says of all packages; where those of other systems were never fetched, of the packages of this
/// one.
fn metadata() -> Value {
    let version = Command::new("rustc").arg("-vV").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap();
    let ask = |more: &[&str]| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args([
                "metadata",
                "--offline",
                "--locked",
                "--all-features",
                "--format-version",
                "1",
            ])
            .args(more)
            .current_dir(root());
        cargo.output().unwrap()
    };
    let mut found = ask(&[]);
    if !found.status.success() {
        found = ask(&["--filter-platform", host]);
    }
    assert!(
        found.status.success(),
        "{}",
        String::from_utf8_lossy(&found.stderr)
    );
    serde_json::from_slice(&found.stdout).unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn packages(metadata: &Value) -> &[Value] {
    metadata["packages"].as_array().unwrap()
}

fn is_ours(package: &Value) -> bool {
    package["source"].is_null()
}

/// The texts in quotes of a list of `deny.toml`, line by line.
fn listed(deny: &str, name: &str) -> Vec<Vec<String>> {
    let start = deny
        .find(&format!("\n{name} = [\n"))
        .unwrap_or_else(|| panic!("deny.toml has no list {name}"));
    let lines = deny[start..].lines().skip(2).take_while(|line| *line != "]");
    let quoted = |line: &str| line.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    lines.map(quoted).collect()
}

/// Whether a licence expression allows what is in the list: OR of ANDs, with parentheses.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let expression = expression.replace('/', " OR ");
    if let Some(open) = expression.find('(') {
        let close = open + expression[open..].find(')').expect("a closing parenthesis");
        let inner = is_allowed(&expression[open + 1..close], allowed);
        let inner = if inner { "MIT" } else { "REFUSED" };
        return is_allowed(
            &format!("{}{inner}{}", &expression[..open], &expression[close + 1..]),
            allowed,
        );
    }
    expression
        .split(" OR ")
        .any(|all| all.split(" AND ").all(|one| allowed.contains(one.trim())))
}

#[test]
fn licences_are_on_the_list() {
    let deny = read("deny.toml");
    let allowed: BTreeSet<String> = listed(&deny, "allow").into_iter().flatten().collect();
    for (expression, expected) in [
        ("MIT OR GPL-3.0", true),
        ("MIT AND GPL-3.0", false),
        ("GPL-3.0/AGPL-3.0", false),
        ("(MIT OR GPL-3.0) AND Unicode-3.0", true),
        ("(AGPL-3.0 OR GPL-3.0) AND MIT", false),
    ] {
        assert_eq!(is_allowed(expression, &allowed), expected, "{expression}");
    }
    let metadata = metadata();
    let refused: Vec<String> = packages(&metadata)
        .iter()
        .filter(|package| !is_allowed(text(&package["license"]), &allowed))
        .map(|package| format!("{} {}", package["name"], package["license"]))
        .collect();
    assert!(refused.is_empty(), "{refused:?}");
}

#[test]
fn everything_is_from_the_registry() {
    // The lock file has the packages of all systems.
    let lock = read("Cargo.lock");
    let sources: BTreeSet<&str> = lock
        .lines()
        .filter_map(|line| line.strip_prefix("source = "))
        .collect();
    let is_registry =
        |source: &&str| source.starts_with("\"registry+") && source.ends_with("/crates.io-index\"");
    assert!(
        sources.len() == 1 && sources.iter().all(is_registry),
        "{sources:?}"
    );
    let entries = lock.matches("[[package]]").count();
    let sums = lock.matches("\nchecksum = ").count();
    let metadata = metadata();
    let ours = packages(&metadata)
        .iter()
        .filter(|package| is_ours(package))
        .count();
    assert_eq!(
        entries,
        sums + ours,
        "every package of the registry has a checksum"
    );
    for package in packages(&metadata).iter().filter(|package| is_ours(package)) {
        let manifest = fs::canonicalize(text(&package["manifest_path"])).unwrap();
        let inside = manifest.starts_with(fs::canonicalize(root()).unwrap());
        assert!(inside, "{} is outside of the workspace", package["name"]);
    }
}

#[test]
fn duplicates_have_a_reason() {
    let deny = read("deny.toml");
    let mut skipped = BTreeMap::new();
    for line in listed(&deny, "skip") {
        let [name, reason] = &line[..] else {
            panic!("expected a crate and a reason: {line:?}");
        };
        assert!(reason.len() > 10, "{name}: {reason:?}");
        skipped.insert(name.clone(), reason.clone());
    }
    let lock = read("Cargo.lock");
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut name = "";
    for line in lock.lines() {
        if let Some(found) = line.strip_prefix("name = ") {
            name = found.trim_matches('"');
        } else if let Some(found) = line.strip_prefix("version = ").filter(|_| !name.is_empty()) {
            versions.entry(name).or_default().push(found.trim_matches('"'));
        }
    }
    let mut left = skipped.clone();
    for (name, versions) in &versions {
        let kept: Vec<_> = versions
            .iter()
            .filter(|version| left.remove(&format!("{name}@{version}")).is_none())
            .collect();
        assert!(
            kept.len() == 1,
            "{name} {versions:?}: give a reason for all but one in deny.toml"
        );
    }
    assert!(left.is_empty(), "no longer there: {left:?}");
}

/// Names in the first column of the tables of the page, with the reasons in the last.
fn documented() -> BTreeMap<String, String> {
    let page = read("docs/dependencies.md");
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        (
            cells[0].trim_matches('`').to_owned(),
            cells.last().unwrap().to_string(),
        )
    })
    .collect()
}

#[test]
fn every_direct_dependency_stands_in_the_docs_with_its_reason() {
    let metadata = metadata();
    let mut direct = BTreeSet::new();
    for package in packages(&metadata).iter().filter(|package| is_ours(package)) {
        for dependency in package["dependencies"].as_array().unwrap() {
            if dependency["path"].is_null() {
                direct.insert(text(&dependency["name"]).to_owned());
            }
        }
    }
    let documented = documented();
    let names: BTreeSet<String> = documented.keys().cloned().collect();
    let missing: Vec<_> = direct.difference(&names).collect();
    let gone: Vec<_> = names.difference(&direct).collect();
    assert!(missing.is_empty(), "docs/dependencies.md lacks {missing:?}");
    assert!(
        gone.is_empty(),
        "docs/dependencies.md lists {gone:?}, which nothing depends on"
    );
    for (name, reason) in documented {
        assert!(reason.len() > 10, "{name}: {reason:?}");
    }
}

/// `1.95` or `1.95.0` as two numbers.
fn version(text: &str) -> (u32, u32) {
    let mut numbers = text.split('.').map(|number| number.parse().unwrap());
    (numbers.next().unwrap(), numbers.next().unwrap())
}

#[test]
fn the_oldest_compiler_is_stated_once_and_no_dependency_asks_for_a_newer_one() {
    let stated = env!("CARGO_PKG_RUST_VERSION");
    let metadata = metadata();
    for package in packages(&metadata) {
        let asked = &package["rust_version"];
        if is_ours(package) {
            assert_eq!(text(asked), stated, "{}", package["name"]);
        } else if let Some(asked) = asked.as_str() {
            let fits = version(asked) <= version(stated);
            assert!(fits, "{} asks for Rust {asked}", package["name"]);
        }
    }
    assert!(read("README.md").contains(&format!("Rust {stated} or newer")));
}
