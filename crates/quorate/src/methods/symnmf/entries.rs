//! The family's entries in the table of methods, and their parameters.

use super::{Family, SymNmf};
use crate::methods::{ClassSupport, Kind, Method, Parameter};

macro_rules! entry {
    ($name:literal, $aliases:expr, $summary:literal, $description:literal, $parameters:expr, $kind:expr, $em:expr) => {
        Method {
            name: $name,
            aliases: $aliases,
            summary: $summary,
            description: $description,
            citation: "S. Ibrahim, X. Fu: Crowdsourcing via Annotator Co-occurrence Imputation and Provable Symmetric \
                       Nonnegative Matrix Factorization. ICML 2021",
            classes: ClassSupport::Any,
            uses_class_order: false,
            uses_worker_order: false,
            needs_probabilities: false,
            needs_features: false,
            returns_model: true,
            parameters: $parameters,
            build: |values| Box::new(SymNmf::from_values($kind, $em, values)),
        }
    };
}

pub(in crate::methods) const ROB_SYMNMF_EM: Method = entry!(
    "rob-symnmf-em",
    &["robsymnmf-em"],
    "Robust co-occurrence imputation and SymNMF, then EM",
    "rob-symnmf gives EM a start that does not depend on majority vote being right everywhere; EM then uses all labels \
     of a task together. The best all-rounder of the family.",
    ROBUST_EM,
    Family::Robust,
    true
);
pub(in crate::methods) const ROB_SYMNMF: Method = entry!(
    "rob-symnmf",
    &["robsymnmf"],
    "Robust co-occurrence imputation and SymNMF",
    "Completes the pairwise co-occurrences of workers' answers by a low-rank factor fitted to the observed pairs, with \
     pairs that do not fit weighted down, and rotates the factor into confusion matrices. Identifies the model without \
     the local optima of EM where pairs share enough tasks.",
    ROBUST,
    Family::Robust,
    false
);
pub(in crate::methods) const ROB_SYMNMF_UNIFORM: Method = entry!(
    "rob-symnmf-uniform",
    &["robsymnmf-uniform", "rob-symnmf-w1"],
    "rob-symnmf with all observed pairs weighted alike",
    "The paper's ablation \"w = 1\": least squares on the observed co-occurrences with neither reweighting by residual \
     nor base weights by shared tasks. Shows what the weights are worth.",
    UNIFORM,
    Family::Uniform,
    false
);
pub(in crate::methods) const DES_SYMNMF_EM: Method = entry!(
    "des-symnmf-em",
    &["dessymnmf-em"],
    "Designated co-occurrence imputation and SymNMF, then EM",
    "des-symnmf as the start of EM, which then uses all labels of a task together: as good as rob-symnmf-em where the \
     missing blocks can be reached.",
    DESIGNATED_EM,
    Family::Designated,
    true
);
pub(in crate::methods) const DES_SYMNMF: Method = entry!(
    "des-symnmf",
    &["dessymnmf"],
    "Designated co-occurrence imputation and SymNMF",
    "Estimates each missing co-occurrence block from three observed ones through workers in between, the best ones or \
     two designated workers of your choice, then takes the leading eigenvectors of the completed matrix and rotates them \
     into confusion matrices. Forms an M K x M K matrix: for thousands of workers, not for millions.",
    DESIGNATED,
    Family::Designated,
    false
);
pub(in crate::methods) const SYMNMF_EM: Method = entry!(
    "symnmf-em",
    &[],
    "SymNMF of the observed co-occurrences alone, then EM",
    "symnmf (missing blocks are zero) as the start of EM: the baseline that shows what imputation is worth after EM.",
    PLAIN_EM,
    Family::Plain,
    true
);
pub(in crate::methods) const SYMNMF: Method = entry!(
    "symnmf",
    &[],
    "SymNMF of the observed co-occurrences, nothing imputed",
    "Missing co-occurrence blocks, and the diagonal, are taken as zero: the paper's baseline that shows what imputation \
     is worth. Biased wherever many pairs are missing.",
    PLAIN,
    Family::Plain,
    false
);

