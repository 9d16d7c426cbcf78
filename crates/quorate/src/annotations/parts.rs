//! The table from an input that is read in parts, in parallel.
//!
//! A [`Part`] takes rows as bytes and keeps the codes of names that are known, and a list of those that are not.
//! [`PartsBuilder::append`] takes a round of parts in the order of the input. The table is the one that
//! [`AnnotationsBuilder`](super::AnnotationsBuilder) makes of the same rows, bit for bit. What that builder would refuse
//! (an empty id, a class that is not allowed, too many names) is [`Irregular`] here: the caller then reads the input
//! row by row, which says what is wrong and where.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::assemble::{Rows, assemble};
use super::builder::no_labels;
use super::interner::{Interner, MOST_NAMES};
use super::key::{Key, SHORT};
use super::mentions::{Mentions, MentionsIn};
use super::{Annotations, ClassOrder, Duplicates, MAX_CLASSES, MAX_LABELS, RowCounts};
use crate::error::Result;

/// Something that only a reader that goes row by row can settle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Irregular;

/// A worker of a row that has no code yet: below the bit is its place among the part's mentions.
const UNKNOWN: u32 = 1 << 31;

/// A label that stands for "no answer".
const NO_ANSWER: u16 = u16::MAX;

/// Rows that go through each step together: what a step needs stays in the cache, and its look-ups do not wait for each
/// other.
const BATCH: usize = 64;

/// A piece of a text of less than 4 GiB. Text that goes on for 16 bytes behind the last field is read faster.
#[derive(Debug, Clone, Copy, Default)]
pub struct Field {
    /// Where it starts in the text.
    pub start: u32,
    /// Its length in bytes.
    pub length: u32,
}

impl Field {
    /// The piece between two places of a text.
    #[inline(always)]
    pub fn between(start: usize, end: usize) -> Self {
        Self {
            start: start as u32,
            length: (end - start) as u32,
        }
    }

    /// Whether a key can hold the name, and there is one.
    #[inline(always)]
    fn is_short(self) -> bool {
        self.length.wrapping_sub(1) < SHORT as u32
    }
}

/// Collects parts and turns them into [`Annotations`].
#[derive(Debug)]
pub struct PartsBuilder {
    tasks: Interner,
    workers: Interner,
    classes: Interner,
    class_order: Option<ClassOrder>,
    missing: Vec<String>,
    parts: Vec<Rows>,
    rows: RowCounts,
}

impl PartsBuilder {
    /// A builder that allows only these classes, if there is a list, and takes the labels in `missing`, besides the
    /// empty one, for abstentions. None where a repeated row is an error or the classes are no proper list.
    pub fn new(
        duplicates: Duplicates,
        classes: Option<&[String]>,
        class_order: ClassOrder,
        missing: &[String],
    ) -> Option<Self> {
        if duplicates == Duplicates::Error {
            return None;
        }
        let mut known = Interner::default();
        if let Some(classes) = classes {
            let mut mentions = Mentions::default();
            for class in classes {
                mentions.push(Key::of(class.as_bytes())?, 0);
            }
            // A list with long names needs their text; it is not worth a second way in.
            if classes.iter().any(|class| class.len() > SHORT) {
                return None;
            }
            known.resolve(&[(&mentions, &[])]);
            if known.len() != classes.len() || known.len() > MAX_CLASSES {
                return None;
            }
        }
        Some(Self {
            tasks: Interner::in_order(),
            workers: Interner::default(),
            classes: known,
            class_order: classes.is_none().then_some(class_order),
            missing: missing.to_vec(),
            parts: Vec::new(),
            rows: RowCounts {
                duplicates,
                ..RowCounts::default()
            },
        })
    }

