//! The base network: dense layer, ReLU, dropout, dense layer, softmax.
//!
//! ```text
//! h = max(0, X W1 + b1) o mask      z = h W2 + b2      p = softmax(z)
//! dW2 = h^T dz    db2 = sum dz    dh = (dz W2^T) o mask o [h > 0]    dW1 = X^T dh    db1 = sum dh
//! ```
//!
//! `mask` is 0 with the dropout probability, else `1/(1 - dropout)`; without dropout it is 1.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView2, Axis, NdFloat, Zip};
use rand::{Rng, RngExt};

use crate::adam::{Adam, number};

/// `X W + b`.
#[derive(Debug, Clone)]
pub(crate) struct Dense<F> {
    pub(crate) weights: Array2<F>,
    pub(crate) bias: Array1<F>,
}

impl<F: NdFloat> Dense<F> {
    /// Weights uniform in `+-sqrt(6/(inputs + outputs))` (Glorot), zero biases.
    pub(crate) fn new(inputs: usize, outputs: usize, rng: &mut impl Rng) -> Self {
        let bound = (6.0 / (inputs + outputs) as f64).sqrt();
        let mut weight = || number(rng.random_range(-bound..=bound));
        let weights = Array2::from_shape_simple_fn((inputs, outputs), &mut weight);
        let bias = Array1::zeros(outputs);
        Self { weights, bias }
    }

    fn zeros_like(&self) -> Self {
        let weights = Array2::zeros(self.weights.raw_dim());
        let bias = Array1::zeros(self.bias.raw_dim());
        Self { weights, bias }
    }

    fn forward(&self, x: &ArrayView2<'_, F>) -> Array2<F> {
        x.dot(&self.weights) + &self.bias
    }

    /// Sets the gradient of weights and bias, given that of the layer's outputs.
    fn set_gradient(&mut self, x: &ArrayView2<'_, F>, outputs: &Array2<F>) {
        general_mat_mul(F::one(), &x.t(), outputs, F::zero(), &mut self.weights);
        self.bias = outputs.sum_axis(Axis(0));
    }
}

/// Two dense layers.
#[derive(Debug, Clone)]
pub(crate) struct Network<F> {
    pub(crate) layers: [Dense<F>; 2],
}

/// What a batch left behind on its way through the network.
pub(crate) struct Passed<F> {
    /// Output of the hidden layer, dropout applied.
    hidden: Array2<F>,
    /// Class probabilities.
    pub(crate) probabilities: Array2<F>,
}

impl<F: NdFloat> Network<F> {
    pub(crate) fn new(inputs: usize, hidden: usize, classes: usize, rng: &mut impl Rng) -> Self {
        let layers = [Dense::new(inputs, hidden, rng), Dense::new(hidden, classes, rng)];
        Self { layers }
    }

    /// Parameters of a network of this shape.
    pub(crate) fn size(inputs: usize, hidden: usize, classes: usize) -> usize {
        (inputs + 1) * hidden + (hidden + 1) * classes
    }

    /// Passes a batch through; `mask` scales the hidden units (0: dropped).
    pub(crate) fn pass(&self, x: &ArrayView2<'_, F>, mask: Option<&Array2<F>>) -> Passed<F> {
        let mut hidden = self.layers[0].forward(x);
        hidden.mapv_inplace(|value| value.max(F::zero()));
        if let Some(mask) = mask {
            hidden *= mask;
        }
        let mut probabilities = self.layers[1].forward(&hidden.view());
        for mut row in probabilities.rows_mut() {
            softmax(row.as_slice_mut().expect("rows are contiguous"));
        }
        Passed {
            hidden,
            probabilities,
        }
    }

    /// The gradient of all parameters, given that at the logits, into `gradient`.
    pub(crate) fn set_gradient(
        &self,
        x: &ArrayView2<'_, F>,
        mask: Option<&Array2<F>>,
        passed: &Passed<F>,
        logits: &Array2<F>,
        gradient: &mut Self,
    ) {
        gradient.layers[1].set_gradient(&passed.hidden.view(), logits);
        let mut hidden = logits.dot(&self.layers[1].weights.t());
        if let Some(mask) = mask {
            hidden *= mask;
        }
        let slopes = Zip::from(&mut hidden).and(&passed.hidden);
        slopes.for_each(|slope, &value| *slope = if value <= F::zero() { F::zero() } else { *slope });
        gradient.layers[0].set_gradient(x, &hidden);
    }
}

