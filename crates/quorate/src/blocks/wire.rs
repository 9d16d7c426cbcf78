//! The binary form of blocks, models and what passes return: compact, versioned, the same on every machine.
//!
//! ```text
//! "QRT", version u8, kind u8, then the fields in order: a number as u64 or f64, an array as its length u64 and its values;
//! everything little-endian
//! ```

use super::TaskBlock;
use crate::error::{Error, Result};
use crate::model::{AnswerCounts, DawidSkene, Step};
use crate::statistics::CoOccurrence;

/// The version that is written, and the only one so far.
pub const WIRE_VERSION: u8 = 1;

const MAGIC: &[u8; 3] = b"QRT";

/// A value that can be sent to another process and back.
pub trait Wire: Sized {
    /// The binary form.
    fn to_bytes(&self) -> Vec<u8>;

    /// The value of a binary form; fails on anything else.
    fn from_bytes(bytes: &[u8]) -> Result<Self>;
}

/// A type with its fields, one after another.
pub(crate) trait WireFormat: Sized {
    /// Stands for the type in the header.
    const KIND: u8;

    fn write(&self, to: &mut Writer);

    fn read(from: &mut Reader<'_>) -> Result<Self>;
}

impl<T: WireFormat> Wire for T {
    fn to_bytes(&self) -> Vec<u8> {
        let mut to = Writer(Vec::new());
        to.0.extend_from_slice(MAGIC);
        to.0.extend_from_slice(&[WIRE_VERSION, Self::KIND]);
        self.write(&mut to);
        to.0
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let Some((header, rest)) = bytes.split_first_chunk::<5>() else {
            return Err(damaged("shorter than its header"));
        };
        if &header[..3] != MAGIC {
            return Err(damaged("not of this program"));
        }
        if header[3] != WIRE_VERSION {
            return Err(damaged(&format!(
                "of version {}, expected {WIRE_VERSION}",
                header[3]
            )));
        }
        if header[4] != Self::KIND {
            return Err(damaged("of another kind of value"));
        }
        let mut from = Reader(rest);
        let value = Self::read(&mut from)?;
        if from.0.is_empty() {
            Ok(value)
        } else {
            Err(damaged("longer than its value"))
        }
    }
}

pub(crate) fn damaged(problem: &str) -> Error {
    Error::Mismatch(format!("binary data {problem}"))
}

/// Takes fields one after another.
pub(crate) struct Writer(Vec<u8>);

/// Gives them back in the same order.
pub(crate) struct Reader<'b>(&'b [u8]);

macro_rules! arrays {
    ($($write:ident $read:ident $type:ty),+) => {
        impl Writer {
            $(pub(crate) fn $write(&mut self, values: &[$type]) {
                self.number(values.len() as u64);
                self.0.reserve(size_of_val(values));
                values.iter().for_each(|value| self.0.extend_from_slice(&value.to_le_bytes()));
            })+
        }

        impl Reader<'_> {
            $(pub(crate) fn $read(&mut self) -> Result<Vec<$type>> {
                const SIZE: usize = size_of::<$type>();
                let count = usize::try_from(self.number()?).unwrap_or(usize::MAX);
                // The length is checked against what is there before anything is allocated.
                let bytes = count.checked_mul(SIZE).and_then(|size| self.0.split_at_checked(size));
                let (values, rest) = bytes.ok_or_else(|| damaged("cut short"))?;
                self.0 = rest;
                Ok(values.as_chunks::<SIZE>().0.iter().map(|&value| <$type>::from_le_bytes(value)).collect())
            })+
        }
    };
}
arrays!(write_u16 read_u16 u16, write_u32 read_u32 u32, write_u64 read_u64 u64, write_f64 read_f64 f64);

impl Writer {
    pub(crate) fn number(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn real(&mut self, value: f64) {
        self.number(value.to_bits());
    }

    pub(crate) fn optional(&mut self, value: Option<&impl WireFormat>) {
        self.number(u64::from(value.is_some()));
        if let Some(value) = value {
            value.write(self);
        }
    }
}

impl Reader<'_> {
    pub(crate) fn number(&mut self) -> Result<u64> {
        let (value, rest) = self
            .0
            .split_first_chunk::<8>()
            .ok_or_else(|| damaged("cut short"))?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*value))
    }

    pub(crate) fn size(&mut self) -> Result<usize> {
        usize::try_from(self.number()?).map_err(|_| damaged("with a number beyond this machine"))
    }

    pub(crate) fn real(&mut self) -> Result<f64> {
        Ok(f64::from_bits(self.number()?))
    }

    pub(crate) fn flag(&mut self) -> Result<bool> {
        match self.number()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(damaged("with a number that is neither yes nor no")),
        }
    }

    pub(crate) fn optional<T: WireFormat>(&mut self) -> Result<Option<T>> {
        self.flag()?.then(|| T::read(self)).transpose()
    }
}

