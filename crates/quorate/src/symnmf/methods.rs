//! The methods of the SymNMF family: what each imputes, its parameters, and whether EM follows.
//!
//! | method | imputation |
//! |---|---|
//! | `rob-symnmf` | robust: reweighted least squares on observed pairs ([`impute_robust`](super::impute_robust)) |
//! | `rob-symnmf-uniform` | the same without reweighting, all pairs alike (the paper's "w = 1") |
//! | `des-symnmf` | each missing block from three observed ones ([`impute_designated`](super::impute_designated)) |
//! | `symnmf` | none: missing blocks are zero |
//! | `..-em` | any of these, then EM from the estimate |
//!
//! The steps are those of `pipeline.rs`.

use super::pipeline::{Pipeline, Sources};
use super::{Alpha, Designated, FactorSettings, ResidualWeights, RobustSettings, Solver};
use crate::blocks::Passes;
use crate::context::Context;
use crate::error::Result;
use crate::methods::declare::{em_rounds, em_smoothing};
use crate::methods::{Aggregate, BlockFit};
use crate::model::Em;
use crate::{declare_method, declare_words};

declare_words! {
    /// Where the imputation starts.
    pub enum Init {
        /// Confusion matrices counted against vote shares.
        Votes = "votes",
        /// Random numbers with the context's seed.
        Random = "random",
    }
}

declare_words! {
    /// Whether pairs are stored.
    pub enum Form {
        /// By size.
        Auto = "auto",
        /// Pairs are stored and reweighted.
        Pairs = "pairs",
        /// No pairs, linear in labels.
        MatrixFree = "matrix-free",
    }
}

declare_words! {
    /// Weight of a worker in eigenvectors and factorisation.
    pub enum RowWeights {
        /// Its number of labels.
        Labels = "labels",
        /// The same for all.
        Equal = "equal",
    }
}

declare_words! {
    /// Which pairs of workers stand between the two of a missing block.
    pub enum Between {
        /// Those with the least predicted error, averaged.
        Average = "average",
        /// One pair drawn with the seed.
        Random = "random",
    }
}

macro_rules! imputation_start {
    ([] $($state:tt)*) => {
        declare_method! { @shared [
            /// start of the imputation: confusion matrices counted against majority vote, or random numbers
            /// (the paper)
            init: Init = Votes,
        ] $($state)* }
    };
}

macro_rules! shrinkage {
    ([] $($state:tt)*) => {
        declare_method! { @shared [
            /// pseudo-labels that draw each column of a confusion matrix halfway to the crowd's and the
            /// uniform one
            shrinkage: f64 in 0..=1e9 = 1,
        ] $($state)* }
    };
}

macro_rules! evidence {
    ([$default:literal] $($state:tt)*) => {
        declare_method! { @shared [
            /// exponent c of the base weights S_mj^c of a pair that shares S_mj tasks (0: all pairs alike,
            /// the paper)
            evidence: f64 in 0..=2 = $default,
        ] $($state)* }
    };
}

macro_rules! robust_norm {
    ([] $($state:tt)*) => {
        declare_method! { @shared [
            /// smoothing of the robust norm
            xi: f64 in 1e-16..=1 = 1e-6,
        ] $($state)* }
    };
}

macro_rules! sweeps {
    ([] $($state:tt)*) => {
        declare_method! { @shared [
            /// how a worker's K x K problem is solved: exactly, or by the paper's projected gradient (15
            /// steps)
            solver: Solver = Exact,
            /// largest number of imputation sweeps
            sweeps: usize in 1..=1_000_000 = 200,
            /// imputation stops when a sweep lowers the objective by less than this share
            sweep_tol: f64 in 0..=1 = 1e-6,
            /// pairs: the robust form; matrix-free: linear in labels, no pairs stored; auto: by size
            form: Form = Auto,
        ] $($state)* }
    };
}

macro_rules! rotation {
    ([$rows:ident] $($state:tt)*) => {
        declare_method! { @shared [
            /// threshold of the shifted ReLU; 0 is the older algorithm
            alpha: f64 in 0..=1 = 1e-6,
            /// if above 0: threshold psi^(t+1) in step t instead of a constant
            psi: f64 in 0..=0.999_999 = 0,
            /// largest number of factorisation steps
            steps: usize in 1..=1_000_000 = 500,
            /// weight of a worker in the factorisation: its number of labels, or the same for all
            rows: RowWeights = $rows,
        ] $($state)* }
    };
}

macro_rules! designated_workers {
    ([] $($state:tt)*) => {
        declare_method! { @shared [
            /// two worker ids, separated by a comma, that stand between all pairs; empty: pairs of workers
            /// for each block
            designated: String = "",
            /// which pairs stand between the workers of a missing block: the best, averaged, or one drawn at
            /// random (the paper)
            pair: Between = Average,
        ] $($state)* }
    };
}

