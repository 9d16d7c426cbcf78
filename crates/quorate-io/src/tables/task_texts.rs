//! What tasks are about: a text for each task, from a table with a column `task` and one of texts.

use quorate::Annotations;

use crate::error::{Error, Result};
use crate::formats::{FileFormat, Row, RowSink, field, find_column, scan};
use crate::source::Source;

/// Reads the column `column` for the tasks of a table; rows about other tasks are passed over, and of
/// repeated ones the first counts.
pub fn read_task_texts(
    source: &Source,
    format: Option<FileFormat>,
    column: &str,
    annotations: &Annotations,
) -> Result<Vec<Option<String>>> {
    let mut sink = TextSink {
        column,
        annotations,
        texts: vec![None; annotations.task_count()],
    };
    scan(source, format, &mut sink, &mut |_, _| {})?;
    Ok(sink.texts)
}

struct TextSink<'a> {
    column: &'a str,
    annotations: &'a Annotations,
    texts: Vec<Option<String>>,
}

impl RowSink for TextSink<'_> {
    fn select(&mut self, names: &[String]) -> Result<Vec<usize>> {
        Ok(vec![
            find_column(names, "task", "task")?,
            find_column(names, self.column, self.column)?,
        ])
    }

    fn row(&mut self, row: &impl Row) -> Result<()> {
        let (task, text) = (field(row, 0, "task")?, field(row, 1, self.column)?);
        if task.is_empty() {
            return Err(Error::from(quorate::Error::EmptyId("task")).in_column("task"));
        }
        if let Some(task) = self.annotations.tasks().find(task) {
            self.texts[task as usize].get_or_insert_with(|| text.to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_find_their_tasks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tasks.csv");
        std::fs::write(&path, "text,task\n\"a, b\",t2\nother,t9\n").unwrap();
        let table = Annotations::from_triples([("t1", "w", "a"), ("t2", "w", "b")]).unwrap();
        let texts = read_task_texts(&Source::from(path.clone()), None, "text", &table).unwrap();
        assert_eq!(texts, [None, Some("a, b".to_owned())]);
        assert!(read_task_texts(&Source::from(path), None, "body", &table).is_err());
    }
}
