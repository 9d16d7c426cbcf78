//! Delimited files (CSV, TSV) in blocks, many at a time, by a delimiter scan.
//!
//! A file is cut at line feeds. Where a block holds nothing but rows with as many fields as the header, its
//! fields are found 64 bytes at a time; a block with quotes or blank lines goes through the row by row
//! parser. Whatever cannot be settled inside a block (a quoted value with a line feed at the cut, a row with
//! too few fields, an empty id, text that is not UTF-8) makes the whole reading fall back to the row by row
//! reader, which knows the line numbers and the words for every error. So there is one description of what is
//! wrong with a file, and what is read here is what that reader would have read.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use quorate_machine::delimiter_scan::{PADDING, find_field_ends};
use quorate_machine::dispatch::{self, Kernel};

use super::buffer_pool::BufferPool;
use super::part_sink::{Select, read_rounds};
use super::parts::{Field, Part, PartRead};
use super::{Irregular, PartSink, Stop, Vocabulary};
use crate::formats::delimiter::Delimiter;
use crate::formats::records::Records;
use crate::source::Progress;

/// Bytes that one thread reads and parses at a time: with all that is found in them they stay in the cache.
pub(crate) const BLOCK: u64 = 1 << 18;

/// Blocks of each thread in the first round and in the longest.
const FIRST_ROUND: usize = 4;
const LONGEST_ROUND: usize = 8;

/// Longest line; longer ones are read row by row.
const LONGEST_LINE: usize = 1 << 20;

/// The byte order mark.
const MARK: &str = "\u{feff}";

/// A regular file of delimited text.
pub(crate) struct BlockFile<'a> {
    /// Where it is.
    path: &'a Path,
    /// What stands between fields.
    delimiter: u8,
    /// The delimiter, where it is not the usual one of the format.
    pub unusual: Option<char>,
    /// Bytes of a block.
    block: u64,
    /// Where the rows start.
    start: u64,
    /// Names of the columns.
    names: Vec<String>,
}

/// The columns of a table: how many, and which hold task, worker and label.
struct Layout {
    columns: usize,
    chosen: [usize; 3],
}

impl<'a> BlockFile<'a> {
    /// A file with blocks of so many bytes; reads its header.
    pub(crate) fn open(path: &'a Path, delimiter: Delimiter, block: u64) -> Result<Self, Irregular> {
        let mut text = Vec::new();
        let file = File::open(path).map_err(|_| Irregular)?;
        file.take(LONGEST_LINE as u64)
            .read_to_end(&mut text)
            .map_err(|_| Irregular)?;
        let mark = if text.starts_with(MARK.as_bytes()) {
            MARK.len()
        } else {
            0
        };
        let line = text[mark..]
            .iter()
            .position(|&byte| byte == b'\n')
            .ok_or(Irregular)?;
        let line = &text[mark..mark + line];
        let plain = line.strip_suffix(b"\r").unwrap_or(line);
        // Marks of other formats hold bytes that no line of text holds, or start with letters that no header
        // does.
        let odd = |byte: &u8| *byte < b' ' && *byte != b'\t';
        let text = std::str::from_utf8(plain).map_err(|_| Irregular)?;
        if plain.iter().any(odd) || text.starts_with("PAR1") || text.starts_with(MARK) {
            return Err(Irregular);
        }
        let (told, delimiter) = (delimiter, delimiter.of_line(plain));
        let mut records = Records::new(plain, delimiter);
        if !records.advance(&[]).map_err(|_| Irregular)? {
            return Err(Irregular);
        }
        let names = records
            .fields()
            .map(|name| String::from_utf8_lossy(name).trim().to_owned());
        Ok(Self {
            path,
            delimiter,
            unusual: told.unusual(delimiter),
            block,
            start: (mark + line.len() + 1) as u64,
            names: names.collect(),
        })
    }

