//! From numbers to sentences.

use super::finding::{list, percent, sentence_case};
use super::specialists::PURE;
use super::worker_kinds::WorkerCheck;
use super::{Finding, FindingKind, Inspection, Severity, Structure};
use crate::annotations::Annotations;

/// Margin of the naming of the classes below which it is unclear.
const CLEAR_MARGIN: f64 = 0.05;

/// Everything worth saying, the gravest first.
pub(super) fn collect(inspection: &Inspection, annotations: &Annotations) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(thin_tasks(inspection, annotations));
    findings.extend(disconnected(inspection, annotations));
    findings.extend(pairs(inspection));
    match &inspection.structure {
        Some(structure) => {
            findings.extend(low_agreement(inspection));
            findings.extend(few_labels(annotations));
            findings.extend(classes(structure, annotations));
            findings.extend(workers(structure, annotations));
            findings.extend(copies(structure, annotations));
        }
        None => findings.push(Finding::new(
            FindingKind::OneClass,
            Severity::Problem,
            "Every label is the same class: there is nothing to decide.".into(),
            "If labels are missing, check the column and --missing; if other answers were possible, name them with \
             --classes.",
        )),
    }
    findings.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.kind));
    findings
}

/// Names of workers, those with the most labels first.
fn worker_names(annotations: &Annotations, codes: impl IntoIterator<Item = usize>) -> Vec<String> {
    let labels_of = annotations.labels_per_worker();
    let mut codes: Vec<usize> = codes.into_iter().collect();
    codes.sort_by_key(|&code| (std::cmp::Reverse(labels_of[code]), code));
    let name = |&code: &usize| annotations.workers().get(code).to_owned();
    codes.iter().map(name).collect()
}

fn thin_tasks(inspection: &Inspection, annotations: &Annotations) -> Option<Finding> {
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

fn disconnected(inspection: &Inspection, annotations: &Annotations) -> Option<Finding> {
    let parts = &inspection.connectivity.parts;
    let labelled = parts.labels.iter().filter(|&&labels| labels > 0).count();
    let labels_of = annotations.labels_per_worker();
    let apart =
        (0..parts.of_worker.len()).filter(|&worker| parts.of_worker[worker] > 0 && labels_of[worker] > 0);
    let names = worker_names(annotations, apart);
    let share = 1.0 - parts.labels[0] as f64 / inspection.summary.labels.max(1) as f64;
    (labelled > 1).then(|| {
        let largest = match labelled {
            2 => "the other part".to_owned(),
            _ => "the largest part".to_owned(),
        };
        Finding::new(
            FindingKind::Disconnected,
            match share {
                share if share >= 0.05 => Severity::Problem,
                share if share >= 0.005 => Severity::Warning,
                _ => Severity::Info,
            },
            format!(
                "The crowd falls into {labelled} parts that share no task: {}, with {} of the labels, cannot be compared \
                 with {largest}.",
                list(&names, "worker"),
                percent(share)
            ),
            "Let some workers of each part label the same tasks; until then aggregate the parts apart, or trust that most \
             workers of each are better than chance.",
        )
        .with_evidence(&[("parts", labelled as f64), ("share of labels outside the largest", share)])
        .with_workers(names)
    })
}

fn pairs(inspection: &Inspection) -> Vec<Finding> {
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
                "Use a method that fills in what is missing (rob-symnmf-em), or spread a few workers over many tasks.",
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
                "Single pairs say little here; methods that use all labels of a task together (those that end in -em, \
                 dawid-skene) have more to go by.",
            )
            .with_evidence(&[("median shared tasks", f64::from(median)), ("cells", cells as f64)]),
        );
    }
    found
}

