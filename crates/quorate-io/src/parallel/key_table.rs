//! The hash table of keys and their codes: buckets with linear probing, in shards that are filled by a thread
//! each.

use std::sync::atomic::{AtomicU32, Ordering};

use quorate_machine::prefetch;
use rayon::prelude::*;

use super::interner::KnownNames;
use super::key::Key;
use super::mentions::{ByShard, MentionsIn, SHARDS};

/// A resolved mention with this bit is new in this round: below it are the shard and the index among the
/// shard's new names. Codes stay below it.
pub(super) const NEW: u32 = 1 << 31;
/// The first mention of a new name.
const FIRST: u32 = 1 << 30;
const INDEX_BITS: u32 = 30 - SHARDS.ilog2();
const INDEX: u32 = (1 << INDEX_BITS) - 1;

/// Buckets of all shards, one shard behind the other. A key's home is given by the high bits of its hash, of
/// which the first choose the shard; where a bucket is full it goes on to the next one of the shard.
#[derive(Debug)]
pub(super) struct KeyTable {
    buckets: Vec<Bucket>,
    shards: Vec<Shard>,
}

/// Slots that fill a cache line: a look-up in a table that has outgrown the cache waits for one line.
#[derive(Debug, Clone, Default)]
#[repr(align(64))]
struct Bucket {
    /// Those that are taken come first.
    keys: [Key; SLOTS],
    codes: [u32; SLOTS],
}

/// Slots of a bucket.
const SLOTS: usize = 3;

/// What a shard knows besides its buckets.
#[derive(Debug, Default)]
struct Shard {
    used: usize,
    /// The names that are new in this round: bucket and slot, and the first mention.
    new: Vec<(u32, u8, u32, u32)>,
    codes: Vec<AtomicU32>,
}

/// The buckets of one shard.
struct Buckets<'t> {
    own: &'t mut [Bucket],
    /// Number of buckets of all shards.
    total: usize,
}

impl Default for KeyTable {
    fn default() -> Self {
        Self {
            buckets: vec![Bucket::default(); SHARDS],
            shards: (0..SHARDS).map(|_| Shard::default()).collect(),
        }
    }
}

/// The bucket where a key belongs, of so many, a power of two.
#[inline(always)]
fn home(key: Key, buckets: usize) -> usize {
    (key.hash() >> (64 - buckets.ilog2())) as usize & (buckets - 1)
}

impl KeyTable {
    /// The code of a name, if it is known; `is_it` tells whether a name with the same key is the one.
    pub(super) fn find(&self, key: Key, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let inner = self.buckets.len() / SHARDS - 1;
        let mut at = home(key, self.buckets.len());
        loop {
            let Bucket { keys, codes } = &self.buckets[at];
            for (&known, &code) in keys.iter().zip(codes) {
                if known == key && is_it(code) {
                    return Some(code);
                }
                if known == Key::NONE {
                    return None;
                }
            }
            at = at & !inner | (at + 1) & inner;
        }
    }

    /// Prefetches the home bucket of a key that will be looked up soon.
    #[inline(always)]
    pub(super) fn prefetch(&self, key: Key) {
        prefetch(&self.buckets, home(key, self.buckets.len()));
    }

    /// Looks up to 64 keys up in their home buckets: the codes found there, and a bit for each key that is
    /// not there. No branch depends on a key, so that look-ups do not wait for each other.
    #[inline(always)]
    pub(super) fn look_up(&self, keys: &[Key], codes: &mut [u32]) -> u64 {
        let buckets = &self.buckets[..];
        let mut missed = 0;
        for (index, (key, code)) in keys.iter().zip(codes).enumerate() {
            let bucket = &buckets[home(*key, buckets.len())];
            let [first, second, third] = bucket.keys.map(|known| known == *key);
            *code = bucket.codes[usize::from(second) + 2 * usize::from(third)];
            missed |= u64::from(!(first | second | third)) << index;
        }
        missed
    }

