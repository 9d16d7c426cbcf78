//! How much memory is allocated, what it may come to, and who ends the program above that.
//!
//! [`HugePages`](crate::HugePages) counts every block. Small blocks are counted in batches of each thread, so
//! that they cost an addition and no traffic between processors; [`allocated`] is therefore off by up to 64
//! KiB for each thread. Where another allocator is in use, nothing is counted and nothing is refused.
//!
//! There are two limits. Readers and methods ask [`check_room`] before they take more, and give an error:
//! that is the limit of the user. Decoders of others do not ask. For those a program can name a second limit,
//! a little higher, and what to do where a block would cross it ([`stop_above`]): a block that cannot be had
//! would end the process without a word.

use std::cell::Cell;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock};

/// The least that a limit of all that is allocated can be: buffers of readers and threads take some of it in
/// any run, however small its input is. A lower limit holds for single tables, not for the whole process.
pub const LEAST: u64 = 48 << 20;

/// Bytes that a thread counts before it tells the others.
const BATCH: i64 = 1 << 16;

static ALLOCATED: AtomicI64 = AtomicI64::new(0);
static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);
static STOP: AtomicI64 = AtomicI64::new(i64::MAX);
static STOPPED: OnceLock<Stop> = OnceLock::new();
static CLEAN_UP: RwLock<Vec<CleanUp>> = RwLock::new(Vec::new());

/// What to say, and where the process is at its end.
type Stop = fn(TooMuch) -> String;

/// Removes what must not stay behind.
pub type CleanUp = fn();

thread_local! {
    /// Bytes taken (or given back, below zero) that are not in `ALLOCATED` yet.
    static PENDING: Cell<i64> = const { Cell::new(0) };
    /// Whether this thread is ending the process.
    static ENDING: Cell<bool> = const { Cell::new(false) };
}

/// More memory than there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooMuch {
    /// Bytes that would be allocated in all.
    pub needed: u64,
    /// Bytes that may be.
    pub limit: u64,
}

/// Bytes that are allocated now.
pub fn allocated() -> u64 {
    u64::try_from(ALLOCATED.load(Ordering::Relaxed)).unwrap_or(0)
}

/// Bytes that may be allocated, not below [`LEAST`]; `u64::MAX` where nobody set a limit.
pub fn limit() -> u64 {
    LIMIT.load(Ordering::Relaxed)
}

/// Sets the limit of the whole process.
pub fn set_limit(bytes: u64) {
    LIMIT.store(bytes.max(LEAST), Ordering::Relaxed);
}

/// Fails where so many bytes more would be above the limit.
pub fn check_room(more: u64) -> Result<(), TooMuch> {
    let (needed, limit) = (allocated().saturating_add(more), limit());
    if needed > limit {
        Err(TooMuch { needed, limit })
    } else {
        Ok(())
    }
}

/// Ends the process where a block would bring what is allocated above so many bytes: the clean-ups run, the
/// message that `words` makes goes to standard error, and the exit code is 2. The first call counts.
pub fn stop_above(bytes: u64, words: fn(TooMuch) -> String) {
    if STOPPED.set(words).is_ok() {
        STOP.store(i64::try_from(bytes).unwrap_or(i64::MAX), Ordering::Relaxed);
    }
}

/// Has this function called before the process is ended.
pub fn before_stop(clean_up: CleanUp) {
    let mut all = CLEAN_UP.write().unwrap_or_else(PoisonError::into_inner);
    if !all.iter().any(|known| std::ptr::fn_addr_eq(*known, clean_up)) {
        all.push(clean_up);
    }
}

/// Counts a block that is about to be allocated.
#[inline]
pub(crate) fn take(bytes: usize) {
    count(counted(bytes));
}

/// Counts a block that is given back, or could not be had.
#[inline]
pub(crate) fn give(bytes: usize) {
    count(-counted(bytes));
}

/// A size as it is counted: what no machine has must not run over.
#[inline]
fn counted(bytes: usize) -> i64 {
    const MOST: usize = 1 << 60;
    bytes.min(MOST) as i64
}

#[inline]
fn count(bytes: i64) {
    // A plain cell without a destructor: there at any time in the life of a thread, and no allocation.
    PENDING.with(|pending| {
        let sum = pending.get() + bytes;
        if -BATCH < sum && sum < BATCH {
            pending.set(sum)
        } else {
            pending.set(0);
            tell(sum);
        }
    });
}

#[cold]
#[inline(never)]
fn tell(bytes: i64) {
    let sum = ALLOCATED.fetch_add(bytes, Ordering::Relaxed).wrapping_add(bytes);
    if bytes > 0 && sum > STOP.load(Ordering::Relaxed) {
        stop(sum);
    }
}

/// Ends the process. One thread does it, and the others wait for the end.
fn stop(needed: i64) {
    if ENDING.with(Cell::get) {
        return;
    }
    let limit = STOP.swap(0, Ordering::Relaxed);
    if limit == 0 {
        loop {
            std::thread::park();
        }
    }
    ENDING.with(|ending| ending.set(true));
    let number = |bytes: i64| u64::try_from(bytes).unwrap_or(0);
    let exceeded = TooMuch {
        needed: number(needed),
        limit: number(limit),
    };
    let message = STOPPED.get().map(|words| words(exceeded)).unwrap_or_default();
    // Whoever holds the list is registering another one, and might wait for us.
    if let Ok(all) = CLEAN_UP.try_read() {
        all.iter().for_each(|clean_up| clean_up());
    }
    end(&message)
}

/// Writes the message and ends the process at once: other threads may hold any lock, so nothing else is run.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn end(message: &str) -> ! {
    // SAFETY: the text is as long as it says, and the file descriptor belongs to every process.
    unsafe {
        libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len());
        libc::_exit(2)
    }
}

/// Writes the message and ends the process.
#[cfg(not(target_os = "linux"))]
fn end(message: &str) -> ! {
    eprint!("{message}");
    std::process::exit(2)
}
