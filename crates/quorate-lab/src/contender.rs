//! The rows of the paper's tables: which method here stands for which name there.

use std::time::Instant;

use anyhow::Result;
use quorate::evaluate::{Predictions, TieRule, error_rate};
use quorate::methods::{Fit, find_among};
use quorate::{Annotations, Context};
use quorate_baselines::all_methods;

use crate::section::{Cell, Row};

/// A row of a table: the paper's name and the method that stands for it here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contender {
    /// The paper's name of the row.
    pub paper: &'static str,
    /// What the row is called on our page.
    pub title: &'static str,
    /// Our method.
    pub method: &'static str,
    /// Its parameters where they are not the defaults.
    pub parameters: &'static [(&'static str, &'static str)],
}

const fn row(name: &'static str, method: &'static str) -> Contender {
    Contender {
        paper: name,
        title: name,
        method,
        parameters: &[],
    }
}

/// The SymNMF family, in the order of the tables.
pub const ROB_SYMNMF: Contender = row("RobSymNMF", "rob-symnmf");
/// Robust imputation, then EM.
pub const ROB_SYMNMF_EM: Contender = row("RobSymNMF-EM", "rob-symnmf-em");
/// Imputation without reweighting.
pub const ROB_SYMNMF_UNIFORM: Contender = row("RobSymNMF (w=1)", "rob-symnmf-uniform");
/// Designated imputation.
pub const DES_SYMNMF: Contender = row("DesSymNMF", "des-symnmf");
/// Designated imputation, then EM.
pub const DES_SYMNMF_EM: Contender = row("DesSymNMF-EM", "des-symnmf-em");
/// No imputation.
pub const SYMNMF: Contender = row("SymNMF (w/o imput.)", "symnmf");
/// Successive projection on stacked co-occurrences.
pub const MULTI_SPA: Contender = row("MultiSPA", "multi-spa");
/// Coupled nonnegative factorisation with the divergence of Kullback and Leibler.
pub const CNMF: Contender = row("CNMF", "cnmf");
/// Third-order moments by ADMM.
pub const TENSOR_ADMM: Contender = row("TensorADMM", "tensor-admm");
/// Spectral start of EM.
pub const SPECTRAL_DS: Contender = row("Spectral-D&S", "spectral-ds");
/// EM from vote shares as in the authors' program: ten rounds, no class prior.
pub const MV_EM: Contender = Contender {
    parameters: &[("max-iter", "10"), ("prior", "flat")],
    ..row("MV-EM", "dawid-skene")
};
/// Minimax conditional entropy.
pub const MINIMAX_ENTROPY: Contender = row("MinimaxEntropy", "minimax-entropy");
/// What the authors' program calls KOS: the leading singular pair.
pub const KOS_SVD: Contender = Contender {
    title: "KOS (SVD, as the authors ran it)",
    ..row("KOS", "kos-svd")
};
/// KOS as published: message passing.
pub const KOS: Contender = Contender {
    title: "KOS (messages, as published)",
    ..row("KOS", "kos")
};
/// Leading singular vector.
pub const GHOSH_SVD: Contender = row("GhoshSVD", "ghosh-svd");
/// Ratio of eigenvectors.
pub const EIGEN_RATIO: Contender = row("EigenRatio", "eigen-ratio");
/// Tensor augmentation and completion.
pub const PG_TAC: Contender = row("PG-TAC", "pg-tac");
/// Tensor completion, then votes.
pub const CRIA_V: Contender = row("CRIA_V", "cria-v");
/// Voting; the paper's errors share ties out (`TieRule::Fractional`).
pub const MAJORITY_VOTE: Contender = row("Majority Voting", "majority-vote");
/// Voting with ties to the lowest class, as all other methods are counted; not in the paper.
pub const MAJORITY_VOTE_LOWEST: Contender = row("Voting, ties to the lowest class (ours)", "majority-vote");
/// EM to convergence; not in the paper.
pub const DAWID_SKENE: Contender = row("EM to convergence (ours)", "dawid-skene");
/// A network with a map for each worker, as published.
pub const CROWD_LAYER: Contender = Contender {
    parameters: &[("start", "1")],
    ..row("CrowdLayer", "crowd-layer")
};
/// A network trained on the majority votes.
pub const DL_MV: Contender = row("DL-MV", "dl-mv");
/// Our default, an average of several answers; not in the paper.
pub const AUTO: Contender = row("auto (ours)", "auto");

