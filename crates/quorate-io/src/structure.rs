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
    /// Places that were listed.
    pub places: usize,
}

/// Lists the places of delimiters and line feeds in the first `length` bytes of `text`, which has at least
/// [`PADDING`] bytes more, behind the place before the first byte, `u32::MAX`: so every field stands between two places.
/// The list keeps what else was in it: clearing it would cost as much as finding a third of the places.
#[inline(always)]
pub(crate) fn find_ends(text: &[u8], length: usize, delimiter: u8, places: &mut Vec<u32>) -> Seen {
    let mut seen = Seen::default();
    // Room for whatever may be found: lists grow once and are used again.
    if places.len() < length + 1 + SLACK {
        places.resize(length + 1 + SLACK, 0);
    }
    places[0] = u32::MAX;
    let mut count = 1;
    for (block, bytes) in text[..length + PADDING].as_chunks::<64>().0.iter().enumerate() {
        let base = block * 64;
        if base >= length {
            break;
        }
        // The last block holds bytes of the padding.
        let inside = u64::MAX >> 64usize.saturating_sub(length - base);
        let lines = Bits::of(bytes, b'\n').0 & inside;
        let ends = Bits::of(bytes, delimiter).0 & inside | lines;
        seen.lines += lines.count_ones() as usize;
        if has_special(bytes) {
            seen.special |= (Bits::of(bytes, b'"').0 | Bits::of(bytes, 0).0) & inside != 0;
            seen.returns += (Bits::of(bytes, b'\r').0 & inside).count_ones();
        }
        write_places(ends, base as u32, &mut places[count..]);
        count += ends.count_ones() as usize;
    }
    seen.places = count;
    seen
}

/// Places that may be written behind the last one.
const SLACK: usize = 64;

/// Writes the places of the bits, and whatever behind them: a fixed number of steps for the usual count is cheaper than a
/// loop that ends at the last bit.
#[inline(always)]
fn write_places(mut bits: u64, base: u32, places: &mut [u32]) {
    const USUAL: usize = 16;
    let count = bits.count_ones() as usize;
    let Some(places) = places.first_chunk_mut::<64>() else {
        return;
    };
    for place in &mut places[..USUAL] {
        *place = base.wrapping_add(bits.trailing_zeros());
        bits &= bits.wrapping_sub(1);
    }
    if count > USUAL {
        for place in &mut places[USUAL..count] {
            *place = base + bits.trailing_zeros();
            bits &= bits.wrapping_sub(1);
        }
    }
}

/// A bit for each of 64 bytes.
struct Bits(u64);

impl Bits {
    /// The bytes that are the wanted one. Gathering the bits of comparisons is one instruction, which the compiler does not
    /// find by itself: without it, finding ends takes four times as long.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    #[allow(unsafe_code)]
    fn of(bytes: &[u8; 64], wanted: u8) -> Self {
        use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set_epi64x, _mm_set1_epi8};
        let found = |word: &[u8; 16]| {
            let [low, high] = [word.as_chunks().0[0], word.as_chunks().0[1]].map(i64::from_le_bytes);
            // SAFETY: every processor of this family has these instructions.
            unsafe {
                _mm_movemask_epi8(_mm_cmpeq_epi8(
                    _mm_set_epi64x(high, low),
                    _mm_set1_epi8(wanted as i8),
                ))
            }
        };
        let words = bytes.as_chunks::<16>().0.iter().enumerate();
        Self(words.fold(0, |bits, (place, word)| {
            bits | u64::from(found(word) as u16) << (16 * place)
        }))
    }

    /// The bytes that are the wanted one. Comparisons of whole blocks become vector instructions; the multiplication gathers
    /// eight zeros and ones into a byte.
    #[cfg(not(target_arch = "x86_64"))]
    #[inline(always)]
    fn of(bytes: &[u8; 64], wanted: u8) -> Self {
        let found = bytes.map(|byte| u8::from(byte == wanted));
        let words = found.as_chunks::<8>().0.iter().enumerate();
        Self(words.fold(0, |bits, (place, word)| {
            let gathered = u64::from_le_bytes(*word).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            bits | gathered << (8 * place)
        }))
    }
}

/// Whether a quote, a zero or a carriage return is among the bytes: one look for all that is rare.
#[inline(always)]
fn has_special(bytes: &[u8; 64]) -> bool {
    let special = |byte: u8| u8::from((byte == b'"') | (byte == 0) | (byte == b'\r'));
    bytes.iter().fold(0, |any, &byte| any | special(byte)) != 0
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
            let ends = (0..bytes.len() as u32).filter(|&place| matches!(bytes[place as usize], b',' | b'\n'));
            let expected: Vec<u32> = std::iter::once(u32::MAX).chain(ends).collect();
            prop_assert_eq!(&places[..seen.places], &expected[..]);
            prop_assert_eq!(seen.special, bytes.iter().any(|byte| matches!(byte, 0 | b'"')));
            prop_assert_eq!(seen.lines, bytes.iter().filter(|&&byte| byte == b'\n').count());
            prop_assert_eq!(seen.returns as usize, bytes.iter().filter(|&&byte| byte == b'\r').count());
        }
    }
}