declare_method! {
    /// Robust co-occurrence imputation and SymNMF, then EM.
    pub struct RobSymNmfEm {
        ..imputation_start,
        ..shrinkage,
        ..evidence(1),
        ..robust_norm,
        ..sweeps,
        ..rotation(Equal),
        ..em_rounds,
        ..em_smoothing(0.1),
    }
    name: "rob-symnmf-em",
    aliases: ["robsymnmf-em"],
    summary: "Robust co-occurrence imputation and SymNMF, then EM",
    description: "rob-symnmf gives EM a start that does not depend on majority vote being right everywhere; EM \
                  then uses all labels of a task together. The best all-rounder of the family.",
    citation: "S. Ibrahim, X. Fu: Crowdsourcing via Annotator Co-occurrence Imputation and Provable Symmetric \
               Nonnegative Matrix Factorization. ICML 2021",
    facts: [returns_model, learns_from_gold, uses_priors, streams, canonical_order],
}

declare_method! {
    /// Robust co-occurrence imputation and SymNMF.
    pub struct RobSymNmf {
        ..imputation_start,
        ..shrinkage,
        ..evidence(1),
        ..robust_norm,
        ..sweeps,
        ..rotation(Equal),
    }
    name: "rob-symnmf",
    aliases: ["robsymnmf"],
    summary: "Robust co-occurrence imputation and SymNMF",
    description: "Completes the pairwise co-occurrences of workers' answers by a low-rank factor fitted to the \
                  observed pairs, with pairs that do not fit weighted down, and rotates the factor into \
                  confusion matrices. Identifies the model without the local optima of EM where pairs share \
                  enough tasks.",
    citation: "S. Ibrahim, X. Fu: Crowdsourcing via Annotator Co-occurrence Imputation and Provable Symmetric \
               Nonnegative Matrix Factorization. ICML 2021",
    facts: [returns_model, learns_from_gold, uses_priors, streams, canonical_order],
}

declare_method! {
    /// Robust imputation with all observed pairs weighted alike, and SymNMF.
    pub struct RobSymNmfUniform {
        ..imputation_start,
        ..shrinkage,
        ..evidence(0),
        ..sweeps,
        ..rotation(Equal),
    }
    name: "rob-symnmf-uniform",
    aliases: ["robsymnmf-uniform", "rob-symnmf-w1"],
    summary: "rob-symnmf with all observed pairs weighted alike",
    description: "The paper's ablation \"w = 1\": least squares on the observed co-occurrences with neither \
                  reweighting by residual nor base weights by shared tasks. Shows what the weights are worth.",
    citation: "S. Ibrahim, X. Fu: Crowdsourcing via Annotator Co-occurrence Imputation and Provable Symmetric \
               Nonnegative Matrix Factorization. ICML 2021",
    facts: [returns_model, learns_from_gold, uses_priors, streams, canonical_order],
}

// Eigenvectors follow the worst estimated blocks if nothing holds them back: the members below weigh rows by
// labels.

declare_method! {
    /// Designated co-occurrence imputation and SymNMF, then EM.
    pub struct DesSymNmfEm {
        ..shrinkage,
        ..designated_workers,
        ..rotation(Labels),
        ..em_rounds,
        ..em_smoothing(0.1),
    }
    name: "des-symnmf-em",
    aliases: ["dessymnmf-em"],
    summary: "Designated co-occurrence imputation and SymNMF, then EM",
    description: "des-symnmf as the start of EM, which then uses all labels of a task together: as good as \
                  rob-symnmf-em where the missing blocks can be reached.",
    citation: "S. Ibrahim, X. Fu: Crowdsourcing via Annotator Co-occurrence Imputation and Provable Symmetric \
               Nonnegative Matrix Factorization. ICML 2021",
    facts: [returns_model, learns_from_gold, uses_priors, streams, canonical_order],
}

declare_method! {
    /// Designated co-occurrence imputation and SymNMF.
    pub struct DesSymNmf {
        ..shrinkage,
        ..designated_workers,
        ..rotation(Labels),
    }
    name: "des-symnmf",
    aliases: ["dessymnmf"],
    summary: "Designated co-occurrence imputation and SymNMF",
    description: "Estimates each missing co-occurrence block from three observed ones through workers in between, \
                  the best ones or two designated workers of your choice, then takes the leading eigenvectors \
                  of the completed matrix and rotates them into confusion matrices. Forms an M K x M K matrix: \
                  for thousands of workers, not for millions.",
    citation: "S. Ibrahim, X. Fu: Crowdsourcing via Annotator Co-occurrence Imputation and Provable Symmetric \
               Nonnegative Matrix Factorization. ICML 2021",
    facts: [returns_model, learns_from_gold, uses_priors, streams, canonical_order],
}

