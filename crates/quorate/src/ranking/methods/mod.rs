//! One file for each method that ranks, and their table.

mod bradley_terry;
mod elo;
mod judge_bt;
mod plackett_luce;
mod win_rate;

pub use bradley_terry::BradleyTerry;
pub use elo::Elo;
pub use judge_bt::JudgeBt;
pub use plackett_luce::PlackettLuce;
pub use win_rate::WinRate;

use crate::methods::Method;

/// The methods for comparisons.
pub static METHODS: &[Method] = &[
    JudgeBt::METHOD,
    BradleyTerry::METHOD,
    PlackettLuce::METHOD,
    WinRate::METHOD,
    Elo::METHOD,
];

/// The method that is used when none is named.
pub const DEFAULT_METHOD: &str = "judge-bt";
