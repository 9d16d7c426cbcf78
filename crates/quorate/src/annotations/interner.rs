//! Names that many threads look up and add to, with codes in order of first appearance.
//!
//! Parts of an input are read in parallel; each keeps a list of the names it mentions. A round of parts is then
//! resolved: the table is cut into shards by hash, every shard goes through the parts in order and tells known names
//! from new ones, and the new ones get codes by counting in (part, mention) order. Which thread did what leaves no
//! trace: the codes are those of one reader that goes through the input from start to end.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use super::Names;
use super::key::Key;

const SHARD_BITS: u32 = 4;
const SHARDS: usize = 1 << SHARD_BITS;

/// A resolved mention with this bit is new in this round: below it are the shard and the place among the shard's new
/// names. Codes stay below it.
const NEW: u32 = 1 << 31;
/// The first mention of a new name.
const FIRST: u32 = 1 << 30;
const PLACE_BITS: u32 = 30 - SHARD_BITS;
const PLACE: u32 = (1 << PLACE_BITS) - 1;

/// Codes above this do not fit.
pub(super) const MOST_NAMES: usize = NEW as usize - 1;

/// The names that a part mentions, in order; the same name may stand there more than once.
#[derive(Debug, Default)]
pub(super) struct Mentions {
    keys: Vec<Key>,
    /// Where a long name starts in the part's text.
    places: Vec<u32>,
    /// Mentions by shard, and where each shard's start.
    by_shard: Vec<u32>,
    starts: [u32; SHARDS + 1],
}

impl Mentions {
    /// Adds a name; returns its place in the list.
    #[inline(always)]
    pub(super) fn push(&mut self, key: Key, place: usize) -> u32 {
        self.keys.push(key);
        self.places.push(place as u32);
        self.keys.len() as u32 - 1
    }

    /// Number of mentions.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Sorts the mentions by shard.
    pub(super) fn finish(&mut self) {
        let mut next = [0u32; SHARDS + 1];
        for key in &self.keys {
            next[shard_of(key.hash()) + 1] += 1;
        }
        for shard in 0..SHARDS {
            next[shard + 1] += next[shard];
        }
        self.starts = next;
        self.by_shard = vec![0; self.keys.len()];
        for (mention, key) in self.keys.iter().enumerate() {
            let slot = &mut next[shard_of(key.hash())];
            self.by_shard[*slot as usize] = mention as u32;
            *slot += 1;
        }
    }

    fn of_shard(&self, shard: usize) -> &[u32] {
        &self.by_shard[self.starts[shard] as usize..self.starts[shard + 1] as usize]
    }

    /// A long name in the part's text.
    pub(super) fn long_name<'t>(&self, mention: usize, text: &'t [u8]) -> &'t [u8] {
        &text[self.places[mention] as usize..][..self.keys[mention].length()]
    }
}

/// A part's mentions and the text that long ones point into.
pub(super) type MentionsIn<'p> = (&'p Mentions, &'p [u8]);

/// All names so far.
#[derive(Debug)]
pub(super) struct Interner {
    shards: Vec<Shard>,
    known: Known,
}

/// Names with codes, one behind the other.
#[derive(Debug, Default)]
struct Known {
    text: Vec<u8>,
    ends: Vec<usize>,
}

/// Open addressing with linear probing: a slot holds a key in its low 96 bits and the code above, so that a look-up of
/// a short name touches one cache line.
#[derive(Debug, Default)]
struct Shard {
    slots: Vec<u128>,
    used: usize,
    /// Slots of the names that are new in this round, with their first mentions.
    new: Vec<(u32, u32, u32)>,
    codes: Vec<AtomicU32>,
}

impl Default for Interner {
    fn default() -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Shard::default()).collect(),
            known: Known::default(),
        }
    }
}

impl Known {
    fn name(&self, code: usize) -> &[u8] {
        let start = if code == 0 { 0 } else { self.ends[code - 1] };
        &self.text[start..self.ends[code]]
    }
}

impl Interner {
    /// Number of names.
    pub(super) fn len(&self) -> usize {
        self.known.ends.len()
    }

