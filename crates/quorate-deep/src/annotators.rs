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

use crate::adam::{Adam, number};
use crate::network::softmax;

/// What a worker's answers may depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerMap {
    /// A matrix: any confusion between two classes.
    Matrix,
    /// A factor for each class.
    Scale,
    /// A factor and a bias for each class.
    ScaleBias,
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
            WorkerMap::Matrix => (0..classes * classes)
                .map(|cell| if cell % (classes + 1) == 0 { start } else { F::zero() })
                .collect(),
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

    /// The loss of one task's labels times `scale`; adds to the gradient of the maps, sets that at the task's logits.
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

    /// Probability of each answer of a worker when the class is certain: `[answer][truth]`.
    pub(crate) fn confusion(&mut self, worker: usize) -> Vec<F> {
        let size = self.map.size(self.classes);
        let weights = &self.weights[worker * size..][..size];
        let mut table = vec![F::zero(); self.classes * self.classes];
        let mut certain = vec![F::zero(); self.classes];
        for truth in 0..self.classes {
            certain[truth] = F::one();
            Self::answer(self.map, weights, &certain, &mut self.logits);
            softmax(&mut self.logits);
            for (answer, &p) in self.logits.iter().enumerate() {
                table[answer * self.classes + truth] = p;
            }
            certain[truth] = F::zero();
        }
        table
    }
}
