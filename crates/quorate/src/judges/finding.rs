//! What a reader of a panel's report must know before the numbers.

use crate::remedy::Remedy;

/// Something to know about a panel. Judges are worker codes.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PanelFinding {
    /// All answers are the same class: nothing can be learnt.
    OneClass,
    /// There is one judge: nobody to compare it with.
    OneJudge,
    /// There are two voices: where they differ, labels cannot tell which one is right.
    TwoVoices,
    /// These judges are nearly identical, and one voice outside disagrees with them: all of them may be
    /// right, or copies of one judge that is wrong. Labels cannot tell.
    CannotTell {
        /// The judges who are alike.
        alike: Vec<usize>,
        /// The judges outside.
        outside: Vec<usize>,
    },
    /// These judges err together far beyond what the truth explains, and count as one voice.
    OneVoice {
        /// The judges.
        judges: Vec<usize>,
        /// Probability of this reading.
        probability: f64,
        /// Whether known truths had a say in it.
        by_gold: bool,
    },
    /// No truth is known: errors that all judges share cannot be seen.
    NoGold,
    /// A judge that fails often.
    Failures {
        /// The judge.
        judge: usize,
        /// Share of failures among all times it was asked.
        share: f64,
    },
}

impl PanelFinding {
    /// A short name, for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::OneClass => "one-class",
            Self::OneJudge => "one-judge",
            Self::TwoVoices => "two-voices",
            Self::CannotTell { .. } => "cannot-tell",
            Self::OneVoice { .. } => "one-voice",
            Self::NoGold => "no-gold",
            Self::Failures { .. } => "failures",
        }
    }

    /// What can be done about it.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::OneJudge | Self::TwoVoices | Self::CannotTell { .. } | Self::NoGold => {
                Some(Remedy::GiveGold)
            }
            Self::OneVoice { by_gold, .. } => (!by_gold).then_some(Remedy::GiveGold),
            Self::OneClass | Self::Failures { .. } => None,
        }
    }
}
