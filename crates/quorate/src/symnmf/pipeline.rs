//! The steps of the SymNMF family, one after another: co-occurrences, imputation, shifted-ReLU SymNMF, Bayes' rule; optionally EM after that.
//!
//! ```text
//! R_mj = A_m D A_j^T   ->   U U^T = X (missing blocks and diagonal imputed)   ->   H = U Q >= 0   ->   A_m, prior
//! ```
//!
//! Steps: count pairs; start from the confusion matrices counted against vote shares; impute U; rotate into a
//! nonnegative H; read off the model; choose the permutation of the classes (with its margin); posterior.
//!
//! Where the robust form would store more pairs than there are labels, the matrix-free form takes its place: it needs
//! no pairs at all (`form = auto`).
//!
//! Differences from the paper, all measured in `docs/symnmf.md`: the deterministic start from majority vote; blocks
//! weighted by their evidence; workers weighted by their labels in the factorisation; candidates chosen by predicted
//! error in the designated form; one common permutation by assignment.
//!
//! Fails where pairs share too few tasks to say anything (few labels a worker, many classes), and where no worker is
//! near to a specialist for some class. What cannot be identified at all (no two workers share a task) falls back to
//! EM from majority vote, and says so.
//!
//! S. Ibrahim, X. Fu, "Crowdsourcing via Annotator Co-occurrence Imputation and Provable Symmetric Nonnegative
//! Matrix Factorization", ICML 2021.

use std::sync::Arc;

use super::{
    Designated, FactorSettings, Form, Imputation, Init, RobustSettings, RowWeights, crowd_matrix,
    draw_to_crowd, expected_labels, extract_model, factor, identity, impute_designated, impute_matrix_free,
    impute_robust, model_factor, random_factor, rotation_towards,
};
use crate::annotations::Annotations;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::methods::{Fit, starting_votes};
use crate::model::{AnswerCounts, DawidSkene, Em, EmStart, align_classes, count_answers, posterior};
use crate::statistics::{Components, PairBlocks, cap_labels, has_at_most_pairs, worker_components};

/// How missing blocks are imputed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Imputing {
    /// By a factor fitted to the observed blocks.
    Robust {
        init: Init,
        form: Form,
        settings: RobustSettings,
    },
    /// From three observed blocks through workers in between: these two, or the best if the text is empty.
    Designated(String),
    /// Missing blocks are zero.
    Nothing,
}

/// A member of the family with its settings.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pipeline {
    pub imputing: Imputing,
    /// Pseudo-labels that draw each column of a worker's matrix to the crowd and away from zero.
    pub shrinkage: f64,
    pub factor: FactorSettings,
    /// Weight of a worker in the factorisation.
    pub rows: RowWeights,
    /// EM after the estimate.
    pub em: Option<Em>,
}

impl Pipeline {
    /// Fits the member.
    pub fn fit(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        if !annotations.has_gold() {
            return self.fit_crowd(annotations, context);
        }
        // Pairs of workers know nothing of truths: gold enters them as a worker who is always right.
        let extended = annotations.with_gold_worker()?;
        let priors = context.priors();
        context.set_priors(Arc::new(priors.with_new_worker()));
        let fit = self.fit_crowd(&extended, context);
        context.set_priors(priors);
        let mut fit = fit?;
        fit.model = fit.model.map(DawidSkene::without_last_worker);
        Ok(fit)
    }