    /// Reads the file.
    pub(crate) fn read<S: PartSink>(
        &self,
        sink: S,
        select: Select<'_>,
        progress: Progress<'_>,
    ) -> Result<S, Stop> {
        let start = self.start;
        let layout = Layout {
            columns: self.names.len(),
            chosen: select(&self.names).ok_or(Irregular)?,
        };
        let end = std::fs::metadata(self.path).map_err(|_| Irregular)?.len();
        let cuts: Vec<Range<u64>> = (0..(end - start).div_ceil(self.block))
            .map(|block| start + block * self.block..(start + (block + 1) * self.block).min(end))
            .collect();
        // Rounds grow: workers that an early round made known cost later ones a look-up and nothing else.
        let rounds = [FIRST_ROUND, LONGEST_ROUND].map(|round| round * rayon::current_num_threads());
        let part = |range: &Range<u64>, vocabulary: &Vocabulary, pool: &BufferPool| {
            self.part(range.clone(), end, &layout, vocabulary, pool)
        };
        read_rounds(sink, &cuts, rounds.into(), end, |_| Ok(()), part, progress)
    }

    /// Reads the lines that start in the range.
    fn part(
        &self,
        range: Range<u64>,
        end: u64,
        layout: &Layout,
        vocabulary: &Vocabulary,
        pool: &BufferPool,
    ) -> Result<PartRead, Irregular> {
        let (mut used, mut offsets) = pool.take();
        let text = self
            .lines(range, end, used.take_text())
            .map_err(|_| Irregular)??;
        let mut part = vocabulary.part(used);
        let plain = dispatch::run(Plain {
            layout,
            text: &text,
            delimiter: self.delimiter,
            offsets: &mut offsets,
            part: &mut part,
        })?;
        pool.give_offsets(offsets);
        if plain {
            Ok(part.finish(text))
        } else {
            layout.row_by_row(&text[..text.len() - PADDING], self.delimiter, vocabulary)
        }
    }

    /// The lines that start in the range, whole, each with its line feed, and padding behind them, in `text`.
    fn lines(
        &self,
        range: Range<u64>,
        end: u64,
        mut text: Vec<u8>,
    ) -> std::io::Result<Result<Vec<u8>, Irregular>> {
        let mut file = File::open(self.path)?;
        text.clear();
        let Some(start) = line_start(&mut file, &range, self.start)? else {
            text.resize(PADDING, 0);
            return Ok(Ok(text));
        };
        file.seek(SeekFrom::Start(start))?;
        text.reserve((range.end - start) as usize + (1 << 12) + PADDING);
        file.by_ref().take(range.end - start).read_to_end(&mut text)?;
        if text.len() as u64 != range.end - start {
            return Ok(Err(Irregular));
        }
        let mut reached = range.end;
        if !text.is_empty() {
            let before = text.len();
            while text.last() != Some(&b'\n') && reached < end {
                let scanned = text.len();
                file.by_ref().take(1 << 12).read_to_end(&mut text)?;
                if text.len() == scanned || text.len() - before > LONGEST_LINE {
                    return Ok(Err(Irregular));
                }
                reached += (text.len() - scanned) as u64;
                if let Some(offset) = text[scanned..].iter().position(|&byte| byte == b'\n') {
                    text.truncate(scanned + offset + 1);
                }
            }
            if text.last() != Some(&b'\n') {
                text.push(b'\n');
            }
        }
        text.resize(text.len() + PADDING, 0);
        Ok(Ok(text))
    }
}

/// Where the first line starts that starts in the range: behind a line feed at its front or later.
fn line_start(file: &mut File, range: &Range<u64>, first: u64) -> std::io::Result<Option<u64>> {
    if range.start == first {
        return Ok(Some(first));
    }
    let mut at = range.start - 1;
    let mut window = [0; 1 << 9];
    file.seek(SeekFrom::Start(at))?;
    while at < range.end {
        let count = file.read(&mut window)?;
        if count == 0 {
            break;
        }
        if let Some(offset) = window[..count].iter().position(|&byte| byte == b'\n') {
            let start = at + offset as u64 + 1;
            return Ok((start < range.end).then_some(start));
        }
        at += count as u64;
    }
    Ok(None)
}

/// The rows of a block without quotes, blank lines or ragged rows.
struct Plain<'a, 'k> {
    layout: &'a Layout,
    /// Lines, and padding behind them.
    text: &'a [u8],
    delimiter: u8,
    /// Memory for where fields end.
    offsets: &'a mut Vec<u32>,
    part: &'a mut Part<'k>,
}

