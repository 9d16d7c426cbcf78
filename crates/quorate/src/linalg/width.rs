//! Numbers of classes that the compiler knows.
//!
//! Loops over K run several times faster when K is a constant: they unroll and need no bounds checks. Kernels are
//! written once, generic over a [`Width`], and [`with_width!`] picks the constant for the usual small K.

/// A number of classes, a constant where it is small.
pub(crate) trait Width: Copy + Send + Sync {
    /// The number.
    fn get(self) -> usize;

    /// Multiplies the row, number by number, by those that stand at each of the places of a table.
    fn multiply(self, row: &mut [f64], table: &[f64], places: impl Iterator<Item = usize>);
}

/// Known to the compiler.
#[derive(Clone, Copy)]
pub(crate) struct Fixed<const K: usize>;

/// Known at run time only.
#[derive(Clone, Copy)]
pub(crate) struct Runtime(pub usize);

impl<const K: usize> Width for Fixed<K> {
    #[inline(always)]
    fn get(self) -> usize {
        K
    }

    #[inline(always)]
    fn multiply(self, row: &mut [f64], table: &[f64], places: impl Iterator<Item = usize>) {
        let Some(row) = row.first_chunk_mut::<K>() else {
            return;
        };
        // An array of its own stays in registers; through the slice every product would go through memory.
        let mut product = *row;
        for place in places {
            let factors = &table[place..][..K];
            for k in 0..K {
                product[k] *= factors[k];
            }
        }
        *row = product;
    }
}

impl Width for Runtime {
    #[inline(always)]
    fn get(self) -> usize {
        self.0
    }

    #[inline(always)]
    fn multiply(self, row: &mut [f64], table: &[f64], places: impl Iterator<Item = usize>) {
        for place in places {
            for (value, factor) in row.iter_mut().zip(&table[place..][..self.0]) {
                *value *= factor;
            }
        }
    }
}

/// Evaluates `$body` with `$width` bound to the [`Width`] of `$classes`.
macro_rules! with_width {
    ($classes:expr, $width:ident => $body:expr) => {
        match $classes {
            2 => {
                let $width = $crate::linalg::width::Fixed::<2>;
                $body
            }
            3 => {
                let $width = $crate::linalg::width::Fixed::<3>;
                $body
            }
            4 => {
                let $width = $crate::linalg::width::Fixed::<4>;
                $body
            }
            5 => {
                let $width = $crate::linalg::width::Fixed::<5>;
                $body
            }
            8 => {
                let $width = $crate::linalg::width::Fixed::<8>;
                $body
            }
            classes => {
                let $width = $crate::linalg::width::Runtime(classes);
                $body
            }
        }
    };
}
pub(crate) use with_width;
