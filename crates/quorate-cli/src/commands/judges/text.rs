//! The page for people.

use quorate::annotations::Names;
use quorate::intervals::Interval;
use quorate::judges::{Judges, Panel, PanelFinding, PanelReport, Unscored, VerdictPolicy};

use super::words::{basis, sentence, strictness};
use crate::remedies;
use crate::text_table::{TextTable, count, plural, wrapped};

/// Judges up to which the correlations of all pairs are shown.
const MAX_IN_MATRIX: usize = 12;

pub(super) fn as_text(report: &PanelReport, panel: &Panel, positive: usize, settings: Judges) -> String {
    let mut text = contents(panel);
    text.push_str("\nWhat to know first\n");
    text.push_str(&findings(report, panel));
    text.push_str("\nVerdicts\n");
    text.push_str(&verdicts(report, panel, settings));
    text.push_str(&shares(report, panel, positive));
    text.push_str("\nJudges\n");
    text.push_str(&judges(report, panel, positive));
    text.push_str("\nDependence\n");
    text.push_str(&dependence(report, panel));
    text.push_str("\nOne judge less, one judge more\n");
    text.push_str(&changes(report, panel));
    text
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn with_range(interval: &Interval) -> String {
    format!(
        "{:.0} % ({:.0} to {:.0})",
        100.0 * interval.estimate,
        100.0 * interval.low,
        100.0 * interval.high
    )
}

fn contents(panel: &Panel) -> String {
    let (annotations, failures) = (panel.annotations(), panel.failures().len());
    let asked = annotations.label_count() + failures;
    format!(
        "{}, {}, {}, {}, {} ({})\n",
        plural(annotations.task_count(), "item"),
        plural(annotations.worker_count(), "judge"),
        plural(annotations.class_count(), "class"),
        plural(annotations.label_count(), "answer"),
        plural(failures, "failure"),
        percent(failures as f64 / asked.max(1) as f64)
    )
}

fn findings(report: &PanelReport, panel: &Panel) -> String {
    if report.findings.is_empty() {
        return "  nothing stands in the way\n".to_owned();
    }
    let words = |finding: &PanelFinding| {
        let mut words = sentence(finding, panel.annotations().workers());
        if let Some(remedy) = finding.remedy() {
            let (first, rest) = remedies::words(remedy).split_at(1);
            words.push_str(&format!(" {}{rest}.", first.to_uppercase()));
        }
        wrapped(&words, "  - ", "    ")
    };
    report.findings.iter().map(words).collect()
}

fn verdicts(report: &PanelReport, panel: &Panel, settings: Judges) -> String {
    let classes = panel.annotations().classes();
    let how = match settings.policy {
        VerdictPolicy::Model => "most probable class",
        VerdictPolicy::Majority => "majority",
        VerdictPolicy::StrictMajority => "strict majority of the judges asked",
    };
    let counts = classes.iter().zip(&report.prevalence);
    let mut parts: Vec<String> = counts
        .map(|(class, found)| format!("{class} {}", count(found.verdicts)))
        .collect();
    let unscored = report
        .verdicts
        .iter()
        .filter(|verdict| verdict.label.is_none())
        .count();
    let kept = match settings.unscored {
        Unscored::Kept => "kept in the denominator".to_owned(),
        Unscored::As(class) => format!("counted as {}", classes.get(class)),
        Unscored::LeftOut => "left out of the denominator".to_owned(),
    };
    parts.push(match unscored {
        0 => "unscored 0".to_owned(),
        _ => format!("unscored {} ({kept})", count(unscored)),
    });
    let mut text = format!("  {how}: {}\n", parts.join(", "));
    text.push_str(&format!("  estimated error: {}", report.error));
    if let Some(checked) = &report.agreement_with_gold {
        text.push_str(&format!(
            "; right on gold: {} of {}",
            with_range(&checked.share),
            plural(checked.items, "item")
        ));
    }
    text.push('\n');
    text
}

fn shares(report: &PanelReport, panel: &Panel, positive: usize) -> String {
    let classes = panel.annotations().classes();
    let mut table = TextTable::new([
        "share of",
        ">verdicts",
        ">corrected, model",
        ">corrected, Rogan-Gladen",
    ]);
    let cell = |found: &Option<Interval>| match found {
        Some(interval) => format!(
            "{} ({:.1} to {:.1})",
            percent(interval.estimate),
            100.0 * interval.low,
            100.0 * interval.high
        ),
        None => "-".to_owned(),
    };
    let mut order: Vec<usize> = (0..classes.len()).collect();
    order.sort_by_key(|&class| class != positive);
    for class in order {
        let found = &report.prevalence[class];
        let mark = if class == positive { " (pass rate)" } else { "" };
        table.row([
            format!("{}{mark}", classes.get(class)),
            percent(found.observed),
            cell(&found.model),
            cell(&found.rogan_gladen),
        ]);
    }
    let mut text = format!("\n{}", table.render());
    if report.prevalence.iter().all(|found| found.rogan_gladen.is_none()) {
        text.push_str("  Rogan-Gladen needs gold: at least 5 items of the class and 5 others\n");
    }
    text
}

fn judges(report: &PanelReport, panel: &Panel, positive: usize) -> String {
    let (classes, workers) = (panel.annotations().classes(), panel.annotations().workers());
    let two = classes.len() == 2;
    let rates: Vec<usize> = if two {
        vec![positive, 1 - positive]
    } else {
        (0..classes.len().min(6)).collect()
    };
    let consistent = report.judges.iter().any(|judge| judge.self_consistency.is_some());
    let checked = report
        .judges
        .iter()
        .any(|judge| judge.agreement_with_gold.is_some());
    let of_rates: Vec<String> = rates
        .iter()
        .map(|&class| format!(">right on {}", classes.get(class)))
        .collect();
    let columns = ["judge", ">answers", ">failed", ">accuracy"].into_iter();
    let columns = columns.chain(of_rates.iter().map(String::as_str));
    let columns = columns.chain(two.then_some("strictness"));
    let columns = columns.chain(consistent.then_some(">agrees with itself"));
    let columns = columns
        .chain([">with the others"])
        .chain(checked.then_some(">with gold"));
    let mut table = TextTable::new(columns);
    let dash = || "-".to_owned();
    for judge in &report.judges {
        let mut cells = vec![
            workers.get(judge.judge).to_owned(),
            count(judge.answers),
            percent(judge.failures as f64 / (judge.failures + judge.answers).max(1) as f64),
            judge.accuracy.as_ref().map_or_else(dash, with_range),
        ];
        for &class in &rates {
            cells.push(
                judge
                    .recalls
                    .as_ref()
                    .map_or_else(dash, |recalls| with_range(&recalls[class])),
            );
        }
        if two {
            cells.push(strictness(judge, positive).unwrap_or("-").to_owned());
        }
        if consistent {
            let itself = judge.self_consistency.as_ref();
            cells.push(itself.map_or_else(dash, |found| percent(found.agreement)));
        }
        cells.push(judge.agreement_with_panel.map_or_else(dash, percent));
        if checked {
            let gold = judge.agreement_with_gold.as_ref();
            cells.push(gold.map_or_else(dash, |found| with_range(&found.share)));
        }
        table.row(cells);
    }
    table.render()
}

fn dependence(report: &PanelReport, panel: &Panel) -> String {
    let workers = panel.annotations().workers();
    let found = &report.dependence;
    let judges = workers.len();
    if judges == 1 {
        return "  one judge depends on nobody\n".to_owned();
    }
    let mut text = format!(
        "  the {judges} judges are worth {:.1} independent ones; {}\n",
        found.effective_judges,
        basis(found.basis)
    );
    if (2..=MAX_IN_MATRIX).contains(&judges) {
        text.push_str(&format!(
            "  correlation of errors\n\n{}",
            matrix(&found.correlation, workers)
        ));
    }
    text
}

fn matrix(correlation: &[Option<f64>], workers: &Names) -> String {
    let judges = workers.len();
    let others: Vec<String> = workers.iter().skip(1).map(|name| format!(">{name}")).collect();
    let mut table = TextTable::new(["judge"].into_iter().chain(others.iter().map(String::as_str)));
    for i in 0..judges - 1 {
        let mut cells = vec![workers.get(i).to_owned()];
        for j in 1..judges {
            let shown = correlation[i * judges + j].filter(|_| j > i);
            // Rounding must not leave a minus before nothing.
            cells.push(shown.map_or_else(String::new, |rho| {
                format!("{:.2}", (100.0 * rho).round() / 100.0 + 0.0)
            }));
        }
        table.row(cells);
    }
    table.render()
}

fn changes(report: &PanelReport, panel: &Panel) -> String {
    let workers = panel.annotations().workers();
    let mut table = TextTable::new(["panel", ">expected wrong verdicts", ">verdicts that change"]);
    let found = &report.changes;
    table.row(["as it is".to_owned(), percent(found.error), String::new()]);
    let mut without = found.without.clone();
    without.sort_by(|a, b| a.error.total_cmp(&b.error));
    for change in without {
        table.row([
            format!("without {}", workers.get(change.judge)),
            percent(change.error),
            percent(change.changed),
        ]);
    }
    table.row([
        "with one more independent judge, as good as the rest".to_owned(),
        percent(found.one_more),
        String::new(),
    ]);
    table.render()
}
