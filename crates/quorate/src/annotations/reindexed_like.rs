//! A table in the codes of another one: new labels for a model that was fitted before.

use super::{Annotations, Names};
use crate::error::{Error, Result};

impl Annotations {
    /// The same tasks with the workers and classes of `fitted`, for a model of that table
    /// ([`posterior`](crate::model::posterior) gives the consensus); and how many labels were left out
    /// because `fitted` does not have their worker or class. All tasks stay; an error if no label does.
    ///
    /// ```
    /// use quorate::{Aggregate, Annotations, Context, methods::DawidSkeneEm, model::posterior};
    ///
    /// let seen = Annotations::from_triples([("t1", "ann", "cat"), ("t1", "bob", "cat"), ("t2", "ann", "dog")])?;
    /// let fit = DawidSkeneEm::default().fit(&seen, &mut Context::new(0))?;
    /// let new = Annotations::from_triples([("t9", "bob", "dog"), ("t9", "cem", "cat")])?;
    /// let (new, left_out) = new.reindexed_like(&seen)?;
    /// let (consensus, _) = posterior(&new, &fit.model.expect("Dawid-Skene has a model"));
    /// assert_eq!((consensus.len(), left_out), (1, 1));
    /// # Ok::<(), quorate::Error>(())
    /// ```
    #[doc(hidden)]
    pub fn reindexed_like(&self, fitted: &Self) -> Result<(Self, usize)> {
        let codes = |own: &Names, other: &Names| -> Vec<Option<u32>> {
            own.iter().map(|name| other.find(name)).collect()
        };
        let workers = codes(self.workers(), fitted.workers());
        let classes = codes(self.classes(), fitted.classes());
        let known = |(task, worker, class)| Some((task as u32, workers[worker]?, classes[class]? as u16));
        let known: Vec<(u32, u32, u16)> = self.iter().filter_map(known).collect();
        let left_out = self.label_count() - known.len();
        if known.is_empty() {
            let problem = "none of them is by a worker and of a class that the model knows";
            return Err(Error::NoLabels(problem.into()));
        }
        let (workers, classes) = (fitted.workers().clone(), fitted.classes().clone());
        let table = Self::from_named_codes(self.tasks().clone(), workers, classes, known)?;
        Ok((table, left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_take_the_codes_of_the_other_table_and_strangers_are_counted() {
        let fitted =
            Annotations::from_triples([("a", "ann", "x"), ("a", "bob", "y"), ("b", "cem", "z")]).unwrap();
        let rows = [
            ("n1", "cem", "y"),
            ("n1", "eve", "x"),
            ("n2", "ann", "w"),
            ("n3", "bob", "z"),
        ];
        let (table, left_out) = Annotations::from_triples(rows)
            .unwrap()
            .reindexed_like(&fitted)
            .unwrap();
        assert_eq!(table.iter().collect::<Vec<_>>(), [(0, 2, 1), (2, 1, 2)]);
        assert_eq!((table.task_count(), left_out), (3, 2));
        let strangers = Annotations::from_triples([("n1", "eve", "x")]).unwrap();
        assert!(matches!(
            strangers.reindexed_like(&fitted),
            Err(Error::NoLabels(_))
        ));
    }
}
