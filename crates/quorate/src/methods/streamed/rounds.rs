//! EM in passes over blocks.

use super::{Answers, LabelBlocks, StreamedFit, vote_rows};
use crate::context::Context;
use crate::error::Result;
use crate::methods::auto::MODEL_STRENGTH;
use crate::methods::pooled_ds::match_model;
use crate::methods::{Auto, PooledDawidSkene};
use crate::model::{AnswerCounts, DawidSkene, Em, Sweep, Tallies};
use crate::parallel::private_chunks;

/// Most tables of counts at a time: labels are on disk to save memory.
const MOST_CHUNKS: usize = 4;

pub(super) fn run_pooled<B: LabelBlocks>(
    pooled: &PooledDawidSkene,
    blocks: &mut B,
    votes: AnswerCounts,
    context: &mut Context,
) -> Result<StreamedFit, B::Error> {
    let strengths = pooled.first_strengths(blocks.class_count());
    let estimate = |counts: &AnswerCounts| pooled.maximise(counts, &strengths);
    let mut fit = run(&pooled.em(), &estimate, blocks, votes, context)?;
    // The objective of this model is not the plain likelihood that EM reports.
    fit.trace.clear();
    Ok(fit)
}

/// Members one after another, then the model that goes with their average.
pub(super) fn run_auto<B: LabelBlocks>(
    auto: &Auto,
    blocks: &mut B,
    votes: AnswerCounts,
    context: &mut Context,
) -> Result<StreamedFit, B::Error> {
    let (workers, classes) = (blocks.worker_count(), blocks.class_count());
    let em = auto.em();
    let fits = [
        run_pooled(&auto.pooled(4.0), blocks, votes.clone(), context)?,
        run_pooled(&auto.pooled(1.0), blocks, votes.clone(), context)?,
        run(
            &em,
            &|counts| counts.to_model(em.smoothing),
            blocks,
            votes,
            context,
        )?,
    ];
    let mut average = StreamedFit {
        trace: Vec::new(),
        iterations: fits.iter().map(|fit| fit.iterations).max().unwrap_or(0),
        converged: true,
        vote_prior: fits[0].vote_prior.clone(),
        model: fits[0].model.clone(),
        answers: Answers::Average {
            members: fits.into_iter().map(|fit| fit.model).collect(),
            misled: 0.0,
        },
    };
    let mut counts = AnswerCounts::zero(workers, classes);
    let mut rows = Vec::new();
    blocks.for_each(&mut |block| {
        context.step("average", 0, None)?;
        context.run(|| average.posterior(block, &mut rows));
        counts.merge(&context.run(|| average.count(block, &rows)));
        Ok(())
    })?;
    average.model = match_model(&counts, MODEL_STRENGTH);
    if let Answers::Average { misled, .. } = &mut average.answers {
        *misled = auto.misled;
    }
    Ok(average)
}

/// EM from the counts against the votes.
pub(super) fn run<B: LabelBlocks>(
    em: &Em,
    estimate: &dyn Fn(&AnswerCounts) -> DawidSkene,
    blocks: &mut B,
    votes: AnswerCounts,
    context: &mut Context,
) -> Result<StreamedFit, B::Error> {
    let (workers, classes) = (blocks.worker_count(), blocks.class_count());
    let vote_prior = votes.prior();
    let maximise = |counts: &AnswerCounts| em.with_prior(estimate(counts));
    let mut fit = StreamedFit {
        model: maximise(&votes),
        trace: Vec::new(),
        iterations: 1,
        converged: false,
        vote_prior,
        answers: Answers::Model,
    };
    let mut before: Option<DawidSkene> = None;
    let (mut rows, mut tallies) = (Vec::new(), Tallies::default());
    let chunks =
        private_chunks(blocks.label_count() as usize, 2 * workers * classes * classes).min(MOST_CHUNKS);
    for round in 1..=em.max_iter {
        // The pass after the last round only tells the objective of the model that is returned.
        let last = round == em.max_iter;
        let (sweep, sweep_before) = (Sweep::new(&fit.model), before.as_ref().map(Sweep::new));
        if !last {
            context.run(|| sweep.start_blocks(&mut tallies, chunks));
        }
        let (mut log_likelihood, mut change) = (0.0, 0.0);
        blocks.for_each(&mut |block| {
            context.step("EM", round, Some(em.max_iter))?;
            let labels = block.view(workers, classes);
            rows.resize(labels.task_count() * classes, 0.0);
            let result = context.run(|| {
                // Without a tolerance nobody asks how far the posteriors moved.
                if em.tol > 0.0 && !last {
                    match &sweep_before {
                        Some(before) => drop(before.run(labels, &mut rows)),
                        None => vote_rows(labels, &fit.vote_prior, &mut rows),
                    }
                }
                match last {
                    true => sweep.run(labels, &mut rows),
                    false => sweep.run_block(&mut tallies, labels, &mut rows),
                }
            });
            log_likelihood += result.log_likelihood;
            change += result.change;
            Ok(())
        })?;
        fit.trace.push(log_likelihood + em.log_prior(&fit.model));
        if last {
            break;
        }
        fit.converged = em.tol > 0.0 && change / ((2 * blocks.task_count()) as f64) < em.tol;
        if fit.converged {
            // In memory the posterior is made once more from the same model: the objective stands twice.
            fit.trace.push(fit.trace[fit.trace.len() - 1]);
            break;
        }
        let counts = context.run(|| sweep.sum_blocks(&tallies, classes));
        before = Some(std::mem::replace(&mut fit.model, maximise(&counts)));
        fit.iterations = round + 1;
    }
    Ok(fit)
}
