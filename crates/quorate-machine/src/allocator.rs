//! An allocator that puts large blocks of memory on huge pages.
//!
//! A pass of EM jumps through the workers' tables. In pages of 4 KiB every jump is also a jump through the
//! page table of the processor, and that is a third of the pass. Fresh memory also costs a page fault for
//! each page. So blocks of 2 MiB and more are mapped directly, at addresses where the system can use pages of
//! 2 MiB, with the hint that it should. Everything else, and everything on other systems, goes to the
//! allocator of the system. All blocks are counted ([`crate::memory`]).

#[cfg(target_os = "linux")]
use crate::mapping;
use crate::memory;

use std::alloc::{GlobalAlloc, Layout, System};

/// Bytes of a huge page, and the size from which a block is large.
#[cfg(target_os = "linux")]
pub(crate) const LARGE: usize = 2 << 20;

/// The allocator: large blocks on huge pages, small ones from the system's allocator.
///
/// ```
/// #[global_allocator]
/// static MEMORY: quorate_machine::HugePages = quorate_machine::HugePages;
/// # let large = vec![1u8; 5 << 20];
/// # assert!(large.iter().all(|&byte| byte == 1));
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct HugePages;

/// Whether a block is a mapping of its own: by its layout alone, so that it goes back to where it came from.
fn is_large(layout: Layout) -> bool {
    #[cfg(target_os = "linux")]
    return layout.size() >= LARGE && layout.align() <= LARGE;
    #[cfg(not(target_os = "linux"))]
    return false;
}

// SAFETY: small blocks are the system allocator's. Large ones are mappings of their own, at least as long as
// the layout and aligned to 2 MiB; they are told apart by the layout, which the caller hands in again, the
// same, when it gives the block back.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        memory::take(footprint(layout.size()));
        #[cfg(target_os = "linux")]
        if is_large(layout) {
            return counted(mapping::map(layout.size()), footprint(layout.size()));
        }
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        counted(unsafe { System.alloc(layout) }, footprint(layout.size()))
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        memory::take(footprint(layout.size()));
        #[cfg(target_os = "linux")]
        if is_large(layout) {
            return counted(mapping::map(layout.size()), footprint(layout.size()));
        }
        // SAFETY: as in `alloc`.
        counted(unsafe { System.alloc_zeroed(layout) }, footprint(layout.size()))
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        memory::give(footprint(layout.size()));
        #[cfg(target_os = "linux")]
        if is_large(layout) {
            // SAFETY: a large block is one of `map` or `resize`, and the caller uses it no more.
            return unsafe { mapping::unmap(block, layout.size()) };
        }
        // SAFETY: a small block is one of the system's allocator.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises that the new layout is a proper one.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        let (before, after) = (footprint(layout.size()), footprint(size));
        let grown = after.saturating_sub(before);
        let resized = match (is_large(layout), is_large(new)) {
            (false, false) => {
                memory::take(grown);
                // SAFETY: a small block is one of the system's allocator, and stays one.
                counted(unsafe { System.realloc(block, layout, size) }, grown)
            }
            #[cfg(target_os = "linux")]
            (true, true) => {
                memory::take(grown);
                // SAFETY: a large block is one of `map` or `resize`, of this size.
                counted(unsafe { mapping::resize(block, layout.size(), size) }, grown)
            }
            _ => {
                // SAFETY: the caller promises that the new size is not zero.
                let moved = unsafe { self.alloc(new) };
                if !moved.is_null() {
                    // SAFETY: both blocks are at least as long as what is copied, and two different ones; the
                    // old one is used no more.
                    unsafe {
                        std::ptr::copy_nonoverlapping(block, moved, layout.size().min(size));
                        self.dealloc(block, layout);
                    }
                }
                return moved;
            }
        };
        if !resized.is_null() {
            memory::give(before.saturating_sub(after));
        }
        resized
    }
}

/// What a block takes of memory: allocators keep a word beside it, and round up. Without that a million short
/// names would count a tenth of what they take.
#[inline]
fn footprint(bytes: usize) -> usize {
    (bytes.saturating_add(23) & !15).max(32)
}

/// A block whose bytes were counted before; what could not be had is taken off again.
#[inline]
fn counted(block: *mut u8, bytes: usize) -> *mut u8 {
    if block.is_null() {
        memory::give(bytes);
    }
    block
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[global_allocator]
    static MEMORY: HugePages = HugePages;

    /// Sizes below, at and above a huge page, and odd ones.
    const SIZES: [usize; 9] = [
        1,
        4096,
        LARGE - 1,
        LARGE,
        LARGE + 1,
        LARGE + 4096,
        3 * LARGE,
        5_000_001,
        20_000_000,
    ];

    #[test]
    fn blocks_keep_their_content_when_they_grow_and_shrink() {
        for from in SIZES {
            for to in SIZES {
                let mut block: Vec<u8> = (0..from).map(|place| (place % 251) as u8).collect();
                block.shrink_to_fit();
                block.reserve_exact(to.saturating_sub(from));
                block.truncate(to);
                block.shrink_to_fit();
                assert!((0..from.min(to)).all(|place| block[place] == (place % 251) as u8));
                block.resize(to, 7);
                assert!(block[from.min(to)..].iter().all(|&byte| byte == 7));
            }
        }
    }

    #[test]
    fn zeroed_blocks_are_zero_after_others_were_used() {
        for size in SIZES {
            drop(vec![255u8; size]);
            assert!(vec![0u8; size].iter().all(|&byte| byte == 0), "{size}");
        }
    }

    #[test]
    fn large_blocks_start_at_huge_pages() {
        for size in SIZES.into_iter().filter(|&size| size >= LARGE) {
            let block = vec![1u8; size];
            assert_eq!(block.as_ptr() as usize % LARGE, 0, "{size}");
        }
    }

    #[test]
    fn short_blocks_count_what_they_take() {
        assert_eq!([0, 1, 24, 25, 40, 41].map(footprint), [32, 32, 32, 48, 48, 64]);
        assert_eq!(footprint(usize::MAX), usize::MAX & !15);
    }

    #[test]
    fn many_threads_at_once() {
        let work = |seed: usize| {
            for round in 0..50 {
                let block = vec![seed as u64; (LARGE >> 3) + 512 * (round % 7)];
                assert!(block.iter().all(|&number| number == seed as u64));
            }
        };
        std::thread::scope(|scope| {
            (0..4).for_each(|seed| {
                scope.spawn(move || work(seed));
            });
        });
    }

    #[test]
    fn what_cannot_be_had_is_refused() {
        let mut block: Vec<u8> = Vec::new();
        assert!(block.try_reserve_exact(isize::MAX as usize - LARGE).is_err());
        let mut block = vec![3u8; LARGE];
        assert!(block.try_reserve_exact(isize::MAX as usize - 2 * LARGE).is_err());
        assert!(block.iter().all(|&byte| byte == 3));
    }
}
