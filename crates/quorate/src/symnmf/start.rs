//! Where imputation starts: the factor of a model, or random numbers.

use rand_distr::{Distribution, StandardNormal};

use crate::{Context, DawidSkene};

/// `U_m = A_m D^(1/2)`: the exact factor of a model, `[worker][answer][class]`.
pub fn model_factor(model: &DawidSkene) -> Vec<f64> {
    let roots: Vec<f64> = model.prior().iter().map(|prior| prior.sqrt()).collect();
    let cells = model.confusions().iter().zip(roots.iter().cycle());
    cells.map(|(probability, root)| probability * root).collect()
}

/// Standard normal entries scaled so that every `||U_m||_F` is about 1 (the paper's start), with the
/// context's seed.
pub fn random_factor(workers: usize, classes: usize, context: &Context) -> Vec<f64> {
    let mut rng = context.rng(0x5eed);
    let scale = 1.0 / classes as f64;
    let mut draw = || -> f64 { StandardNormal.sample(&mut rng) };
    (0..workers * classes * classes).map(|_| scale * draw()).collect()
}
