//! Ctrl-C, SIGTERM and SIGHUP: the program stops, and leaves nothing half-written behind.
//!
//! While something is fitted or written that can stop by itself, the first signal asks it to (`compare` then
//! shows what is finished). Otherwise, and at the second signal, what is not finished is removed and the
//! program ends at once, with 128 and the number of the signal as its code. Signals that were ignored when
//! the program started (`nohup`) stay ignored.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Once};

static STOPPED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Whether somebody looks at the flag.
static HEEDED: AtomicBool = AtomicBool::new(false);

/// The flag that a signal sets; whoever asks for it will look at it.
pub fn flag() -> Arc<AtomicBool> {
    HEEDED.store(true, Ordering::Relaxed);
    Arc::clone(&STOPPED)
}

/// Watches for signals from now on.
pub fn watch() {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(start);
}

fn stop(code: i32) {
    let asked = STOPPED.swap(true, Ordering::Relaxed);
    if asked || !HEEDED.load(Ordering::Relaxed) {
        quorate_io::abandon_outputs();
        std::process::exit(code);
    }
}

// Where signals cannot be watched they end the program as usual.
#[cfg(unix)]
fn start() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let ignored = ignored_signals();
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter();
    let wanted = wanted.filter(|signal| ignored >> (signal - 1) & 1 == 0);
    if let Ok(mut signals) = signal_hook::iterator::Signals::new(wanted) {
        std::thread::spawn(move || signals.forever().for_each(|signal| stop(128 + signal)));
    }
}

/// One bit for each signal that is ignored, the lowest for signal 1; none where the system does not tell.
#[cfg(unix)]
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

#[cfg(not(unix))]
fn start() {
    let _ = ctrlc::set_handler(|| stop(130));
}
