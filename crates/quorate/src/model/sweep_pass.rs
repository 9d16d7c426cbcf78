//! The sweep as a pass that other processes can run, and the binary form of what it takes and returns.

use super::first::FirstRule;
use super::posterior::{RowsBefore, Sweep, SweepResult};
use super::tally::Tallies;
use crate::blocks::{Block, Part, Pass, Reader, WireFormat, Writer, damaged};
use crate::error::Result;

/// A sweep over a block in another process.
pub(crate) struct SweepPass {
    sweep: Sweep,
    before: Option<RowsBefore>,
    counted: bool,
    /// Whether the largest change of a posterior is asked for.
    largest: bool,
    tallies: Tallies,
    rows: Vec<f64>,
    rows_before: Vec<f64>,
}

impl SweepPass {
    fn new(sweep: Sweep, before: Option<RowsBefore>, counted: bool) -> Self {
        Self {
            sweep,
            before,
            counted,
            largest: false,
            tallies: Tallies::default(),
            rows: Vec::new(),
            rows_before: Vec::new(),
        }
    }

    /// With counts, and changes against the posteriors of before, the `largest` one if it is asked for.
    pub(super) fn counting(sweep: Sweep, before: Option<RowsBefore>, largest: bool) -> Self {
        Self {
            largest,
            ..Self::new(sweep, before, true)
        }
    }

    /// For the likelihood alone.
    pub(super) fn alone(sweep: Sweep) -> Self {
        Self::new(sweep, None, false)
    }
}

impl Pass for SweepPass {
    type Part = SweepResult;

    fn run(&mut self, block: Block<'_>) -> SweepResult {
        let Self {
            sweep,
            rows,
            rows_before,
            ..
        } = self;
        rows.resize(block.task_count() * sweep.prior.len(), 0.0);
        if let Some(before) = &self.before {
            before.fill(block, rows);
            if self.largest {
                rows_before.clone_from(rows);
            }
        }
        let mut result = if self.counted {
            sweep.run_in(&mut self.tallies, block, rows)
        } else {
            sweep.run(block, rows)
        };
        if self.largest && self.before.is_some() {
            let changes = rows.iter().zip(&*rows_before).map(|(new, old)| (new - old).abs());
            result.largest_change = changes.fold(0.0, f64::max);
        }
        result
    }
}

impl Part for SweepResult {
    fn merge(&mut self, other: Self) {
        self.add(&other);
        self.largest_change = self.largest_change.max(other.largest_change);
        match (&mut self.counts, other.counts) {
            (Some(counts), Some(other)) => counts.merge(&other),
            (counts, other) => *counts = counts.take().or(other),
        }
    }
}

impl WireFormat for SweepPass {
    const KIND: u8 = 27;

    fn write(&self, to: &mut Writer) {
        to.number(u64::from(self.counted));
        to.number(u64::from(self.largest));
        self.sweep.write(to);
        to.optional(self.before.as_ref());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let (counted, largest) = (from.flag()?, from.flag()?);
        let (sweep, before) = (Sweep::read(from)?, from.optional()?);
        Ok(Self {
            largest,
            ..Self::new(sweep, before, counted)
        })
    }
}

impl WireFormat for SweepResult {
    const KIND: u8 = 28;

    fn write(&self, to: &mut Writer) {
        to.real(self.log_likelihood);
        to.real(self.change);
        to.real(self.largest_change);
        to.optional(self.counts.as_ref());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            log_likelihood: from.real()?,
            change: from.real()?,
            largest_change: from.real()?,
            counts: from.optional()?,
        })
    }
}

impl WireFormat for Sweep {
    const KIND: u8 = 29;

    fn write(&self, to: &mut Writer) {
        to.number(u64::from(self.logarithms));
        to.number(u64::from(self.hard));
        to.write_f64(&self.prior);
        to.write_f64(&self.cells);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            logarithms: from.flag()?,
            hard: from.flag()?,
            prior: from.read_f64()?,
            cells: from.read_f64()?,
        })
    }
}

impl WireFormat for RowsBefore {
    const KIND: u8 = 30;

    fn write(&self, to: &mut Writer) {
        match self {
            Self::First(rule) => {
                to.number(0);
                rule.write(to);
            }
            Self::Sweep(sweep) => {
                to.number(1);
                sweep.write(to);
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        match from.number()? {
            0 => Ok(Self::First(FirstRule::read(from)?)),
            1 => Ok(Self::Sweep(Sweep::read(from)?)),
            _ => Err(damaged("with posteriors of a kind that is not known here")),
        }
    }
}