    /// Each shard's number, buckets and the rest, for all threads.
    fn shards(&mut self) -> impl IndexedParallelIterator<Item = (usize, (Buckets<'_>, &mut Shard))> {
        let total = self.buckets.len();
        let buckets = self.buckets.par_chunks_mut(total / SHARDS);
        let buckets = buckets.map(move |own| Buckets { own, total });
        buckets.zip(&mut self.shards).enumerate()
    }

    /// Takes names that are not there yet, with their codes; `names` gives those of a shard.
    pub(super) fn take<N: Iterator<Item = (Key, u32)>>(&mut self, names: impl Fn(usize) -> N + Sync) {
        let shards = (0..SHARDS).into_par_iter();
        let counts: Vec<usize> = shards.map(|shard| names(shard).count()).collect();
        self.reserve(|shard| counts[shard]);
        self.shards().for_each(|(number, (mut buckets, shard))| {
            for (key, code) in names(number) {
                buckets.put(key, code);
                shard.used += 1;
            }
        });
    }

    /// The code of a mention of a new name.
    pub(super) fn new_code(&self, resolved: u32) -> &AtomicU32 {
        let shard = (resolved >> INDEX_BITS) as usize & (SHARDS - 1);
        &self.shards[shard].codes[(resolved & INDEX) as usize]
    }

    /// Looks the mentions up, part after part in every shard, and adds the new names.
    pub(super) fn resolve(
        &mut self,
        parts: &[MentionsIn<'_>],
        spread: &[ByShard],
        known: &KnownNames,
    ) -> Vec<Vec<u32>> {
        let mentions = |shard: usize| spread.iter().map(|part| part.of_shard(shard).len()).sum();
        self.reserve(mentions);
        let resolve = |(number, (mut buckets, shard)): (usize, (Buckets<'_>, &mut Shard))| {
            shard.new.clear();
            let mut resolved = Vec::with_capacity(mentions(number));
            for (part, ((mentions, text), spread)) in parts.iter().zip(spread).enumerate() {
                for &mention in spread.of_shard(number) {
                    let key = mentions.keys[mention as usize];
                    let found = buckets.find_or_add(shard, key, (part as u32, mention), parts, known, text);
                    resolved.push(if found & NEW == 0 {
                        found
                    } else {
                        found | (number as u32) << INDEX_BITS
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
        self.shards().for_each(|(_, (buckets, shard))| {
            for (&(at, slot, _, _), code) in shard.new.iter().zip(&shard.codes) {
                buckets.own[at as usize].codes[usize::from(slot)] = code.load(Ordering::Relaxed);
            }
            shard.used += shard.new.len();
        });
        // Few of many mentions were new: a small table stays in the cache.
        let needed = self.room(|_| 0);
        if 4 * needed <= self.buckets.len() {
            self.resize(needed);
        }
    }

    /// Makes room for this many names more in each shard, so that slots do not move within a round.
    fn reserve(&mut self, more: impl Fn(usize) -> usize) {
        let needed = self.room(more);
        if needed > self.buckets.len() {
            self.resize(needed);
        }
    }

    /// Buckets for the names and this many more in each shard: a power of two, with at most two names for
    /// each bucket.
    fn room(&self, more: impl Fn(usize) -> usize) -> usize {
        let names = self.shards.iter().enumerate();
        let most = names.map(|(number, shard)| shard.used + more(number)).max();
        SHARDS * (most.unwrap_or(0) / 2 + 1).next_power_of_two()
    }

    fn resize(&mut self, buckets: usize) {
        let old = std::mem::replace(&mut self.buckets, vec![Bucket::default(); buckets]);
        let each = old.len() / SHARDS;
        self.shards().for_each(|(number, (mut buckets, _))| {
            for bucket in &old[number * each..(number + 1) * each] {
                let slots = bucket.keys.into_iter().zip(bucket.codes);
                for (key, code) in slots.take_while(|&(key, _)| key != Key::NONE) {
                    buckets.put(key, code);
                }
            }
        });
    }
}

impl Buckets<'_> {
    /// The home bucket of a key, and the mask that keeps the next bucket within the shard.
    #[inline(always)]
    fn start(&self, key: Key) -> (usize, usize) {
        let inner = self.own.len() - 1;
        (home(key, self.total) & inner, inner)
    }

    /// Adds a key that is not there.
    fn put(&mut self, key: Key, code: u32) {
        let (mut at, inner) = self.start(key);
        loop {
            let Bucket { keys, codes } = &mut self.own[at];
            if let Some(slot) = keys.iter().position(|&known| known == Key::NONE) {
                (keys[slot], codes[slot]) = (key, code);
                return;
            }
            at = (at + 1) & inner;
        }
    }

    #[inline(always)]
    fn find_or_add(
        &mut self,
        shard: &mut Shard,
        key: Key,
        (part, mention): (u32, u32),
        parts: &[MentionsIn<'_>],
        known: &KnownNames,
        text: &[u8],
    ) -> u32 {
        let (mut at, inner) = self.start(key);
        loop {
            let Bucket { keys, codes } = &mut self.own[at];
            for slot in 0..SLOTS {
                if keys[slot] == Key::NONE {
                    let index = shard.new.len() as u32;
                    (keys[slot], codes[slot]) = (key, NEW | index);
                    shard.new.push((at as u32, slot as u8, part, mention));
                    return NEW | FIRST | index;
                }
                if keys[slot] != key {
                    continue;
                }
                let code = codes[slot];
                if !key.is_long() {
                    return code;
                }
                let name = parts[part as usize].0.name(mention as usize, text);
                let other = if code & NEW == 0 {
                    known.name(code as usize)
                } else {
                    let (_, _, part, mention) = shard.new[(code & INDEX) as usize];
                    let (mentions, text) = parts[part as usize];
                    mentions.name(mention as usize, text)
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
