//! The page for programs.

use std::collections::BTreeMap;

use quorate::Remedy;
use quorate::intervals::Interval;
use quorate::judges::{Basis, Panel, PanelReport};
use serde::Serialize;

use super::words::{pass_rate, sentence, strictness};

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

#[derive(Serialize)]
pub(crate) struct PanelJson<'a> {
    items: usize,
    judges: Vec<JudgeJson<'a>>,
    answers: usize,
    failures: usize,
    unscored: usize,
    positive: &'a str,
    pass_rate: PassRateJson,
    classes: Vec<ClassJson<'a>>,
    expected_error: f64,
    mean_confidence: Option<f64>,
    agreement_with_gold: Option<CheckedJson>,
    dependence: DependenceJson<'a>,
    changes: ChangesJson<'a>,
    findings: Vec<FindingJson<'a>>,
}

#[derive(Serialize)]
struct PassRateJson {
    estimate: f64,
    interval_95: Option<(f64, f64)>,
    how: &'static str,
}

#[derive(Serialize)]
struct CheckedJson {
    items: usize,
    #[serde(flatten)]
    share: IntervalJson,
}

#[derive(Serialize)]
struct ClassJson<'a> {
    class: &'a str,
    verdicts: usize,
    observed: f64,
    model: Option<IntervalJson>,
    rogan_gladen: Option<IntervalJson>,
}

#[derive(Serialize)]
struct JudgeJson<'a> {
    judge: &'a str,
    answers: usize,
    failures: usize,
    items: usize,
    accuracy: Option<IntervalJson>,
    recalls: Option<BTreeMap<&'a str, IntervalJson>>,
    strictness: Option<&'static str>,
    self_consistency: Option<ConsistencyJson>,
    agreement_with_panel: Option<f64>,
    agreement_with_gold: Option<CheckedJson>,
}

#[derive(Serialize)]
struct ConsistencyJson {
    items: usize,
    agreement: f64,
}

#[derive(Serialize)]
struct DependenceJson<'a> {
    effective_judges: f64,
    voices: usize,
    groups: Vec<Vec<&'a str>>,
    between_voices: f64,
    gold_items: Option<u64>,
    /// Correlation of errors of all pairs; null where there are too few errors.
    pairs: Vec<PairJson<'a>>,
}

#[derive(Serialize)]
struct PairJson<'a> {
    judges: (&'a str, &'a str),
    correlation: Option<f64>,
}

#[derive(Serialize)]
struct ChangesJson<'a> {
    error: f64,
    one_more_judge: f64,
    without: Vec<WithoutJson<'a>>,
}

#[derive(Serialize)]
struct WithoutJson<'a> {
    judge: &'a str,
    error: f64,
    changed: f64,
}

#[derive(Serialize)]
struct FindingJson<'a> {
    kind: &'static str,
    sentence: String,
    advice: Option<&'a str>,
}

/// The document; `advice` has the words for a remedy.
pub(crate) fn as_json<'a>(
    report: &'a PanelReport,
    panel: &'a Panel,
    positive: usize,
    advice: &dyn Fn(Remedy) -> &'static str,
) -> PanelJson<'a> {
    let annotations = panel.annotations();
    let scored = || report.verdicts.iter().filter(|verdict| verdict.label.is_some());
    let confidence: f64 = scored().map(|verdict| verdict.confidence).sum();
    let rate = pass_rate(report, positive);
    let class = |(class, found): (&'a str, &quorate::judges::Prevalence)| ClassJson {
        class,
        verdicts: found.verdicts,
        observed: found.observed,
        model: found.model.as_ref().map(Into::into),
        rogan_gladen: found.rogan_gladen.as_ref().map(Into::into),
    };
    PanelJson {
        items: annotations.task_count(),
        judges: judges(report, panel, positive),
        answers: annotations.label_count(),
        failures: panel.failures().len(),
        unscored: report.verdicts.len() - scored().count(),
        positive: annotations.classes().get(positive),
        pass_rate: PassRateJson {
            estimate: rate.estimate,
            interval_95: rate.interval,
            how: rate.how,
        },
        classes: annotations
            .classes()
            .iter()
            .zip(&report.prevalence)
            .map(class)
            .collect(),
        expected_error: report.changes.error,
        mean_confidence: (scored().count() > 0).then(|| confidence / scored().count() as f64),
        agreement_with_gold: report.agreement_with_gold.as_ref().map(checked),
        dependence: dependence(report, panel),
        changes: changes(report, panel),
        findings: report
            .findings
            .iter()
            .map(|finding| FindingJson {
                kind: finding.name(),
                sentence: sentence(finding, annotations.workers()),
                advice: finding.remedy().map(advice),
            })
            .collect(),
    }
}

fn checked(found: &quorate::judges::CountedShare) -> CheckedJson {
    CheckedJson {
        items: found.items,
        share: (&found.share).into(),
    }
}

fn judges<'a>(report: &'a PanelReport, panel: &'a Panel, positive: usize) -> Vec<JudgeJson<'a>> {
    let annotations = panel.annotations();
    let judge = |judge: &'a quorate::judges::JudgeReport| JudgeJson {
        judge: annotations.workers().get(judge.judge),
        answers: judge.answers,
        failures: judge.failures,
        items: judge.items,
        accuracy: judge.accuracy.as_ref().map(Into::into),
        recalls: judge.recalls.as_ref().map(|recalls| {
            let named = annotations.classes().iter().zip(recalls);
            named.map(|(class, recall)| (class, recall.into())).collect()
        }),
        strictness: strictness(judge, positive),
        self_consistency: judge.self_consistency.map(|found| ConsistencyJson {
            items: found.items,
            agreement: found.agreement,
        }),
        agreement_with_panel: judge.agreement_with_panel,
        agreement_with_gold: judge.agreement_with_gold.as_ref().map(checked),
    };
    report.judges.iter().map(judge).collect()
}

fn dependence<'a>(report: &PanelReport, panel: &'a Panel) -> DependenceJson<'a> {
    let found = &report.dependence;
    let name = |code: usize| panel.annotations().workers().get(code);
    let judges = panel.annotations().worker_count();
    let mut pairs = Vec::new();
    for i in 0..judges {
        for j in i + 1..judges {
            pairs.push(PairJson {
                judges: (name(i), name(j)),
                correlation: found.correlation[i * judges + j],
            });
        }
    }
    DependenceJson {
        effective_judges: found.effective_judges,
        voices: found.voices,
        groups: found
            .groups
            .iter()
            .map(|group| group.iter().map(|&code| name(code)).collect())
            .collect(),
        between_voices: found.between_voices,
        gold_items: match found.basis {
            Basis::Gold(items) => Some(items),
            Basis::Verdicts => None,
        },
        pairs,
    }
}

fn changes<'a>(report: &PanelReport, panel: &'a Panel) -> ChangesJson<'a> {
    let without = |change: &quorate::judges::WithoutJudge| WithoutJson {
        judge: panel.annotations().workers().get(change.judge),
        error: change.error,
        changed: change.changed,
    };
    ChangesJson {
        error: report.changes.error,
        one_more_judge: report.changes.one_more,
        without: report.changes.without.iter().map(without).collect(),
    }
}
