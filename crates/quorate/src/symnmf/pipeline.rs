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
    Designated, Form, Identification, Identified, Imputing, Init, Rotation, RowWeights, SymNmf, crowd_matrix,
    expected_labels, identify, identify_from_factor, impute_matrix_free, model_factor, random_factor,
    shrink_to_crowd,
};
use crate::annotations::Names;
use crate::blocks::{Passes, Stage};
use crate::model::{
    AnswerCounts, BlockFit, DawidSkene, Em, EmStart, Fit, RuleSource, Sweep, find_first, reserve_tables,
};
use crate::statistics::{
    Components, Crowd, PairBlocks, cap_labels, has_at_most_pairs, pair_budget, pair_bytes, worker_order,
};
use crate::{Aggregate, Context, Error, Remedy, Result};

/// Tables of M K^2 numbers that the steps hold at a time.
const TABLES: u64 = 8;

/// Margins below this are reported as doubtful.
const DOUBTFUL_MARGIN: f64 = 0.02;

impl Aggregate for SymNmf {
    fn learn(&self, passes: &mut Passes<'_>, context: &mut Context) -> Result<BlockFit> {
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
}

impl SymNmf {
    fn fit_crowd(&self, passes: &mut Passes<'_>, context: &mut Context) -> Result<BlockFit> {
        let classes = passes.class_count();
        reserve_tables(passes, TABLES, context)?;
        let crowd = Crowd::of(passes, context)?;
        if classes == 1 || crowd.parts.workers.iter().all(|&workers| workers < 2) {
            if classes > 1 {
                context.warn(
                    "no two workers share a task, so nothing can be learnt from their agreement: the answer is \
                     Dawid-Skene EM from majority vote, which here repeats the labels, and the confidence says nothing",
                );
            }
            return Em::default().run(passes, EmStart::Votes, context);
        }
        let fit = self.estimate_model(passes, &crowd, context)?;
        let Some(em) = self.refinement() else {
            return Ok(fit);
        };
        let model = fit.model.expect("the steps end with a model");
        em.run(passes, EmStart::Model(model), context)
    }

    /// Counts, imputes, factors and reads off the model; what is done around [`identify`] is the crowd's: a
    /// start from its votes, and matrices of few labels drawn to its own.
    fn estimate_model(
        &self,
        passes: &mut Passes<'_>,
        crowd: &Crowd,
        context: &mut Context,
    ) -> Result<BlockFit> {
        let classes = passes.class_count();
        let priors = context.priors();
        priors.check(passes.worker_count(), classes)?;
        let mut counts = find_first(false, passes, context)?;
        // N K numbers that are not needed again: peak memory is what counts here.
        passes.forget_posteriors();
        let answers = answer_shares(&counts, classes);
        priors.add_to(&mut counts);
        let pooled = crowd_matrix(&counts);
        let (counted, evidence) = (counts.to_model(0.0), counts.labels_per_truth());
        let start = shrink_to_crowd(&counted, &evidence, &pooled, self.shrinkage);
        let found = self.identify(passes, crowd, &start, answers, context)?;
        if let Some(missing) = found.imputation.missing {
            warn_of_missing_pairs(missing.after, passes.worker_count(), context);
        }
        let evidence = expected_labels(&found.model, &crowd.labels);
        let model = shrink_to_crowd(&found.model, &evidence, &pooled, self.shrinkage);
        let tasks = passes.task_count() as usize;
        let model = if priors.is_empty() {
            model
        } else {
            priors.draw(model, &evidence, tasks)
        };
        describe_parts(&crowd.parts, context);
        let margin = found.alignment.margin;
        context.note(format!("alignment margin {margin:.3}"));
        if margin < DOUBTFUL_MARGIN {
            context.warn(format!(
                "which component is which class is nearly a toss-up (margin {margin:.3}): the answers are hardly better \
                 than chance, or two classes are hardly told apart",
            ));
        }
        if self.refinement().is_none() {
            let sweep = Arc::new(Sweep::new(&model));
            passes.set_rule(sweep, Stage::single("posteriors"), context)?;
        }
        Ok(Fit {
            model: Some(model),
            trace: found.imputation.trace,
            iterations: found.imputation.iterations.max(1),
            converged: found.converged,
            ..Fit::direct(RuleSource::Model.into())
        })
    }

