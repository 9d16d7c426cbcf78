//! All unsafe code of Quorate, behind safe functions.
//!
//! - [`dispatch`]: inner loops compiled for newer processors too, chosen at run time;
//! - [`prefetch`]: a hint to load a cache line before it is needed;
//! - [`delimiter_scan`]: the ends of the fields of delimited text, 64 bytes at a time;
//! - [`HugePages`]: an allocator that puts large blocks on huge pages, and counts all of them;
//! - [`memory`]: what is allocated, and limits for it.
//!
//! Every other crate of the workspace forbids unsafe code. Each unsafe block here states why it is sound, and
//! each piece is here because a benchmark shows what it is worth (`docs/performance.md`).
#![deny(missing_docs)]

mod allocator;
pub mod delimiter_scan;
pub mod dispatch;
#[cfg(target_os = "linux")]
mod mapping;
pub mod memory;
mod prefetch;

pub use allocator::HugePages;
pub use prefetch::prefetch;
