//! The report for programs.

use std::collections::BTreeMap;

use quorate::Annotations;
use quorate::agreement::Coefficient;
use quorate::diagnose::{Finding, Inspection, Structure};
use serde::Serialize;

use crate::record::{each, record};

/// A value, or the reason why there is none.
#[derive(Serialize)]
struct CoefficientJson {
    value: Option<f64>,
    interval_95: Option<(f64, f64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    undefined: Option<&'static str>,
}

impl From<Coefficient> for CoefficientJson {
    fn from(coefficient: Coefficient) -> Self {
        Self {
            value: coefficient.value.ok(),
            interval_95: coefficient.interval,
            undefined: coefficient.value.err().map(|why| why.reason()),
        }
    }
}

/// `advice` gives the words for what to do about a finding.
pub(crate) fn as_json(
    inspection: &Inspection,
    annotations: &Annotations,
    advice: &dyn Fn(&Finding) -> String,
) -> impl Serialize {
    let (summary, connectivity) = (&inspection.summary, &inspection.connectivity);
    let (per_task, per_worker) = (summary.labels_per_task, summary.labels_per_worker);
    let pairs = connectivity.pairs.as_ref();
    record! {
        table: record! {
            tasks: summary.tasks,
            workers: summary.workers,
            classes: summary.classes,
            labels: summary.labels,
            unlabelled_tasks: summary.unlabelled_tasks,
            labels_per_task: (per_task.least, per_task.mean, per_task.most),
            labels_per_worker: (per_worker.least, per_worker.median, per_worker.most),
            fingerprint: format!("{:016x}", annotations.fingerprint()),
        },
        agreement: agreement(inspection, annotations),
        connectivity: record! {
            parts: connectivity.parts.count(),
            workers_per_part: connectivity.parts.workers.clone(),
            observed_pairs: pairs.map(|pairs| pairs.observed),
            missing_pair_share: pairs.map(|pairs| pairs.missing_share),
            imputable_share_of_missing: pairs.and_then(|pairs| pairs.imputable_share),
            shared_tasks_quantiles_10_25_50_75_90: pairs.map(|pairs| pairs.shared),
        },
        structure: inspection.structure.as_ref().map(|found| structure(found, annotations)),
        findings: each(&inspection.findings, |finding| record! {
            kind: finding.kind.name(),
            severity: finding.severity.name(),
            sentence: &finding.sentence,
            certainty: finding.kind.certainty(),
            advice: advice(finding),
            evidence: finding.evidence.iter().copied().collect::<BTreeMap<_, _>>(),
            workers: &finding.workers,
            classes: &finding.classes,
        }),
    }
}

fn agreement(inspection: &Inspection, annotations: &Annotations) -> impl Serialize {
    let report = &inspection.agreement;
    let shown = CoefficientJson::from;
    let name = |worker: usize| annotations.workers().get(worker);
    let classes = annotations.classes().iter().zip(&report.classes);
    record! {
        pairable_tasks: report.pairable_tasks,
        observed: shown(report.observed),
        fleiss_kappa: shown(report.fleiss),
        alpha_nominal: shown(report.alpha_nominal),
        alpha_ordinal: shown(report.alpha_ordinal),
        alpha_interval: shown(report.alpha_interval),
        gwet_ac1: shown(report.ac1),
        // Weighted by the tasks that two workers share.
        mean_cohen_kappa: report.pairwise.mean_kappa.ok(),
        plain_mean_cohen_kappa: report.pairwise.plain_mean_kappa.ok(),
        pairs_with_enough_shared_tasks: report.pairwise.pairs,
        pairs: each(&report.pairwise.listed, |pair| record! {
            workers: (name(pair.workers.0), name(pair.workers.1)),
            shared_tasks: pair.shared,
            observed: pair.observed,
            cohen_kappa: pair.kappa.ok(),
            interval_95: pair.interval,
        }),
        classes: each(classes.zip(&inspection.summary.labels_per_class), |((class, found), &labels)| record! {
            class: class,
            labels: labels,
            specific_agreement: shown(found.specific),
            kappa: shown(found.kappa),
        }),
    }
}

fn structure(structure: &Structure, annotations: &Annotations) -> impl Serialize {
    let name = |worker: usize| annotations.workers().get(worker);
    let spectrum = structure.spectrum.as_ref();
    let copies = &structure.copies;
    record! {
        eigenvalues: spectrum.map(|spectrum| &spectrum.values[..]),
        eigenvalue_by_chance: spectrum.map(|spectrum| spectrum.chance),
        classes_shown: spectrum.map(|spectrum| spectrum.shown),
        alignment_margin: structure.alignment_margin,
        labels_per_task: structure.effective.labels,
        independent_labels_per_task: structure.effective.effective,
        error_correlation: structure.effective.error_correlation,
        pairs_tested: copies.tested,
        common_error_inflation: copies.baseline.inflation,
        specialists: each(annotations.classes().iter().zip(&structure.specialists), |(class, best)| record! {
            class: class,
            worker: best.worker.map(name),
            purity: best.purity,
            lower_bound: best.bound,
            answers: best.answers,
        }),
        copies: each(&copies.pairs, |pair| record! {
            workers: (name(pair.workers.0), name(pair.workers.1)),
            shared_tasks: pair.shared,
            common_errors: pair.common,
            usual: copies.baseline.inflation * pair.expected,
            overlap: pair.overlap,
            p_value: pair.p_value,
        }),
        typical_informativeness: structure.typical_informativeness,
        workers: each(&structure.workers, |check| record! {
            worker: name(check.worker),
            tasks_with_others: check.tasks,
            agreement_with_others: check.accuracy,
            agreement_by_guessing: check.chance,
            informativeness: check.informativeness,
            most_frequent_answer: (annotations.classes().get(check.favourite.0), check.favourite.1),
            one_sided: check.one_sided,
            spammer: check.spammer,
            careless: check.careless,
            adversary: check.adversary,
            p_independent: check.independent_p,
            p_not_worse_than_guessing: check.not_worse_p,
        }),
    }
}
