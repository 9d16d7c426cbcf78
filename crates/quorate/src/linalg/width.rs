//! Numbers of classes that the compiler knows.
//!
//! Loops over K run several times faster when K is a constant: they unroll and need no bounds checks. Kernels
//! are written once, generic over a [`Width`], and [`with_width!`] picks the constant for the usual small K.

/// A number of classes, a constant where it is small.
pub(crate) trait Width: Copy + Send + Sync {
    /// As many numbers; in registers where the compiler knows how many.
    type Row: AsRef<[f64]> + AsMut<[f64]>;

    /// As many rows; in registers where the compiler knows how many.
    type Block: AsRef<[f64]> + AsMut<[f64]>;

    /// The number.
    fn get(self) -> usize;

    /// Zeros.
    fn row(self) -> Self::Row;

    /// Rows of zeros.
    fn block(self) -> Self::Block;

    /// Puts the rows of a table that stand at these indexes into `row` one after the other, number by number.
    fn gather(self, row: &mut [f64], table: &[f64], rows: &[usize], join: impl Fn(f64, f64) -> f64);

    /// Adds `row` to the rows of a table that stand at these indexes.
    fn scatter(self, row: &[f64], table: &mut [f64], rows: &[usize]);

    /// Adds up rows of two tables, joined number by number and worth so much each.
    fn add_rows(self, sum: &mut [f64], tables: [&[f64]; 2], worth: &[f64], join: impl Fn(f64, f64) -> f64);
}

/// Known to the compiler.
#[derive(Clone, Copy)]
pub(crate) struct Fixed<const K: usize>;

/// Known at run time only.
#[derive(Clone, Copy)]
pub(crate) struct Runtime(pub usize);

/// A square table whose size is known to the compiler, row by row.
pub(crate) struct Square<const K: usize>([[f64; K]; K]);

impl<const K: usize> AsRef<[f64]> for Square<K> {
    #[inline(always)]
    fn as_ref(&self) -> &[f64] {
        self.0.as_flattened()
    }
}

impl<const K: usize> AsMut<[f64]> for Square<K> {
    #[inline(always)]
    fn as_mut(&mut self) -> &mut [f64] {
        self.0.as_flattened_mut()
    }
}

impl<const K: usize> Width for Fixed<K> {
    type Row = [f64; K];
    type Block = Square<K>;

    #[inline(always)]
    fn get(self) -> usize {
        K
    }

    #[inline(always)]
    fn row(self) -> [f64; K] {
        [0.0; K]
    }

    #[inline(always)]
    fn block(self) -> Square<K> {
        Square([[0.0; K]; K])
    }

    #[inline(always)]
    fn gather(self, row: &mut [f64], table: &[f64], rows: &[usize], join: impl Fn(f64, f64) -> f64) {
        let Some(row) = row.first_chunk_mut::<K>() else {
            return;
        };
        let table = table.as_chunks::<K>().0;
        // An array of its own stays in registers; through the slice every number would go through memory.
        let mut joined = *row;
        for &index in rows {
            let found = &table[index];
            for k in 0..K {
                joined[k] = join(joined[k], found[k]);
            }
        }
        *row = joined;
    }

    #[inline(always)]
    fn scatter(self, row: &[f64], table: &mut [f64], rows: &[usize]) {
        let Some(row) = row.first_chunk::<K>() else {
            return;
        };
        let (table, row) = (table.as_chunks_mut::<K>().0, *row);
        for &index in rows {
            let sums = &mut table[index];
            for k in 0..K {
                sums[k] += row[k];
            }
        }
    }

    #[inline(always)]
    fn add_rows(
        self,
        sum: &mut [f64],
        [first, second]: [&[f64]; 2],
        worth: &[f64],
        join: impl Fn(f64, f64) -> f64,
    ) {
        let Some(sum) = sum.first_chunk_mut::<K>() else {
            return;
        };
        let mut added = *sum;
        let rows = first.as_chunks::<K>().0.iter().zip(second.as_chunks::<K>().0);
        for ((first, second), &worth) in rows.zip(worth) {
            for k in 0..K {
                added[k] += worth * join(first[k], second[k]);
            }
        }
        *sum = added;
    }
}

impl Width for Runtime {
    type Row = Vec<f64>;
    type Block = Vec<f64>;

    #[inline(always)]
    fn get(self) -> usize {
        self.0
    }

    #[inline(always)]
    fn row(self) -> Vec<f64> {
        vec![0.0; self.0]
    }

    #[inline(always)]
    fn block(self) -> Vec<f64> {
        vec![0.0; self.0 * self.0]
    }

    #[inline(always)]
    fn gather(self, row: &mut [f64], table: &[f64], rows: &[usize], join: impl Fn(f64, f64) -> f64) {
        for &index in rows {
            for (joined, &found) in row.iter_mut().zip(&table[index * self.0..][..self.0]) {
                *joined = join(*joined, found);
            }
        }
    }

    #[inline(always)]
    fn scatter(self, row: &[f64], table: &mut [f64], rows: &[usize]) {
        for &index in rows {
            for (sum, value) in table[index * self.0..][..self.0].iter_mut().zip(row) {
                *sum += value;
            }
        }
    }

    #[inline(always)]
    fn add_rows(
        self,
        sum: &mut [f64],
        [first, second]: [&[f64]; 2],
        worth: &[f64],
        join: impl Fn(f64, f64) -> f64,
    ) {
        let rows = first.chunks_exact(self.0).zip(second.chunks_exact(self.0));
        for ((first, second), &worth) in rows.zip(worth) {
            for (sum, (&first, &second)) in sum.iter_mut().zip(first.iter().zip(second)) {
                *sum += worth * join(first, second);
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
