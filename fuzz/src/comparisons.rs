//! Comparisons and rankings: what is read is ranked by every method, and leaderboards are read back.

use quorate::Context;
use quorate::ranking::{METHODS, Ranked};
use quorate_io::{ComparisonOptions, read_comparisons, read_scores};

use crate::Target;
use crate::scratch::{check_words, source};

/// Inputs with more names than this say nothing new and take long.
const MAX_ITEMS: usize = 60;

pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "comparisons",
        run: |bytes| {
            for name in ["x.csv", "x.jsonl"] {
                let read = read_comparisons(
                    &source(name, bytes),
                    &ComparisonOptions::default(),
                    &mut |_, _| {},
                );
                let Some(read) = check_words(read) else { continue };
                for (_, table) in read.tables {
                    if table.items().len() <= MAX_ITEMS {
                        METHODS.iter().for_each(|method| rank(method, &table));
                    }
                }
            }
        },
        seeds: || {
            [
                "left,right,winner,judge,prompt\na,b,left,ann,p\nb,a,left,ann,p\na,c,tie,bob,q\n",
                "prompt,chosen,rejected\np,a,b\nq,b,c\n",
                "judge,prompt,item,rank\nann,p,a,1\nann,p,b,2\nann,p,c,2\n",
                "{\"model_a\": \"a\", \"model_b\": \"b\", \"winner\": \"model_b\", \"weight\": 2.5}\n",
                "{\"judge\": \"ann\", \"ranking\": [\"a\", \"b\", \"c\"]}\n",
            ]
            .map(|text| text.as_bytes().to_vec())
            .to_vec()
        },
    },
    Target {
        name: "scores",
        run: |bytes| drop(check_words(read_scores(&source("x.csv", bytes)))),
        seeds: || vec![b"rank,item,score,low,high,group\n1,a,0.5,0.1,0.9,1\n".to_vec()],
    },
];

fn rank(method: &quorate::methods::Method, table: &quorate::ranking::ComparisonTable) {
    let Ok(rank) = method.ranking_with(&[]) else {
        return;
    };
    if let Ok(ranked) = Ranked::run(None, table.clone(), rank.as_ref(), 0.95, &mut Context::new(0)) {
        for standing in &ranked.standings {
            assert!(
                standing.score.is_finite(),
                "{}: a score is {}",
                method.name,
                standing.score
            );
            let ends = standing.interval.unwrap_or_default();
            assert!(
                !ends.0.is_nan() && !ends.1.is_nan(),
                "{}: an interval is not a number",
                method.name
            );
        }
        ranked.fit.next_pairs(5);
    }
}
