//! One thing found, as a value that a terminal, a page or another language can show.

use crate::remedy::Remedy;

/// How much it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Good to know.
    Info,
    /// May bias the result.
    Warning,
    /// The result should not be trusted before this is settled.
    Problem,
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingKind {
    /// Parts of the crowd share no task with each other.
    Disconnected,
    /// Workers whose errors are the same: copies, rings.
    SameErrors,
    /// Workers who are wrong more often than chance.
    Adversaries,
    /// Workers whose answers say nothing about the truth.
    Spammers,
    /// Workers who nearly always give the same answer.
    OneSided,
    /// Agreement is no better than chance.
    LowAgreement,
    /// The answers show fewer classes than the table has.
    WeakStructure,
    /// No worker is a reliable sign of some class.
    NoSpecialist,
    /// Which component is which class is nearly a toss-up.
    UnclearClasses,
    /// Labels of a task count for fewer than they are.
    DependentLabels,
    /// Most pairs of workers share no task.
    MissingPairs,
    /// Pairs of workers share few tasks.
    ThinPairs,
    /// Workers with too few labels to know.
    FewLabels,
    /// Tasks with no or one label.
    ThinTasks,
    /// The table has one class only.
    OneClass,
    /// Something was not looked at, for its size.
    NotExamined,
}

/// One thing found.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What.
    pub kind: FindingKind,
    /// How much it matters.
    pub severity: Severity,
    /// One plain sentence.
    pub sentence: String,
    /// What to do.
    pub advice: String,
    /// What else would help.
    pub remedy: Option<Remedy>,
    /// The numbers behind it, each with a name.
    pub evidence: Vec<(&'static str, f64)>,
    /// Names of the workers concerned.
    pub workers: Vec<String>,
    /// Names of the classes concerned.
    pub classes: Vec<String>,
}

impl Severity {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

impl FindingKind {
    /// How sure it is, in one sentence.
    pub fn certainty(self) -> &'static str {
        match self {
            Self::Disconnected
            | Self::MissingPairs
            | Self::ThinPairs
            | Self::FewLabels
            | Self::ThinTasks
            | Self::OneClass
            | Self::NotExamined => "This is counted, not estimated.",
            Self::SameErrors => "The likeness is tested; labels cannot tell why they are alike.",
            Self::Adversaries | Self::Spammers | Self::OneSided => {
                "This is tested against what the others say, and wrong where the others are."
            }
            Self::LowAgreement | Self::WeakStructure => "This is compared with chance.",
            Self::NoSpecialist | Self::UnclearClasses | Self::DependentLabels => {
                "This is estimated from the labels, without a truth."
            }
        }
    }

    /// A name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Disconnected => "disconnected",
            Self::SameErrors => "same-errors",
            Self::Adversaries => "adversaries",
            Self::Spammers => "spammers",
            Self::OneSided => "one-sided",
            Self::LowAgreement => "low-agreement",
            Self::WeakStructure => "weak-structure",
            Self::NoSpecialist => "no-specialist",
            Self::UnclearClasses => "unclear-classes",
            Self::DependentLabels => "dependent-labels",
            Self::MissingPairs => "missing-pairs",
            Self::ThinPairs => "thin-pairs",
            Self::FewLabels => "few-labels",
            Self::ThinTasks => "thin-tasks",
            Self::OneClass => "one-class",
            Self::NotExamined => "not-examined",
        }
    }
}

impl Finding {
    pub(super) fn new(kind: FindingKind, severity: Severity, sentence: String, advice: &str) -> Self {
        Self {
            kind,
            severity,
            sentence,
            advice: advice.to_owned(),
            remedy: None,
            evidence: Vec::new(),
            workers: Vec::new(),
            classes: Vec::new(),
        }
    }

    pub(super) fn with_evidence(mut self, evidence: &[(&'static str, f64)]) -> Self {
        self.evidence.extend_from_slice(evidence);
        self
    }

    pub(super) fn with_remedy(mut self, remedy: Remedy) -> Self {
        self.remedy = Some(remedy);
        self
    }

    pub(super) fn with_workers(mut self, names: Vec<String>) -> Self {
        self.workers = names;
        self
    }

    pub(super) fn with_classes(mut self, names: Vec<String>) -> Self {
        self.classes = names;
        self
    }
}

/// Names in one sentence; of more the rest is counted.
const MAX_NAMES: usize = 12;

/// `worker w1`, `workers w1 and w2`, `4 workers (w1, w2, w3, w4)`, and of long lists the first names and the
/// number of the rest.
pub(super) fn list(names: &[String], word: &str) -> String {
    let plural = if word.ends_with('s') {
        format!("{word}es")
    } else {
        format!("{word}s")
    };
    match names {
        [] => format!("no {word}"),
        [one] => format!("{word} {one}"),
        [first, second] => format!("{plural} {first} and {second}"),
        [first, second, third] => format!("{plural} {first}, {second} and {third}"),
        _ if names.len() <= MAX_NAMES => format!("{} {plural} ({})", names.len(), names.join(", ")),
        _ => format!(
            "{} {plural} ({} and {} more)",
            names.len(),
            names[..MAX_NAMES].join(", "),
            names.len() - MAX_NAMES
        ),
    }
}

/// A share as percent.
pub(super) fn percent(share: f64) -> String {
    match 100.0 * share {
        p if p > 0.0 && p < 0.1 => "less than 0.1 %".to_owned(),
        p if p > 0.0 && p < 1.0 => format!("{p:.1} %"),
        p => format!("{p:.0} %"),
    }
}

/// With a capital letter.
pub(super) fn sentence_case(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut() {
        let names: Vec<String> = (1..=27).map(|number| format!("w{number}")).collect();
        assert_eq!(
            list(&names, "worker"),
            "27 workers (w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, w11, w12 and 15 more)"
        );
        assert_eq!(list(&names[..4], "worker"), "4 workers (w1, w2, w3, w4)");
        assert_eq!(list(&names[..2], "class"), "classes w1 and w2");
        assert_eq!(sentence_case(&list(&names[..1], "worker")), "Worker w1");
    }
}
