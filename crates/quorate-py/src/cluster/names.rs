//! Names of the tasks of a block as bytes: the length of each as a little-endian u32, then its text.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The bytes of these names.
pub fn to_bytes<'n>(names: impl Iterator<Item = &'n str>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for name in names {
        bytes.extend_from_slice(&(name.len() as u32).to_le_bytes());
        bytes.extend_from_slice(name.as_bytes());
    }
    bytes
}

/// The names of such bytes.
pub fn from_bytes(mut bytes: &[u8]) -> PyResult<Vec<&str>> {
    let damaged = || PyValueError::new_err("the names of a block are damaged");
    let mut names = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<4>() {
        let (name, rest) = rest
            .split_at_checked(u32::from_le_bytes(*length) as usize)
            .ok_or_else(damaged)?;
        names.push(std::str::from_utf8(name).map_err(|_| damaged())?);
        bytes = rest;
    }
    if bytes.is_empty() {
        Ok(names)
    } else {
        Err(damaged())
    }
}
