//! Decision trees with a largest number of splits, by the Gini index.
//!
//! Splits are made where they lower the impurity most, best first, until there are `max_splits`. Written here
//! because the trees of the known crates are bounded by depth, not by splits, and one of them breaks ties at
//! random.

use crate::rows::{FeatureRows, count_classes, most_frequent};

/// A node is split only if it has this many training rows.
const MIN_TO_SPLIT: usize = 10;

/// A tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    nodes: Vec<Node>,
}

#[derive(Debug, Clone, PartialEq)]
struct Node {
    label: u8,
    split: Option<Split>,
}

/// Rows whose `feature` is at most `threshold` go to the node `left`, others to the one after it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Split {
    feature: usize,
    threshold: f32,
    left: usize,
}

/// A leaf that could be split.
struct Leaf {
    node: usize,
    rows: Vec<u32>,
    best: Option<(f64, usize, f32)>,
}

impl Tree {
    /// Grows a tree with at most `max_splits` splits.
    pub fn grow(rows: &FeatureRows, labels: &[u8], classes: usize, max_splits: usize) -> Self {
        let all = Leaf::new(0, (0..rows.len() as u32).collect(), rows, labels, classes);
        let mut tree = Self {
            nodes: vec![all.node(labels, classes)],
        };
        let mut leaves = vec![all];
        for _ in 0..max_splits {
            let gain = |leaf: &Leaf| leaf.best.map_or(0.0, |best| best.0);
            let Some(place) = (0..leaves.len())
                .filter(|&place| gain(&leaves[place]) > 0.0)
                .max_by(|&a, &b| gain(&leaves[a]).total_cmp(&gain(&leaves[b])).then(b.cmp(&a)))
            else {
                break;
            };
            let leaf = leaves.remove(place);
            let Some((_, feature, threshold)) = leaf.best else {
                break;
            };
            let left = tree.nodes.len();
            tree.nodes[leaf.node].split = Some(Split {
                feature,
                threshold,
                left,
            });
            let (low, high) = leaf
                .rows
                .iter()
                .partition(|&&row| rows.row(row as usize)[feature] <= threshold);
            for (node, part) in [(left, low), (left + 1, high)] {
                let child = Leaf::new(node, part, rows, labels, classes);
                tree.nodes.push(child.node(labels, classes));
                leaves.push(child);
            }
        }
        tree
    }

    /// Number of splits.
    pub fn splits(&self) -> usize {
        self.nodes.iter().filter(|node| node.split.is_some()).count()
    }

    /// The class of a row.
    pub fn classify(&self, row: &[f32]) -> u8 {
        let mut node = &self.nodes[0];
        while let Some(split) = node.split {
            let right = usize::from(row[split.feature] > split.threshold);
            node = &self.nodes[split.left + right];
        }
        node.label
    }
}

impl Leaf {
    fn new(node: usize, members: Vec<u32>, rows: &FeatureRows, labels: &[u8], classes: usize) -> Self {
        let best = (0..rows.width)
            .filter(|_| members.len() >= MIN_TO_SPLIT)
            .filter_map(|feature| best_split(feature, &members, rows, labels, classes))
            .reduce(|a, b| if b.0 > a.0 { b } else { a });
        Self {
            node,
            rows: members,
            best,
        }
    }

    fn node(&self, labels: &[u8], classes: usize) -> Node {
        let own = self.rows.iter().map(|&row| labels[row as usize]);
        Node {
            label: most_frequent(&count_classes(classes, own)),
            split: None,
        }
    }
}

/// How far the best split of these rows by a feature lowers their summed impurity, the feature and the
/// threshold.
fn best_split(
    feature: usize,
    members: &[u32],
    rows: &FeatureRows,
    labels: &[u8],
    classes: usize,
) -> Option<(f64, usize, f32)> {
    let mut sorted: Vec<(f32, u8)> = members
        .iter()
        .map(|&row| (rows.row(row as usize)[feature], labels[row as usize]))
        .collect();
    sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let total = count_classes(classes, sorted.iter().map(|pair| pair.1));
    let mut low = vec![0u32; classes];
    // Gini impurity times the number of rows: n - sum c^2 / n.
    let purity = |counts: &mut dyn Iterator<Item = u32>, n: f64| {
        counts.map(|count| f64::from(count).powi(2)).sum::<f64>() / n
    };
    let whole = purity(&mut total.iter().copied(), sorted.len() as f64);
    let mut best: Option<(f64, usize, f32)> = None;
    for place in 1..sorted.len() {
        low[usize::from(sorted[place - 1].1)] += 1;
        if sorted[place - 1].0 == sorted[place].0 {
            continue;
        }
        let high = total.iter().zip(&low).map(|(all, low)| all - low);
        let gain = purity(&mut low.iter().copied(), place as f64)
            + purity(&mut { high }, (sorted.len() - place) as f64)
            - whole;
        if gain > best.map_or(1e-9, |best| best.0) {
            best = Some((gain, feature, (sorted[place - 1].0 + sorted[place].0) / 2.0));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Class = whether both numbers are above 2: two splits tell, one does not.
    #[test]
    fn splits_are_made_where_they_help_and_no_more_than_allowed() {
        let values: Vec<f32> = (0..36)
            .flat_map(|cell| [(cell / 6) as f32, (cell % 6) as f32])
            .collect();
        let rows = FeatureRows::new(2, values);
        let labels: Vec<u8> = rows
            .iter()
            .map(|row| u8::from(row[0] > 2.0 && row[1] > 2.0))
            .collect();
        let errors = |splits| {
            let tree = Tree::grow(&rows, &labels, 2, splits);
            let wrong = rows
                .iter()
                .zip(&labels)
                .filter(|(row, label)| tree.classify(row) != **label);
            (tree.splits(), wrong.count())
        };
        assert_eq!(errors(0), (0, 9));
        assert_eq!(errors(2), (2, 0));
        assert_eq!(errors(100), (2, 0));
    }
}
