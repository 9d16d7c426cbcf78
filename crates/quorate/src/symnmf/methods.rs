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

use super::pipeline::named_workers;
use super::{Alpha, Designated, FactorSettings, ResidualWeights, RobustSettings, Solver};
use crate::annotations::Names;
use crate::methods::declare::NO_FACTS;
use crate::methods::{Build, Declared, Kind, Method, Parameter, Values};
use crate::model::Em;
use crate::{Result, declare_words};

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
    ($($(#[doc = $about:literal])+ $field:ident: $type:ty = $name:literal in $group:ident, $kind:expr, $default:literal;)+) => {
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

        /// All parameters of the family, and what has them.
        const GROUPS: &[Group] = &[$(Group::$group),+];
        const ALL: &[Parameter] = &[$(Parameter {
            name: $name,
            about: concat!($($about),+).trim_ascii_start(),
            kind: $kind,
            default: $default,
        },)+];

        impl Preset {
            /// The method with the defaults of its entry; what it does not have is that of the family.
            fn defaults(self) -> SymNmf {
                let values = Values::defaults(ALL);
                let family = SymNmf { preset: self, $($field: values.get($name),)+ };
                family.with(&Values::defaults(self.method().parameters))
            }
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
    init: Init = "init" in Robust, Kind::Choice(Init::WORDS), "votes";
    /// pseudo-labels that draw each column of a confusion matrix halfway to the crowd's and the uniform one
    shrinkage: f64 = "shrinkage" in All, Kind::Number(0.0, 1e9), "1";
    /// exponent c of the base weights S_mj^c of a pair that shares S_mj tasks (0: all pairs alike, the paper)
    evidence: f64 = "evidence" in Robust, Kind::Number(0.0, 2.0), "1";
    /// smoothing of the robust norm
    xi: f64 = "xi" in Reweighted, Kind::Number(1e-16, 1.0), "1e-6";
    /// how a worker's K x K problem is solved: exactly, or by the paper's projected gradient (15 steps)
    solver: Solver = "solver" in Robust, Kind::Choice(Solver::WORDS), "exact";
    /// largest number of imputation sweeps
    sweeps: usize = "sweeps" in Robust, MANY, "200";
    /// imputation stops when a sweep lowers the objective by less than this share
    sweep_tol: f64 = "sweep-tol" in Robust, Kind::Number(0.0, 1.0), "1e-6";
    /// pairs: the robust form; matrix-free: linear in labels, no pairs stored; auto: by size
    form: Form = "form" in Robust, Kind::Choice(Form::WORDS), "auto";
    /// two worker ids, separated by a comma, that stand between all pairs; empty: pairs of workers for each
    /// block
    designated: String = "designated" in Designated, Kind::Text, "";
    /// which pairs stand between the workers of a missing block: the best, averaged, or one drawn at random
    /// (the paper)
    pair: Between = "pair" in Designated, Kind::Choice(Between::WORDS), "average";
    /// threshold of the shifted ReLU; 0 is the older algorithm
    alpha: f64 = "alpha" in All, Kind::Number(0.0, 1.0), "1e-6";
    /// if above 0: threshold psi^(t+1) in step t instead of a constant
    psi: f64 = "psi" in All, Kind::Number(0.0, 0.999_999), "0";
    /// largest number of factorisation steps
    steps: usize = "steps" in All, MANY, "500";
    /// weight of a worker in the factorisation: its number of labels, or the same for all
    rows: RowWeights = "rows" in All, Kind::Choice(RowWeights::WORDS), "equal";
    /// largest number of EM rounds
    max_iter: usize = "max-iter" in Em, MANY, "1000";
    /// EM stops when the mean change of a posterior falls below this
    tol: f64 = "tol" in Em, Kind::Number(0.0, 1.0), "1e-6";
    /// pseudo-count added to every cell of every confusion matrix
    smoothing: f64 = "smoothing" in Em, Kind::Number(0.0, 1e9), "0.1";
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

/// What has a parameter: all methods, those with an imputation of that kind, or those with EM after it.
#[derive(Clone, Copy)]
enum Group {
    All,
    Robust,
    Reweighted,
    Designated,
    Em,
}

/// The entries of these groups, with another default where it is `changed`.
const fn entries<const N: usize>(groups: &[Group], changed: Option<(&str, &'static str)>) -> [Parameter; N] {
    let mut entries = [ALL[0]; N];
    let (mut place, mut entry) = (0, 0);
    while entry < ALL.len() {
        let mut group = 0;
        while group < groups.len() && groups[group] as u8 != GROUPS[entry] as u8 {
            group += 1;
        }
        if group < groups.len() {
            entries[place] = ALL[entry];
            if let Some((name, default)) = changed
                && is(name, ALL[entry].name)
            {
                entries[place].default = default;
            }
            place += 1;
        }
        entry += 1;
    }
    assert!(place == N, "the number of parameters is another one");
    entries
}

/// Eigenvectors follow the worst estimated blocks if nothing holds them back: the forms with eigenvectors
/// weigh rows by labels.
const BY_LABELS: Option<(&str, &str)> = Some(("rows", "labels"));

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
            parameters: &entries::<15>(&[Group::All, Group::Robust, Group::Reweighted, Group::Em], None),
            build: Build::Labels(|values| Box::new(Preset::RobSymNmfEm.defaults().with(values))),
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
            parameters: &entries::<12>(&[Group::All, Group::Robust, Group::Reweighted], None),
            build: Build::Labels(|values| Box::new(Preset::RobSymNmf.defaults().with(values))),
            ..FAMILY
        },
        Method {
            name: "rob-symnmf-uniform",
            aliases: &["robsymnmf-uniform", "rob-symnmf-w1"],
            summary: "rob-symnmf with all observed pairs weighted alike",
            description: "The paper's ablation \"w = 1\": least squares on the observed co-occurrences with neither \
                  reweighting by residual nor base weights by shared tasks. Shows what the weights are worth.",
            parameters: &entries::<11>(&[Group::All, Group::Robust], Some(("evidence", "0"))),
            build: Build::Labels(|values| Box::new(Preset::RobSymNmfUniform.defaults().with(values))),
            ..FAMILY
        },
        Method {
            name: "des-symnmf-em",
            aliases: &["dessymnmf-em"],
            summary: "Designated co-occurrence imputation and SymNMF, then EM",
            description: "des-symnmf as the start of EM, which then uses all labels of a task together: as good as \
                  rob-symnmf-em where the missing blocks can be reached.",
            parameters: &entries::<10>(&[Group::All, Group::Designated, Group::Em], BY_LABELS),
            build: Build::Labels(|values| Box::new(Preset::DesSymNmfEm.defaults().with(values))),
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
            parameters: &entries::<7>(&[Group::All, Group::Designated], BY_LABELS),
            build: Build::Labels(|values| Box::new(Preset::DesSymNmf.defaults().with(values))),
            ..FAMILY
        },
        Method {
            name: "symnmf-em",
            aliases: &[],
            summary: "SymNMF of the observed co-occurrences alone, then EM",
            description: "symnmf (missing blocks are zero) as the start of EM: the baseline that shows what imputation is \
                  worth after EM.",
            parameters: &entries::<8>(&[Group::All, Group::Em], BY_LABELS),
            build: Build::Labels(|values| Box::new(Preset::SymNmfEm.defaults().with(values))),
            ..FAMILY
        },
        Method {
            name: "symnmf",
            aliases: &[],
            summary: "SymNMF of the observed co-occurrences, nothing imputed",
            description: "Missing co-occurrence blocks, and the diagonal, are taken as zero: the paper's baseline that \
                  shows what imputation is worth. Biased wherever many pairs are missing.",
            parameters: &entries::<5>(&[Group::All], BY_LABELS),
            build: Build::Labels(|values| Box::new(Preset::SymNmf.defaults().with(values))),
            ..FAMILY
        },
    ];
}

impl Preset {
    /// The entry: presets stand in the order of the table.
    fn method(self) -> &'static Method {
        &SymNmf::METHODS[self as usize]
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

impl SymNmf {
    /// How the rotation is found.
    pub(super) fn factor_settings(&self) -> FactorSettings {
        let (max_iter, tol) = (self.steps, FACTOR_TOL);
        let moving = (self.psi > 0.0).then_some(Alpha::Power(self.psi));
        let alpha = moving.unwrap_or(Alpha::Constant(self.alpha));
        FactorSettings { alpha, max_iter, tol }
    }

    /// How a factor is fitted to the observed blocks, where missing ones come from that.
    pub(super) fn robust_settings(&self) -> Option<RobustSettings> {
        let (weights, xi) = match self.preset {
            Preset::RobSymNmfEm | Preset::RobSymNmf => (ResidualWeights::Robust, self.xi),
            // Without reweighting the norm needs no smoothing.
            Preset::RobSymNmfUniform => (ResidualWeights::Uniform, 0.0),
            _ => return None,
        };
        Some(RobustSettings {
            weights,
            evidence: self.evidence,
            xi,
            solver: self.solver,
            max_iter: self.sweeps,
            tol: self.sweep_tol,
        })
    }

    /// Who stands between the workers of a missing block, where it comes from three observed ones.
    pub(super) fn go_betweens(&self, workers: &Names) -> Result<Designated> {
        Ok(match self.preset {
            Preset::SymNmfEm | Preset::SymNmf => Designated::None,
            _ if !self.designated.trim().is_empty() => named_workers(&self.designated, workers)?,
            _ if self.pair == Between::Random => Designated::Random,
            _ => Designated::Best,
        })
    }

    /// EM after the estimate.
    pub(super) fn refinement(&self) -> Option<Em> {
        use Preset::{DesSymNmfEm, RobSymNmfEm, SymNmfEm};
        let refined = matches!(self.preset, RobSymNmfEm | DesSymNmfEm | SymNmfEm);
        refined.then(|| Em {
            max_iter: self.max_iter,
            tol: self.tol,
            smoothing: self.smoothing,
            ..Em::default()
        })
    }
}
