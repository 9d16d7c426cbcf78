//! Baselines from the literature: methods that exist to repeat its comparisons, beside those of [`quorate`].
//! A crate of its own, so that the library has only what one would choose for work of one's own.
//!
//! ```
//! use quorate::{Annotations, Context};
//!
//! let annotations = Annotations::from_triples([
//!     ("t1", "ann", "cat"), ("t1", "bob", "cat"), ("t1", "cem", "dog"),
//!     ("t2", "ann", "dog"), ("t2", "bob", "dog"), ("t2", "cem", "dog"),
//! ])?;
//! let method = quorate_baselines::find("glad")?.with_defaults()?;
//! let fit = method.fit(&annotations, &mut Context::new(7))?;
//! assert_eq!(fit.consensus.len(), 2);
//! # Ok::<(), quorate::Error>(())
//! ```
#![deny(missing_docs)]

mod cnmf;
mod cria_v;
mod ebcc;
mod eigen_ratio;
mod glad;
mod ibcc;
mod iwmv;
mod kos;
mod linalg;
mod m_msr;
mod mace;
mod minimax_entropy;
mod multi_spa;
mod pg_tac;
mod restarts;
mod sign_svd;
mod spectral_ds;
mod tensor_admm;
mod tensor_completion;
mod thresholds;
mod triples;
mod variational;
mod wawa;
mod weighted_vote;
mod zero_based_skill;

pub use cnmf::{Cnmf, CnmfUpdate, PairWeights};
pub use cria_v::CriaV;
pub use ebcc::{ClassCounts, Ebcc};
pub use eigen_ratio::EigenRatio;
pub use glad::Glad;
pub use ibcc::Ibcc;
pub use iwmv::{Iwmv, Weight};
pub use kos::{Kos, KosStart};
pub use m_msr::MMsr;
pub use mace::{Mace, MaceUpdate};
pub use minimax_entropy::{MinimaxEntropy, MinimaxModel};
pub use multi_spa::{Fill, MultiSpa};
pub use pg_tac::{PgTac, TruthLayer};
pub use sign_svd::{GhoshSvd, KosSvd};
pub use spectral_ds::SpectralDs;
pub use tensor_admm::TensorAdmm;
pub use wawa::Wawa;
pub use weighted_vote::SkillTies;
pub use zero_based_skill::ZeroBasedSkill;

use quorate::methods::{METHODS as LIBRARY, Method, find_among};

/// The table of these methods.
pub static METHODS: &[Method] = &[
    Ibcc::METHOD,
    Ebcc::METHOD,
    Glad::METHOD,
    Mace::METHOD,
    Wawa::METHOD,
    ZeroBasedSkill::METHOD,
    Iwmv::METHOD,
    MMsr::METHOD,
    Kos::METHOD,
    KosSvd::METHOD,
    GhoshSvd::METHOD,
    EigenRatio::METHOD,
    MultiSpa::METHOD,
    Cnmf::METHOD,
    SpectralDs::METHOD,
    MinimaxEntropy::METHOD,
    TensorAdmm::METHOD,
    PgTac::METHOD,
    CriaV::METHOD,
];

/// The methods of the library, then these.
pub fn all_methods() -> impl Iterator<Item = &'static Method> + Clone {
    LIBRARY.iter().chain(METHODS)
}

/// Looks a method up by its name or an alias, among those of the library and these.
pub fn find(name: &str) -> quorate::Result<&'static Method> {
    find_among(all_methods(), name)
}