    /// The code of a name, if it is known; `long` gives the name where the key does not hold it.
    #[inline(always)]
    pub(super) fn find<'n>(&self, key: Key, long: impl Fn() -> &'n [u8]) -> Option<u32> {
        let hash = key.hash();
        let slots = &self.shards[shard_of(hash)].slots[..];
        let mask = slots.len().wrapping_sub(1);
        let mut at = hash as usize & mask;
        loop {
            let slot = *slots.get(at)?;
            if slot & Key::MASK == key.bits() {
                let code = (slot >> 96) as u32;
                if !key.is_long() || self.known.name(code as usize) == long() {
                    return Some(code);
                }
            } else if slot == 0 {
                return None;
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds the names that the parts mention; returns the code of every mention of every part.
    pub(super) fn resolve(&mut self, parts: &[MentionsIn<'_>]) -> Vec<Vec<u32>> {
        let Self { shards, known } = self;
        let by_shard: Vec<Vec<u32>> = shards
            .par_iter_mut()
            .enumerate()
            .map(|(number, shard)| shard.resolve(number, parts, known))
            .collect();
        let mut codes = gather(parts, &by_shard);
        drop(by_shard);
        self.name_new(parts, &mut codes);
        self.shards.par_iter_mut().for_each(Shard::settle);
        codes
    }

    /// Gives codes to the new names, in order of first mention, and replaces resolved mentions by codes.
    fn name_new(&mut self, parts: &[MentionsIn<'_>], resolved: &mut [Vec<u32>]) {
        let sizes: Vec<(usize, usize)> = parts
            .par_iter()
            .zip(&*resolved)
            .map(|((mentions, _), resolved)| {
                let first = mentions
                    .keys
                    .iter()
                    .zip(resolved)
                    .filter(|(_, code)| is_first(**code));
                first.fold((0, 0), |(names, bytes), (key, _)| {
                    (names + 1, bytes + key.length())
                })
            })
            .collect();
        let (names, bytes) = sizes
            .iter()
            .fold((0, 0), |sum, size| (sum.0 + size.0, sum.1 + size.1));
        let Known { text, ends } = &mut self.known;
        let (mut code, mut end) = (ends.len(), text.len());
        ends.resize(code + names, 0);
        text.resize(end + bytes, 0);
        let (mut ends, mut text) = (&mut ends[code..], &mut text[end..]);
        let mut jobs = Vec::with_capacity(parts.len());
        for ((part, resolved), &(names, bytes)) in parts.iter().zip(&*resolved).zip(&sizes) {
            let (part_ends, rest) = ends.split_at_mut(names);
            ends = rest;
            let (part_text, rest) = text.split_at_mut(bytes);
            text = rest;
            jobs.push((part, resolved, code, end, part_ends, part_text));
            code += names;
            end += bytes;
        }
        let shards = &self.shards;
        jobs.into_par_iter()
            .for_each(|((mentions, source), resolved, mut code, base, ends, text)| {
                let (mut at, mut next) = (0, 0);
                for (mention, &place) in resolved.iter().enumerate().filter(|(_, place)| is_first(**place)) {
                    let key = mentions.keys[mention];
                    let length = key.length();
                    if key.is_long() {
                        text[at..at + length].copy_from_slice(mentions.long_name(mention, source));
                    } else if let Some(window) = text[at..].first_chunk_mut::<16>() {
                        // A copy of known length is cheaper; what it writes too much is overwritten by the next name.
                        *window = key.bytes();
                    } else {
                        text[at..at + length].copy_from_slice(&key.bytes()[..length]);
                    }
                    at += length;
                    ends[next] = base + at;
                    next += 1;
                    shards[shard_of_new(place)].codes[(place & PLACE) as usize]
                        .store(code as u32, Ordering::Relaxed);
                    code += 1;
                }
            });
        resolved.par_iter_mut().for_each(|resolved| {
            for code in resolved.iter_mut().filter(|code| **code & NEW != 0) {
                *code = shards[shard_of_new(*code)].codes[(*code & PLACE) as usize].load(Ordering::Relaxed);
            }
        });
    }

    /// The names in order of code; none if one of them is not UTF-8.
    pub(super) fn into_names(self) -> Option<Names> {
        drop(self.shards);
        Names::from_text(String::from_utf8(self.known.text).ok()?, self.known.ends)
    }
}

impl Shard {
    /// Looks the shard's mentions up, part after part, and adds the new names.
    fn resolve(&mut self, number: usize, parts: &[MentionsIn<'_>], known: &Known) -> Vec<u32> {
        let mentions = parts
            .iter()
            .map(|(mentions, _)| mentions.of_shard(number).len())
            .sum();
        self.reserve(mentions);
        let mut resolved = Vec::with_capacity(mentions);
        for (part, (mentions, text)) in parts.iter().enumerate() {
            for &mention in mentions.of_shard(number) {
                let key = mentions.keys[mention as usize];
                let found = self.find_or_add(key, (part as u32, mention), parts, known, text);
                resolved.push(if found & NEW == 0 {
                    found
                } else {
                    found | (number as u32) << PLACE_BITS
                });
            }
        }
        self.codes.resize_with(self.new.len(), AtomicU32::default);
        resolved
    }

    #[inline(always)]
    fn find_or_add(
        &mut self,
        key: Key,
        (part, mention): (u32, u32),
        parts: &[MentionsIn<'_>],
        known: &Known,
        text: &[u8],
    ) -> u32 {
        let mask = self.slots.len() - 1;
        let mut at = key.hash() as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                let place = self.new.len() as u32;
                self.slots[at] = key.bits() | u128::from(NEW | place) << 96;
                self.new.push((at as u32, part, mention));
                return NEW | FIRST | place;
            }
            if slot & Key::MASK == key.bits() {
                let code = (slot >> 96) as u32;
                if !key.is_long() {
                    return code;
                }
                let name = parts[part as usize].0.long_name(mention as usize, text);
                let other = if code & NEW == 0 {
                    known.name(code as usize)
                } else {
                    let (_, part, mention) = self.new[(code & PLACE) as usize];
                    let (mentions, text) = parts[part as usize];
                    mentions.long_name(mention as usize, text)
                };
                if name == other {
                    return code;
                }
            }
            at = (at + 1) & mask;
        }
    }

    /// Makes room for this many names more, so that slots do not move within a round.
    fn reserve(&mut self, more: usize) {
        self.new.clear();
        let needed = room_for(self.used + more);
        if needed > self.slots.len() {
            self.resize(needed);
        }
    }

    fn resize(&mut self, size: usize) {
        let old = std::mem::replace(&mut self.slots, vec![0; size]);
        for slot in old.into_iter().filter(|&slot| slot != 0) {
            let mut at = Key::from_bits(slot).hash() as usize & (size - 1);
            while self.slots[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = slot;
        }
    }

    /// Writes the codes of the round's new names into their slots.
    fn settle(&mut self) {
        for ((at, _, _), code) in self.new.iter().zip(&self.codes) {
            let slot = &mut self.slots[*at as usize];
            *slot = *slot & Key::MASK | u128::from(code.load(Ordering::Relaxed)) << 96;
        }
        self.used += self.new.len();
        // Few of many mentions were new: a small table stays in the cache.
        if 4 * room_for(self.used) <= self.slots.len() {
            self.resize(room_for(self.used));
        }
    }
}

/// Puts what the shards found in the order of each part's mentions.
fn gather(parts: &[MentionsIn<'_>], by_shard: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut starts = [0; SHARDS];
    let places: Vec<[usize; SHARDS]> = parts
        .iter()
        .map(|(mentions, _)| {
            let here = starts;
            for (shard, start) in starts.iter_mut().enumerate() {
                *start += mentions.of_shard(shard).len();
            }
            here
        })
        .collect();
    parts
        .par_iter()
        .zip(places)
        .map(|((mentions, _), places)| {
            let mut resolved = vec![0; mentions.len()];
            for (shard, start) in places.into_iter().enumerate() {
                let found = &by_shard[shard][start..];
                for (&mention, &code) in mentions.of_shard(shard).iter().zip(found) {
                    resolved[mention as usize] = code;
                }
            }
            resolved
        })
        .collect()
}

/// Slots for this many names: a power of two, at most four in five taken.
fn room_for(names: usize) -> usize {
    (names * 5 / 4 + 1).next_power_of_two()
}

fn is_first(resolved: u32) -> bool {
    resolved & (NEW | FIRST) == NEW | FIRST
}

fn shard_of(hash: u64) -> usize {
    (hash >> (64 - SHARD_BITS)) as usize
}

fn shard_of_new(resolved: u32) -> usize {
    (resolved >> PLACE_BITS) as usize & (SHARDS - 1)
}
