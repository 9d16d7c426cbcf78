//! Where the fields of plain delimited text end, 64 bytes at a time.

/// Reserve behind a text, so that the last field can be read in one go.
pub(crate) const PADDING: usize = 64;

/// What is in a text besides plain rows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// A quote or a NUL byte.
    pub special: bool,
    /// Carriage returns.
    pub returns: u32,
    /// Line feeds.
    pub lines: usize,
}

/// Lists the places of delimiters and line feeds in the first `length` bytes of `text`, which has at least
/// [`PADDING`] bytes more.
pub(crate) fn find_ends(text: &[u8], length: usize, delimiter: u8, places: &mut Vec<u32>) -> Seen {
    let mut seen = Seen::default();
    let mut found = [0; 64];
    places.clear();
    for (block, bytes) in text[..length + PADDING].as_chunks::<64>().0.iter().enumerate() {
        let base = block * 64;
        if base >= length {
            break;
        }
        let mut ends = end_bits(bytes, delimiter);
        if length - base >= 64 {
            seen.note(bytes);
        } else {
            // The last block holds bytes of the padding.
            ends &= u64::MAX >> (64 - (length - base));
            seen.note(&bytes[..length - base]);
        }
        let count = ends.count_ones() as usize;
        for place in &mut found[..count] {
            *place = base as u32 + ends.trailing_zeros();
            ends &= ends - 1;
        }
        places.extend_from_slice(&found[..count]);
    }
    seen
}

impl Seen {
    #[inline(always)]
    fn note(&mut self, bytes: &[u8]) {
        self.lines += count(bytes, |byte| byte == b'\n') as usize;
        // One look for all that is rare.
        if count(bytes, |byte| (byte == b'"') | (byte == 0) | (byte == b'\r')) > 0 {
            self.special |= bytes.iter().any(|byte| matches!(byte, b'"' | 0));
            self.returns += count(bytes, |byte| byte == b'\r');
        }
    }
}

/// A bit for each byte that is a delimiter or a line feed. Comparisons of whole blocks become vector instructions on
/// every processor; the multiplication gathers eight zeros and ones into a byte.
#[inline(always)]
fn end_bits(bytes: &[u8; 64], delimiter: u8) -> u64 {
    let mut found = [0u8; 64];
    for (found, &byte) in found.iter_mut().zip(bytes) {
        *found = u8::from(byte == delimiter) | u8::from(byte == b'\n');
    }
    let words = found.as_chunks::<8>().0.iter().enumerate();
    words.fold(0, |bits, (place, word)| {
        let gathered = u64::from_le_bytes(*word).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        bits | gathered << (8 * place)
    })
}

/// How many of the bytes are among the wanted ones.
#[inline(always)]
fn count(bytes: &[u8], wanted: impl Fn(u8) -> bool) -> u32 {
    u32::from(bytes.iter().map(|&byte| u8::from(wanted(byte))).sum::<u8>())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn finds_what_a_loop_finds(bytes in proptest::collection::vec(prop_oneof![Just(b','), Just(b'\n'), Just(b'\r'), Just(b'"'), Just(0u8), any::<u8>()], 0..300)) {
            let mut text = bytes.clone();
            text.resize(bytes.len() + PADDING, b',');
            let mut places = Vec::new();
            let seen = find_ends(&text, bytes.len(), b',', &mut places);
            let expected: Vec<u32> = (0..bytes.len() as u32).filter(|&place| matches!(bytes[place as usize], b',' | b'\n')).collect();
            prop_assert_eq!(places, expected);
            prop_assert_eq!(seen.special, bytes.iter().any(|byte| matches!(byte, 0 | b'"')));
            prop_assert_eq!(seen.lines, bytes.iter().filter(|&&byte| byte == b'\n').count());
            prop_assert_eq!(seen.returns as usize, bytes.iter().filter(|&&byte| byte == b'\r').count());
        }
    }
}
