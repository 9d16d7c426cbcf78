//! The public data sets are read as what their sources say they are.

use std::process::ExitCode;

use quorate::Context;
use quorate::ranking::{ComparisonTable, Comparisons, METHODS, held_out};
use quorate_io::{
    ComparisonOptions, LabelOptions, ReadOptions, Source, read_annotations, read_comparisons, read_labels,
};
use quorate_testkit::{public_data, public_test, run_public_tests};

fn main() -> ExitCode {
    run_public_tests(vec![
        public_test!(
            sizes_are_those_of_the_sources,
            ["bluebird", "dog", "rte", "trec", "web", "labelme"]
        ),
        public_test!(
            scores_are_those_of_evalica,
            ["kinds/pairs/food", "kinds/pairs/llmfao"]
        ),
        public_test!(judges_are_foretold, ["kinds/pairs/llmfao"]),
    ])
}

fn comparisons(set: &str) -> Comparisons {
    let file = public_data::folder()
        .join("kinds/pairs")
        .join(set)
        .join("comparisons.csv");
    let read = read_comparisons(&Source::from(file), &ComparisonOptions::default(), &mut |_, _| {}).unwrap();
    match read.tables.into_iter().next() {
        Some((None, ComparisonTable::Pairs(table))) => table,
        _ => panic!("{set} holds comparisons"),
    }
}

/// Golden values: `golden_scores.csv` beside the data, as evalica computes them. Bradley-Terry's are strengths, whose
/// logarithms are scores up to a constant; 1e-6 is asked for.
fn scores_are_those_of_evalica() {
    for set in ["food", "llmfao"] {
        let table = comparisons(set);
        let golden = public_data::folder()
            .join("kinds/pairs")
            .join(set)
            .join("golden_scores.csv");
        let golden = std::fs::read_to_string(golden).unwrap();
        for (algorithm, method) in [("bradley_terry", "bradley-terry"), ("elo", "elo")] {
            let method = METHODS.iter().find(|known| known.name == method).unwrap();
            let fit = method
                .ranking_with(&[])
                .unwrap()
                .fit(&table, &mut Context::new(0))
                .unwrap();
            let mut pairs = Vec::new();
            for line in golden
                .lines()
                .filter_map(|line| line.strip_prefix(algorithm)?.strip_prefix(','))
            {
                let (item, score) = line.rsplit_once(',').unwrap();
                let score: f64 = score.parse().unwrap();
                let score = if algorithm == "bradley_terry" {
                    score.ln()
                } else {
                    score
                };
                pairs.push((
                    score,
                    fit.scores[table.items().find(item.trim_matches('"')).unwrap() as usize],
                ));
            }
            assert_eq!(pairs.len(), table.items().len(), "{set} {algorithm}");
            let free = if algorithm == "bradley_terry" { 1.0 } else { 0.0 };
            let shift = free * pairs.iter().map(|pair| pair.0 - pair.1).sum::<f64>() / pairs.len() as f64;
            let miss = pairs
                .iter()
                .map(|pair| (pair.0 - shift - pair.1).abs())
                .fold(0.0, f64::max);
            println!("{set} {algorithm}: {miss:.1e}");
            assert!(miss < 1e-6, "{set} {algorithm}: {miss:e}");
        }
    }
}

/// Five folds, ties half: a plain Bradley-Terry has 0.648, judges who are known 0.630.
fn judges_are_foretold() {
    let table = comparisons("llmfao");
    let loss = |name: &str| {
        let method = METHODS.iter().find(|known| known.name == name).unwrap();
        let rank = method.ranking_with(&[]).unwrap();
        held_out(rank.as_ref(), &table, 5, 1, &mut Context::new(0))
            .unwrap()
            .log_loss
    };
    let (judges, plain) = (loss("judge-bt"), loss("bradley-terry"));
    assert!(judges <= 0.630, "{judges}");
    assert!((plain - 0.648).abs() < 0.002, "{plain}");
}

fn sizes_are_those_of_the_sources() {
    let data = public_data::folder();
    // Tasks, workers, classes, labels, truths: the table in docs/data.md.
    for (name, sizes, truths) in [
        ("bluebird", (108, 39, 2, 4212), 108),
        ("dog", (807, 109, 4, 8070), 807),
        ("rte", (800, 164, 2, 8000), 800),
        ("trec", (19033, 762, 2, 88385), 2275),
        ("web", (2665, 177, 5, 15567), 2653),
        ("labelme", (1000, 59, 8, 2547), 1000),
    ] {
        let folder = data.join(name);
        let labels = Source::from(folder.join("labels.csv"));
        let table = read_annotations(&labels, &ReadOptions::default())
            .unwrap()
            .annotations;
        let summary = table.summary();
        let found = (summary.tasks, summary.workers, summary.classes, summary.labels);
        assert_eq!(found, sizes, "{name}");
        assert_eq!(
            (table.rows().repeated, table.rows().abstentions),
            (0, 0),
            "{name}"
        );
        let truth = read_labels(&Source::from(folder.join("truth.csv")), &LabelOptions::default()).unwrap();
        assert_eq!(truth.tasks.len(), truths, "{name}");
        assert!(
            truth.tasks.iter().all(|task| table.tasks().find(task).is_some()),
            "{name}"
        );
    }
}
