//! The limit of memory: what it is, and the words where it is reached in the middle of somebody else's code.

use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use quorate::Remedy;
use quorate::internal::format_bytes;
use quorate_io::being_read;
use quorate_machine::memory::{self, TooMuch};

use crate::numbers::number;
use crate::printer::harmless;
use crate::remedies;

const GIB: f64 = (1u64 << 30) as f64;

/// The process ends where this share of the limit, or so many bytes if that is more, would be allocated.
/// Above 1: what asks before it takes memory is to give its own error. Below the 1.25 that the limit may be
/// exceeded by: what the program itself takes is not counted.
const STOP_AT: f64 = 1.05;
const STOP_AT_LEAST: u64 = 64 << 20;

/// How much memory a command may take.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Running")]
pub struct MemoryArgs {
    /// Refuse what would need more memory than this, in GiB
    ///
    /// Everything that is allocated counts: the labels, their names, what a method needs. Labels that do not
    /// fit go to disk, where the method can do that (`--spill`).
    #[arg(long = "memory", value_name = "GIB", default_value_t = 4.0, value_parser = number(0.0001, 1_048_576.0))]
    gib: f64,
}

impl MemoryArgs {
    /// So many GiB.
    #[cfg(test)]
    pub fn of(gib: f64) -> Self {
        Self { gib }
    }

    /// The limit in bytes.
    pub fn bytes(&self) -> u64 {
        (self.gib * GIB) as u64
    }

    /// The limit as the option for it.
    pub fn option(&self) -> String {
        format!("--memory {}", self.gib)
    }

    /// Makes it the limit of the process; comes before anything is read.
    pub fn apply(&self) {
        let bytes = self.bytes();
        memory::set_limit(bytes);
        if ENDS_PROCESS.load(Ordering::Relaxed) {
            let stop = (self.gib * GIB * STOP_AT) as u64;
            memory::before_stop(quorate_io::abandon_outputs);
            memory::stop_above(stop.max(STOP_AT_LEAST), words);
        }
    }
}

static ENDS_PROCESS: AtomicBool = AtomicBool::new(false);

/// Lets a command that would take much more memory than its limit end the process with an error in words. For
/// a program that is the whole process: elsewhere only what asks for memory is refused.
pub fn end_process_above_limit() {
    ENDS_PROCESS.store(true, Ordering::Relaxed);
}

/// The error where a block is refused.
fn words(exceeded: TooMuch) -> String {
    let place = being_read().map_or(String::new(), |file| format!("{file}: reading it: "));
    let text = format!(
        "error: {place}{} of memory would be needed in all, and the limit is {}",
        format_bytes(exceeded.needed),
        format_bytes(memory::limit())
    );
    let text = remedies::with_remedy(text, Some(Remedy::RaiseMemoryLimit));
    format!("{}\n", harmless(&text))
}