/// A network with what Adam remembers of it.
pub(crate) struct Learner<F> {
    pub(crate) network: Network<F>,
    pub(crate) gradient: Network<F>,
    adam: [[Adam<F>; 2]; 2],
}

impl<F: NdFloat> Learner<F> {
    pub(crate) fn new(network: Network<F>) -> Self {
        let [first, second] = &network.layers;
        let layers = [first.zeros_like(), second.zeros_like()];
        let adam = |layer: &Dense<F>| [Adam::new(layer.weights.len()), Adam::new(layer.bias.len())];
        Self {
            gradient: Network { layers },
            adam: [adam(first), adam(second)],
            network,
        }
    }

    /// One step of Adam against the gradient.
    pub(crate) fn step(&mut self, rate: f64) {
        let layers = self.network.layers.iter_mut().zip(&self.gradient.layers);
        for ((layer, gradient), [weights, bias]) in layers.zip(&mut self.adam) {
            let (to, by) = (layer.weights.as_slice_mut(), gradient.weights.as_slice());
            weights.step(rate, to.expect("standard layout"), by.expect("standard layout"));
            let (to, by) = (layer.bias.as_slice_mut(), gradient.bias.as_slice());
            bias.step(rate, to.expect("standard layout"), by.expect("standard layout"));
        }
    }
}

/// Turns logits into probabilities in place; returns the logarithm of the sum of their exponentials.
pub(crate) fn softmax<F: NdFloat>(row: &mut [F]) -> F {
    let top = row.iter().copied().fold(F::neg_infinity(), F::max);
    let mut sum = F::zero();
    for value in row.iter_mut() {
        *value = (*value - top).exp();
        sum += *value;
    }
    row.iter_mut().for_each(|value| *value /= sum);
    top + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The gradient of a loss that is linear in the logarithms of the probabilities, against central
    /// differences.
    #[test]
    fn gradients_are_finite_differences() {
        let rng = &mut quorate::internal::seeded(1, 0);
        let mut network = Network::<f64>::new(5, 7, 3, rng);
        network.layers[0]
            .bias
            .mapv_inplace(|_| rng.random_range(-0.5..0.5));
        let x = Array2::from_shape_simple_fn((6, 5), || rng.random_range(-1.0..1.0));
        let mask = Array2::from_shape_simple_fn((6, 7), || if rng.random_bool(0.3) { 0.0 } else { 1.4 });
        let truth = [0, 2, 1, 1, 0, 2];
        let loss = |network: &Network<f64>| -> f64 {
            let p = network.pass(&x.view(), Some(&mask)).probabilities;
            truth.iter().enumerate().map(|(row, &k)| -p[[row, k]].ln()).sum()
        };
        let passed = network.pass(&x.view(), Some(&mask));
        let mut logits = passed.probabilities.clone();
        truth
            .iter()
            .enumerate()
            .for_each(|(row, &k)| logits[[row, k]] -= 1.0);
        let mut learner = Learner::new(network.clone());
        network.set_gradient(&x.view(), Some(&mask), &passed, &logits, &mut learner.gradient);
        let step = 1e-6;
        for layer in 0..2 {
            let gradient = &learner.gradient.layers[layer];
            for (place, &slope) in gradient.weights.indexed_iter() {
                let [up, down] = [step, -step].map(|shift| {
                    let mut moved = network.clone();
                    moved.layers[layer].weights[place] += shift;
                    loss(&moved)
                });
                assert!(
                    ((up - down) / (2.0 * step) - slope).abs() < 1e-7,
                    "layer {layer}, {place:?}"
                );
            }
            for (place, &slope) in gradient.bias.indexed_iter() {
                let [up, down] = [step, -step].map(|shift| {
                    let mut moved = network.clone();
                    moved.layers[layer].bias[place] += shift;
                    loss(&moved)
                });
                assert!(
                    ((up - down) / (2.0 * step) - slope).abs() < 1e-7,
                    "layer {layer}, bias {place}"
                );
            }
        }
    }

    #[test]
    fn softmax_of_large_logits_is_finite() {
        let mut row = [1000.0f32, 0.0, -1000.0];
        let log_sum = softmax(&mut row);
        assert_eq!((row, log_sum), ([1.0, 0.0, 0.0], 1000.0));
    }
}
