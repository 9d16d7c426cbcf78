//! The binary form of blocks, models and what passes take and return: compact, versioned, the same on every
//! machine.
//!
//! ```text
//! "QRT", version u8, kind u8, then the fields in order: a number by its bytes, an array as its length u64 and its
//! values, an option as a byte and its value; everything little-endian
//! ```
//!
//! [`wire_format!`] writes the form of a type from the list of its fields.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::linalg::aligned::AlignedVec;

/// The version that is written, and the only one so far.
pub const WIRE_VERSION: u8 = 2;

const MAGIC: &[u8; 3] = b"QRT";

/// Values inside of values, at most: no value of ours comes near, and bytes from outside must not overflow
/// the stack.
const MAX_DEPTH: u8 = 8;

/// A value that can be sent to another process and back.
pub trait Wire: Sized {
    /// The binary form.
    fn to_bytes(&self) -> Vec<u8>;

    /// The value of a binary form; fails on anything else.
    fn from_bytes(bytes: &[u8]) -> Result<Self>;
}

/// A type with its fields, one after another.
pub(crate) trait WireFormat: Sized {
    /// Stands for the type in the header of a value that is sent by itself.
    const KIND: u8 = 0;

    fn write(&self, to: &mut Vec<u8>);

    fn read(from: &mut Reader<'_>) -> Result<Self>;

    /// The values of an array.
    fn write_all(values: &[Self], to: &mut Vec<u8>) {
        values.iter().for_each(|value| value.write(to));
    }

    /// So many values of an array.
    fn read_all(count: usize, from: &mut Reader<'_>) -> Result<Vec<Self>> {
        (0..count).map(|_| Self::read(from)).collect()
    }
}

impl<T: WireFormat> Wire for T {
    fn to_bytes(&self) -> Vec<u8> {
        let mut to = MAGIC.to_vec();
        to.extend([WIRE_VERSION, Self::KIND]);
        self.write(&mut to);
        to
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        if kind_of(bytes)? != Self::KIND {
            return Err(damaged("of another kind of value"));
        }
        let (rest, depth) = (&bytes[5..], 0);
        let mut from = Reader { rest, depth };
        let value = Self::read(&mut from)?;
        if !from.rest.is_empty() {
            return Err(damaged("longer than its value"));
        }
        Ok(value)
    }
}

/// The kind in the header of a binary form.
pub(crate) fn kind_of(bytes: &[u8]) -> Result<u8> {
    match bytes.first_chunk::<5>() {
        None => Err(damaged("shorter than its header")),
        Some([magic @ .., _, _]) if magic != MAGIC => Err(damaged("not of this program")),
        Some([.., WIRE_VERSION, kind]) => Ok(*kind),
        Some([.., version, _]) => Err(damaged(&format!("of version {version}, expected {WIRE_VERSION}"))),
    }
}

pub(crate) fn damaged(problem: &str) -> Error {
    Error::Mismatch(format!("binary data {problem}"))
}

/// Gives fields back in the order in which they were written.
pub(crate) struct Reader<'b> {
    rest: &'b [u8],
    depth: u8,
}

impl<'b> Reader<'b> {
    fn take(&mut self, bytes: usize) -> Result<&'b [u8]> {
        let cut = self.rest.split_at_checked(bytes);
        let (taken, rest) = cut.ok_or_else(|| damaged("cut short"))?;
        self.rest = rest;
        Ok(taken)
    }

    /// Reads values inside of a value.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == MAX_DEPTH {
            return Err(damaged("with values inside of too many others"));
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }
}

macro_rules! numbers {
    ($($type:ty),+) => {
        $(impl WireFormat for $type {
            fn write(&self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }

            fn read(from: &mut Reader<'_>) -> Result<Self> {
                Ok(Self::read_all(1, from)?[0])
            }

            fn write_all(values: &[Self], to: &mut Vec<u8>) {
                to.reserve(size_of_val(values));
                values.iter().for_each(|value| value.write(to));
            }

            /// The length is checked against what is there before anything is allocated.
            fn read_all(count: usize, from: &mut Reader<'_>) -> Result<Vec<Self>> {
                let values = from.take(count.saturating_mul(size_of::<Self>()))?;
                let values = values.as_chunks::<{ size_of::<Self>() }>().0;
                Ok(values.iter().map(|&value| Self::from_le_bytes(value)).collect())
            }
        })+
    };
}
numbers!(u8, u16, u32, u64, f64);

impl WireFormat for usize {
    fn write(&self, to: &mut Vec<u8>) {
        (*self as u64).write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        usize::try_from(u64::read(from)?).map_err(|_| damaged("with a number beyond this machine"))
    }
}

impl WireFormat for bool {
    fn write(&self, to: &mut Vec<u8>) {
        u8::from(*self).write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        match u8::read(from)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(damaged("with a number that is neither yes nor no")),
        }
    }
}

