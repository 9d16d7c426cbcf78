//! The crowd layer: what each worker makes of the class probabilities.
//!
//! ```text
//! matrix       a_m = W_m p          W_m in R^{K x K}, row = answer, starts at c I
//! scale        a_m = w_m o p        w_m in R^K, starts at c
//! scale-bias   a_m = w_m o p + b_m  b_m starts at 0
//! loss         s sum over labels (m, x) of -ln softmax(a_m)[x]
//! delta_m = s (softmax(a_m) - e_x)     dW_m = delta_m p^T     dp = sum_m W_m^T delta_m     dz = p o (dp - p . dp)
//! ```

use std::iter::Sum;

use ndarray::NdFloat;
use quorate::declare_words;

use crate::adam::{Adam, number};
use crate::network::softmax;

declare_words! {
    /// What a worker's answers may depend on.
    pub enum WorkerMap {
        /// A matrix: any confusion between two classes.
        Matrix = "matrix",
        /// A factor for each class.
        Scale = "scale",
        /// A factor and a bias for each class.
        ScaleBias = "scale-bias",
    }
}

impl WorkerMap {
    /// Parameters of one worker.
    pub(crate) fn size(self, classes: usize) -> usize {
        match self {
            Self::Matrix => classes * classes,
            Self::Scale => classes,
            Self::ScaleBias => 2 * classes,
        }
    }
}

/// The maps of all workers.
pub(crate) struct Annotators<F> {
    map: WorkerMap,
    classes: usize,
    pub(crate) weights: Vec<F>,
    pub(crate) gradient: Vec<F>,
    adam: Adam<F>,
    logits: Vec<F>,
    slopes: Vec<F>,
}

impl<F: NdFloat + Sum> Annotators<F> {
    /// Maps that answer with the class probabilities times `start`.
    pub(crate) fn new(map: WorkerMap, workers: usize, classes: usize, start: f64) -> Self {
        let start = number::<F>(start);
        let own: Vec<F> = match map {
            WorkerMap::Matrix => {
                let mut matrix = vec![F::zero(); classes * classes];
                matrix
                    .iter_mut()
                    .step_by(classes + 1)
                    .for_each(|cell| *cell = start);
                matrix
            }
            WorkerMap::Scale => vec![start; classes],
            WorkerMap::ScaleBias => [vec![start; classes], vec![F::zero(); classes]].concat(),
        };
        let weights = own.repeat(workers);
        Self {
            map,
            classes,
            gradient: vec![F::zero(); weights.len()],
            adam: Adam::new(weights.len()),
            weights,
            logits: vec![F::zero(); classes],
            slopes: vec![F::zero(); classes],
        }
    }

    /// The logits of a worker's answer, given class probabilities.
    fn answer(map: WorkerMap, weights: &[F], p: &[F], logits: &mut [F]) {
        let classes = p.len();
        match map {
            WorkerMap::Matrix => {
                for (logit, row) in logits.iter_mut().zip(weights.chunks_exact(classes)) {
                    *logit = row.iter().zip(p).map(|(&w, &p)| w * p).sum();
                }
            }
            WorkerMap::Scale => {
                for ((logit, &w), &p) in logits.iter_mut().zip(weights).zip(p) {
                    *logit = w * p;
                }
            }
            WorkerMap::ScaleBias => {
                let (factors, biases) = weights.split_at(classes);
                for (((logit, &w), &b), &p) in logits.iter_mut().zip(factors).zip(biases).zip(p) {
                    *logit = w * p + b;
                }
            }
        }
    }

    /// The loss of one task's labels times `scale`; adds to the gradient of the maps, sets that at the task's
    /// logits.
    pub(crate) fn task_loss(&mut self, p: &[F], labels: &[(u32, u16)], scale: F, at_logits: &mut [F]) -> F {
        let (classes, size) = (self.classes, self.map.size(self.classes));
        self.slopes.fill(F::zero());
        let mut loss = F::zero();
        for &(worker, label) in labels {
            let place = worker as usize * size;
            let weights = &self.weights[place..place + size];
            let gradient = &mut self.gradient[place..place + size];
            Self::answer(self.map, weights, p, &mut self.logits);
            let given = self.logits[label as usize];
            loss += scale * (softmax(&mut self.logits) - given);
            self.logits[label as usize] -= F::one();
            let delta = &self.logits;
            match self.map {
                WorkerMap::Matrix => {
                    let rows = weights.chunks_exact(classes);
                    for ((row, own), &d) in rows.zip(gradient.chunks_exact_mut(classes)).zip(delta) {
                        let d = scale * d;
                        for k in 0..classes {
                            own[k] += d * p[k];
                            self.slopes[k] += d * row[k];
                        }
                    }
                }
                WorkerMap::Scale | WorkerMap::ScaleBias => {
                    for k in 0..classes {
                        let d = scale * delta[k];
                        gradient[k] += d * p[k];
                        self.slopes[k] += d * weights[k];
                        if self.map == WorkerMap::ScaleBias {
                            gradient[classes + k] += d;
                        }
                    }
                }
            }
        }
        let mean: F = p.iter().zip(&self.slopes).map(|(&p, &slope)| p * slope).sum();
        for ((place, &p), &slope) in at_logits.iter_mut().zip(p).zip(&self.slopes) {
            *place = p * (slope - mean);
        }
        loss
    }

