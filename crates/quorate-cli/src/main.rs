//! The program `quorate`; the library of this crate is all of it.

use std::process::ExitCode;

/// Tables of workers and labels on huge pages: a third off the time of an EM pass.
#[global_allocator]
static MEMORY: quorate_machine::HugePages = quorate_machine::HugePages;

fn main() -> ExitCode {
    quorate_cli::end_process_above_limit();
    ExitCode::from(quorate_cli::run(std::env::args_os()))
}
