//! How sure the labels are: a histogram of the confidence.

use quorate::model::Consensus;

use super::{Axis, Figure, Mark, Panel, Series};

const BINS: usize = 20;

/// Tasks by the confidence of their label, in percent.
pub fn histogram(consensus: &Consensus) -> Figure {
    let mut bins = [0usize; BINS];
    for task in 0..consensus.len() {
        let bin = (consensus.confidence(task) * BINS as f64) as usize;
        bins[bin.min(BINS - 1)] += 1;
    }
    let width = 100.0 / BINS as f64;
    let points = bins
        .iter()
        .enumerate()
        .filter(|(_, tasks)| **tasks > 0)
        .map(|(bin, &tasks)| ((bin as f64 + 0.5) * width, tasks as f64))
        .collect();
    Figure {
        name: "confidence".into(),
        caption: "Histogram of the confidence of the labels".into(),
        panels: vec![Panel {
            title: "Labels by confidence".into(),
            x: Axis::linear("confidence, %"),
            y: Axis::linear("tasks"),
            series: vec![Series::new("", Mark::Bars(0.9 * width), points)],
        }],
    }
}
