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

/// The folder of the data sets.
fn data() -> PathBuf {
    std::env::var_os("QUORATE_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    )
}

fn report_on_data(names: &[&str], setup: Setup, threads: usize) -> Report {
    let experiments: Vec<_> = names.iter().map(|name| find(name).unwrap()).collect();
    let settings = Settings {
        data: data(),
        setup,
        ..settings(1, threads)
    };
    let flag = Arc::new(AtomicBool::new(false));
    run(&experiments, &settings, &flag, &Nobody).unwrap()
}

#[test]
fn people_and_classifiers_label_the_same_way_again() {
    let names = ["tab:uci_credit", "tab:AMT1"];
    let first = report_on_data(&names, Setup::Text, 1);
    let second = report_on_data(&names, Setup::Text, 2);
    let json = |report: &Report| serde_json::to_string(&report.without_times()).unwrap();
    assert_eq!(json(&first), json(&second));
    let program = report_on_data(&names[..1], Setup::Code, 2);
    let ours = |report: &Report, table: usize, column: usize| -> Vec<f64> {
        let rows = report.sections[0].tables[table].rows.iter();
        rows.map(|row| row.cells[column].ours.as_ref().unwrap().mean)
            .collect()
    };
    assert_ne!(ours(&first, 0, 0), ours(&program, 0, 0));
    // Every row of the paper's table is there, with numbers, and nobody is worse than chance.
    assert_eq!(ours(&first, 0, 0).len(), 19);
    for column in 0..3 {
        assert!(
            ours(&first, 0, column)
                .iter()
                .all(|error| (5.0..50.0).contains(error))
        );
    }
    assert!(
        ours(&first, 2, 0)
            .iter()
            .all(|right| (50.0..95.0).contains(right))
    );
    assert_eq!(
        ours(&first, 2, 1),
        [2.0; 10],
        "everybody answers with both classes"
    );
    // Ten diagonal blocks are missing, and are imputed.
    let before = ours(&first, 3, 0);
    assert!(
        before.iter().all(|share| (share - 10.0).abs() < 1e-9),
        "{before:?}"
    );
    assert_eq!(ours(&first, 3, 1), [0.0; 3]);
}
