//! EM in fewer passes: SQUAREM on the expected counts.
//!
//! ```text
//! c1 = G(c0), c2 = G(c1)     G: M-step of the counts, E-step, counts of the posteriors
//! r = c1 - c0,  v = (c2 - c1) - r,  s = |r| / |v|          jump: c' = c0 + 2 s r + s^2 v
//! ```
//!
//! 1. EmRounds of EM until the mean change of a posterior is below [`SETTLED`]. The likelihood has several
//!    optima, and which one is approached is settled in the first rounds.
//! 2. From then on two rounds and a jump along them, which is the next `c0`. Where the objective falls, the
//!    jump is taken back and the rounds go on from `c2`; jumps get shorter then, and longer where their
//!    length was bounded.
//!
//! Jumps are in the counts, not in the probabilities: the M-step makes legal probabilities of any counts that
//! are not negative, priors and smoothing included, and a worker weighs as much as it has labels. A count
//! does not fall below [`SHRINK`] of that in `c2`: a probability that is zero once stays zero, which would be
//! an optimum of its own.
//!
//! Where the labels hardly tell (fewer than two a task, or workers who guess), EM stands nearly still for
//! hundreds of rounds and goes on, or ends on a ridge: there this can end elsewhere than EM does
//! (docs/performance.md, "Updates"). One pass over the labels for each G; memory for four more tables of
//! counts.
//!
//! R. Varadhan, C. Roland, "Simple and globally convergent methods for accelerating the convergence of any EM
//! algorithm", Scandinavian Journal of Statistics 35 (2008), scheme S3.

use super::AnswerCounts;
use super::em::{EmRounds, Round, reserve_tables};
use super::fit::BlockFit;
use crate::{Context, Result};

/// Mean change of a posterior below which rounds may jump. Ten times as much is somewhat faster, and ends in
/// another optimum more often.
const SETTLED: f64 = 1e-5;

/// The longest of the first jumps, and by what the bound grows and shrinks.
const FIRST_BOUND: f64 = 4.0;
const BOUND_FACTOR: f64 = 4.0;

/// Share of a count that a jump leaves at least.
const SHRINK: f64 = 0.1;

/// Tables of counts or probabilities that are held at a time.
const TABLES: u64 = 8;

impl EmRounds<'_, '_, '_> {
    /// Whether there is room for the tables that jumps take.
    pub(super) fn can_jump(&self, context: &Context) -> bool {
        !self.em.hard && reserve_tables(self.passes, TABLES, context).is_ok()
    }

    /// Runs EM from counts in fewer passes, to the optimum that plain rounds end in. `max_iter` bounds the
    /// passes. A run that ends before the posteriors have settled is that of plain rounds.
    pub(super) fn climb(mut self, mut c0: AnswerCounts, context: &mut Context) -> Result<BlockFit> {
        let em = self.em;
        let mut passes = 0;
        let mut first = self.round(&c0, &mut passes, f64::NEG_INFINITY, context)?;
        let (mut settled, mut bound) = (false, FIRST_BOUND);
        let mut converged = first.change < em.tol;
        while !converged && passes < em.max_iter {
            let c1 = first.counts;
            let second = self.round(&c1, &mut passes, f64::NEG_INFINITY, context)?;
            converged = second.change < em.tol;
            settled |= second.change < SETTLED;
            let length = if settled {
                step_length(&c0, &c1, &second.counts)
            } else {
                1.0
            };
            // A jump that fails takes one more pass to be taken back.
            if converged || length <= 1.0 || passes + 2 > em.max_iter {
                (c0, first) = (c1, second);
                continue;
            }
            let jump = extrapolate(&c0, &c1, &second.counts, length.min(bound));
            if length > bound {
                bound *= BOUND_FACTOR;
            }
            let landed = self.round(&jump, &mut passes, second.objective, context)?;
            if landed.objective >= second.objective {
                (c0, first) = (jump, landed);
            } else {
                bound = (bound / BOUND_FACTOR).max(FIRST_BOUND);
                c0 = second.counts;
                first = self.round(&c0, &mut passes, f64::NEG_INFINITY, context)?;
            }
        }
        Ok(self.into_fit(passes, converged))
    }

    /// M-step of the counts and a pass; noted in the trace if the objective is at least `least`.
    fn round(
        &mut self,
        counts: &AnswerCounts,
        passes: &mut usize,
        least: f64,
        context: &mut Context,
    ) -> Result<Round> {
        self.maximise(counts.clone());
        let round = self.pass(*passes, context)?;
        *passes += 1;
        if round.objective >= least {
            self.trace.push(round.objective);
        }
        Ok(round)
    }
}

/// `|r| / |v|`; 1, which is two plain rounds, where the rounds do not tell.
fn step_length(c0: &AnswerCounts, c1: &AnswerCounts, c2: &AnswerCounts) -> f64 {
    let (mut rr, mut vv) = (0.0, 0.0);
    for ((x0, x1), x2) in numbers(c0).zip(numbers(c1)).zip(numbers(c2)) {
        let r = x1 - x0;
        let v = (x2 - x1) - r;
        rr += r * r;
        vv += v * v;
    }
    if vv > 0.0 { (rr / vv).sqrt() } else { 1.0 }
}

