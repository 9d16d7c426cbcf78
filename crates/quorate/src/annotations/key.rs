//! Names as fixed-size keys, so that most comparisons of names are comparisons of numbers.
//!
//! A key has 96 bits: a name of at most [`SHORT`] bytes whole, with its length; of a longer name a hash and the length.

use std::hash::Hasher;

use rustc_hash::FxHasher;

/// Longest name that a key holds whole.
pub(super) const SHORT: usize = 11;

/// Longest name that a key can stand for.
const LONGEST: usize = (1 << 24) - 1;

const LENGTH_AT: u32 = 88;
const LONG: u128 = 0xff;

/// The bytes of a window that belong to a name of this length: a look-up is cheaper than shifts of 128 bits.
const KEPT: [u128; 16] = {
    let mut kept = [0; 16];
    let mut length = 0;
    while length < 16 {
        kept[length] = (1 << (8 * length)) - 1;
        length += 1;
    }
    kept
};

/// A name of one to [`LONGEST`] bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key(u128);

impl Key {
    /// No name's key.
    pub(super) const NONE: Self = Self(0);

    /// Bits of a key; those above are free for other uses.
    pub(super) const MASK: u128 = (1 << 96) - 1;

    /// The key of a name, which is not empty.
    pub(super) fn of(name: &[u8]) -> Option<Self> {
        if name.len() > SHORT {
            return Self::long(name);
        }
        let mut window = [0; 16];
        window[..name.len()].copy_from_slice(name);
        (!name.is_empty()).then(|| Self::of_window(u128::from_le_bytes(window), name.len()))
    }

    /// The key of a name of one to [`SHORT`] bytes that starts a window of 16.
    #[inline(always)]
    pub(super) fn of_window(window: u128, length: usize) -> Self {
        debug_assert!((1..=SHORT).contains(&length));
        Self(window & KEPT[length & 15] | (length as u128) << LENGTH_AT)
    }

    fn long(name: &[u8]) -> Option<Self> {
        if name.len() > LONGEST {
            return None;
        }
        let mut hasher = FxHasher::default();
        hasher.write(name);
        let hash = u128::from(hasher.finish());
        Some(Self(hash | (name.len() as u128) << 64 | LONG << LENGTH_AT))
    }

    /// The number that stands for the key; never 0.
    #[inline(always)]
    pub(super) fn bits(self) -> u128 {
        self.0
    }

    /// A key from its number.
    pub(super) fn from_bits(bits: u128) -> Self {
        Self(bits & Self::MASK)
    }

    /// Whether the name is too long for the key to hold it.
    #[inline(always)]
    pub(super) fn is_long(self) -> bool {
        self.0 >> LENGTH_AT == LONG
    }

    /// Length of the name.
    #[inline(always)]
    pub(super) fn length(self) -> usize {
        if self.is_long() {
            (self.0 >> 64) as usize & LONGEST
        } else {
            (self.0 >> LENGTH_AT) as usize
        }
    }

    /// A number that orders names of at most [`SHORT`] bytes as their bytes do, but for zeros at the end.
    #[inline(always)]
    pub(super) fn spelling(self) -> u128 {
        self.0.swap_bytes() >> (128 - 8 * SHORT)
    }

    /// The first bytes; the whole name if it is short.
    #[inline(always)]
    pub(super) fn bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }

    /// Spreads keys over tables.
    #[inline(always)]
    pub(super) fn hash(self) -> u64 {
        let (low, high) = (self.0 as u64, (self.0 >> 64) as u64);
        let product = u128::from(low ^ 0x9e37_79b9_7f4a_7c15) * u128::from(high ^ 0xd6e8_feb8_6659_fd93);
        product as u64 ^ (product >> 64) as u64
    }
}
