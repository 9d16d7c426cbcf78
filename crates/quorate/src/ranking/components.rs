//! Which items can be compared at all: connected components of the comparisons, and whether everybody has won
//! and lost inside of them.

use super::comparisons::Outcome;
use super::observations::Observations;

/// Connected components of items that were compared with each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Components {
    /// The component of each item; numbered by their size, the largest first.
    pub of_item: Vec<u32>,
    /// How many items each has.
    pub sizes: Vec<usize>,
}

impl Components {
    /// Those of the rows.
    pub fn of(rows: &Observations) -> Self {
        Self::of_pairs(rows.items, rows.iter().map(|row| (row.left, row.right)))
    }

    /// Union-find over pairs. Items without a pair are components of their own.
    pub fn of_pairs(items: usize, pairs: impl Iterator<Item = (usize, usize)>) -> Self {
        let mut parent: Vec<u32> = (0..items as u32).collect();
        for (left, right) in pairs {
            let (a, b) = (root(&mut parent, left as u32), root(&mut parent, right as u32));
            // The lower one stays, so that the order of rows makes no difference.
            parent[a.max(b) as usize] = a.min(b);
        }
        let roots: Vec<u32> = (0..items as u32).map(|item| root(&mut parent, item)).collect();
        let mut count = vec![0usize; items];
        roots.iter().for_each(|&root| count[root as usize] += 1);
        let mut order: Vec<usize> = (0..items).filter(|&root| count[root] > 0).collect();
        order.sort_by_key(|&root| std::cmp::Reverse(count[root]));
        let mut number = vec![0; items];
        for (place, &root) in order.iter().enumerate() {
            number[root] = place as u32;
        }
        Self {
            of_item: roots.iter().map(|&root| number[root as usize]).collect(),
            sizes: order.iter().map(|&root| count[root]).collect(),
        }
    }

    /// Takes the mean of its component from every number.
    pub fn center(&self, values: &mut [f64]) {
        let mut means = vec![0.0; self.sizes.len()];
        for (value, &component) in values.iter().zip(&self.of_item) {
            means[component as usize] += value;
        }
        for (mean, &size) in means.iter_mut().zip(&self.sizes) {
            *mean /= size as f64;
        }
        for (value, &component) in values.iter_mut().zip(&self.of_item) {
            *value -= means[component as usize];
        }
    }
}

fn root(parent: &mut [u32], item: u32) -> u32 {
    let mut item = item;
    while parent[item as usize] != item {
        let above = parent[parent[item as usize] as usize];
        parent[item as usize] = above;
        item = above;
    }
    item
}

/// Whether scores of maximum likelihood are finite: in each component, wins lead from every item to every other.
/// A tie is a win each way.
pub(super) fn everybody_lost_to_somebody(rows: &Observations, components: &Components) -> bool {
    let mut wins: Vec<(u32, u32)> = Vec::with_capacity(rows.len());
    for row in rows.iter() {
        let (left, right) = (row.left as u32, row.right as u32);
        if row.outcome != Outcome::Right {
            wins.push((left, right));
        }
        if row.outcome != Outcome::Left {
            wins.push((right, left));
        }
    }
    let forward = reached(rows.items, components, &wins);
    wins.iter_mut().for_each(|win| *win = (win.1, win.0));
    forward && reached(rows.items, components, &wins)
}

/// Whether the first item of each component reaches all others along the arrows.
fn reached(items: usize, components: &Components, arrows: &[(u32, u32)]) -> bool {
    let mut starts = vec![0usize; items + 1];
    arrows.iter().for_each(|arrow| starts[arrow.0 as usize + 1] += 1);
    for item in 0..items {
        starts[item + 1] += starts[item];
    }
    let (mut next, mut to) = (starts.clone(), vec![0; arrows.len()]);
    for &(from, target) in arrows {
        to[next[from as usize]] = target;
        next[from as usize] += 1;
    }
    let mut seen = vec![false; items];
    let mut begun = vec![false; components.sizes.len()];
    let mut stack = Vec::new();
    for (item, &component) in components.of_item.iter().enumerate() {
        if !std::mem::replace(&mut begun[component as usize], true) {
            seen[item] = true;
            stack.push(item);
        }
    }
    while let Some(item) = stack.pop() {
        for &target in &to[starts[item]..starts[item + 1]] {
            if !std::mem::replace(&mut seen[target as usize], true) {
                stack.push(target as usize);
            }
        }
    }
    seen.into_iter().all(|seen| seen)
}

#[cfg(test)]
mod tests {
    use super::super::comparisons::Comparisons;
    use super::*;

    fn rows(rows: &[(&str, &str, Outcome)]) -> Observations {
        Observations::of(&Comparisons::from_rows(rows.iter().copied()).unwrap())
    }

    #[test]
    fn components_are_found_and_centred_apart() {
        use Outcome::{Left, Tie};
        let rows = rows(&[("a", "b", Left), ("c", "d", Tie), ("d", "e", Left)]);
        let found = Components::of(&rows);
        assert_eq!(found.of_item, [1, 1, 0, 0, 0]);
        assert_eq!(found.sizes, [3, 2]);
        let mut values = vec![1.0, 3.0, 0.0, 3.0, 6.0];
        found.center(&mut values);
        assert_eq!(values, [-1.0, 1.0, -3.0, 0.0, 3.0]);
    }

    #[test]
    fn maximum_likelihood_needs_a_way_back() {
        use Outcome::{Left, Right, Tie};
        for (comparisons, expected) in [
            (vec![("a", "b", Left), ("b", "c", Left)], false),
            (vec![("a", "b", Left), ("b", "c", Left), ("a", "c", Right)], true),
            (vec![("a", "b", Left), ("b", "a", Tie)], true),
            (vec![("a", "b", Tie), ("c", "d", Left)], false),
        ] {
            let rows = rows(&comparisons);
            assert_eq!(
                everybody_lost_to_somebody(&rows, &Components::of(&rows)),
                expected,
                "{comparisons:?}"
            );
        }
    }
}
