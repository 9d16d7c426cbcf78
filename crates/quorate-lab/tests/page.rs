//! Runs small experiments and looks at what is written.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use quorate_lab::{Report, Settings, Setup, Watch, find, run, write_page};

struct Nobody;

impl Watch for Nobody {
    fn update(&self, _: &str, done: f64, total: f64) {
        assert!(done <= total + 1e-9);
    }
}

fn settings(seed: u64, threads: usize) -> Settings {
    Settings {
        quick: true,
        trials: Some(2),
        seed,
        data: PathBuf::from("no such folder"),
        setup: Setup::Uniform,
        threads,
        memory: 1 << 30,
        command: "quorate reproduce <test> & more".into(),
    }
}

fn report(names: &[&str], seed: u64, threads: usize) -> Report {
    let experiments: Vec<_> = names.iter().map(|name| find(name).unwrap()).collect();
    let flag = Arc::new(AtomicBool::new(false));
    run(&experiments, &settings(seed, threads), &flag, &Nobody).unwrap()
}

const SMALL: [&str; 4] = [
    "tab:synthetic1",
    "fig:conv_symnmf1",
    "thm:svdimputation",
    "thm:converge",
];

#[test]
fn the_same_seed_gives_the_same_page_but_for_times() {
    let (first, second) = (report(&SMALL, 3, 1), report(&SMALL, 3, 2));
    let json = |report: &Report| serde_json::to_string(&report.without_times()).unwrap();
    assert_eq!(json(&first), json(&second));
    assert_eq!(first.without_times().html(), second.without_times().html());
    assert_eq!(
        first.without_times().markdown(),
        second.without_times().markdown()
    );
    assert!(!json(&first).contains("\"seconds\""));
    assert_ne!(json(&first), json(&report(&SMALL, 4, 1)));
}

#[test]
fn the_page_needs_nothing_else_and_its_tags_match() {
    let html = report(&SMALL, 0, 0).html();
    assert!(html.contains("quorate reproduce &lt;test&gt; &amp; more"));
    for foreign in [
        "http://", "https://", "src=", "url(", "@import", "<script", "<link",
    ] {
        // The name of the SVG dialect is no address that anybody loads.
        let rest = html.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        assert!(!rest.contains(foreign), "{foreign}");
    }
    let links = html.matches("href=\"").count();
    assert_eq!(links, html.matches("href=\"#").count());
    well_formed(&html);
}

/// Every tag is closed, in order.
fn well_formed(html: &str) {
    let mut open: Vec<&str> = Vec::new();
    let (before, body) = html.split_once("<html").expect("a page");
    assert_eq!(before.trim(), "<!doctype html>");
    open.push("html");
    for piece in body.split('<').skip(1) {
        let tag = piece.split('>').next().unwrap_or("");
        let name = tag
            .trim_start_matches('/')
            .split([' ', '\n', '/'])
            .next()
            .unwrap_or("");
        match (tag.starts_with('/'), tag.ends_with('/')) {
            (true, _) => assert_eq!(open.pop(), Some(name), "at {piece:.60}"),
            (false, true) => {}
            (false, false) => open.push(name),
        }
    }
    assert_eq!(open, [""; 0]);
}

#[test]
fn every_part_is_written_and_linked() {
    let folder = tempfile::tempdir().unwrap();
    let report = report(&["thm:svdimputation"], 0, 0);
    let page = write_page(&report, &folder.path().join("new")).unwrap();
    let markdown = std::fs::read_to_string(page.markdown).unwrap();
    let svg = std::fs::read_to_string(folder.path().join("new/figures/thm-svdimputation.svg")).unwrap();
    assert!(markdown.contains("(figures/thm-svdimputation.svg)") && svg.starts_with("<svg"));
    let json: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(page.json).unwrap()).unwrap();
    assert_eq!(json["sections"][0]["name"], "thm:svdimputation");
    assert!(json["sections"][0]["seconds"].as_f64().unwrap() > 0.0);
    assert!(page.html.exists());
}

#[test]
fn missing_data_are_named_before_anything_runs() {
    let experiments = [find("tab:synthetic1").unwrap(), find("tab:AMT1").unwrap()];
    let flag = Arc::new(AtomicBool::new(false));
    let error = run(&experiments, &settings(0, 0), &flag, &Nobody)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("no such folder") && error.contains("bluebird"),
        "{error}"
    );
    assert!(
        error.contains("--data") && error.contains("QUORATE_DATA"),
        "{error}"
    );
}

#[test]
fn a_wish_to_stop_is_heard() {
    let flag = Arc::new(AtomicBool::new(true));
    let error = run(
        &[find("tab:synthetic1").unwrap()],
        &settings(0, 0),
        &flag,
        &Nobody,
    )
    .unwrap_err();
    assert!(matches!(
        error.downcast_ref::<quorate::Error>(),
        Some(quorate::Error::Cancelled)
    ));
}

#[test]
fn two_trials_are_enough_to_see_the_contraction() {
    let report = report(&["thm:converge"], 1, 0);
    let claims = &report.sections[0].claims;
    assert!(
        claims.iter().all(|claim| claim.holds == quorate_lab::Holds::Yes),
        "{claims:?}"
    );
}
