//! The order of the classes, which decides ties and what "ordinal" means.

use super::Names;

/// How classes are ordered when the caller gives no list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClassOrder {
    /// By value if all of them are numbers, else by spelling: independent of the order of rows.
    #[default]
    Natural,
    /// In order of first appearance.
    Appearance,
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
    fn numbers_go_by_value_and_words_by_spelling() {
        assert_eq!(sorted(&["10", "9", "-1"]), [2, 1, 0]);
        assert_eq!(sorted(&["10", "9", "x"]), [0, 1, 2]);
        assert_eq!(sorted(&["dog", "cat"]), [1, 0]);
        // Two spellings of one number are two classes, in a fixed order.
        assert_eq!(sorted(&["1.0", "1"]), [1, 0]);
    }
}
