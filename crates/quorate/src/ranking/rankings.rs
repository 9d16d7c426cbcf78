//! Rankings: several items in order, from the best to the worst, by one judge on one prompt.

use crate::annotations::Names;
use crate::error::{Error, Result};

/// Rankings of items, 4 bytes for each place.
#[derive(Debug, Clone, PartialEq)]
pub struct Rankings {
    items: Names,
    judges: Names,
    prompts: Names,
    starts: Vec<u32>,
    /// Items from the best to the worst; the highest bit is set where an item is as good as the one before.
    places: Vec<u32>,
    judge: Vec<u32>,
    prompt: Vec<u32>,
}

const TIED: u32 = 1 << 31;

/// Takes rankings one by one.
#[derive(Debug, Clone, Default)]
pub struct RankingsBuilder {
    items: Names,
    judges: Names,
    prompts: Names,
    starts: Vec<u32>,
    places: Vec<u32>,
    judge: Vec<u32>,
    prompt: Vec<u32>,
}

impl RankingsBuilder {
    /// Takes the items of one judge on one prompt with their ranks, 1 the best; equal ranks are ties. A ranking of
    /// one item says nothing and is left out.
    pub fn push(&mut self, judge: &str, prompt: &str, ranked: &[(&str, f64)]) -> Result<()> {
        let mut order: Vec<(u32, f64)> = Vec::with_capacity(ranked.len());
        for &(item, rank) in ranked {
            if item.is_empty() {
                return Err(Error::EmptyId("item"));
            }
            if !rank.is_finite() {
                return Err(Error::Mismatch(format!(
                    "the rank of {item:?} is {rank}, expected a number"
                )));
            }
            let code = self.items.intern(item);
            if order.iter().any(|other| other.0 == code) {
                return Err(Error::Mismatch(format!("{item:?} stands twice in one ranking")));
            }
            order.push((code, rank));
        }
        if order.len() < 2 {
            return Ok(());
        }
        order.sort_by(|a, b| {
            a.1.total_cmp(&b.1)
                .then_with(|| self.items.get(a.0 as usize).cmp(self.items.get(b.0 as usize)))
        });
        self.starts.push(self.places.len() as u32);
        for (place, &(item, rank)) in order.iter().enumerate() {
            let tied = place > 0 && order[place - 1].1 == rank;
            self.places.push(item | if tied { TIED } else { 0 });
        }
        self.judge.push(self.judges.intern(judge));
        self.prompt.push(self.prompts.intern(prompt));
        Ok(())
    }

    /// The table.
    pub fn build(mut self) -> Result<Rankings> {
        if self.starts.is_empty() {
            return Err(Error::NoLabels("no ranking has two items".into()));
        }
        self.starts.push(self.places.len() as u32);
        let order = self.items.natural_order();
        let mut codes = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            codes[old] = new as u32;
        }
        for place in &mut self.places {
            *place = codes[(*place & !TIED) as usize] | (*place & TIED);
        }
        let Self {
            items,
            judges,
            prompts,
            starts,
            places,
            judge,
            prompt,
        } = self;
        let items = order.iter().map(|&old| items.get(old)).collect();
        Ok(Rankings {
            items,
            judges,
            prompts,
            starts,
            places,
            judge,
            prompt,
        })
    }
}

impl Rankings {
    /// The items, in natural order.
    pub fn items(&self) -> &Names {
        &self.items
    }

    /// The judges; one without a name where nobody is named.
    pub fn judges(&self) -> &Names {
        &self.judges
    }

    /// The prompts; one without a name where none is named.
    pub fn prompts(&self) -> &Names {
        &self.prompts
    }

    /// Number of rankings.
    pub fn len(&self) -> usize {
        self.judge.len()
    }

    /// Whether there are none; never true of a table that was built.
    pub fn is_empty(&self) -> bool {
        self.judge.is_empty()
    }

    /// One ranking: its items from the best to the worst, in groups of equals.
    pub fn groups(&self, ranking: usize) -> impl DoubleEndedIterator<Item = Vec<usize>> + '_ {
        let places = &self.places[self.starts[ranking] as usize..self.starts[ranking + 1] as usize];
        places
            .chunk_by(|_, next| next & TIED != 0)
            .map(|group| group.iter().map(|place| (place & !TIED) as usize).collect())
    }

    /// The judge and the prompt of a ranking.
    pub fn of(&self, ranking: usize) -> (usize, usize) {
        (self.judge[ranking] as usize, self.prompt[ranking] as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rankings_are_groups_of_equals_in_order() {
        let mut builder = RankingsBuilder::default();
        builder
            .push("ann", "p", &[("b", 2.0), ("a", 1.0), ("c", 2.0)])
            .unwrap();
        builder.push("ann", "q", &[("a", 1.0)]).unwrap();
        assert!(builder.push("ann", "r", &[("a", 1.0), ("a", 2.0)]).is_err());
        assert!(builder.push("ann", "r", &[("a", f64::NAN), ("b", 2.0)]).is_err());
        let table = builder.build().unwrap();
        assert_eq!(table.len(), 1);
        assert_eq!(table.groups(0).collect::<Vec<_>>(), [vec![0], vec![1, 2]]);
        assert!(RankingsBuilder::default().build().is_err());
    }
}
