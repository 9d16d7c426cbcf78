//! Workers and tasks that are left out: all that are not among those to keep, and those to drop.

use quorate::annotations::Names;
use rustc_hash::FxHashSet;

use super::annotations::ReadOptions;

/// What lists of names left out, and which of the listed names are not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeftOut {
    /// Workers of the table that were left out.
    pub workers: usize,
    /// Listed workers that the table does not have.
    pub absent_workers: usize,
    /// Tasks of the table that were left out.
    pub tasks: u64,
    /// Listed tasks that the table does not have.
    pub absent_tasks: u64,
}

impl LeftOut {
    /// What the lists leave out among the names of a table.
    pub(crate) fn of(options: &ReadOptions, tasks: &Names, workers: &Names) -> Self {
        let (of_tasks, of_workers) = (NameFilter::of_tasks(options), NameFilter::of_workers(options));
        let (left_tasks, listed_tasks) = of_tasks.count(tasks);
        let (left_workers, listed_workers) = of_workers.count(workers);
        Self {
            workers: left_workers,
            absent_workers: of_workers.listed() - listed_workers,
            tasks: left_tasks as u64,
            absent_tasks: (of_tasks.listed() - listed_tasks) as u64,
        }
    }
}

/// Names to keep and names to drop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NameFilter<'a> {
    keep: Option<&'a FxHashSet<String>>,
    drop: &'a FxHashSet<String>,
}

impl<'a> NameFilter<'a> {
    pub(crate) fn of_workers(options: &'a ReadOptions) -> Self {
        Self {
            keep: options.keep_workers.as_ref(),
            drop: &options.drop_workers,
        }
    }

    pub(crate) fn of_tasks(options: &'a ReadOptions) -> Self {
        Self {
            keep: options.keep_tasks.as_ref(),
            drop: &options.drop_tasks,
        }
    }

    /// Whether nothing is left out.
    pub(crate) fn is_open(&self) -> bool {
        self.keep.is_none() && self.drop.is_empty()
    }

    pub(crate) fn allows(&self, name: &str) -> bool {
        self.keep.is_none_or(|keep| keep.contains(name)) && !self.drop.contains(name)
    }

    /// Names on either list.
    pub(crate) fn listed(&self) -> usize {
        let both = self.keep.map_or(0, |keep| keep.intersection(self.drop).count());
        self.keep.map_or(0, |keep| keep.len()) + self.drop.len() - both
    }

    /// How many of the names are left out, and how many are on a list.
    pub(crate) fn count(&self, names: &Names) -> (usize, usize) {
        if self.is_open() {
            return (0, 0);
        }
        let on_list =
            |name: &&str| self.keep.is_some_and(|keep| keep.contains(*name)) || self.drop.contains(*name);
        (
            names.iter().filter(|name| !self.allows(name)).count(),
            names.iter().filter(on_list).count(),
        )
    }
}
