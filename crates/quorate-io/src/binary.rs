//! Numbers and texts of the files that only this library reads: kept labels, and labels on disk.

use std::io::{Read, Result, Write};

/// Bytes that are reserved for what a file says it holds, at most: a damaged one may say anything.
const RESERVED: u64 = 1 << 20;

/// Numbers between two conversions.
const BATCH: usize = 1 << 14;

pub(crate) fn write_numbers<const N: usize>(
    output: &mut impl Write,
    numbers: impl Iterator<Item = [u8; N]>,
) -> Result<()> {
    let mut piece = Vec::with_capacity(BATCH * N);
    for number in numbers {
        if piece.len() == piece.capacity() {
            output.write_all(&piece)?;
            piece.clear();
        }
        piece.extend_from_slice(&number);
    }
    output.write_all(&piece)
}

/// Reads so many numbers in place of those that are there.
pub(crate) fn read_numbers<T, const N: usize>(
    input: &mut impl Read,
    count: usize,
    number: fn([u8; N]) -> T,
    numbers: &mut Vec<T>,
) -> Result<()> {
    numbers.clear();
    numbers.reserve(count.min(RESERVED as usize));
    let mut buffer = vec![0; BATCH * N];
    while numbers.len() < count {
        let bytes = &mut buffer[..(count - numbers.len()).min(BATCH) * N];
        input.read_exact(bytes)?;
        numbers.extend(bytes.as_chunks::<N>().0.iter().map(|&bytes| number(bytes)));
    }
    Ok(())
}

pub(crate) fn read_array<const N: usize>(input: &mut impl Read) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

pub(crate) fn read_u32(input: &mut impl Read) -> Result<u32> {
    read_array(input).map(u32::from_le_bytes)
}

pub(crate) fn read_u64(input: &mut impl Read) -> Result<u64> {
    read_array(input).map(u64::from_le_bytes)
}

/// Reads so many bytes in place of those that are there.
pub(crate) fn read_bytes(input: &mut impl Read, count: u64, bytes: &mut Vec<u8>) -> Result<()> {
    bytes.clear();
    bytes.reserve(count.min(RESERVED) as usize);
    match input.take(count).read_to_end(bytes)? as u64 {
        read if read == count => Ok(()),
        _ => Err(std::io::ErrorKind::UnexpectedEof.into()),
    }
}

/// A text behind its length.
pub(crate) fn push_text(bytes: &mut Vec<u8>, text: &[u8]) {
    bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
    bytes.extend_from_slice(text);
}

/// Reads what [`push_text`] wrote in place of the bytes that are there.
pub(crate) fn read_text(input: &mut impl Read, bytes: &mut Vec<u8>) -> Result<()> {
    let length = read_u32(input)?;
    read_bytes(input, length.into(), bytes)
}
