//! The linear algebra the methods stand on: small dense K x K kernels, assignment, the top of
//! the spectrum of a block-sparse matrix. Matrices are row-major slices.

pub(crate) mod aligned;
pub mod assignment;
pub mod block_sparse;
pub(crate) mod exponential;
pub mod lanczos;
pub mod small;
pub(crate) mod width;