/// `c0 + 2 s r + s^2 v`, no count below its share of `c2`.
fn extrapolate(c0: &AnswerCounts, c1: &AnswerCounts, c2: &AnswerCounts, s: f64) -> AnswerCounts {
    let mut jump = c0.clone();
    let values = jump.cells.iter_mut().chain(&mut jump.mass);
    for ((value, x1), x2) in values.zip(numbers(c1)).zip(numbers(c2)) {
        let r = x1 - *value;
        let v = (x2 - x1) - r;
        *value = (*value + 2.0 * s * r + s * s * v).max(SHRINK * x2);
    }
    jump
}

fn numbers(counts: &AnswerCounts) -> impl Iterator<Item = &f64> {
    counts.cells.iter().chain(&counts.mass)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotations::Annotations;
    use crate::methods::tests::{assert_close, assert_rising};
    use crate::model::{Em, EmStart, Fit};
    use crate::simulate::{Coverage, Quality, Simulation};

    fn em(max_iter: usize, tol: f64) -> Em {
        Em {
            max_iter,
            tol,
            ..Em::default()
        }
    }

    /// Few labels a task: EM takes hundreds of rounds.
    fn crowd(seed: u64) -> Annotations {
        let simulation = Simulation {
            tasks: 400,
            workers: 25,
            classes: 3,
            coverage: Coverage::PerTask(6),
            quality: Quality::Accuracy {
                lowest: 0.4,
                highest: 0.9,
                concentration: 1.0,
            },
            ..Simulation::default()
        };
        simulation.run(seed).unwrap().annotations
    }

    fn both(annotations: &Annotations, em: Em) -> (Fit, Fit) {
        let fit = |em: Em| em.fit(annotations, EmStart::Votes, &mut Context::new(0)).unwrap();
        let accelerated = Em {
            accelerated: true,
            ..em
        };
        (fit(em), fit(accelerated))
    }

    #[test]
    fn the_first_rounds_are_those_of_em() {
        for (rounds, tol) in [(1, 0.0), (2, 0.0), (5, 0.0), (1000, SETTLED)] {
            let (plain, accelerated) = both(&crowd(1), em(rounds, tol));
            assert_eq!(accelerated.model, plain.model);
            assert_eq!(accelerated.consensus, plain.consensus);
            assert_eq!(accelerated.iterations, plain.iterations);
            assert_eq!(accelerated.trace[..rounds.min(5)], plain.trace[..rounds.min(5)]);
        }
    }

    #[test]
    fn a_jump_is_that_of_the_formula_and_never_negative() {
        let counts = |cells: [f64; 4]| {
            let mut counts = AnswerCounts::zero(1, 2);
            counts.cells = cells.to_vec();
            counts
        };
        // r = (2, -1, 0, 0), v = (-1, 0.5, 0, 0): s = 2, and 8 + 4 r + 4 v.
        let (c0, c1, c2) = (
            counts([8.0, 1.5, 0.0, 1.0]),
            counts([10.0, 0.5, 0.0, 1.0]),
            counts([11.0, 0.0, 0.0, 1.0]),
        );
        assert_close(&[step_length(&c0, &c1, &c2)], &[2.0], 1e-12);
        assert_close(
            &extrapolate(&c0, &c1, &c2, 2.0).cells,
            &[12.0, 0.0, 0.0, 1.0],
            1e-12,
        );
        assert_eq!(step_length(&c0, &c0, &c0), 1.0);
        // 1.5 - 3 + 1.125 is below zero.
        assert_eq!(extrapolate(&c0, &c1, &c2, 1.5).cells[1], 0.0);
    }

    #[test]
    fn the_objective_does_not_fall_and_the_end_is_that_of_em() {
        let (mut passes, mut rounds) = (0, 0);
        for seed in 0..4 {
            let (plain, accelerated) = both(&crowd(seed), em(100_000, 1e-13));
            assert!(plain.converged && accelerated.converged);
            (passes, rounds) = (passes + accelerated.iterations, rounds + plain.iterations);
            assert_rising(&accelerated.trace);
            let ends = plain
                .consensus
                .as_slice()
                .iter()
                .zip(accelerated.consensus.as_slice());
            let apart = ends.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(apart < 1e-7, "seed {seed}: {apart}");
        }
        assert!(2 * passes < rounds, "{passes} passes, {rounds} rounds");
    }

    #[test]
    fn passes_are_bounded_and_what_is_returned_belongs_together() {
        let crowd = crowd(1);
        let settled = both(&crowd, em(1000, SETTLED)).0.iterations;
        for passes in settled..settled + 8 {
            let (_, accelerated) = both(&crowd, em(passes, 0.0));
            assert_eq!((accelerated.iterations, accelerated.converged), (passes, false));
            let (rows, likelihood) = super::super::posterior(&crowd, accelerated.model.as_ref().unwrap());
            assert_eq!(rows, accelerated.consensus);
            assert_eq!(Some(&likelihood), accelerated.trace.last());
        }
    }
}
