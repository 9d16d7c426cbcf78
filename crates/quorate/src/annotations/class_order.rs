//! The order of the classes, which decides ties and what "ordinal" means.

use rayon::prelude::*;

use super::{Annotations, MAX_CLASSES, Names, check_count};
use crate::error::Result;

/// How classes are ordered when the caller gives no list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClassOrder {
    /// By value if all of them are numbers, else by spelling: independent of the order of rows.
    #[default]
    Natural,
    /// In order of first appearance.
    Appearance,
}

impl ClassOrder {
    /// The classes in this order, and the new code of each old one.
    #[doc(hidden)]
    pub fn arrange(self, classes: &Names) -> (Names, Vec<u16>) {
        let order = match self {
            Self::Natural => classes.natural_order(),
            Self::Appearance => (0..classes.len()).collect(),
        };
        let mut codes = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            codes[old] = new as u16;
        }
        (order.into_iter().map(|old| classes.get(old)).collect(), codes)
    }
}

impl Annotations {
    /// The same labels with further classes that a task may truly have though no worker named them; all
    /// classes in natural order. Known truths are kept.
    pub fn with_classes<'a>(mut self, more: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        more.into_iter().for_each(|class| _ = self.classes.intern(class));
        check_class_count(&self.classes)?;
        Ok(self.with_class_order(ClassOrder::Natural))
    }

    /// The same labels with classes in this order, where [`ClassOrder::Appearance`] is the order that they
    /// have. Known truths are kept.
    pub fn with_class_order(mut self, order: ClassOrder) -> Self {
        let (classes, codes) = order.arrange(&self.classes);
        self.recode(classes, &codes);
        self
    }

    /// Gives labels and known truths new codes of these classes.
    pub(super) fn recode(&mut self, classes: Names, codes: &[u16]) {
        self.classes = classes;
        // Classes that stand in order keep their codes.
        if codes
            .iter()
            .enumerate()
            .all(|(old, &new)| old == usize::from(new))
        {
            return;
        }
        let labels = self.block.label.par_iter_mut().with_min_len(1 << 16);
        labels.for_each(|label| *label = codes[usize::from(*label)]);
        for truth in &mut self.block.gold {
            if let Some(&code) = codes.get(*truth as usize) {
                *truth = u32::from(code);
            }
        }
        self.by_worker = Default::default();
    }
}

/// Refuses more classes than labels can be written with.
pub(super) fn check_class_count(classes: &Names) -> Result<()> {
    check_count("classes", classes.len(), MAX_CLASSES, "merge rare classes")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(classes: &[&str]) -> Vec<u16> {
        ClassOrder::Natural.arrange(&classes.iter().copied().collect()).1
    }

    #[test]
    fn further_classes_find_their_place() {
        let annotations = Annotations::from_codes(2, 1, 2, [(0, 0, 0), (1, 0, 1)])
            .and_then(|annotations| annotations.with_gold([(0, 1)]))
            .and_then(|annotations| annotations.with_classes(["0.5", "1"]))
            .unwrap();
        assert_eq!(
            annotations.classes().iter().collect::<Vec<_>>(),
            ["0", "0.5", "1"]
        );
        let labels: Vec<_> = annotations.iter().map(|(_, _, label)| label).collect();
        assert_eq!((labels, annotations.gold(0)), (vec![0, 2], Some(2)));
        assert_eq!(
            annotations.by_worker().labels(0).collect::<Vec<_>>(),
            [(0, 0), (1, 2)]
        );
    }

    #[test]
    fn codes_follow_the_order_that_is_asked_for() {
        let classes: Names = ["b", "c", "a"].into_iter().collect();
        let (natural, codes) = ClassOrder::Natural.arrange(&classes);
        assert_eq!(natural.iter().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(codes, [1, 2, 0]);
        assert_eq!(ClassOrder::Appearance.arrange(&classes), (classes, vec![0, 1, 2]));
    }

    #[test]
    fn numbers_go_by_value_and_words_by_spelling() {
        assert_eq!(sorted(&["10", "9", "-1"]), [2, 1, 0]);
        assert_eq!(sorted(&["10", "9", "x"]), [0, 1, 2]);
        assert_eq!(sorted(&["dog", "cat"]), [1, 0]);
        // Two spellings of one number are two classes, in a fixed order.
        assert_eq!(sorted(&["1.0", "1"]), [1, 0]);
    }
}
