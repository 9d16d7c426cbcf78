//! The steps of the SymNMF family, one after another: co-occurrences, imputation, shifted-ReLU SymNMF, Bayes'
//! rule; optionally EM after that.
//!
//! ```text
//! R_mj = A_m D A_j^T   ->   U U^T = X (missing blocks and diagonal imputed)   ->   H = U Q >= 0   ->   A_m, prior
//! ```
//!
//! Steps: count pairs; start from the confusion matrices counted against vote shares; impute U; rotate into a
//! nonnegative H; read off the model; choose the permutation of the classes (with its margin); posterior.
//!
//! Where the robust form would store more pairs than there are labels, the matrix-free form takes its place:
//! it needs no pairs at all (`form = auto`).
//!
//! Differences from the paper, all measured in `docs/symnmf.md`: the deterministic start from majority vote;
//! blocks weighted by their evidence; workers weighted by their labels in the factorisation; candidates
//! chosen by predicted error in the designated form; one common permutation by assignment.
//!
//! Fails where pairs share too few tasks to say anything (few labels a worker, many classes), and where no
//! worker is near to a specialist for some class. What cannot be identified at all (no two workers share a
//! task) falls back to EM from majority vote, and says so.
//!
//! S. Ibrahim, X. Fu, "Crowdsourcing via Annotator Co-occurrence Imputation and Provable Symmetric
//! Nonnegative Matrix Factorization", ICML 2021.

use std::sync::Arc;

