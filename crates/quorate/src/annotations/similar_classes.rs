//! Classes that look alike: the same answer written in different ways.
//!
//! Two classes are alike if they differ only in the case of letters, in white space, or in the way that a
//! number is written (`1`, `1.0`, `01`). The same number is always the same class in the eyes of its reader;
//! other pairs may differ on purpose, so they are only pointed out.

use std::collections::BTreeMap;

use super::{Annotations, Names};

/// In which way classes are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likeness {
    /// The same number, written in different ways.
    Number,
    /// The same words but for case and white space.
    Spelling,
}

/// Classes that are alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimilarClasses {
    /// In which way.
    pub similarity: Likeness,
    /// Their codes, the one that stands for all of them first: the shortest, then the first in order.
    pub codes: Vec<u16>,
}

/// Groups of classes that look alike.
pub fn find_similar(classes: &Names) -> Vec<SimilarClasses> {
    let mut groups: BTreeMap<(bool, String), Vec<u16>> = BTreeMap::new();
    for (code, name) in classes.iter().enumerate() {
        groups.entry(canonical(name)).or_default().push(code as u16);
    }
    let similar = |((number, _), mut codes): ((bool, String), Vec<u16>)| {
        codes.sort_by_key(|&code| (classes.get(usize::from(code)).len(), code));
        SimilarClasses {
            similarity: if number {
                Likeness::Number
            } else {
                Likeness::Spelling
            },
            codes,
        }
    };
    let groups = groups.into_iter().filter(|(_, codes)| codes.len() > 1);
    let mut groups: Vec<SimilarClasses> = groups.map(similar).collect();
    groups.sort_by_key(|group| group.codes[0]);
    groups
}

/// What a class comes to without case, white space and the way of writing a number, and whether it is a
/// number.
fn canonical(name: &str) -> (bool, String) {
    let words: Vec<&str> = name.split_whitespace().collect();
    let text = words.join(" ").to_lowercase();
    // Words such as `nan` and `inf` are parsed as numbers, and are none here.
    let digits = text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first));
    match text
        .parse::<f64>()
        .ok()
        .filter(|value| digits && value.is_finite())
    {
        // The sum makes one zero of the two.
        Some(value) => (true, (value + 0.0).to_string()),
        None => (false, text),
    }
}

/// Names of classes that other programs write for a missing answer.
pub fn looks_missing(class: &str) -> bool {
    let class = class.trim().to_lowercase();
    matches!(
        &class[..],
        "na" | "n/a" | "#n/a" | "nan" | "none" | "null" | "nil" | "missing" | "unknown" | "-" | "?" | ""
    )
}

impl Annotations {
    /// The same labels with each group of classes made one, named by the first of the group. Known truths
    /// follow.
    pub fn with_joined_classes(mut self, groups: &[SimilarClasses]) -> Self {
        let (classes, codes) = join_codes(&self.classes, groups);
        self.classes = classes;
        self.label
            .iter_mut()
            .for_each(|label| *label = codes[usize::from(*label)]);
        for truth in self.gold.iter_mut().flatten() {
            if let Some(&code) = codes.get(*truth as usize) {
                *truth = u32::from(code);
            }
        }
        self.by_worker = Default::default();
        self
    }
}

/// The classes that are left when groups of them are joined, and the new code of each old one.
pub fn join_codes(classes: &Names, groups: &[SimilarClasses]) -> (Names, Vec<u16>) {
    let mut stands_for: Vec<u16> = (0..classes.len()).map(|code| code as u16).collect();
    for group in groups {
        for &code in &group.codes {
            stands_for[usize::from(code)] = group.codes[0];
        }
    }
    let mut left = Names::default();
    for (code, name) in classes.iter().enumerate() {
        if usize::from(stands_for[code]) == code {
            left.intern(name);
        }
    }
    let codes = stands_for
        .iter()
        .map(|&code| left.find(classes.get(usize::from(code))).unwrap_or(0) as u16)
        .collect();
    (left, codes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Names {
        names.iter().copied().collect()
    }

    #[test]
    fn numbers_and_spellings_are_told_apart() {
        let classes = names(&[
            "1", "1.0", "2", "Yes", " yes ", "YES", "no", "-0", "0.0", "nan", "1e0",
        ]);
        let found = find_similar(&classes);
        let by_name = |group: &SimilarClasses| -> Vec<&str> {
            let codes = group.codes.iter();
            codes.map(|&code| classes.get(usize::from(code))).collect()
        };
        assert_eq!(
            found.iter().map(by_name).collect::<Vec<_>>(),
            [
                vec!["1", "1.0", "1e0"],
                vec!["Yes", "YES", " yes "],
                vec!["-0", "0.0"]
            ]
        );
        assert_eq!(found[0].similarity, Likeness::Number);
        assert_eq!(found[1].similarity, Likeness::Spelling);
        assert!(find_similar(&names(&["1", "11", "a", "b"])).is_empty());
    }

    #[test]
    fn joined_classes_are_one_and_gold_follows() {
        let classes = names(&["1", "1.0", "2"]);
        let table = Annotations::from_named_codes(
            names(&["t", "u"]),
            names(&["a", "b"]),
            classes,
            [(0, 0, 0), (0, 1, 1), (1, 0, 2)],
        );
        let table = table.unwrap().with_gold([(1, 2), (0, 1)]).unwrap();
        let groups = find_similar(table.classes());
        let joined = table.with_joined_classes(&groups);
        assert_eq!(joined.classes().iter().collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(
            joined.iter().collect::<Vec<_>>(),
            [(0, 0, 0), (0, 1, 0), (1, 0, 1)]
        );
        assert_eq!((joined.gold(0), joined.gold(1)), (Some(0), Some(1)));
    }

    #[test]
    fn words_for_missing_answers() {
        assert!(looks_missing("N/A") && looks_missing(" None ") && !looks_missing("no"));
    }
}
