//! The paper on one screen: from the co-occurrences of pairs of workers to the Dawid-Skene model.
//!
//! ```text
//! R_mj = A_m D A_j^T   ->   X = U U^T   ->   H = U Q >= 0   ->   A_m, D = Diag(prior)
//! ```
//!
//! Labels such as `eq:itwa` are those of the paper; R_mj is counted by [`PairBlocks`] (`eq:Rest`).

use super::{
    Designated, Factor, FactorSettings, Imputation, RobustSettings, extract_model, factor, identity,
    impute_designated, impute_robust, model_factor, rotation_towards,
};
use crate::model::{Alignment, DawidSkene, align_classes};
use crate::statistics::PairBlocks;
use crate::{Context, Result};

/// How the model is identified.
#[derive(Debug, Clone)]
pub struct Identification {
    /// How missing blocks are imputed.
    pub imputing: Imputing,
    /// How the rotation is found.
    pub factor: FactorSettings,
    /// Where Q starts.
    pub rotation: Rotation,
    /// The workers, in the order in which they are gone through.
    pub order: Vec<u32>,
    /// Weight of each worker in the factorisation.
    pub weights: Vec<f64>,
    /// Share of each answer of each worker, `[worker][answer]`: what an empty column becomes.
    pub answers: Vec<f64>,
    /// Weight of each worker in the question which component is which class: its number of labels.
    pub alignment_weights: Vec<u32>,
}

/// How missing blocks, the diagonal included, are imputed.
#[derive(Debug, Clone, PartialEq)]
pub enum Imputing {
    /// By a factor fitted to the observed blocks, from this one (`[worker][answer][component]`).
    Robust(RobustSettings, Vec<f64>),
    /// From three observed blocks each; eigenvectors with a weight for each worker.
    Designated(Designated, Vec<f64>),
}

/// Where the rotation Q starts.
#[derive(Debug, Clone)]
pub enum Rotation {
    /// At I: the factor is nearly aligned with the classes, or there is nothing to go by (the paper).
    Identity,
    /// Turned towards the factor of an earlier estimate.
    Towards(DawidSkene),
}

/// What was identified.
#[derive(Debug, Clone)]
pub struct Identified {
    /// Prior and confusion matrices.
    pub model: DawidSkene,
    /// Which component became which class.
    pub alignment: Alignment,
    /// Trace and iterations of the imputation, without its factor.
    pub imputation: Imputation,
    /// Whether imputation and factorisation came to rest.
    pub converged: bool,
}

impl Identification {
    /// The paper's settings for so many workers and classes: all workers alike, Q from I.
    pub fn of_paper(imputing: Imputing, workers: usize, classes: usize, factor: FactorSettings) -> Self {
        Self {
            imputing,
            factor,
            rotation: Rotation::Identity,
            order: (0..workers as u32).collect(),
            weights: vec![1.0; workers],
            answers: vec![1.0 / classes as f64; workers * classes],
            alignment_weights: vec![1; workers],
        }
    }
}

/// Identifies the model from the co-occurrences R_mj of observed pairs.
pub fn identify(blocks: &PairBlocks, how: &Identification, context: &mut Context) -> Result<Identified> {
    let imputation = match &how.imputing {
        // eq:optim_problem  min sum S_mj^c (||R_mj - U_m U_j^T||^2 + xi)^(1/2), by eq:itwa; X = U U^T
        Imputing::Robust(settings, start) => {
            impute_robust(blocks, &how.order, start.clone(), settings, context)?
        }
        // eq:constructC, eq:estimXmn  R_mn = U_m U_l^-1 R_nl^T; X = U U^T from its K largest eigenpairs
        Imputing::Designated(designated, weights) => {
            impute_designated(blocks, designated, &how.order, weights, context)?
        }
    };
    identify_from_factor(imputation, how, context)
}

/// The second half of [`identify`], from a factor U of the completed co-occurrences X = U U^T.
pub fn identify_from_factor(
    mut imputation: Imputation,
    how: &Identification,
    context: &mut Context,
) -> Result<Identified> {
    let u = std::mem::take(&mut imputation.factor);
    let classes = how.answers.len() / how.weights.len().max(1);
    // Q_0
    let q = match &how.rotation {
        Rotation::Identity => identity(classes),
        Rotation::Towards(model) => rotation_towards(&u, &model_factor(model), &how.weights, classes),
    };
    // eq:algo_updates  H = [U Q]_{>= alpha};  W S V^T = svd(H^T U);  Q = V W^T
    let Factor { h, converged, .. } = factor(&u, &how.weights, q, classes, &how.factor, context)?;
    // H_m = A_m D^(1/2)  =>  A_m(., k) = H_m(., k) / s_m(k),  prior(k) = s_m(k)^2,  s_m = H_m^T 1
    let model = extract_model(&h, &how.weights, &how.answers, classes);
    // H is unique up to one permutation of its columns: the one under which most answers are right.
    let alignment = align_classes(&model, &how.alignment_weights);
    Ok(Identified {
        model: model.with_truth_order(&alignment.order),
        alignment,
        converged: converged && imputation.converged,
        imputation,
    })
}
