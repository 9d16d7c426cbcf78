//! What tasks, pairs of workers and agreement have to say.

use super::super::finding::{list, percent, sentence_case};
use super::super::{Finding, FindingKind, Inspection, Severity};
use super::worker_names;
use crate::annotations::Annotations;

pub(super) fn thin_tasks(inspection: &Inspection, annotations: &Annotations) -> Option<Finding> {
    let sizes = annotations.task_starts().windows(2).map(|pair| pair[1] - pair[0]);
    let single = sizes.filter(|&size| size == 1).count();
    let none = inspection.summary.unlabelled_tasks;
    let share = (single + none) as f64 / inspection.summary.tasks.max(1) as f64;
    (single + none > 0).then(|| {
        let mut parts = Vec::new();
        if single > 0 {
            parts.push(format!("{single} with a single label"));
        }
        if none > 0 {
            parts.push(format!("{none} without any"));
        }
        Finding::new(
            FindingKind::ThinTasks,
            if share > 0.2 { Severity::Warning } else { Severity::Info },
            format!("{} of the tasks have nothing to compare: {}.", percent(share), parts.join(", ")),
            "Their label rests on one worker's reputation at best; collect a second and third label where it matters.",
        )
        .with_evidence(&[
            ("single-label tasks", single as f64),
            ("unlabelled tasks", none as f64),
            ("share", share),
        ])
    })
}

pub(super) fn disconnected(inspection: &Inspection, annotations: &Annotations) -> Option<Finding> {
    let parts = &inspection.connectivity.parts;
    let labelled = parts.labels.iter().filter(|&&labels| labels > 0).count();
    let labels_of = annotations.labels_per_worker();
    let apart =
        (0..parts.of_worker.len()).filter(|&worker| parts.of_worker[worker] > 0 && labels_of[worker] > 0);
    let names = worker_names(annotations, apart);
    let share = 1.0 - parts.labels[0] as f64 / inspection.summary.labels.max(1) as f64;
    (labelled > 1).then(|| {
        let largest = match labelled {
            2 => "the other component".to_owned(),
            _ => "the largest component".to_owned(),
        };
        Finding::new(
            FindingKind::Disconnected,
            match share {
                share if share >= 0.05 => Severity::Problem,
                share if share >= 0.005 => Severity::Warning,
                _ => Severity::Info,
            },
            format!(
                "The crowd has {labelled} connected components: {}, with {} of the labels, cannot be compared \
                 with {largest}.",
                list(&names, "worker"),
                percent(share)
            ),
            "Let some workers of each component label the same tasks; until then aggregate the components apart, or trust that most \
             workers of each are better than chance.",
        )
        .with_evidence(&[("parts", labelled as f64), ("share of labels outside the largest", share)])
        .with_workers(names)
    })
}

pub(super) fn pairs(inspection: &Inspection) -> Vec<Finding> {
    let Some(pairs) = &inspection.connectivity.pairs else {
        return vec![Finding::new(
            FindingKind::NotExamined,
            Severity::Info,
            "There are too many pairs of labels on the same task to count who shares tasks with whom.".into(),
            "Inspect a sample of the tasks for facts about pairs of workers.",
        )];
    };
    let mut found = Vec::new();
    if pairs.missing_share > 0.5 && inspection.summary.workers > 2 {
        let imputable = pairs.imputable_share.unwrap_or(1.0);
        found.push(
            Finding::new(
                FindingKind::MissingPairs,
                if imputable < 0.5 { Severity::Warning } else { Severity::Info },
                format!(
                    "{} of the pairs of workers share no task; {} of these can be filled in through two other workers.",
                    percent(pairs.missing_share),
                    percent(imputable)
                ),
                "Nothing for the default method; let a few workers label many tasks before you rely on single pairs.",
            )
            .with_evidence(&[
                ("share of pairs missing", pairs.missing_share),
                ("share of those imputable", imputable),
            ]),
        );
    }
    let cells = inspection.summary.classes.pow(2);
    let median = pairs.shared[2];
    if pairs.observed > 0 && (median as usize) < cells {
        found.push(
            Finding::new(
                FindingKind::ThinPairs,
                if (pairs.shared[4] as usize) < cells { Severity::Warning } else { Severity::Info },
                format!(
                    "Half of the pairs of workers who share tasks share {median} or fewer, less than the {cells} cells of \
                     the table in which their answers are compared."
                ),
                "Do not rely on single pairs of workers; the default method does not.",
            )
            .with_evidence(&[("median shared tasks", f64::from(median)), ("cells", cells as f64)]),
        );
    }
    found
}

/// Whether agreement cannot be told from chance.
pub(super) fn at_chance(inspection: &Inspection) -> bool {
    let alpha = inspection.agreement.alpha_nominal;
    let low = alpha.interval.map(|interval| interval.0).or(alpha.value.ok());
    low.is_some_and(|low| low <= 0.0)
}

pub(super) fn low_agreement(inspection: &Inspection) -> Option<Finding> {
    let alpha = inspection.agreement.alpha_nominal;
    let value = alpha.value.ok()?;
    let low = alpha.interval.map_or(value, |interval| interval.0);
    let (severity, sentence) = if at_chance(inspection) {
        let text = "Workers agree no more than they would by chance";
        (Severity::Problem, text)
    } else if value < 0.2 {
        (
            Severity::Warning,
            "Workers agree only a little more than they would by chance",
        )
    } else {
        return None;
    };
    let found = Finding::new(
        FindingKind::LowAgreement,
        severity,
        format!("{sentence} (Krippendorff's alpha {value:.2}; 1 is full agreement, 0 is chance)."),
        "Check the question and the instructions before adding labels: either the task is unclear or many workers guess.",
    );
    Some(found.with_evidence(&[("alpha", value), ("lower bound", low)]))
}

pub(super) fn few_labels(annotations: &Annotations) -> Option<Finding> {
    let cells = annotations.class_count().pow(2) as u32;
    let labels_of = annotations.labels_per_worker();
    let few: Vec<usize> = (0..labels_of.len())
        .filter(|&worker| labels_of[worker] < cells)
        .collect();
    let labels: u32 = few.iter().map(|&worker| labels_of[worker]).sum();
    let share = f64::from(labels) / annotations.label_count() as f64;
    let names = worker_names(annotations, few);
    (!names.is_empty()).then(|| {
        Finding::new(
            FindingKind::FewLabels,
            if share > 0.5 { Severity::Warning } else { Severity::Info },
            format!(
                "{} gave fewer labels than a confusion matrix has cells ({cells}); together {} of all labels.",
                sentence_case(&list(&names, "worker")),
                percent(share)
            ),
            "How these workers err cannot be learned one by one: methods lean on the crowd's average for them.",
        )
        .with_evidence(&[
            ("workers", names.len() as f64),
            ("share of labels", share),
            ("cells", f64::from(cells)),
        ])
        .with_workers(names)
    })
}
