//! What is known about the classes.

use super::super::finding::{list, percent};
use super::super::specialists::{MIN_ANSWERS, PURE};
use super::super::{Finding, FindingKind, Severity, Specialist, Structure};
use super::CLEAR_MARGIN;
use crate::annotations::Annotations;

pub(super) fn classes(structure: &Structure, annotations: &Annotations) -> Vec<Finding> {
    let mut found = Vec::new();
    let total = annotations.class_count();
    match &structure.spectrum {
        Some(spectrum) if spectrum.shown < total => found.push(
            Finding::new(
                FindingKind::WeakStructure,
                Severity::Warning,
                format!(
                    "The answers clearly show {} of the {total} classes; the others cannot be told from chance.",
                    spectrum.shown
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
                if structure.alignment_margin < 0.01 {
                    Severity::Problem
                } else {
                    Severity::Warning
                },
                "Which group of tasks is which class is nearly a toss-up.".to_owned(),
                "Check a handful of tasks by hand, or add known answers.",
            )
            .with_evidence(&[("margin", structure.alignment_margin)]),
        );
    }
    found
}

fn specialists(structure: &Structure, annotations: &Annotations) -> Vec<Finding> {
    let all = &structure.specialists;
    // Of classes that nobody answered often enough there is nothing to say but that.
    let (rare, answered): (Vec<usize>, Vec<usize>) =
        (0..all.len()).partition(|&class| all[class].worker.is_none());
    let weak = answered.into_iter().filter(|&class| all[class].bound < PURE);
    let (none, unproven): (Vec<usize>, Vec<usize>) = weak.partition(|&class| all[class].purity < PURE);
    let mut found = Vec::new();
    if !rare.is_empty() {
        let names: Vec<String> = rare
            .iter()
            .map(|&class| annotations.classes().get(class).to_owned())
            .collect();
        let sentence = format!(
            "No worker gave the answer {} {MIN_ANSWERS} times on tasks that others labelled too: how reliable a sign it is \
             cannot be told.",
            list(&names, "class").trim_start_matches("class ")
        );
        let advice = "Collect more labels for these classes, or know some of them beforehand.";
        found.push(
            Finding::new(FindingKind::NoSpecialist, Severity::Info, sentence, advice).with_classes(names),
        );
    }
    for (classes, severity) in [(none, Severity::Warning), (unproven, Severity::Info)] {
        if classes.is_empty() {
            continue;
        }
        let lowest = |value: fn(&Specialist) -> f64| {
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
                "Add known answers for these classes, or a worker who knows them.",
            )
            .with_evidence(&[
                ("classes", classes.len() as f64),
                ("lowest purity", purity),
                ("lowest bound", bound),
            ])
            .with_classes(names),
        );
    }
    found
}