declare_method! {
    /// SymNMF of the observed co-occurrences alone, then EM.
    pub struct SymNmfEm {
        ..shrinkage,
        ..rotation(Labels),
        ..em_rounds,
        ..em_smoothing(0.1),
    }
    name: "symnmf-em",
    aliases: [],
    summary: "SymNMF of the observed co-occurrences alone, then EM",
    description: "symnmf (missing blocks are zero) as the start of EM: the baseline that shows what imputation is \
                  worth after EM.",
    citation: "S. Ibrahim, X. Fu: Crowdsourcing via Annotator Co-occurrence Imputation and Provable Symmetric \
               Nonnegative Matrix Factorization. ICML 2021",
    facts: [returns_model, learns_from_gold, uses_priors, streams, canonical_order],
}

declare_method! {
    /// SymNMF of the observed co-occurrences, nothing imputed.
    pub struct SymNmf {
        ..shrinkage,
        ..rotation(Labels),
    }
    name: "symnmf",
    aliases: [],
    summary: "SymNMF of the observed co-occurrences, nothing imputed",
    description: "Missing co-occurrence blocks, and the diagonal, are taken as zero: the paper's baseline that \
                  shows what imputation is worth. Biased wherever many pairs are missing.",
    citation: "S. Ibrahim, X. Fu: Crowdsourcing via Annotator Co-occurrence Imputation and Provable Symmetric \
               Nonnegative Matrix Factorization. ICML 2021",
    facts: [returns_model, learns_from_gold, uses_priors, streams, canonical_order],
}

/// Fits a member: the two functions say how it imputes and whether EM follows.
macro_rules! run_pipeline {
    ($member:ident, $sources:expr, $refining:expr) => {
        impl Aggregate for $member {
            fn learn(&self, passes: &mut Passes<'_>, context: &mut Context) -> Result<BlockFit> {
                let sources: fn(&Self) -> Sources = $sources;
                let refining: fn(&Self) -> Option<Em> = $refining;
                let pipeline = Pipeline {
                    sources: sources(self),
                    shrinkage: self.shrinkage,
                    factor: FactorSettings {
                        alpha: if self.psi > 0.0 {
                            Alpha::Power(self.psi)
                        } else {
                            Alpha::Constant(self.alpha)
                        },
                        max_iter: self.steps,
                        tol: FACTOR_TOL,
                    },
                    rows: self.rows,
                    em: refining(self),
                };
                pipeline.fit(passes, context)
            }
        }
    };
}

/// The factorisation stops when no entry of the rotation moves by more than this.
const FACTOR_TOL: f64 = 1e-7;

macro_rules! robustly {
    ($member:ident, $weights:ident, $xi:expr) => {
        |$member| Sources::Robust {
            init: $member.init,
            form: $member.form,
            settings: RobustSettings {
                weights: ResidualWeights::$weights,
                evidence: $member.evidence,
                xi: $xi,
                solver: $member.solver,
                max_iter: $member.sweeps,
                tol: $member.sweep_tol,
            },
        }
    };
}

macro_rules! by_em {
    () => {
        |member| {
            Some(Em {
                max_iter: member.max_iter,
                tol: member.tol,
                smoothing: member.smoothing,
                ..Em::default()
            })
        }
    };
}

run_pipeline!(RobSymNmfEm, robustly!(member, Robust, member.xi), by_em!());
run_pipeline!(RobSymNmf, robustly!(member, Robust, member.xi), |_| None);
// Without reweighting the norm needs no smoothing.
run_pipeline!(RobSymNmfUniform, robustly!(member, Uniform, 0.0), |_| None);
run_pipeline!(
    DesSymNmfEm,
    |member| go_between(&member.designated, member.pair),
    by_em!()
);
run_pipeline!(
    DesSymNmf,
    |member| go_between(&member.designated, member.pair),
    |_| None
);
run_pipeline!(SymNmfEm, |_| Sources::Blocks(Designated::None), by_em!());
run_pipeline!(SymNmf, |_| Sources::Blocks(Designated::None), |_| None);

/// The workers between the two of a missing block: those named, or those that `pair` says.
fn go_between(named: &str, pair: Between) -> Sources {
    match pair {
        _ if !named.trim().is_empty() => Sources::Named(named.to_owned()),
        Between::Average => Sources::Blocks(Designated::Best),
        Between::Random => Sources::Blocks(Designated::Random),
    }
}
