//! Sorted runs of names: a name above all names before it is new, so sorted ids skip the hash table.
//!
//! Files grouped by task are sorted by the task's id more often than not: as numbers (`t9` before `t10`:
//! shorter names first) or by spelling (`t10` before `t9`).

use rayon::prelude::*;

use super::key::Key;
use super::mentions::MentionsIn;

/// The orders in which all names so far are sorted, and the last of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct SortedRun {
    shorter_first: bool,
    by_spelling: bool,
    last: Option<Key>,
}

impl SortedRun {
    /// No names yet.
    pub(super) fn new() -> Self {
        Self {
            shorter_first: true,
            by_spelling: true,
            last: None,
        }
    }

    /// What is left after these names, and for each part whether it starts with the name that came last, as
    /// happens where a part ends inside a task; none if they are not sorted.
    pub(super) fn extend(self, parts: &[MentionsIn<'_>]) -> Option<(Self, Vec<bool>)> {
        let inside: Vec<Self> = parts
            .par_iter()
            .map(|(mentions, _)| Self::new().all(&mentions.keys))
            .collect();
        let mut so_far = self;
        let mut going_on = vec![false; parts.len()];
        for (((mentions, _), inside), going_on) in parts.iter().zip(inside).zip(&mut going_on) {
            let Some(&first) = mentions.keys.first() else {
                continue;
            };
            *going_on = so_far.last == Some(first);
            if !*going_on {
                so_far = so_far.then(first);
            }
            so_far = Self {
                shorter_first: so_far.shorter_first && inside.shorter_first,
                by_spelling: so_far.by_spelling && inside.by_spelling,
                last: inside.last,
            };
        }
        (so_far.shorter_first || so_far.by_spelling).then_some((so_far, going_on))
    }

    fn all(self, keys: &[Key]) -> Self {
        keys.iter().fold(self, |run, &key| run.then(key))
    }

    #[inline(always)]
    fn then(self, key: Key) -> Self {
        let (spelling, known) = (key.spelling(), !key.is_long());
        let Some(last) = self.last else {
            return Self {
                shorter_first: self.shorter_first && known,
                by_spelling: self.by_spelling && known,
                last: Some(key),
            };
        };
        let before = (last.length(), last.spelling());
        Self {
            shorter_first: self.shorter_first && known && before < (key.length(), spelling),
            by_spelling: self.by_spelling && known && before.1 < spelling,
            last: Some(key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::mentions::Mentions;
    use super::*;

    fn is_sorted(parts: &[&[&str]]) -> bool {
        let parts: Vec<Mentions> = parts
            .iter()
            .map(|names| {
                let mut mentions = Mentions::default();
                for name in *names {
                    mentions.push(Key::of(name.as_bytes()).unwrap(), 0);
                }
                mentions
            })
            .collect();
        let parts: Vec<MentionsIn<'_>> = parts.iter().map(|part| (part, &b""[..])).collect();
        SortedRun::new().extend(&parts).is_some()
    }

    #[test]
    fn numbers_and_spelling_are_sorted() {
        assert!(is_sorted(&[&["t1", "t9"], &[], &["t10", "t99"], &["t100"]]));
        assert!(is_sorted(&[&["t1", "t10"], &["t2", "t20", "t3"]]));
        assert!(is_sorted(&[&["a", "aa", "b"]]));
        assert!(is_sorted(&[&["t1", "t2"], &["t2"], &[], &["t2", "t3"]]));
        assert!(is_sorted(&[]));
    }

    #[test]
    fn what_repeats_falls_or_is_long_is_not_sorted() {
        assert!(!is_sorted(&[&["t1", "t1"]]));
        assert!(!is_sorted(&[&["t1", "t2"], &["t2", "t1"]]));
        assert!(!is_sorted(&[&["t1", "t10", "t2", "t100", "t3"]]));
        assert!(!is_sorted(&[&["t2"], &["t1"]]));
        assert!(!is_sorted(&[&["a-name-longer-than-a-key"]]));
        assert!(!is_sorted(&[&["a", "a\0"]]));
    }
}
