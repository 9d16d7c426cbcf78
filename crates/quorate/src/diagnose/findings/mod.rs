//! From numbers to sentences: one file for what the table, the classes and the workers have to say.

mod classes;
mod table;
mod workers;

use super::{Finding, FindingKind, Inspection, Severity};
use crate::annotations::Annotations;
use crate::remedy::Remedy;

/// Margin of the naming of the classes below which it is unclear.
const CLEAR_MARGIN: f64 = 0.05;

/// Everything worth saying, the gravest first.
pub(super) fn collect(inspection: &Inspection, annotations: &Annotations) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(table::thin_tasks(inspection, annotations));
    findings.extend(table::disconnected(inspection, annotations));
    findings.extend(table::pairs(inspection));
    match &inspection.structure {
        Some(structure) => {
            findings.extend(table::low_agreement(inspection));
            findings.extend(table::few_labels(annotations));
            findings.extend(classes::classes(structure, annotations));
            let others_unsure = table::at_chance(inspection) || structure.alignment_margin < CLEAR_MARGIN;
            findings.extend(workers::workers(structure, annotations, others_unsure));
            findings.extend(workers::copies(structure, annotations));
        }
        None if annotations.class_count() > 1 => {
            let finding = Finding::new(
                FindingKind::NotExamined,
                Severity::Warning,
                "A confusion matrix for every worker does not fit into the allowed memory, so that workers were not examined."
                    .into(),
                "Merge rare classes, or allow more memory.",
            );
            findings.push(finding.with_remedy(Remedy::RaiseMemoryLimit));
        }
        None => {
            let finding = Finding::new(
                FindingKind::OneClass,
                Severity::Problem,
                "Every label is the same class: there is nothing to decide.".into(),
                "If labels are missing, check the column of the labels; if other answers were possible, name the classes.",
            );
            findings.push(finding.with_remedy(Remedy::NameClasses));
        }
    }
    findings.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.kind));
    findings
}

/// Names of workers, those with the most labels first.
pub(super) fn worker_names(annotations: &Annotations, codes: impl IntoIterator<Item = usize>) -> Vec<String> {
    let labels_of = annotations.labels_per_worker();
    let mut codes: Vec<usize> = codes.into_iter().collect();
    codes.sort_by_key(|&code| (std::cmp::Reverse(labels_of[code]), code));
    let name = |&code: &usize| annotations.workers().get(code).to_owned();
    codes.iter().map(name).collect()
}
