//! The sizes that an Arrow file states, checked before anything is decoded.
//!
//! A compressed buffer starts with the length that it unpacks to, and the decoder allocates that much. One
//! damaged byte there asks for more memory than there is, which ends the process. So all messages of a file
//! are looked at first: what they state must lie within the file, must be possible for the way it is packed,
//! and must fit into memory.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use arrow_ipc::reader::read_footer_length;
use arrow_ipc::{
    Block, CompressionType, Message, MessageHeader, RecordBatch, root_as_footer, root_as_message,
};

use super::columnar::damaged;
use crate::error::Result;
use crate::memory;

/// What LZ4 and Zstandard make of a byte at most, with room to spare.
const MAX_BY_LZ4: u64 = 1 << 8;
const MAX_BY_ZSTD: u64 = 1 << 16;

/// Unpacked bytes that a small buffer may come to by its headers alone.
const SLACK: u64 = 1 << 16;

/// What marks the start of a message.
const MARK: [u8; 4] = [0xff; 4];

/// What the file form ends in: the length of the footer and the magic word.
const TAIL: u64 = 10;

/// Checks a file with a footer.
pub(super) fn check_file(file: &File, length: u64) -> Result<()> {
    let mut input = BufReader::new(file);
    let start = length
        .checked_sub(TAIL)
        .ok_or_else(|| damaged(super::arrow::NAME, &"too short"))?;
    let mut tail = [0; TAIL as usize];
    input.seek(SeekFrom::Start(start))?;
    input.read_exact(&mut tail)?;
    let footer_length = read_footer_length(tail).map_err(|error| damaged(super::arrow::NAME, &error))? as u64;
    let start = start.checked_sub(footer_length).ok_or_else(outside)?;
    let footer = read_at(&mut input, start, footer_length)?;
    let footer = root_as_footer(&footer).map_err(|error| damaged(super::arrow::NAME, &error))?;
    let blocks = footer.dictionaries().into_iter().chain(footer.recordBatches());
    for block in blocks.flatten() {
        let [offset, metadata, body] = sizes_of(block).ok_or_else(outside)?;
        let end = offset.checked_add(metadata).and_then(|end| end.checked_add(body));
        if end.is_none_or(|end| end > length) {
            return Err(outside());
        }
        let text = read_at(&mut input, offset, metadata)?;
        let text = match text.strip_prefix(&MARK) {
            Some(rest) => rest.get(4..),
            None => text.get(4..),
        };
        let message = root_as_message(text.ok_or_else(outside)?)
            .map_err(|error| damaged(super::arrow::NAME, &error))?;
        check_message(&mut input, message, offset + metadata, body)?;
    }
    input.rewind()?;
    Ok(())
}

/// Checks a stream of messages.
pub(super) fn check_stream(file: &File, length: u64) -> Result<()> {
    let mut input = BufReader::new(file);
    let mut at = 0;
    while at + 4 <= length {
        let mut word = read_at(&mut input, at, 4)?;
        at += 4;
        if word == MARK {
            word = read_at(&mut input, at, 4)?;
            at += 4;
        }
        let metadata = word.try_into().map_or(0, u32::from_le_bytes);
        if metadata == 0 {
            break;
        }
        let text = if at + u64::from(metadata) <= length {
            read_at(&mut input, at, u64::from(metadata))?
        } else {
            return Err(outside());
        };
        at += u64::from(metadata);
        let message = root_as_message(&text).map_err(|error| damaged(super::arrow::NAME, &error))?;
        let body = u64::try_from(message.bodyLength()).map_err(|_| outside())?;
        let end = at
            .checked_add(body)
            .filter(|&end| end <= length)
            .ok_or_else(outside)?;
        check_message(&mut input, message, at, body)?;
        at = end;
    }
    input.rewind()?;
    Ok(())
}

/// Offset, length of the metadata and length of the body.
fn sizes_of(block: &Block) -> Option<[u64; 3]> {
    let sizes = [
        block.offset(),
        i64::from(block.metaDataLength()),
        block.bodyLength(),
    ];
    let [offset, metadata, body] = sizes.map(u64::try_from);
    Some([offset.ok()?, metadata.ok()?, body.ok()?])
}

/// Checks the buffers of a message whose body is at `start`, `length` bytes of it.
fn check_message(
    input: &mut (impl Read + Seek),
    message: Message<'_>,
    start: u64,
    length: u64,
) -> Result<()> {
    let batch = match message.header_type() {
        MessageHeader::RecordBatch => message.header_as_record_batch(),
        MessageHeader::DictionaryBatch => message
            .header_as_dictionary_batch()
            .and_then(|batch| batch.data()),
        _ => None,
    };
    let Some(batch) = batch else {
        return Ok(());
    };
    let most = match batch.compression().map(|packed| packed.codec()) {
        None => None,
        Some(CompressionType::LZ4_FRAME) => Some(MAX_BY_LZ4),
        Some(_) => Some(MAX_BY_ZSTD),
    };
    // Held packed, unpacked, and once more as text.
    let unpacked = unpacked_bytes(input, &batch, most, start, length)?;
    memory::check(length.saturating_add(unpacked.saturating_mul(2)))
}

/// Bytes that all buffers of a batch unpack to; `most` is what a packed byte may come to.
fn unpacked_bytes(
    input: &mut (impl Read + Seek),
    batch: &RecordBatch<'_>,
    most: Option<u64>,
    start: u64,
    length: u64,
) -> Result<u64> {
    let mut total = 0u64;
    for buffer in batch.buffers().into_iter().flatten() {
        let (Ok(offset), Ok(size)) = (u64::try_from(buffer.offset()), u64::try_from(buffer.length())) else {
            return Err(outside());
        };
        if offset.checked_add(size).is_none_or(|end| end > length) {
            return Err(outside());
        }
        let stated = match most {
            Some(_) if size >= 8 => {
                let stated = read_at(input, start + offset, 8)?;
                stated.try_into().map_or(0, i64::from_le_bytes)
            }
            _ => -1,
        };
        // -1: it is not packed.
        let stated = u64::try_from(stated).unwrap_or(size);
        if most.is_some_and(|most| stated > size.saturating_mul(most).saturating_add(SLACK)) {
            return Err(damaged(
                super::arrow::NAME,
                &format!("{size} bytes cannot unpack to {stated}"),
            ));
        }
        total = total.saturating_add(stated);
    }
    Ok(total)
}

/// So many bytes from a place on.
fn read_at(input: &mut (impl Read + Seek), start: u64, length: u64) -> Result<Vec<u8>> {
    memory::check(length)?;
    let mut bytes = Vec::new();
    input.seek(SeekFrom::Start(start))?;
    input.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length {
        Ok(bytes)
    } else {
        Err(outside())
    }
}

fn outside() -> crate::error::Error {
    damaged(super::arrow::NAME, &"it states sizes beyond its end")
}