    /// Counts pairs and identifies the model. Workers that the factorisation could not reach keep the
    /// matrices of the start.
    fn identify(
        &self,
        passes: &mut Passes<'_>,
        crowd: &Crowd,
        start: &DawidSkene,
        answers: Vec<f64>,
        context: &mut Context,
    ) -> Result<Identified> {
        let weights = self.worker_weights(&crowd.labels);
        let mut how = Identification {
            imputing: Imputing::Designated(Designated::None, Vec::new()),
            factor: self.factor_settings(),
            rotation: Rotation::Towards(start.clone()),
            order: Vec::new(),
            answers,
            alignment_weights: alignment_weights(passes, &crowd.labels),
            weights,
        };
        let blocks = match self.robust_settings() {
            Some(settings) => {
                let factor = match self.init {
                    Init::Votes => {
                        how.rotation = Rotation::Identity;
                        model_factor(start)
                    }
                    Init::Random => random_factor(passes.worker_count(), passes.class_count(), context),
                };
                let Some(blocks) = storable_pairs(self.form, passes, crowd, context)? else {
                    let note = "more pairs of workers than labels: imputed without storing pairs (form = matrix-free)";
                    context.note(note);
                    let (rounds, tol) = (settings.max_iter, settings.tol);
                    let imputed = impute_matrix_free(passes, factor, rounds, tol, context)?;
                    let found = identify_from_factor(imputed, &how, context)?;
                    return Ok(keep_unreached(found, start, &crowd.parts, false));
                };
                how.imputing = Imputing::Robust(settings, factor);
                blocks
            }
            None => {
                let designated = self.go_betweens(passes.workers())?;
                how.imputing = Imputing::Designated(designated, eigenvector_weights(&how.weights, crowd));
                all_pairs(passes, crowd, context)?
            }
        };
        how.order = worker_order(passes, context)?;
        let found = identify(&blocks, &how, context)?;
        if let Some(missing) = found.imputation.missing {
            context.note(format!(
                "{:.2} % of the co-occurrence blocks missing before imputation, {:.2} % after",
                100.0 * missing.before,
                100.0 * missing.after
            ));
            warn_of_missing_pairs(missing.after, blocks.worker_count(), context);
        }
        let eigenvectors = found.imputation.missing.is_some();
        Ok(keep_unreached(found, start, &crowd.parts, eigenvectors))
    }

    /// Weight of each worker in the factorisation.
    fn worker_weights(&self, labels: &[u32]) -> Vec<f64> {
        let total: u64 = labels.iter().map(|&count| u64::from(count)).sum();
        let mean = total as f64 / labels.len() as f64;
        let weight = |&count: &u32| match self.rows {
            RowWeights::Labels => f64::from(count.max(1)) / mean,
            RowWeights::Equal => 1.0,
        };
        labels.iter().map(weight).collect()
    }
}

/// Number of labels of each worker; the gold worker, the last one, outweighs the crowd in what it says of
/// which class is which.
fn alignment_weights(passes: &Passes<'_>, labels: &[u32]) -> Vec<u32> {
    let mut weights = labels.to_vec();
    if let Some(last) = weights.last_mut().filter(|_| passes.has_gold()) {
        *last = u32::try_from(passes.label_count()).unwrap_or(u32::MAX);
    }
    weights
}

/// Eigenvectors of several parts with like eigenvalues can be any mixture: only the largest part has a say.
fn eigenvector_weights(weights: &[f64], crowd: &Crowd) -> Vec<f64> {
    let root = |(&part, weight): (&u32, &f64)| if part == 0 { weight.sqrt() } else { 0.0 };
    crowd.parts.of_worker.iter().zip(weights).map(root).collect()
}

/// Workers that the factorisation could not reach get the matrices of the start: those without any shared
/// task and, in the forms with `eigenvectors`, those outside the largest part of the crowd.
fn keep_unreached(
    mut found: Identified,
    start: &DawidSkene,
    parts: &Components,
    eigenvectors: bool,
) -> Identified {
    let classes = found.model.class_count();
    let mut confusion = found.model.confusions().to_vec();
    for (worker, block) in confusion.chunks_exact_mut(classes * classes).enumerate() {
        let part = parts.of_worker[worker] as usize;
        if parts.workers[part] < 2 || (eigenvectors && part > 0) {
            block.copy_from_slice(start.confusion(worker));
        }
    }
    found.model = DawidSkene::new(found.model.prior().to_vec(), confusion);
    found
}

/// The pairs of workers, if they are worth storing: while there are not many more of them than labels.
fn storable_pairs(
    form: Form,
    passes: &mut Passes<'_>,
    crowd: &Crowd,
    context: &mut Context,
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
        capped.note.into_iter().for_each(|note| context.warn(note));
        PairBlocks::observed(&capped.annotations, context).map(Some)
    });
    if let Some(counted) = counted {
        return counted;
    }
    // Labels of long tasks cannot be left out by name here: pairs that take long to count are not counted.
    if form == Form::Auto && crowd.pairs_of_labels > pair_budget(labels) {
        return Ok(None);
    }
    PairBlocks::of_blocks(passes, most, context)
}

