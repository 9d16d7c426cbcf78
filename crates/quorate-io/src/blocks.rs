//! Plain delimited files in blocks, many at a time.
//!
//! A file is cut at line feeds. Where a block holds nothing but rows with as many fields as the header, its fields are
//! found 64 bytes at a time; a block with quotes or blank lines goes through the row by row parser. Whatever
//! cannot be settled inside a block (a quoted value with a line feed at the cut, a row with too few fields, an empty
//! id, text that is not UTF-8) makes the whole reading fall back to the row by row reader, which knows the line numbers
//! and the words for every error. So there is one description of what is wrong with a file, and what is read here is
//! what that reader would have read.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use quorate::annotations::{Annotations, Field, Irregular, Part, PartRead, PartsBuilder};
use rayon::prelude::*;

use crate::delimited::Records;
use crate::scan::MAX_FIELD;
use crate::source::Progress;
use crate::spare::Spare;
use crate::structure::{PADDING, Seen, find_ends};

/// Bytes that one thread reads and parses at a time: with all that is found in them they stay in the cache.
pub(crate) const BLOCK: u64 = 1 << 18;

/// Blocks of each thread in the first round and in the longest.
const FIRST_ROUND: usize = 4;
const LONGEST_ROUND: usize = 32;

/// Longest line; longer ones are read row by row.
const LONGEST_LINE: usize = 1 << 20;

/// The byte order mark.
const MARK: &str = "\u{feff}";

/// A regular file of delimited text.
pub(crate) struct BlockFile<'a> {
    /// Where it is.
    pub path: &'a Path,
    /// What stands between fields.
    pub delimiter: u8,
    /// Bytes of a block.
    pub block: u64,
}

/// The columns of a table: how many, and which hold task, worker and label.
struct Layout {
    columns: usize,
    chosen: [usize; 3],
}

