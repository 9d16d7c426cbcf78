//! Rows of Arrow batches on their way into a part: the values one after another in a text, read as the fields
//! of a delimited file are.

use arrow_array::RecordBatch;
use quorate_machine::delimiter_scan::PADDING;
use quorate_machine::dispatch::{self, Kernel};

use super::buffer_pool::BufferPool;
use super::parts::{Field, Part, PartRead};
use super::{Irregular, Vocabulary};
use crate::formats::columnar::Projection;

/// Most bytes of names in a part: it is in memory as a whole.
const MAX_BYTES: usize = 1 << 29;

/// Reads batches of about so many rows in all as a part.
pub(super) fn read_batches(
    rows: usize,
    batches: impl Iterator<Item = Result<RecordBatch, Irregular>>,
    projection: &Projection,
    vocabulary: &Vocabulary,
    pool: &BufferPool,
) -> Result<PartRead, Irregular> {
    let (mut used, _) = pool.take();
    let mut text = used.take_text();
    text.clear();
    let (mut part, mut fields) = (vocabulary.part(used), Vec::new());
    part.reserve(rows);
    for batch in batches {
        let batch = batch?;
        let columns = projection.columns_of(&batch).map_err(|_| Irregular)?;
        let before = text.len();
        fields.clear();
        for row in 0..batch.num_rows() {
            let mut field = |column: usize| {
                let (value, start) = (columns[column].text(row).as_bytes(), text.len());
                text.extend_from_slice(value);
                Field::between(start, text.len())
            };
            fields.push([field(0), field(1), field(2)]);
        }
        let length = text.len();
        if length > MAX_BYTES {
            return Err(Irregular);
        }
        let plain = !text[before..].contains(&0);
        text.resize(length + PADDING, 0);
        dispatch::run(Push {
            part: &mut part,
            text: &text,
            plain,
            rows: &fields,
        })?;
        text.truncate(length);
    }
    text.resize(text.len() + PADDING, 0);
    Ok(part.finish(text))
}

/// Rows on their way into a part.
struct Push<'a, 'k> {
    part: &'a mut Part<'k>,
    text: &'a [u8],
    /// Whether no name has a zero in it.
    plain: bool,
    rows: &'a [[Field; 3]],
}

impl Kernel for Push<'_, '_> {
    type Output = Result<(), Irregular>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let rows = self.rows;
        self.part.push(self.text, self.plain, rows.len(), |row| rows[row])
    }
}
