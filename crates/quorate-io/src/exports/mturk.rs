//! Amazon Mechanical Turk, batch results as CSV: a row for each assignment.
//!
//! task = `HITId`; worker = `WorkerId`; question = `Answer.NAME`. One column for each option
//! (`Answer.NAME.OPTION` or `Answer.OPTION.on`, true or false) is folded into one answer, `Answer.NAME.label`
//! is the answer of a crowd-classifier, `Answer.taskAnswers` is JSON with the same inside. Numbered columns
//! (`Input.x1`, `Answer.q1`, ..) are several tasks in one HIT: their id is that of the input. Left out:
//! rejected assignments.

use std::io::Read;

use serde_json::Value;

use super::answers::{Answers, WhyLeftOut};
use super::json::{Answer, parse};
use super::labelled::Labelled;
use crate::error::{Error, Result};
use crate::formats::{Row, RowSource, columns_where, read_delimited};

const ANSWER: &str = "Answer.";
const INPUT: &str = "Input.";

/// Answers of crowd elements, as JSON.
const TASK_ANSWERS: &str = "taskAnswers";

/// The columns that a requester fills in and uploads.
pub(super) const APPROVE: &str = "Approve";
pub(super) const REJECT: &str = "Reject";

/// The question of options that belong to no name.
const OPTIONS: &str = "options";

/// Whether a table with these columns is one of these.
pub(super) fn is_header(names: &[String]) -> bool {
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    has("HITId") && has("WorkerId") && names.iter().any(|name| name.starts_with(ANSWER))
}

/// Reads batch results.
pub(super) fn read(input: impl Read, answers: &mut Answers<'_>) -> Result<()> {
    let choose = |(answers, questions): &mut (&mut Answers<'_>, Vec<Question>), names: &[String]| {
        let chosen = columns_where(names, |name| {
            ["HITId", "WorkerId", "AssignmentStatus"].contains(&name)
                || name.starts_with(ANSWER)
                || name.starts_with(INPUT)
        });
        let columns: Vec<String> = chosen.iter().map(|&column| names[column].clone()).collect();
        *questions = questions_of(&columns);
        for question in questions {
            if !matches!(question.place, Place::Json(_)) {
                answers.wants(&question.name);
            }
        }
        Ok(chosen)
    };
    let take = |(answers, questions): &mut (&mut Answers<'_>, Vec<Question>), row: &Row<'_>| {
        take_row(questions, row, answers)
    };
    read_delimited(input, b',', (answers, Vec::new()), choose, take).map(drop)
}

/// Where the answer to a question stands: slots of the row.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// The answer itself.
    Column(usize),
    /// JSON with answers by name.
    Json(usize),
    /// The option that each column stands for.
    Options(Vec<(usize, String)>),
}

/// A question, and where its task and its answer stand.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Question {
    name: String,
    place: Place,
    /// Which of the tasks of a HIT it is about, and the slot of its input.
    part: Option<(usize, Option<usize>)>,
}

/// Takes the answers of an assignment.
pub(super) fn take_row(questions: &[Question], row: &Row<'_>, answers: &mut Answers<'_>) -> Result<()> {
    if row.named("AssignmentStatus")?.eq_ignore_ascii_case("rejected") {
        return answers.leave_out(WhyLeftOut::Rejected);
    }
    let (hit, worker) = (row.named("HITId")?, row.named("WorkerId")?);
    for question in questions {
        let task = match question.part {
            None => hit.to_owned(),
            Some((_, Some(slot))) => row.field(slot)?.to_owned(),
            Some((part, None)) => format!("{hit}-{part}"),
        };
        let name = &question.name;
        match &question.place {
            Place::Column(_) | Place::Options(_) if !answers.wants(name) => {}
            Place::Column(slot) => answers.answer(name, &task, worker, row.field(*slot)?)?,
            Place::Options(options) => {
                let mut choices = Vec::new();
                for (slot, option) in options {
                    let ticked = is_ticked(row.field(*slot)?);
                    if ticked.map_err(|error| error.in_column(&row.names[*slot]))? {
                        choices.push(option);
                    }
                }
                answers.choices(name, &task, worker, &choices)?;
            }
            Place::Json(slot) => take_json(row.text(*slot)?, &task, worker, answers)
                .map_err(|error| error.in_column(&row.names[*slot]))?,
        }
    }
    Ok(())
}

