//! What is said on the way: by the program to the terminal, by another face as it likes.

use crate::printer::Printer;

/// Where messages go, and what options are called there.
pub trait Messages {
    /// Something worth knowing.
    fn note(&mut self, text: String);

    /// Something to beware of.
    fn warning(&mut self, text: String);

    /// An option in the words of this face: `--use-gold`, `use_gold`.
    fn option(&self, name: &str) -> String;

    /// An option with a value: `--both-bad drop`, `both_bad="drop"`.
    fn value(&self, name: &str, value: &str) -> String {
        format!("{} {value}", self.option(name))
    }

    /// An option that is switched on: `--use-gold`, `use_gold=True`.
    fn switch(&self, name: &str) -> String {
        self.option(name)
    }
}

impl Messages for Printer {
    fn note(&mut self, text: String) {
        Printer::note(self, text);
    }

    fn warning(&mut self, text: String) {
        Printer::warning(self, text);
    }

    fn option(&self, name: &str) -> String {
        format!("--{name}")
    }
}
