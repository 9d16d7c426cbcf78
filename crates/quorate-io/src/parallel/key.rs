//! Keys: names as numbers of 128 bits, so that most comparisons of names are comparisons of numbers.
//!
//! A name of at most [`SHORT`] bytes without a zero is its own key, zeros behind it; the first byte tells it
//! from the key of any other name, which holds a hash and the length.

use std::hash::Hasher;

use rustc_hash::FxHasher;

/// Longest name that a key holds whole.
pub(super) const SHORT: usize = 16;

/// Longest name, in bytes, that tables read in parts take.
pub(crate) const LONGEST_NAME: usize = 64 << 10;

/// The bytes of a window that belong to a name of this length: a look-up is cheaper than shifts of 128 bits.
const KEPT: [u128; 32] = {
    let mut kept = [u128::MAX; 32];
    let mut length = 0;
    while length < SHORT {
        kept[length] = (1 << (8 * length)) - 1;
        length += 1;
    }
    kept
};

/// A name of one to [`LONGEST_NAME`] bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Key(u128);

impl Key {
    /// No name's key.
    pub(super) const NONE: Self = Self(0);

    /// The key of a name; none if it is empty or too long.
    pub(super) fn of(name: &[u8]) -> Option<Self> {
        match name.len() {
            0 => None,
            length if length > LONGEST_NAME => None,
            length if length > SHORT || name.contains(&0) => Some(Self::long(name)),
            length => {
                let mut window = [0; SHORT];
                window[..length].copy_from_slice(name);
                Some(Self(u128::from_le_bytes(window)))
            }
        }
    }

    /// The key of a name of one to [`SHORT`] bytes, none of them zero, that starts the window.
    #[inline(always)]
    pub(super) fn of_window(window: [u8; SHORT], length: u32) -> Self {
        Self(u128::from_le_bytes(window) & KEPT[length as usize % KEPT.len()])
    }

    fn long(name: &[u8]) -> Self {
        let mut hasher = FxHasher::default();
        hasher.write(name);
        Self(u128::from(hasher.finish()) << 64 | (name.len() as u128) << 8)
    }

    /// The number that stands for the key.
    pub(super) fn bits(self) -> u128 {
        self.0
    }

    /// Whether the key does not hold the name.
    #[inline(always)]
    pub(super) fn is_long(self) -> bool {
        self.0 as u8 == 0
    }

    /// Length of the name.
    #[inline(always)]
    pub(super) fn length(self) -> usize {
        if self.is_long() {
            (self.0 as u64 >> 8) as usize
        } else {
            SHORT - self.0.leading_zeros() as usize / 8
        }
    }

    /// A number that orders names that the keys hold as their bytes do.
    #[inline(always)]
    pub(super) fn spelling(self) -> u128 {
        self.0.swap_bytes()
    }

    /// The name, zeros behind it, if the key holds it.
    #[inline(always)]
    pub(super) fn bytes(self) -> [u8; SHORT] {
        self.0.to_le_bytes()
    }

    /// Spreads keys over tables; the high bits are the good ones.
    #[inline(always)]
    pub(super) fn hash(self) -> u64 {
        let (low, high) = (self.0 as u64, (self.0 >> 64) as u64);
        (low ^ high.wrapping_mul(0xd6e8_feb8_6659_fd93)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_have_keys_that_differ() {
        let names: Vec<Vec<u8>> = [
            &b"a"[..],
            b"a\0",
            b"\0a",
            b"\0",
            b"a\0b",
            b"ab",
            b"0123456789abcdef",
        ]
        .into_iter()
        .map(<[u8]>::to_vec)
        .chain((17..40).map(|length| vec![b'x'; length]))
        .collect();
        for (index, name) in names.iter().enumerate() {
            let key = Key::of(name).unwrap();
            assert_ne!(key, Key::NONE);
            assert_eq!(key.length(), name.len());
            assert_eq!(key.is_long(), name.len() > SHORT || name.contains(&0));
            assert!(names[..index].iter().all(|other| Key::of(other) != Some(key)));
        }
        assert_eq!(Key::of(b""), None);
        assert_eq!(Key::of(&vec![b'x'; LONGEST_NAME + 1]), None);
    }

    #[test]
    fn a_window_gives_the_key_of_the_name_at_its_start() {
        let window = *b"0123456789abcdef";
        for length in 1..=SHORT {
            let key = Key::of_window(window, length as u32);
            assert_eq!(Some(key), Key::of(&window[..length]));
            assert_eq!(&key.bytes()[..length], &window[..length]);
        }
    }
}
