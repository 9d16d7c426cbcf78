//! What the paper says about these tables, and what was found.

use super::runs::Runs;
use super::tables::place_of;
use super::{Experiment, PROPOSED, Training, Who};
use crate::contender::{
    CNMF, Contender, DES_SYMNMF, KOS, MAJORITY_VOTE, ROB_SYMNMF, ROB_SYMNMF_UNIFORM, SPECTRAL_DS, TENSOR_ADMM,
};
use crate::paper::printed;
use crate::section::{Claim, Holds};
use crate::statistics::{mean, rank_correlation};

/// Mean errors of one way of training.
struct Means<'a> {
    experiment: &'a Experiment,
    runs: &'a Runs,
}

pub(super) fn all(experiment: &Experiment, training: Training, runs: &Runs) -> Vec<Claim> {
    let means = Means { experiment, runs };
    let mut claims = vec![
        means.order(),
        means.best_of_family(),
        means.below("The proposed methods improve on CNMF in every column", &[CNMF]),
        means.below(
            "The proposed methods are ahead of those with third-order statistics under most settings",
            &[TENSOR_ADMM, SPECTRAL_DS],
        ),
        means.robust_against_equal(),
    ];
    match experiment.columns[0].who {
        Who::Shares(_) => claims.push(means.robust_without_designated()),
        Who::Parts(_) => claims.push(means.votes_far_behind()),
    }
    let words = match training {
        Training::Text => "training as in the text",
        Training::Program => "training as in the program",
    };
    for claim in &mut claims {
        claim.says = format!("{} ({words})", claim.says);
    }
    claims
}

impl Means<'_> {
    /// Mean error of a method in a column; none where it failed.
    fn error(&self, contender: &Contender, column: usize) -> Option<f64> {
        let measured = &self.runs.methods[place_of(self.experiment, contender)?][column];
        (measured.failure.is_none() && !measured.errors.is_empty()).then(|| mean(&measured.errors))
    }

    fn columns(&self) -> std::ops::Range<usize> {
        0..self.experiment.columns.len()
    }

    /// The lowest error of some methods.
    fn best<'c>(&self, of: impl Iterator<Item = &'c Contender>, column: usize) -> (f64, &'static str) {
        of.filter_map(|contender| Some((self.error(contender, column)?, contender.title)))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .unwrap_or((f64::NAN, "none"))
    }

    /// Rank correlation of the methods' errors with the paper's.
    fn order(&self) -> Claim {
        // The paper's KOS stands for the form that its authors ran.
        let rows: Vec<&Contender> = self
            .experiment
            .contenders
            .iter()
            .filter(|one| **one != KOS)
            .collect();
        let correlations: Vec<f64> = self
            .columns()
            .map(|column| {
                let key = self.experiment.columns[column].key;
                let pairs = rows.iter().filter_map(|one| {
                    Some((
                        printed(self.experiment.table, one.paper, key)?.value?,
                        self.error(one, column)?,
                    ))
                });
                let (paper, ours): (Vec<f64>, Vec<f64>) = pairs.unzip();
                rank_correlation(&paper, &ours)
            })
            .collect();
        let alike = correlations
            .iter()
            .filter(|correlation| **correlation >= 0.5)
            .count();
        let words: Vec<String> = correlations.iter().map(|value| format!("{value:.2}")).collect();
        Claim::new(
            "The methods stand in the order of the paper (rank correlation of at least 0.5 in every column)",
            Holds::count(alike, correlations.len()),
            format!("rank correlations {}", words.join(", ")),
        )
    }

    fn best_of_family(&self) -> Claim {
        let others = |one: &&Contender| {
            !PROPOSED.contains(one)
                && printed(self.experiment.table, one.paper, self.experiment.columns[0].key).is_some()
        };
        let mut ahead = 0;
        let mut words = Vec::new();
        for column in self.columns() {
            let family = self.best(PROPOSED.iter(), column);
            let rest = self.best(self.experiment.contenders.iter().filter(others), column);
            ahead += usize::from(family.0 <= rest.0 + 1e-9);
            words.push(format!(
                "{} {:.2} %, {} {:.2} %",
                family.1, family.0, rest.1, rest.0
            ));
        }
        Claim::new(
            "A proposed method has the lowest error of the table in every column",
            Holds::count(ahead, self.experiment.columns.len()),
            format!("best of the family and best of the others: {}", words.join("; ")),
        )
    }

    /// Whether both RobSymNMF and DesSymNMF are below some others.
    fn below(&self, says: &str, others: &[Contender]) -> Claim {
        let (mut holding, mut all) = (0, 0);
        let mut words = Vec::new();
        for other in others {
            for column in self.columns() {
                let Some(error) = self.error(other, column) else {
                    continue;
                };
                let own = [ROB_SYMNMF, DES_SYMNMF].map(|one| self.error(&one, column).unwrap_or(f64::NAN));
                all += 1;
                holding += usize::from(own.iter().all(|own| *own <= error + 1e-9));
                words.push(format!("{:.2} and {:.2} % against {error:.2} %", own[0], own[1]));
            }
        }
        Claim::new(
            says,
            Holds::count(holding, all),
            format!(
                "RobSymNMF and DesSymNMF both at or below in {holding} of {all}: {}",
                words.join("; ")
            ),
        )
    }

    fn robust_against_equal(&self) -> Claim {
        let pair = |column| {
            Some((
                self.error(&ROB_SYMNMF, column)?,
                self.error(&ROB_SYMNMF_UNIFORM, column)?,
            ))
        };
        let pairs: Vec<(f64, f64)> = self.columns().filter_map(pair).collect();
        let holding = pairs
            .iter()
            .filter(|(robust, equal)| *robust <= equal + 1e-9)
            .count();
        let words: Vec<String> = pairs
            .iter()
            .map(|(a, b)| format!("{a:.2} and {b:.2} %"))
            .collect();
        Claim::new(
            "Robust imputation is at most as wrong as with equal weights",
            Holds::count(holding, pairs.len()),
            format!("robust and equal weights: {}", words.join("; ")),
        )
    }

    fn robust_without_designated(&self) -> Claim {
        let own = |one| self.error(&one, 0).unwrap_or(f64::NAN);
        Claim::new(
            "Without designated annotators RobSymNMF is slightly ahead of DesSymNMF",
            Holds::when(own(ROB_SYMNMF) < own(DES_SYMNMF)),
            format!("{:.2} % against {:.2} %", own(ROB_SYMNMF), own(DES_SYMNMF)),
        )
    }

    fn votes_far_behind(&self) -> Claim {
        let gaps: Vec<f64> = self
            .columns()
            .filter_map(|column| Some(self.error(&MAJORITY_VOTE, column)? - self.error(&ROB_SYMNMF, column)?))
            .collect();
        let words: Vec<String> = gaps.iter().map(|gap| format!("{gap:.2}")).collect();
        Claim::new(
            "With most blocks missing RobSymNMF is far ahead of majority voting (by about 20 points)",
            Holds::count(gaps.iter().filter(|gap| **gap >= 10.0).count(), gaps.len()),
            format!("ahead by {} points", words.join(", ")),
        )
    }
}
