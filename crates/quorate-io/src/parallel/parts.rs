//! A part of an input: rows as bytes become codes of the names in the [`Vocabulary`], and a list of names
//! that are not in it yet.

use quorate::annotations::CodeColumns;
use rustc_hash::FxHashMap;

use super::grouped::Runs;
use super::key::{Key, SHORT};
use super::mentions::Mentions;
use super::{Irregular, Vocabulary};

/// A worker of a row that has no code yet: below the bit is its index among the part's mentions.
const UNKNOWN: u32 = 1 << 31;

/// A label that stands for "no answer".
const NO_ANSWER: u16 = u16::MAX;

/// The code of a letter that is not a label yet; codes of the part's classes stay below.
const UNSEEN: u16 = u16::MAX - 1;

/// Rows that go through each step together: what a step needs stays in the cache, and its look-ups do not
/// wait for each other. As many as bits in a word.
const BATCH: usize = 64;

/// A slice of a text of less than 4 GiB. A text with 16 bytes of padding behind the last field is read
/// faster.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Field {
    /// Where it starts in the text.
    pub start: u32,
    /// Its length in bytes.
    pub length: u32,
}

impl Field {
    /// The slice between two offsets of a text.
    #[inline(always)]
    pub(crate) fn between(start: usize, end: usize) -> Self {
        Self {
            start: start as u32,
            length: (end - start) as u32,
        }
    }

    /// The slice between two delimiters.
    #[inline(always)]
    pub(crate) fn after(delimiter: u32, end: u32) -> Self {
        let start = delimiter.wrapping_add(1);
        Self {
            start,
            length: end.wrapping_sub(start),
        }
    }

    /// The slice without this many bytes at its end.
    #[inline(always)]
    pub(crate) fn shortened(self, bytes: u32) -> Self {
        Self {
            length: self.length - bytes,
            ..self
        }
    }
}

/// What one part of an input holds.
#[derive(Debug, Default)]
pub(crate) struct PartRead {
    pub(super) text: Vec<u8>,
    /// The task of each run of rows, and the label that each run starts with.
    pub(super) tasks: Mentions,
    starts: Vec<u32>,
    pub(super) workers: Mentions,
    pub(super) classes: Mentions,
    worker: Vec<u32>,
    pub(super) label: Vec<u16>,
    pub(super) rows: u64,
}

impl PartRead {
    /// The buffer for the part's text, with whatever is left in it.
    pub(crate) fn take_text(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.text)
    }

    /// Forgets all rows, for the next part to use the memory.
    pub(crate) fn clear(&mut self) {
        self.tasks.clear();
        self.starts.clear();
        self.workers.clear();
        self.classes.clear();
        self.worker.clear();
        self.label.clear();
        self.rows = 0;
    }

    /// Replaces indexes among the part's mentions by the codes of workers and classes.
    pub(super) fn recode(&mut self, workers: &[u32], classes: &[u32]) {
        if !workers.is_empty() {
            for worker in self.worker.iter_mut().filter(|worker| **worker & UNKNOWN != 0) {
                *worker = workers[(*worker & !UNKNOWN) as usize];
            }
        }
        if !classes.iter().copied().eq(0..classes.len() as u32) {
            let labels = self.label.iter_mut();
            labels.for_each(|label| *label = classes[*label as usize] as u16);
        }
    }

    /// Number of runs: rows that stand together and are about one task.
    pub(crate) fn run_count(&self) -> usize {
        self.starts.len()
    }

    /// A run, its labels by codes once the part was learnt.
    pub(crate) fn named_run(&self, run: usize) -> NamedRun<'_> {
        let end = self
            .starts
            .get(run + 1)
            .map_or(self.label.len(), |&end| end as usize);
        let labels = self.starts[run] as usize..end;
        NamedRun {
            task: self.tasks.name(run, &self.text),
            workers: &self.worker[labels.clone()],
            labels: &self.label[labels],
        }
    }

    /// Number of labels, abstentions not among them.
    pub(super) fn label_count(&self) -> usize {
        self.label.len()
    }

    pub(super) fn runs<'p>(&'p mut self, tasks: &'p [u32]) -> Runs<'p> {
        Runs {
            tasks,
            starts: &self.starts,
            worker: &mut self.worker,
            label: &mut self.label,
        }
    }

    /// The rows, each with its task.
    pub(super) fn columns(&self, tasks: &[u32]) -> CodeColumns {
        let ends = self
            .starts
            .iter()
            .skip(1)
            .copied()
            .chain([self.label.len() as u32]);
        let mut task = Vec::with_capacity(self.label.len());
        tasks
            .iter()
            .zip(ends)
            .for_each(|(&code, end)| task.resize(end as usize, code));
        CodeColumns {
            task,
            worker: self.worker.clone(),
            label: self.label.clone(),
        }
    }
}

