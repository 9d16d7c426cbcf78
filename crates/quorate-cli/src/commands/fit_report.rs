//! What is said of a fit when its labels are written, wherever the labels were kept.

use quorate::methods::Method;

use crate::printer::Printer;
use crate::text_table::{duration, plural};

/// What there is to say.
pub(super) struct FitReport<'a> {
    pub method: &'a Method,
    /// How much was labelled, in words.
    pub size: String,
    pub seconds: f64,
    pub iterations: usize,
    pub converged: bool,
    /// Tasks whose label is not that of majority vote.
    pub changed: usize,
    /// Share of the labels that are wrong if the confidence is right.
    pub expected_error: f64,
    pub tied_tasks: usize,
}

impl FitReport<'_> {
    /// Warns of a fit that had not settled.
    pub(super) fn warn(&self, printer: &mut Printer) {
        if !self.converged {
            printer.warning(format!(
                "{} had not settled after {}; more may change a few labels (see its parameters: quorate methods {})",
                self.method.name,
                plural(self.iterations, "iteration"),
                self.method.name
            ));
        }
    }

    /// Sums the run up.
    pub(super) fn sum_up(&self, printer: &mut Printer) {
        let iterations = match self.iterations {
            0 => String::new(),
            number => format!(", {}", plural(number, "iteration")),
        };
        printer.note(format!(
            "{}: {}; {}{iterations}; differs from majority vote on {}",
            self.method.name,
            self.size,
            duration(self.seconds),
            plural(self.changed, "task")
        ));
        printer.note(format!(
            "by their own confidence {:.1} % of the labels are wrong",
            100.0 * self.expected_error
        ));
        if self.tied_tasks > 0 {
            printer.note(format!(
                "{} tied: the lowest class was taken",
                plural(self.tied_tasks, "task")
            ));
        }
    }
}
