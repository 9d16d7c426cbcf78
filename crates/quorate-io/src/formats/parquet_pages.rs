//! The sizes that the pages of a Parquet file state, checked before any of them is unpacked.
//!
//! Every page starts with a header (a Thrift struct in the compact protocol) that says how many bytes it
//! unpacks to, and the decoder allocates that much: a damaged header of a file of one kilobyte can ask for 2
//! GiB. So the headers of the columns in use are looked at first. What they state must be possible for the
//! way the pages are packed, and must fit into memory.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use ::parquet::basic::Compression;
use ::parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

use super::columnar::damaged;
use super::parquet::NAME;
use crate::error::{Error, Result};
use crate::memory;

/// Bytes that a small page may come to beyond what the ratio of its packing allows.
const SLACK: u64 = 1 << 16;

/// Bytes that are read at a time: headers are short and far apart.
const BUFFER: usize = 256;

/// Structs inside structs of a header; the format has three.
const MAX_NESTED: usize = 8;

/// Checks all pages of these columns.
pub(crate) fn check_pages(file: &File, metadata: &ParquetMetaData, columns: &[usize]) -> Result<()> {
    let length = file.metadata()?.len();
    let mut input = BufReader::with_capacity(BUFFER, file);
    let leaves = metadata.file_metadata().schema_descr();
    for group in metadata.row_groups() {
        for (leaf, column) in group.columns().iter().enumerate() {
            if columns.contains(&leaves.get_column_root_idx(leaf)) {
                check_chunk(&mut input, column, length)
                    .map_err(|error| error.in_column(column.column_path().string()))?;
            }
        }
    }
    Ok(())
}

/// What a packed byte unpacks to at most, with room to spare.
fn most_by(packing: Compression) -> u64 {
    match packing {
        Compression::UNCOMPRESSED => 1,
        // 64 bytes by a copy of three.
        Compression::SNAPPY => 1 << 5,
        // 255 bytes by each byte of a length.
        Compression::LZ4 | Compression::LZ4_RAW => 1 << 8,
        // 258 bytes by two bits.
        Compression::GZIP(_) => 1 << 11,
        _ => 1 << 16,
    }
}

fn check_chunk(input: &mut (impl Read + Seek), column: &ColumnChunkMetaData, length: u64) -> Result<()> {
    let start = column
        .dictionary_page_offset()
        .unwrap_or(column.data_page_offset());
    let (Ok(mut at), Ok(size)) = (u64::try_from(start), u64::try_from(column.compressed_size())) else {
        return Err(outside());
    };
    let end = at
        .checked_add(size)
        .filter(|&end| end <= length)
        .ok_or_else(outside)?;
    let most = most_by(column.compression());
    while at < end {
        input.seek(SeekFrom::Start(at))?;
        let mut header = Header {
            input: &mut *input,
            read: 0,
        };
        let page = header
            .page()
            .ok_or_else(|| damaged(NAME, &"a damaged page header"))?;
        at += header.read + page.packed;
        if at > end {
            return Err(outside());
        }
        if page.unpacked > page.packed.saturating_mul(most) + SLACK || page.values > page.unpacked {
            let problem = format!("a page of {} bytes cannot hold what it states", page.packed);
            return Err(damaged(NAME, &problem));
        }
        // Held packed and unpacked.
        memory::check(page.packed + page.unpacked)?;
    }
    Ok(())
}

fn outside() -> Error {
    damaged(NAME, &"it states sizes beyond its end")
}

/// What a page states.
#[derive(Debug, Default, PartialEq, Eq)]
struct Page {
    unpacked: u64,
    packed: u64,
    /// Values of a dictionary, of a byte each at least.
    values: u64,
}

/// The header of a page, as it is read.
struct Header<R> {
    input: R,
    /// Bytes so far.
    read: u64,
}

/// Kinds of fields in the compact protocol.
mod kind {
    pub const TRUE: u8 = 1;
    pub const FALSE: u8 = 2;
    pub const BYTE: u8 = 3;
    pub const I16: u8 = 4;
    pub const I32: u8 = 5;
    pub const I64: u8 = 6;
    pub const DOUBLE: u8 = 7;
    pub const BINARY: u8 = 8;
    pub const STRUCT: u8 = 12;
}