    fn fit_crowd(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        let classes = annotations.class_count();
        reserve(annotations, context)?;
        let votes = starting_votes(annotations, context)?;
        let parts = worker_components(annotations);
        if classes == 1 || parts.workers.iter().all(|&workers| workers < 2) {
            let mut fit: Fit = FALLBACK_EM
                .run(annotations, EmStart::Consensus(votes), context)?
                .into();
            if classes > 1 {
                fit.warnings.push(
                    "no two workers share a task, so nothing can be learnt from their agreement: the answer is \
                     Dawid-Skene EM from majority vote, which here repeats the labels, and the confidence says nothing"
                        .into(),
                );
            }
            return Ok(fit);
        }
        let priors = context.priors();
        priors.check(annotations.worker_count(), classes)?;
        let mut counts = context.run(|| count_answers(annotations, &votes));
        // N K numbers that are not needed again: peak memory is what counts here.
        drop(votes);
        let answers = answer_shares(&counts, classes);
        priors.add_to(&mut counts);
        let crowd = crowd_matrix(&counts);
        let start = draw_to_crowd(
            &counts.to_model(0.0),
            &counts.labels_per_truth(),
            &crowd,
            self.shrinkage,
        );
        let weights = self.worker_weights(annotations);
        let (mut notes, mut warnings) = (Vec::new(), Vec::new());
        let completed = self.impute(
            annotations,
            &start,
            &weights,
            context,
            (&mut notes, &mut warnings),
        )?;
        let h = self.rotate(&completed.factor, &start, &weights, context)?;
        let mut model = extract_model(&h, &weights, &answers, classes);
        let mut say = annotations.labels_per_worker();
        if annotations.has_gold() {
            // The last worker is gold: what it says of which class is which outweighs the crowd.
            let last = say.len() - 1;
            say[last] = annotations.label_count() as u32;
        }
        let alignment = align_classes(&model, &say);
        model = model.with_truth_order(&alignment.order);
        model = self.keep_unreached(model, &start, &parts);
        let evidence = expected_labels(&model, &annotations.labels_per_worker());
        model = draw_to_crowd(&model, &evidence, &crowd, self.shrinkage);
        if !priors.is_empty() {
            model = priors.draw(model, &evidence, annotations.task_count());
        }
        describe_parts(&parts, &mut warnings);
        notes.push(format!("alignment margin {:.3}", alignment.margin));
        if alignment.margin < DOUBTFUL_MARGIN {
            warnings.push(format!(
                "which component is which class is nearly a toss-up (margin {:.3}): the answers are hardly better than \
                 chance, or two classes are hardly told apart",
                alignment.margin
            ));
        }
        let mut fit = match self.em {
            Some(em) => em.run(annotations, EmStart::Model(model), context)?.into(),
            None => {
                let (consensus, _) = context.run(|| posterior(annotations, &model));
                Fit {
                    model: Some(model),
                    trace: completed.trace,
                    iterations: completed.iterations.max(1),
                    converged: completed.converged,
                    ..Fit::direct(consensus)
                }
            }
        };
        fit.warnings = warnings;
        fit.notes = notes;
        Ok(fit)
    }
}

/// Margins below this are reported as doubtful.
const DOUBTFUL_MARGIN: f64 = 0.02;

/// EM where nothing can be factored; without smoothing it stays with the labels.
const FALLBACK_EM: Em = Em {
    max_iter: 1000,
    tol: 1e-6,
    smoothing: 0.0,
    flat_prior: false,
};

impl Pipeline {
    fn impute(
        &self,
        annotations: &Annotations,
        start: &DawidSkene,
        weights: &[f64],
        context: &mut Context,
        (notes, warnings): (&mut Vec<String>, &mut Vec<String>),
    ) -> Result<Imputation> {
        let designated = match &self.imputing {
            Imputing::Robust { init, form, settings } => {
                let warned = (notes, warnings);
                return impute_robustly(*init, *form, settings, annotations, start, context, warned);
            }
            Imputing::Nothing => Designated::None,
            Imputing::Designated(ids) => designated_workers(ids, annotations)?,
        };
        let blocks = PairBlocks::observed(annotations, context, warnings)?;
        let roots: Vec<f64> = weights.iter().map(|weight| weight.sqrt()).collect();
        let imputed = impute_designated(
            &blocks,
            &designated,
            &annotations.canonical_worker_order(),
            &roots,
            context,
        )?;
        notes.push(format!(
            "{:.2} % of the co-occurrence blocks missing before imputation, {:.2} % after",
            100.0 * imputed.missing_before,
            100.0 * imputed.missing_after
        ));
        Ok(Imputation {
            factor: imputed.factor,
            trace: Vec::new(),
            iterations: 1,
            converged: imputed.converged,
        })
    }

    /// Rotates the completed factor into a nonnegative one.
    fn rotate(
        &self,
        u: &[f64],
        start: &DawidSkene,
        weights: &[f64],
        context: &mut Context,
    ) -> Result<Vec<f64>> {
        let classes = start.class_count();
        let aligned = matches!(
            self.imputing,
            Imputing::Robust {
                init: Init::Votes,
                ..
            }
        );
        let q = if aligned {
            identity(classes)
        } else {
            rotation_towards(u, &model_factor(start), weights, classes)
        };
        Ok(factor(u, weights, q, classes, &self.factor, context)?.h)
    }

    /// Weight of each worker in eigenvectors and factorisation.
    fn worker_weights(&self, annotations: &Annotations) -> Vec<f64> {
        let labels = annotations.labels_per_worker();
        let mean = annotations.label_count() as f64 / labels.len() as f64;
        let weight = |&count: &u32| match self.rows {
            RowWeights::Labels => f64::from(count.max(1)) / mean,
            RowWeights::Equal => 1.0,
        };
        labels.iter().map(weight).collect()
    }

