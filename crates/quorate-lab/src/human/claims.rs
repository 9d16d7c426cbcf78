//! What the paper says of the human tables, and what was found.

use crate::contender::{
    AUTO, CNMF, Contender, DAWID_SKENE, DES_SYMNMF, DES_SYMNMF_EM, MV_EM, PROPOSED, ROB_SYMNMF,
    ROB_SYMNMF_EM, ROB_SYMNMF_UNIFORM, SYMNMF,
};
use crate::human_data::HumanData;
use crate::paper::{self, printed};
use crate::section::{Claim, Holds, Table};
use crate::verdict::Noise;

/// What the paper says of these tables; differences of at most three tasks are within noise.
pub(super) fn claims(sets: &[&str], data: &[HumanData], errors: &Table, missing: &Table) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (column, (set, data)) in sets.iter().zip(data).enumerate() {
        let ours = |contender: &Contender| errors.ours(contender.title, column).unwrap_or(f64::NAN);
        let noise = Noise::of_tasks(data.known()).grain + 1e-9;
        let best = PROPOSED
            .iter()
            .map(|one| (ours(one), one.title))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let (error, who) = best.unwrap_or((f64::NAN, ""));
        let rows = [ROB_SYMNMF, DES_SYMNMF, SYMNMF, ROB_SYMNMF_UNIFORM, CNMF];
        let [robust, designated, none, equal, cnmf] = rows.map(|one| ours(&one));
        let [from_robust, from_designated, em, ten] =
            [ROB_SYMNMF_EM, DES_SYMNMF_EM, DAWID_SKENE, MV_EM].map(|one| ours(&one));
        let mut claim = |says: &str, holds: Holds, found: String| {
            claims.push(Claim::new(format!("{set}: {says}"), holds, found));
        };
        claim(
            "the proposed methods are comparable with or better than CNMF",
            Holds::when(error <= cnmf + noise),
            format!("best of the family {who} {error:.2} %, CNMF {cnmf:.2} %"),
        );
        claim(
            "imputation improves on SymNMF without it",
            Holds::below(robust.min(designated), none, noise),
            format!("robust {robust:.2} %, designated {designated:.2} %, none {none:.2} %"),
        );
        claim(
            "the robust criterion improves on equal weights",
            Holds::below(robust, equal, noise),
            format!("robust {robust:.2} %, equal weights {equal:.2} %"),
        );
        claim(
            "EM started by the family is better than EM started by votes",
            Holds::below(from_robust.min(from_designated), em, noise),
            format!(
                "RobSymNMF-EM {from_robust:.2} %, DesSymNMF-EM {from_designated:.2} %; EM from votes to convergence {em:.2} %, \
                 ten rounds {ten:.2} %"
            ),
        );
        let after = missing.rows[column].cells[2].ours.as_ref();
        let paper = printed("text:missing", set, "after").and_then(|printed| printed.value);
        if let Some((paper, after)) = paper.zip(after.map(|summary| summary.mean)) {
            claim(
                &format!("designated imputation brings the missing blocks down to {paper} %"),
                Holds::when(after <= paper + 0.005),
                format!("{after:.2} % left here"),
            );
        }
    }
    claims
}

/// The best printed error beside the best here.
pub(super) fn findings(name: &str, sets: &[&str], errors: &Table) -> Vec<String> {
    let words = |(column, set): (usize, &&str)| {
        let (error, who) = lowest(errors, column)?;
        let auto = errors.ours(AUTO.title, column)?;
        let printed = match paper::best(name, set) {
            Some((row, printed)) => format!("the lowest printed error is {printed} % ({row}); "),
            None => String::new(),
        };
        Some(format!(
            "{set}: {printed}the lowest here {error:.2} % ({who}), and {auto:.2} % with auto, which chooses nothing by the truth."
        ))
    };
    sets.iter().enumerate().filter_map(words).collect()
}

/// The lowest error of a column, and whose it is.
fn lowest(table: &Table, column: usize) -> Option<(f64, &str)> {
    let errors = table
        .rows
        .iter()
        .filter_map(|row| Some((row.cells[column].ours.as_ref()?.mean, row.name.as_str())));
    errors.min_by(|a, b| a.0.total_cmp(&b.0))
}
