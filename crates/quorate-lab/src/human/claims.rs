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
        claims.push(Claim::new(
            format!("{set}: the proposed methods are comparable with or better than CNMF"),
            Holds::when(error <= ours(&CNMF) + noise),
            format!("best of the family {who} {error:.2} %, CNMF {:.2} %", ours(&CNMF)),
        ));
        let imputed = ours(&ROB_SYMNMF).min(ours(&DES_SYMNMF));
        claims.push(Claim::new(
            format!("{set}: imputation improves on SymNMF without it"),
            Holds::below(imputed, ours(&SYMNMF), noise),
            format!(
                "robust {:.2} %, designated {:.2} %, none {:.2} %",
                ours(&ROB_SYMNMF),
                ours(&DES_SYMNMF),
                ours(&SYMNMF)
            ),
        ));
        claims.push(Claim::new(
            format!("{set}: the robust criterion improves on equal weights"),
            Holds::below(ours(&ROB_SYMNMF), ours(&ROB_SYMNMF_UNIFORM), noise),
            format!(
                "robust {:.2} %, equal weights {:.2} %",
                ours(&ROB_SYMNMF),
                ours(&ROB_SYMNMF_UNIFORM)
            ),
        ));
        let started = ours(&ROB_SYMNMF_EM).min(ours(&DES_SYMNMF_EM));
        claims.push(Claim::new(
            format!("{set}: EM started by the family is better than EM started by votes"),
            Holds::below(started, ours(&DAWID_SKENE), noise),
            format!(
                "RobSymNMF-EM {:.2} %, DesSymNMF-EM {:.2} %; EM from votes to convergence {:.2} %, ten rounds {:.2} %",
                ours(&ROB_SYMNMF_EM),
                ours(&DES_SYMNMF_EM),
                ours(&DAWID_SKENE),
                ours(&MV_EM)
            ),
        ));
        let after = missing.rows[column].cells[2]
            .ours
            .as_ref()
            .map(|summary| summary.mean);
        if let Some((paper, after)) = printed("text:missing", set, "after")
            .and_then(|printed| printed.value)
            .zip(after)
        {
            claims.push(Claim::new(
                format!("{set}: designated imputation brings the missing blocks down to {paper} %"),
                Holds::when(after <= paper + 0.005),
                format!("{after:.2} % left here"),
            ));
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
