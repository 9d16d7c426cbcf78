//! The labels of a run, in memory or on disk.

use anyhow::Result;
use quorate::Annotations;
use quorate::annotations::Names;
use quorate::blocks::Blocks;
use quorate_io::{SpilledLabels, TaskLabels};

/// Where the labels are.
#[derive(Debug)]
pub enum Labels {
    /// All of them in memory.
    Memory(Box<Annotations>),
    /// On disk, gone through in blocks.
    Disk(Box<SpilledLabels>),
}

impl Labels {
    /// Names of the workers.
    pub fn workers(&self) -> &Names {
        match self {
            Self::Memory(annotations) => annotations.workers(),
            Self::Disk(spilled) => spilled.workers(),
        }
    }

    /// Names of the classes.
    pub fn classes(&self) -> &Names {
        match self {
            Self::Memory(annotations) => annotations.classes(),
            Self::Disk(spilled) => spilled.classes(),
        }
    }

    /// Whether the truth of some tasks is known.
    pub fn has_gold(&self) -> bool {
        match self {
            Self::Memory(annotations) => annotations.has_gold(),
            Self::Disk(spilled) => spilled.has_gold(),
        }
    }

    /// Number of tasks.
    pub fn task_count(&self) -> u64 {
        match self {
            Self::Memory(annotations) => annotations.task_count() as u64,
            Self::Disk(spilled) => spilled.task_count(),
        }
    }

    /// The same labels with further classes that no worker named.
    pub fn with_classes(self, further: Vec<&str>) -> Result<Self> {
        Ok(match self {
            Self::Memory(annotations) => Self::Memory(Box::new(annotations.with_classes(further)?)),
            Self::Disk(mut spilled) => {
                spilled.add_classes(further);
                Self::Disk(spilled)
            }
        })
    }

    /// The same labels with the truth of some tasks known, and how many of these have labels. The classes of
    /// gold are among those of the labels.
    pub fn with_gold(self, gold: &TaskLabels) -> Result<(Self, usize)> {
        match self {
            Self::Memory(annotations) => {
                let truths = gold.truths_in(&annotations);
                let known = truths.len();
                Ok((Self::Memory(Box::new(annotations.with_gold(truths)?)), known))
            }
            Self::Disk(mut spilled) => {
                let class_of = |label: usize| spilled.classes().find(gold.classes.get(label));
                let names = gold.tasks.iter().zip(&gold.labels);
                let truths = names
                    .filter_map(|(name, &label)| Some((name, class_of(label)? as u16)))
                    .collect();
                let known = spilled.set_gold(&truths)?;
                Ok((Self::Disk(spilled), known))
            }
        }
    }
}
