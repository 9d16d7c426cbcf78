//! Keys and their codes: open addressing with linear probing, in shards that are filled by a thread each.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use super::interner::Known;
use super::key::Key;
use super::mentions::{ByShard, MentionsIn, SHARDS};

/// A resolved mention with this bit is new in this round: below it are the shard and the place among the shard's new
/// names. Codes stay below it.
pub(super) const NEW: u32 = 1 << 31;
/// The first mention of a new name.
const FIRST: u32 = 1 << 30;
const PLACE_BITS: u32 = 30 - SHARDS.ilog2();
const PLACE: u32 = (1 << PLACE_BITS) - 1;

/// Slots of all shards, one shard behind the other. A key's home is given by the high bits of its hash, of which the
/// first choose the shard; from there it goes on to the next free slot of the shard.
#[derive(Debug)]
pub(super) struct KeyTable {
    keys: Vec<Key>,
    codes: Vec<u32>,
    shards: Vec<Shard>,
}

/// What a shard knows besides its slots.
#[derive(Debug, Default)]
struct Shard {
    used: usize,
    /// Slots of the names that are new in this round, with their first mentions.
    new: Vec<(u32, u32, u32)>,
    codes: Vec<AtomicU32>,
}

/// The slots of one shard.
struct Slots<'t> {
    keys: &'t mut [Key],
    codes: &'t mut [u32],
    /// Number of slots of all shards.
    total: usize,
}

impl Default for KeyTable {
    fn default() -> Self {
        Self {
            keys: vec![Key::NONE; SHARDS],
            codes: vec![0; SHARDS],
            shards: (0..SHARDS).map(|_| Shard::default()).collect(),
        }
    }
}

/// Where a key belongs in a table of this many slots, a power of two.
#[inline(always)]
fn home(key: Key, slots: usize) -> usize {
    (key.hash() >> (64 - slots.ilog2())) as usize & (slots - 1)
}

impl KeyTable {
    /// The code of a name, if it is known; `is_it` tells whether a name with the same key is the one.
    pub(super) fn find(&self, key: Key, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let inner = self.keys.len() / SHARDS - 1;
        let mut at = home(key, self.keys.len());
        loop {
            let known = self.keys[at];
            if known == key && is_it(self.codes[at]) {
                return Some(self.codes[at]);
            }
            if known == Key::NONE {
                return None;
            }
            at = at & !inner | (at + 1) & inner;
        }
    }

    /// Looks at the homes of up to 64 keys: the codes found there, and a bit for each key that is not at home. No branch
    /// depends on a key, so that look-ups do not wait for each other.
    #[inline(always)]
    pub(super) fn look_up(&self, keys: &[Key], codes: &mut [u32]) -> u64 {
        let slots = &self.keys[..];
        let known = &self.codes[..slots.len()];
        let mut elsewhere = 0;
        for (place, (key, code)) in keys.iter().zip(codes).enumerate() {
            let at = home(*key, slots.len());
            *code = known[at];
            elsewhere |= u64::from(slots[at] != *key) << place;
        }
        elsewhere
    }

