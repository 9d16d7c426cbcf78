//! The sections of the page, one file each.

mod agreement;
mod classes;
mod confidence;
mod convergence;
mod coverage;
mod majority;
mod plan;
mod tasks;
mod truth;
mod workers;

use crate::page::{Facts, Report};

/// One section.
pub(crate) struct Section {
    /// Where links lead.
    pub(crate) id: &'static str,
    /// Its head.
    pub(crate) title: &'static str,
    /// Its HTML.
    pub(crate) body: String,
}

/// All sections that have something to say, in the order of the page.
pub(crate) fn all(report: &Report<'_>, facts: &Facts) -> Vec<Section> {
    let sections = [
        Some(tasks::section(facts, report)),
        Some(workers::section(report)),
        Some(classes::section(report)),
        Some(confidence::section(report)),
        truth::section(report),
        Some(majority::section(report, facts)),
        agreement::section(report),
        coverage::section(report),
        report
            .evidence
            .plan
            .as_ref()
            .map(|planned| plan::section(report, planned)),
        convergence::section(report),
    ];
    sections.into_iter().flatten().collect()
}
