//! Judgements of a panel, in the same tables as annotations: every row counts, repeated ones too, and a row
//! without a label is a failure of the judge. Verdicts go out as `task, label, confidence, answered, asked`.

use quorate::annotations::Names;
use quorate::judges::{Panel, PanelBuilder, Verdict};

use super::annotations::{ReadOptions, read_into, recognised_options};
use super::label_cells::TableLayout;
use super::labels::CONFIDENCE_COLUMN;
use super::name_filter::{LeftOut, NameFilter};
use crate::error::{Error, Result};
use crate::formats::ColumnKind::{Count, Number, OptionalText, Text};
use crate::formats::{Cell, write_rows};
use crate::source::{Progress, Source};
use crate::target::Target;

/// A panel that was read, and what there is to say about it.
#[derive(Debug, Clone)]
pub struct JudgementsRead {
    /// The panel.
    pub panel: Panel,
    /// What the lists of workers and tasks left out.
    pub left_out: LeftOut,
    /// Which columns were read, and how they are separated.
    pub layout: TableLayout,
}

/// Reads the judgements of a panel. What the options say of repeated rows and of the order of classes is not
/// used: every row counts, and classes stand in natural order unless they are listed.
pub fn read_judgements(
    source: &Source,
    options: &ReadOptions,
    progress: Progress<'_>,
) -> Result<JudgementsRead> {
    let (recognised, options) = recognised_options(source, options)?;
    let options = &*options;
    let mut builder = PanelBuilder::default();
    if let Some(classes) = &options.classes {
        builder = builder.with_classes(classes)?;
    }
    let mut judges = (NameFilter::of_workers(options), Names::default());
    let mut items = (NameFilter::of_tasks(options), Names::default());
    let take = |item: &str, judge: &str, answer: &str| {
        if allows(&mut items, item) & allows(&mut judges, judge) {
            builder.push(item, judge, answer)?;
        }
        Ok(())
    };
    let layout = read_into(source, options, recognised, take, progress)?;
    let built = builder.build().map_err(Error::from);
    Ok(JudgementsRead {
        left_out: LeftOut::of(options, &items.1, &judges.1),
        layout,
        panel: built.map_err(|error| error.in_file(source.name()))?,
    })
}

/// Whether a name stays, which is noted where anything is left out.
fn allows((filter, seen): &mut (NameFilter<'_>, Names), name: &str) -> bool {
    if !filter.is_open() && !name.is_empty() {
        seen.intern(name);
    }
    filter.allows(name)
}

/// Writes the verdict on every item; the label of an unscored item is empty.
pub fn write_panel_verdicts(target: &Target, panel: &Panel, verdicts: &[Verdict]) -> Result<()> {
    let columns = [
        ("task", Text),
        ("label", OptionalText),
        (CONFIDENCE_COLUMN, Number),
        ("answered", Count),
        ("asked", Count),
    ];
    let (items, classes) = (panel.annotations().tasks(), panel.annotations().classes());
    write_rows(target, columns, |each| {
        verdicts.iter().enumerate().try_for_each(|(item, verdict)| {
            each(&[
                Cell::Text(items.get(item)),
                verdict.label.map(|label| classes.get(label)).into(),
                verdict.confidence.into(),
                Cell::Count(verdict.answered as u64),
                Cell::Count(verdict.asked as u64),
            ])
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, options: &ReadOptions) -> Result<JudgementsRead> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("judgements.jsonl");
        std::fs::write(&path, text).unwrap();
        read_judgements(&Source::from(path), options, &mut |_, _| {})
    }

    const ROWS: &str = concat!(
        "{\"item\":\"q1\",\"judge\":\"a\",\"label\":\"pass\"}\n",
        "{\"item\":\"q1\",\"judge\":\"a\",\"label\":\"fail\"}\n",
        "{\"item\":\"q1\",\"judge\":\"b\",\"label\":null}\n",
        "{\"item\":\"q2\",\"judge\":\"b\",\"label\":\"NaN\"}\n",
        "{\"item\":\"q2\",\"judge\":\"c\",\"label\":\"pass\"}\n",
    );

    #[test]
    fn every_row_counts_and_a_row_without_a_label_is_a_failure() {
        let found = read(ROWS, &ReadOptions::default()).unwrap();
        assert_eq!(found.panel.annotations().label_count(), 3);
        assert_eq!(found.panel.failures(), [(0, 1), (1, 1)]);
        let options = ReadOptions {
            drop_workers: ["b", "nobody"].map(str::to_owned).into_iter().collect(),
            ..ReadOptions::default()
        };
        let found = read(ROWS, &options).unwrap();
        assert_eq!(found.panel.failures().len(), 0);
        assert_eq!((found.left_out.workers, found.left_out.absent_workers), (1, 1));
    }

    #[cfg(feature = "columnar")]
    #[test]
    fn an_unscored_item_has_no_label_in_columnar_files_too() {
        let panel = Panel::from_rows([("q1", "a", "pass"), ("q2", "a", "")]).unwrap();
        let verdict = |label| Verdict {
            label,
            confidence: 0.5,
            answered: 1,
            asked: 1,
        };
        let sink = crate::formats::MemorySink::default();
        let verdicts = [verdict(Some(0)), verdict(None)];
        write_panel_verdicts(&Target::Memory(sink.clone()), &panel, &verdicts).unwrap();
        let table = sink.take().unwrap();
        let label = table.schema().index_of("label").unwrap();
        assert_eq!(table.batches()[0].column(label).null_count(), 1);
    }

    #[test]
    fn a_map_of_judges_is_the_same_panel() {
        let maps = concat!(
            "{\"item\":\"q1\",\"judges\":{\"a\":[\"pass\",\"fail\"],\"b\":null}}\n",
            "{\"item\":\"q2\",\"judges\":{\"b\":\"NaN\",\"c\":\"pass\"}}\n",
        );
        let (rows, maps) = (
            read(ROWS, &ReadOptions::default()).unwrap(),
            read(maps, &ReadOptions::default()).unwrap(),
        );
        assert_eq!(maps.panel.failures(), rows.panel.failures());
        let labels = |found: &JudgementsRead| found.panel.annotations().iter().collect::<Vec<_>>();
        assert_eq!(labels(&maps), labels(&rows));
    }

    #[test]
    fn nothing_but_failures_is_an_error_that_says_so() {
        let failed = "{\"item\":\"q1\",\"judge\":\"a\",\"label\":null}\n";
        let message = read(failed, &ReadOptions::default()).unwrap_err().to_string();
        assert!(message.contains("all 1 rows have an empty label"), "{message}");
    }
}
