//! One file for each method, and the one table of methods that the command line, the docs and other languages
//! read.

mod auto;
mod canonical;
mod crowdlab;
mod dawid_skene;
#[doc(hidden)]
pub mod declare;
mod fast_ds;
mod majority_vote;
mod one_coin;
mod parameters;
mod pooled_ds;
pub(crate) mod shared;
mod task_effects;
mod unanimous;

use std::fmt::Debug;
use std::sync::Arc;

pub use crate::symnmf::{Between, Form, Init, RowWeights, SymNmf};
pub use auto::{Auto, Copies};
pub use crowdlab::Crowdlab;
pub use dawid_skene::DawidSkeneEm;
pub use fast_ds::{FastDawidSkene, FastStart};
pub use majority_vote::{MajorityVote, Ties};
pub use one_coin::OneCoin;
pub use parameters::{Kind, Parameter, Values};
pub use pooled_ds::PooledDawidSkene;
pub use task_effects::TaskEffects;
pub(crate) use task_effects::{AddWorkerSlopes, Learnt, TakeSample};

pub(crate) use shared::start::starting_votes;
pub(crate) use unanimous::FindOverturned;

use crate::blocks::{Blocks, Passes, PosteriorsByLabels, gather};
use crate::model::{BlockFit, Consensus, RuleSource, fit_in_memory};
pub use crate::model::{Fit, changed_from_votes, vote_fractions};
use crate::ranking::Rank;
use crate::{Annotations, Context, Error, Result, declare_words};

/// What [`declare_method!`](crate::declare_method) makes of a declaration, beside the struct.
#[doc(hidden)]
pub trait Declared: Debug + Send + Sync {
    /// The method's entry in the table.
    fn method(&self) -> &'static Method;

    /// The values of its parameters as text, in the order of the entry.
    fn values(&self) -> Vec<String>;
}

/// A method with its parameters set: turns annotations into a [`Fit`].
///
/// An author writes one of two: [`learn`](Self::learn) where a method goes through the labels in passes, or
/// [`estimate`](Self::estimate) where it needs all of them at hand. Callers use [`fit`](Self::fit) and
/// [`fit_blocks`](Self::fit_blocks).
pub trait Aggregate: Declared {
    /// The method over blocks of labels. Rows that are kept hold the posteriors afterwards.
    #[doc(hidden)]
    fn learn(&self, _passes: &mut Passes<'_>, _context: &mut Context) -> Result<BlockFit> {
        Err(Error::NeedsAllLabels {
            method: self.method().name,
        })
    }

    /// The method on a table in memory.
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        fit_one_block(self, annotations, context)
    }

    /// Checks every parameter against its declared range.
    fn validate(&self) -> Result<()> {
        let mut parameters = self.method().parameters.iter().zip(self.values());
        parameters.try_for_each(|(parameter, value)| parameter.check(&value))
    }

    /// Fits the method. Bad input and parameters out of range are errors; non-convergence is reported in the
    /// result.
    ///
    /// Gold labels are the answer on their tasks, also for methods that do not learn from them; a warning
    /// says if gold or priors had no further effect. Another one says how many tasks on which all labels
    /// agree got another label, and why; where no two labels share a task, none does, and a warning says that
    /// the confidence is a guess.
    fn fit(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        self.validate()?;
        let estimate = |context: &mut _| canonical::estimate_in_order(self, annotations, context);
        let mut fit = with_messages(context, estimate)?;
        if annotations.has_gold() {
            let classes = annotations.class_count();
            let mut rows = fit.consensus.into_vec();
            annotations.pin_all(&mut rows);
            fit.consensus = Consensus::new(classes, rows);
        }
        let taught = is_taught(self.method(), annotations.has_gold(), context);
        fit = unanimous::review_fit(annotations.as_block(), fit, taught);
        let unused = unused_knowledge(self.method(), annotations.has_gold(), context);
        fit.warnings.extend(unused);
        Ok(fit)
    }

    /// Fits the method to labels in blocks, wherever they are; an error for methods that need all labels in
    /// memory (see [`Method::streams`]). A table on disk of at most 250,000 labels is gathered first, so that
    /// the answer is that of [`fit`](Self::fit).
    #[doc(hidden)]
    fn fit_blocks(&self, blocks: &mut dyn Blocks, context: &mut Context) -> Result<BlockFit> {
        self.validate()?;
        if self.method().streams
            && let Some(table) = gather(blocks, context)?
        {
            let fit = self.fit(&table, context)?;
            if let Some(rule) = PosteriorsByLabels::new(&table, fit.consensus.as_slice()) {
                let mut fit = fit.with_consensus(RuleSource::Rule(Arc::new(rule)).into());
                fit.task_difficulty = None;
                return Ok(fit);
            }
        }
        self.fit_block_by_block(blocks, context)
    }

    /// Like [`fit_blocks`](Self::fit_blocks), but small tables are not gathered.
    #[doc(hidden)]
    fn fit_block_by_block(&self, blocks: &mut dyn Blocks, context: &mut Context) -> Result<BlockFit> {
        self.validate()?;
        let has_gold = blocks.has_gold();
        let mut passes = Passes::over(blocks);
        let fit = with_messages(context, |context| self.learn(&mut passes, context))?;
        let taught = is_taught(self.method(), has_gold, context);
        let mut fit = unanimous::review_blocks(&mut passes, fit, taught, context)?;
        let unused = unused_knowledge(self.method(), has_gold, context);
        fit.warnings.extend(unused);
        Ok(fit)
    }
}