impl<R: Read> Header<R> {
    /// `PageHeader`: 2 is the size unpacked, 3 the size packed, 7 the header of a dictionary.
    fn page(&mut self) -> Option<Page> {
        let mut page = Page::default();
        let mut field = 0;
        while let Some(kind) = self.field(&mut field)? {
            match (field, kind) {
                (2, kind::I32) => page.unpacked = self.size()?,
                (3, kind::I32) => page.packed = self.size()?,
                (7, kind::STRUCT) => page.values = self.dictionary()?,
                _ => self.skip(kind, 0)?,
            }
        }
        Some(page)
    }

    /// `DictionaryPageHeader`: 1 is the number of values.
    fn dictionary(&mut self) -> Option<u64> {
        let (mut values, mut field) = (0, 0);
        while let Some(kind) = self.field(&mut field)? {
            match (field, kind) {
                (1, kind::I32) => values = self.size()?,
                _ => self.skip(kind, 1)?,
            }
        }
        Some(values)
    }

    /// The number of the next field is set and its kind returned; `Some(None)` at the end of a struct, None
    /// where it is damaged.
    #[allow(clippy::option_option)]
    fn field(&mut self, number: &mut i64) -> Option<Option<u8>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Some(None);
        }
        *number = match byte >> 4 {
            0 => self.signed()?,
            step => number.checked_add(i64::from(step))?,
        };
        Some(Some(byte & 0x0f))
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        match kind {
            kind::TRUE | kind::FALSE => {}
            kind::BYTE => drop(self.byte()?),
            kind::I16 | kind::I32 | kind::I64 => drop(self.signed()?),
            kind::DOUBLE => self.pass(8)?,
            // Statistics: the least and the largest value.
            kind::BINARY => {
                let length = self.varint()?;
                self.pass(length)?;
            }
            kind::STRUCT if depth < MAX_NESTED => {
                let mut number = 0;
                while let Some(kind) = self.field(&mut number)? {
                    self.skip(kind, depth + 1)?;
                }
            }
            // Page headers have no lists, sets or maps.
            _ => return None,
        }
        Some(())
    }

    fn size(&mut self) -> Option<u64> {
        u64::try_from(self.signed()?).ok()
    }

    /// Zigzag: 0, -1, 1, -2, ..
    fn signed(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn byte(&mut self) -> Option<u8> {
        let mut byte = [0];
        self.input.read_exact(&mut byte).ok()?;
        self.read += 1;
        Some(byte[0])
    }

    fn pass(&mut self, bytes: u64) -> Option<()> {
        let passed = std::io::copy(&mut self.input.by_ref().take(bytes), &mut std::io::sink()).ok()?;
        self.read += passed;
        (passed == bytes).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Option<(Page, u64)> {
        let mut header = Header {
            input: bytes,
            read: 0,
        };
        header.page().map(|page| (page, header.read))
    }

    #[test]
    fn a_header_is_read_to_its_end() {
        // Type 2 (dictionary), 410 bytes unpacked, 259 packed, a dictionary of 60 values in encoding 0 that
        // are not sorted.
        let bytes = [
            0x15, 4, 0x15, 0xb4, 6, 0x15, 0x86, 4, 0x4c, 0x15, 0x78, 0x15, 0, 0x12, 0, 0, 99,
        ];
        let page = Page {
            unpacked: 410,
            packed: 259,
            values: 60,
        };
        assert_eq!(read(&bytes), Some((page, bytes.len() as u64 - 1)));
        for cut in 0..bytes.len() - 2 {
            assert_eq!(read(&bytes[..cut]), None, "{cut}");
        }
    }

    #[test]
    fn statistics_are_passed_over() {
        // A data page: 10 bytes, 10 packed, 3 values, statistics with two texts.
        let bytes = [
            0x15, 0, 0x15, 20, 0x15, 20, 0x2c, 0x15, 6, 0x15, 0, 0x15, 6, 0x15, 6, 0x1c, 0x58, 2, b'a', b'b',
            0x18, 1, b'z', 0, 0, 0,
        ];
        let page = Page {
            unpacked: 10,
            packed: 10,
            values: 0,
        };
        assert_eq!(read(&bytes), Some((page, bytes.len() as u64)));
    }

    #[test]
    fn structs_without_end_and_negative_sizes_are_damage() {
        assert_eq!(read(&[0x5c; 1000]), None);
        assert_eq!(read(&[0x15, 0, 0x15, 1, 0x15, 2, 0]), None);
        assert_eq!(read(&[0xff; 20]), None);
    }
}