/// Rows of a part that stand together and are about one task, without abstentions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamedRun<'p> {
    /// The name of the task, not checked to be UTF-8.
    pub task: &'p [u8],
    /// The workers.
    pub workers: &'p [u32],
    /// Their labels.
    pub labels: &'p [u16],
}

/// A part while its rows come in.
#[derive(Debug)]
pub(crate) struct Part<'k> {
    known: &'k Vocabulary,
    /// The part's codes of labels of one letter, and of longer ones.
    one_letter: [u16; 256],
    labels: FxHashMap<u128, u16>,
    /// Workers that have no code yet, whose keys hold their names: a large part mentions each many times.
    mentioned: FxHashMap<u128, u32>,
    read: PartRead,
}

impl<'k> Part<'k> {
    /// An empty part, in the memory of one that was taken.
    pub(super) fn new(known: &'k Vocabulary, used: PartRead) -> Self {
        Self {
            known,
            one_letter: [UNSEEN; 256],
            labels: FxHashMap::default(),
            mentioned: FxHashMap::default(),
            read: used,
        }
    }

    /// Makes room for this many rows.
    pub(crate) fn reserve(&mut self, rows: usize) {
        self.read.worker.reserve(rows);
        self.read.label.reserve(rows);
    }

    /// Adds this many rows of task, worker and label, whose fields lie in `text`, the same text for all rows
    /// of the part. `plain` is whether the text has no zeros in it; `fields` gives the fields of a row.
    #[inline(always)]
    pub(crate) fn push(
        &mut self,
        text: &[u8],
        plain: bool,
        rows: usize,
        fields: impl Fn(usize) -> [Field; 3],
    ) -> Result<(), Irregular> {
        let mut batch = RowBatch::default();
        for first in (0..rows).step_by(BATCH) {
            let count = BATCH.min(rows - first);
            let fields = |row: usize| fields(first + row);
            if !(plain && self.take_short(text, count, fields, &mut batch)) {
                self.take_any(text, count, &fields, &mut batch)?;
            }
            if batch.unseen {
                for (row, label) in batch.labels[..count].iter_mut().enumerate() {
                    *label = self.label(text, fields(row)[2])?;
                }
            }
            self.keep(count, &batch);
        }
        self.read.rows += rows as u64;
        Ok(())
    }

    /// Takes names of up to [`SHORT`] bytes and labels of one letter, which are nearly all; false if there
    /// are others.
    #[inline(always)]
    fn take_short(
        &mut self,
        text: &[u8],
        count: usize,
        fields: impl Fn(usize) -> [Field; 3],
        batch: &mut RowBatch,
    ) -> bool {
        let RowBatch {
            tasks,
            offsets,
            changed,
            keys,
            workers,
            labels,
            unseen,
        } = batch;
        let count = count.min(BATCH);
        let (mut lengths, mut odd_label) = (0, false);
        for row in 0..count {
            let [task, worker, answer] = fields(row);
            let (Some(task_window), Some(window)) = (window(text, task), window(text, worker)) else {
                return false;
            };
            // Less than SHORT if all names are short, since none is less than 1.
            lengths |= task.length.wrapping_sub(1) | worker.length.wrapping_sub(1);
            tasks[row + 1] = Key::of_window(task_window, task.length);
            offsets[row] = task.start;
            keys[row] = Key::of_window(window, worker.length);
            self.known.workers.prefetch(keys[row]);
            let letter = text.get(answer.start as usize).copied().unwrap_or_default();
            labels[row] = self.one_letter[letter as usize];
            odd_label |= (answer.length != 1) | (labels[row] == UNSEEN);
        }
        if lengths >= SHORT as u32 {
            return false;
        }
        *unseen = odd_label;
        let mut missed = self.known.workers.look_up(&keys[..count], workers);
        while missed != 0 {
            let row = missed.trailing_zeros() as usize;
            workers[row] = match self.known.workers.find(keys[row], || &[]) {
                Some(code) => code,
                None => self.mention(keys[row], fields(row)[1].start),
            };
            missed &= missed - 1;
        }
        tasks[0] = self.read.tasks.keys.last().copied().unwrap_or_default();
        *changed = (0..count).fold(0, |bits, row| {
            bits | u64::from(tasks[row] != tasks[row + 1]) << row
        });
        true
    }

    /// Takes names of any kind.
    #[inline(never)]
    fn take_any(
        &mut self,
        text: &[u8],
        count: usize,
        fields: &dyn Fn(usize) -> [Field; 3],
        batch: &mut RowBatch,
    ) -> Result<(), Irregular> {
        let mentioned = &self.read.tasks;
        let mut last = mentioned.keys.last().map(|&key| {
            if key.is_long() {
                (key, mentioned.name(mentioned.len() - 1, text))
            } else {
                (key, &[][..])
            }
        });
        batch.changed = 0;
        for row in 0..count {
            let [task, worker, _] = fields(row);
            let (key, name) = (key(text, task).ok_or(Irregular)?, bytes(text, task));
            let same = last.is_some_and(|(last, text)| last == key && (!key.is_long() || text == name));
            batch.changed |= u64::from(!same) << row;
            last = Some((key, name));
            (batch.tasks[row + 1], batch.offsets[row]) = (key, task.start);
            batch.workers[row] = self.worker(text, worker)?;
        }
        batch.unseen = true;
        Ok(())
    }