fn low_agreement(inspection: &Inspection) -> Option<Finding> {
    let alpha = inspection.agreement.alpha_nominal;
    let value = alpha.value.ok()?;
    let low = alpha.interval.map_or(value, |interval| interval.0);
    let (severity, sentence) = if low <= 0.0 {
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

fn few_labels(annotations: &Annotations) -> Option<Finding> {
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

fn classes(structure: &Structure, annotations: &Annotations) -> Vec<Finding> {
    let mut found = Vec::new();
    let total = annotations.class_count();
    match &structure.spectrum {
        Some(spectrum) if spectrum.shown < total => found.push(
            Finding::new(
                FindingKind::WeakStructure,
                Severity::Warning,
                format!(
                    "The answers clearly show {} of the {total} classes; the others cannot be told from chance \
                     (strength of pattern {total} in the answers: {:.2}; chance alone reaches {:.2}).",
                    spectrum.shown,
                    spectrum.values.get(total - 1).copied().unwrap_or(0.0),
                    spectrum.chance
                ),
                "Look for classes that are rare or often confused: merge them, or collect more labels where they occur.",
            )
            .with_evidence(&[
                ("classes shown", spectrum.shown as f64),
                ("chance", spectrum.chance),
                ("gap", spectrum.gap),
            ]),
        ),
        Some(_) => {}
        None => found.push(Finding::new(
            FindingKind::NotExamined,
            Severity::Info,
            "The table is too large to compare its co-occurrences with chance.".into(),
            "Inspect a sample of the workers if you want to know how many classes the answers show.",
        )),
    }
    found.extend(specialists(structure, annotations));
    if structure.alignment_margin < CLEAR_MARGIN {
        found.push(
            Finding::new(
                FindingKind::UnclearClasses,
                if structure.alignment_margin < 0.01 { Severity::Problem } else { Severity::Warning },
                format!(
                    "Which group of tasks is which class is nearly a toss-up: the chosen naming beats the next best one by \
                     {} of the labels.",
                    percent(structure.alignment_margin)
                ),
                "Check a handful of tasks by hand, or add known answers.",
            )
            .with_evidence(&[("margin", structure.alignment_margin)]),
        );
    }
    found
}

fn specialists(structure: &Structure, annotations: &Annotations) -> Vec<Finding> {
    let all = &structure.specialists;
    let weak = (0..all.len()).filter(|&class| all[class].bound < PURE);
    let (none, unproven): (Vec<usize>, Vec<usize>) = weak.partition(|&class| all[class].purity < PURE);
    let mut found = Vec::new();
    for (classes, severity) in [(none, Severity::Warning), (unproven, Severity::Info)] {
        if classes.is_empty() {
            continue;
        }
        let lowest = |value: fn(&super::Specialist) -> f64| {
            classes
                .iter()
                .map(|&class| value(&all[class]))
                .fold(1.0, f64::min)
        };
        let (purity, bound) = (lowest(|best| best.purity), lowest(|best| best.bound));
        let names: Vec<String> = classes
            .iter()
            .map(|&class| annotations.classes().get(class).to_owned())
            .collect();
        let listed = list(&names, "class");
        let (which, each) = match names.len() {
            1 => ("the best one is", "that answer"),
            _ => ("for one of them the best is", "that answer"),
        };
        let sentence = match severity {
            Severity::Warning => format!(
                "No worker is a reliable sign of {listed}: {which} right in only {} of the cases of giving {each} ({} \
                 wanted).",
                percent(purity),
                percent(PURE)
            ),
            _ => format!(
                "It cannot be shown yet that some worker is a reliable sign of {listed}: {which} right in {} of the cases of \
                 giving {each}, but that could be luck ({} at least, {} wanted).",
                percent(purity),
                percent(bound),
                percent(PURE)
            ),
        };
        found.push(
            Finding::new(
                FindingKind::NoSpecialist,
                severity,
                sentence,
                "How workers err is then pinned down less well: add an expert, or known answers for these classes. (A \
                 stand-in for a condition of the theory that cannot be checked directly.)",
            )
            .with_evidence(&[("classes", classes.len() as f64), ("lowest purity", purity), ("lowest bound", bound)])
            .with_classes(names),
        );
    }
    found
}

fn workers(structure: &Structure, annotations: &Annotations) -> Vec<Finding> {
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
                if share >= 0.02 || kind == FindingKind::Adversaries {
                    Severity::Warning
                } else {
                    Severity::Info
                },
                format!(
                    "{} {says} ({numbers}; {} of all labels).",
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
        "Leave these workers out, or use a method that weighs workers (not majority vote); do not pay for more.",
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

fn copies(structure: &Structure, annotations: &Annotations) -> Vec<Finding> {
    let mut found = Vec::new();
    let copies = &structure.copies;
    for group in &copies.groups {
        let names = worker_names(annotations, group.iter().copied());
        let pairs: Vec<_> = copies
            .pairs
            .iter()
            .filter(|pair| group.contains(&pair.workers.0))
            .collect();
        let sum = |value: fn(&&&super::PairErrors) -> f64| pairs.iter().map(|pair| value(&pair)).sum::<f64>();
        let common = sum(|pair| pair.common);
        let expected = copies.baseline.inflation * sum(|pair| pair.expected);
        let overlap = sum(|pair| pair.overlap) / pairs.len().max(1) as f64;
        let like = match overlap >= 0.5 {
            true => "as if they copied from each other or from one source",
            false => "as if some answers were copied, or the same wrong rule was learned",
        };
        found.push(
            Finding::new(
                FindingKind::SameErrors,
                if overlap >= 0.5 { Severity::Problem } else { Severity::Warning },
                format!(
                    "{} make the same errors: {common:.0} in common where {expected:.1} would be usual here, {like}.",
                    sentence_case(&list(&names, "worker"))
                ),
                "Look at how they came to their answers; if they are copies, keep one of them.",
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
    found
}
