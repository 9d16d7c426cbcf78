//! The order of the classes, which decides ties and what "ordinal" means.

use super::{Annotations, MAX_CLASSES, Names};
use crate::error::{Error, Result};

/// How classes are ordered when the caller gives no list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClassOrder {
    /// By value if all of them are numbers, else by spelling: independent of the order of rows.
    #[default]
    Natural,
    /// In order of first appearance.
    Appearance,
}

impl Annotations {
    /// The same labels with further classes that a task may truly have though no worker named them; all classes in
    /// natural order. Known truths are kept.
    pub fn with_classes<'a>(mut self, more: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let mut all = self.classes.clone();
        more.into_iter().for_each(|class| {
            all.intern(class);
        });
        check_class_count(&all)?;
        let codes = natural_codes(&all);
        self.classes = in_natural_order(&all);
        for label in &mut self.label {
            *label = codes[*label as usize];
        }
        for truth in self.gold.iter_mut().flatten() {
            if let Some(&code) = codes.get(*truth as usize) {
                *truth = u32::from(code);
            }
        }
        self.by_worker = Default::default();
        Ok(self)
    }
}

/// Refuses more classes than labels can be written with.
pub(super) fn check_class_count(classes: &Names) -> Result<()> {
    match classes.len() > MAX_CLASSES {
        true => Err(Error::TooMany {
            what: "classes",
            limit: MAX_CLASSES,
            hint: "merge rare classes",
        }),
        false => Ok(()),
    }
}

/// The same classes in natural order.
pub(super) fn in_natural_order(classes: &Names) -> Names {
    let order = classes.natural_order().into_iter();
    order.map(|old| classes.get(old)).collect()
}

/// New code for each old code, so that codes follow the natural order.
pub(super) fn natural_codes(classes: &Names) -> Vec<u16> {
    let order = classes.natural_order();
    let mut codes = vec![0; order.len()];
    for (new, &old) in order.iter().enumerate() {
        codes[old] = new as u16;
    }
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(classes: &[&str]) -> Vec<u16> {
        natural_codes(&classes.iter().copied().collect())
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
    fn numbers_go_by_value_and_words_by_spelling() {
        assert_eq!(sorted(&["10", "9", "-1"]), [2, 1, 0]);
        assert_eq!(sorted(&["10", "9", "x"]), [0, 1, 2]);
        assert_eq!(sorted(&["dog", "cat"]), [1, 0]);
        // Two spellings of one number are two classes, in a fixed order.
        assert_eq!(sorted(&["1.0", "1"]), [1, 0]);
    }
}
