//! The functions of the C library that are replaced. Each asks [`decide`] and else makes the kernel's own
//! call, which sets `errno` itself.

use std::ffi::{c_char, c_int, c_long, c_uint, c_void};

use libc::{AT_FDCWD, clockid_t, iovec, mode_t, off_t, size_t, ssize_t, timespec};

use crate::calls::{About, Fate, Kind, clock_jump, decide, text};

/// Makes the kernel's call, or fails as [`decide`] says.
macro_rules! unless_failed {
    ($kind:expr, $about:expr, $call:expr) => {
        match decide($kind, $about) {
            Fate::Fail(error) => fail(error),
            // SAFETY: the arguments are those that our caller gave to the C library.
            Fate::Pass | Fate::Short(_) => unsafe {
                libc::syscall($call.0, $call.1, $call.2, $call.3, $call.4)
            },
        }
    };
}

fn fail(error: c_int) -> c_long {
    // SAFETY: the address of this thread's own number.
    unsafe { *libc::__errno_location() = error };
    -1
}

/// How much of `count` is done.
fn part(fate: Fate, count: size_t) -> size_t {
    match fate {
        Fate::Short(number) if count > 1 => 1 + (number as usize).wrapping_mul(7919) % (count - 1),
        _ => count,
    }
}

/// A call that moves bytes, for which doing a part is no failure.
fn moved(kind: Kind, descriptor: c_int, count: size_t, call: impl FnOnce(size_t) -> c_long) -> ssize_t {
    match decide(kind, About::Descriptor(descriptor)) {
        Fate::Fail(error) => fail(error) as ssize_t,
        fate => call(part(fate, count)) as ssize_t,
    }
}

/// # Safety
/// As for `write` of the C library; so for all functions here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn write(descriptor: c_int, bytes: *const c_void, count: size_t) -> ssize_t {
    moved(Kind::Write, descriptor, count, |count| {
        // SAFETY: a part of the caller's bytes.
        unsafe { libc::syscall(libc::SYS_write, descriptor, bytes, count) }
    })
}

/// # Safety
/// See [`write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwrite64(
    descriptor: c_int,
    bytes: *const c_void,
    count: size_t,
    offset: off_t,
) -> ssize_t {
    moved(Kind::Write, descriptor, count, |count| {
        // SAFETY: a part of the caller's bytes.
        unsafe { libc::syscall(libc::SYS_pwrite64, descriptor, bytes, count, offset) }
    })
}

/// # Safety
/// See [`write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn writev(descriptor: c_int, parts: *const iovec, count: c_int) -> ssize_t {
    moved(Kind::Write, descriptor, count as size_t, |count| {
        // SAFETY: some of the caller's slices.
        unsafe { libc::syscall(libc::SYS_writev, descriptor, parts, count) }
    })
}

/// # Safety
/// See [`write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn copy_file_range(
    from: c_int,
    from_offset: *mut off_t,
    to: c_int,
    to_offset: *mut off_t,
    count: size_t,
    flags: c_uint,
) -> ssize_t {
    moved(Kind::Write, to, count, |count| {
        // SAFETY: the caller's arguments.
        unsafe {
            libc::syscall(
                libc::SYS_copy_file_range,
                from,
                from_offset,
                to,
                to_offset,
                count,
                flags,
            )
        }
    })
}

/// # Safety
/// See [`write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn read(descriptor: c_int, bytes: *mut c_void, count: size_t) -> ssize_t {
    moved(Kind::Read, descriptor, count, |count| {
        // SAFETY: a part of the caller's room.
        unsafe { libc::syscall(libc::SYS_read, descriptor, bytes, count) }
    })
}

/// # Safety
/// See [`write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pread64(
    descriptor: c_int,
    bytes: *mut c_void,
    count: size_t,
    offset: off_t,
) -> ssize_t {
    moved(Kind::Read, descriptor, count, |count| {
        // SAFETY: a part of the caller's room.
        unsafe { libc::syscall(libc::SYS_pread64, descriptor, bytes, count, offset) }
    })
}

/// # Safety
/// See [`write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn openat64(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the caller's path.
    let about = About::Path(folder, unsafe { text(path) });
    let call = (libc::SYS_openat, folder, path, flags, mode);
    if flags & libc::O_CREAT == 0 {
        // SAFETY: the caller's arguments.
        return unsafe { libc::syscall(call.0, call.1, call.2, call.3, call.4) } as c_int;
    }
    unless_failed!(Kind::Create, about, call) as c_int
}

