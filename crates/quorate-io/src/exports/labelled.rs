//! Labels on their way into an export: the answers of each task, with the truths that are marked.

use std::io::Write;

use quorate::Annotations;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use crate::error::Result;
use crate::formats::{Cell, ColumnKind, RowSource, table};

/// The question of labels that come from a table.
const QUESTION: &str = "label";

/// What is written into an export.
pub(crate) struct Labelled<'a> {
    pub annotations: &'a Annotations,
    /// The name of the question.
    pub question: &'a str,
    gold: FxHashMap<&'a str, &'a str>,
}

/// One answer.
pub(crate) struct Given<'a> {
    pub worker: &'a str,
    pub label: &'a str,
    /// Whether it is what is marked as the truth.
    pub is_gold: bool,
}

impl<'a> Labelled<'a> {
    pub(crate) fn new(
        annotations: &'a Annotations,
        question: Option<&'a str>,
        gold: &'a [(String, String)],
    ) -> Self {
        Self {
            annotations,
            question: question.unwrap_or(QUESTION),
            gold: gold
                .iter()
                .map(|(task, label)| (task.as_str(), label.as_str()))
                .collect(),
        }
    }

    /// What is marked as the truth of a task.
    pub(crate) fn gold(&self, task: &str) -> Option<&'a str> {
        self.gold.get(task).copied()
    }

    /// Goes through the tasks with their answers.
    pub(crate) fn each_task(&self, mut each: impl FnMut(&str, &[Given<'_>]) -> Result<()>) -> Result<()> {
        let (tasks, workers, classes) = (
            self.annotations.tasks(),
            self.annotations.workers(),
            self.annotations.classes(),
        );
        let mut answers = Vec::new();
        for (n, task) in tasks.iter().enumerate() {
            answers.clear();
            let gold = self.gold(task);
            answers.extend(self.annotations.labels_of_task(n).map(|(m, x)| {
                let label = classes.get(x);
                Given {
                    worker: workers.get(m),
                    label,
                    is_gold: gold == Some(label),
                }
            }));
            each(task, &answers)?;
        }
        Ok(())
    }

    /// A table of text with these columns. `row` gives the cells of an answer, whose number counts from 1.
    pub(crate) fn rows(
        &self,
        columns: Vec<String>,
        row: impl Fn(&str, &Given<'_>, usize, &mut dyn FnMut(&[&str]) -> Result<()>) -> Result<()>,
    ) -> impl RowSource {
        let columns = columns.into_iter().map(|name| (name, ColumnKind::Text));
        table(columns, move |each| {
            let mut number = 0;
            self.each_task(|task, answers| {
                answers.iter().try_for_each(|given| {
                    number += 1;
                    row(task, given, number, &mut |cells| {
                        each(&cells.iter().map(|cell| Cell::Text(cell)).collect::<Vec<_>>())
                    })
                })
            })
        })
    }

    /// Writes a JSON value for each task: elements of an array, or lines.
    pub(crate) fn write_json(
        &self,
        output: &mut dyn Write,
        as_array: bool,
        mut value: impl FnMut(&str, &[Given<'_>]) -> Value,
    ) -> Result<()> {
        let mut list = JsonList::new(output, as_array)?;
        self.each_task(|task, answers| list.push(value(task, answers).to_string().as_bytes()))?;
        list.end()
    }
}

/// JSON values, as the elements of an array or on lines.
pub(crate) struct JsonList<'o> {
    output: &'o mut dyn Write,
    as_array: bool,
    any: bool,
}

impl<'o> JsonList<'o> {
    pub(crate) fn new(output: &'o mut dyn Write, as_array: bool) -> Result<Self> {
        output.write_all(if as_array { b"[" } else { b"" })?;
        Ok(Self {
            output,
            as_array,
            any: false,
        })
    }

    /// Adds a value, given as JSON.
    pub(crate) fn push(&mut self, json: &[u8]) -> Result<()> {
        let separator: &[u8] = match (self.as_array, self.any) {
            (true, true) => b",\n",
            (false, true) | (true, false) => b"\n",
            (false, false) => b"",
        };
        self.any = true;
        self.output.write_all(separator)?;
        Ok(self.output.write_all(json)?)
    }

    pub(crate) fn end(self) -> Result<()> {
        Ok(self
            .output
            .write_all(if self.as_array { b"\n]\n" } else { b"\n" })?)
    }
}

/// An id in JSON: a number where it is written as one.
pub(crate) fn id_value(id: &str) -> Value {
    match id.parse::<i64>() {
        Ok(number) if number.to_string() == id => json!(number),
        _ => json!(id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_numbers_where_they_are_written_as_such() {
        assert_eq!((id_value("7"), id_value("07")), (json!(7), json!("07")));
    }
}