impl<T: WireFormat> WireFormat for Vec<T> {
    fn write(&self, to: &mut Vec<u8>) {
        self.len().write(to);
        T::write_all(self, to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let count = usize::read(from)?;
        from.nested(|from| T::read_all(count, from))
    }
}

impl<T: WireFormat> WireFormat for Option<T> {
    fn write(&self, to: &mut Vec<u8>) {
        self.is_some().write(to);
        if let Some(value) = self {
            value.write(to);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        bool::read(from)?.then(|| T::read(from)).transpose()
    }
}

macro_rules! pointers {
    ($($pointer:ident),+) => {
        $(impl<T: WireFormat> WireFormat for $pointer<T> {
            fn write(&self, to: &mut Vec<u8>) {
                (**self).write(to);
            }

            fn read(from: &mut Reader<'_>) -> Result<Self> {
                from.nested(T::read).map($pointer::new)
            }
        })+
    };
}
pointers!(Box, Arc);

impl WireFormat for AlignedVec {
    fn write(&self, to: &mut Vec<u8>) {
        self.to_vec().write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let values = Vec::<f64>::read(from)?;
        let mut aligned = Self::zero(values.len());
        aligned.copy_from_slice(&values);
        Ok(aligned)
    }
}

macro_rules! tuples {
    ($(($($type:ident $index:tt),+)),+) => {
        $(impl<$($type: WireFormat),+> WireFormat for ($($type,)+) {
            fn write(&self, to: &mut Vec<u8>) {
                $(self.$index.write(to);)+
            }

            fn read(from: &mut Reader<'_>) -> Result<Self> {
                Ok(($($type::read(from)?,)+))
            }
        })+
    };
}
tuples!((A 0, B 1), (A 0, B 1, C 2, D 3));

/// The binary form of a type: its kind, and its fields in order. `check` is a function of the value that says
/// whether its fields fit together, for forms that come from outside.
///
/// ```text
/// wire_format!(7 Fingerprint { workers, classes, sum });
/// wire_format!(25 CountFirst { 0 });                                   a field of a tuple struct
/// wire_format!(56 Joining { parent, labels } check Joining::is_forest);
/// wire_format!(30 enum Rule { 0 => Votes { 0: shares }, 1 => Model {} });
/// wire_format!(27 SweepPass { sweep, counted } default { tallies });    what does not travel
/// ```
macro_rules! wire_format {
    ($kind:literal enum $type:ident { $($tag:literal => $variant:ident { $($field:tt: $name:ident),* }),+ $(,)? }) => {
        impl $crate::blocks::WireFormat for $type {
            const KIND: u8 = $kind;

            fn write(&self, to: &mut Vec<u8>) {
                match self {
                    $(Self::$variant { $($field: $name),* } => {
                        u8::write(&$tag, to);
                        $($crate::blocks::WireFormat::write($name, to);)*
                    })+
                }
            }

            fn read(from: &mut $crate::blocks::Reader<'_>) -> $crate::error::Result<Self> {
                Ok(match <u8 as $crate::blocks::WireFormat>::read(from)? {
                    $($tag => {
                        $(let $name = $crate::blocks::WireFormat::read(from)?;)*
                        Self::$variant { $($field: $name),* }
                    })+
                    _ => return Err($crate::blocks::damaged("of a variant that is not known here")),
                })
            }
        }
    };
    ($kind:literal $type:ident { $($field:tt),* $(,)? } $(default { $($own:ident),+ })? $(check $check:expr)?) => {
        impl $crate::blocks::WireFormat for $type {
            const KIND: u8 = $kind;

            fn write(&self, _to: &mut Vec<u8>) {
                $($crate::blocks::WireFormat::write(&self.$field, _to);)*
            }

            fn read(_from: &mut $crate::blocks::Reader<'_>) -> $crate::error::Result<Self> {
                let value = Self {
                    $($field: $crate::blocks::WireFormat::read(_from)?,)*
                    $($($own: Default::default(),)+)?
                };
                $(if !$check(&value) {
                    return Err($crate::blocks::damaged("whose parts do not fit together"));
                })?
                Ok(value)
            }
        }
    };
}
pub(crate) use wire_format;

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use super::*;
    use crate::blocks::TaskBlock;
    use crate::methods::tests::toy_a;
    use crate::methods::vote_fractions;
    use crate::model::count_answers;
    use crate::statistics::CoOccurrence;

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
        check(&CoOccurrence::of_block(annotations.as_block()));
    }

    /// A value inside of itself, again and again.
    #[derive(Debug)]
    struct Nested {
        inner: Vec<Nested>,
    }
    wire_format!(99 Nested { inner });

    #[test]
    fn values_inside_of_values_end() {
        let mut value = Nested { inner: Vec::new() };
        for _ in 0..7 {
            value = Nested { inner: vec![value] };
        }
        assert!(Nested::from_bytes(&value.to_bytes()).is_ok());
        let mut deep = value.to_bytes()[..5].to_vec();
        (0..100_000).for_each(|_| deep.extend(1u64.to_le_bytes()));
        assert!(Nested::from_bytes(&deep).is_err());
    }
}
