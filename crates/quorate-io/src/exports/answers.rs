//! What an export yields: answers to one question, the truths that are marked in it, and what is left out and
//! why.

use std::borrow::Cow;

use quorate::annotations::Names;
use rustc_hash::FxHashMap;

use crate::error::{Error, ErrorKind, Result};
use crate::exports::Tool;
use crate::exports::json::Answer;
use crate::formats::MAX_FIELD;
use crate::tables::TaskLabels;
use crate::tables::annotations::ReadOptions;

/// What stands between the choices of an answer that has several.
const BETWEEN_CHOICES: char = '|';

/// What stands before such a character that is part of a choice, and before itself.
const ESCAPE: char = '\\';

/// Why an answer of an export is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WhyLeftOut {
    /// The annotator skipped the task, or cancelled the annotation.
    Skipped,
    /// The answer was rejected.
    Rejected,
    /// The answer was never submitted.
    Draft,
    /// The annotator handed in an annotation with nothing in it.
    Empty,
    /// The annotator discarded the record.
    Discarded,
    /// The tool does not trust the worker.
    Tainted,
    /// The prediction of a model.
    Prediction,
    /// Marked as the truth, and used as such.
    UsedAsGold,
    /// Not a choice, a rating or a number: spans, boxes, free text.
    NotAChoice,
    /// A choice for a region of the task (a span, a box), not for the task.
    OfRegion,
    /// An annotation that answers other questions only.
    Unanswered,
}

impl WhyLeftOut {
    /// In a word or two, for "left out: 12 skipped".
    pub fn words(self) -> &'static str {
        match self {
            Self::Skipped => "skipped",
            Self::Rejected => "rejected",
            Self::Draft => "in drafts",
            Self::Empty => "empty",
            Self::Discarded => "discarded",
            Self::Tainted => "of workers that the tool does not trust",
            Self::Prediction => "of models (predictions)",
            Self::UsedAsGold => "used as gold",
            Self::NotAChoice => "of other kinds (spans, boxes, free text)",
            Self::OfRegion => "about regions of a task (spans, boxes)",
            Self::Unanswered => "without an answer to the question",
        }
    }
}

/// What was found in an export, besides the answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportRead {
    /// The tool.
    pub tool: Tool,
    /// The question whose answers were read; none where the format has no names for questions.
    pub question: Option<String>,
    /// Answers that were left out, by reason.
    pub left_out: Vec<(WhyLeftOut, u64)>,
    /// Answers with several choices: each combination is a class.
    pub several_choices: u64,
    /// Tasks whose truth is marked in the file, with that truth.
    pub gold: Vec<(String, String)>,
    /// Tasks that are marked with different truths: not among them.
    pub gold_conflicts: u64,
}

impl ExportRead {
    /// The truths that are marked in the file, as a table of labels.
    pub fn gold_labels(&self) -> TaskLabels {
        let (mut tasks, mut classes) = (Names::default(), Names::default());
        let labels = self.gold.iter().map(|(task, label)| {
            tasks.intern(task);
            classes.intern(label) as usize
        });
        let labels = labels.collect();
        TaskLabels {
            tasks,
            classes,
            labels,
            ..TaskLabels::default()
        }
    }
}

/// Takes what a reader finds, and passes on the answers to the question that is asked for.
pub(crate) struct Answers<'a> {
    tool: Tool,
    take: &'a mut dyn FnMut(&str, &str, &str) -> Result<()>,
    options: &'a ReadOptions,
    /// Names of the questions so far.
    questions: Vec<String>,
    left_out: Vec<(WhyLeftOut, u64)>,
    several_choices: u64,
    /// The truth of each task, in order of appearance; none where the file contradicts itself.
    gold: Vec<(String, Option<String>)>,
    gold_places: FxHashMap<String, usize>,
    /// Answers that are marked as truths: place of the truth, worker, label.
    gold_answers: Vec<(usize, String, String)>,
}

impl<'a> Answers<'a> {
    pub(crate) fn new(
        tool: Tool,
        options: &'a ReadOptions,
        take: &'a mut dyn FnMut(&str, &str, &str) -> Result<()>,
    ) -> Self {
        Self {
            tool,
            take,
            options,
            questions: Vec::new(),
            left_out: Vec::new(),
            several_choices: 0,
            gold: Vec::new(),
            gold_places: FxHashMap::default(),
            gold_answers: Vec::new(),
        }
    }

