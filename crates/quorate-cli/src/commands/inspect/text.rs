//! The report for people: four short parts.

use quorate::Annotations;
use quorate::agreement::{AgreementReport, Coefficient};
use quorate::diagnose::{Finding, Inspection, Structure};

use super::Scale;
use crate::input::size_line;
use crate::remedies::advice;
use crate::text_table::{TextTable, count, plural, wrapped};

/// Classes shown one by one; more are cut.
const MAX_CLASSES: usize = 8;
/// Findings of one kind shown one by one.
const MAX_OF_A_KIND: usize = 3;
/// Workers that a sentence may name; with all asked for, longer lists get lines of their own.
const LISTED: usize = 12;

pub(super) fn as_text(inspection: &Inspection, annotations: &Annotations, scale: Scale, all: bool) -> String {
    let mut text = String::from("What is in the table\n");
    text.push_str(&contents(inspection, annotations));
    text.push_str("\nHow far workers agree (1: fully, 0: as by chance)\n");
    text.push_str(&agreement(&inspection.agreement, scale));
    text.push_str(&class_table(inspection, annotations));
    text.push_str("\nWhat can be known\n");
    text.push_str(&knowledge(inspection));
    text.push_str("\nFindings\n");
    text.push_str(&findings(&inspection.findings, all));
    text
}

