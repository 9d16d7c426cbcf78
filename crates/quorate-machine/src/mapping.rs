//! Memory mappings of whole pages, aligned to huge ones.
#![allow(unsafe_code)]

use std::ptr::null_mut;

use crate::allocator::LARGE;

/// A multiple of the small pages of every system.
const PAGE: usize = 1 << 16;

/// The bytes that a block of this size takes: whole pages. None where that would overflow.
fn whole_pages(size: usize) -> Option<usize> {
    size.checked_next_multiple_of(PAGE)
}

/// A fresh block, all zero, aligned to [`LARGE`]; null if there is none to be had.
pub(crate) fn map(size: usize) -> *mut u8 {
    let Some(length) = whole_pages(size) else {
        return null_mut();
    };
    let block = reserve(length);
    if !block.is_null() {
        // A hint: where the system has no huge pages to give, the block is as good as any.
        // SAFETY: the range is the mapping that was just made.
        unsafe { libc::madvise(block.cast(), length, libc::MADV_HUGEPAGE) };
    }
    block
}

/// Gives a block back.
///
/// # Safety
/// The block is one of [`map`] or [`resize`] with this size, and is not used any more.
pub(crate) unsafe fn unmap(block: *mut u8, size: usize) {
    if let Some(length) = whole_pages(size) {
        // SAFETY: the caller gives up a mapping of this length.
        unsafe { libc::munmap(block.cast(), length) };
    }
}

/// A block with the content of another, which is gone then; null if there is none to be had, and the other
/// stays as it is. Pages are moved, not copied.
///
/// # Safety
/// As for [`unmap`].
pub(crate) unsafe fn resize(block: *mut u8, old: usize, new: usize) -> *mut u8 {
    let (Some(from), Some(to)) = (whole_pages(old), whole_pages(new)) else {
        return null_mut();
    };
    if from == to {
        return block;
    }
    if to < from {
        // SAFETY: the end of the mapping, which the smaller block does not use.
        unsafe { libc::munmap(block.add(to).cast(), from - to) };
        return block;
    }
    let place = reserve(to);
    if place.is_null() {
        return null_mut();
    }
    // Pages of 2 MiB stay whole, since both places are aligned to them; the hint moves along.
    let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
    // SAFETY: the block is a mapping of `from` bytes, and `place` one of `to` bytes that nobody uses.
    let moved = unsafe { libc::mremap(block.cast(), from, to, flags, place) };
    if moved == libc::MAP_FAILED {
        // SAFETY: nothing was moved there.
        unsafe { libc::munmap(place.cast(), to) };
        return null_mut();
    }
    moved.cast()
}

/// A mapping of `length` bytes, whole pages, aligned to [`LARGE`]; null if there is none to be had.
fn reserve(length: usize) -> *mut u8 {
    let Some(roomy) = length.checked_add(LARGE) else {
        return null_mut();
    };
    let (access, kind) = (
        libc::PROT_READ | libc::PROT_WRITE,
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
    );
    // SAFETY: a new mapping where the system likes; what is cut off at its ends is not in use.
    unsafe {
        let start = libc::mmap(null_mut(), roomy, access, kind, -1, 0);
        if start == libc::MAP_FAILED {
            return null_mut();
        }
        let start: *mut u8 = start.cast();
        let before = start.align_offset(LARGE);
        let after = LARGE - before;
        if before > 0 {
            libc::munmap(start.cast(), before);
        }
        if after > 0 {
            libc::munmap(start.add(before + length).cast(), after);
        }
        start.add(before)
    }
}
