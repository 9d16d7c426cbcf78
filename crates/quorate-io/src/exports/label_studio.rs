//! Label Studio, JSON: a list of tasks, each with the annotations of its annotators.
//!
//! task = `id` (else `task` of its `data`); worker = `completed_by`, a number or an object, of which the
//! email counts; label = the choices, rating, number or taxonomy of a result; question = `from_name`. Left
//! out: cancelled annotations, drafts, predictions of models, annotations without an answer to the question,
//! choices about a region, results of other kinds. `ground_truth` marks a truth.

use std::borrow::Cow;
use std::fmt;
use std::io::{Read, Write};

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Value, json};

use super::answers::{Answers, WhyLeftOut, split_choices};
use super::consensus::{AGENT, WrittenConsensus, rewrite};
use super::json::{Answer, Scalar, each, parse, visit_values};
use super::labelled::{Labelled, id_value};
use super::members::Members;
use crate::error::{Error, Result};

/// What a file holds, in words for errors.
const EXPECTED: &str = "a list of Label Studio tasks, each with `id`, `data` and `annotations`";

/// A task.
#[derive(Deserialize)]
pub(crate) struct Task<'a> {
    #[serde(borrow, default)]
    id: Scalar<'a>,
    #[serde(borrow, default)]
    data: Data<'a>,
    #[serde(borrow, default, deserialize_with = "list_or_null")]
    annotations: Vec<Annotation<'a>>,
    #[serde(default, deserialize_with = "list_or_null")]
    drafts: Vec<IgnoredAny>,
    #[serde(default, deserialize_with = "list_or_null")]
    predictions: Vec<IgnoredAny>,
}

/// A list; null is an empty one.
fn list_or_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    parser: D,
) -> std::result::Result<Vec<T>, D::Error> {
    Option::deserialize(parser).map(Option::unwrap_or_default)
}

/// What a task is about, of which a name of ours counts.
#[derive(Deserialize, Default)]
struct Data<'a> {
    #[serde(borrow, default)]
    task: Option<Answer<'a>>,
}

#[derive(Deserialize)]
struct Annotation<'a> {
    #[serde(borrow, default)]
    completed_by: Person<'a>,
    #[serde(default)]
    was_cancelled: Option<bool>,
    #[serde(default)]
    ground_truth: Option<bool>,
    #[serde(borrow, default, deserialize_with = "list_or_null")]
    result: Vec<ResultItem<'a>>,
}

/// One part of an annotation: the answer to one question.
#[derive(Deserialize)]
pub(crate) struct ResultItem<'a> {
    #[serde(borrow, default)]
    pub(crate) from_name: Scalar<'a>,
    #[serde(borrow, default)]
    pub(crate) to_name: Scalar<'a>,
    #[serde(rename = "type", borrow, default)]
    pub(crate) kind: Scalar<'a>,
    #[serde(borrow, default)]
    value: Choice<'a>,
}

#[derive(Deserialize, Default)]
struct Choice<'a> {
    #[serde(borrow, default)]
    choices: Option<Answer<'a>>,
    #[serde(borrow, default)]
    rating: Option<Answer<'a>>,
    #[serde(borrow, default)]
    number: Option<Answer<'a>>,
    #[serde(borrow, default)]
    taxonomy: Option<Answer<'a>>,
    /// The better one of a pair.
    #[serde(borrow, default)]
    selected: Option<Answer<'a>>,
    /// Where the region is that the answer is about: the corner of a box, the points of a polygon or key
    /// points, the start of a span, a mask, the frames of a video.
    x: Option<IgnoredAny>,
    points: Option<IgnoredAny>,
    start: Option<IgnoredAny>,
    rle: Option<IgnoredAny>,
    sequence: Option<IgnoredAny>,
}

impl<'a> Choice<'a> {
    fn answer(&self) -> Option<&Answer<'a>> {
        let Self {
            choices,
            rating,
            number,
            taxonomy,
            selected,
            ..
        } = self;
        [choices, rating, number, taxonomy, selected]
            .into_iter()
            .find_map(Option::as_ref)
            .filter(|answer| **answer != Answer::Other)
    }

    fn is_of_region(&self) -> bool {
        let places = [&self.x, &self.points, &self.start, &self.rle, &self.sequence];
        places.into_iter().any(Option::is_some)
    }
}

/// Who made an annotation: a number, or an object with an email and a number.
#[derive(Default)]
struct Person<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Person<'a> {
    fn deserialize<D: Deserializer<'de>>(parser: D) -> std::result::Result<Self, D::Error> {
        parser.deserialize_any(PersonVisitor)
    }
}

struct PersonVisitor;

impl<'de> Visitor<'de> for PersonVisitor {
    type Value = Person<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the number of a user, or an object with `id` and `email`")
    }

    visit_values!(|name: Scalar<'de>| Person(name.0); visit_str: &str, visit_u64: u64, visit_i64: i64);

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
        let (mut number, mut email) = (Scalar::default(), Scalar::default());
        while let Some(key) = map.next_key::<Scalar<'de>>()? {
            match key.as_ref() {
                "id" => number = map.next_value()?,
                "email" => email = map.next_value()?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(Person(if email.0.is_empty() { number.0 } else { email.0 }))
    }
}

impl<'a> Task<'a> {
    /// The task of a text.
    pub(crate) fn parse(text: &'a str) -> Result<Self> {
        parse(text, EXPECTED)
    }

