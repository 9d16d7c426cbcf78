//! Tasks on which all labels agree and the answer is another one.
//!
//! A model may overturn a unanimous task: two workers who are known to swap two classes are right to be
//! contradicted. But it must be able to say why. So, after every fit:
//!
//! - where no two labels share a task, nothing can be known of any worker, and every overturned task gets its
//!   label back: the probabilities of the two classes change places. A warning says that the confidence is a
//!   guess, unless the method learns from something else (`taught`): gold, priors, features, probabilities of
//!   a classifier;
//! - elsewhere the overturned tasks are counted in a warning that gives the reason.
//!
//! Tasks whose truth is known (gold) are not looked at.

use crate::blocks::{Block, Extent, Pass, Passes, Stage, State, wire_format};
use crate::model::{BlockFit, DawidSkene, Fit, keep_unanimous, label_of};
use crate::{Context, Result};

/// Puts tasks right that nothing supports, and says what was overturned.
pub(super) fn review_fit(block: Block<'_>, mut fit: Fit, taught: bool) -> Fit {
    let mut overturned = Overturned::default();
    overturned.add(block, fit.consensus.as_slice(), fit.model.as_ref());
    if overturned.tasks > 0 && !overturned.compared {
        let classes = fit.consensus.class_count();
        let mut rows = fit.consensus.into_vec();
        keep_unanimous(block, &mut rows);
        fit.consensus = crate::model::Consensus::new(classes, rows);
    }
    let warning = overturned.warning(fit.model.is_some(), taught);
    fit.warnings.extend(warning);
    fit
}

/// The same for labels in blocks: one more pass.
pub(super) fn review_blocks(
    passes: &mut Passes<'_>,
    mut fit: BlockFit,
    taught: bool,
    context: &mut Context,
) -> Result<BlockFit> {
    let stage = Stage::single("unanimous tasks");
    let overturned = passes.run(&mut FindOverturned(fit.clone()), stage, context)?;
    fit.consensus.keeps_unanimous = overturned.tasks > 0 && !overturned.compared;
    let warning = overturned.warning(fit.model.is_some(), taught);
    fit.warnings.extend(warning);
    Ok(fit)
}

/// Finds the unanimous tasks of a block with another label.
pub(crate) struct FindOverturned(BlockFit);

wire_format!(38 FindOverturned { 0 });

impl Pass for FindOverturned {
    type State = Overturned;

    fn start(&mut self, _: Extent) -> Overturned {
        Overturned::default()
    }

    fn visit(&mut self, overturned: &mut Overturned, block: Block<'_>, _: &mut [f64]) {
        overturned.add(block, &self.0.posteriors(block), self.0.model.as_ref());
    }
}

/// Unanimous tasks with another label.
#[derive(Default)]
pub(crate) struct Overturned {
    tasks: u64,
    /// Those of them with a single label.
    single: u64,
    /// Their labels, and how many of these are right by the model.
    labels: f64,
    right: f64,
    /// Whether any task of the table has two labels.
    compared: bool,
}

wire_format!(39 Overturned { tasks, single, labels, right, compared });

impl State for Overturned {
    fn merge(&mut self, other: Self) {
        self.tasks += other.tasks;
        self.single += other.single;
        self.labels += other.labels;
        self.right += other.right;
        self.compared |= other.compared;
    }
}

impl Overturned {
    fn add(&mut self, block: Block<'_>, rows: &[f64], model: Option<&DawidSkene>) {
        for (task, row) in rows.chunks_exact(block.class_count()).enumerate() {
            let (workers, answers) = block.task(task);
            self.compared |= answers.len() > 1;
            let other = |given: &usize| label_of(row) != *given;
            let Some(given) = block.unanimous(task).filter(other) else {
                continue;
            };
            self.tasks += 1;
            self.single += u64::from(workers.len() == 1);
            self.labels += workers.len() as f64;
            let right =
                |&worker: &u32| model.map_or(0.0, |model| model.probability(worker as usize, given, given));
            self.right += workers.iter().map(right).sum::<f64>();
        }
    }

