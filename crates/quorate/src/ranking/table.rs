//! What is ranked: comparisons of two items each, or rankings of several.

use super::comparisons::Comparisons;
use super::fit::{Rank, RankFit};
use super::leaderboard::Standing;
use super::rankings::Rankings;
use crate::annotations::Names;
use crate::context::Context;
use crate::error::Result;

/// What is ranked.
#[derive(Debug, Clone)]
pub enum ComparisonTable {
    /// Comparisons of two items each.
    Pairs(Comparisons),
    /// Rankings of several items.
    Rankings(Rankings),
}

impl ComparisonTable {
    /// The items.
    pub fn items(&self) -> &Names {
        match self {
            Self::Pairs(table) => table.items(),
            Self::Rankings(table) => table.items(),
        }
    }

    /// The comparisons; none for rankings.
    pub fn pairs(&self) -> Option<&Comparisons> {
        match self {
            Self::Pairs(table) => Some(table),
            Self::Rankings(_) => None,
        }
    }

    /// The method that is used where none is asked for.
    pub fn default_method(&self) -> &'static str {
        match self {
            Self::Pairs(_) => super::DEFAULT_METHOD,
            Self::Rankings(_) => "plackett-luce",
        }
    }
}

/// A table that was ranked.
#[derive(Debug, Clone)]
pub struct Ranked {
    /// The value of the column that tables are kept apart by, if there is one.
    pub by: Option<String>,
    /// What was ranked.
    pub table: ComparisonTable,
    /// The fit.
    pub fit: RankFit,
    /// The items from the best to the worst.
    pub standings: Vec<Standing>,
}

impl Ranked {
    /// Fits a method and makes the leaderboard at a level.
    pub fn run(
        by: Option<String>,
        table: ComparisonTable,
        method: &dyn Rank,
        level: f64,
        context: &mut Context,
    ) -> Result<Self> {
        let fit = match &table {
            ComparisonTable::Pairs(table) => method.fit(table, context)?,
            ComparisonTable::Rankings(table) => method.fit_rankings(table, context)?,
        };
        let standings = match &table {
            ComparisonTable::Pairs(table) => fit.leaderboard(table, level),
            ComparisonTable::Rankings(table) => fit.standings(&count_places(table), level),
        };
        Ok(Self {
            by,
            table,
            fit,
            standings,
        })
    }

    /// The items.
    pub fn items(&self) -> &Names {
        self.table.items()
    }

    /// The comparisons; none for rankings.
    pub fn pairs(&self) -> Option<&Comparisons> {
        self.table.pairs()
    }
}

/// Wins, losses and ties of every item in rankings: against each item of the same ranking.
fn count_places(table: &Rankings) -> Vec<[f64; 3]> {
    let mut counts = vec![[0.0; 3]; table.items().len()];
    for ranking in 0..table.len() {
        let groups: Vec<Vec<usize>> = table.groups(ranking).collect();
        let all: usize = groups.iter().map(Vec::len).sum();
        let mut above = 0;
        for group in &groups {
            let below = all - above - group.len();
            for &item in group {
                let more = [below, above, group.len() - 1];
                counts[item]
                    .iter_mut()
                    .zip(more)
                    .for_each(|(count, more)| *count += more as f64);
            }
            above += group.len();
        }
    }
    counts
}
