//! How sure the labels are: a histogram of the confidence.

use super::Section;
use crate::figure::confidence;
use crate::page::Report;
use crate::text::{count, percent};

pub(crate) fn section(report: &Report<'_>) -> Section {
    let consensus = &report.fit.consensus;
    let above = |limit: f64| {
        (0..consensus.len())
            .filter(|&task| consensus.confidence(task) >= limit)
            .count()
    };
    let body = format!(
        "<p>{} of {} labels have a confidence of at least 95 %, {} of at least 99 %. The mean confidence is {}.</p>\n\
         <div class=\"chart\">{}</div>\n",
        count(above(0.95)),
        count(consensus.len()),
        count(above(0.99)),
        percent(1.0 - consensus.expected_error()),
        confidence::histogram(consensus).to_inline_svg()
    );
    Section::new("confidence", "Confidence", body)
}
