//! The names that a part of an input mentions, and how they spread over the shards of an interner.

use super::key::Key;

const SHARD_BITS: u32 = 4;

/// Number of shards.
pub(super) const SHARDS: usize = 1 << SHARD_BITS;

/// The names that a part mentions, in order; the same name may stand there more than once.
#[derive(Debug, Default)]
pub(super) struct Mentions {
    /// Their keys.
    pub(super) keys: Vec<Key>,
    /// Where each starts in the part's text.
    offsets: Vec<u32>,
}

/// A part's mentions and the text that long ones point into.
pub(super) type MentionsIn<'p> = (&'p Mentions, &'p [u8]);

impl Mentions {
    /// Adds a name; returns its index in the list.
    #[inline(always)]
    pub(super) fn push(&mut self, key: Key, offset: u32) -> u32 {
        self.keys.push(key);
        self.offsets.push(offset);
        self.keys.len() as u32 - 1
    }

    /// Number of mentions.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Forgets all mentions.
    pub(super) fn clear(&mut self) {
        self.keys.clear();
        self.offsets.clear();
    }

    /// A name in the part's text.
    pub(super) fn name<'t>(&self, mention: usize, text: &'t [u8]) -> &'t [u8] {
        &text[self.offsets[mention] as usize..][..self.keys[mention].length()]
    }
}

/// Mentions sorted by shard.
pub(super) struct ByShard {
    mentions: Vec<u32>,
    starts: [u32; SHARDS + 1],
}

impl ByShard {
    pub(super) fn of(keys: &[Key]) -> Self {
        let mut next = [0u32; SHARDS + 1];
        for key in keys {
            next[shard_of(*key) + 1] += 1;
        }
        for shard in 0..SHARDS {
            next[shard + 1] += next[shard];
        }
        let starts = next;
        let mut mentions = vec![0; keys.len()];
        for (mention, key) in keys.iter().enumerate() {
            let slot = &mut next[shard_of(*key)];
            mentions[*slot as usize] = mention as u32;
            *slot += 1;
        }
        Self { mentions, starts }
    }

    /// Number of mentions.
    pub(super) fn len(&self) -> usize {
        self.mentions.len()
    }

    /// The mentions of one shard, in order.
    pub(super) fn of_shard(&self, shard: usize) -> &[u32] {
        &self.mentions[self.starts[shard] as usize..self.starts[shard + 1] as usize]
    }
}

/// The shard that holds a name.
#[inline(always)]
pub(super) fn shard_of(key: Key) -> usize {
    (key.hash() >> (64 - SHARD_BITS)) as usize
}
