//! The page for programs.

use std::collections::BTreeMap;

use quorate::Remedy;
use quorate::intervals::Interval;
use quorate::judges::{Basis, CountedShare, JudgeReport, Panel, PanelReport};
use serde::Serialize;

use super::words::{pass_rate, sentence, strictness};
use crate::record::{each, record};
use crate::run_summary::EstimatedError;

#[derive(Serialize)]
struct IntervalJson {
    estimate: f64,
    interval_95: (f64, f64),
}

impl From<&Interval> for IntervalJson {
    fn from(interval: &Interval) -> Self {
        Self {
            estimate: interval.estimate,
            interval_95: (interval.low, interval.high),
        }
    }
}

fn interval(interval: &Interval) -> IntervalJson {
    interval.into()
}

fn checked(found: &CountedShare) -> impl Serialize {
    record! {
        items: found.items,
        estimate: found.share.estimate,
        interval_95: (found.share.low, found.share.high),
    }
}

/// The document; `advice` has the words for a remedy.
pub(crate) fn as_json(
    report: &PanelReport,
    panel: &Panel,
    positive: usize,
    advice: &dyn Fn(Remedy) -> &'static str,
) -> impl Serialize {
    let annotations = panel.annotations();
    let (workers, classes) = (annotations.workers(), annotations.classes());
    let scored = || report.verdicts.iter().filter(|verdict| verdict.label.is_some());
    let confidence: f64 = scored().map(|verdict| verdict.confidence).sum();
    let rate = pass_rate(report, positive);
    record! {
        items: annotations.task_count(),
        judges: each(&report.judges, |found| judge(found, panel, positive)),
        answers: annotations.label_count(),
        failures: panel.failures().len(),
        unscored: report.verdicts.len() - scored().count(),
        positive: classes.get(positive),
        pass_rate: record! {
            estimate: rate.estimate,
            interval_95: rate.interval,
            how: rate.how,
        },
        classes: each(classes.iter().zip(&report.prevalence), |(class, found)| record! {
            class: class,
            verdicts: found.verdicts,
            observed: found.observed,
            model: found.model.as_ref().map(interval),
            rogan_gladen: found.rogan_gladen.as_ref().map(interval),
        }),
        estimated_error: EstimatedError::from(report.error),
        mean_confidence: (scored().count() > 0).then(|| confidence / scored().count() as f64),
        agreement_with_gold: report.agreement_with_gold.as_ref().map(checked),
        dependence: dependence(report, panel),
        changes: record! {
            error: report.changes.error,
            one_more_judge: report.changes.one_more,
            without: each(&report.changes.without, |change| record! {
                judge: workers.get(change.judge),
                error: change.error,
                changed: change.changed,
            }),
        },
        findings: each(&report.findings, |finding| record! {
            kind: finding.name(),
            sentence: sentence(finding, workers),
            advice: finding.remedy().map(advice),
        }),
    }
}

fn judge(judge: &JudgeReport, panel: &Panel, positive: usize) -> impl Serialize {
    let annotations = panel.annotations();
    let named = |recalls: &Vec<Interval>| -> BTreeMap<String, IntervalJson> {
        let classes = annotations.classes().iter().map(str::to_owned);
        classes.zip(recalls.iter().map(interval)).collect()
    };
    record! {
        judge: annotations.workers().get(judge.judge).to_owned(),
        answers: judge.answers,
        failures: judge.failures,
        items: judge.items,
        accuracy: judge.accuracy.as_ref().map(interval),
        recalls: judge.recalls.as_ref().map(named),
        strictness: strictness(judge, positive),
        self_consistency: judge.self_consistency.map(|found| record! {
            items: found.items,
            agreement: found.agreement,
        }),
        agreement_with_panel: judge.agreement_with_panel,
        agreement_with_gold: judge.agreement_with_gold.as_ref().map(checked),
    }
}

fn dependence(report: &PanelReport, panel: &Panel) -> impl Serialize {
    let found = &report.dependence;
    let name = |code: usize| panel.annotations().workers().get(code);
    let judges = panel.annotations().worker_count();
    let pairs = (0..judges).flat_map(|i| (i + 1..judges).map(move |j| (i, j)));
    record! {
        effective_judges: found.effective_judges,
        voices: found.voices,
        groups: each(&found.groups, |group| each(group, |&code| name(code))),
        between_voices: found.between_voices,
        gold_items: match found.basis {
            Basis::Gold(items) => Some(items),
            Basis::Verdicts => None,
        },
        // Correlation of errors of all pairs; null where there are too few errors.
        pairs: each(pairs, |(i, j)| record! {
            judges: (name(i), name(j)),
            correlation: found.correlation[i * judges + j],
        }),
    }
}