use super::{
    Designated, FactorSettings, Form, Imputation, Init, RobustSettings, RowWeights, crowd_matrix,
    expected_labels, extract_model, factor, identity, impute_designated, impute_matrix_free, impute_robust,
    model_factor, random_factor, rotation_towards, shrink_to_crowd,
};
use crate::annotations::Names;
use crate::blocks::{Passes, Stage};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::model::{
    AnswerCounts, BlockFit, DawidSkene, Em, EmStart, Fit, RuleSource, Sweep, align_classes, find_first,
};
use crate::remedy::Remedy;
use crate::statistics::{
    Components, Crowd, PairBlocks, cap_labels, has_at_most_pairs, pair_budget, worker_order,
};

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
    /// Fits the member. The passes know the posteriors afterwards.
    pub fn fit(&self, passes: &mut Passes<'_>, context: &mut Context) -> Result<BlockFit> {
        if !passes.has_gold() {
            return self.fit_crowd(passes, context);
        }
        // Pairs of workers know nothing of truths: gold enters them as a worker who is always right.
        let priors = context.priors();
        context.set_priors(Arc::new(priors.with_new_worker()));
        let fit = passes.beside_gold_worker(context, |passes, context| self.fit_crowd(passes, context));
        context.set_priors(priors);
        let mut fit = fit?;
        fit.model = fit.model.map(DawidSkene::without_last_worker);
        Ok(fit)
    }

    fn fit_crowd(&self, passes: &mut Passes<'_>, context: &mut Context) -> Result<BlockFit> {
        let classes = passes.class_count();
        reserve(passes, context)?;
        let crowd = Crowd::of(passes, context)?;
        if classes == 1 || crowd.parts.workers.iter().all(|&workers| workers < 2) {
            let mut fit = Em::default().run(passes, EmStart::Votes, context)?;
            if classes > 1 {
                fit.warnings.push(
                    "no two workers share a task, so nothing can be learnt from their agreement: the answer is \
                     Dawid-Skene EM from majority vote, which here repeats the labels, and the confidence says nothing"
                        .into(),
                );
            }
            return Ok(fit);
        }
        let (mut notes, mut warnings) = (Vec::new(), Vec::new());
        let (model, imputed) = self.estimate_model(passes, &crowd, context, (&mut notes, &mut warnings))?;
        let mut fit = match self.em {
            Some(em) => em.run(passes, EmStart::Model(model), context)?,
            None => {
                let sweep = Arc::new(Sweep::new(&model));
                passes.set_rule(sweep, Stage::single("posteriors"), context)?;
                Fit {
                    model: Some(model),
                    trace: imputed.trace,
                    iterations: imputed.iterations.max(1),
                    converged: imputed.converged,
                    ..Fit::direct(RuleSource::Model.into())
                }
            }
        };
        fit.warnings = warnings;
        fit.notes = notes;
        Ok(fit)
    }

    /// Counts, imputes, factors and reads off the model.
    fn estimate_model(
        &self,
        passes: &mut Passes<'_>,
        crowd: &Crowd,
        context: &mut Context,
        (notes, warnings): (&mut Vec<String>, &mut Vec<String>),
    ) -> Result<(DawidSkene, Imputation)> {
        let classes = passes.class_count();
        let priors = context.priors();
        priors.check(passes.worker_count(), classes)?;
        let mut counts = find_first(false, passes, context)?;
        // N K numbers that are not needed again: peak memory is what counts here.
        passes.forget_posteriors();
        let answers = answer_shares(&counts, classes);
        priors.add_to(&mut counts);
        let pooled = crowd_matrix(&counts);
        let start = shrink_to_crowd(
            &counts.to_model(0.0),
            &counts.labels_per_truth(),
            &pooled,
            self.shrinkage,
        );
        let weights = self.worker_weights(&crowd.labels);
        let imputed = self.impute(passes, crowd, &start, &weights, context, (notes, warnings))?;
        let h = self.rotate(&imputed.factor, &start, &weights, context)?;
        let mut model = extract_model(&h, &weights, &answers, classes);
        let mut alignment_weights = crowd.labels.clone();
        if passes.has_gold() {
            // The last worker is gold: what it says of which class is which outweighs the crowd.
            let last = alignment_weights.len() - 1;
            alignment_weights[last] = u32::try_from(passes.label_count()).unwrap_or(u32::MAX);
        }
        let alignment = align_classes(&model, &alignment_weights);
        model = model.with_truth_order(&alignment.order);
        model = self.keep_unreached(model, &start, &crowd.parts);
        let evidence = expected_labels(&model, &crowd.labels);
        model = shrink_to_crowd(&model, &evidence, &pooled, self.shrinkage);
        if !priors.is_empty() {
            model = priors.draw(model, &evidence, passes.task_count() as usize);
        }
        describe_parts(&crowd.parts, warnings);
        notes.push(format!("alignment margin {:.3}", alignment.margin));
        if alignment.margin < DOUBTFUL_MARGIN {
            warnings.push(format!(
                "which component is which class is nearly a toss-up (margin {:.3}): the answers are hardly better than \
                 chance, or two classes are hardly told apart",
                alignment.margin
            ));
        }
        Ok((model, imputed))
    }
}

/// Margins below this are reported as doubtful.
const DOUBTFUL_MARGIN: f64 = 0.02;

