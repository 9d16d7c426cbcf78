//! Seeded comparisons with known scores and judges.
//!
//! ```text
//! s_i ~ N(0, spread^2),  a_w ~ N(1, discrimination^2),  beta_w ~ N(position, position_spread^2),  nu_w ~ N(n, tie_spread^2)
//! ```
//!
//! and answers from the model of `judge-bt`, where `n` gives the wanted share of ties between equal items. A share of
//! the judges answers at random: `a_w = 0`. Pairs, judges and prompts are drawn evenly.

use rand::RngExt;

use super::comparisons::{Comparisons, ComparisonsBuilder, Outcome};
use super::davidson::chances;
use crate::context::seeded;
use crate::error::{Error, Result};

/// What to simulate.
#[derive(Debug, Clone, PartialEq)]
pub struct PairSimulation {
    /// Items that are compared.
    pub items: usize,
    /// Judges.
    pub judges: usize,
    /// Prompts.
    pub prompts: usize,
    /// Comparisons.
    pub comparisons: usize,
    /// Standard deviation of the scores.
    pub spread: f64,
    /// Standard deviation of the judges' discrimination, whose mean is 1.
    pub discrimination: f64,
    /// Mean position bias, in log odds of the left side.
    pub position: f64,
    /// Standard deviation of the position bias.
    pub position_spread: f64,
    /// Share of ties between equal items.
    pub ties: f64,
    /// Standard deviation of the judges' readiness to call a tie.
    pub tie_spread: f64,
    /// Share of the judges who answer at random.
    pub random_judges: f64,
}

impl Default for PairSimulation {
    fn default() -> Self {
        Self {
            items: 12,
            judges: 20,
            prompts: 100,
            comparisons: 2000,
            spread: 1.0,
            discrimination: 0.3,
            position: 0.2,
            position_spread: 0.3,
            ties: 0.2,
            tie_spread: 0.5,
            random_judges: 0.1,
        }
    }
}

/// Simulated comparisons, and what is true.
#[derive(Debug, Clone)]
pub struct SimulatedPairs {
    /// The comparisons; items are called `i1, ..`, judges `j1, ..`, prompts `p1, ..`.
    pub comparisons: Comparisons,
    /// The true score of each item, by its code.
    pub scores: Vec<f64>,
    /// The true discrimination of each judge; 0 for those who answer at random.
    pub discrimination: Vec<f64>,
    /// The true position bias of each judge.
    pub position: Vec<f64>,
}

impl PairSimulation {
    /// Draws comparisons. The same settings and seed give the same bits.
    pub fn run(&self, seed: u64) -> Result<SimulatedPairs> {
        self.validate()?;
        let mut rng = seeded(seed, 0);
        let mut normal = |count: usize, mean: f64, deviation: f64| -> Vec<f64> {
            let draw = |_| mean + deviation * rng.sample::<f64, _>(rand_distr::StandardNormal);
            (0..count).map(draw).collect()
        };
        let mut scores = normal(self.items, 0.0, self.spread);
        let mut discrimination = normal(self.judges, 1.0, self.discrimination);
        let position = normal(self.judges, self.position, self.position_spread);
        let even_ties = if self.ties > 0.0 {
            (2.0 * self.ties / (1.0 - self.ties)).ln()
        } else {
            f64::NEG_INFINITY
        };
        let ties = normal(self.judges, even_ties, self.tie_spread);
        let random = (self.random_judges * self.judges as f64).round() as usize;
        discrimination[..random].fill(0.0);
        // Only products of scores and discrimination show: the unit is the mean of all judges, as in `judge-bt`.
        let mean = discrimination.iter().sum::<f64>() / self.judges as f64;
        let mean = if mean > 0.0 { mean } else { 1.0 };
        discrimination
            .iter_mut()
            .for_each(|discrimination| *discrimination /= mean);
        scores.iter_mut().for_each(|score| *score *= mean);
        let mut rng = seeded(seed, 1);
        let mut builder = ComparisonsBuilder::default();
        let names = |letter: &str, count: usize| -> Vec<String> {
            (1..=count).map(|number| format!("{letter}{number}")).collect()
        };
        let (items, judges, prompts) = (
            names("i", self.items),
            names("j", self.judges),
            names("p", self.prompts),
        );
        for _ in 0..self.comparisons {
            let left = rng.random_range(0..self.items);
            let right = (left + rng.random_range(1..self.items)) % self.items;
            let judge = rng.random_range(0..self.judges);
            let prompt = rng.random_range(0..self.prompts);
            let eta = discrimination[judge] * (scores[left] - scores[right]) + position[judge];
            let [first, second, _] = chances(eta, (self.ties > 0.0).then_some(ties[judge]));
            let drawn: f64 = rng.random();
            let outcome = if drawn < first {
                Outcome::Left
            } else if drawn < first + second {
                Outcome::Right
            } else {
                Outcome::Tie
            };
            builder.push(
                &items[left],
                &items[right],
                outcome,
                &judges[judge],
                &prompts[prompt],
                1.0,
            )?;
        }
        let comparisons = builder.build()?;
        let by_code = |values: &[f64], names: &crate::annotations::Names| -> Vec<f64> {
            let number = |name: &str| name[1..].parse::<usize>().expect("names end in numbers") - 1;
            names.iter().map(|name| values[number(name)]).collect()
        };
        Ok(SimulatedPairs {
            scores: by_code(&scores, comparisons.items()),
            discrimination: by_code(&discrimination, comparisons.judges()),
            position: by_code(&position, comparisons.judges()),
            comparisons,
        })
    }

    fn validate(&self) -> Result<()> {
        let problem = |name: &str, problem: String| {
            Err(Error::Parameter {
                name: name.to_owned(),
                problem,
            })
        };
        if self.items < 2 {
            return problem("items", format!("found {}, expected at least 2", self.items));
        }
        for (name, count) in [
            ("judges", self.judges),
            ("prompts", self.prompts),
            ("comparisons", self.comparisons),
        ] {
            if count == 0 {
                return problem(name, "found 0, expected at least 1".to_owned());
            }
        }
        let positive = [
            ("spread", self.spread),
            ("discrimination", self.discrimination),
            ("position-spread", self.position_spread),
            ("tie-spread", self.tie_spread),
        ];
        for (name, value) in positive {
            if !(0.0..=100.0).contains(&value) {
                return problem(name, format!("found {value}, expected a number from 0 to 100"));
            }
        }
        if !(-100.0..=100.0).contains(&self.position) {
            return problem(
                "position",
                format!("found {}, expected a number from -100 to 100", self.position),
            );
        }
        for (name, share) in [("ties", self.ties), ("random-judges", self.random_judges)] {
            if !(0.0..1.0).contains(&share) {
                return problem(name, format!("found {share}, expected a share from 0 to below 1"));
            }
        }
        Ok(())
    }
}
