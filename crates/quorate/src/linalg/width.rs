//! Numbers of classes that the compiler knows.
//!
//! Loops over K run several times faster when K is a constant: they unroll and need no bounds checks. Kernels are
//! written once, generic over a [`Width`], and [`with_width!`] picks the constant for the usual small K.

/// A number of classes, a constant where it is small.
pub(crate) trait Width: Copy + Send + Sync {
    /// The number.
    fn get(self) -> usize;
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
}

impl Width for Runtime {
    #[inline(always)]
    fn get(self) -> usize {
        self.0
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