impl Pipeline {
    fn impute(
        &self,
        passes: &mut Passes<'_>,
        crowd: &Crowd,
        start: &DawidSkene,
        weights: &[f64],
        context: &mut Context,
        (notes, warnings): (&mut Vec<String>, &mut Vec<String>),
    ) -> Result<Imputation> {
        let designated = match &self.imputing {
            Imputing::Robust { init, form, settings } => {
                let start = match init {
                    Init::Votes => model_factor(start),
                    Init::Random => random_factor(passes.worker_count(), passes.class_count(), context),
                };
                return match storable_pairs(*form, passes, crowd, context, warnings)? {
                    Some(blocks) => {
                        let order = worker_order(passes, context)?;
                        impute_robust(&blocks, &order, start, settings, context)
                    }
                    None => {
                        notes.push(
                            "more pairs of workers than labels: imputed without storing pairs (form = matrix-free)"
                                .into(),
                        );
                        impute_matrix_free(passes, start, settings.max_iter, settings.tol, context)
                    }
                };
            }
            Imputing::Nothing => Designated::None,
            Imputing::Designated(ids) => designated_workers(ids, passes.workers())?,
        };
        let blocks = all_pairs(passes, context, warnings)?;
        // Eigenvectors of several parts with like eigenvalues can be any mixture: only the largest part has a
        // say.
        let in_largest = |worker: usize| crowd.parts.of_worker[worker] == 0;
        let root = |(worker, weight): (usize, &f64)| if in_largest(worker) { weight.sqrt() } else { 0.0 };
        let roots: Vec<f64> = weights.iter().enumerate().map(root).collect();
        let order = worker_order(passes, context)?;
        let imputed = impute_designated(&blocks, &designated, &order, &roots, context)?;
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
    fn worker_weights(&self, labels: &[u32]) -> Vec<f64> {
        let total: u64 = labels.iter().map(|&count| u64::from(count)).sum();
        let mean = total as f64 / labels.len() as f64;
        let weight = |&count: &u32| match self.rows {
            RowWeights::Labels => f64::from(count.max(1)) / mean,
            RowWeights::Equal => 1.0,
        };
        labels.iter().map(weight).collect()
    }

    /// Workers that the factorisation could not reach keep the matrices of the start: those without any
    /// shared task and, in the forms with eigenvectors, those outside the largest part of the crowd.
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

/// The pairs of workers, if they are worth storing: while there are not many more of them than labels.
fn storable_pairs(
    form: Form,
    passes: &mut Passes<'_>,
    crowd: &Crowd,
    context: &mut Context,
    warnings: &mut Vec<String>,
) -> Result<Option<PairBlocks>> {
    let labels = passes.label_count();
    let size = (passes.class_count() * passes.class_count()) as u64;
    let most = match form {
        Form::Pairs => u64::MAX,
        Form::MatrixFree => return Ok(None),
        Form::Auto => labels.max(1_000_000).min((4 * labels).max(4_000_000) / size),
    };
    let counted = passes.look_at_table(|annotations| {
        let capped = cap_labels(annotations, context)?;
        let few = most == u64::MAX || context.run(|| has_at_most_pairs(&capped.annotations, most));
        if !few {
            return Ok(None);
        }
        warnings.extend(capped.note);
        PairBlocks::observed(&capped.annotations, context, warnings).map(Some)
    });
    if let Some(counted) = counted {
        return counted;
    }
    // Labels of long tasks cannot be left out by name here: pairs that take long to count are not counted.
    if form == Form::Auto && crowd.pairs_of_labels > pair_budget(labels) {
        Ok(None)
    } else {
        PairBlocks::of_blocks(passes, most, context)
    }
}

/// All observed pairs of workers, refused if they do not fit into memory.
fn all_pairs(
    passes: &mut Passes<'_>,
    context: &mut Context,
    warnings: &mut Vec<String>,
) -> Result<PairBlocks> {
    if let Some(counted) =
        passes.look_at_table(|annotations| PairBlocks::observed(annotations, context, warnings))
    {
        return counted;
    }
    let blocks = PairBlocks::of_blocks(passes, u64::MAX, context)?;
    blocks.ok_or_else(|| Error::TooLarge {
        what: "the co-occurrences of all pairs of workers".into(),
        in_use: 0,
        needed: context.memory_limit() + 1,
        limit: context.memory_limit(),
        hint: "use a method without pairs, such as dawid-skene, or rob-symnmf with form=matrix-free".into(),
        remedy: Some(Remedy::RaiseMemoryLimit),
    })
}

/// The two workers named, or the best for each block if there are none.
fn designated_workers(ids: &str, workers: &Names) -> Result<Designated> {
    let problem = |problem: String| Error::Parameter {
        name: "designated".into(),
        problem,
    };
    let find = |id: &str| {
        let worker = workers.find(id);
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
fn reserve(passes: &Passes<'_>, context: &Context) -> Result<()> {
    let (workers, classes) = (passes.worker_count() as u64, passes.class_count() as u64);
    let rows = passes.cached_numbers(passes.class_count());
    context.reserve(
        format!("a {classes} x {classes} matrix for each of {workers} workers"),
        8 * (8 * workers * classes * classes + rows),
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
        "the crowd has {} connected components ({}{more} workers): between components only majority vote says which \
         class is which",
        parts.count(),
        sizes.join(", "),
    ));
}
