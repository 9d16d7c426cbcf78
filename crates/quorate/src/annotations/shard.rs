//! One shard of an interner: open addressing with linear probing.

use std::sync::atomic::{AtomicU32, Ordering};

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

/// A slot holds a key in its low 96 bits and the code above, so that a look-up of a short name touches one cache line.
#[derive(Debug, Default)]
pub(super) struct Shard {
    slots: Vec<u128>,
    used: usize,
    /// Slots of the names that are new in this round, with their first mentions.
    new: Vec<(u32, u32, u32)>,
    codes: Vec<AtomicU32>,
}

impl Shard {
    /// The code of a name, if it is known; `is_it` tells whether a name with the same key is the one.
    #[inline(always)]
    pub(super) fn find(&self, key: Key, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = key.hash() as usize & mask;
        loop {
            let slot = *self.slots.get(at)?;
            let code = (slot >> 96) as u32;
            if slot & Key::MASK == key.bits() && is_it(code) {
                return Some(code);
            }
            if slot == 0 {
                return None;
            }
            at = (at + 1) & mask;
        }
    }

    /// Takes names that are not there yet, with their codes.
    pub(super) fn take(&mut self, names: impl Iterator<Item = (Key, u32)> + Clone) {
        self.reserve(names.clone().count());
        let mask = self.slots.len() - 1;
        for (key, code) in names {
            let mut at = key.hash() as usize & mask;
            while self.slots[at] != 0 {
                at = (at + 1) & mask;
            }
            self.slots[at] = key.bits() | u128::from(code) << 96;
            self.used += 1;
        }
    }

    /// The code of a mention of a new name.
    pub(super) fn new_code(&self, resolved: u32) -> &AtomicU32 {
        &self.codes[(resolved & PLACE) as usize]
    }

    /// Looks the shard's mentions up, part after part, and adds the new names.
    pub(super) fn resolve(
        &mut self,
        number: usize,
        parts: &[MentionsIn<'_>],
        spread: &[ByShard],
        known: &Known,
    ) -> Vec<u32> {
        let mentions = spread.iter().map(|part| part.of_shard(number).len()).sum();
        self.reserve(mentions);
        let mut resolved = Vec::with_capacity(mentions);
        for (part, ((mentions, text), spread)) in parts.iter().zip(spread).enumerate() {
            for &mention in spread.of_shard(number) {
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
    pub(super) fn settle(&mut self) {
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

/// Slots for this many names: a power of two, at most four in five taken.
fn room_for(names: usize) -> usize {
    (names * 5 / 4 + 1).next_power_of_two()
}

/// Whether a resolved mention is the first of a new name.
pub(super) fn is_first(resolved: u32) -> bool {
    resolved & (NEW | FIRST) == NEW | FIRST
}

/// The shard of a resolved mention of a new name.
pub(super) fn shard_of_new(resolved: u32) -> usize {
    (resolved >> PLACE_BITS) as usize & (SHARDS - 1)
}
