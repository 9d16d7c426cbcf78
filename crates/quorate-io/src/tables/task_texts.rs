//! What tasks are about: a text for each task, from a table with a column `task` and one of texts.

use quorate::Annotations;

use crate::error::Result;
use crate::formats::{find_columns_named, read_side};
use crate::source::Source;

/// Bytes of a text that are kept: more than anybody reads in a table.
const LONGEST_TEXT: usize = 8 << 10;

/// Reads the column `column` for the tasks of a table; rows about other tasks are passed over, and of
/// repeated ones the first counts. Texts may be of any length; the first 8 KiB are kept.
pub fn read_task_texts(
    source: &Source,
    column: &str,
    annotations: &Annotations,
) -> Result<Vec<Option<String>>> {
    let choose = |_: &mut _, names: &[String]| find_columns_named(names, &["task", column]);
    let texts = vec![None; annotations.task_count()];
    read_side(source, texts, choose, |texts: &mut Vec<Option<String>>, row| {
        let (task, text) = (row.id(0, "task")?, row.text(1)?);
        if let Some(task) = annotations.tasks().find(task) {
            let kept = &text[..text.floor_char_boundary(LONGEST_TEXT)];
            texts[task as usize].get_or_insert_with(|| kept.to_owned());
        }
        Ok(())
    })
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
        let texts = read_task_texts(&Source::from(path.clone()), "text", &table).unwrap();
        assert_eq!(texts, [None, Some("a, b".to_owned())]);
        assert!(read_task_texts(&Source::from(path), "body", &table).is_err());
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tasks.csv");
        let long = format!("x{}", "é".repeat(1 << 20));
        std::fs::write(&path, format!("task,text\nt1,{long}\n")).unwrap();
        let table = Annotations::from_triples([("t1", "w", "a")]).unwrap();
        let texts = read_task_texts(&Source::from(path), "text", &table).unwrap();
        assert_eq!(texts[0].as_deref(), Some(&long[..LONGEST_TEXT - 1]));
    }
}