    /// Each shard's number, slots and the rest, for all threads.
    fn shards(&mut self) -> impl IndexedParallelIterator<Item = (usize, (Slots<'_>, &mut Shard))> {
        let (total, each) = (self.keys.len(), self.keys.len() / SHARDS);
        let keys = self.keys.par_chunks_mut(each);
        let slots = keys
            .zip(self.codes.par_chunks_mut(each))
            .map(move |(keys, codes)| Slots { keys, codes, total });
        slots.zip(&mut self.shards).enumerate()
    }

    /// Takes names that are not there yet, with their codes; `names` gives those of a shard.
    pub(super) fn take<N: Iterator<Item = (Key, u32)>>(&mut self, names: impl Fn(usize) -> N + Sync) {
        let shards = (0..SHARDS).into_par_iter();
        let counts: Vec<usize> = shards.map(|shard| names(shard).count()).collect();
        self.reserve(|shard| counts[shard]);
        self.shards().for_each(|(number, (mut slots, shard))| {
            for (key, code) in names(number) {
                slots.put(key, code);
                shard.used += 1;
            }
        });
    }

    /// The code of a mention of a new name.
    pub(super) fn new_code(&self, resolved: u32) -> &AtomicU32 {
        let shard = (resolved >> PLACE_BITS) as usize & (SHARDS - 1);
        &self.shards[shard].codes[(resolved & PLACE) as usize]
    }

    /// Looks the mentions up, part after part in every shard, and adds the new names.
    pub(super) fn resolve(
        &mut self,
        parts: &[MentionsIn<'_>],
        spread: &[ByShard],
        known: &Known,
    ) -> Vec<Vec<u32>> {
        let mentions = |shard: usize| spread.iter().map(|part| part.of_shard(shard).len()).sum();
        self.reserve(mentions);
        let resolve = |(number, (mut slots, shard)): (usize, (Slots<'_>, &mut Shard))| {
            shard.new.clear();
            let mut resolved = Vec::with_capacity(mentions(number));
            for (part, ((mentions, text), spread)) in parts.iter().zip(spread).enumerate() {
                for &mention in spread.of_shard(number) {
                    let key = mentions.keys[mention as usize];
                    let found = slots.find_or_add(shard, key, (part as u32, mention), parts, known, text);
                    resolved.push(if found & NEW == 0 {
                        found
                    } else {
                        found | (number as u32) << PLACE_BITS
                    });
                }
            }
            shard.codes.resize_with(shard.new.len(), AtomicU32::default);
            resolved
        };
        self.shards().map(resolve).collect()
    }

    /// Writes the codes of the round's new names into their slots.
    pub(super) fn settle(&mut self) {
        self.shards().for_each(|(_, (slots, shard))| {
            for ((at, _, _), code) in shard.new.iter().zip(&shard.codes) {
                slots.codes[*at as usize] = code.load(Ordering::Relaxed);
            }
            shard.used += shard.new.len();
        });
        // Few of many mentions were new: a small table stays in the cache.
        let needed = self.room(|_| 0);
        if 4 * needed <= self.keys.len() {
            self.resize(needed);
        }
    }

    /// Makes room for this many names more in each shard, so that slots do not move within a round.
    fn reserve(&mut self, more: impl Fn(usize) -> usize) {
        let needed = self.room(more);
        if needed > self.keys.len() {
            self.resize(needed);
        }
    }

    /// Slots for the names and this many more in each shard: a power of two, at most half of each shard taken.
    fn room(&self, more: impl Fn(usize) -> usize) -> usize {
        let names = self.shards.iter().enumerate();
        let most = names.map(|(number, shard)| shard.used + more(number)).max();
        SHARDS * (2 * most.unwrap_or(0) + 1).next_power_of_two()
    }

    fn resize(&mut self, slots: usize) {
        let keys = std::mem::replace(&mut self.keys, vec![Key::NONE; slots]);
        let codes = std::mem::replace(&mut self.codes, vec![0; slots]);
        let each = keys.len() / SHARDS;
        self.shards().for_each(|(number, (mut slots, _))| {
            let own = number * each..(number + 1) * each;
            for (&key, &code) in keys[own.clone()].iter().zip(&codes[own]) {
                if key != Key::NONE {
                    slots.put(key, code);
                }
            }
        });
    }
}

impl Slots<'_> {
    /// Where a key belongs, and what to keep of the place after it.
    #[inline(always)]
    fn start(&self, key: Key) -> (usize, usize) {
        let inner = self.keys.len() - 1;
        (home(key, self.total) & inner, inner)
    }

    /// Adds a key that is not there.
    fn put(&mut self, key: Key, code: u32) {
        let (mut at, inner) = self.start(key);
        while self.keys[at] != Key::NONE {
            at = (at + 1) & inner;
        }
        (self.keys[at], self.codes[at]) = (key, code);
    }

    #[inline(always)]
    fn find_or_add(
        &mut self,
        shard: &mut Shard,
        key: Key,
        (part, mention): (u32, u32),
        parts: &[MentionsIn<'_>],
        known: &Known,
        text: &[u8],
    ) -> u32 {
        let (mut at, inner) = self.start(key);
        loop {
            let found = self.keys[at];
            if found == Key::NONE {
                let place = shard.new.len() as u32;
                (self.keys[at], self.codes[at]) = (key, NEW | place);
                shard.new.push((at as u32, part, mention));
                return NEW | FIRST | place;
            }
            if found == key {
                let code = self.codes[at];
                if !key.is_long() {
                    return code;
                }
                let name = parts[part as usize].0.long_name(mention as usize, text);
                let other = if code & NEW == 0 {
                    known.name(code as usize)
                } else {
                    let (_, part, mention) = shard.new[(code & PLACE) as usize];
                    let (mentions, text) = parts[part as usize];
                    mentions.long_name(mention as usize, text)
                };
                if name == other {
                    return code;
                }
            }
            at = (at + 1) & inner;
        }
    }
}

/// Whether a resolved mention is the first of a new name.
pub(super) fn is_first(resolved: u32) -> bool {
    resolved & (NEW | FIRST) == NEW | FIRST
}