impl Kernel for Plain<'_, '_> {
    /// Whether all rows were plain; if not, the part is not to be used.
    type Output = Result<bool, Irregular>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let Self { layout, text, .. } = self;
        let scanned = find_field_ends(text, text.len() - PADDING, self.delimiter, self.offsets);
        let offsets = &self.offsets[..scanned.offsets];
        // If there are as many line feeds as rows, and one ends each row, then none stands inside.
        if scanned.special || offsets.len() - 1 != scanned.lines * layout.columns || layout.columns < 3 {
            return Ok(false);
        }
        let line_ends = || offsets.iter().skip(layout.columns).step_by(layout.columns);
        if line_ends().fold(0, |odd, &end| odd | text[end as usize] ^ b'\n') != 0 {
            return Ok(false);
        }
        if scanned.returns > 0 {
            // A carriage return elsewhere than before a line feed ends a row, too.
            let ends = line_ends().filter(|&&end| end > 0 && text[end as usize - 1] == b'\r');
            if ends.count() != scanned.returns as usize {
                return Ok(false);
            }
        }
        self.part.reserve(scanned.lines);
        // Nearly all files: where the compiler knows the number of columns, a row takes half the
        // instructions.
        match (layout.columns, scanned.returns) {
            (3, 0) if layout.chosen == [0, 1, 2] => {
                let fields = |[line, first, second, third]: [u32; 4]| {
                    [
                        Field::after(line, first),
                        Field::after(first, second),
                        Field::after(second, third),
                    ]
                };
                self.part
                    .push(text, true, scanned.lines, |row| fields(four(offsets, row)))?;
            }
            (3, 0) => {
                let chosen = layout.chosen;
                self.part.push(text, true, scanned.lines, |row| {
                    let [line, first, second, third] = four(offsets, row);
                    // Arms, not an array: what was just written in two pieces is slow to read in one.
                    chosen.map(|column| match column {
                        0 => Field::after(line, first),
                        1 => Field::after(first, second),
                        _ => Field::after(second, third),
                    })
                })?;
            }
            (columns, _) => self.part.push(text, true, scanned.lines, |row| {
                let ends = &offsets[columns * row..][..=columns];
                layout.chosen.map(|column| {
                    let field = Field::after(ends[column], ends[column + 1]);
                    let returned = column + 1 == columns
                        && ends[columns].wrapping_sub(1) != ends[0]
                        && text[ends[columns] as usize - 1] == b'\r';
                    field.shortened(u32::from(returned))
                })
            })?,
        }
        Ok(true)
    }
}

/// Offsets of the ends of the line before a row of three fields, and of the fields.
#[inline(always)]
fn four(offsets: &[u32], row: usize) -> [u32; 4] {
    *offsets[3 * row..].first_chunk().unwrap_or(&[0; 4])
}

impl Layout {
    /// Takes the rows of a block through the parser that knows quotes.
    fn row_by_row(&self, text: &[u8], delimiter: u8, vocabulary: &Vocabulary) -> Result<PartRead, Irregular> {
        // At the start of a text the parser would take a byte order mark for one; inside a file it is a
        // letter.
        if text.starts_with(MARK.as_bytes()) {
            return Err(Irregular);
        }
        let mut part = vocabulary.part(PartRead::default());
        let mut records = Records::new(text, delimiter);
        // All fields in use, one behind the other: names that are long point into it.
        let mut used = Vec::with_capacity(text.len() + PADDING);
        let mut rows: Vec<[Field; 3]> = Vec::new();
        while records.advance(&[]).map_err(|_| Irregular)? {
            if records.len() != self.columns {
                return Err(Irregular);
            }
            let fields = self.chosen.map(|column| {
                let value = records.field(column);
                used.extend_from_slice(value);
                Field::between(used.len() - value.len(), used.len())
            });
            rows.push(fields);
        }
        used.resize(used.len() + PADDING, 0);
        part.push(&used, false, rows.len(), |row| rows[row])?;
        Ok(part.finish(used))
    }
}
