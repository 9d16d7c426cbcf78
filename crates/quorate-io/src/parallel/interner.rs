//! The interner: names that many threads look up and add to, with codes in order of first appearance.
//!
//! Parts of an input are read in parallel; each keeps a list of the names it mentions. A round of parts is
//! then resolved: the table is cut into shards by hash, every shard goes through the parts in order and tells
//! known names from new ones, and the new ones get codes by counting in (part, mention) order. The
//! codes do not depend on the threads: they are those of one reader that goes through the input from start
//! to end.
//! Sorted names ([`SortedRun`]) skip the table until the order breaks.

use std::sync::atomic::Ordering;

use quorate::annotations::Names;
use rayon::prelude::*;

use super::key::Key;
use super::key_table::{KeyTable, NEW, is_first};
use super::mentions::{ByShard, MentionsIn, SHARDS, shard_of};
use super::sorted_run::SortedRun;

/// Codes above this do not fit.
pub(super) const MAX_NAMES: usize = NEW as usize - 1;

/// All names so far.
#[derive(Debug, Default)]
pub(super) struct Interner {
    /// Empty as long as names are sorted.
    table: KeyTable,
    known: KnownNames,
    sorted: Option<SortedRun>,
}

/// Names with codes, one behind the other.
#[derive(Debug, Default)]
pub(super) struct KnownNames {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl KnownNames {
    /// The name with this code.
    pub(super) fn name(&self, code: usize) -> &[u8] {
        let start = if code == 0 { 0 } else { self.ends[code - 1] };
        &self.text[start..self.ends[code]]
    }
}

impl Interner {
    /// For names that are resolved, never looked up, and may well be sorted.
    pub(super) fn for_sorted() -> Self {
        Self {
            sorted: Some(SortedRun::new()),
            ..Self::default()
        }
    }

    /// Number of names.
    pub(super) fn len(&self) -> usize {
        self.known.ends.len()
    }

    /// Reserves memory for sorted names; `more` estimates how many more are to come, given how many there
    /// are.
    pub(super) fn expect(&mut self, more: impl Fn(usize) -> usize) {
        if self.sorted.is_some() {
            let KnownNames { text, ends } = &mut self.known;
            let _ = text.try_reserve(more(text.len()));
            let _ = ends.try_reserve(more(ends.len()));
        }
    }

    /// Bytes that [`expect`](Self::expect) reserves.
    pub(super) fn bytes_for(&self, more: impl Fn(usize) -> usize) -> u64 {
        match self.sorted {
            Some(_) => (more(self.known.text.len()) + 8 * more(self.known.ends.len())) as u64,
            None => 0,
        }
    }

    /// The code of a name, if it is known; `long` gives the name where the key does not hold it.
    pub(super) fn find<'n>(&self, key: Key, long: impl Fn() -> &'n [u8]) -> Option<u32> {
        let is_it = |code: u32| !key.is_long() || self.known.name(code as usize) == long();
        self.table.find(key, is_it)
    }

    /// [`KeyTable::prefetch`].
    #[inline(always)]
    pub(super) fn prefetch(&self, key: Key) {
        self.table.prefetch(key);
    }

    /// [`KeyTable::look_up`] for names that the keys hold.
    #[inline(always)]
    pub(super) fn look_up(&self, keys: &[Key], codes: &mut [u32]) -> u64 {
        self.table.look_up(keys, codes)
    }

