//! What the paper says about these tables, and what was found.

use super::runs::Runs;
use super::tables::place_of;
use super::{Experiment, Training, Who};
use crate::contender::{
    CNMF, Contender, DES_SYMNMF, KOS, MAJORITY_VOTE, PROPOSED, ROB_SYMNMF, ROB_SYMNMF_UNIFORM, SPECTRAL_DS,
    TENSOR_ADMM,
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
        Who::Parts { .. } => claims.push(means.votes_far_behind()),
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
    /// Errors of a method in a column, trial by trial; none where it failed.
    fn errors(&self, contender: &Contender, column: usize) -> Option<&[f64]> {
        let measured = &self.runs.methods[place_of(self.experiment, contender)?][column];
        (measured.failure.is_none() && !measured.errors.is_empty()).then_some(&measured.errors[..])
    }

    /// Mean error of a method in a column.
    fn error(&self, contender: &Contender, column: usize) -> Option<f64> {
        self.errors(contender, column).map(mean)
    }

    /// Whether a method is below another in a column, beyond noise; within noise where one failed.
    fn is_below(&self, one: &Contender, other: &Contender, column: usize) -> Holds {
        match (self.errors(one, column), self.errors(other, column)) {
            (Some(own), Some(other)) => Holds::paired_below(own, other),
            _ => Holds::Undecided,
        }
    }

    /// Both mean errors in words.
    fn pair(&self, one: &Contender, other: &Contender, column: usize) -> String {
        let error = |contender| self.error(contender, column).unwrap_or(f64::NAN);
        format!("{:.2} % against {:.2} %", error(one), error(other))
    }

    /// The columns that the paper has.
    fn columns(&self) -> impl Iterator<Item = usize> + Clone {
        let columns = self.experiment.columns.iter().enumerate();
        columns
            .filter(|(_, column)| !column.key.is_empty())
            .map(|(place, _)| place)
    }

    /// The method with the lowest error.
    fn best<'c>(&self, of: impl Iterator<Item = &'c Contender>, column: usize) -> Option<&'c Contender> {
        of.filter_map(|contender| Some((self.error(contender, column)?, contender)))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|best| best.1)
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
        let correlation = |column: usize| {
            let key = self.experiment.columns[column].key;
            let pairs = rows.iter().filter_map(|one| {
                let paper = printed(self.experiment.table, one.paper, key)?.value?;
                Some((paper, self.error(one, column)?))
            });
            let (paper, ours): (Vec<f64>, Vec<f64>) = pairs.unzip();
            rank_correlation(&paper, &ours)
        };
        let correlations: Vec<f64> = self.columns().map(correlation).collect();
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
        let key = self.experiment.columns[0].key;
        let others = |one: &&Contender| {
            !PROPOSED.contains(one) && printed(self.experiment.table, one.paper, key).is_some()
        };
        let (mut parts, mut words) = (Vec::new(), Vec::new());
        for column in self.columns() {
            let family = self.best(PROPOSED.iter(), column);
            let rest = self.best(self.experiment.contenders.iter().filter(others), column);
            if let (Some(family), Some(rest)) = (family, rest) {
                parts.push(self.is_below(family, rest, column));
                words.push(format!(
                    "{} and {}: {}",
                    family.title,
                    rest.title,
                    self.pair(family, rest, column)
                ));
            }
        }
        Claim::new(
            "A proposed method has the lowest error of the table in every column",
            Holds::all(&parts),
            format!("best of the family and best of the others: {}", words.join("; ")),
        )
    }

    /// Whether RobSymNMF and DesSymNMF are below some others, all in all columns.
    fn below(&self, says: &str, others: &[Contender]) -> Claim {
        let (mut parts, mut words) = (Vec::new(), Vec::new());
        for other in others {
            for one in [ROB_SYMNMF, DES_SYMNMF] {
                let columns = self.columns();
                parts.extend(columns.clone().map(|column| self.is_below(&one, other, column)));
                let pairs: Vec<String> = columns.map(|column| self.pair(&one, other, column)).collect();
                words.push(format!("{} and {}: {}", one.title, other.title, pairs.join(", ")));
            }
        }
        Claim::new(says, Holds::all(&parts), words.join("; "))
    }

    fn robust_against_equal(&self) -> Claim {
        let (one, other) = (&ROB_SYMNMF, &ROB_SYMNMF_UNIFORM);
        let parts: Vec<Holds> = self
            .columns()
            .map(|column| self.is_below(one, other, column))
            .collect();
        let words: Vec<String> = self
            .columns()
            .map(|column| self.pair(one, other, column))
            .collect();
        Claim::new(
            "Robust imputation has a lower error than equal weights",
            Holds::all(&parts),
            words.join(", "),
        )
    }

    fn robust_without_designated(&self) -> Claim {
        Claim::new(
            "Without designated annotators RobSymNMF is slightly ahead of DesSymNMF",
            self.is_below(&ROB_SYMNMF, &DES_SYMNMF, 0),
            self.pair(&ROB_SYMNMF, &DES_SYMNMF, 0),
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
