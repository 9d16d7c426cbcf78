//! Rows to text on several threads.

use std::io::Write;

use rayon::prelude::*;

use super::RowSource;
use crate::error::Result;

/// Rows of a piece that a thread turns into text at a time.
pub(crate) const PIECE: usize = 1 << 14;

/// Writes the rows of a table in order; `write_rows` turns rows into text. Pieces are turned into text a few
/// at a time, so that the text never takes much memory.
pub(crate) fn write_pieces(
    output: &mut dyn Write,
    table: &dyn RowSource,
    write_rows: impl Fn(&mut dyn Write, &dyn RowSource) -> Result<()> + Sync,
) -> Result<()> {
    let mut pieces = table.pieces();
    if pieces.is_empty() {
        return write_rows(output, table);
    }
    let wave = 4 * rayon::current_num_threads();
    while !pieces.is_empty() {
        let later = pieces.split_off(wave.min(pieces.len()));
        let texts: Vec<Result<Vec<u8>>> = std::mem::replace(&mut pieces, later)
            .into_par_iter()
            .map(|piece| {
                let mut text = Vec::new();
                write_rows(&mut text, &*piece).map(|()| text)
            })
            .collect();
        for text in texts {
            output.write_all(&text?)?;
        }
    }
    Ok(())
}