/// The rows that the paper proposes.
pub const PROPOSED: [Contender; 6] = [
    ROB_SYMNMF,
    ROB_SYMNMF_EM,
    ROB_SYMNMF_UNIFORM,
    DES_SYMNMF,
    DES_SYMNMF_EM,
    SYMNMF,
];

/// The rows that follow them in all tables of errors, KOS in both forms.
const BASELINES: [Contender; 8] = [
    MULTI_SPA,
    CNMF,
    TENSOR_ADMM,
    SPECTRAL_DS,
    MV_EM,
    MINIMAX_ENTROPY,
    KOS_SVD,
    KOS,
];

/// All rows of a table of errors: those that every table has, the paper's others, majority voting, and ours.
pub fn rows_with(others: &[Contender], ours: &[Contender]) -> Vec<Contender> {
    [
        &PROPOSED[..],
        &BASELINES,
        others,
        &[MAJORITY_VOTE],
        ours,
        &[DAWID_SKENE, AUTO],
    ]
    .concat()
}

impl Contender {
    /// Its row of a table.
    pub fn row(&self, cells: impl IntoIterator<Item = Cell>) -> Row {
        Row::new(self.title, self.words(), cells)
    }

    /// The method with its parameters, as on the command line.
    pub fn words(&self) -> String {
        let mut words = self.method.to_owned();
        for (name, value) in self.parameters {
            words.push_str(&format!(" {name}={value}"));
        }
        words
    }

    /// Fits it; the fit and its seconds.
    pub fn fit(&self, annotations: &Annotations, context: &mut Context) -> Result<(Fit, f64)> {
        self.fit_with(&[], annotations, context)
    }

    /// Fits it with some more parameters.
    pub fn fit_with(
        &self,
        more: &[(&str, &str)],
        annotations: &Annotations,
        context: &mut Context,
    ) -> Result<(Fit, f64)> {
        let given: Vec<(String, String)> = self
            .parameters
            .iter()
            .chain(more)
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .collect();
        let method =
            find_among(all_methods().chain(quorate_deep::METHODS), self.method)?.with_parameters(&given)?;
        let started = Instant::now();
        let fit = method.fit(annotations, context)?;
        Ok((fit, started.elapsed().as_secs_f64()))
    }

    /// Error of its fit in percent of the tasks with known truth. The authors' program shares the ties of
    /// majority voting out; their other errors have ties to the lowest class.
    pub fn error(&self, fit: &Fit, truth: &[Option<usize>]) -> Result<f64> {
        let ties = if *self == MAJORITY_VOTE {
            TieRule::Fractional
        } else {
            TieRule::Lowest
        };
        Ok(100.0 * error_rate(&Predictions::from_consensus(&fit.consensus)?, truth, ties)?.rate)
    }

    /// Fits it; where it cannot be used on this table, the reason in words.
    pub fn fit_or_reason(
        &self,
        more: &[(&str, &str)],
        annotations: &Annotations,
        context: &mut Context,
    ) -> Result<Result<(Fit, f64), String>> {
        match self.fit_with(more, annotations, context) {
            Ok(done) => Ok(Ok(done)),
            // A method that cannot run on a table is a result; a wish to stop is not.
            Err(error) => match error.downcast_ref::<quorate::Error>() {
                Some(quorate::Error::Cancelled) | None => Err(error),
                Some(problem) => Ok(Err(problem.to_string())),
            },
        }
    }
}