    /// Workers that the factorisation could not reach keep the matrices of the start: those without any shared task
    /// and, in the forms with eigenvectors, those outside the largest part of the crowd.
    fn keep_unreached(&self, model: DawidSkene, start: &DawidSkene, parts: &Components) -> DawidSkene {
        let classes = model.class_count();
        let eigenvectors = !matches!(self.imputing, Imputing::Robust { .. });
        let mut confusion = model.confusions().to_vec();
        for (worker, block) in confusion.chunks_exact_mut(classes * classes).enumerate() {
            let part = parts.of_worker[worker] as usize;
            if parts.workers[part] < 2 || (eigenvectors && part > 0) {
                block.copy_from_slice(start.confusion(worker));
            }
        }
        DawidSkene::new(model.prior().to_vec(), confusion)
    }
}

fn impute_robustly(
    init: Init,
    form: Form,
    settings: &RobustSettings,
    annotations: &Annotations,
    start: &DawidSkene,
    context: &mut Context,
    (notes, warnings): (&mut Vec<String>, &mut Vec<String>),
) -> Result<Imputation> {
    let start = match init {
        Init::Votes => model_factor(start),
        Init::Random => random_factor(annotations.worker_count(), annotations.class_count(), context),
    };
    let capped = cap_labels(annotations, context)?;
    if stores_pairs(form, &capped.annotations, context) {
        warnings.extend(capped.note);
        let blocks = PairBlocks::observed(&capped.annotations, context, warnings)?;
        let order = annotations.canonical_worker_order();
        return impute_robust(&blocks, &order, start, settings, context);
    }
    notes
        .push("more pairs of workers than labels: imputed without storing pairs (form = matrix-free)".into());
    impute_matrix_free(annotations, start, settings.max_iter, settings.tol, context)
}

/// Pairs are worth storing while there are not many more of them than labels.
fn stores_pairs(form: Form, annotations: &Annotations, context: &Context) -> bool {
    match form {
        Form::Pairs => true,
        Form::MatrixFree => false,
        Form::Auto => {
            let labels = annotations.label_count() as u64;
            let size = (annotations.class_count() * annotations.class_count()) as u64;
            let most = labels.max(1_000_000).min((4 * labels).max(4_000_000) / size);
            context.run(|| has_at_most_pairs(annotations, most))
        }
    }
}

/// The two workers named, or the best for each block if there are none.
fn designated_workers(ids: &str, annotations: &Annotations) -> Result<Designated> {
    let problem = |problem: String| Error::Parameter {
        name: "designated".into(),
        problem,
    };
    let find = |id: &str| {
        let worker = annotations.workers().find(id);
        worker.ok_or_else(|| problem(format!("there is no worker {id:?} in the data")))
    };
    if ids.trim().is_empty() {
        return Ok(Designated::Best);
    }
    match ids.split(',').map(str::trim).collect::<Vec<_>>()[..] {
        [l, r] if l == r => Err(problem(
            "the two designated workers must be different people".into(),
        )),
        [l, r] => Ok(Designated::Pair(find(l)? as usize, find(r)? as usize)),
        ref ids => Err(problem(format!(
            "found {} id(s), expected two worker ids separated by a comma, for example designated=ann,bob",
            ids.len()
        ))),
    }
}

/// Dense K x K matrices for every worker, a handful of copies.
fn reserve(annotations: &Annotations, context: &Context) -> Result<()> {
    let (workers, classes) = (
        annotations.worker_count() as u64,
        annotations.class_count() as u64,
    );
    context.reserve(
        format!("a {classes} x {classes} matrix for each of {workers} workers"),
        8 * (8 * workers * classes * classes + annotations.task_count() as u64 * classes),
        "merge rare classes, or use majority-vote",
    )
}

/// Each worker's distribution of answers, `[worker][answer]`.
fn answer_shares(counts: &AnswerCounts, classes: usize) -> Vec<f64> {
    let mut shares = Vec::new();
    for worker in 0..counts.worker_count() {
        let rows = counts
            .worker(worker)
            .chunks_exact(classes)
            .map(|row| row.iter().sum::<f64>());
        let total: f64 = rows.clone().sum();
        shares.extend(rows.map(|row| {
            if total > 0.0 {
                row / total
            } else {
                1.0 / classes as f64
            }
        }));
    }
    shares
}

fn describe_parts(parts: &Components, warnings: &mut Vec<String>) {
    if parts.count() < 2 {
        return;
    }
    let sizes: Vec<String> = parts
        .workers
        .iter()
        .take(5)
        .map(|workers| workers.to_string())
        .collect();
    let more = if parts.count() > 5 { ", .." } else { "" };
    warnings.push(format!(
        "the crowd falls into {} parts that share no task ({}{more} workers): between parts only majority vote says which \
         class is which",
        parts.count(),
        sizes.join(", "),
    ));
}
