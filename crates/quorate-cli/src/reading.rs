//! What is said and settled of labels that were just read, wherever they are and whoever asked for them.

use std::sync::Arc;

use quorate::Result;
use quorate::annotations::{Duplicates, Names, RowCounts};
use quorate::internal::annotations::{SimilarClasses, Similarity, find_similar, looks_missing};
use quorate::internal::run::{Knowledge, LabelFacts, LabelTable};
use quorate::judges::Panel;
use quorate_io::{JudgementsRead, LeftOut, ReadOptions, TableLayout};

use crate::column_words::tell_layout;
use crate::export_words::{what_was_read, what_was_settled};
use crate::messages::Messages;
use crate::text_table::plural;

/// Classes that are named in a message.
const NAMED: usize = 4;

/// Fewest classes that can look like free text.
const MANY_CLASSES: usize = 20;

/// Says how labels were read and what was skipped, joins classes that are one, and fixes the truths that are
/// marked in an export, as far as `options` ask for it.
pub fn settle<L: LabelTable>(
    mut labels: L,
    layout: &TableLayout,
    left_out: &LeftOut,
    (options, normalize): (&ReadOptions, bool),
    messages: &mut dyn Messages,
) -> Result<L> {
    tell_reading(labels.facts(), layout, options, messages);
    tell_rows(labels.facts().rows, messages);
    tell_left_out(left_out, options, messages);
    if options.classes.is_none() {
        let joined = similar_classes(
            labels.facts().classes,
            &|| labels.class_counts(),
            normalize,
            messages,
        );
        if !joined.is_empty() {
            labels = labels.with_joined_classes(&joined);
        }
    }
    if let (true, Some(export)) = (options.use_gold, &layout.export) {
        if export.gold.is_empty() {
            let option = messages.option("use-gold");
            messages.warning(format!("{option}: no truths are marked in the file"));
            return Ok(labels);
        }
        let gold = export.gold_labels();
        let knowledge = Knowledge {
            gold: Some(gold.truths()),
            closed: options.classes.is_some(),
            ..Knowledge::default()
        };
        let known;
        (labels, known) = knowledge.add_to(labels)?;
        messages.note(format!(
            "{} of {} known from the file ({})",
            plural(known.gold.map_or(0, |(known, _)| known), "task"),
            labels.facts().tasks,
            messages.switch("use-gold")
        ));
    }
    Ok(labels)
}

/// Says how judgements were read, and joins classes that are one. Failures and repeated rows are part of what
/// is said of a panel.
pub fn settle_panel(
    read: JudgementsRead,
    options: &ReadOptions,
    normalize: bool,
    messages: &mut dyn Messages,
) -> Result<Panel> {
    tell_layout(&options.columns, &read.layout, messages);
    tell_left_out(&read.left_out, options, messages);
    read.panel.map(|annotations| {
        if options.classes.is_some() {
            return Ok(annotations);
        }
        let annotations = Arc::new(annotations);
        let counts = || annotations.class_counts();
        let joined = similar_classes(annotations.classes(), &counts, normalize, messages);
        Ok(Arc::unwrap_or_clone(annotations.with_joined_classes(&joined)))
    })
}

/// Says how the file was read, where that was not said.
fn tell_reading(
    labels: LabelFacts<'_>,
    layout: &TableLayout,
    options: &ReadOptions,
    messages: &mut dyn Messages,
) {
    let Some(export) = &layout.export else {
        if options.question.is_some() || options.use_gold {
            messages.warning(format!(
                "{} and {} are for exports of annotation tools; this is a table",
                messages.option("question"),
                messages.option("use-gold")
            ));
        }
        tell_layout(&options.columns, layout, messages);
        return;
    };
    messages.note(what_was_read(export, labels.tasks, labels.workers.len()));
    for line in what_was_settled(export) {
        messages.note(line);
    }
    if !export.gold.is_empty() && !options.use_gold {
        messages.note(format!(
            "{} with the truth marked in the file: {} fixes them",
            plural(export.gold.len(), "task"),
            messages.switch("use-gold")
        ));
    }
}

