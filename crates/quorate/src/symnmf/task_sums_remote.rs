//! The sums over tasks behind the imputation without pairs, as passes that other processes can run.
//!
//! What comes back are the rows of the table that are sums; the rows that the sums are made of stay here.

use super::task_sums::TaskSums;
use crate::blocks::{Block, Part, Pass, Passes, Reader, Stage, WireFormat, Writer, damaged};
use crate::context::Context;
use crate::error::Result;
use crate::parallel::add;

impl TaskSums {
    /// Counts the labels of each (worker, answer).
    pub(super) fn count_remote(&mut self, passes: &mut Passes<'_>, context: &mut Context) -> Result<()> {
        if let Some(counted) = passes.run_remote(&CountAnswers, Stage::single("imputing"), context)? {
            self.answers = counted.answers;
            self.shares = counted.shares;
        }
        Ok(())
    }

    /// Sums over all tasks at this factor; returns their part of the objective.
    pub(super) fn sum_remote(
        &mut self,
        factor: &[f64],
        passes: &mut Passes<'_>,
        stage: Stage,
        context: &mut Context,
    ) -> Result<f64> {
        let pass = SumOverTasks {
            factor: factor.to_vec(),
        };
        let Some(sums) = passes.run_remote(&pass, stage, context)? else {
            return Ok(0.0);
        };
        let rows = self.tables[0].chunks_exact_mut(self.record.classes);
        let sum_rows = rows.skip(1).step_by(2);
        for (row, sum) in sum_rows.zip(sums.rows.chunks_exact(self.record.classes)) {
            row.copy_from_slice(sum);
        }
        Ok(sums.objective)
    }
}

/// Counts the labels of each (worker, answer) of a block, and notes who has a label beside another one.
pub(crate) struct CountAnswers;

impl WireFormat for CountAnswers {
    const KIND: u8 = 46;

    fn write(&self, _: &mut Writer) {}

    fn read(_: &mut Reader<'_>) -> Result<Self> {
        Ok(Self)
    }
}

impl Pass for CountAnswers {
    type Part = AnswersGiven;

    fn run(&mut self, block: Block<'_>) -> AnswersGiven {
        let mut sums = TaskSums::of_crowd(block.worker_count(), block.class_count(), 1);
        sums.count(block);
        AnswersGiven {
            answers: sums.answers,
            shares: sums.shares,
        }
    }
}

/// Labels of each (worker, answer), and whether a worker has a label beside another one.
pub(crate) struct AnswersGiven {
    answers: Vec<u32>,
    shares: Vec<bool>,
}

impl Part for AnswersGiven {
    fn merge(&mut self, other: Self) {
        let answers = self.answers.iter_mut().zip(other.answers);
        answers.for_each(|(sum, more)| *sum += more);
        let shares = self.shares.iter_mut().zip(other.shares);
        shares.for_each(|(any, other)| *any |= other);
    }
}

impl WireFormat for AnswersGiven {
    const KIND: u8 = 47;

    fn write(&self, to: &mut Writer) {
        to.write_u32(&self.answers);
        to.write_u16(
            &self
                .shares
                .iter()
                .map(|&share| u16::from(share))
                .collect::<Vec<_>>(),
        );
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            answers: from.read_u32()?,
            shares: from.read_u16()?.into_iter().map(|share| share > 0).collect(),
        })
    }
}

/// Sums over the tasks of a block at a factor.
pub(crate) struct SumOverTasks {
    factor: Vec<f64>,
}

impl WireFormat for SumOverTasks {
    const KIND: u8 = 48;

    fn write(&self, to: &mut Writer) {
        to.write_f64(&self.factor);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            factor: from.read_f64()?,
        })
    }
}

impl Pass for SumOverTasks {
    type Part = SumRows;

    fn run(&mut self, block: Block<'_>) -> SumRows {
        let mut sums = TaskSums::of_crowd(block.worker_count(), block.class_count(), 1);
        sums.start(&self.factor);
        let objective = sums.sum_block(block);
        let rows = sums.tables[0].chunks_exact(block.class_count());
        SumRows {
            objective,
            rows: rows.skip(1).step_by(2).flatten().copied().collect(),
        }
    }
}

/// The part of some tasks in the objective, and the rows of the table that are sums over them.
pub(crate) struct SumRows {
    objective: f64,
    rows: Vec<f64>,
}

impl Part for SumRows {
    fn merge(&mut self, other: Self) {
        self.objective += other.objective;
        add(&mut self.rows, &other.rows);
    }
}

impl WireFormat for SumRows {
    const KIND: u8 = 49;

    fn write(&self, to: &mut Writer) {
        to.real(self.objective);
        to.write_f64(&self.rows);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let (objective, rows) = (from.real()?, from.read_f64()?);
        if objective.is_nan() {
            Err(damaged("with an objective that is no number"))
        } else {
            Ok(Self { objective, rows })
        }
    }
}
