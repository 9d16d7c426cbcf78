//! Workers and classes of an input that is read in parts, in parallel.

use quorate::annotations::{ClassOrder, MAX_CLASSES, Names};
use rayon::prelude::*;

use super::Irregular;
use super::interner::{Interner, MAX_NAMES};
use super::key::Key;
use super::mentions::{Mentions, MentionsIn};
use super::parts::{Part, PartRead};

/// The workers and classes so far, with codes in order of appearance, and how many rows there were.
#[derive(Debug)]
pub struct Vocabulary {
    pub(super) workers: Interner,
    classes: Interner,
    /// None if the classes were given.
    class_order: Option<ClassOrder>,
    pub(super) missing: Vec<String>,
    rows: u64,
    abstentions: u64,
}

impl Vocabulary {
    /// Only these classes, if there is a list; labels in `missing`, and the empty one, are abstentions. None
    /// where the list of classes is left to the row by row reader: it repeats one, or has a long name.
    pub fn new(classes: Option<&[String]>, class_order: ClassOrder, missing: &[String]) -> Option<Self> {
        let mut known = Interner::default();
        if let Some(classes) = classes {
            let mut mentions = Mentions::default();
            for class in classes {
                // The keys of long names do not hold them.
                mentions.push(Key::of(class.as_bytes()).filter(|key| !key.is_long())?, 0);
            }
            known.resolve(&[(&mentions, &[])]);
            if known.len() != classes.len() || known.len() > MAX_CLASSES {
                return None;
            }
        }
        Some(Self {
            workers: Interner::default(),
            classes: known,
            class_order: classes.is_none().then_some(class_order),
            missing: missing.to_vec(),
            rows: 0,
            abstentions: 0,
        })
    }

    /// An empty part, ready for rows, in the memory of one that was taken.
    pub fn part(&self, used: PartRead) -> Part<'_> {
        Part::new(self, used)
    }

    /// Adds the names that a round of parts mentions, in the order of the input, and gives codes to their
    /// labels.
    pub fn learn(&mut self, parts: &mut [PartRead]) -> Result<(), Irregular> {
        let workers = self.workers.resolve(&mentions(parts, |part| &part.workers));
        let classes_before = self.classes.len();
        let classes = self.classes.resolve(&mentions(parts, |part| &part.classes));
        if self.class_order.is_none() && self.classes.len() > classes_before {
            return Err(Irregular);
        }
        if self.workers.len() > MAX_NAMES || self.classes.len() > MAX_CLASSES {
            return Err(Irregular);
        }
        for part in &*parts {
            self.rows += part.rows;
            self.abstentions += part.rows - part.label.len() as u64;
        }
        parts
            .par_iter_mut()
            .zip(workers)
            .zip(classes)
            .for_each(|((part, workers), classes)| part.recode(&workers, &classes));
        Ok(())
    }

    /// Rows so far, and how many of them are abstentions.
    pub fn rows(&self) -> (u64, u64) {
        (self.rows, self.abstentions)
    }

    /// The order in which classes are to stand; none if they were given.
    pub(super) fn class_order(&self) -> Option<ClassOrder> {
        self.class_order
    }

    /// The workers and the classes, in order of appearance; none if there is text that is not UTF-8.
    pub fn into_names(self) -> Option<(Names, Names)> {
        Some((self.workers.into_names()?, self.classes.into_names()?))
    }
}

/// One kind of names that parts mention.
pub(super) fn mentions(parts: &[PartRead], select: fn(&PartRead) -> &Mentions) -> Vec<MentionsIn<'_>> {
    parts.iter().map(|part| (select(part), &part.text[..])).collect()
}
