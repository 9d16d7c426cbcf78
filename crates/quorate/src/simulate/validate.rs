//! The check that a crowd can be drawn from its settings.

use std::ops::RangeInclusive;

use super::settings::{Amount, Coverage, Prior, Quality, Simulation};
use crate::annotations::{MAX_CLASSES, MAX_LABELS};
use crate::{DEFAULT_MEMORY_LIMIT, Error, Result};

/// The largest power-law exponent: beyond it the weights of large crowds underflow.
const MAX_EXPONENT: f64 = 10.0;

const CONCENTRATION: RangeInclusive<f64> = 1e-3..=1e6;

impl Simulation {
    /// Checks that a crowd can be drawn from these settings.
    pub fn validate(&self) -> Result<()> {
        check_count("tasks", self.tasks, MAX_LABELS)?;
        check_count("workers", self.workers, MAX_LABELS)?;
        check_count("classes", self.classes, MAX_CLASSES)?;
        self.check_prior()?;
        match self.quality {
            Quality::Dirichlet(concentration) => check_range("quality", concentration, CONCENTRATION)?,
            Quality::Accuracy {
                lowest,
                highest,
                concentration,
            } => {
                check_range("quality", lowest, 0.0..=1.0)?;
                check_range("quality", highest, lowest..=1.0)?;
                check_range("quality", concentration, CONCENTRATION)?;
            }
        }
        self.check_kinds()?;
        check_range("epsilon", self.epsilon, 0.0..=1.0)?;
        check_range("missing_pairs", self.missing_pairs, 0.0..=1.0)?;
        check_range("activity_exponent", self.activity_exponent, 0.0..=MAX_EXPONENT)?;
        self.check_coverage()?;
        self.check_size()
    }

    fn check_prior(&self) -> Result<()> {
        match &self.prior {
            Prior::Uniform => Ok(()),
            Prior::Dirichlet(concentration) => check_range("prior", *concentration, CONCENTRATION),
            Prior::Given(prior) => {
                let (given, sum) = (prior.len(), prior.iter().sum::<f64>());
                let number = format!("{given} probabilities for {} classes", self.classes);
                check(given == self.classes, "prior", number)?;
                for &probability in prior {
                    check_range("prior", probability, 0.0..=1.0)?;
                }
                let problem = format!("the probabilities sum to {sum}, not to 1");
                check((sum - 1.0).abs() <= 1e-6, "prior", problem)
            }
        }
    }

    fn check_kinds(&self) -> Result<()> {
        let kinds = [
            ("experts", self.experts),
            ("specialists", self.specialists),
            ("uniform_spammers", self.uniform_spammers),
            ("constant_spammers", self.constant_spammers),
            ("adversaries", self.adversaries),
        ];
        let mut special = 0usize;
        for (name, amount) in kinds {
            if let Amount::Share(share) = amount {
                check_range(name, share, 0.0..=1.0)?;
            }
            special = special.saturating_add(amount.of(self.workers));
            let problem = format!(
                "with these, {special} workers are experts, specialists, spammers or adversaries, but there are only {}",
                self.workers
            );
            check(special <= self.workers, name, problem)?;
        }
        if self.adversaries.of(self.workers) == 0 {
            return Ok(());
        }
        let problem = "with one class there is no wrong answer; use at least 2 classes";
        check(self.classes > 1, "adversaries", problem)?;
        let (chance, strength) = (1.0 / self.classes as f64, self.adversary_strength);
        let problem = format!("{strength} is not above 1/K = {chance} and at most 1");
        check(
            strength > chance && strength <= 1.0,
            "adversary_strength",
            problem,
        )
    }

    fn check_coverage(&self) -> Result<()> {
        check_range("designated_probability", self.designated_probability, 0.0..=1.0)?;
        let problem = format!("{} designated workers of {}", self.designated, self.workers);
        check(self.designated <= self.workers, "designated", problem)?;
        match self.coverage {
            Coverage::Probability(probability) => check_range("coverage", probability, 0.0..=1.0)?,
            Coverage::PerTask(labels) => {
                let ordinary = self.workers - self.designated;
                let problem = format!(
                    "{labels} labels a task, but only {ordinary} workers that are not designated to give one each"
                );
                check(labels <= ordinary, "coverage", problem)?;
            }
        }
        let labels = self.expected_labels();
        check(labels != 0.0, "coverage", "nobody would label anything")?;
        let problem = format!("about {labels:.2e} labels; a table holds at most {MAX_LABELS}");
        check(labels <= MAX_LABELS as f64, "coverage", problem)
    }

