//! The one table of experiments.

use anyhow::{Context as _, Result};

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
    pub trials: Either<usize>,
    /// Roughly how long it takes on two cores; only the progress bar depends on it.
    pub seconds: Either<f64>,
    /// What it needs of the data folder.
    pub data: &'static [&'static str],
    /// Runs it.
    pub run: fn(&Bench<'_>) -> Result<Section>,
}

/// A number of a quick run and of a full one.
#[derive(Debug, Clone, Copy)]
pub struct Either<T> {
    /// With `--quick`.
    pub quick: T,
    /// Otherwise.
    pub full: T,
}

const fn either<T: Copy>(quick: T, full: T) -> Either<T> {
    Either { quick, full }
}

impl<T: Copy> Either<T> {
    fn of(self, settings: &Settings) -> T {
        if settings.quick { self.quick } else { self.full }
    }
}

impl Experiment {
    /// How many trials it makes.
    pub fn trials(&self, settings: &Settings) -> usize {
        settings.trials.unwrap_or(self.trials.of(settings)).max(1)
    }

    /// About how many seconds it takes.
    pub fn estimate(&self, settings: &Settings) -> f64 {
        let trials = self.trials.of(settings).max(1) as f64;
        self.seconds.of(settings) * self.trials(settings) as f64 / trials
    }
}

/// All experiments, in the order of the paper's supplement and then its main part.
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "tab:synthetic1",
        title: "Identifiability without noise: mean squared error with 70, 50 and 30 % of the blocks missing",
        runs: "exact co-occurrences of made-up crowds (M = 25, K = 3), robust and designated imputation, SymNMF",
        trials: either(5, 20),
        seconds: either(1.0, 6.0),
        data: &[],
        run: noiseless::run,
    },
    Experiment {
        name: "tab:synthetic2",
        title: "Sampled labels: mean squared error and time for N = 1000, 5000, 10000 at p = 0.3",
        runs: "seven methods on made-up crowds (M = 25, K = 3)",
        trials: either(3, 20),
        seconds: either(25.0, 200.0),
        data: &[],
        run: sampled::run,
    },
    Experiment {
        name: "fig:conv_symnmf1",
        title: "Convergence of SymNMF without noise: shifted ReLU against alpha = 0",
        runs: "H in R^(1000 x 3) with density 0.7, 0.5, 0.3; psi = 0.75; 100 steps",
        trials: either(20, 20),
        seconds: either(1.0, 1.0),
        data: &[],
        run: convergence::run_noiseless,
    },
    Experiment {
        name: "fig:conv_symnmf2",
        title: "Convergence of SymNMF with noise (SNR 30 dB): shifted ReLU against alpha = 0",
        runs: "H in R^(1000 x 3) with density 0.7, 0.5, 0.3; psi = 0.6; 100 steps",
        trials: either(20, 20),
        seconds: either(2.0, 2.0),
        data: &[],
        run: convergence::run_noisy,
    },
    Experiment {
        name: "tab:AMT1",
        title: "People's labels: error and time on bluebird and dog",
        runs: "all methods of the table with their defaults; share of missing co-occurrences before and after imputation",
        trials: either(1, 5),
        seconds: either(2.0, 5.0),
        data: &["bluebird", "dog"],
        run: human::run_amt1,
    },
    Experiment {
        name: "tab:AMT2",
        title: "People's labels: error and time on rte and trec",
        runs: "all methods of the table with their defaults; share of missing co-occurrences before and after imputation",
        trials: either(1, 5),
        seconds: either(26.0, 180.0),
        data: &["rte", "trec"],
        run: human::run_amt2,
    },
    Experiment {
        name: "extra:web",
        title: "People's labels: web (in the authors' program, not in the paper)",
        runs: "the methods of the human tables",
        trials: either(1, 5),
        seconds: either(12.0, 80.0),
        data: &["web"],
        run: human::run_web,
    },
    Experiment {
        name: "thm:svdimputation",
        title: "Theorem 1: error of designated imputation against shared tasks and conditioning",
        runs: "one block imputed from three sampled ones; S from 100 to 1000000, condition number from 1.2 to 8",
        trials: either(200, 1000),
        seconds: either(0.2, 0.5),
        data: &[],
        run: bounds::run_designated,
    },
    Experiment {
        name: "thm:cf_stability",
        title: "Theorem 2: error of robust imputation against the number of observed pairs",
        runs: "made-up crowds (M = 25, K = 3), 20 to 100 % of the pairs observed, S = 100, 1000 and exact blocks",
        trials: either(5, 20),
        seconds: either(2.0, 5.0),
        data: &[],
        run: bounds::run_robust,
    },
    Experiment {
        name: "thm:converge",
        title: "Theorem 3: measured contraction of SymNMF against the sparsity of H",
        runs: "H in R^(1000 x 3) with density 0.05 to 0.8, start within the theorem's condition",
        trials: either(20, 20),
        seconds: either(1.0, 1.0),
        data: &[],
        run: bounds::run_contraction,
    },
    Experiment {
        name: "tab:uci_connect4",
        title: "Classifiers as annotators: error on Connect4 (N = 20561, K = 3)",
        runs: "ten classifiers trained on other rows label the items; all methods of the table, three settings of who labels what",
        trials: either(2, 20),
        seconds: either(60.0, 600.0),
        data: &["uci/connect4.csv.gz"],
        run: uci::run_connect4,
    },
    Experiment {
        name: "tab:uci_credit",
        title: "Classifiers as annotators: error on Credit (N = 540, K = 2)",
        runs: "ten classifiers trained on other rows label the items; all methods of the table, three settings of who labels what",
        trials: either(5, 20),
        seconds: either(1.0, 8.0),
        data: &["uci/credit.csv"],
        run: uci::run_credit,
    },
    Experiment {
        name: "tab:uci_car",
        title: "Classifiers as annotators: error on Car (N = 1352, K = 4) with missing co-occurrences",
        runs: "ten classifiers label three disjoint parts of the items; all methods of the table, three shares of missing blocks",
        trials: either(5, 20),
        seconds: either(40.0, 320.0),
        data: &["uci/car.csv"],
        run: uci::run_car,
    },
    Experiment {
        name: "tab:deep",
        title: "Deep learning from crowds: error and time on LabelMe (N = 1000, M = 59, K = 8)",
        runs: "the SymNMF family, crowd-layer and dl-mv with 50 epochs on 512 features an image",
        trials: either(3, 100),
        seconds: either(10.0, 330.0),
        data: &["labelme"],
        run: labelme::run_table,
    },
    Experiment {
        name: "fig:hist",
        title: "Histogram of the error over 100 trials on LabelMe: CrowdLayer and RobSymNMF-EM",
        runs: "crowd-layer and rob-symnmf-em with a hundred seeds",
        trials: either(12, 100),
        seconds: either(10.0, 90.0),
        data: &["labelme"],
        run: labelme::run_histogram,
    },
];

/// The experiment of this name; the part after the colon will do if only one has it.
pub fn find(name: &str) -> Result<&'static Experiment> {
    let is_it = |experiment: &&Experiment| {
        let short = experiment.name.split_once(':').map(|(_, short)| short);
        experiment.name == name || short.is_some_and(|short| short.eq_ignore_ascii_case(name))
    };
    EXPERIMENTS.iter().find(is_it).with_context(|| {
        let names: Vec<&str> = EXPERIMENTS.iter().map(|experiment| experiment.name).collect();
        format!(
            "no table or figure is called {name:?}; there are {}",
            names.join(", ")
        )
    })
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