/// # Safety
/// See [`write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { openat64(AT_FDCWD, path, flags, mode) }
}

/// # Safety
/// See [`write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { openat64(AT_FDCWD, path, flags, mode) }
}

/// # Safety
/// See [`write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn openat(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { openat64(folder, path, flags, mode) }
}

/// # Safety
/// See [`write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fsync(descriptor: c_int) -> c_int {
    let call = (libc::SYS_fsync, descriptor, 0, 0, 0);
    unless_failed!(Kind::Fsync, About::Descriptor(descriptor), call) as c_int
}

/// # Safety
/// See [`write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fdatasync(descriptor: c_int) -> c_int {
    let call = (libc::SYS_fdatasync, descriptor, 0, 0, 0);
    unless_failed!(Kind::Fsync, About::Descriptor(descriptor), call) as c_int
}

/// # Safety
/// See [`write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ftruncate64(descriptor: c_int, length: off_t) -> c_int {
    let call = (libc::SYS_ftruncate, descriptor, length, 0, 0);
    unless_failed!(Kind::Truncate, About::Descriptor(descriptor), call) as c_int
}

/// # Safety
/// See [`write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fallocate64(descriptor: c_int, mode: c_int, offset: off_t, length: off_t) -> c_int {
    let call = (libc::SYS_fallocate, descriptor, mode, offset, length);
    unless_failed!(Kind::Truncate, About::Descriptor(descriptor), call) as c_int
}

/// # Safety
/// See [`write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: the caller's path.
    let about = About::Path(AT_FDCWD, unsafe { text(to) });
    match decide(Kind::Name, about) {
        Fate::Fail(error) => fail(error) as c_int,
        // SAFETY: the caller's paths.
        _ => unsafe { libc::syscall(libc::SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0) as c_int },
    }
}

/// # Safety
/// See [`write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unlinkat(folder: c_int, path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: the caller's path.
    let about = About::Path(folder, unsafe { text(path) });
    unless_failed!(Kind::Unlink, about, (libc::SYS_unlinkat, folder, path, flags, 0)) as c_int
}

/// # Safety
/// See [`write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unlink(path: *const c_char) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { unlinkat(AT_FDCWD, path, 0) }
}

/// # Safety
/// See [`write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmdir(path: *const c_char) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { unlinkat(AT_FDCWD, path, libc::AT_REMOVEDIR) }
}

/// # Safety
/// See [`write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mkdir(path: *const c_char, mode: mode_t) -> c_int {
    // SAFETY: the caller's path.
    let about = About::Path(AT_FDCWD, unsafe { text(path) });
    unless_failed!(Kind::Mkdir, about, (libc::SYS_mkdirat, AT_FDCWD, path, mode, 0)) as c_int
}

/// # Safety
/// See [`write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkat(
    from_folder: c_int,
    from: *const c_char,
    to_folder: c_int,
    to: *const c_char,
    flags: c_int,
) -> c_int {
    // SAFETY: the caller's path.
    let about = About::Path(to_folder, unsafe { text(to) });
    match decide(Kind::Link, about) {
        Fate::Fail(error) => fail(error) as c_int,
        // SAFETY: the caller's paths.
        _ => unsafe { libc::syscall(libc::SYS_linkat, from_folder, from, to_folder, to, flags) as c_int },
    }
}

/// # Safety
/// See [`write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn link(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { linkat(AT_FDCWD, from, AT_FDCWD, to, 0) }
}

/// # Safety
/// See [`write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fchmod(descriptor: c_int, mode: mode_t) -> c_int {
    let call = (libc::SYS_fchmod, descriptor, mode, 0, 0);
    unless_failed!(Kind::Permissions, About::Descriptor(descriptor), call) as c_int
}

/// # Safety
/// See [`write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    // SAFETY: the caller's arguments.
    let told = unsafe { libc::syscall(libc::SYS_clock_gettime, clock, time) } as c_int;
    if told == 0 && !time.is_null() {
        // SAFETY: the kernel has just written there. No clock shows less than a second, since no time is
        // before its start.
        unsafe { (*time).tv_sec = ((*time).tv_sec + clock_jump()).max(1) };
    }
    told
}
