//! The passes of `task-effects` over blocks in other processes, and the binary form of what they take and
//! return.

use std::sync::Arc;

use super::parameters::Parameters;
use super::rounds::Learnt;
use super::streamed::add_to_sample;
use super::sums::WorkerSums;
use crate::blocks::{Block, Part, Pass, Reader, TaskBlock, WireFormat, Writer, damaged};
use crate::error::Result;
use crate::model::BlockRule;
use crate::parallel::add;

/// What a pass needs of what was learnt: how workers answer, size of the effects, prior.
impl WireFormat for Learnt {
    const KIND: u8 = 55;

    fn write(&self, to: &mut Writer) {
        to.write_f64(&self.parameters.answers);
        to.real(self.variance);
        to.write_f64(&self.prior);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let (answers, variance, prior) = (from.read_f64()?, from.real()?, from.read_f64()?);
        let block = prior.len() * prior.len();
        if block == 0 || !answers.len().is_multiple_of(block) {
            return Err(damaged("with answers that are not K x K"));
        }
        Ok(Self {
            parameters: Parameters::of_answers(prior.len(), answers),
            variance,
            prior,
        })
    }
}

/// The rule of a fit that is one of this method.
pub(crate) fn read_block_rule(from: &mut Reader<'_>) -> Result<Arc<dyn BlockRule>> {
    Ok(Arc::new(Learnt::read(from)?))
}

/// Takes every so many tasks of a block.
pub(crate) struct TakeSample {
    pub(super) parts: u64,
}

impl WireFormat for TakeSample {
    const KIND: u8 = 50;

    fn write(&self, to: &mut Writer) {
        to.number(self.parts);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            parts: from.number()?.max(1),
        })
    }
}

impl Pass for TakeSample {
    type Part = SampledTasks;

    fn run(&mut self, block: Block<'_>) -> SampledTasks {
        let mut sample = TaskBlock {
            starts: vec![0],
            ..TaskBlock::default()
        };
        add_to_sample(block, self.parts, &mut 0, &mut sample);
        SampledTasks(sample)
    }
}

/// Tasks of some blocks, those of later blocks behind.
pub(crate) struct SampledTasks(pub(super) TaskBlock);

impl Part for SampledTasks {
    fn merge(&mut self, other: Self) {
        let own = &mut self.0;
        let offset = own.label.len() as u32;
        own.starts
            .extend(other.0.starts.iter().skip(1).map(|start| start + offset));
        own.worker.extend(other.0.worker);
        own.label.extend(other.0.label);
        own.gold.extend(other.0.gold);
    }
}

impl WireFormat for SampledTasks {
    const KIND: u8 = 57;

    fn write(&self, to: &mut Writer) {
        self.0.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self(TaskBlock::read(from)?))
    }
}

/// Adds up the slopes of the workers on a block.
pub(crate) struct AddWorkerSlopes(Learnt);

impl AddWorkerSlopes {
    /// With what was learnt so far.
    pub(super) fn of(learnt: &Learnt) -> Self {
        Self(Learnt {
            parameters: Parameters::of_answers(learnt.prior.len(), learnt.parameters.answers.clone()),
            variance: learnt.variance,
            prior: learnt.prior.clone(),
        })
    }
}

impl WireFormat for AddWorkerSlopes {
    const KIND: u8 = 51;

    fn write(&self, to: &mut Writer) {
        WireFormat::write(&self.0, to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self(Learnt::read(from)?))
    }
}

impl Pass for AddWorkerSlopes {
    type Part = WorkerSlopeSums;

    fn run(&mut self, block: Block<'_>) -> WorkerSlopeSums {
        let mut tables = vec![WorkerSums::default()];
        tables[0].clear(block.worker_count(), block.class_count());
        self.0.add_worker_slopes(block, &mut tables);
        WorkerSlopeSums(tables[0].values().to_vec())
    }
}

/// Slopes and curvatures of the workers, as [`WorkerSums`] keeps them.
pub(crate) struct WorkerSlopeSums(pub(super) Vec<f64>);

impl Part for WorkerSlopeSums {
    fn merge(&mut self, other: Self) {
        add(&mut self.0, &other.0);
    }
}

impl WireFormat for WorkerSlopeSums {
    const KIND: u8 = 52;

    fn write(&self, to: &mut Writer) {
        to.write_f64(&self.0);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self(from.read_f64()?))
    }
}