/// Whether the box of an option is ticked.
fn is_ticked(text: &str) -> Result<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "on" | "1" | "yes" => Ok(true),
        "false" | "off" | "0" | "no" | "" => Ok(false),
        _ => Err(Error::export(
            format!("found {text:?}, expected true or false"),
            "a column for each option of the question",
        )),
    }
}

/// The questions of the columns: options folded, numbered ones joined.
pub(super) fn questions_of(columns: &[String]) -> Vec<Question> {
    number_parts(find_questions(columns), columns)
}

/// The questions of the columns, options folded.
fn find_questions(columns: &[String]) -> Vec<Question> {
    let names = columns
        .iter()
        .enumerate()
        .filter_map(|(slot, name)| Some((slot, name.strip_prefix(ANSWER)?)));
    let names: Vec<(usize, &str)> = names.collect();
    let siblings = |group: &str| {
        names
            .iter()
            .filter(|(_, name)| option_of(name).is_some_and(|(of, _)| of == group))
            .count()
    };
    let mut questions: Vec<Question> = Vec::new();
    for &(slot, name) in &names {
        if name == TASK_ANSWERS {
            questions.push(Question {
                name: name.to_owned(),
                place: Place::Json(slot),
                part: None,
            });
            continue;
        }
        let folded = option_of(name).filter(|(group, _)| siblings(group) > 1 || *group == OPTIONS);
        let Some((group, option)) = folded else {
            questions.push(Question {
                name: name.strip_suffix(".label").unwrap_or(name).to_owned(),
                place: Place::Column(slot),
                part: None,
            });
            continue;
        };
        let option = (slot, option.to_owned());
        match questions.iter_mut().find(|question| question.name == group) {
            Some(Question {
                place: Place::Options(options),
                ..
            }) => options.push(option),
            _ => questions.push(Question {
                name: group.to_owned(),
                place: Place::Options(vec![option]),
                part: None,
            }),
        }
    }
    questions
}

/// Question and option of a column that stands for an option.
fn option_of(name: &str) -> Option<(&str, &str)> {
    match name.rsplit_once('.')? {
        (_, "label") => None,
        (option, "on") => Some((OPTIONS, option)),
        (group, option) => Some((group, option)),
    }
}

/// Joins numbered questions, which are about the tasks of one HIT, into one.
fn number_parts(mut questions: Vec<Question>, columns: &[String]) -> Vec<Question> {
    let parts: Option<Vec<(String, usize)>> = questions
        .iter()
        .map(|question| numbered(&question.name))
        .collect();
    let inputs: Vec<(usize, (String, usize))> = columns
        .iter()
        .enumerate()
        .filter_map(|(slot, name)| Some((slot, numbered(name.strip_prefix(INPUT)?)?)))
        .collect();
    let Some(parts) = parts.filter(|parts| parts.len() > 1 && !inputs.is_empty()) else {
        return questions;
    };
    let one_stem = parts.iter().all(|(stem, _)| *stem == parts[0].0);
    if !one_stem
        || parts
            .iter()
            .any(|(_, part)| !inputs.iter().any(|(_, (_, input))| input == part))
    {
        return questions;
    }
    // Which input names the task is clear where there is only one of them.
    let named = inputs.iter().all(|(_, (stem, _))| *stem == inputs[0].1.0);
    for (question, (stem, part)) in questions.iter_mut().zip(parts) {
        let input = inputs.iter().find(|(_, (_, input))| *input == part && named);
        question.name = stem;
        question.part = Some((part, input.map(|(slot, _)| *slot)));
    }
    questions
}

/// A name and the number at its end.
fn numbered(name: &str) -> Option<(String, usize)> {
    let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let number = name[stem.len()..].parse().ok()?;
    (!stem.is_empty()).then(|| (stem.to_owned(), number))
}

const EXPECTED: &str = "JSON with an answer for each name";

/// Takes the answers of crowd elements: `[{"NAME": {"label": ..}}]`, or `{"NAME": {"OPTION": true, ..}}`.
fn take_json(text: &str, task: &str, worker: &str, answers: &mut Answers<'_>) -> Result<()> {
    match parse(text, EXPECTED)? {
        Value::Array(list) => list
            .iter()
            .try_for_each(|object| take_elements(object, EXPECTED, task, worker, answers)),
        object => take_elements(&object, EXPECTED, task, worker, answers),
    }
}