impl WireFormat for TaskBlock {
    const KIND: u8 = 1;

    fn write(&self, to: &mut Writer) {
        to.write_u32(&self.starts);
        to.write_u32(&self.worker);
        to.write_u16(&self.label);
        to.write_u32(&self.gold);
    }

    /// Codes are not checked: see [`TaskBlock::check`].
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            starts: from.read_u32()?,
            worker: from.read_u32()?,
            label: from.read_u16()?,
            gold: from.read_u32()?,
        })
    }
}

impl WireFormat for DawidSkene {
    const KIND: u8 = 2;

    fn write(&self, to: &mut Writer) {
        to.write_f64(self.prior());
        to.write_f64(self.confusions());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let (prior, confusion) = (from.read_f64()?, from.read_f64()?);
        let block = prior.len() * prior.len();
        if block == 0 || !confusion.len().is_multiple_of(block) {
            return Err(damaged("with matrices that are not K x K"));
        }
        Ok(Self::new(prior, confusion))
    }
}

impl WireFormat for AnswerCounts {
    const KIND: u8 = 3;

    fn write(&self, to: &mut Writer) {
        to.number(self.answer_count() as u64);
        to.write_f64(&self.cells);
        to.write_f64(&self.mass);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let answers = usize::try_from(from.number()?).unwrap_or(usize::MAX);
        let (cells, mass) = (from.read_f64()?, from.read_f64()?);
        let block = answers.checked_mul(mass.len()).filter(|&block| block > 0);
        if block.is_some_and(|block| cells.len().is_multiple_of(block)) {
            Ok(Self::from_cells(answers, cells, mass))
        } else {
            Err(damaged("with counts that do not fit together"))
        }
    }
}

impl WireFormat for Step {
    const KIND: u8 = 4;

    fn write(&self, to: &mut Writer) {
        to.real(self.log_likelihood);
        self.counts.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let log_likelihood = from.real()?;
        Ok(Self {
            log_likelihood,
            counts: AnswerCounts::read(from)?,
        })
    }
}

impl WireFormat for CoOccurrence {
    const KIND: u8 = 5;

    fn write(&self, to: &mut Writer) {
        to.number(self.class_count() as u64);
        let (starts, second, cells) = self.arrays();
        to.write_u64(&starts.iter().map(|&start| start as u64).collect::<Vec<_>>());
        to.write_u32(second);
        to.write_u32(cells);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let classes = usize::try_from(from.number()?).unwrap_or(usize::MAX);
        let starts = from.read_u64()?.into_iter().map(|start| start as usize).collect();
        let (second, cells) = (from.read_u32()?, from.read_u32()?);
        Self::from_arrays(classes, starts, second, cells)
            .ok_or_else(|| damaged("with pairs of workers that do not fit together"))
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use super::*;
    use crate::methods::tests::toy_a;
    use crate::methods::vote_fractions;
    use crate::model::count_answers;

    /// There and back; cut short anywhere, longer, or with another header, it is refused and nothing panics.
    fn check<T: Wire + PartialEq + Debug>(value: &T) {
        let bytes = value.to_bytes();
        assert_eq!(&T::from_bytes(&bytes).unwrap(), value);
        for length in 0..bytes.len() {
            assert!(T::from_bytes(&bytes[..length]).is_err());
        }
        assert!(T::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
        for place in 0..5 {
            let mut other = bytes.clone();
            other[place] ^= 0x40;
            assert!(T::from_bytes(&other).is_err());
        }
        // Any other byte changes the value, or is refused.
        for place in 5..bytes.len() {
            let mut other = bytes.clone();
            other[place] ^= 0xff;
            let _ = T::from_bytes(&other);
        }
    }

    #[test]
    fn values_come_back_and_damaged_bytes_are_refused() {
        let annotations = toy_a();
        let counts = count_answers(&annotations, &vote_fractions(&annotations));
        let model = counts.to_model(0.1);
        check(&TaskBlock {
            starts: vec![0, 2, 3],
            worker: vec![0, 4, 1],
            label: vec![1, 0, 2],
            gold: vec![1, crate::annotations::NO_GOLD],
        });
        check(&model);
        check(&counts);
        check(&Step::of(annotations.as_block(), &model));
        check(&CoOccurrence::of_block(annotations.as_block()));
    }
}