    fn check_size(&self) -> Result<()> {
        let needed = self.workers as u128 * (self.classes as u128).pow(2) * size_of::<f64>() as u128;
        if needed > u128::from(DEFAULT_MEMORY_LIMIT) {
            let what = format!(
                "the confusion matrices of {} workers and {} classes",
                self.workers, self.classes
            );
            let needed = needed.min(u128::from(u64::MAX)) as u64;
            return Err(Error::too_large(
                what,
                needed,
                DEFAULT_MEMORY_LIMIT,
                "use fewer workers or classes",
            ));
        }
        Ok(())
    }
}

/// Fails with what is wrong with a setting, unless it is right.
fn check(right: bool, name: &str, problem: impl Into<String>) -> Result<()> {
    if right {
        Ok(())
    } else {
        Err(Error::parameter(name, problem))
    }
}

fn check_count(name: &str, count: usize, limit: usize) -> Result<()> {
    let problem = format!("{count} is not between 1 and {limit}");
    check((1..=limit).contains(&count), name, problem)
}

fn check_range(name: &str, value: f64, range: RangeInclusive<f64>) -> Result<()> {
    let problem = format!("{value} is not between {} and {}", range.start(), range.end());
    check(range.contains(&value), name, problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_drawn_is_said() {
        let base = Simulation::default;
        for (settings, name, words) in [
            (Simulation { tasks: 0, ..base() }, "tasks", "0 is not between 1"),
            (
                Simulation {
                    classes: 70_000,
                    ..base()
                },
                "classes",
                "65536",
            ),
            (
                Simulation {
                    prior: Prior::Given(vec![0.5, 0.5]),
                    ..base()
                },
                "prior",
                "2 probabilities for 3",
            ),
            (
                Simulation {
                    prior: Prior::Given(vec![0.5, 0.5, 0.1]),
                    ..base()
                },
                "prior",
                "sum to 1.1",
            ),
            (
                Simulation {
                    prior: Prior::Dirichlet(f64::NAN),
                    ..base()
                },
                "prior",
                "NaN",
            ),
            (
                Simulation {
                    quality: Quality::Dirichlet(0.0),
                    ..base()
                },
                "quality",
                "0 is not between",
            ),
            (
                Simulation {
                    quality: Quality::Accuracy {
                        lowest: 0.9,
                        highest: 0.6,
                        concentration: 1.0,
                    },
                    ..base()
                },
                "quality",
                "0.6 is not between 0.9 and 1",
            ),
            (
                Simulation {
                    adversaries: Amount::Share(1.0),
                    ..base()
                },
                "adversaries",
                "only 25",
            ),
            (
                Simulation {
                    specialists: Amount::Share(-0.1),
                    ..base()
                },
                "specialists",
                "-0.1",
            ),
            (
                Simulation {
                    adversaries: Amount::Number(1),
                    adversary_strength: 0.3,
                    ..base()
                },
                "adversary_strength",
                "1/K",
            ),
            (
                Simulation {
                    adversaries: Amount::Number(1),
                    classes: 1,
                    ..base()
                },
                "adversaries",
                "one class",
            ),
            (
                Simulation {
                    designated: 26,
                    ..base()
                },
                "designated",
                "26 designated workers of 25",
            ),
            (
                Simulation {
                    coverage: Coverage::PerTask(24),
                    designated: 2,
                    ..base()
                },
                "coverage",
                "only 23 workers",
            ),
            (
                Simulation {
                    coverage: Coverage::PerTask(0),
                    ..base()
                },
                "coverage",
                "nobody",
            ),
            (
                Simulation {
                    coverage: Coverage::Probability(1.5),
                    ..base()
                },
                "coverage",
                "1.5",
            ),
            (
                Simulation {
                    tasks: 1 << 30,
                    coverage: Coverage::PerTask(5),
                    ..base()
                },
                "coverage",
                "at most 4294967294",
            ),
            (
                Simulation {
                    activity_exponent: -1.0,
                    ..base()
                },
                "activity_exponent",
                "-1",
            ),
            (
                Simulation {
                    missing_pairs: 2.0,
                    ..base()
                },
                "missing_pairs",
                "2 is not",
            ),
        ] {
            match settings.validate() {
                Err(Error::Parameter { name: found, problem }) => {
                    assert_eq!(found, name);
                    assert!(problem.contains(words), "{problem}");
                }
                other => panic!("{name}: {other:?}"),
            }
            assert!(settings.run(1).is_err());
        }
        let large = Simulation {
            workers: 1_000_000,
            classes: 1000,
            ..base()
        };
        assert!(matches!(large.validate(), Err(Error::TooLarge { .. })));
    }
}
