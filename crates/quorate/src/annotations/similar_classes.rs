//! Classes that look alike: the same answer written in different ways.
//!
//! Two classes are alike if they differ only in the case of letters, in white space, or in the way that a
//! number is written (`1`, `1.0`, `01`). The same number is always the same class in the eyes of its reader;
//! other pairs may differ on purpose, so they are only pointed out.

use std::collections::BTreeMap;

use super::{Annotations, Names};

/// In which way classes are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Similarity {
    /// The same number, written in different ways.
    Number,
    /// The same words but for case and white space.
    Spelling,
}

/// Classes that are alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimilarClasses {
    /// In which way.
    pub similarity: Similarity,
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
        let similarity = if number {
            Similarity::Number
        } else {
            Similarity::Spelling
        };
        SimilarClasses { similarity, codes }
    };
    let groups = groups.into_iter().filter(|(_, codes)| codes.len() > 1);
    let mut groups: Vec<SimilarClasses> = groups.map(similar).collect();
    groups.sort_by_key(|group| group.codes[0]);
    groups
}

impl SimilarClasses {
    /// The same group, where the class with the most labels stands for all of them.
    pub fn led_by_most_frequent(mut self, counts: &[u64]) -> Self {
        let count = |&code: &u16| std::cmp::Reverse(counts[usize::from(code)]);
        self.codes.sort_by_key(count);
        self
    }
}

/// What a class comes to without case, white space and the way of writing a number, and whether it is a
/// number.
fn canonical(name: &str) -> (bool, String) {
    let words: Vec<&str> = name.split_whitespace().collect();
    let text = words.join(" ").to_lowercase();
    match canonical_number(&text) {
        Some(number) => (true, number),
        None => (false, text),
    }
}

/// One text for each number. Whole numbers are compared digit by digit: as floats, those above 2^53 that
/// differ can be equal.
fn canonical_number(text: &str) -> Option<String> {
    let value: f64 = text.parse().ok()?;
    // Words such as `nan` and `inf` are parsed as numbers, and are none here.
    let digits = text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first));
    if !digits || !value.is_finite() {
        return None;
    }
    // The sum makes one zero of the two.
    Some(whole_number(text).unwrap_or_else(|| (value + 0.0).to_string()))
}

/// The digits of a number that is whole, however it is written (`12`, `+012.0`, `1.2e1`).
fn whole_number(text: &str) -> Option<String> {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let exponent: i64 = exponent.parse().ok()?;
    let (sign, unsigned) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa.strip_prefix('+').unwrap_or(mantissa)),
    };
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Some("0".to_owned());
    }
    let dropped = digits.len() - significant.len();
    let zeros = exponent
        .checked_add(dropped as i64)?
        .checked_sub(fraction.len() as i64)?;
    let zeros = usize::try_from(zeros).ok()?;
    Some(format!("{sign}{}e{zeros}", significant.trim_start_matches('0')))
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
    #[doc(hidden)]
    pub fn with_joined_classes(mut self, groups: &[SimilarClasses]) -> Self {
        let (classes, codes) = join_codes(&self.classes, groups);
        self.recode(classes, &codes);
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
    let leads = |code: &usize| usize::from(stands_for[*code]) == *code;
    let left: Names = (0..classes.len())
        .filter(leads)
        .map(|code| classes.get(code))
        .collect();
    let code = |&of: &u16| left.find(classes.get(usize::from(of))).unwrap_or(0) as u16;
    let codes = stands_for.iter().map(code).collect();
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
        assert_eq!(found[0].similarity, Similarity::Number);
        assert_eq!(found[1].similarity, Similarity::Spelling);
        assert!(find_similar(&names(&["1", "11", "a", "b"])).is_empty());
    }

    #[test]
    fn whole_numbers_are_the_same_only_digit_by_digit() {
        // 2^53 + 1 has no float of its own.
        let classes = names(&["9007199254740992", "9007199254740993", "18446744073709551615"]);
        assert!(find_similar(&classes).is_empty());
        let same = names(&[
            "9007199254740993",
            "+9007199254740993.0",
            "09007199254740993",
            "9007199254740992",
        ]);
        assert_eq!(find_similar(&same)[0].codes, [0, 2, 1]);
        let same = names(&[
            "100", "1e2", "1.00E2", "1000e-1", "-100", "0.5", ".50", "5e-1", "0", "-0.0", "0e9",
        ]);
        let codes: Vec<_> = find_similar(&same).into_iter().map(|group| group.codes).collect();
        assert_eq!(codes, [vec![0, 1, 2, 3], vec![5, 6, 7], vec![8, 10, 9]]);
        let huge = names(&[
            "1e9223372036854775807",
            "1e99999999999999999999",
            "1e-400",
            "1e+5",
        ]);
        assert!(find_similar(&huge).is_empty());
    }

    #[test]
    fn the_most_frequent_spelling_can_stand_for_its_group() {
        let found = find_similar(&names(&["no", "yes", "Yes", " yes "]));
        let led = found[0].clone().led_by_most_frequent(&[9, 1, 5, 5]);
        assert_eq!(led.codes, [2, 3, 1]);
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
