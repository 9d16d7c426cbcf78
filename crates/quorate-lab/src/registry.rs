//! The one table of experiments.

use anyhow::{Result, bail};

use crate::bench::{Bench, Settings};
use crate::section::Section;
use crate::{bounds, convergence, human, labelme, noiseless, sampled, uci};

/// A table, figure or theorem of the paper that can be run.
#[derive(Debug)]
pub struct Experiment {
    /// Its label in the paper.
    pub name: &'static str,
    /// What it is in the paper.
    pub title: &'static str,
    /// What is run here, in a line.
    pub runs: &'static str,
    /// Number of trials.
    pub trials: Trials,
    /// Roughly how long it takes on two cores; only the progress bar depends on it.
    pub seconds: Estimate,
    /// What it needs of the data folder.
    pub data: &'static [&'static str],
    /// Runs it.
    pub run: fn(&Bench<'_>) -> Result<Section>,
}

/// How many trials.
#[derive(Debug, Clone, Copy)]
pub struct Trials {
    /// With `--quick`.
    pub quick: usize,
    /// Otherwise.
    pub full: usize,
}

/// How many seconds.
#[derive(Debug, Clone, Copy)]
pub struct Estimate {
    /// With `--quick`.
    pub quick: f64,
    /// Otherwise.
    pub full: f64,
}

impl Experiment {
    /// The number of trials under these settings.
    pub fn trials(&self, settings: &Settings) -> usize {
        let own = if settings.quick {
            self.trials.quick
        } else {
            self.trials.full
        };
        settings.trials.unwrap_or(own).max(1)
    }

    /// Expected seconds under these settings.
    pub fn estimate(&self, settings: &Settings) -> f64 {
        let (seconds, trials) = if settings.quick {
            (self.seconds.quick, self.trials.quick)
        } else {
            (self.seconds.full, self.trials.full)
        };
        seconds * self.trials(settings) as f64 / trials.max(1) as f64
    }
}

