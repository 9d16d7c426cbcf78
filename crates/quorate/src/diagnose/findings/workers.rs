//! Which workers to look at.

use super::super::finding::{list, percent, sentence_case};
use super::super::shared_errors::MAX_ON_A_TASK;
use super::super::worker_kinds::WorkerCheck;
use super::super::{Finding, FindingKind, PairErrors, Severity, Structure};
use super::worker_names;
use crate::annotations::Annotations;

pub(super) fn workers(structure: &Structure, annotations: &Annotations, others_unsure: bool) -> Vec<Finding> {
    let mut found = Vec::new();
    let total = annotations.label_count() as f64;
    let labels_of = annotations.labels_per_worker();
    let mut add = |kind: FindingKind, is: fn(&WorkerCheck) -> bool, says: &str, advice: &str| {
        let checks: Vec<&WorkerCheck> = structure.workers.iter().filter(|check| is(check)).collect();
        if checks.is_empty() {
            return;
        }
        let names = worker_names(annotations, checks.iter().map(|check| check.worker));
        let share = checks
            .iter()
            .map(|check| f64::from(labels_of[check.worker]))
            .sum::<f64>()
            / total;
        let tasks: f64 = checks.iter().map(|check| check.tasks as f64).sum();
        let mean = |value: fn(&WorkerCheck) -> f64| {
            checks
                .iter()
                .map(|check| check.tasks as f64 * value(check))
                .sum::<f64>()
                / tasks
        };
        let (accuracy, chance) = (mean(|check| check.accuracy), mean(|check| check.chance));
        let verb = if names.len() == 1 {
            ("answers", "gives", "is")
        } else {
            ("answer", "give", "are")
        };
        let says = says
            .replace("{answers}", verb.0)
            .replace("{gives}", verb.1)
            .replace("{is}", verb.2);
        let caveat = if kind == FindingKind::Adversaries && others_unsure {
            "; but the crowd agrees so little that it may be the others who are wrong"
        } else {
            ""
        };
        let numbers = match kind {
            FindingKind::OneSided => format!(
                "most frequent answer {}",
                percent(mean(|check| check.favourite.1))
            ),
            _ => format!(
                "agreement with the others {}, guessing gives {}",
                percent(accuracy),
                percent(chance)
            ),
        };
        found.push(
            Finding::new(
                kind,
                match kind {
                    FindingKind::Adversaries if others_unsure => Severity::Info,
                    FindingKind::Adversaries => Severity::Warning,
                    _ if share >= 0.02 => Severity::Warning,
                    _ => Severity::Info,
                },
                format!(
                    "{} {says} ({numbers}; {} of all labels){caveat}.",
                    sentence_case(&list(&names, "worker")),
                    percent(share)
                ),
                advice,
            )
            .with_evidence(&[
                ("workers", names.len() as f64),
                ("share of labels", share),
                ("agreement with the others", accuracy),
                ("agreement by guessing", chance),
            ])
            .with_workers(names),
        );
    };
    add(
        FindingKind::OneSided,
        |check| check.one_sided,
        "nearly always {gives} the same answer, whatever the others say",
        "Most of this is habit: majority vote counts it in full, methods with confusion matrices listen to the rare other \
         answers only.",
    );
    add(
        FindingKind::Spammers,
        |check| check.spammer,
        "{answers} as if at random: nothing in the answers depends on what the others say",
        "Give them some tasks whose truth is known before you pay for more; the default method hardly listens to them.",
    );
    add(
        FindingKind::Adversaries,
        |check| check.adversary,
        "{is} wrong more often than a guess would be",
        "Look at their answers: they may have misread the question or swapped two classes. Methods with confusion matrices \
         can use such answers; majority vote is harmed by them.",
    );
    found
}

pub(super) fn copies(structure: &Structure, annotations: &Annotations) -> Vec<Finding> {
    let mut found = Vec::new();
    let copies = &structure.copies;
    for group in &copies.groups {
        let names = worker_names(annotations, group.iter().copied());
        let pairs: Vec<_> = copies
            .pairs
            .iter()
            .filter(|pair| group.contains(&pair.workers.0))
            .collect();
        let sum = |value: fn(&&&PairErrors) -> f64| pairs.iter().map(|pair| value(&pair)).sum::<f64>();
        let common = sum(|pair| pair.common);
        let expected = copies.baseline.inflation * sum(|pair| pair.expected);
        let overlap = sum(|pair| pair.overlap) / pairs.len().max(1) as f64;
        let like = if overlap >= 0.5 {
            "as if they copied from each other or from one source"
        } else {
            "as if some answers were copied, or the same wrong rule was learned"
        };
        found.push(
            Finding::new(
                FindingKind::SameErrors,
                if overlap >= 0.5 { Severity::Problem } else { Severity::Warning },
                format!(
                    "{} give the same answers against all others: {common:.0} times where {expected:.1} would be usual here, {like}.",
                    sentence_case(&list(&names, "worker"))
                ),
                "They are copies, or the only ones who are right: check some of their common answers against known truths.",
            )
            .with_evidence(&[
                ("common errors", common),
                ("usual", expected),
                ("overlap", overlap),
                ("pairs", pairs.len() as f64),
            ])
            .with_workers(names),
        );
    }
    let effective = &structure.effective;
    if effective.effective < 0.8 * effective.labels {
        found.push(
            Finding::new(
                FindingKind::DependentLabels,
                if effective.effective < 0.5 * effective.labels { Severity::Warning } else { Severity::Info },
                format!(
                    "Workers tend to err on the same tasks: the {:.1} labels of a task are worth about {:.1} independent ones.",
                    effective.labels, effective.effective
                ),
                "Confidences may be too high: check them against known answers. Clearer instructions for the hard tasks help \
                 more than further labels of the same kind.",
            )
            .with_evidence(&[
                ("labels a task", effective.labels),
                ("worth", effective.effective),
                ("correlation of errors", effective.error_correlation),
            ]),
        );
    }
    if copies.stride > 1 {
        found.push(
            Finding::new(
                FindingKind::NotExamined,
                Severity::Info,
                format!(
                    "Common errors were looked for on every {}th task only, for the size of the table.",
                    copies.stride
                ),
                "Copies that share few tasks may be missed.",
            )
            .with_evidence(&[("stride", copies.stride as f64)]),
        );
    }
    if copies.crowded > 0 {
        found.push(
            Finding::new(
                FindingKind::NotExamined,
                Severity::Info,
                format!(
                    "{} with more than {MAX_ON_A_TASK} labels left out of the search for common errors.",
                    match copies.crowded {
                        1 => "One task".to_owned(),
                        number => format!("{number} tasks"),
                    }
                ),
                "Nothing to do: so many workers on one task say little about any two of them.",
            )
            .with_evidence(&[("tasks", copies.crowded as f64)]),
        );
    }
    found
}
