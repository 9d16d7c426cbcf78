//! How sure the labels are: a histogram of the confidence.

use super::Section;
use crate::figure::{Axis, Figure, Mark, Panel, Series};
use crate::page::Report;
use crate::text::{count, percent};

const BINS: usize = 20;

pub(crate) fn section(report: &Report<'_>) -> Section {
    let consensus = &report.fit.consensus;
    let mut bins = [0usize; BINS];
    for task in 0..consensus.len() {
        let bin = (consensus.confidence(task) * BINS as f64) as usize;
        bins[bin.min(BINS - 1)] += 1;
    }
    let width = 1.0 / BINS as f64;
    let points = bins
        .iter()
        .enumerate()
        .filter(|(_, tasks)| **tasks > 0)
        .map(|(bin, &tasks)| (100.0 * (bin as f64 + 0.5) * width, tasks as f64))
        .collect();
    let figure = Figure {
        name: "confidence".into(),
        caption: "Histogram of the confidence of the labels".into(),
        panels: vec![Panel {
            title: "Labels by confidence".into(),
            x: Axis::linear("confidence, %"),
            y: Axis::linear("tasks"),
            series: vec![Series::new("", Mark::Bars(90.0 * width), points)],
        }],
    };
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
        figure.to_inline_svg()
    );
    Section {
        id: "confidence",
        title: "Confidence",
        body,
    }
}