/// A method that goes through the labels in passes, on a table in memory: one block.
pub(crate) fn fit_one_block<A: Aggregate + ?Sized>(
    method: &A,
    annotations: &Annotations,
    context: &mut Context,
) -> Result<Fit> {
    fit_in_memory(annotations, |passes| method.learn(passes, context))
}

/// A method on the labels of these passes: on the table where there is one, else block by block. The passes
/// know the posteriors afterwards.
fn learn_in<A: Aggregate + ?Sized>(
    method: &A,
    passes: &mut Passes<'_>,
    context: &mut Context,
) -> Result<BlockFit> {
    with_messages(context, |context| {
        match passes.look_at_table(|table| method.estimate(table, context)) {
            Some(fit) => Ok(passes.take_fit(fit?)),
            None => method.learn(passes, context),
        }
    })
}

/// A fit, with the messages that its steps left in the context.
fn with_messages<C>(
    context: &mut Context,
    run: impl FnOnce(&mut Context) -> Result<Fit<C>>,
) -> Result<Fit<C>> {
    let (fit, messages) = context.messages_of(run);
    let mut fit = fit?;
    fit.warnings.splice(0..0, messages.warnings);
    fit.notes.splice(0..0, messages.notes);
    Ok(fit)
}

/// Whether a method learns of the workers from anything but labels that share a task.
fn is_taught(method: &Method, has_gold: bool, context: &Context) -> bool {
    let by_gold = has_gold && method.learns_from_gold;
    let by_priors = !context.priors().is_empty() && method.uses_priors;
    by_gold || by_priors || method.needs_features || method.needs_probabilities
}

/// Warnings of gold and priors that a method makes no use of.
fn unused_knowledge(method: &Method, has_gold: bool, context: &Context) -> Vec<String> {
    let mut warnings = Vec::new();
    if has_gold && !method.learns_from_gold {
        warnings.push(format!(
            "{} does not learn from gold: gold only fixes the labels of the known tasks (dawid-skene, rob-symnmf-em and auto \
             learn from it)",
            method.name
        ));
    }
    if !method.uses_priors && !context.priors().is_empty() {
        warnings.push(format!(
            "{} does not use priors of classes or workers: they had no effect",
            method.name
        ));
    }
    warnings
}

/// An entry of the table of methods: what one declaration says.
#[derive(Debug, Clone, Copy)]
pub struct Method {
    /// Name, as in [`find`].
    pub name: &'static str,
    /// Other names that people write.
    pub aliases: &'static [&'static str],
    /// One line: what it is.
    pub summary: &'static str,
    /// A paragraph: the model, when to use it, when it fails.
    pub description: &'static str,
    /// Where it was published.
    pub citation: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Makes the method from a value for each of its parameters.
    #[doc(hidden)]
    pub build: Build,
    /// Whether it estimates a prior and confusion matrices.
    pub returns_model: bool,
    /// Whether known truths ([`Annotations::with_gold`]) enter its steps, not only its answer.
    pub learns_from_gold: bool,
    /// Whether expectations about classes and workers ([`Context::with_priors`]) enter its steps.
    pub uses_priors: bool,
    /// Whether it can go through labels block by block, without all of them in memory.
    pub streams: bool,
    /// Whether its confidence allows for tasks that mislead many workers at once.
    pub calibrates_itself: bool,
    /// Whether it needs numbers that describe the tasks ([`with_features`](Context::with_features)).
    pub needs_features: bool,
    /// Whether it needs a classifier's class probabilities
    /// ([`with_class_probabilities`](Context::with_class_probabilities)).
    pub needs_probabilities: bool,
    /// Whether the order of the classes has a meaning for it (grades, not kinds).
    pub uses_class_order: bool,
    /// Whether rounding, chance or the order of workers can change its answer, so that it gets its tasks,
    /// workers and classes in an order that depends on the labels alone; where it [`streams`](Self::streams)
    /// up to 2,000 labels.
    pub canonical_order: bool,
}

impl Method {
    /// The method with default parameters.
    pub fn with_defaults(&self) -> Result<Box<dyn Aggregate>> {
        self.with_parameters(&[])
    }

    /// The method with some parameters set.
    pub fn with_parameters(&self, given: &[(String, String)]) -> Result<Box<dyn Aggregate>> {
        match self.build {
            Build::Labels(build) => Ok(build(&Values::with(self.parameters, given)?)),
            Build::Pairs(_) => Err(self.takes("pairwise comparisons", "labels")),
        }
    }

