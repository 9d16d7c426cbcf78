//! Words for what the library found about a panel, and which class is the good one.

use anyhow::{Result, bail};
use quorate::annotations::Names;
use quorate::judges::{Basis, JudgeReport, PanelFinding, PanelReport};

/// Words for a good item, looked for in this order.
const GOOD: [&str; 12] = [
    "pass", "passed", "yes", "true", "correct", "good", "accept", "accepted", "ok", "1", "safe", "positive",
];

/// Code of the class whose share is the pass rate.
pub fn find_positive(classes: &Names, given: Option<&str>) -> Result<usize> {
    if let Some(given) = given {
        let Some(code) = classes.find(given) else {
            let known: Vec<&str> = classes.iter().take(20).collect();
            bail!(
                "there is no class {given:?}; the classes are {}",
                known.join(", ")
            );
        };
        return Ok(code as usize);
    }
    let lower: Vec<String> = classes.iter().map(str::to_lowercase).collect();
    let known = GOOD
        .iter()
        .find_map(|good| lower.iter().position(|class| class == good));
    Ok(known.unwrap_or(classes.len() - 1))
}

/// The class that is not the positive one, where there are two.
pub fn other_class(classes: &Names, positive: usize) -> Result<usize> {
    match classes.len() {
        2 => Ok(1 - positive),
        number => bail!("what fails is the other one of two classes, and there are {number}"),
    }
}

/// The pass rate that is reported first.
pub(super) struct PassRate {
    pub estimate: f64,
    pub interval: Option<(f64, f64)>,
    pub how: &'static str,
}

/// Corrected by gold where there is enough of it, else by the model, else as observed.
pub(super) fn pass_rate(report: &PanelReport, positive: usize) -> PassRate {
    let found = &report.prevalence[positive];
    let corrected = found.rogan_gladen.map(|interval| (interval, "rogan-gladen"));
    match corrected.or(found.model.map(|interval| (interval, "model"))) {
        Some((interval, how)) => PassRate {
            estimate: interval.estimate,
            interval: Some((interval.low, interval.high)),
            how,
        },
        None => PassRate {
            estimate: found.observed,
            interval: None,
            how: "observed",
        },
    }
}

/// How strict a judge is: what it gets wrong more often, if the intervals tell.
pub(super) fn strictness(judge: &JudgeReport, positive: usize) -> Option<&'static str> {
    let recalls = judge.recalls.as_ref().filter(|recalls| recalls.len() == 2)?;
    let (good, bad) = (&recalls[positive], &recalls[1 - positive]);
    Some(match (good.low > bad.high, bad.low > good.high) {
        (true, _) => "lenient",
        (_, true) => "strict",
        _ => "balanced",
    })
}

/// Names in a sentence.
pub(super) fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A finding as a sentence, without what to do about it.
pub(crate) fn sentence(finding: &PanelFinding, workers: &Names) -> String {
    let named = |codes: &[usize]| list(&codes.iter().map(|&code| workers.get(code)).collect::<Vec<_>>());
    match finding {
        PanelFinding::OneClass => {
            "All answers are the same class: nothing can be learnt about items or judges.".to_owned()
        }
        PanelFinding::OneJudge => {
            "There is one judge and nobody to compare it with: how often it is right cannot be known.".to_owned()
        }
        PanelFinding::TwoVoices => "There are two independent voices. Where they differ, labels cannot tell which one is \
             right, nor how often each of them is."
            .to_owned(),
        PanelFinding::CannotTell { alike, outside } => format!(
            "{} answer nearly the same, and {} often disagrees with them. They may all be right, or copy one judge \
             that is wrong: labels cannot tell. Verdicts on which they differ are not sure.",
            named(alike),
            named(outside)
        ),
        PanelFinding::OneVoice {
            judges, probability, ..
        } => format!(
            "{} err together far beyond what the truth explains: they count as one voice ({:.0} % sure; else they are \
             right, and what the others have in common is an error).",
            named(judges),
            100.0 * probability
        ),
        PanelFinding::NoGold => {
            "No truth is known. Errors that all judges share cannot be seen, and are in none of these numbers.".to_owned()
        }
        PanelFinding::Failures { judge, share } => {
            format!("{} fails on {:.0} % of what it is asked.", workers.get(*judge), 100.0 * share)
        }
        _ => finding.name().to_owned(),
    }
}

/// What the correlation of errors rests on.
pub(super) fn basis(basis: Basis) -> String {
    match basis {
        Basis::Gold(items) => format!("measured on {items} items of gold"),
        Basis::Verdicts => {
            "measured against the panel's own verdicts: errors that all share are not seen".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_good_class_is_found_by_its_word_else_it_is_the_last() {
        let find = |classes: &[&str]| find_positive(&classes.iter().copied().collect(), None).unwrap();
        assert_eq!(find(&["Correct", "incorrect"]), 0);
        assert_eq!(find(&["fail", "pass", "unsure"]), 1);
        assert_eq!(find(&["1", "2", "3"]), 0);
        assert_eq!(find(&["ham", "spam"]), 1);
        assert!(find_positive(&["a", "b"].into_iter().collect(), Some("c")).is_err());
    }
}
