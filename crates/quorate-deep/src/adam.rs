//! Adam: steps scaled by running means of the gradient and of its square.
//!
//! ```text
//! u <- b1 u + (1 - b1) g      v <- b2 v + (1 - b2) g^2
//! x <- x - rate sqrt(1 - b2^t)/(1 - b1^t) u / (sqrt(v) + eps)
//! ```
//!
//! D. P. Kingma, J. Ba: Adam: a method for stochastic optimization. ICLR (2015)

use ndarray::NdFloat;

const MEAN_DECAY: f64 = 0.9;
const SQUARE_DECAY: f64 = 0.999;
const EPSILON: f64 = 1e-7;

/// The running means for one array of parameters.
#[derive(Debug, Clone)]
pub(crate) struct Adam<F> {
    mean: Vec<F>,
    square: Vec<F>,
    steps: i32,
}

impl<F: NdFloat> Adam<F> {
    pub(crate) fn new(parameters: usize) -> Self {
        Self {
            mean: vec![F::zero(); parameters],
            square: vec![F::zero(); parameters],
            steps: 0,
        }
    }

    /// One step against the gradient.
    pub(crate) fn step(&mut self, rate: f64, parameters: &mut [F], gradient: &[F]) {
        self.steps = self.steps.saturating_add(1);
        let correction = (1.0 - SQUARE_DECAY.powi(self.steps)).sqrt() / (1.0 - MEAN_DECAY.powi(self.steps));
        let [rate, b1, b2, eps] =
            [rate * correction, MEAN_DECAY, SQUARE_DECAY, EPSILON].map(|value| number::<F>(value));
        let means = self.mean.iter_mut().zip(&mut self.square);
        for ((x, &g), (u, v)) in parameters.iter_mut().zip(gradient).zip(means) {
            *u = b1 * *u + (F::one() - b1) * g;
            *v = b2 * *v + (F::one() - b2) * g * g;
            *x -= rate * *u / (v.sqrt() + eps);
        }
    }
}

/// A constant in the working precision.
pub(crate) fn number<F: NdFloat>(value: f64) -> F {
    F::from(value).expect("every f64 has a nearest number of lower precision")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_has_the_length_of_the_rate_and_a_parabola_is_descended() {
        let mut adam = Adam::new(2);
        let mut x = [3.0f64, -2.0];
        adam.step(0.1, &mut x, &[40.0, -0.01]);
        assert!((x[0] - 2.9).abs() < 1e-6 && (x[1] + 1.9).abs() < 1e-4, "{x:?}");
        for _ in 0..2000 {
            let gradient = [2.0 * x[0], 20.0 * x[1]];
            adam.step(0.01, &mut x, &gradient);
        }
        assert!(x.iter().all(|value| value.abs() < 1e-3), "{x:?}");
    }
}