    /// The method for labels with some parameters set and none checked.
    #[doc(hidden)]
    pub fn unchecked(&self, given: &[(String, String)]) -> Box<dyn Aggregate> {
        match self.build {
            Build::Labels(build) => build(&Values::unchecked(self.parameters, given)),
            Build::Pairs(_) => panic!("{} does not take labels", self.name),
        }
    }

    /// The method for comparisons with some parameters set.
    pub fn ranking_with(&self, given: &[(String, String)]) -> Result<Box<dyn Rank>> {
        match self.build {
            Build::Pairs(build) => Ok(build(&Values::with(self.parameters, given)?)),
            Build::Labels(_) => Err(self.takes("labels", "pairwise comparisons")),
        }
    }

    /// What kind of answers it takes.
    pub fn answers(&self) -> Answers {
        match self.build {
            Build::Labels(_) => Answers::Classes,
            Build::Pairs(_) => Answers::Pairs,
        }
    }

    fn takes(&self, takes: &str, found: &str) -> Error {
        Error::NotApplicable {
            method: self.name,
            reason: format!("it takes {takes}, and these are {found}"),
        }
    }
}

/// How a method is made.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub enum Build {
    /// From labels: one class for each task.
    Labels(fn(&Values) -> Box<dyn Aggregate>),
    /// From comparisons of two items each.
    Pairs(fn(&Values) -> Box<dyn Rank>),
}

/// Kinds of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// One of a few classes for each task.
    Classes,
    /// Which of two items is better.
    Pairs,
}

impl Answers {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Classes => "classes",
            Self::Pairs => "pairs",
        }
    }
}

declare_words! {
    /// Which class prior the posteriors use.
    pub enum PriorUse {
        /// The estimated one.
        Estimated = "estimated",
        /// All classes alike.
        Flat = "flat",
    }
}

/// The table of methods.
pub static METHODS: &[Method] = &[
    Auto::METHOD,
    SymNmf::METHODS[0],
    SymNmf::METHODS[1],
    SymNmf::METHODS[2],
    SymNmf::METHODS[3],
    SymNmf::METHODS[4],
    SymNmf::METHODS[5],
    SymNmf::METHODS[6],
    MajorityVote::METHOD,
    DawidSkeneEm::METHOD,
    TaskEffects::METHOD,
    PooledDawidSkene::METHOD,
    OneCoin::METHOD,
    FastDawidSkene::METHOD,
    Crowdlab::METHOD,
];

/// The method that is used when none is named.
pub const DEFAULT_METHOD: &str = "auto";

/// Looks a method of this library up by its name or an alias.
pub fn find(name: &str) -> Result<&'static Method> {
    find_among(METHODS.iter(), name)
}

/// Looks a method up among `methods`: for programs that add tables of other crates to this library's.
#[doc(hidden)]
pub fn find_among(
    methods: impl Iterator<Item = &'static Method> + Clone,
    name: &str,
) -> Result<&'static Method> {
    let wanted = name.to_ascii_lowercase().replace('_', "-");
    let known = |method: &&Method| method.name == wanted || method.aliases.contains(&wanted.as_str());
    methods.clone().find(known).ok_or_else(|| Error::UnknownMethod {
        name: name.to_owned(),
        suggestion: nearest(methods, &wanted),
    })
}

/// The known name that is most like `name`, if any is like it at all.
fn nearest(methods: impl Iterator<Item = &'static Method>, name: &str) -> Option<String> {
    let names = methods.flat_map(|method| std::iter::once(&method.name).chain(method.aliases));
    let (distance, best) = names.map(|known| (edit_distance(name, known), *known)).min()?;
    (distance * 3 <= name.len().max(best.len())).then(|| best.to_owned())
}

/// Levenshtein distance: least number of letters to insert, delete or replace.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for j in 0..b.len() {
            let replace = diagonal + usize::from(letter != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) use quorate_testkit::toys::{assert_close, assert_rising};

    /// The three-class example that the methods' worked numbers refer to.
    pub(crate) fn toy_a() -> Annotations {
        Annotations::from_codes(6, 4, 3, quorate_testkit::toys::labels_a()).unwrap()
    }

    #[test]
    fn names_aliases_and_misspellings() {
        assert_eq!(find("MV").unwrap().name, "majority-vote");
        assert_eq!(find("dawid_skene").unwrap().name, "dawid-skene");
        let message = find("majority-vot").unwrap_err().to_string();
        assert!(message.contains(r#"did you mean "majority-vote"?"#), "{message}");
        let error = find("zzz").unwrap_err();
        assert_eq!(error.to_string(), r#"there is no method "zzz""#);
        assert_eq!(error.remedy(), Some(crate::Remedy::ListMethods));
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = METHODS
            .iter()
            .flat_map(|method| std::iter::once(&method.name).chain(method.aliases))
            .collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(find(DEFAULT_METHOD).is_ok());
    }
}
