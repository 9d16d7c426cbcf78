//! What was found in the export of an annotation tool, in sentences that name no options.

use quorate_io::ExportRead;

use crate::text_table::plural;

/// What was read, in one line: "read as a Label Studio export: 1,204 tasks, 6 annotators, question
/// `sentiment`".
pub fn what_was_read(export: &ExportRead, tasks: u64, workers: usize) -> String {
    let mut line = format!(
        "read as {}: {}, {}",
        export.tool.title(),
        plural(tasks as usize, "task"),
        plural(workers, export.tool.worker_noun())
    );
    if let Some(question) = &export.question {
        line.push_str(&format!(", question `{question}`"));
    }
    line
}

/// What was left out or folded on the way, a line for each.
pub fn what_was_settled(export: &ExportRead) -> Vec<String> {
    let mut lines = Vec::new();
    if !export.left_out.is_empty() {
        let parts = export
            .left_out
            .iter()
            .map(|(why, count)| format!("{} {}", plural(*count as usize, "answer"), why.words()));
        lines.push(format!("left out: {}", parts.collect::<Vec<_>>().join(", ")));
    }
    if export.several_choices > 0 {
        lines.push(format!(
            "{} with several choices: every combination is a class of its own, written a|b",
            plural(export.several_choices as usize, "answer")
        ));
    }
    if export.gold_conflicts > 0 {
        lines.push(format!(
            "{} marked with different truths: not used as gold",
            plural(export.gold_conflicts as usize, "task")
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use quorate_io::{Tool, WhyLeftOut};

    use super::*;

    #[test]
    fn what_is_said_is_one_line_for_each_thing() {
        let mut export = ExportRead {
            tool: Tool::LabelStudio,
            question: Some("sentiment".into()),
            left_out: vec![(WhyLeftOut::Skipped, 1), (WhyLeftOut::Draft, 2)],
            several_choices: 3,
            gold: Vec::new(),
            gold_conflicts: 0,
        };
        assert_eq!(
            what_was_read(&export, 1204, 6),
            "read as a Label Studio export: 1,204 tasks, 6 annotators, question `sentiment`"
        );
        assert_eq!(
            what_was_settled(&export)[0],
            "left out: 1 answer skipped, 2 answers in drafts"
        );
        export.question = None;
        export.left_out.clear();
        export.several_choices = 0;
        assert!(what_was_read(&export, 1, 1).ends_with(": 1 task, 1 annotator"));
        assert!(what_was_settled(&export).is_empty());
    }
}
