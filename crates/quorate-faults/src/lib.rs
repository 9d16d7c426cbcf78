//! Makes system calls of a program fail, one at a time, by replacing functions of the C library
//! (`LD_PRELOAD`, Linux).
//!
//! Environment variables say which:
//!
//! - `QUORATE_FAULT_FOLDER`: only calls on paths below this folder count.
//! - `QUORATE_FAULT_LOG`: a file that gets one letter for each call that counts ([`calls::Kind`]).
//! - `QUORATE_FAULT`: `KIND:FIRST:LAST:ACTION`, calls `FIRST` to `LAST` of a kind. The action is the number
//!   of an error, `short` (read or write less than asked for) or `kill` (SIGKILL before the call).
//! - `QUORATE_FAULT_CLOCK`: all clocks jump forth and back by up to an hour at every look.
//!
//! Everything else goes to the kernel as it is. Not published, and linked by nobody:
//! `quorate-cli/tests/faults.rs` loads it.

#[cfg(target_os = "linux")]
pub mod calls;
#[cfg(target_os = "linux")]
mod replaced;