/// Takes the answers of an object of crowd elements.
pub(super) fn take_elements(
    object: &Value,
    expected: &str,
    task: &str,
    worker: &str,
    answers: &mut Answers<'_>,
) -> Result<()> {
    let members = object.as_object().ok_or_else(|| {
        let found: String = object.to_string().chars().take(40).collect();
        Error::export(
            format!("found {found}, expected an object of answers by name"),
            expected,
        )
    })?;
    if members.is_empty() {
        return answers.leave_out(WhyLeftOut::Empty);
    }
    let mut members = members.iter();
    members.try_for_each(|(name, value)| take_element(name, value, task, worker, answers))
}

/// Takes the answer of one crowd element.
fn take_element(
    name: &str,
    value: &Value,
    task: &str,
    worker: &str,
    answers: &mut Answers<'_>,
) -> Result<()> {
    let inner = value.get("label").or_else(|| value.get("labels"));
    if let Some(options) = value.as_object().filter(|_| inner.is_none()) {
        let ticked: Option<Vec<(&String, bool)>> = options
            .iter()
            .map(|(option, value)| Some((option, value.as_bool()?)))
            .collect();
        return match ticked.filter(|ticked| !ticked.is_empty()) {
            Some(ticked) => {
                let chosen = ticked.into_iter().filter(|(_, ticked)| *ticked);
                let chosen: Vec<&String> = chosen.map(|(option, _)| option).collect();
                answers.choices(name, task, worker, &chosen)
            }
            None => answers.leave_out(WhyLeftOut::NotAChoice),
        };
    }
    answers.take(name, task, worker, &Answer::of_value(inner.unwrap_or(value)))
}

/// A row for each answer.
pub(super) fn rows<'a>(labelled: &'a Labelled<'a>) -> impl RowSource + 'a {
    let answer = format!("{ANSWER}{}", labelled.question);
    let about = ["HITId", "AssignmentId", "WorkerId", "AssignmentStatus"];
    let columns = about.into_iter().chain([answer.as_str(), APPROVE, REJECT]);
    labelled.rows(
        columns.map(str::to_owned).collect(),
        |task, given, number, row| {
            row(&[
                task,
                &number.to_string(),
                given.worker,
                "Submitted",
                given.label,
                "",
                "",
            ])
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn questions(columns: &str) -> Vec<Question> {
        questions_of(&columns.split(',').map(str::to_owned).collect::<Vec<_>>())
    }

    fn question(name: &str, place: Place, part: Option<(usize, Option<usize>)>) -> Question {
        let name = name.to_owned();
        Question { name, place, part }
    }

    fn options(all: &[(usize, &str)]) -> Place {
        Place::Options(
            all.iter()
                .map(|(slot, option)| (*slot, (*option).to_owned()))
                .collect(),
        )
    }

    #[test]
    fn options_are_folded_and_single_columns_stay() {
        assert_eq!(
            questions("HITId,Answer.yes.on,Answer.no.on"),
            [question("options", options(&[(1, "yes"), (2, "no")]), None)]
        );
        assert_eq!(
            questions("Answer.mood.good,Answer.mood.bad,Answer.note,Answer.kind.label"),
            [
                question("mood", options(&[(0, "good"), (1, "bad")]), None),
                question("note", Place::Column(2), None),
                question("kind", Place::Column(3), None)
            ]
        );
        // A dot alone does not make an option.
        assert_eq!(questions("Answer.a.b"), [question("a.b", Place::Column(0), None)]);
    }

    #[test]
    fn numbered_columns_are_tasks_of_one_hit() {
        assert_eq!(
            questions("Input.id1,Input.id2,Answer.q1,Answer.q2"),
            [
                question("q", Place::Column(2), Some((1, Some(0)))),
                question("q", Place::Column(3), Some((2, Some(1))))
            ]
        );
        // Without inputs of the same numbers they are questions of their own.
        let apart = questions("Input.text,Answer.q1,Answer.q2");
        assert_eq!((apart.len(), apart[0].name.as_str()), (2, "q1"));
    }
}