    /// The question that the caller asked for.
    pub(crate) fn wanted_question(&self) -> Option<&'a str> {
        self.options.question.as_deref()
    }

    /// Notes a question, and tells whether its answers are wanted: those of the one that is asked for, else
    /// of the first.
    pub(crate) fn wants(&mut self, question: &str) -> bool {
        let known = self.questions.iter().position(|known| known == question);
        let place = known.unwrap_or_else(|| {
            self.questions.push(question.to_owned());
            self.questions.len() - 1
        });
        match self.wanted_question() {
            Some(wanted) => wanted == question,
            None => place == 0,
        }
    }

    /// Takes an answer to a question; the empty label is no answer.
    pub(crate) fn answer(&mut self, question: &str, task: &str, worker: &str, label: &str) -> Result<()> {
        if !self.wants(question) {
            return Ok(());
        }
        for (what, text) in [
            ("a task's id", task),
            ("a worker's id", worker),
            ("a label", label),
        ] {
            if text.len() > MAX_FIELD {
                return Err(Error::too_long(what, MAX_FIELD));
            }
        }
        let missing = self.options.missing.iter().any(|missing| missing == label);
        (self.take)(task, worker, if missing { "" } else { label })
    }

    /// Takes an answer of several choices: none is no answer, and a combination is a class of its own.
    pub(crate) fn choices<S: AsRef<str>>(
        &mut self,
        question: &str,
        task: &str,
        worker: &str,
        choices: &[S],
    ) -> Result<()> {
        match choices {
            [] => self.answer(question, task, worker, ""),
            [only] => self.answer(question, task, worker, &escaped(only.as_ref())),
            several => {
                let label = join_choices(several);
                if self.wants(question) {
                    self.several_choices += 1;
                }
                self.answer(question, task, worker, &label)
            }
        }
    }

    /// Takes an answer that is marked as the truth. Where truths are used, it is no answer of its worker,
    /// unless the file contradicts it ([`finish`](Self::finish)).
    pub(crate) fn gold_answer(
        &mut self,
        question: &str,
        task: &str,
        worker: &str,
        answer: &Answer<'_>,
    ) -> Result<()> {
        if !self.wants(question) {
            return Ok(());
        }
        let label = answer.label();
        self.gold(question, task, &label);
        match self.gold_places.get(task) {
            Some(&place) if self.options.use_gold && !label.is_empty() => {
                self.gold_answers
                    .push((place, worker.to_owned(), label.into_owned()));
                Ok(())
            }
            _ => self.take(question, task, worker, answer),
        }
    }

    /// Notes the truth of a task.
    pub(crate) fn gold(&mut self, question: &str, task: &str, label: &str) {
        if label.is_empty() || !self.wants(question) {
            return;
        }
        match self.gold_places.get(task) {
            Some(&place) => {
                let known = &mut self.gold[place].1;
                *known = known.take().filter(|known| known == label);
            }
            None => {
                self.gold_places.insert(task.to_owned(), self.gold.len());
                self.gold.push((task.to_owned(), Some(label.to_owned())));
            }
        }
    }

    /// Takes an answer that came as JSON.
    pub(crate) fn take(
        &mut self,
        question: &str,
        task: &str,
        worker: &str,
        answer: &Answer<'_>,
    ) -> Result<()> {
        match answer {
            Answer::Other => self.leave_out(WhyLeftOut::NotAChoice),
            Answer::One(label) => self.answer(question, task, worker, label.as_ref()),
            Answer::Several(choices) => self.choices(question, task, worker, choices),
        }
    }

    /// Counts an answer that is left out.
    pub(crate) fn leave_out(&mut self, why: WhyLeftOut) -> Result<()> {
        match self.left_out.iter_mut().find(|(known, _)| *known == why) {
            Some((_, count)) => *count += 1,
            None => self.left_out.push((why, 1)),
        }
        Ok(())
    }

    /// What was found; an error where it is not clear which question is meant, or none has answers.
    pub(crate) fn finish(mut self) -> Result<ExportRead> {
        let question = match (self.wanted_question(), &self.questions[..]) {
            (Some(wanted), found) if !found.iter().any(|name| name == wanted) => {
                return Err(self.unclear(Some(wanted)));
            }
            (Some(wanted), _) => Some(wanted.to_owned()),
            (None, [_, _, ..]) => return Err(self.unclear(None)),
            (None, [only]) => Some(only.clone()),
            (None, []) => return Err(self.nothing()),
        };
        for (place, worker, label) in std::mem::take(&mut self.gold_answers) {
            let (task, truth) = &self.gold[place];
            if truth.is_some() {
                self.leave_out(WhyLeftOut::UsedAsGold)?;
            } else {
                (self.take)(task, &worker, &label)?;
            }
        }
        self.left_out.sort_unstable();
        let marked = self.gold.len();
        let gold: Vec<(String, String)> = self
            .gold
            .into_iter()
            .filter_map(|(task, label)| Some((task, label?)))
            .collect();
        Ok(ExportRead {
            tool: self.tool,
            question: question.filter(|question| !question.is_empty()),
            left_out: self.left_out,
            several_choices: self.several_choices,
            gold_conflicts: (marked - gold.len()) as u64,
            gold,
        })
    }

    /// The error where there are several questions, or not the one that is asked for.
    pub(crate) fn unclear(&self, wanted: Option<&str>) -> Error {
        let named = self.questions.iter().filter(|name| !name.is_empty());
        ErrorKind::Questions {
            what: self.tool.title(),
            wanted: wanted.map(str::to_owned),
            found: named.cloned().collect(),
        }
        .into()
    }

    fn nothing(&self) -> Error {
        let left_out: Vec<String> = self
            .left_out
            .iter()
            .map(|(why, count)| format!("{count} {}", why.words()))
            .collect();
        let found = if left_out.is_empty() {
            "none".to_owned()
        } else {
            format!("only answers that are left out: {}", left_out.join(", "))
        };
        let title = self.tool.title();
        Error::syntax(format!(
            "read as {title}: expected answers to a question with choices, found {found}"
        ))
    }
}

