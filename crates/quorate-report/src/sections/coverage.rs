//! Which pairs of workers share tasks: observed, imputable, missing.

use super::Section;
use crate::page::Report;
use crate::text::{count, percent, plural};

pub(crate) fn section(report: &Report<'_>) -> Option<Section> {
    let connectivity = &report.evidence.inspection.connectivity;
    let pairs = connectivity.pairs.as_ref()?;
    let observed = 1.0 - pairs.missing_share;
    let imputable = pairs.missing_share * pairs.imputable_share.unwrap_or(0.0);
    let missing = (1.0 - observed - imputable).max(0.0);
    let part = |class: &str, share: f64| {
        if share > 0.0 {
            format!("<i class=\"{class}\" style=\"width:{:.2}%\"></i>", 100.0 * share)
        } else {
            String::new()
        }
    };
    let body = format!(
        "<p>Workers are compared through the tasks they share. {} share at least one task{}. Pairs that share none can \
         be compared through two others (“imputable”), or not at all.</p>\n\
         <div class=\"stack\" role=\"img\" aria-label=\"Observed {observed_p}, imputable {imputable_p}, out of reach \
         {missing_p} of all pairs of workers\">{}{}{}</div>\n\
         <ul class=\"legend\"><li><i class=\"s0\"></i>share tasks: {observed_p}</li><li><i class=\"s1\"></i>comparable \
         through others{}: {imputable_p}</li><li><i class=\"s2\"></i>cannot be compared: {missing_p}</li></ul>\n\
         <p class=\"note\">{}; a typical pair shares {}.</p>\n",
        count(pairs.observed as usize) + " pairs of workers",
        if connectivity.parts.count() > 1 {
            format!(
                "; the crowd has {}",
                plural(connectivity.parts.count(), "connected component")
            )
        } else {
            String::new()
        },
        part("s0", observed),
        part("s1", imputable),
        part("s2", missing),
        if pairs.exact {
            ""
        } else {
            " (estimated from a sample)"
        },
        if connectivity.parts.count() == 1 {
            "The crowd is connected"
        } else {
            "The crowd is not connected"
        },
        plural(pairs.shared[2] as usize, "task"),
        observed_p = percent(observed),
        imputable_p = percent(imputable),
        missing_p = percent(missing),
    );
    Some(Section::new("coverage", "Who can be compared with whom", body))
}
