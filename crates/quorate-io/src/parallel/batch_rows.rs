//! Rows of Arrow batches on their way into a part: the values one after another in a text, read as the fields
//! of a delimited file are.

use quorate_machine::delimiter_scan::PADDING;
use quorate_machine::dispatch::{self, Kernel};

use super::Irregular;
use super::parts::{Field, Part};
use crate::formats::columnar::TextColumn;

/// Most bytes of names in a part: it is in memory as a whole.
const MAX_BYTES: usize = 1 << 29;

/// Adds the rows of a batch to the part, whose names are in `text`. `fields` is memory to work in.
pub(super) fn push_batch(
    part: &mut Part<'_>,
    text: &mut Vec<u8>,
    columns: &[TextColumn],
    rows: usize,
    fields: &mut Vec<[Field; 3]>,
) -> Result<(), Irregular> {
    let before = text.len();
    fields.clear();
    for row in 0..rows {
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
        part,
        text,
        plain,
        rows: fields,
    })?;
    text.truncate(length);
    Ok(())
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