/// Several choices as one class, the same whatever their order.
pub(crate) fn join_choices<S: AsRef<str>>(choices: &[S]) -> String {
    let mut choices: Vec<Cow<'_, str>> = choices.iter().map(|choice| escaped(choice.as_ref())).collect();
    choices.sort_unstable();
    choices.dedup();
    choices.join(&BETWEEN_CHOICES.to_string())
}

/// A choice in which what separates choices cannot be taken for a separator: the choice `a|b` is another
/// answer than the choices `a` and `b`.
fn escaped(choice: &str) -> Cow<'_, str> {
    if choice.contains(BETWEEN_CHOICES) || choice.ends_with(ESCAPE) {
        let doubled = choice.replace(ESCAPE, r"\\");
        Cow::Owned(doubled.replace(BETWEEN_CHOICES, r"\|"))
    } else {
        Cow::Borrowed(choice)
    }
}

/// The choices of a label: several where it is a combination.
pub(crate) fn split_choices(label: &str) -> Vec<Cow<'_, str>> {
    let mut parts = Vec::new();
    let (mut start, mut is_escaped) = (0, false);
    for (place, letter) in label.char_indices() {
        if letter == BETWEEN_CHOICES && !is_escaped {
            parts.push(unescaped(&label[start..place]));
            start = place + BETWEEN_CHOICES.len_utf8();
        }
        is_escaped = letter == ESCAPE && !is_escaped;
    }
    parts.push(unescaped(&label[start..]));
    if join_choices(&parts) == label && parts.iter().all(|part| !part.is_empty()) {
        parts
    } else {
        vec![Cow::Borrowed(label)]
    }
}

