//! The methods of the SymNMF family: one struct, and a preset for each method.
//!
//! | method | imputation |
//! |---|---|
//! | `rob-symnmf` | robust: reweighted least squares on observed pairs ([`impute_robust`](super::impute_robust)) |
//! | `rob-symnmf-uniform` | like `rob-symnmf`, but without reweighting, all pairs alike (the paper's "w = 1") |
//! | `des-symnmf` | each missing block from three observed ones ([`impute_designated`](super::impute_designated)) |
//! | `symnmf` | none: missing blocks are zero |
//! | `..-em` | any of these, then EM from the estimate |
//!
//! The steps are those of [`identify`](super::identify()); `pipeline.rs` is what is done around them.

use super::pipeline::{Pipeline, Sources};
use super::{Alpha, Designated, FactorSettings, ResidualWeights, RobustSettings, Solver};
use crate::blocks::Passes;
use crate::context::Context;
use crate::declare_words;
use crate::error::Result;
use crate::methods::declare::NO_FACTS;
use crate::methods::{Aggregate, BlockFit, Declared, Kind, Method, Parameter, Values};
use crate::model::Em;

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

/// The parameters of the family: a field with its setter each, and the entries that presets choose from.
macro_rules! family {
    ($($(#[doc = $about:literal])+ $field:ident: $type:ident = $name:literal, $kind:expr;)+) => {
        /// Co-occurrence imputation and SymNMF, with or without EM after it. The presets are the methods:
        /// [`rob_symnmf_em`](Self::rob_symnmf_em) and the others.
        #[derive(Debug, Clone, PartialEq)]
        pub struct SymNmf {
            preset: Preset,
            $($(#[doc = $about])+ pub $field: $type,)+
        }

        impl SymNmf {
            $(
                $(#[doc = $about])+
                pub fn $field(mut self, $field: impl Into<$type>) -> Self {
                    self.$field = $field.into();
                    self
                }
            )+

            /// The parameters that this preset has, with these values.
            fn with(mut self, values: &Values) -> Self {
                for parameter in self.method().parameters {
                    match parameter.name {
                        $($name => self.$field = values.get($name),)+
                        _ => {}
                    }
                }
                self
            }
        }

        impl Declared for SymNmf {
            fn method(&self) -> &'static Method {
                self.preset.method()
            }

            fn values(&self) -> Vec<String> {
                let text = |parameter: &Parameter| match parameter.name {
                    $($name => self.$field.to_string(),)+
                    _ => String::new(),
                };
                self.method().parameters.iter().map(text).collect()
            }
        }

        /// The entry of a parameter, with a default of the preset's.
        const fn parameter(name: &'static str, default: &'static str) -> Parameter {
            $(if is(name, $name) {
                let about = concat!($($about),+).trim_ascii_start();
                return Parameter { name, about, kind: $kind, default };
            })+
            panic!("the family has no such parameter")
        }
    };
}

/// Whether two names are the same, while compiling.
const fn is(name: &str, other: &str) -> bool {
    let (name, other) = (name.as_bytes(), other.as_bytes());
    let mut place = 0;
    while place < name.len() && place < other.len() && name[place] == other[place] {
        place += 1;
    }
    place == name.len() && place == other.len()
}

const MANY: Kind = Kind::Integer(1, 1_000_000);

family! {
    /// start of the imputation: confusion matrices counted against majority vote, or random numbers (the
    /// paper)
    init: Init = "init", Kind::Choice(Init::WORDS);
    /// pseudo-labels that draw each column of a confusion matrix halfway to the crowd's and the uniform one
    shrinkage: f64 = "shrinkage", Kind::Number(0.0, 1e9);
    /// exponent c of the base weights S_mj^c of a pair that shares S_mj tasks (0: all pairs alike, the paper)
    evidence: f64 = "evidence", Kind::Number(0.0, 2.0);
    /// smoothing of the robust norm
    xi: f64 = "xi", Kind::Number(1e-16, 1.0);
    /// how a worker's K x K problem is solved: exactly, or by the paper's projected gradient (15 steps)
    solver: Solver = "solver", Kind::Choice(Solver::WORDS);
    /// largest number of imputation sweeps
    sweeps: usize = "sweeps", MANY;
    /// imputation stops when a sweep lowers the objective by less than this share
    sweep_tol: f64 = "sweep-tol", Kind::Number(0.0, 1.0);
    /// pairs: the robust form; matrix-free: linear in labels, no pairs stored; auto: by size
    form: Form = "form", Kind::Choice(Form::WORDS);
    /// two worker ids, separated by a comma, that stand between all pairs; empty: pairs of workers for each
    /// block
    designated: String = "designated", Kind::Text;
    /// which pairs stand between the workers of a missing block: the best, averaged, or one drawn at random
    /// (the paper)
    pair: Between = "pair", Kind::Choice(Between::WORDS);
    /// threshold of the shifted ReLU; 0 is the older algorithm
    alpha: f64 = "alpha", Kind::Number(0.0, 1.0);
    /// if above 0: threshold psi^(t+1) in step t instead of a constant
    psi: f64 = "psi", Kind::Number(0.0, 0.999_999);
    /// largest number of factorisation steps
    steps: usize = "steps", MANY;
    /// weight of a worker in the factorisation: its number of labels, or the same for all
    rows: RowWeights = "rows", Kind::Choice(RowWeights::WORDS);
    /// largest number of EM rounds
    max_iter: usize = "max-iter", MANY;
    /// EM stops when the mean change of a posterior falls below this
    tol: f64 = "tol", Kind::Number(0.0, 1.0);
    /// pseudo-count added to every cell of every confusion matrix
    smoothing: f64 = "smoothing", Kind::Number(0.0, 1e9);
}

/// A method of the family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Preset {
    RobSymNmfEm,
    RobSymNmf,
    RobSymNmfUniform,
    DesSymNmfEm,
    DesSymNmf,
    SymNmfEm,
    SymNmf,
}

/// What all methods of the family have in common.
const FAMILY: Method = Method {
    citation: "S. Ibrahim, X. Fu: Crowdsourcing via Annotator Co-occurrence Imputation and Provable Symmetric \
               Nonnegative Matrix Factorization. ICML 2021",
    returns_model: true,
    learns_from_gold: true,
    uses_priors: true,
    streams: true,
    canonical_order: true,
    ..NO_FACTS
};

/// Parameters of the EM that follows.
const EM: [Parameter; 3] = [
    parameter("max-iter", "1000"),
    parameter("tol", "1e-6"),
    parameter("smoothing", "0.1"),
];

/// Parameters of a preset, and those of EM after them.
const fn then_em<const N: usize, const ALL: usize>(own: [Parameter; N]) -> [Parameter; ALL] {
    let mut all = [own[0]; ALL];
    let mut place = 0;
    while place < ALL {
        all[place] = if place < N { own[place] } else { EM[place - N] };
        place += 1;
    }
    all
}

// The designated forms weigh rows by labels: eigenvectors follow the worst estimated blocks if nothing holds
// them back.
const ROBUST: [Parameter; 12] = [
    parameter("init", "votes"),
    parameter("shrinkage", "1"),
    parameter("evidence", "1"),
    parameter("xi", "1e-6"),
    parameter("solver", "exact"),
    parameter("sweeps", "200"),
    parameter("sweep-tol", "1e-6"),
    parameter("form", "auto"),
    parameter("alpha", "1e-6"),
    parameter("psi", "0"),
    parameter("steps", "500"),
    parameter("rows", "equal"),
];
const UNIFORM: [Parameter; 11] = [
    ROBUST[0],
    ROBUST[1],
    parameter("evidence", "0"),
    ROBUST[4],
    ROBUST[5],
    ROBUST[6],
    ROBUST[7],
    ROBUST[8],
    ROBUST[9],
    ROBUST[10],
    ROBUST[11],
];
const DESIGNATED: [Parameter; 7] = [
    ROBUST[1],
    parameter("designated", ""),
    parameter("pair", "average"),
    ROBUST[8],
    ROBUST[9],
    ROBUST[10],
    parameter("rows", "labels"),
];
const NOTHING: [Parameter; 5] = [ROBUST[1], ROBUST[8], ROBUST[9], ROBUST[10], DESIGNATED[6]];

impl SymNmf {
    /// `rob-symnmf-em`: robust imputation and SymNMF, then EM.
    pub fn rob_symnmf_em() -> Self {
        Preset::RobSymNmfEm.defaults()
    }

    /// `rob-symnmf`: robust imputation and SymNMF.
    pub fn rob_symnmf() -> Self {
        Preset::RobSymNmf.defaults()
    }

    /// `rob-symnmf-uniform`: robust imputation with all observed pairs weighted alike, and SymNMF.
    pub fn rob_symnmf_uniform() -> Self {
        Preset::RobSymNmfUniform.defaults()
    }

    /// `des-symnmf-em`: designated imputation and SymNMF, then EM.
    pub fn des_symnmf_em() -> Self {
        Preset::DesSymNmfEm.defaults()
    }

    /// `des-symnmf`: designated imputation and SymNMF.
    pub fn des_symnmf() -> Self {
        Preset::DesSymNmf.defaults()
    }

    /// `symnmf-em`: SymNMF of the observed co-occurrences alone, then EM.
    pub fn unimputed_em() -> Self {
        Preset::SymNmfEm.defaults()
    }

    /// `symnmf`: SymNMF of the observed co-occurrences, nothing imputed.
    pub fn unimputed() -> Self {
        Preset::SymNmf.defaults()
    }

    /// The entries of the table of methods.
    pub const METHODS: [Method; 7] = [
        Method {
            name: "rob-symnmf-em",
            aliases: &["robsymnmf-em"],
            summary: "Robust co-occurrence imputation and SymNMF, then EM",
            description: "rob-symnmf gives EM a start that does not depend on majority vote being right everywhere; EM \
                  then uses all labels of a task together. The best all-rounder of the family.",
            parameters: &then_em::<12, 15>(ROBUST),
            build: |values| Box::new(Preset::RobSymNmfEm.defaults().with(values)),
            ..FAMILY
        },
        Method {
            name: "rob-symnmf",
            aliases: &["robsymnmf"],
            summary: "Robust co-occurrence imputation and SymNMF",
            description: "Completes the pairwise co-occurrences of workers' answers by a low-rank factor fitted to the \
                  observed pairs, with pairs that do not fit weighted down, and rotates the factor into \
                  confusion matrices. Identifies the model without the local optima of EM where pairs share \
                  enough tasks.",
            parameters: &ROBUST,
            build: |values| Box::new(Preset::RobSymNmf.defaults().with(values)),
            ..FAMILY
        },
        Method {
            name: "rob-symnmf-uniform",
            aliases: &["robsymnmf-uniform", "rob-symnmf-w1"],
            summary: "rob-symnmf with all observed pairs weighted alike",
            description: "The paper's ablation \"w = 1\": least squares on the observed co-occurrences with neither \
                  reweighting by residual nor base weights by shared tasks. Shows what the weights are worth.",
            parameters: &UNIFORM,
            build: |values| Box::new(Preset::RobSymNmfUniform.defaults().with(values)),
            ..FAMILY
        },
        Method {
            name: "des-symnmf-em",
            aliases: &["dessymnmf-em"],
            summary: "Designated co-occurrence imputation and SymNMF, then EM",
            description: "des-symnmf as the start of EM, which then uses all labels of a task together: as good as \
                  rob-symnmf-em where the missing blocks can be reached.",
            parameters: &then_em::<7, 10>(DESIGNATED),
            build: |values| Box::new(Preset::DesSymNmfEm.defaults().with(values)),
            ..FAMILY
        },
        Method {
            name: "des-symnmf",
            aliases: &["dessymnmf"],
            summary: "Designated co-occurrence imputation and SymNMF",
            description: "Estimates each missing co-occurrence block from three observed ones through workers in between, \
                  the best ones or two designated workers of your choice, then takes the leading eigenvectors \
                  of the completed matrix and rotates them into confusion matrices. Forms an M K x M K matrix: \
                  for thousands of workers, not for millions.",
            parameters: &DESIGNATED,
            build: |values| Box::new(Preset::DesSymNmf.defaults().with(values)),
            ..FAMILY
        },
        Method {
            name: "symnmf-em",
            aliases: &[],
            summary: "SymNMF of the observed co-occurrences alone, then EM",
            description: "symnmf (missing blocks are zero) as the start of EM: the baseline that shows what imputation is \
                  worth after EM.",
            parameters: &then_em::<5, 8>(NOTHING),
            build: |values| Box::new(Preset::SymNmfEm.defaults().with(values)),
            ..FAMILY
        },
        Method {
            name: "symnmf",
            aliases: &[],
            summary: "SymNMF of the observed co-occurrences, nothing imputed",
            description: "Missing co-occurrence blocks, and the diagonal, are taken as zero: the paper's baseline that \
                  shows what imputation is worth. Biased wherever many pairs are missing.",
            parameters: &NOTHING,
            build: |values| Box::new(Preset::SymNmf.defaults().with(values)),
            ..FAMILY
        },
    ];
}

impl Preset {
    /// The entry: presets stand in the order of the table.
    fn method(self) -> &'static Method {
        &SymNmf::METHODS[self as usize]
    }

    /// The method with the defaults of its entry; what it does not have stays as in `rob-symnmf-em`.
    fn defaults(self) -> SymNmf {
        let unset = SymNmf {
            preset: Self::RobSymNmfEm,
            init: Init::Votes,
            shrinkage: 0.0,
            evidence: 0.0,
            xi: 0.0,
            solver: Solver::Exact,
            sweeps: 1,
            sweep_tol: 0.0,
            form: Form::Auto,
            designated: String::new(),
            pair: Between::Average,
            alpha: 0.0,
            psi: 0.0,
            steps: 1,
            rows: RowWeights::Equal,
            max_iter: 1,
            tol: 0.0,
            smoothing: 0.0,
        };
        let full = unset.with(&Values::defaults(Self::RobSymNmfEm.method().parameters));
        let member = SymNmf { preset: self, ..full };
        member.with(&Values::defaults(self.method().parameters))
    }
}

impl Default for SymNmf {
    /// `rob-symnmf-em`, the best all-rounder of the family.
    fn default() -> Self {
        Self::rob_symnmf_em()
    }
}

/// The factorisation stops when no entry of the rotation moves by more than this.
const FACTOR_TOL: f64 = 1e-7;

impl Aggregate for SymNmf {
    fn learn(&self, passes: &mut Passes<'_>, context: &mut Context) -> Result<BlockFit> {
        let pipeline = Pipeline {
            sources: self.sources(),
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
            em: self.refinement(),
        };
        pipeline.fit(passes, context)
    }
}

impl SymNmf {
    /// Where missing blocks come from.
    fn sources(&self) -> Sources {
        let robust = |weights, xi| Sources::Robust {
            init: self.init,
            form: self.form,
            settings: RobustSettings {
                weights,
                evidence: self.evidence,
                xi,
                solver: self.solver,
                max_iter: self.sweeps,
                tol: self.sweep_tol,
            },
        };
        match self.preset {
            Preset::RobSymNmfEm | Preset::RobSymNmf => robust(ResidualWeights::Robust, self.xi),
            // Without reweighting the norm needs no smoothing.
            Preset::RobSymNmfUniform => robust(ResidualWeights::Uniform, 0.0),
            Preset::DesSymNmfEm | Preset::DesSymNmf => match self.pair {
                _ if !self.designated.trim().is_empty() => Sources::Named(self.designated.clone()),
                Between::Average => Sources::Blocks(Designated::Best),
                Between::Random => Sources::Blocks(Designated::Random),
            },
            Preset::SymNmfEm | Preset::SymNmf => Sources::Blocks(Designated::None),
        }
    }

    /// EM after the estimate.
    fn refinement(&self) -> Option<Em> {
        let refined = matches!(
            self.preset,
            Preset::RobSymNmfEm | Preset::DesSymNmfEm | Preset::SymNmfEm
        );
        refined.then(|| Em {
            max_iter: self.max_iter,
            tol: self.tol,
            smoothing: self.smoothing,
            ..Em::default()
        })
    }
}
