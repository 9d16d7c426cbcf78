//! The same for programs.

use quorate::ranking::{JudgeFit, Ranked};
use serde::Serialize;

use super::{Scale, scale_of};
use crate::record::{each, record};

pub(crate) fn as_json(ranked: &[Ranked], scale: Scale, level: f64, next: Option<usize>) -> impl Serialize {
    each(ranked, move |table| {
        let fit = &table.fit;
        let scale = scale_of(scale, fit);
        let item = |item: usize| table.items().get(item).to_owned();
        let pairs = table.pairs();
        let leaderboard = each(&table.standings, |standing| {
            record! {
                rank: standing.rank,
                item: item(standing.item),
                score: scale(standing.score),
                low: standing.interval.map(|ends| scale(ends.0)),
                high: standing.interval.map(|ends| scale(ends.1)),
                rank_low: standing.ranks.map(|ranks| ranks.0),
                rank_high: standing.ranks.map(|ranks| ranks.1),
                wins: standing.wins,
                losses: standing.losses,
                ties: standing.ties,
                better_than_next: standing.better_than_next,
                group: standing.group + 1,
            }
        });
        let judge = |(judge, found): (usize, &JudgeFit)| {
            let model = found.model;
            record! {
                judge: pairs.map(|pairs| pairs.judges().get(judge).to_owned()),
                comparisons: found.comparisons,
                agreement: found.agreement(),
                discrimination: model.map(|model| model.discrimination),
                discrimination_range: model.map(|model| model.discrimination_range),
                left_lead: model.map(|model| model.side_points() / 100.0),
                position: model.map(|model| model.position),
                position_range: model.map(|model| model.position_range),
                tie_rate: found.tie_rate(),
                swapped_pairs: found.swaps.pairs,
                self_agreement: found.self_agreement(),
                verdict: found.verdict().to_string(),
            }
        };
        let next = next.map(|count| {
            each(fit.next_pairs(count), |next| {
                record! {
                    left: item(next.left),
                    right: item(next.right),
                    judge: next.judge.and_then(|judge| Some(pairs?.judges().get(judge).to_owned())),
                    better: next.better,
                    gain: next.gain,
                }
            })
        });
        record! {
            by: table.by.clone(),
            method: fit.method,
            level: level,
            comparisons: pairs.map(|pairs| pairs.len()),
            leaderboard: leaderboard,
            tied_for_first: each(fit.tied_for_first(level), item),
            judges: each(fit.judges.iter().enumerate(), judge),
            design_effect: fit.design_effect,
            sizes: fit.sizes.map(|sizes| record! {
                scores: sizes.scores,
                discrimination: sizes.discrimination,
                position: sizes.position,
                mean_position: sizes.mean_position,
                ties: sizes.ties,
                mean_ties: sizes.mean_ties.is_finite().then_some(sizes.mean_ties),
            }),
            next: next,
            iterations: fit.iterations,
            converged: fit.converged,
            warnings: fit.warnings.clone(),
            notes: fit.notes.clone(),
        }
    })
}
