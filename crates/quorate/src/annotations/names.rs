//! Interned names: each distinct string once, with a code in order of first appearance.

use std::hash::Hasher;
use std::sync::OnceLock;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

/// Distinct strings in one buffer; a code is a position in order of first appearance.
#[derive(Debug, Clone, Default)]
pub struct Names {
    text: String,
    ends: Vec<usize>,
    /// Made when it is first asked for: names that are only ever listed need none.
    index: OnceLock<HashTable<Entry>>,
}

/// Letters kept in the index itself: most ids are no longer, and then a look-up ends there, without a jump
/// into the text. In files in random order that jump is most of the time of reading.
const HEAD: usize = 11;

/// What the index knows of a name.
#[derive(Debug, Clone, Copy)]
struct Entry {
    code: u32,
    /// Length of the name; 255 stands for anything longer.
    length: u8,
    /// The first letters, zeros behind a shorter name.
    head: [u8; HEAD],
}

impl Entry {
    fn new(name: &str, code: u32) -> Self {
        let mut head = [0; HEAD];
        let kept = name.len().min(HEAD);
        head[..kept].copy_from_slice(&name.as_bytes()[..kept]);
        Self {
            code,
            length: name.len().min(255) as u8,
            head,
        }
    }

    fn is(&self, wanted: &Self, name: &str, text: &str, ends: &[usize]) -> bool {
        self.length == wanted.length
            && self.head == wanted.head
            && (name.len() <= HEAD || slice(text, ends, self.code as usize) == name)
    }

    fn hash(&self, text: &str, ends: &[usize]) -> u64 {
        match usize::from(self.length) {
            short if short <= HEAD => hash(&self.head[..short]),
            _ => hash(slice(text, ends, self.code as usize).as_bytes()),
        }
    }
}

impl Names {
    /// `prefix0, prefix1, ..`
    #[doc(hidden)]
    pub fn numbered(prefix: &str, count: usize) -> Self {
        Self::numbered_from(0, prefix, count)
    }

    /// Like [`numbered`](Self::numbered), from another number on.
    pub(crate) fn numbered_from(first: usize, prefix: &str, count: usize) -> Self {
        let mut names = Self::default();
        (first..first + count).for_each(|number| _ = names.intern(&format!("{prefix}{number}")));
        names
    }

    /// Distinct names from their text, one behind the other, and where each ends; none if the ends do not cut
    /// the text into names. That they are distinct is up to the caller.
    #[doc(hidden)]
    pub fn from_text(text: String, ends: Vec<usize>) -> Option<Self> {
        let cut = ends.is_sorted() && ends.last().copied().unwrap_or(0) == text.len();
        let whole = cut && ends.iter().all(|&end| text.is_char_boundary(end));
        let index = OnceLock::new();
        whole.then_some(Self { text, ends, index })
    }

    /// Appends names that are not there yet; nobody looks whether they are.
    pub(super) fn append<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        self.index = OnceLock::new();
        for name in names {
            self.text.push_str(name);
            self.ends.push(self.text.len());
        }
    }

    /// The names that `keep` accepts, and the new code of each old one that is kept.
    pub(super) fn keep(&self, mut keep: impl FnMut(&str) -> bool) -> (Self, Vec<Option<u32>>) {
        let mut kept = Self::default();
        let code = |name| keep(name).then(|| kept.intern(name));
        let codes = self.iter().map(code).collect();
        (kept, codes)
    }

    fn index(&self) -> &HashTable<Entry> {
        self.index.get_or_init(|| {
            let mut index = HashTable::with_capacity(self.len());
            for code in 0..self.len() {
                let entry = Entry::new(self.get(code), code as u32);
                let hash = |known: &Entry| known.hash(&self.text, &self.ends);
                index.insert_unique(hash(&entry), entry, hash);
            }
            index
        })
    }

    /// The code of `name`, a new one if it was not seen before.
    pub fn intern(&mut self, name: &str) -> u32 {
        let hash = hash(name.as_bytes());
        let entry = Entry::new(name, self.ends.len() as u32);
        self.index();
        let Self { text, ends, index } = self;
        let index = index.get_mut().expect("the index was made above");
        if let Some(known) = index.find(hash, |known| known.is(&entry, name, text, ends)) {
            return known.code;
        }
        text.push_str(name);
        ends.push(text.len());
        let (text, ends) = (&*text, &*ends);
        index.insert_unique(hash, entry, |known| known.hash(text, ends));
        entry.code
    }

    /// The code of `name`, if it is known.
    pub fn find(&self, name: &str) -> Option<u32> {
        let wanted = Entry::new(name, 0);
        let is_wanted = |known: &Entry| known.is(&wanted, name, &self.text, &self.ends);
        let known = self.index().find(hash(name.as_bytes()), is_wanted);
        known.map(|known| known.code)
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

    /// The codes in the natural order of their names: by value if all of them are numbers, else by spelling.
    /// Does not depend on the order of appearance.
    pub fn natural_order(&self) -> Vec<usize> {
        let number = |name: &str| name.trim().parse().ok().filter(|value: &f64| value.is_finite());
        let values: Option<Vec<f64>> = self.iter().map(number).collect();
        // Without numbers all are alike, and spelling decides.
        let values = values.unwrap_or_else(|| vec![0.0; self.len()]);
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by(|&a, &b| {
            let by_value = values[a].total_cmp(&values[b]);
            by_value.then_with(|| self.get(a).cmp(self.get(b)))
        });
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
        names.into_iter().for_each(|name| _ = interned.intern(name));
        interned
    }
}

fn slice<'a>(text: &'a str, ends: &[usize], code: usize) -> &'a str {
    let start = if code == 0 { 0 } else { ends[code - 1] };
    &text[start..ends[code]]
}

fn hash(name: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(name);
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
    fn long_names_and_names_alike_at_the_start_are_told_apart() {
        let long = "x".repeat(300);
        let names: Vec<String> = vec![
            "abcdefghijk".into(),
            "abcdefghijkl".into(),
            "abcdefghijkm".into(),
            "a\0".into(),
            "a".into(),
            long.clone(),
            format!("{long}y"),
            format!("{long}z"),
            "x".repeat(255),
        ];
        let interned: Names = names.iter().map(String::as_str).collect();
        assert_eq!(interned.len(), names.len());
        for (code, name) in names.iter().enumerate() {
            assert_eq!(interned.find(name), Some(code as u32), "{name:?}");
        }
        assert_eq!(interned.find("abcdefghij"), None);
    }

    #[test]
    fn a_text_is_cut_into_names_or_refused() {
        let cut = |text: &str, ends: &[usize]| Names::from_text(text.to_owned(), ends.to_vec());
        let mut names = cut("abc\u{e9}", &[1, 3, 5]).unwrap();
        assert_eq!(names.iter().collect::<Vec<_>>(), ["a", "bc", "\u{e9}"]);
        assert_eq!(names.find("bc"), Some(1));
        names.append(["new"].into_iter());
        assert_eq!((names.find("new"), names.intern("bc")), (Some(3), 1));
        for ends in [&[3, 1, 5][..], &[1, 4, 5], &[1, 3], &[1, 9], &[]] {
            assert_eq!(cut("abc\u{e9}", ends), None, "{ends:?}");
        }
    }

    #[test]
    fn many_names_keep_their_codes() {
        let names = Names::numbered("worker-", 100_000);
        assert_eq!(names.len(), 100_000);
        assert!((0..100_000).all(|code| names.find(names.get(code)) == Some(code as u32)));
    }
}