    /// One step of Adam against the gradient, which is then empty.
    pub(crate) fn step(&mut self, rate: f64) {
        self.adam.step(rate, &mut self.weights, &self.gradient);
        self.gradient.fill(F::zero());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(found: &[f64], wanted: &[f64], tolerance: f64) {
        assert_eq!(found.len(), wanted.len());
        for (a, b) in found.iter().zip(wanted) {
            assert!((a - b).abs() <= tolerance, "{found:?}, expected {wanted:?}");
        }
    }

    /// `K = 3`, `z = (1, 0, -1)`, worker 0 with `I` says 0, worker 1 with .8 on and .1 off the diagonal says
    /// 1; by hand.
    #[test]
    fn the_worked_example() {
        let mut p = [1.0, 0.0, -1.0];
        softmax(&mut p);
        assert_close(&p, &[0.665241, 0.244728, 0.090031], 1e-6);
        let mut crowd = Annotators::<f64>::new(WorkerMap::Matrix, 2, 3, 1.0);
        for (cell, weight) in crowd.weights[9..].iter_mut().enumerate() {
            *weight = if cell % 4 == 0 { 0.8 } else { 0.1 };
        }
        let mut slopes = [0.0; 3];
        let loss = crowd.task_loss(&p, &[(0, 0), (1, 1)], 1.0, &mut slopes);
        assert!((loss - 1.972651).abs() < 1e-6, "{loss}");
        assert_close(&slopes, &[-0.053948, -0.002382, 0.056330], 1e-6);
        let first = [
            -0.365488, -0.134455, -0.049463, 0.196851, 0.072417, 0.026641, 0.168637, 0.062038, 0.022823,
        ];
        assert_close(&crowd.gradient[..9], &first, 1e-6);
    }

    #[test]
    fn gradients_are_finite_differences_for_every_map() {
        let labels = [(0, 2), (2, 0), (3, 3)];
        for map in [WorkerMap::Matrix, WorkerMap::Scale, WorkerMap::ScaleBias] {
            let mut crowd = Annotators::<f64>::new(map, 4, 4, 1.5);
            for (place, weight) in crowd.weights.iter_mut().enumerate() {
                *weight += (place as f64 * 0.7).sin();
            }
            let z = [0.3, -0.2, 0.9, -1.1];
            let loss = |crowd: &mut Annotators<f64>, z: &[f64; 4], slopes: &mut [f64]| {
                let mut p = *z;
                softmax(&mut p);
                crowd.task_loss(&p, &labels, 0.7, slopes)
            };
            let mut slopes = [0.0; 4];
            loss(&mut crowd, &z, &mut slopes);
            let gradient = std::mem::replace(&mut crowd.gradient, vec![0.0; crowd.weights.len()]);
            let mut unused = [0.0; 4];
            let step = 1e-5;
            for (place, &slope) in gradient.iter().enumerate() {
                let [up, down] = [step, -step].map(|shift| {
                    let before = crowd.weights[place];
                    crowd.weights[place] = before + shift;
                    let value = loss(&mut crowd, &z, &mut unused);
                    crowd.weights[place] = before;
                    value
                });
                assert!(
                    ((up - down) / (2.0 * step) - slope).abs() < 1e-8,
                    "{map:?}, {place}"
                );
            }
            for k in 0..4 {
                let [up, down] = [step, -step].map(|shift| {
                    let mut moved = z;
                    moved[k] += shift;
                    loss(&mut crowd, &moved, &mut unused)
                });
                assert!(
                    ((up - down) / (2.0 * step) - slopes[k]).abs() < 1e-8,
                    "{map:?}, logit {k}"
                );
            }
        }
    }

    #[test]
    fn without_labels_nothing_moves() {
        let mut crowd = Annotators::<f64>::new(WorkerMap::Matrix, 2, 2, 1.0);
        let mut slopes = [1.0; 2];
        assert_eq!(crowd.task_loss(&[0.4, 0.6], &[], 1.0, &mut slopes), 0.0);
        assert!(slopes == [0.0; 2] && crowd.gradient.iter().all(|slope| *slope == 0.0));
    }
}