    /// Why: how often the workers concerned are right by the model, and how little they labelled.
    fn warning(&self, with_model: bool, taught: bool) -> Option<String> {
        if self.tasks == 0 && (self.compared || taught) {
            return None;
        }
        let tasks = match self.tasks {
            1 => "1 task".to_owned(),
            number => format!("{number} tasks"),
        };
        if !self.compared {
            let other = match self.tasks {
                0 => String::new(),
                _ => format!(" (the method had another one for {tasks})"),
            };
            return Some(format!(
                "no task has two labels, so that nothing can be known of the workers: every task keeps its label{other}, and the \
                 confidence is a guess"
            ));
        }
        let reason = if with_model {
            format!(
                "the model takes such an answer of these workers for right in {:.0} % of the cases on average",
                100.0 * self.right / self.labels
            )
        } else {
            "the method weighs these workers against their answers".to_owned()
        };
        Some(format!(
            "{tasks} on which all labels agree got another label ({} of them with a single label): {reason}; with few labels \
             for each worker or class that can be a confusion of classes, so compare with majority-vote",
            self.single
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotations::Annotations;
    use crate::methods::{METHODS, find};

    #[test]
    fn the_default_on_three_rows_repeats_the_labels() {
        let table = Annotations::from_codes(3, 3, 2, [(0, 0, 0), (1, 1, 0), (2, 2, 1)]).unwrap();
        for name in ["auto", "pooled-ds", "rob-symnmf-em"] {
            let method = find(name).unwrap().with_defaults().unwrap();
            let fit = method.fit(&table, &mut Context::new(0)).unwrap();
            assert_eq!(fit.consensus.labels(), [0, 0, 1], "{name}");
        }
    }

    /// Whatever the method: a confidence that nothing supports is called a guess, in memory and in blocks,
    /// once.
    #[test]
    fn one_label_per_task_is_said_by_every_method() {
        let rows = (0..12u32).map(|task| (task, task % 4, (task % 3 == 0) as u16));
        let alone = Annotations::from_codes(12, 4, 2, rows.clone()).unwrap();
        let compared = Annotations::from_codes(12, 4, 2, rows.chain([(0, 1, 1)])).unwrap();
        let said = |warnings: &[String]| {
            warnings
                .iter()
                .filter(|text| text.ends_with("the confidence is a guess"))
                .count()
        };
        let own = METHODS
            .iter()
            .filter(|method| !method.needs_features && !method.needs_probabilities);
        for method in own {
            let built = method.with_defaults().unwrap();
            if let Ok(fit) = built.fit(&alone, &mut Context::new(0)) {
                assert_eq!(said(&fit.warnings), 1, "{}: {:?}", method.name, fit.warnings);
            }
            if let Ok(fit) = built.fit_blocks(&mut &alone, &mut Context::new(0)) {
                assert_eq!(
                    said(&fit.warnings),
                    1,
                    "{} in blocks: {:?}",
                    method.name,
                    fit.warnings
                );
            }
            if let Ok(fit) = built.fit(&compared, &mut Context::new(0)) {
                assert_eq!(said(&fit.warnings), 0, "{}: {:?}", method.name, fit.warnings);
            }
        }
        // A known truth teaches something of a worker, where the method learns from it.
        let gold = alone.with_gold([(0, 1)]).unwrap();
        for (name, times) in [("dawid-skene", 0), ("auto", 0), ("majority-vote", 1)] {
            let method = find(name).unwrap().with_defaults().unwrap();
            let fit = method.fit(&gold, &mut Context::new(0)).unwrap();
            assert_eq!(said(&fit.warnings), times, "{name}: {:?}", fit.warnings);
        }
    }

    /// A tie says nothing against the label, whichever code it has.
    #[test]
    fn a_tie_on_a_unanimous_task_is_a_tie_under_any_codes() {
        let confidence = |label: u16| {
            let table = Annotations::from_codes(2, 2, 3, [(0, 0, label), (1, 1, label)]).unwrap();
            let flat = [("prior".into(), "flat".into())];
            let method = find("dawid-skene").unwrap().with_parameters(&flat).unwrap();
            let fit = method.fit(&table, &mut Context::new(0)).unwrap();
            assert_eq!(fit.consensus.labels(), [usize::from(label); 2]);
            fit.consensus.confidence(0)
        };
        let (first, last) = (confidence(0), confidence(2));
        assert!((first - last).abs() < 1e-6, "{first} and {last}");
    }

    /// Several classes ahead of the label share what is left.
    #[test]
    fn the_label_comes_first_and_the_mass_stays() {
        let table = Annotations::from_codes(1, 1, 4, [(0, 0, 3)]).unwrap();
        let mut row = [0.4, 0.1, 0.4, 0.1];
        keep_unanimous(table.as_block(), &mut row);
        crate::methods::tests::assert_close(&row, &[0.25, 0.1, 0.25, 0.4], 1e-12);
        let mut tied = [0.25; 4];
        keep_unanimous(table.as_block(), &mut tied);
        assert_eq!(label_of(&tied), 3);
        crate::methods::tests::assert_close(&tied, &[0.25; 4], 1e-8);
    }

    /// Small random tables, one to three labels a task: whatever a method does, it says so.
    #[test]
    fn unanimous_tasks_are_never_overturned_without_a_word() {
        use rand::RngExt;
        for method in METHODS
            .iter()
            .filter(|method| !method.needs_features && !method.needs_probabilities)
        {
            for seed in 0..4u64 {
                let mut rng = crate::context::seeded(seed, 0);
                let most = 1 + seed as u32 % 3;
                let mut labels = Vec::new();
                for task in 0..30u32 {
                    for worker in 0..rng.random_range(1..=most) {
                        labels.push((task, (task + 3 * worker) % 10, rng.random_range(0..3u16)));
                    }
                }
                let table = Annotations::from_codes(30, 10, 3, labels).unwrap();
                let built = method.with_defaults().unwrap();
                let Ok(fit) = built.fit(&table, &mut Context::new(0)) else {
                    continue;
                };
                let mut found = Overturned::default();
                found.add(table.as_block(), fit.consensus.as_slice(), None);
                let overturned = found.tasks;
                let said = fit
                    .warnings
                    .iter()
                    .any(|warning| warning.contains("all labels agree"));
                assert_eq!(overturned > 0, said, "{}: {overturned} overturned", method.name);
                assert!(most > 1 || overturned == 0, "{}: one label a task", method.name);
            }
        }
    }
}