const INIT: Parameter = Parameter {
    name: "init",
    about: "start of the imputation: confusion matrices counted against majority vote, or random numbers (the paper)",
    kind: Kind::Choice(&["votes", "random"]),
    default: "votes",
};
const SHRINKAGE: Parameter = Parameter {
    name: "shrinkage",
    about: "pseudo-labels that draw each column of a confusion matrix halfway to the crowd's and the uniform one",
    kind: Kind::Number(0.0, f64::INFINITY),
    default: "1",
};
const EVIDENCE: Parameter = Parameter {
    name: "evidence",
    about: "exponent c of the base weights S_mj^c of a pair that shares S_mj tasks (0: all pairs alike, the paper)",
    kind: Kind::Number(0.0, 2.0),
    default: "1",
};
const NO_EVIDENCE: Parameter = Parameter {
    default: "0",
    ..EVIDENCE
};
const XI: Parameter = Parameter {
    name: "xi",
    about: "smoothing of the robust norm",
    kind: Kind::Number(1e-16, 1.0),
    default: "1e-6",
};
const SOLVER: Parameter = Parameter {
    name: "solver",
    about: "how a worker's K x K problem is solved: exactly, or by the paper's projected gradient (15 steps)",
    kind: Kind::Choice(&["exact", "gradient"]),
    default: "exact",
};
const SWEEPS: Parameter = Parameter {
    name: "sweeps",
    about: "largest number of imputation sweeps",
    kind: Kind::Integer(1, 1_000_000),
    default: "200",
};
const SWEEP_TOL: Parameter = Parameter {
    name: "sweep-tol",
    about: "imputation stops when a sweep lowers the objective by less than this share",
    kind: Kind::Number(0.0, 1.0),
    default: "1e-6",
};
const FORM: Parameter = Parameter {
    name: "form",
    about: "pairs: the robust form; matrix-free: linear in labels, no pairs stored; auto: by size",
    kind: Kind::Choice(&["auto", "pairs", "matrix-free"]),
    default: "auto",
};
const ALPHA: Parameter = Parameter {
    name: "alpha",
    about: "threshold of the shifted ReLU; 0 is the older algorithm",
    kind: Kind::Number(0.0, 1.0),
    default: "1e-6",
};
const PSI: Parameter = Parameter {
    name: "psi",
    about: "if above 0: threshold psi^(t+1) in step t instead of a constant",
    kind: Kind::Number(0.0, 0.999_999),
    default: "0",
};
const STEPS: Parameter = Parameter {
    name: "steps",
    about: "largest number of factorisation steps",
    kind: Kind::Integer(1, 1_000_000),
    default: "500",
};
const ROWS: Parameter = Parameter {
    name: "rows",
    about: "weight of a worker in the factorisation: its number of labels, or the same for all",
    kind: Kind::Choice(&["labels", "equal"]),
    default: "equal",
};
// Eigenvectors follow the worst estimated blocks if nothing holds them back.
const EIGEN_ROWS: Parameter = Parameter {
    default: "labels",
    ..ROWS
};
const DESIGNATED_WORKERS: Parameter = Parameter {
    name: "designated",
    about: "two worker ids, separated by a comma, that stand between all pairs; empty: the best for each block",
    kind: Kind::Text,
    default: "",
};

/// A tenth of a label in every cell: enough that no answer is impossible, too little to change who is believed.
const REFINED_SMOOTHING: Parameter = Parameter {
    default: "0.1",
    ..super::super::EM_SMOOTHING
};

pub(super) const ROBUST: &[Parameter] = &[
    INIT, SHRINKAGE, EVIDENCE, XI, SOLVER, SWEEPS, SWEEP_TOL, FORM, ALPHA, PSI, STEPS, ROWS,
];
pub(super) const ROBUST_EM: &[Parameter] = &[
    INIT,
    SHRINKAGE,
    EVIDENCE,
    XI,
    SOLVER,
    SWEEPS,
    SWEEP_TOL,
    FORM,
    ALPHA,
    PSI,
    STEPS,
    ROWS,
    super::super::EM_MAX_ITER,
    super::super::EM_TOL,
    REFINED_SMOOTHING,
];
pub(super) const UNIFORM: &[Parameter] = &[
    INIT,
    SHRINKAGE,
    NO_EVIDENCE,
    SOLVER,
    SWEEPS,
    SWEEP_TOL,
    FORM,
    ALPHA,
    PSI,
    STEPS,
    ROWS,
];
pub(super) const DESIGNATED: &[Parameter] = &[SHRINKAGE, DESIGNATED_WORKERS, ALPHA, PSI, STEPS, EIGEN_ROWS];
pub(super) const DESIGNATED_EM: &[Parameter] = &[
    SHRINKAGE,
    DESIGNATED_WORKERS,
    ALPHA,
    PSI,
    STEPS,
    EIGEN_ROWS,
    super::super::EM_MAX_ITER,
    super::super::EM_TOL,
    REFINED_SMOOTHING,
];
pub(super) const PLAIN: &[Parameter] = &[SHRINKAGE, ALPHA, PSI, STEPS, EIGEN_ROWS];
pub(super) const PLAIN_EM: &[Parameter] = &[
    SHRINKAGE,
    ALPHA,
    PSI,
    STEPS,
    EIGEN_ROWS,
    super::super::EM_MAX_ITER,
    super::super::EM_TOL,
    REFINED_SMOOTHING,
];