    /// Adds the names that the parts mention; returns the code of every mention of every part.
    pub(super) fn resolve(&mut self, parts: &[MentionsIn<'_>]) -> Vec<Vec<u32>> {
        if let Some(sorted) = self.sorted.take() {
            if let Some((sorted, going_on)) = sorted.extend(parts) {
                self.sorted = Some(sorted);
                return self.append(parts, &going_on);
            }
            self.tabulate();
        }
        let spread: Vec<ByShard> = parts
            .par_iter()
            .map(|(mentions, _)| ByShard::of(&mentions.keys))
            .collect();
        let by_shard = self.table.resolve(parts, &spread, &self.known);
        let mut codes = gather(&spread, &by_shard);
        drop(by_shard);
        self.name_new(parts, &mut codes);
        self.table.settle();
        codes
    }

    /// Appends names that are all new, except for the first of a part that continues the last name.
    fn append(&mut self, parts: &[MentionsIn<'_>], going_on: &[bool]) -> Vec<Vec<u32>> {
        let mut next = self.len() as u32;
        let is_new = |part: usize, mention: usize| mention > 0 || !going_on[part];
        self.known.add(parts, is_new, |_, _, _| {});
        let codes = parts.iter().zip(going_on).map(|((mentions, _), &going_on)| {
            let first = next - u32::from(going_on);
            next = first + mentions.len() as u32;
            (first..next).collect()
        });
        codes.collect()
    }

    /// Puts all names into the table.
    fn tabulate(&mut self) {
        let known = &self.known;
        // Every name here is short: its key holds it.
        let key = |code: usize| Key::of(known.name(code));
        let shard_of_code: Vec<u8> = (0..self.known.ends.len())
            .into_par_iter()
            .map(|code| key(code).map_or(0, |key| shard_of(key) as u8))
            .collect();
        let shard_of_code = &shard_of_code[..];
        self.table.take(|shard| {
            let own = (0..shard_of_code.len()).filter(move |&code| usize::from(shard_of_code[code]) == shard);
            own.filter_map(|code| Some((key(code)?, code as u32)))
        });
    }

    /// Gives codes to the new names, in order of first mention, and replaces resolved mentions by codes.
    fn name_new(&mut self, parts: &[MentionsIn<'_>], resolved: &mut [Vec<u32>]) {
        let Self { table, known, .. } = self;
        let table = &*table;
        let found = &*resolved;
        known.add(
            parts,
            |part, mention| is_first(found[part][mention]),
            |part, mention, code| {
                table
                    .new_code(found[part][mention])
                    .store(code, Ordering::Relaxed);
            },
        );
        resolved.par_iter_mut().for_each(|resolved| {
            for code in resolved.iter_mut().filter(|code| **code & NEW != 0) {
                *code = table.new_code(*code).load(Ordering::Relaxed);
            }
        });
    }

    /// The names in order of code; none if one of them is not UTF-8.
    pub(super) fn into_names(self) -> Option<Names> {
        drop(self.table);
        Names::from_text(String::from_utf8(self.known.text).ok()?, self.known.ends)
    }
}

impl KnownNames {
    /// Adds the mentions that are new, in order, and tells the code of each.
    fn add(
        &mut self,
        parts: &[MentionsIn<'_>],
        is_new: impl Fn(usize, usize) -> bool + Sync,
        tell: impl Fn(usize, usize, u32) + Sync,
    ) {
        let sizes: Vec<(usize, usize)> = parts
            .par_iter()
            .enumerate()
            .map(|(part, (mentions, _))| {
                let new = (0..mentions.len()).filter(|&mention| is_new(part, mention));
                new.fold((0, 0), |(names, bytes), mention| {
                    (names + 1, bytes + mentions.keys[mention].length())
                })
            })
            .collect();
        let (names, bytes) = sizes
            .iter()
            .fold((0, 0), |sum, size| (sum.0 + size.0, sum.1 + size.1));
        let Self { text, ends } = self;
        let (mut code, mut end) = (ends.len(), text.len());
        ends.resize(code + names, 0);
        text.resize(end + bytes, 0);
        let (mut ends, mut text) = (&mut ends[code..], &mut text[end..]);
        let mut jobs = Vec::with_capacity(parts.len());
        for (part, &(names, bytes)) in sizes.iter().enumerate() {
            let (part_ends, rest) = ends.split_at_mut(names);
            ends = rest;
            let (part_text, rest) = text.split_at_mut(bytes);
            text = rest;
            jobs.push((part, code, end, part_ends, part_text));
            code += names;
            end += bytes;
        }
        jobs.into_par_iter().for_each(|(part, first, base, ends, text)| {
            let (mentions, source) = parts[part];
            let (mut at, mut next) = (0, 0);
            for mention in (0..mentions.len()).filter(|&mention| is_new(part, mention)) {
                let key = mentions.keys[mention];
                let length = key.length();
                if key.is_long() {
                    text[at..at + length].copy_from_slice(mentions.name(mention, source));
                } else if let Some(window) = text[at..].first_chunk_mut::<16>() {
                    // A copy of fixed length is cheaper; the excess is overwritten by the next name.
                    *window = key.bytes();
                } else {
                    text[at..at + length].copy_from_slice(&key.bytes()[..length]);
                }
                at += length;
                ends[next] = base + at;
                tell(part, mention, (first + next) as u32);
                next += 1;
            }
        });
    }
}

/// Puts what the shards found in the order of each part's mentions.
fn gather(parts: &[ByShard], by_shard: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut starts = [0; SHARDS];
    let firsts: Vec<[usize; SHARDS]> = parts
        .iter()
        .map(|part| {
            let here = starts;
            for (shard, start) in starts.iter_mut().enumerate() {
                *start += part.of_shard(shard).len();
            }
            here
        })
        .collect();
    parts
        .par_iter()
        .zip(firsts)
        .map(|(part, firsts)| {
            let mut resolved = vec![0; part.len()];
            for (shard, start) in firsts.into_iter().enumerate() {
                let found = &by_shard[shard][start..];
                for (&mention, &code) in part.of_shard(shard).iter().zip(found) {
                    resolved[mention as usize] = code;
                }
            }
            resolved
        })
        .collect()
}