    /// An empty part, ready for rows.
    pub fn part(&self) -> Part<'_> {
        Part {
            known: self,
            one_letter: [None; 256],
            labels: FxHashMap::default(),
            read: PartRead::default(),
        }
    }

    /// Adds a round of parts, in the order of the input; gives their texts back.
    pub fn append(&mut self, mut parts: Vec<PartRead>) -> std::result::Result<Vec<Vec<u8>>, Irregular> {
        let mentions = |select: fn(&PartRead) -> &Mentions| -> Vec<MentionsIn<'_>> {
            parts.iter().map(|part| (select(part), &part.text[..])).collect()
        };
        let tasks = self.tasks.resolve(&mentions(|part| &part.tasks));
        let workers = self.workers.resolve(&mentions(|part| &part.workers));
        let classes_before = self.classes.len();
        let classes = self.classes.resolve(&mentions(|part| &part.classes));
        if self.class_order.is_none() && self.classes.len() > classes_before {
            return Err(Irregular);
        }
        if self.tasks.len() > MOST_NAMES
            || self.workers.len() > MOST_NAMES
            || self.classes.len() > MAX_CLASSES
        {
            return Err(Irregular);
        }
        for part in &parts {
            self.rows.rows += part.rows;
            self.rows.abstentions += part.rows - part.codes.label.len() as u64;
        }
        if self.rows.rows - self.rows.abstentions > MAX_LABELS as u64 {
            return Err(Irregular);
        }
        let codes: Vec<(Vec<u32>, Vec<u32>, Vec<u32>)> = tasks
            .into_iter()
            .zip(workers)
            .zip(classes)
            .map(|((t, w), c)| (t, w, c))
            .collect();
        let texts = parts
            .iter_mut()
            .map(|part| std::mem::take(&mut part.text))
            .collect();
        self.parts.par_extend(
            parts
                .into_par_iter()
                .zip(codes)
                .map(|(part, (tasks, workers, classes))| {
                    let mut rows = part.codes;
                    rows.task
                        .iter_mut()
                        .for_each(|task| *task = tasks[*task as usize]);
                    for worker in rows.worker.iter_mut().filter(|worker| **worker & UNKNOWN != 0) {
                        *worker = workers[(*worker & !UNKNOWN) as usize];
                    }
                    rows.label
                        .iter_mut()
                        .for_each(|label| *label = classes[*label as usize] as u16);
                    rows
                }),
        );
        Ok(texts)
    }

    /// Sorts the rows into the table.
    pub fn build(self) -> std::result::Result<Result<Annotations>, Irregular> {
        if self.rows.rows == self.rows.abstentions {
            return Ok(Err(no_labels(self.rows.abstentions)));
        }
        let names = (
            self.tasks.into_names(),
            self.workers.into_names(),
            self.classes.into_names(),
        );
        let (Some(tasks), Some(workers), Some(classes)) = names else {
            return Err(Irregular);
        };
        Ok(Ok(assemble(
            tasks,
            workers,
            classes,
            self.class_order,
            self.parts,
            self.rows,
        )))
    }
}

/// What one part of an input holds.
#[derive(Debug, Default)]
pub struct PartRead {
    text: Vec<u8>,
    tasks: Mentions,
    workers: Mentions,
    classes: Mentions,
    codes: Rows,
    rows: u64,
}

/// A part while its rows come in.
#[derive(Debug)]
pub struct Part<'k> {
    known: &'k PartsBuilder,
    /// The part's codes of labels of one letter, and of longer ones.
    one_letter: [Option<u16>; 256],
    labels: FxHashMap<u128, u16>,
    read: PartRead,
}