/// All experiments, in the order of the paper's supplement and then its main part.
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "tab:synthetic1",
        title: "Identifiability without noise: mean squared error with 70, 50 and 30 % of the blocks missing",
        runs: "exact co-occurrences of made-up crowds (M = 25, K = 3), robust and designated imputation, SymNMF",
        trials: Trials { quick: 5, full: 20 },
        seconds: Estimate {
            quick: 1.0,
            full: 6.0,
        },
        data: &[],
        run: noiseless::run,
    },
    Experiment {
        name: "tab:synthetic2",
        title: "Sampled labels: mean squared error and time for N = 1000, 5000, 10000 at p = 0.3",
        runs: "seven methods on made-up crowds (M = 25, K = 3)",
        trials: Trials { quick: 3, full: 20 },
        seconds: Estimate {
            quick: 25.0,
            full: 200.0,
        },
        data: &[],
        run: sampled::run,
    },
    Experiment {
        name: "fig:conv_symnmf1",
        title: "Convergence of SymNMF without noise: shifted ReLU against alpha = 0",
        runs: "H in R^(1000 x 3) with density 0.7, 0.5, 0.3; psi = 0.75; 100 steps",
        trials: Trials { quick: 20, full: 20 },
        seconds: Estimate {
            quick: 1.0,
            full: 1.0,
        },
        data: &[],
        run: convergence::run_noiseless,
    },
    Experiment {
        name: "fig:conv_symnmf2",
        title: "Convergence of SymNMF with noise (SNR 30 dB): shifted ReLU against alpha = 0",
        runs: "H in R^(1000 x 3) with density 0.7, 0.5, 0.3; psi = 0.6; 100 steps",
        trials: Trials { quick: 20, full: 20 },
        seconds: Estimate {
            quick: 2.0,
            full: 2.0,
        },
        data: &[],
        run: convergence::run_noisy,
    },
    Experiment {
        name: "tab:AMT1",
        title: "People's labels: error and time on bluebird and dog",
        runs: "all methods of the table with their defaults; share of missing co-occurrences before and after imputation",
        trials: Trials { quick: 1, full: 5 },
        seconds: Estimate {
            quick: 2.0,
            full: 5.0,
        },
        data: &["bluebird", "dog"],
        run: human::run_amt1,
    },
    Experiment {
        name: "tab:AMT2",
        title: "People's labels: error and time on rte and trec",
        runs: "all methods of the table with their defaults; share of missing co-occurrences before and after imputation",
        trials: Trials { quick: 1, full: 5 },
        seconds: Estimate {
            quick: 26.0,
            full: 180.0,
        },
        data: &["rte", "trec"],
        run: human::run_amt2,
    },
    Experiment {
        name: "extra:web",
        title: "People's labels: web (in the authors' program, not in the paper)",
        runs: "the methods of the human tables",
        trials: Trials { quick: 1, full: 5 },
        seconds: Estimate {
            quick: 12.0,
            full: 80.0,
        },
        data: &["web"],
        run: human::run_web,
    },
    Experiment {
        name: "thm:svdimputation",
        title: "Theorem 1: error of designated imputation against shared tasks and conditioning",
        runs: "one block imputed from three sampled ones; S from 100 to 1000000, condition number from 1.2 to 8",
        trials: Trials {
            quick: 200,
            full: 1000,
        },
        seconds: Estimate {
            quick: 0.2,
            full: 0.5,
        },
        data: &[],
        run: bounds::run_designated,
    },
    Experiment {
        name: "thm:cf_stability",
        title: "Theorem 2: error of robust imputation against the number of observed pairs",
        runs: "made-up crowds (M = 25, K = 3), 20 to 100 % of the pairs observed, S = 100, 1000 and exact blocks",
        trials: Trials { quick: 5, full: 20 },
        seconds: Estimate {
            quick: 2.0,
            full: 5.0,
        },
        data: &[],
        run: bounds::run_robust,
    },
    Experiment {
        name: "thm:converge",
        title: "Theorem 3: measured contraction of SymNMF against the sparsity of H",
        runs: "H in R^(1000 x 3) with density 0.05 to 0.8, start within the theorem's condition",
        trials: Trials { quick: 20, full: 20 },
        seconds: Estimate {
            quick: 1.0,
            full: 1.0,
        },
        data: &[],
        run: bounds::run_contraction,
    },
    Experiment {
        name: "tab:uci_connect4",
        title: "Classifiers as annotators: error on Connect4 (N = 20561, K = 3)",
        runs: "ten classifiers trained on other rows label the items; all methods of the table, three settings of who labels what",
        trials: Trials { quick: 2, full: 20 },
        seconds: Estimate {
            quick: 60.0,
            full: 600.0,
        },
        data: &["uci/connect4.csv.gz"],
        run: uci::run_connect4,
    },
    Experiment {
        name: "tab:uci_credit",
        title: "Classifiers as annotators: error on Credit (N = 540, K = 2)",
        runs: "ten classifiers trained on other rows label the items; all methods of the table, three settings of who labels what",
        trials: Trials { quick: 5, full: 20 },
        seconds: Estimate {
            quick: 1.0,
            full: 8.0,
        },
        data: &["uci/credit.csv"],
        run: uci::run_credit,
    },
    Experiment {
        name: "tab:uci_car",
        title: "Classifiers as annotators: error on Car (N = 1352, K = 4) with missing co-occurrences",
        runs: "ten classifiers label three disjoint parts of the items; all methods of the table, three shares of missing blocks",
        trials: Trials { quick: 5, full: 20 },
        seconds: Estimate {
            quick: 40.0,
            full: 320.0,
        },
        data: &["uci/car.csv"],
        run: uci::run_car,
    },
    Experiment {
        name: "tab:deep",
        title: "Deep learning from crowds: error and time on LabelMe (N = 1000, M = 59, K = 8)",
        runs: "the SymNMF family, crowd-layer and dl-mv with 50 epochs on 512 features an image",
        trials: Trials { quick: 3, full: 100 },
        seconds: Estimate {
            quick: 10.0,
            full: 330.0,
        },
        data: &["labelme"],
        run: labelme::run_table,
    },
    Experiment {
        name: "fig:hist",
        title: "Histogram of the error over 100 trials on LabelMe: CrowdLayer and RobSymNMF-EM",
        runs: "crowd-layer and rob-symnmf-em with a hundred seeds",
        trials: Trials { quick: 12, full: 100 },
        seconds: Estimate {
            quick: 10.0,
            full: 90.0,
        },
        data: &["labelme"],
        run: labelme::run_histogram,
    },
];

/// The experiment of this name; the part after the colon will do if only one has it.
pub fn find(name: &str) -> Result<&'static Experiment> {
    let exact = EXPERIMENTS.iter().find(|experiment| experiment.name == name);
    let short = |experiment: &&Experiment| {
        experiment
            .name
            .split_once(':')
            .is_some_and(|(_, short)| short.eq_ignore_ascii_case(name))
    };
    match exact.or_else(|| EXPERIMENTS.iter().find(short)) {
        Some(experiment) => Ok(experiment),
        None => {
            let names: Vec<&str> = EXPERIMENTS.iter().map(|experiment| experiment.name).collect();
            bail!(
                "no table or figure is called {name:?}; there are {}",
                names.join(", ")
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_whole_and_short_and_are_unique() {
        for experiment in EXPERIMENTS {
            assert_eq!(find(experiment.name).unwrap().name, experiment.name);
            let short = experiment.name.split_once(':').unwrap().1;
            assert_eq!(find(short).unwrap().name, experiment.name);
            assert!(experiment.trials.quick <= experiment.trials.full);
            assert!(experiment.seconds.quick > 0.0 && experiment.seconds.quick <= experiment.seconds.full);
        }
        let error = find("tab:none").unwrap_err().to_string();
        assert!(error.contains("tab:synthetic1"), "{error}");
    }
}
