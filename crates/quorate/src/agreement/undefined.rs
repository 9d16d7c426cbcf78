//! Why a coefficient has no value.

/// Why a coefficient has no value. A number that means nothing is worse than none: 0/0 is said, not rounded
/// to 0 or 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undefined {
    /// No task has two labels, so nothing can be compared.
    NoPairs,
    /// Every label is the same class: full agreement is all that can happen, by chance or not (0/0).
    NoVariation,
    /// The table has one class only, so that chance has nothing to choose from.
    OneClass,
    /// The classes are not numbers, which distances need.
    NotNumbers,
    /// No pair of workers shares enough tasks.
    TooFewShared,
    /// There are more pairs of workers than are worth counting.
    TooManyPairs,
}

impl Undefined {
    /// The reason in words.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NoPairs => "no task has two labels",
            Self::NoVariation => "all labels are the same class, so that chance agrees fully too (0/0)",
            Self::OneClass => "there is one class only",
            Self::NotNumbers => "the classes are not numbers",
            Self::TooFewShared => "no two workers share enough tasks",
            Self::TooManyPairs => "too many pairs of workers to count",
        }
    }
}

impl std::fmt::Display for Undefined {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.reason())
    }
}
