//! Inner loops compiled for newer processors too, chosen when the program runs.
//!
//! The program is built for every processor of its family, that is, without the wide registers and bit instructions that
//! nearly all in use have had for years. A [`Kernel`] is compiled twice, and [`run`] takes the faster of what the processor
//! can do. Both do the same operations in the same order (nothing is fused or reordered), so results are the same, bit for
//! bit.

/// Work whose speed depends on the processor. Mark `run`, and what it calls in its loops, `#[inline(always)]`: only what
/// is inlined is compiled for the newer processor.
pub trait Kernel {
    /// What it gives.
    type Output;

    /// Does the work.
    fn run(self) -> Self::Output;
}

/// Runs a kernel by the best instructions that the processor has.
#[inline]
pub fn run<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: the processor has every feature that the function asks for.
        #[allow(unsafe_code)]
        return unsafe { run_avx2(kernel) };
    }
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn run_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

/// Has the line of memory with this value fetched, without waiting for it. A hint: nothing happens where the processor
/// has no such instruction, or where there is no such value.
#[inline(always)]
pub(crate) fn prefetch<T>(values: &[T], place: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = values.as_ptr().wrapping_add(place);
        // SAFETY: fetching ahead reads nothing into the program and faults at no address; SSE is part of x86-64.
        #[allow(unsafe_code)]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(address.cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, place);
}
