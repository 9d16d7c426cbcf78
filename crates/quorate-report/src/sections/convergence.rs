//! How the fit went: its objective over the iterations.

use super::Section;
use crate::figure::{Axis, Figure, Mark, Panel, Series};
use crate::page::Report;
use crate::text::{escape, plural, sentence};

pub(crate) fn section(report: &Report<'_>) -> Option<Section> {
    let fit = report.fit;
    let trace: Vec<(f64, f64)> = fit
        .trace
        .iter()
        .enumerate()
        .filter(|(_, value)| value.is_finite())
        .map(|(iteration, &value)| (iteration as f64, value))
        .collect();
    let mut body = format!(
        "<p>The method <code>{}</code> {} after {}.</p>\n",
        escape(report.method),
        if fit.converged {
            "converged"
        } else {
            "stopped before it converged,"
        },
        plural(fit.iterations, "iteration")
    );
    for note in &fit.notes {
        body.push_str(&format!("<p class=\"note\">{}</p>\n", sentence(note)));
    }
    if trace.len() > 1 {
        let figure = Figure {
            name: "convergence".into(),
            caption: "Objective of the fit over its iterations".into(),
            panels: vec![Panel {
                title: "Objective".into(),
                x: Axis::linear("iteration"),
                y: Axis::linear("objective"),
                series: vec![Series::new("", Mark::DotLine, trace)],
            }],
        };
        body.push_str(&format!(
            "<div class=\"chart\">{}</div>\n",
            figure.to_inline_svg()
        ));
    }
    Some(Section::new("convergence", "How the fit went", body))
}