/// All observed pairs of workers, refused if they do not fit into memory.
fn all_pairs(passes: &mut Passes<'_>, crowd: &Crowd, context: &mut Context) -> Result<PairBlocks> {
    if let Some(counted) = passes.look_at_table(|annotations| PairBlocks::observed(annotations, context)) {
        return counted;
    }
    let (workers, classes) = (passes.worker_count() as u64, passes.class_count() as u64);
    let blocks = PairBlocks::of_blocks(passes, u64::MAX, context)?;
    blocks.ok_or_else(|| Error::TooLarge {
        what: "the co-occurrences of all pairs of workers".into(),
        in_use: 0,
        needed: crowd.pairs_of_labels.min(workers * workers / 2) * pair_bytes(classes),
        limit: context.memory_limit(),
        hint: "use a method without pairs, such as dawid-skene, or rob-symnmf with form=matrix-free".into(),
        remedy: Some(Remedy::RaiseMemoryLimit),
    })
}

/// The two workers of these names.
pub(super) fn named_workers(ids: &str, workers: &Names) -> Result<Designated> {
    let problem = |problem: String| Error::parameter("designated", problem);
    let find = |id: &str| {
        let worker = workers.find(id);
        worker.ok_or_else(|| problem(format!("there is no worker {id:?} in the data")))
    };
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

/// Each worker's distribution of answers, `[worker][answer]`.
fn answer_shares(counts: &AnswerCounts, classes: usize) -> Vec<f64> {
    let mut shares = Vec::new();
    for worker in 0..counts.worker_count() {
        let rows = counts.worker(worker).chunks_exact(classes);
        let rows = rows.map(|row| row.iter().sum::<f64>());
        let (total, uniform): (f64, f64) = (rows.clone().sum(), 1.0 / classes as f64);
        shares.extend(rows.map(|row| if total > 0.0 { row / total } else { uniform }));
    }
    shares
}

/// Share of the pairs without a block from which the identified matrices do not get better with more labels.
const MAX_MISSING: f64 = 0.1;

/// `missing`: share of the blocks, those of a worker with itself among them, that are neither observed nor imputed.
fn warn_of_missing_pairs(missing: f64, workers: usize, context: &mut Context) {
    let pairs = missing - 1.0 / workers as f64;
    if pairs > MAX_MISSING {
        context.warn(format!(
            "{:.0} % of the pairs of workers share no task and are taken for 0 here, which the method's condition excludes: \
             more labels do not make the matrices better; rob-symnmf imputes such pairs",
            100.0 * pairs
        ));
    }
}

fn describe_parts(parts: &Components, context: &mut Context) {
    if parts.count() < 2 {
        return;
    }
    let sizes: Vec<String> = parts.workers.iter().take(5).map(usize::to_string).collect();
    let more = if parts.count() > 5 { ", .." } else { "" };
    context.warn(format!(
        "the crowd has {} connected components ({}{more} workers): between components only majority vote says which \
         class is which",
        parts.count(),
        sizes.join(", "),
    ));
}