    /// Keeps the rows of a batch.
    #[inline(always)]
    fn keep(&mut self, count: usize, batch: &RowBatch) {
        let read = &mut self.read;
        let labels = &batch.labels[..count];
        let silent = if labels.contains(&NO_ANSWER) {
            (0..count).fold(0, |bits, row| bits | u64::from(labels[row] == NO_ANSWER) << row)
        } else {
            0
        };
        let base = read.label.len() as u32;
        let mut changed = batch.changed;
        while changed != 0 {
            let row = changed.trailing_zeros();
            let left_out = (silent & ((1 << row) - 1)).count_ones();
            read.tasks
                .push(batch.tasks[row as usize + 1], batch.offsets[row as usize]);
            read.starts.push(base + row - left_out);
            changed &= changed - 1;
        }
        if silent == 0 {
            read.worker.extend_from_slice(&batch.workers[..count]);
            read.label.extend_from_slice(labels);
            return;
        }
        for row in (0..count).filter(|row| silent >> row & 1 == 0) {
            read.worker.push(batch.workers[row]);
            read.label.push(labels[row]);
        }
    }

    /// The code of a worker, or its index among the part's mentions.
    fn worker(&mut self, text: &[u8], worker: Field) -> Result<u32, Irregular> {
        let key = key(text, worker).ok_or(Irregular)?;
        Ok(match self.known.workers.find(key, || bytes(text, worker)) {
            Some(code) => code,
            None => self.mention(key, worker.start),
        })
    }

    /// Notes a worker that has no code yet.
    fn mention(&mut self, key: Key, start: u32) -> u32 {
        let mentions = &mut self.read.workers;
        UNKNOWN
            | if key.is_long() {
                mentions.push(key, start)
            } else {
                *self
                    .mentioned
                    .entry(key.bits())
                    .or_insert_with(|| mentions.push(key, start))
            }
    }

    /// The part's code of a label.
    fn label(&mut self, text: &[u8], label: Field) -> Result<u16, Irregular> {
        let name = bytes(text, label);
        if let [letter] = name
            && self.one_letter[*letter as usize] != UNSEEN
        {
            return Ok(self.one_letter[*letter as usize]);
        }
        if name.is_empty() {
            return Ok(NO_ANSWER);
        }
        let key = key(text, label).ok_or(Irregular)?;
        let code = match self.labels.get(&key.bits()) {
            // Two long labels with the same key (a hash collision): the row by row reader tells them apart.
            Some(&code) if key.is_long() && code != NO_ANSWER => {
                let known = &self.read.classes;
                if known.name(code as usize, text) == name {
                    return Ok(code);
                } else {
                    return Err(Irregular);
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
            None if self.read.classes.len() == UNSEEN as usize => return Err(Irregular),
            None => self.read.classes.push(key, label.start) as u16,
        };
        self.labels.insert(key.bits(), code);
        if let [letter] = name {
            self.one_letter[*letter as usize] = code;
        }
        Ok(code)
    }

    /// Ends the part; `text` is the one its rows were pushed with.
    pub(crate) fn finish(mut self, text: Vec<u8>) -> PartRead {
        self.read.text = text;
        self.read
    }
}

/// Rows of a part between two steps.
struct RowBatch {
    /// The keys of the tasks, behind that of the row before.
    tasks: [Key; BATCH + 1],
    /// Where their names start.
    offsets: [u32; BATCH],
    /// A bit for each row about another task than the row before.
    changed: u64,
    /// The keys of the workers.
    keys: [Key; BATCH],
    workers: [u32; BATCH],
    labels: [u16; BATCH],
    /// Whether there are labels besides known ones of one letter.
    unseen: bool,
}

impl Default for RowBatch {
    fn default() -> Self {
        Self {
            tasks: [Key::NONE; BATCH + 1],
            offsets: [0; BATCH],
            changed: 0,
            keys: [Key::NONE; BATCH],
            workers: [0; BATCH],
            labels: [0; BATCH],
            unseen: false,
        }
    }
}

#[inline(always)]
fn bytes(text: &[u8], field: Field) -> &[u8] {
    &text[field.start as usize..][..field.length as usize]
}

/// The bytes from the start of a field on; none near the end of the text.
#[inline(always)]
fn window(text: &[u8], field: Field) -> Option<[u8; SHORT]> {
    let start = field.start as usize;
    text.get(start..start + SHORT)?.try_into().ok()
}

fn key(text: &[u8], field: Field) -> Option<Key> {
    Key::of(bytes(text, field))
}