/// `  name    value` with values in one column.
fn line(name: &str, value: impl AsRef<str>) -> String {
    format!("  {name:<20} {}\n", value.as_ref())
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn contents(inspection: &Inspection, annotations: &Annotations) -> String {
    let summary = &inspection.summary;
    let (task, worker) = (summary.labels_per_task, summary.labels_per_worker);
    let range = |low: usize, high: usize, middle: String| {
        if low == high {
            format!("{} each", count(low))
        } else {
            format!("{} to {}, {middle}", count(low), count(high))
        }
    };
    [
        line("size", size_line(annotations)),
        line(
            "labels a task",
            range(task.least, task.most, format!("mean {:.1}", task.mean)),
        ),
        line(
            "labels a worker",
            range(
                worker.least,
                worker.most,
                format!("median {}", count(worker.median)),
            ),
        ),
    ]
    .concat()
}

fn agreement(report: &AgreementReport, scale: Scale) -> String {
    let number = |value: f64| format!("{value:.3}");
    let shown = |coefficient: Coefficient, shape: &dyn Fn(f64) -> String| match coefficient.value {
        Err(why) => format!("undefined: {why}"),
        Ok(value) => match coefficient.interval {
            Some((low, high)) => format!(
                "{:<8} (95 % interval {} to {})",
                shape(value),
                shape(low),
                shape(high)
            ),
            None => shape(value),
        },
    };
    let (name, alpha) = match scale {
        Scale::Nominal => ("Krippendorff's alpha", report.alpha_nominal),
        Scale::Ordinal => ("alpha, ordinal", report.alpha_ordinal),
        Scale::Interval => ("alpha, interval", report.alpha_interval),
    };
    let pairwise = &report.pairwise;
    let cohen = match pairwise.mean_kappa {
        Ok(kappa) => format!(
            "{kappa:.3}    (mean over {} of workers weighted by shared tasks; plain mean {:.3})",
            plural(pairwise.pairs, "pair"),
            pairwise.plain_mean_kappa.unwrap_or(kappa)
        ),
        Err(why) => format!("undefined: {why}"),
    };
    [
        line("two labels agree", shown(report.observed, &percent)),
        line(name, shown(alpha, &number)),
        line("Fleiss' kappa", shown(report.fleiss, &number)),
        line("Gwet's AC1", shown(report.ac1, &number)),
        line("Cohen's kappa", cohen),
    ]
    .concat()
}

fn class_table(inspection: &Inspection, annotations: &Annotations) -> String {
    let mut table = TextTable::new([
        "class",
        ">labels",
        ">share",
        ">if one says it, another does",
        ">kappa",
        "most reliable sign",
    ]);
    let specialists = inspection
        .structure
        .as_ref()
        .map(|structure| &structure.specialists);
    for (class, agreement) in inspection.agreement.classes.iter().enumerate().take(MAX_CLASSES) {
        let labels = inspection.summary.labels_per_class[class];
        let sign = specialists.and_then(|all| {
            let best = &all[class];
            let worker = annotations.workers().get(best.worker?);
            Some(format!(
                "{worker}: right in {:.0} % of {} (at least {:.0} %)",
                100.0 * best.purity,
                plural(best.answers, "case"),
                100.0 * best.bound
            ))
        });
        table.row([
            annotations.classes().get(class).to_owned(),
            count(labels),
            percent(labels as f64 / inspection.summary.labels.max(1) as f64),
            agreement.specific.value.map_or("-".into(), percent),
            agreement
                .kappa
                .value
                .map_or("-".into(), |kappa| format!("{kappa:.3}")),
            sign.unwrap_or_else(|| "-".into()),
        ]);
    }
    let mut text = format!("\n{}", table.render());
    let hidden = annotations.class_count().saturating_sub(MAX_CLASSES);
    if hidden > 0 {
        text.push_str(&format!(
            "  .. and {} (all in --json)\n",
            plural(hidden, "more class")
        ));
    }
    text
}

fn knowledge(inspection: &Inspection) -> String {
    let mut text = String::new();
    let connectivity = &inspection.connectivity;
    text.push_str(&line(
        "connected",
        match connectivity.parts.count() {
            1 => "yes: a chain of shared tasks joins all workers".to_owned(),
            parts => format!("no: {parts} parts without a common task"),
        },
    ));
    if inspection.summary.workers < 2 {
        text.push_str(&line("pairs of workers", "none: there is one worker"));
    } else if let Some(pairs) = &connectivity.pairs {
        let missing = match (pairs.missing_share > 0.0, pairs.imputable_share) {
            (true, Some(share)) => format!(
                "{} share none, of which {}{} can be filled in through others",
                percent(pairs.missing_share),
                if pairs.exact { "" } else { "about " },
                percent(share)
            ),
            _ => "every pair shares tasks".to_owned(),
        };
        text.push_str(&line("pairs of workers", missing));
        text.push_str(&line(
            "tasks a pair shares",
            format!(
                "median {}; {} to {} for 8 of 10 pairs that share any",
                count(pairs.shared[2] as usize),
                count(pairs.shared[0] as usize),
                count(pairs.shared[4] as usize)
            ),
        ));
    }
    if let Some(structure) = &inspection.structure {
        text.push_str(&structure_lines(structure, inspection.summary.classes));
    }
    text
}

fn structure_lines(structure: &Structure, classes: usize) -> String {
    let mut text = String::new();
    if let Some(spectrum) = &structure.spectrum {
        text.push_str(&line(
            "classes that show",
            format!("{} of {classes}", spectrum.shown),
        ));
    }
    text.push_str(&line(
        "naming of classes",
        format!(
            "margin {:.2} before the next best one (0 a toss-up, 2 as clear as can be)",
            structure.alignment_margin
        ),
    ));
    let effective = &structure.effective;
    text.push_str(&line(
        "independent labels",
        format!(
            "{:.1} labels of a task are worth {:.1} (errors of two workers correlate by {:.2})",
            effective.labels, effective.effective, effective.error_correlation
        ),
    ));
    let (workers, pairs) = (structure.workers.len(), structure.copies.tested);
    text.push_str(&line(
        "examined",
        format!(
            "{} one by one, {} for common errors",
            plural(workers, "worker"),
            plural(pairs, "pair")
        ),
    ));
    text
}

fn findings(findings: &[Finding], all: bool) -> String {
    if findings.is_empty() {
        return "  Nothing stands out.\n".to_owned();
    }
    let mut text = String::new();
    for of_kind in findings.chunk_by(|a, b| (a.severity, a.kind) == (b.severity, b.kind)) {
        let shown = if all { of_kind.len() } else { MAX_OF_A_KIND };
        for finding in of_kind.iter().take(shown) {
            let name = finding.severity.name();
            text.push_str(&wrapped(
                &finding.sentence,
                &format!("  {name:<8} "),
                "           ",
            ));
            text.push_str(&wrapped(finding.kind.certainty(), "           ", "           "));
            let advice = advice(finding);
            text.push_str(&wrapped(&advice, "           -> ", "              "));
            if all && finding.workers.len() > LISTED {
                let names = format!("workers: {}", finding.workers.join(", "));
                text.push_str(&wrapped(&names, "           ", "           "));
            }
        }
        let hidden = of_kind.len().saturating_sub(shown);
        if hidden > 0 {
            text.push_str(&format!(
                "           .. and {hidden} more like this (--all shows them)\n"
            ));
        }
    }
    text
}
