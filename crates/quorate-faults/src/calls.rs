//! Which call is which, and what becomes of it.

use std::ffi::{CStr, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a call does. The letter in the log is the first of the name, but for those of `chmod` and `link`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Bytes into a file.
    Write,
    /// Bytes out of a file.
    Read,
    /// Down to the disk.
    Fsync,
    /// Another name in place of this one.
    Name,
    /// Opened, and made if it is not there.
    Create,
    /// Made longer or shorter.
    Truncate,
    /// A file or a folder removed.
    Unlink,
    /// A folder made.
    Mkdir,
    /// A second name.
    Link,
    /// Other permissions.
    Permissions,
}

/// All kinds, with their letters.
const KINDS: [(Kind, u8); 10] = [
    (Kind::Write, b'w'),
    (Kind::Read, b'r'),
    (Kind::Fsync, b'f'),
    (Kind::Name, b'n'),
    (Kind::Create, b'c'),
    (Kind::Truncate, b't'),
    (Kind::Unlink, b'u'),
    (Kind::Mkdir, b'm'),
    (Kind::Link, b'l'),
    (Kind::Permissions, b'p'),
];

static COUNTS: [AtomicU64; KINDS.len()] = [const { AtomicU64::new(0) }; KINDS.len()];

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It goes to the kernel.
    Pass,
    /// It fails with this error.
    Fail(c_int),
    /// It does a part, drawn by this number.
    Short(u64),
}

/// What a call is about.
#[derive(Clone, Copy)]
pub(crate) enum About<'a> {
    /// An open file.
    Descriptor(c_int),
    /// A path, relative to an open folder or to the current one (`AT_FDCWD`).
    Path(c_int, &'a CStr),
}

struct Settings {
    folder: PathBuf,
    log: Option<c_int>,
    fault: Option<Fault>,
    clock: bool,
}

struct Fault {
    letter: u8,
    calls: std::ops::RangeInclusive<u64>,
    action: Action,
}

enum Action {
    Fail(c_int),
    Short,
    Kill,
}

impl Fault {
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(':');
        let letter = *parts.next()?.as_bytes().first()?;
        let (first, last) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let action = match parts.next()? {
            "short" => Action::Short,
            "kill" => Action::Kill,
            number => Action::Fail(number.parse().ok()?),
        };
        Some(Self {
            letter,
            calls: first..=last,
            action,
        })
    }
}

fn settings() -> Option<&'static Settings> {
    static SETTINGS: OnceLock<Option<Settings>> = OnceLock::new();
    let made = SETTINGS.get_or_init(|| {
        let folder = std::env::var_os("QUORATE_FAULT_FOLDER")?;
        let fault = std::env::var("QUORATE_FAULT").ok();
        Some(Settings {
            folder: folder.into(),
            log: std::env::var_os("QUORATE_FAULT_LOG").and_then(|path| open_log(&path)),
            fault: fault.and_then(|text| Fault::parse(&text)),
            clock: std::env::var_os("QUORATE_FAULT_CLOCK").is_some(),
        })
    });
    made.as_ref()
}

/// Opens the log by the kernel's own call: ours would count it.
fn open_log(path: &OsStr) -> Option<c_int> {
    let path = std::ffi::CString::new(path.as_bytes()).ok()?;
    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_APPEND | libc::O_CLOEXEC;
    // SAFETY: the path ends in NUL and lives until the call is over.
    let opened = unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags, 0o600) };
    c_int::try_from(opened).ok().filter(|&opened| opened >= 0)
}

/// Seconds that a clock is off at this look.
pub(crate) fn clock_jump() -> i64 {
    static LOOKS: AtomicU64 = AtomicU64::new(0);
    const HOUR: u64 = 3600;
    match settings() {
        Some(settings) if settings.clock => {
            let look = LOOKS.fetch_add(1, Ordering::Relaxed);
            (look.wrapping_mul(2_654_435_761) % (2 * HOUR)) as i64 - HOUR as i64
        }
        _ => 0,
    }
}

/// Counts a call, and says what becomes of it.
pub(crate) fn decide(kind: Kind, about: About<'_>) -> Fate {
    let Some(settings) = settings() else {
        return Fate::Pass;
    };
    if !path_of(about).is_some_and(|path| path.starts_with(&settings.folder)) {
        return Fate::Pass;
    }
    let index = KINDS.iter().position(|(known, _)| *known == kind).unwrap_or(0);
    let letter = KINDS[index].1;
    let number = COUNTS[index].fetch_add(1, Ordering::Relaxed) + 1;
    if let Some(log) = settings.log {
        // SAFETY: one byte of our own.
        unsafe { libc::syscall(libc::SYS_write, log, &raw const letter, 1) };
    }
    match &settings.fault {
        Some(fault) if fault.letter == letter && fault.calls.contains(&number) => match fault.action {
            Action::Fail(error) => Fate::Fail(error),
            Action::Short => Fate::Short(number),
            Action::Kill => {
                // SAFETY: takes two numbers.
                unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
                Fate::Pass
            }
        },
        _ => Fate::Pass,
    }
}

fn path_of(about: About<'_>) -> Option<PathBuf> {
    match about {
        About::Descriptor(descriptor) => descriptor_path(descriptor),
        About::Path(folder, path) => {
            let path = Path::new(OsStr::from_bytes(path.to_bytes()));
            Some(match folder {
                _ if path.is_absolute() => path.to_path_buf(),
                libc::AT_FDCWD => std::env::current_dir().ok()?.join(path),
                folder => descriptor_path(folder)?.join(path),
            })
        }
    }
}

fn descriptor_path(descriptor: c_int) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{descriptor}")).ok()
}

/// A C string of a caller.
///
/// # Safety
/// `text` ends in NUL, or is null.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> &'a CStr {
    if text.is_null() {
        return c"";
    }
    // SAFETY: as the caller of the C library promised.
    unsafe { CStr::from_ptr(text) }
}
