//! What can be done about an error or a finding, without a program's words for it.

/// What a caller can do. The library says what happened; how a remedy is applied depends on the caller: the
/// program names an option, another language an argument.
///
/// Every variant needs words in every program, so the list is exhaustive: a new one must not be forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Remedy {
    /// Allow more memory ([`Context::with_memory_limit`](crate::Context::with_memory_limit)).
    RaiseMemoryLimit,
    /// Say which classes there are, and which labels stand for no answer.
    NameClasses,
    /// Give a classifier's probabilities
    /// ([`Context::with_class_probabilities`](crate::Context::with_class_probabilities)).
    GiveClassProbabilities,
    /// Give numbers that describe the tasks ([`Context::with_features`](crate::Context::with_features)).
    GiveFeatures,
    /// Say which task each row of an array of features is about.
    NameFeatureTasks,
    /// Choose a method that exists: the table of methods lists them ([`METHODS`](crate::methods::METHODS)).
    ListMethods,
    /// Say which columns of a file hold the task, the worker and the label.
    NameColumns,
    /// Fit the model again and keep its labels beside it.
    KeepLabels,
    /// Say what kind of file it is.
    NameFormat,
    /// Say which question of an export is meant.
    NameQuestion,
    /// Give the truth of some tasks, for example of fifty drawn at random
    /// ([`Annotations::with_gold`](crate::Annotations::with_gold)).
    GiveGold,
    /// Give the truths that are marked in the labels, or those beside them, but not both.
    GiveTruthsOnce,
    /// Add the class to the list of classes, or give no list.
    ListClass,
    /// Fit all labels anew instead of bringing a model up to date.
    FitAnew,
    /// Rank the items of comparisons ([`ranking`](crate::ranking)).
    RankComparisons,
    /// Say which columns of a file hold the two items and the winner.
    NameComparisonColumns,
}

impl Remedy {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::RaiseMemoryLimit,
        Self::NameClasses,
        Self::GiveClassProbabilities,
        Self::GiveFeatures,
        Self::NameFeatureTasks,
        Self::ListMethods,
        Self::NameColumns,
        Self::KeepLabels,
        Self::NameFormat,
        Self::NameQuestion,
        Self::GiveGold,
        Self::GiveTruthsOnce,
        Self::ListClass,
        Self::FitAnew,
        Self::RankComparisons,
        Self::NameComparisonColumns,
    ];
}