/// Says which rows were skipped or settled.
pub fn tell_rows(rows: &RowCounts, messages: &mut dyn Messages) {
    if rows.abstentions > 0 {
        messages.note(format!(
            "{} without a label: counted as abstentions, not used",
            plural(rows.abstentions as usize, "row")
        ));
    }
    if rows.repeated > 0 {
        let kept = match rows.duplicates {
            Duplicates::Last => "the last row of each counts",
            Duplicates::First => "the first row of each counts",
            Duplicates::Keep | Duplicates::Error => "every row counts",
        };
        messages.note(format!(
            "{} with the task and worker of an earlier row: {kept} ({})",
            plural(rows.repeated as usize, "row"),
            messages.option("duplicates")
        ));
    }
}

/// Says which workers and tasks were left out, and which of them were not found.
fn tell_left_out(left_out: &LeftOut, options: &ReadOptions, messages: &mut dyn Messages) {
    let (workers, tasks) = (&options.drop_workers, &options.drop_tasks);
    let (kept_workers, kept_tasks) = (&options.keep_workers, &options.keep_tasks);
    let lists = [
        (
            "worker",
            kept_workers,
            workers,
            left_out.workers,
            left_out.absent_workers,
        ),
        (
            "task",
            kept_tasks,
            tasks,
            left_out.tasks as usize,
            left_out.absent_tasks as usize,
        ),
    ];
    for (what, keep, drop, dropped, absent) in lists {
        let mut given = Vec::new();
        if keep.is_some() {
            given.push(messages.option(&format!("keep-{what}s")));
        }
        if !drop.is_empty() {
            given.push(messages.option(&format!("drop-{what}s")));
        }
        if given.is_empty() {
            continue;
        }
        let given = given.join(" and ");
        messages.note(format!("{} left out by {given}", plural(dropped, what)));
        if absent > 0 {
            messages.warning(format!(
                "{} listed in {given} not found in the labels",
                plural(absent, what)
            ));
        }
    }
}

/// Says which classes look alike, missing or like free text; returns those that are to be joined: the same
/// number written in different ways, and with `normalize` also words that differ in case and white space
/// only, whose most frequent spelling stays. `counts` gives the number of labels of each class.
pub fn similar_classes(
    classes: &Names,
    counts: &dyn Fn() -> Vec<u64>,
    normalize: bool,
    messages: &mut dyn Messages,
) -> Vec<SimilarClasses> {
    let name = |code: &u16| classes.get(usize::from(*code));
    let quoted = |codes: &[u16]| {
        let names: Vec<String> = codes
            .iter()
            .take(NAMED)
            .map(|code| format!("{:?}", name(code)))
            .collect();
        let more = if codes.len() > NAMED { ", .." } else { "" };
        format!("{}{more}", names.join(", "))
    };
    let mut joined = Vec::new();
    for mut group in find_similar(classes) {
        if group.similarity == Similarity::Spelling && normalize {
            group = group.led_by_most_frequent(&counts());
        }
        let (first, alike) = (name(&group.codes[0]), quoted(&group.codes));
        match group.similarity {
            Similarity::Number => {
                messages.note(format!(
                    "classes {alike} are the same number: joined as {first:?}"
                ));
            }
            Similarity::Spelling if normalize => {
                messages.note(format!("classes {alike} are joined as {first:?}"));
            }
            Similarity::Spelling => {
                messages.warning(format!(
                    "classes {alike} differ only in case or white space and are kept apart; {} joins them",
                    messages.switch("normalize")
                ));
                continue;
            }
        }
        joined.push(group);
    }
    let missing: Vec<u16> = (0..=u16::MAX)
        .take(classes.len())
        .filter(|code| looks_missing(name(code)))
        .collect();
    if !missing.is_empty() {
        messages.warning(format!(
            "{} {} like a missing answer and counts as a class; {} {} leaves such rows out",
            quoted(&missing),
            if missing.len() == 1 { "looks" } else { "look" },
            messages.option("missing"),
            missing.iter().map(name).collect::<Vec<_>>().join(",")
        ));
    }
    let labels = if classes.len() > MANY_CLASSES {
        counts().iter().sum()
    } else {
        u64::MAX
    };
    if 2 * classes.len() as u64 >= labels {
        messages.warning(format!(
            "{} for {}: this looks like free text, which cannot be aggregated as classes; is {} label=NAME right?",
            plural(classes.len(), "class"),
            plural(labels as usize, "label"),
            messages.option("columns")
        ));
    }
    joined
}
