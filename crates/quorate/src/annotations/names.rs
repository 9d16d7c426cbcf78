//! Interned names: each distinct string once, with a code in order of first appearance.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

/// Distinct strings in one buffer; a code is a position in order of first appearance.
#[derive(Debug, Clone, Default)]
pub struct Names {
    text: String,
    ends: Vec<usize>,
    index: HashTable<u32>,
}

impl Names {
    /// `prefix0, prefix1, ..`
    pub fn numbered(prefix: &str, count: usize) -> Self {
        let mut names = Self::default();
        for number in 0..count {
            names.intern(&format!("{prefix}{number}"));
        }
        names
    }

    /// The code of `name`, a new one if it was not seen before.
    pub fn intern(&mut self, name: &str) -> u32 {
        let hash = hash(name);
        let Self { text, ends, index } = self;
        if let Some(&code) = index.find(hash, |&code| slice(text, ends, code as usize) == name) {
            return code;
        }
        let code = ends.len() as u32;
        text.push_str(name);
        ends.push(text.len());
        let (text, ends) = (&*text, &*ends);
        index.insert_unique(hash, code, |&code| self::hash(slice(text, ends, code as usize)));
        code
    }

    /// The code of `name`, if it is known.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.index
            .find(hash(name), |&code| self.get(code as usize) == name)
            .copied()
    }

    /// The name with this code.
    pub fn get(&self, code: usize) -> &str {
        slice(&self.text, &self.ends, code)
    }

    /// Number of names.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The codes in the natural order of their names: by value if all of them are numbers, else by spelling. Does
    /// not depend on the order of appearance.
    pub fn natural_order(&self) -> Vec<usize> {
        let number = |name: &str| name.trim().parse().ok().filter(|value: &f64| value.is_finite());
        let values: Option<Vec<f64>> = self.iter().map(number).collect();
        let mut order: Vec<usize> = (0..self.len()).collect();
        match values {
            Some(values) => order.sort_by(|&a, &b| {
                let by_value = values[a].total_cmp(&values[b]);
                by_value.then_with(|| self.get(a).cmp(self.get(b)))
            }),
            None => order.sort_by(|&a, &b| self.get(a).cmp(self.get(b))),
        }
        order
    }

    /// All names in order of code.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + '_ {
        (0..self.len()).map(|code| self.get(code))
    }
}

impl PartialEq for Names {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.ends == other.ends
    }
}

impl<'a> FromIterator<&'a str> for Names {
    fn from_iter<I: IntoIterator<Item = &'a str>>(names: I) -> Self {
        let mut interned = Self::default();
        for name in names {
            interned.intern(name);
        }
        interned
    }
}

fn slice<'a>(text: &'a str, ends: &[usize], code: usize) -> &'a str {
    let start = if code == 0 { 0 } else { ends[code - 1] };
    &text[start..ends[code]]
}

fn hash(name: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(name.as_bytes());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_follow_first_appearance() {
        let mut names = Names::default();
        assert_eq!(
            [
                names.intern("b"),
                names.intern("a"),
                names.intern("b"),
                names.intern("")
            ],
            [0, 1, 0, 2]
        );
        assert_eq!(names.iter().collect::<Vec<_>>(), ["b", "a", ""]);
        assert_eq!((names.find("a"), names.find("c")), (Some(1), None));
        assert_eq!(names.natural_order(), [2, 1, 0]);
    }

    #[test]
    fn many_names_keep_their_codes() {
        let names = Names::numbered("worker-", 100_000);
        assert_eq!(names.len(), 100_000);
        assert!((0..100_000).all(|code| names.find(names.get(code)) == Some(code as u32)));
    }
}
