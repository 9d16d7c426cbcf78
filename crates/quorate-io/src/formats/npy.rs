//! NumPy's `.npy` files of numbers: the rows of an array.
//!
//! A file is a magic word, a version, the length of a header, the header (a Python dictionary with the type,
//! the order of the axes and the shape) and the numbers. Read here because what reads such files elsewhere
//! brings a whole parser of Python literals along.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::{Error, Result};

const MAGIC: &[u8] = b"\x93NUMPY";

/// Numbers by row. Further axes are laid flat: 1000 x 4 x 4 x 512 is 1000 rows of 8192.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NumberRows {
    pub(crate) rows: usize,
    pub(crate) width: usize,
    values: Vec<f32>,
}

impl NumberRows {
    pub(crate) fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.width..][..self.width]
    }
}

/// Reads a file of 32- or 64-bit floating-point numbers.
pub(crate) fn read(path: &Path) -> Result<NumberRows> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|mut file| file.read_to_end(&mut bytes))
        .map_err(Error::from)
        .and_then(|_| parse(&bytes))
        .map_err(|error| error.in_file(path.display().to_string()))
}

fn parse(bytes: &[u8]) -> Result<NumberRows> {
    let (header, data) = split(bytes).ok_or_else(|| {
        syntax("found no header of a NumPy array, expected a file written by numpy.save".to_owned())
    })?;
    let size = match value(header, "descr") {
        Some("'<f4'") => 4,
        Some("'<f8'") => 8,
        found => {
            return Err(syntax(format!(
                "found numbers of type {}, expected '<f4' or '<f8'; save the array as numpy.float32",
                found.unwrap_or("unknown").replace(char::is_control, "?")
            )));
        }
    };
    let shape = value(header, "shape").and_then(parse_shape).ok_or_else(|| {
        syntax(format!(
            "found no usable shape in the header {header:?}, expected (rows, numbers in a row)"
        ))
    })?;
    let (rows, width) = (shape[0], checked_product(&shape[1..]));
    let cells = width.and_then(|width| width.checked_mul(rows));
    let (Some(width), Some(cells)) = (
        width,
        cells.filter(|cells| cells.checked_mul(size) == Some(data.len())),
    ) else {
        return Err(syntax(format!(
            "found {} bytes of numbers, expected those of an array of shape {shape:?}; get the whole file",
            data.len()
        )));
    };
    let number = |index: usize| match size {
        4 => f32::from_le_bytes(std::array::from_fn(|byte| data[4 * index + byte])),
        _ => f64::from_le_bytes(std::array::from_fn(|byte| data[8 * index + byte])) as f32,
    };
    let values = match value(header, "fortran_order") {
        Some("False") => (0..cells).map(number).collect(),
        Some("True") if shape.len() <= 2 => (0..cells)
            .map(|cell| number(cell % width * rows + cell / width))
            .collect(),
        _ => {
            return Err(syntax(
                "found an array in Fortran order, expected C order; save numpy.ascontiguousarray(array)"
                    .to_owned(),
            ));
        }
    };
    Ok(NumberRows { rows, width, values })
}

/// Header and numbers.
fn split(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (length, rest) = match rest {
        [1, _, a, b, rest @ ..] => (usize::from(u16::from_le_bytes([*a, *b])), rest),
        [2 | 3, _, a, b, c, d, rest @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
        _ => return None,
    };
    let (header, data) = rest.split_at_checked(length)?;
    Some((std::str::from_utf8(header).ok()?, data))
}

/// The value of a key: up to the next comma that is not inside parentheses.
fn value<'h>(header: &'h str, key: &str) -> Option<&'h str> {
    let start = header.find(&format!("'{key}':"))? + key.len() + 3;
    let text = header[start..].trim_start();
    let end = if text.starts_with('(') {
        text.find(')')? + 1
    } else {
        text.find([',', '}'])?
    };
    Some(text[..end].trim_end())
}

/// `(1000, 512)`, with at least one axis.
fn parse_shape(text: &str) -> Option<Vec<usize>> {
    let axes = text
        .strip_prefix('(')?
        .strip_suffix(')')?
        .trim_end_matches([',', ' ']);
    axes.split(',').map(|axis| axis.trim().parse().ok()).collect()
}

fn checked_product(axes: &[usize]) -> Option<usize> {
    axes.iter()
        .try_fold(1usize, |product, &axis| product.checked_mul(axis))
}

fn syntax(message: String) -> Error {
    Error::syntax(message)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The bytes that numpy.save writes.
    pub(crate) fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn floats(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn rows_in_both_orders_and_precisions() {
        let c = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n";
        let read = parse(&file(c, &floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))).unwrap();
        assert_eq!((read.rows, read.row(1)), (2, &[4.0, 5.0, 6.0][..]));
        let fortran = c.replace("False", "True");
        let same = parse(&file(&fortran, &floats(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]))).unwrap();
        assert_eq!(read, same);
        let wide: Vec<u8> = (1..=6).flat_map(|value| f64::from(value).to_le_bytes()).collect();
        assert_eq!(read, parse(&file(&c.replace("<f4", "<f8"), &wide)).unwrap());
        let flat = parse(&file(&c.replace("(2, 3)", "(2, 1, 3)"), &floats(&[0.0; 6]))).unwrap();
        assert_eq!((flat.rows, flat.width), (2, 3));
        let list = parse(&file(&c.replace("(2, 3)", "(6,)"), &floats(&[7.0; 6]))).unwrap();
        assert_eq!((list.rows, list.width), (6, 1));
    }

    #[test]
    fn what_is_not_such_a_file_is_an_error_in_words() {
        let good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
        for (bytes, said) in [
            (b"task,x\n".to_vec(), "numpy.save"),
            (b"\x93NUMPY\x01\x00\xff\xff{}".to_vec(), "numpy.save"),
            (file(good, &[0; 20]), "20 bytes"),
            (file(&good.replace("<f4", "<i8"), &[0; 48]), "'<i8'"),
            (file(&good.replace("(2, 3)", "()"), &[]), "shape"),
            (file(&good.replace("(2, 3)", "(-2, 3)"), &[]), "shape"),
            (
                file(&good.replace("(2, 3)", "(9223372036854775807, 4)"), &[0; 24]),
                "24 bytes",
            ),
        ] {
            let message = parse(&bytes).unwrap_err().to_string();
            assert!(message.contains(said), "{message}");
        }
    }
}
