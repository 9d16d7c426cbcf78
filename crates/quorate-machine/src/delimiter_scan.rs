//! Delimiter scan: where the fields of plain delimited text end, 64 bytes at a time.

/// Bytes of padding behind a text, so that the last field can be read in one go.
pub const PADDING: usize = 64;

/// What a scan found in a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    /// Whether there is a quote or a NUL byte.
    pub special: bool,
    /// Number of carriage returns.
    pub returns: u32,
    /// Number of line feeds.
    pub lines: usize,
    /// Length of the list of offsets.
    pub offsets: usize,
}

/// Lists the offsets of delimiters and line feeds in the first `length` bytes of `text`, which has at least
/// [`PADDING`] bytes more, behind `u32::MAX`, the offset before the first byte: so every field stands between
/// two offsets. The list keeps what else was in it: clearing it would cost as much as finding a third of the
/// offsets.
#[inline(always)]
pub fn find_field_ends(text: &[u8], length: usize, delimiter: u8, offsets: &mut Vec<u32>) -> Scanned {
    let mut scanned = Scanned::default();
    // Room for whatever may be found: lists grow once and are used again.
    if offsets.len() < length + 1 + SLACK {
        offsets.resize(length + 1 + SLACK, 0);
    }
    offsets[0] = u32::MAX;
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
        scanned.lines += lines.count_ones() as usize;
        if has_special(bytes) {
            scanned.special |= (Bits::of(bytes, b'"').0 | Bits::of(bytes, 0).0) & inside != 0;
            scanned.returns += (Bits::of(bytes, b'\r').0 & inside).count_ones();
        }
        write_offsets(ends, base as u32, &mut offsets[count..]);
        count += ends.count_ones() as usize;
    }
    scanned.offsets = count;
    scanned
}

/// Offsets that may be written behind the last one.
const SLACK: usize = 64;

/// Writes the offsets of the bits, and anything behind them: a fixed number of steps for the usual count is
/// cheaper than a loop that ends at the last bit.
#[inline(always)]
fn write_offsets(mut bits: u64, base: u32, offsets: &mut [u32]) {
    const USUAL: usize = 16;
    let count = bits.count_ones() as usize;
    let Some(offsets) = offsets.first_chunk_mut::<64>() else {
        return;
    };
    for offset in &mut offsets[..USUAL] {
        *offset = base.wrapping_add(bits.trailing_zeros());
        bits &= bits.wrapping_sub(1);
    }
    if count > USUAL {
        for offset in &mut offsets[USUAL..count] {
            *offset = base + bits.trailing_zeros();
            bits &= bits.wrapping_sub(1);
        }
    }
}

/// A bit for each of 64 bytes.
struct Bits(u64);

impl Bits {
    /// The bytes that are the wanted one. Gathering the bits of comparisons is one instruction, which the
    /// compiler does not find by itself: without it, finding ends takes four times as long.
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
        Self(words.fold(0, |bits, (index, word)| {
            bits | u64::from(found(word) as u16) << (16 * index)
        }))
    }

    /// The bytes that are the wanted one. Comparisons of whole blocks become vector instructions; the
    /// multiplication gathers eight zeros and ones into a byte.
    #[cfg(not(target_arch = "x86_64"))]
    #[inline(always)]
    fn of(bytes: &[u8; 64], wanted: u8) -> Self {
        let found = bytes.map(|byte| u8::from(byte == wanted));
        let words = found.as_chunks::<8>().0.iter().enumerate();
        Self(words.fold(0, |bits, (index, word)| {
            let gathered = u64::from_le_bytes(*word).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            bits | gathered << (8 * index)
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
            let mut offsets = Vec::new();
            let scanned = find_field_ends(&text, bytes.len(), b',', &mut offsets);
            let ends = (0..bytes.len() as u32).filter(|&offset| matches!(bytes[offset as usize], b',' | b'\n'));
            let expected: Vec<u32> = std::iter::once(u32::MAX).chain(ends).collect();
            prop_assert_eq!(&offsets[..scanned.offsets], &expected[..]);
            prop_assert_eq!(scanned.special, bytes.iter().any(|byte| matches!(byte, 0 | b'"')));
            prop_assert_eq!(scanned.lines, bytes.iter().filter(|&&byte| byte == b'\n').count());
            prop_assert_eq!(scanned.returns as usize, bytes.iter().filter(|&&byte| byte == b'\r').count());
        }
    }
}
