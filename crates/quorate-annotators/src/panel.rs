//! The ten annotators of the paper's table of classifiers, trained on one part of a data set, asked about
//! another.

use anyhow::Result;
use quorate::internal::seeded;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::neighbours::{self, Distance};
use crate::rows::FeatureRows;
use crate::svm::{self, Kernel};
use crate::tree::Tree;
use crate::uci::DataSet;

/// The annotators in the order of the paper's table: name and setting.
pub const ANNOTATORS: [(&str, &str); 10] = [
    ("coarse k nearest neighbours", "k = 100"),
    ("medium k nearest neighbours", "k = 10"),
    ("fine k nearest neighbours", "k = 1"),
    ("cosine k nearest neighbours", "k = 10"),
    ("coarse tree", "4 splits"),
    ("medium tree", "20 splits"),
    ("fine tree", "100 splits"),
    ("linear SVM", "scale sqrt(P)"),
    ("quadratic SVM", "scale sqrt(P)"),
    ("coarse Gaussian SVM", "scale 4 sqrt(P)"),
];

/// Training rows that a support vector machine sees at most: its cost grows with their square.
pub const SVM_ROWS: usize = 2000;

/// Items with their true classes, and what each annotator says about each of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// Number of classes.
    pub classes: usize,
    /// The true class of each item.
    pub truth: Vec<u8>,
    /// `[annotator][item]`.
    pub answers: Vec<Vec<u8>>,
}

/// How a data set is cut into what the annotators learn from and what they label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Items to label.
    pub items: usize,
    /// Examples to learn from.
    pub train: usize,
    /// Whether each annotator learns from examples of its own, drawn from the whole data set, items included.
    pub redrawn: bool,
}

impl Panel {
    /// Draws items and training examples, trains the annotators and asks them.
    ///
    /// # Panics
    /// If the data set has fewer examples than that.
    pub fn train(set: &DataSet, cut: Cut, seed: u64) -> Result<Self> {
        let Cut {
            items,
            train,
            redrawn,
        } = cut;
        assert!(
            items + train <= set.labels.len() && train > 0,
            "not enough examples"
        );
        let mut rng = seeded(seed, 0);
        let mut order: Vec<u32> = (0..set.labels.len() as u32).collect();
        order.shuffle(&mut rng);
        let pick = |places: &[u32]| -> (FeatureRows, Vec<u8>) {
            let labels = places.iter().map(|&place| set.labels[place as usize]);
            (set.rows.select(places), labels.collect())
        };
        let (item_rows, truth) = pick(&order[..items]);
        let ask = |places: &[u32]| {
            let (rows, labels) = pick(places);
            ask_all(&rows, &labels, set.classes, &item_rows)
        };
        let mut answers = ask(&order[items..items + train])?;
        if redrawn {
            for (annotator, own) in answers.iter_mut().enumerate().skip(1) {
                order.shuffle(&mut rng);
                *own = ask(&order[..train])?.swap_remove(annotator);
            }
        }
        Ok(Self {
            classes: set.classes,
            answers,
            truth,
        })
    }

    /// Number of items.
    pub fn items(&self) -> usize {
        self.truth.len()
    }

    /// Share of right answers of each annotator.
    pub fn accuracies(&self) -> Vec<f64> {
        let right = |answers: &Vec<u8>| {
            let right = answers.iter().zip(&self.truth).filter(|(a, b)| a == b).count();
            right as f64 / self.truth.len() as f64
        };
        self.answers.iter().map(right).collect()
    }

    /// How many of the classes each annotator ever answers with. Fewer than all: its confusion matrix is
    /// singular.
    pub fn classes_answered(&self) -> Vec<usize> {
        let answered = |answers: &Vec<u8>| {
            (0..self.classes as u8)
                .filter(|class| answers.contains(class))
                .count()
        };
        self.answers.iter().map(answered).collect()
    }
}

/// The answers of all annotators, in the order of [`ANNOTATORS`].
fn ask_all(train: &FeatureRows, labels: &[u8], classes: usize, items: &FeatureRows) -> Result<Vec<Vec<u8>>> {
    let (scaled, scaled_items) = train.standardise(items);
    let near = |distance, neighbours: &[usize]| {
        neighbours::classify(distance, &scaled, labels, classes, &scaled_items, neighbours)
    };
    let mut answers = near(Distance::Euclid, &[100, 10, 1]);
    answers.extend(near(Distance::Cosine, &[10]));
    let trees: Vec<Vec<u8>> = [4, 20, 100]
        .into_par_iter()
        .map(|splits| {
            let tree = Tree::grow(train, labels, classes, splits);
            items.iter().map(|row| tree.classify(row)).collect()
        })
        .collect();
    answers.extend(trees);
    let seen: Vec<u32> = (0..train.len().min(SVM_ROWS) as u32).collect();
    let (few, few_labels) = (scaled.select(&seen), &labels[..seen.len()]);
    let root = (train.width as f32).sqrt();
    for (kernel, scale) in [
        (Kernel::Linear, root),
        (Kernel::Quadratic, root),
        (Kernel::Gaussian, 4.0 * root),
    ] {
        answers.push(svm::classify(
            kernel,
            scale,
            &few,
            few_labels,
            classes,
            &scaled_items,
        )?);
    }
    Ok(answers)
}
