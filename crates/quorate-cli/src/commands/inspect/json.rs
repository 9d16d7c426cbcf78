//! The report for programs.

use std::collections::BTreeMap;

use quorate::Annotations;
use quorate::agreement::Coefficient;
use quorate::diagnose::{Finding, Inspection, PairErrors, Structure, WorkerCheck};
use serde::Serialize;

#[derive(Serialize)]
pub(crate) struct InspectionJson<'a> {
    table: TableJson,
    agreement: AgreementJson<'a>,
    connectivity: ConnectivityJson,
    structure: Option<StructureJson<'a>>,
    findings: Vec<FindingJson<'a>>,
}

#[derive(Serialize)]
struct TableJson {
    tasks: usize,
    workers: usize,
    classes: usize,
    labels: usize,
    unlabelled_tasks: usize,
    labels_per_task: (usize, f64, usize),
    labels_per_worker: (usize, usize, usize),
    fingerprint: String,
}

/// A value, or the reason why there is none.
#[derive(Serialize)]
struct CoefficientJson {
    value: Option<f64>,
    interval_95: Option<(f64, f64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    undefined: Option<&'static str>,
}

#[derive(Serialize)]
struct AgreementJson<'a> {
    pairable_tasks: u64,
    observed: CoefficientJson,
    fleiss_kappa: CoefficientJson,
    alpha_nominal: CoefficientJson,
    alpha_ordinal: CoefficientJson,
    alpha_interval: CoefficientJson,
    gwet_ac1: CoefficientJson,
    /// Weighted by the tasks that two workers share.
    mean_cohen_kappa: Option<f64>,
    plain_mean_cohen_kappa: Option<f64>,
    pairs_with_enough_shared_tasks: usize,
    pairs: Vec<PairJson<'a>>,
    classes: Vec<ClassJson<'a>>,
}

#[derive(Serialize)]
struct PairJson<'a> {
    workers: (&'a str, &'a str),
    shared_tasks: u32,
    observed: f64,
    cohen_kappa: Option<f64>,
    interval_95: Option<(f64, f64)>,
}

#[derive(Serialize)]
struct ClassJson<'a> {
    class: &'a str,
    labels: usize,
    specific_agreement: CoefficientJson,
    kappa: CoefficientJson,
}

#[derive(Serialize)]
struct ConnectivityJson {
    parts: usize,
    workers_per_part: Vec<usize>,
    observed_pairs: Option<u64>,
    missing_pair_share: Option<f64>,
    imputable_share_of_missing: Option<f64>,
    shared_tasks_quantiles_10_25_50_75_90: Option<[u32; 5]>,
}

#[derive(Serialize)]
struct StructureJson<'a> {
    eigenvalues: Option<&'a [f64]>,
    eigenvalue_by_chance: Option<f64>,
    classes_shown: Option<usize>,
    alignment_margin: f64,
    labels_per_task: f64,
    independent_labels_per_task: f64,
    error_correlation: f64,
    pairs_tested: usize,
    common_error_inflation: f64,
    specialists: Vec<SpecialistJson<'a>>,
    copies: Vec<CopyJson<'a>>,
    typical_informativeness: f64,
    workers: Vec<WorkerJson<'a>>,
}

#[derive(Serialize)]
struct SpecialistJson<'a> {
    class: &'a str,
    worker: Option<&'a str>,
    purity: f64,
    lower_bound: f64,
    answers: usize,
}

#[derive(Serialize)]
struct CopyJson<'a> {
    workers: (&'a str, &'a str),
    shared_tasks: u32,
    common_errors: f64,
    usual: f64,
    overlap: f64,
    p_value: f64,
}

#[derive(Serialize)]
struct WorkerJson<'a> {
    worker: &'a str,
    tasks_with_others: usize,
    agreement_with_others: f64,
    agreement_by_guessing: f64,
    informativeness: f64,
    most_frequent_answer: (&'a str, f64),
    one_sided: bool,
    spammer: bool,
    careless: bool,
    adversary: bool,
    p_independent: f64,
    p_not_worse_than_guessing: f64,
}

#[derive(Serialize)]
struct FindingJson<'a> {
    kind: &'static str,
    severity: &'static str,
    sentence: &'a str,
    advice: String,
    evidence: BTreeMap<&'static str, f64>,
    workers: &'a [String],
    classes: &'a [String],
}

