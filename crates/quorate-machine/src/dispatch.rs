//! CPU dispatch: inner loops compiled for newer processors too, chosen when the program runs.
//!
//! The program is built for every processor of its family, without the wide registers (AVX2) and bit
//! instructions (BMI) that nearly all in use have had for years. A [`Kernel`] is compiled twice, and [`run`]
//! takes the faster version that the processor can execute. Both do the same operations in the same order
//! (nothing is fused or reordered), so results are the same, bit for bit.

/// Work whose speed depends on the processor. Mark `run`, and what it calls in its loops,
/// `#[inline(always)]`: only what is inlined is compiled for the newer processor.
pub trait Kernel {
    /// The result.
    type Output;

    /// Does the work.
    fn run(self) -> Self::Output;
}

/// Runs a kernel with the best instructions that the processor has.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_gives_the_same_bits_by_any_instructions() {
        #[derive(Clone, Copy)]
        struct Sum<'v>(&'v [f64]);
        impl Kernel for Sum<'_> {
            type Output = f64;

            #[inline(always)]
            fn run(self) -> f64 {
                self.0.iter().fold(0.0, |sum, value| sum * 1.000_1 + value)
            }
        }
        let values: Vec<f64> = (1..1000).map(|number| 1.0 / f64::from(number)).collect();
        let kernel = Sum(&values);
        assert_eq!(run(kernel).to_bits(), kernel.run().to_bits());
    }
}
