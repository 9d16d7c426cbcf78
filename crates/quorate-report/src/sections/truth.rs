//! With known truth: error, reliability curve, confusion matrix of the labels.

use quorate::evaluate::{Bins, Evaluate, Evaluation, Predictions, TieRule};

use super::Section;
use crate::figure::reliability;
use crate::page::Report;
use crate::text::{count, percent, plural, shown};

/// Most classes whose confusion matrix is shown.
const MOST: usize = 25;

pub(crate) fn section(report: &Report<'_>) -> Option<Section> {
    let truth = report.truth?;
    let settings = Evaluate {
        ties: TieRule::Lowest,
        bins: Bins::EqualWidth(10),
    };
    let predictions = Predictions::from_consensus(&report.fit.consensus).ok()?;
    let evaluation = settings.run(&predictions, truth).ok()?;
    let (low, high) = evaluation.error.interval;
    let mut body = format!(
        "<p>Of {} with known truth, {} are labelled wrongly (95 % interval {} to {}). The confidence alone \
         says {}.</p>\n",
        plural(evaluation.error.scored, "task"),
        percent(evaluation.error.rate),
        percent(low),
        percent(high),
        percent(report.fit.consensus.expected_error())
    );
    if let Some(calibration) = &evaluation.calibration {
        body.push_str(&format!(
            "<div class=\"chart\">{}</div>\n",
            reliability::draw_inline(calibration, evaluation.error.scored)
        ));
    }
    body.push_str(&confusion(report, &evaluation));
    Some(Section::new("truth", "Compared with the truth", body))
}

fn confusion(report: &Report<'_>, evaluation: &Evaluation) -> String {
    let classes = report.annotations.classes();
    let table = &evaluation.confusion;
    if classes.len() > MOST {
        return String::new();
    }
    let mut html = String::from(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Labels against the truth\">\
         <table class=\"heat\"><caption>Labels (columns) against the truth (rows), tasks</caption>\n<thead><tr><td></td>",
    );
    for class in classes.iter() {
        html.push_str(&format!("<th scope=\"col\"><bdi>{}</bdi></th>", shown(class)));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for (truth, name) in classes.iter().enumerate() {
        let row: f64 = (0..classes.len())
            .map(|predicted| table.get(truth, predicted))
            .sum();
        html.push_str(&format!("<tr><th scope=\"row\"><bdi>{}</bdi></th>", shown(name)));
        for predicted in 0..classes.len() {
            let tasks = table.get(truth, predicted);
            let shade = if row > 0.0 {
                (tasks / row * 10.0).round() as usize
            } else {
                0
            };
            html.push_str(&format!(
                "<td class=\"number h{shade}\">{}</td>",
                count(tasks.round() as usize)
            ));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table></div>\n");
    html
}