impl Part<'_> {
    /// Makes room for this many rows.
    pub fn reserve(&mut self, rows: usize) {
        let Rows { task, worker, label } = &mut self.read.codes;
        task.reserve(rows);
        worker.reserve(rows);
        label.reserve(rows);
    }

    /// Adds rows of task, worker and label, whose fields lie in `text`, the same for all rows.
    pub fn push(&mut self, text: &[u8], rows: &[[Field; 3]]) -> std::result::Result<(), Irregular> {
        rows.chunks(BATCH)
            .try_for_each(|rows| self.push_batch(text, rows))
    }

    #[inline(always)]
    fn push_batch(&mut self, text: &[u8], rows: &[[Field; 3]]) -> std::result::Result<(), Irregular> {
        let (mut tasks, mut workers, mut labels) = ([0; BATCH], [0; BATCH], [0; BATCH]);
        let plain = rows
            .iter()
            .fold(true, |plain, row| plain & row[0].is_short() & row[1].is_short());
        if !plain || self.short_names(text, rows, &mut tasks, &mut workers).is_none() {
            for (row, (task, worker)) in rows.iter().zip(tasks.iter_mut().zip(&mut workers)) {
                *task = self.task(text, row[0])?;
                *worker = self.worker(text, row[1])?;
            }
        }
        let mut answered = true;
        for (label, row) in labels.iter_mut().zip(rows) {
            *label = self.label(text, row[2])?;
            answered &= *label != NO_ANSWER;
        }
        self.read.rows += rows.len() as u64;
        let codes = &mut self.read.codes;
        if answered {
            codes.task.extend_from_slice(&tasks[..rows.len()]);
            codes.worker.extend_from_slice(&workers[..rows.len()]);
            codes.label.extend_from_slice(&labels[..rows.len()]);
            return Ok(());
        }
        for row in (0..rows.len()).filter(|&row| labels[row] != NO_ANSWER) {
            codes.task.push(tasks[row]);
            codes.worker.push(workers[row]);
            codes.label.push(labels[row]);
        }
        Ok(())
    }

    /// [`task`](Self::task) and [`worker`](Self::worker) of rows whose names are short: nearly all files, in half the
    /// instructions. None if the text ends too early to read names in one go; nothing has happened then.
    #[inline(always)]
    fn short_names(
        &mut self,
        text: &[u8],
        rows: &[[Field; 3]],
        tasks: &mut [u32; BATCH],
        workers: &mut [u32; BATCH],
    ) -> Option<()> {
        let mut keys = [[Key::NONE; 2]; BATCH];
        for (keys, row) in keys.iter_mut().zip(rows) {
            *keys = [short_key(text, row[0])?, short_key(text, row[1])?];
        }
        let mentioned = &mut self.read.tasks;
        let mut last = mentioned.keys.last().copied().unwrap_or(Key::NONE);
        for ((task, keys), row) in tasks.iter_mut().zip(&keys).zip(rows) {
            if keys[0] != last {
                last = keys[0];
                mentioned.push(last, row[0].start);
            }
            *task = mentioned.len() as u32 - 1;
        }
        for ((worker, keys), row) in workers.iter_mut().zip(&keys).zip(rows) {
            *worker = match self.known.workers.find_short(keys[1]) {
                Some(code) => code,
                None => UNKNOWN | self.read.workers.push(keys[1], row[1].start),
            };
        }
        Some(())
    }

    /// The place of a task among the part's mentions.
    fn task(&mut self, text: &[u8], task: Field) -> std::result::Result<u32, Irregular> {
        let key = key(text, task).ok_or(Irregular)?;
        let tasks = &mut self.read.tasks;
        let same = tasks.keys.last() == Some(&key)
            && (!key.is_long() || tasks.long_name(tasks.len() - 1, text) == bytes(text, task));
        if !same {
            tasks.push(key, task.start);
        }
        Ok(tasks.len() as u32 - 1)
    }

    /// The code of a worker, or its place among the part's mentions.
    fn worker(&mut self, text: &[u8], worker: Field) -> std::result::Result<u32, Irregular> {
        let key = key(text, worker).ok_or(Irregular)?;
        Ok(match self.known.workers.find(key, || bytes(text, worker)) {
            Some(code) => code,
            None => UNKNOWN | self.read.workers.push(key, worker.start),
        })
    }

    /// The part's code of a label.
    #[inline(always)]
    fn label(&mut self, text: &[u8], label: Field) -> std::result::Result<u16, Irregular> {
        if label.length == 1
            && let Some(code) = self.one_letter[text[label.start as usize] as usize]
        {
            return Ok(code);
        }
        self.longer_label(text, label)
    }

    fn longer_label(&mut self, text: &[u8], label: Field) -> std::result::Result<u16, Irregular> {
        let name = bytes(text, label);
        let Some(key) = key(text, label) else {
            return Ok(NO_ANSWER);
        };
        let code = match self.labels.get(&key.bits()) {
            // Two long labels with one key are as good as impossible; reading row by row tells them apart.
            Some(&code) if key.is_long() && code != NO_ANSWER => {
                let known = &self.read.classes;
                match known.long_name(code as usize, text) == name {
                    true => return Ok(code),
                    false => return Err(Irregular),
                }
            }
            Some(&code) => return Ok(code),
            None if self
                .known
                .missing
                .iter()
                .any(|missing| missing.as_bytes() == name) =>
            {
                NO_ANSWER
            }
            None if self.read.classes.len() == NO_ANSWER as usize => return Err(Irregular),
            None => self.read.classes.push(key, label.start) as u16,
        };
        self.labels.insert(key.bits(), code);
        if label.length == 1 {
            self.one_letter[name[0] as usize] = Some(code);
        }
        Ok(code)
    }

    /// Ends the part; `text` is the one its rows were pushed with.
    pub fn finish(mut self, text: Vec<u8>) -> PartRead {
        self.read.text = text;
        self.read
    }
}

#[inline(always)]
fn bytes(text: &[u8], field: Field) -> &[u8] {
    &text[field.start as usize..][..field.length as usize]
}

/// The key of a field that [is short](Field::is_short); none near the end of the text.
#[inline(always)]
fn short_key(text: &[u8], field: Field) -> Option<Key> {
    let window = text.get(field.start as usize..)?.first_chunk()?;
    Some(Key::of_window(
        u128::from_le_bytes(*window),
        field.length as usize,
    ))
}

fn key(text: &[u8], field: Field) -> Option<Key> {
    Key::of(bytes(text, field))
}