/// `advice` gives the words for what to do about a finding.
pub(crate) fn as_json<'a>(
    inspection: &'a Inspection,
    annotations: &'a Annotations,
    advice: &dyn Fn(&Finding) -> String,
) -> InspectionJson<'a> {
    let summary = &inspection.summary;
    let (per_task, per_worker) = (summary.labels_per_task, summary.labels_per_worker);
    let connectivity = &inspection.connectivity;
    let pairs = connectivity.pairs.as_ref();
    InspectionJson {
        table: TableJson {
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
        connectivity: ConnectivityJson {
            parts: connectivity.parts.count(),
            workers_per_part: connectivity.parts.workers.clone(),
            observed_pairs: pairs.map(|pairs| pairs.observed),
            missing_pair_share: pairs.map(|pairs| pairs.missing_share),
            imputable_share_of_missing: pairs.and_then(|pairs| pairs.imputable_share),
            shared_tasks_quantiles_10_25_50_75_90: pairs.map(|pairs| pairs.shared),
        },
        structure: inspection
            .structure
            .as_ref()
            .map(|structure| self::structure(structure, annotations)),
        findings: inspection
            .findings
            .iter()
            .map(|found| finding(found, advice(found)))
            .collect(),
    }
}

fn coefficient(coefficient: Coefficient) -> CoefficientJson {
    CoefficientJson {
        value: coefficient.value.ok(),
        interval_95: coefficient.interval,
        undefined: coefficient.value.err().map(|why| why.reason()),
    }
}

fn agreement<'a>(inspection: &Inspection, annotations: &'a Annotations) -> AgreementJson<'a> {
    let report = &inspection.agreement;
    let name = |worker: usize| annotations.workers().get(worker);
    let classes = annotations.classes().iter().zip(&report.classes);
    AgreementJson {
        pairable_tasks: report.pairable_tasks,
        observed: coefficient(report.observed),
        fleiss_kappa: coefficient(report.fleiss),
        alpha_nominal: coefficient(report.alpha_nominal),
        alpha_ordinal: coefficient(report.alpha_ordinal),
        alpha_interval: coefficient(report.alpha_interval),
        gwet_ac1: coefficient(report.ac1),
        mean_cohen_kappa: report.pairwise.mean_kappa.ok(),
        plain_mean_cohen_kappa: report.pairwise.plain_mean_kappa.ok(),
        pairs_with_enough_shared_tasks: report.pairwise.pairs,
        pairs: report
            .pairwise
            .listed
            .iter()
            .map(|pair| PairJson {
                workers: (name(pair.workers.0), name(pair.workers.1)),
                shared_tasks: pair.shared,
                observed: pair.observed,
                cohen_kappa: pair.kappa.ok(),
                interval_95: pair.interval,
            })
            .collect(),
        classes: classes
            .zip(&inspection.summary.labels_per_class)
            .map(|((class, agreement), &labels)| ClassJson {
                class,
                labels,
                specific_agreement: coefficient(agreement.specific),
                kappa: coefficient(agreement.kappa),
            })
            .collect(),
    }
}

fn structure<'a>(structure: &'a Structure, annotations: &'a Annotations) -> StructureJson<'a> {
    let name = |worker: usize| annotations.workers().get(worker);
    let spectrum = structure.spectrum.as_ref();
    let copies = &structure.copies;
    let copy = |pair: &PairErrors| CopyJson {
        workers: (name(pair.workers.0), name(pair.workers.1)),
        shared_tasks: pair.shared,
        common_errors: pair.common,
        usual: copies.baseline.inflation * pair.expected,
        overlap: pair.overlap,
        p_value: pair.p_value,
    };
    let worker = |check: &WorkerCheck| WorkerJson {
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
    };
    StructureJson {
        eigenvalues: spectrum.map(|spectrum| &spectrum.values[..]),
        eigenvalue_by_chance: spectrum.map(|spectrum| spectrum.chance),
        classes_shown: spectrum.map(|spectrum| spectrum.shown),
        alignment_margin: structure.alignment_margin,
        labels_per_task: structure.effective.labels,
        independent_labels_per_task: structure.effective.effective,
        error_correlation: structure.effective.error_correlation,
        pairs_tested: copies.tested,
        common_error_inflation: copies.baseline.inflation,
        specialists: annotations
            .classes()
            .iter()
            .zip(&structure.specialists)
            .map(|(class, best)| SpecialistJson {
                class,
                worker: best.worker.map(name),
                purity: best.purity,
                lower_bound: best.bound,
                answers: best.answers,
            })
            .collect(),
        copies: copies.pairs.iter().map(copy).collect(),
        typical_informativeness: structure.typical_informativeness,
        workers: structure.workers.iter().map(worker).collect(),
    }
}

fn finding(finding: &Finding, advice: String) -> FindingJson<'_> {
    FindingJson {
        kind: finding.kind.name(),
        severity: finding.severity.name(),
        sentence: &finding.sentence,
        advice,
        evidence: finding.evidence.iter().copied().collect(),
        workers: &finding.workers,
        classes: &finding.classes,
    }
}