impl BlockFile<'_> {
    /// Reads the file; `select` finds the columns of task, worker and label by the names in the header.
    pub(crate) fn read(
        &self,
        mut builder: PartsBuilder,
        select: impl FnOnce(&[String]) -> Option<[usize; 3]>,
        progress: Progress<'_>,
    ) -> Result<quorate::Result<Annotations>, Irregular> {
        let (start, names) = self.header()?;
        let layout = Layout {
            columns: names.len(),
            chosen: select(&names).ok_or(Irregular)?,
        };
        let end = std::fs::metadata(self.path).map_err(|_| Irregular)?.len();
        let cuts: Vec<Range<u64>> = (0..(end - start).div_ceil(self.block))
            .map(|block| start + block * self.block..(start + (block + 1) * self.block).min(end))
            .collect();
        let threads = rayon::current_num_threads();
        let (mut rest, mut round) = (&cuts[..], FIRST_ROUND * threads);
        let spare = Spare::default();
        while !rest.is_empty() {
            let (wave, later) = rest.split_at(round.min(rest.len()));
            let parts = wave
                .par_iter()
                .map(|range| self.part(range.clone(), start, end, &layout, &builder, &spare))
                .collect::<Result<Vec<_>, _>>()?;
            spare.give(builder.append(parts)?);
            rest = later;
            // Rounds grow: workers that an early round made known cost later ones a look-up and nothing else.
            round = (2 * round).min(LONGEST_ROUND * threads);
            progress(wave.last().map_or(0, |range| range.end), Some(end));
        }
        builder.build()
    }

    /// Where the rows start, and the names of the columns.
    fn header(&self) -> Result<(u64, Vec<String>), Irregular> {
        let mut text = Vec::new();
        let file = File::open(self.path).map_err(|_| Irregular)?;
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
        // Marks of other formats hold bytes that no line of text holds, or start with letters that no header does.
        let odd = |byte: &u8| *byte < b' ' && *byte != b'\t';
        let text = std::str::from_utf8(plain).map_err(|_| Irregular)?;
        if plain.iter().any(odd) || text.starts_with("PAR1") || text.starts_with(MARK) {
            return Err(Irregular);
        }
        let mut records = Records::new(plain, self.delimiter);
        if !records.advance(&[]).map_err(|_| Irregular)? {
            return Err(Irregular);
        }
        let names = records
            .record
            .iter()
            .map(|name| String::from_utf8_lossy(name).trim().to_owned());
        Ok(((mark + line.len() + 1) as u64, names.collect()))
    }

    /// Reads the lines that start in the range.
    fn part(
        &self,
        range: Range<u64>,
        first: u64,
        end: u64,
        layout: &Layout,
        builder: &PartsBuilder,
        spare: &Spare,
    ) -> Result<PartRead, Irregular> {
        let (text, mut places) = spare.take();
        let text = self.lines(range, first, end, text).map_err(|_| Irregular)??;
        let length = text.len() - PADDING;
        let seen = find_ends(&text, length, self.delimiter, &mut places);
        let plain = layout.plain(&text, &places, &seen, builder)?;
        spare.keep(places);
        match plain {
            Some(part) => Ok(part.finish(text)),
            None => layout.row_by_row(&text[..length], self.delimiter, builder),
        }
    }

    /// The lines that start in the range, whole, each with its line feed, and padding behind them, in `text`.
    fn lines(
        &self,
        range: Range<u64>,
        first: u64,
        end: u64,
        mut text: Vec<u8>,
    ) -> std::io::Result<Result<Vec<u8>, Irregular>> {
        let mut file = File::open(self.path)?;
        text.clear();
        let Some(start) = line_start(&mut file, &range, first)? else {
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
                if let Some(place) = text[scanned..].iter().position(|&byte| byte == b'\n') {
                    text.truncate(scanned + place + 1);
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
        if let Some(place) = window[..count].iter().position(|&byte| byte == b'\n') {
            let start = at + place as u64 + 1;
            return Ok((start < range.end).then_some(start));
        }
        at += count as u64;
    }
    Ok(None)
}

impl Layout {
    /// Takes the rows of a block that is as regular as can be; none if it is not.
    fn plain<'k>(
        &self,
        text: &[u8],
        places: &[u32],
        seen: &Seen,
        builder: &'k PartsBuilder,
    ) -> Result<Option<Part<'k>>, Irregular> {
        // If there are as many line feeds as rows, and one ends each row, then none stands inside.
        if seen.special || places.len() != seen.lines * self.columns {
            return Ok(None);
        }
        let mut part = builder.part();
        part.reserve(places.len() / self.columns);
        // Nearly all files: where the compiler knows the number of columns, a row takes half the instructions.
        let plain = match (self.columns, self.chosen) {
            (3, [task, worker, label]) => {
                let fields = |start: usize, ends: &[u32; 3], returned: usize| {
                    let [first, second, third] = ends.map(|end| end as usize);
                    // Arms, not an array: what was just written in two pieces is slow to read in one.
                    let field = |column: usize| match column {
                        0 => Field::between(start, first),
                        1 => Field::between(first + 1, second),
                        _ => Field::between(second + 1, third - returned),
                    };
                    [field(task), field(worker), field(label)]
                };
                self.plain_rows(text, places.as_chunks::<3>().0, seen, fields, &mut part)?
            }
            (columns, _) => {
                let rows: Vec<&[u32]> = places.chunks_exact(columns).collect();
                let fields = |start: usize, ends: &&[u32], returned: usize| {
                    self.chosen.map(|column| {
                        let from = match column {
                            0 => start,
                            _ => ends[column - 1] as usize + 1,
                        };
                        let last = column + 1 == ends.len();
                        Field::between(from, ends[column] as usize - if last { returned } else { 0 })
                    })
                };
                self.plain_rows(text, &rows, seen, fields, &mut part)?
            }
        };
        Ok(plain.then_some(part))
    }

    /// Takes rows, whose fields end at the places; false if not all of them are plain. `fields` makes the fields of a row
    /// of where it starts, where its fields end, and the carriage returns at its end.
    #[inline(always)]
    fn plain_rows<E: AsRef<[u32]>>(
        &self,
        text: &[u8],
        rows: &[E],
        seen: &Seen,
        fields: impl Fn(usize, &E, usize) -> [Field; 3],
        part: &mut Part<'_>,
    ) -> Result<bool, Irregular> {
        let mut batch = [[Field::default(); 3]; 64];
        let (mut start, mut returns) = (0, 0);
        for rows in rows.chunks(batch.len()) {
            let mut longest = 0;
            for (row, ends) in batch.iter_mut().zip(rows) {
                let line = ends.as_ref()[self.columns - 1] as usize;
                // An empty line of a table with one column is no row.
                if text[line] != b'\n' || (self.columns == 1 && line == start) {
                    return Ok(false);
                }
                let returned = seen.returns > 0 && line > start && text[line - 1] == b'\r';
                returns += u32::from(returned);
                *row = fields(start, ends, usize::from(returned));
                longest = row
                    .iter()
                    .fold(longest, |longest, field| longest.max(field.length));
                start = line + 1;
            }
            if longest as usize > MAX_FIELD {
                return Err(Irregular);
            }
            part.push(text, &batch[..rows.len()])?;
        }
        // A carriage return elsewhere ends a row, too.
        Ok(returns == seen.returns)
    }

    /// Takes the rows of a block through the parser that knows quotes.
    fn row_by_row(&self, text: &[u8], delimiter: u8, builder: &PartsBuilder) -> Result<PartRead, Irregular> {
        // At the start of a text the parser would take a byte order mark for one; inside a file it is a letter.
        if text.starts_with(MARK.as_bytes()) {
            return Err(Irregular);
        }
        let mut part = builder.part();
        let mut records = Records::new(text, delimiter);
        // All fields in use, one behind the other: names that are long point into it.
        let mut used = Vec::with_capacity(text.len() + PADDING);
        let mut rows: Vec<[Field; 3]> = Vec::new();
        while records.advance(&[]).map_err(|_| Irregular)? {
            if records.record.len() != self.columns {
                return Err(Irregular);
            }
            let fields = self.chosen.map(|column| {
                let value = &records.record[column];
                used.extend_from_slice(value);
                Field::between(used.len() - value.len(), used.len())
            });
            if fields.iter().any(|field| field.length as usize > MAX_FIELD) {
                return Err(Irregular);
            }
            rows.push(fields);
        }
        used.resize(used.len() + PADDING, 0);
        part.push(&used, &rows)?;
        Ok(part.finish(used))
    }
}