fn unescaped(part: &str) -> Cow<'_, str> {
    if part.contains(BETWEEN_CHOICES) || part.ends_with(ESCAPE) {
        // One of each pair goes.
        let mut is_escaped = false;
        let kept = part.chars().filter(|&letter| {
            is_escaped = letter == ESCAPE && !is_escaped;
            !is_escaped
        });
        Cow::Owned(kept.collect())
    } else {
        Cow::Borrowed(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Rows = Vec<[String; 3]>;

    fn collect(question: Option<&str>, fill: impl Fn(&mut Answers<'_>)) -> (Result<ExportRead>, Rows) {
        let options = ReadOptions {
            question: question.map(str::to_owned),
            ..ReadOptions::default()
        };
        let mut rows = Vec::new();
        let mut take = |task: &str, worker: &str, label: &str| {
            rows.push([task, worker, label].map(str::to_owned));
            Ok(())
        };
        let mut answers = Answers::new(Tool::LabelStudio, &options, &mut take);
        fill(&mut answers);
        (answers.finish(), rows)
    }

    #[test]
    fn one_question_is_taken_and_several_are_listed() {
        let fill = |answers: &mut Answers<'_>| {
            answers.answer("a", "t", "w", "x").unwrap();
            answers.answer("b", "t", "w", "y").unwrap();
            answers.gold("b", "t", "y");
        };
        let words = collect(None, fill).0.unwrap_err().to_string();
        assert!(words.contains(r#""a", "b""#), "{words}");
        let (read, rows) = collect(Some("b"), fill);
        assert_eq!(rows, [["t", "w", "y"].map(str::to_owned)]);
        assert_eq!(read.unwrap().gold, [("t".to_owned(), "y".to_owned())]);
        let words = collect(Some("c"), fill).0.unwrap_err().to_string();
        assert!(
            words.contains("\"c\"") && words.contains(r#""a", "b""#),
            "{words}"
        );
    }

    #[test]
    fn a_choice_with_a_separator_in_it_is_no_combination() {
        let several = [
            vec!["a|b"],
            vec!["a", "b"],
            vec![r"a\"],
            vec![r"a\|", "b"],
            vec!["a", "|b"],
            vec!["|"],
        ];
        let labels: Vec<String> = several.iter().map(|choices| join_choices(choices)).collect();
        assert_eq!(labels[..2], [r"a\|b", "a|b"]);
        for (label, choices) in labels.iter().zip(&several) {
            let mut sorted = choices.clone();
            sorted.sort_unstable();
            let mut split = split_choices(label);
            split.sort_unstable();
            assert_eq!(split, sorted, "{label}");
            assert_eq!(
                labels.iter().filter(|other| *other == label).count(),
                1,
                "{label}"
            );
        }
    }

    #[test]
    fn only_combinations_are_split() {
        assert_eq!(split_choices("a|b"), ["a", "b"]);
        assert_eq!(split_choices("b|a"), ["b|a"]);
        assert_eq!(split_choices("a|"), ["a|"]);
        assert_eq!(split_choices(r"C:\x"), [r"C:\x"]);
        assert_eq!(split_choices(r"a\"), [r"a\"]);
    }

    proptest::proptest! {
        #[test]
        fn choices_come_back(choices in proptest::collection::btree_set(r"[a|\\]{1,4}", 1..4)) {
            let choices: Vec<String> = choices.into_iter().collect();
            let label = join_choices(&choices);
            let mut split = split_choices(&label);
            split.sort_unstable();
            proptest::prop_assert_eq!(split, choices);
        }
    }

    #[test]
    fn truths_that_contradict_each_other_are_answers() {
        let options = ReadOptions {
            use_gold: true,
            question: Some("a".into()),
            ..ReadOptions::default()
        };
        let mut rows: Vec<String> = Vec::new();
        let mut take = |task: &str, worker: &str, label: &str| {
            rows.push(format!("{task} {worker} {label}"));
            Ok(())
        };
        let mut answers = Answers::new(Tool::LabelStudio, &options, &mut take);
        for (question, task, worker, label) in [
            ("a", "t", "w", "x"),
            ("a", "t", "v", "y"),
            ("a", "u", "w", "x"),
            ("b", "u", "w", "z"),
        ] {
            let answer = Answer::of_value(&label.into());
            answers.gold_answer(question, task, worker, &answer).unwrap();
        }
        let read = answers.finish().unwrap();
        assert_eq!(rows, ["t w x", "t v y"]);
        assert_eq!(
            (read.gold_conflicts, read.left_out),
            (1, vec![(WhyLeftOut::UsedAsGold, 1)])
        );
    }

    #[test]
    fn combinations_are_classes_whatever_their_order() {
        let (read, rows) = collect(None, |answers| {
            answers.choices("a", "t", "w", &["y", "x"]).unwrap();
            answers.choices("a", "t", "v", &["x", "y"]).unwrap();
            answers.choices::<&str>("a", "t", "u", &[]).unwrap();
            answers.leave_out(WhyLeftOut::Skipped).unwrap();
            answers.leave_out(WhyLeftOut::Skipped).unwrap();
        });
        let read = read.unwrap();
        assert_eq!(
            (read.several_choices, &read.left_out[..]),
            (2, &[(WhyLeftOut::Skipped, 2)][..])
        );
        let labels: Vec<&str> = rows.iter().map(|row| row[2].as_str()).collect();
        assert_eq!(labels, ["x|y", "x|y", ""]);
    }
}