    /// The id of the task.
    pub(crate) fn id(&self) -> Result<&str> {
        match &self.data.task {
            _ if !self.id.0.is_empty() => Ok(&self.id.0),
            Some(Answer::One(name)) if !name.0.is_empty() => Ok(&name.0),
            _ => Err(problem("a task without an `id`")),
        }
    }

    /// A part of an annotation that answers this question, of whichever annotator.
    pub(crate) fn result_of(&self, question: &str) -> Option<&ResultItem<'a>> {
        let results = self.annotations.iter().flat_map(|annotation| &annotation.result);
        let mut fitting = results.filter(|result| result.from_name.as_ref() == question);
        fitting.find(|result| result.value.answer().is_some() && !result.value.is_of_region())
    }
}

fn problem(found: &str) -> Error {
    Error::export(format!("found {found}"), EXPECTED)
}

/// Reads a list of tasks.
pub(super) fn read(input: impl Read, answers: &mut Answers<'_>) -> Result<()> {
    each(input, None, |text| take_task(&Task::parse(text)?, answers))
}

fn take_task(task: &Task<'_>, answers: &mut Answers<'_>) -> Result<()> {
    let id = task.id()?;
    task.drafts
        .iter()
        .try_for_each(|_| answers.leave_out(WhyLeftOut::Draft))?;
    let mut predictions = task.predictions.iter();
    predictions.try_for_each(|_| answers.leave_out(WhyLeftOut::Prediction))?;
    for annotation in &task.annotations {
        if annotation.was_cancelled == Some(true) {
            answers.leave_out(WhyLeftOut::Skipped)?;
            continue;
        }
        if annotation.result.is_empty() {
            answers.leave_out(WhyLeftOut::Empty)?;
        }
        take_annotation(id, annotation, answers)?;
    }
    Ok(())
}

fn take_annotation(task: &str, annotation: &Annotation<'_>, answers: &mut Answers<'_>) -> Result<()> {
    let worker = &annotation.completed_by.0;
    let mut is_answered = false;
    for result in &annotation.result {
        let Some(answer) = result.value.answer() else {
            answers.leave_out(WhyLeftOut::NotAChoice)?;
            continue;
        };
        if result.value.is_of_region() {
            answers.leave_out(WhyLeftOut::OfRegion)?;
            continue;
        }
        let question = result.from_name.as_ref();
        is_answered |= answers.wants(question);
        if worker.is_empty() {
            return Err(problem("an annotation without `completed_by`"));
        }
        if annotation.ground_truth == Some(true) {
            answers.gold_answer(question, task, worker, answer)?;
        } else {
            answers.take(question, task, worker, answer)?;
        }
    }
    if is_answered || annotation.result.is_empty() {
        Ok(())
    } else {
        answers.leave_out(WhyLeftOut::Unanswered)
    }
}

/// Writes a list of tasks.
pub(super) fn write(output: &mut dyn Write, labelled: &Labelled<'_>) -> Result<()> {
    let mut number = 0;
    labelled.write_json(output, true, |task, answers| {
        let annotations = answers.iter().map(|given| {
            number += 1;
            let person = match id_value(given.worker) {
                Value::String(email) => json!({"email": email}),
                number => number,
            };
            let result = result_item(labelled.question, "task", "choices", given.label);
            json!({"id": number, "completed_by": person, "was_cancelled": false, "ground_truth": given.is_gold, "result": [result]})
        });
        let annotations: Vec<Value> = annotations.collect();
        json!({"id": id_value(task), "data": {"task": task}, "annotations": annotations, "predictions": []})
    })
}

/// A part of an annotation or a prediction.
fn result_item(from: &str, to: &str, kind: &str, label: &str) -> Value {
    let value = match kind {
        "rating" | "number" => json!({kind: number_or_text(label)}),
        "taxonomy" => {
            let paths = split_choices(label).into_iter();
            let paths: Vec<Vec<String>> = paths
                .map(|path| path.split('/').map(str::to_owned).collect())
                .collect();
            json!({kind: paths})
        }
        "pairwise" => json!({"selected": label}),
        _ => json!({"choices": split_choices(label)}),
    };
    json!({"from_name": from, "to_name": to, "type": kind, "value": value})
}

fn number_or_text(label: &str) -> Value {
    serde_json::from_str(label)
        .ok()
        .filter(Value::is_number)
        .unwrap_or_else(|| json!(label))
}

/// Writes the tasks of a file with one more prediction each: the consensus, with its confidence as the score.
/// Returns for how many of the tasks there is none.
pub(super) fn write_predictions(
    input: impl Read,
    output: &mut dyn Write,
    consensus: &WrittenConsensus<'_>,
) -> Result<u64> {
    rewrite(input, None, output, true, |text, json| {
        let (task, members) = (Task::parse(text)?, parse::<Members<'_>>(text, EXPECTED)?);
        let found = consensus.of(task.id()?).zip(task.result_of(consensus.question));
        let Some(((label, score), item)) = found else {
            members.write_with(json, &[])?;
            return Ok(false);
        };
        let result = result_item(
            item.from_name.as_ref(),
            item.to_name.as_ref(),
            item.kind.as_ref(),
            label,
        );
        let mut predictions: Vec<Value> = members
            .get("predictions")
            .map_or(Ok(Vec::new()), |raw| parse(raw.get(), EXPECTED))?;
        predictions.retain(|prediction| prediction["model_version"] != AGENT);
        predictions.push(json!({"model_version": AGENT, "score": score, "result": [result]}));
        members.write_with(json, &[("predictions", Value::from(predictions).to_string())])?;
        Ok(true)
    })
}
