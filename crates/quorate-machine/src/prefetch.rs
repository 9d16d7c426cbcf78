//! Prefetch: a cache line is on its way before it is needed.

/// Asks the processor to load the cache line of `values[index]`, without waiting for it. A hint: nothing
/// happens where the processor has no such instruction, or where there is no such value.
#[inline(always)]
pub fn prefetch<T>(values: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = values.as_ptr().wrapping_add(index);
        // SAFETY: a prefetch reads nothing into the program and faults at no address; SSE is part of x86-64.
        #[allow(unsafe_code)]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(address.cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, index);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_index_is_a_hint_and_no_access() {
        let values = [1u64, 2, 3];
        for index in [0, 2, 3, 1 << 40, usize::MAX] {
            prefetch(&values, index);
        }
        prefetch::<u8>(&[], 0);
        assert_eq!(values, [1, 2, 3]);
    }
}
