//! What `inspect` and `workers` advise, tried on the public data sets: the error with the advice beside the error of
//! `auto` without it.

use quorate::diagnose::{Inspect, WorkerVerdict, WorkerVerdictKind};
use quorate::{Annotations, Context};
use quorate_testkit::public_data;

use crate::public::{Set, fit};

/// Most points of error that an advice may add on any set.
const MOST: f64 = 0.5;

/// Something to do about the labels.
type Advice = (
    &'static str,
    fn(&Annotations, &[WorkerVerdict]) -> anyhow::Result<Option<Vec<bool>>>,
);

/// Those that are given, and the method of each row that was taken back.
const ACTIONS: [Advice; 4] = [
    ("leave out spammers", |table, verdicts| {
        Ok(without(table, verdicts, &[WorkerVerdictKind::Spammer]))
    }),
    ("leave out adversaries", |table, verdicts| {
        Ok(without(table, verdicts, &[WorkerVerdictKind::Adversary]))
    }),
    ("leave out careless workers", |table, verdicts| {
        Ok(without(table, verdicts, &[WorkerVerdictKind::Careless]))
    }),
    ("keep one of each group of copies", |table, verdicts| {
        Ok(one_of_each(table, verdicts))
    }),
];
const METHODS: [&str; 4] = ["rob-symnmf-em", "dawid-skene", "rob-symnmf", "majority-vote"];

/// Prints the table.
pub fn run(sets: &[String]) -> anyhow::Result<()> {
    let folder = public_data::folder();
    println!(
        "Error of `auto` with each advice, in points above `auto` on the same tasks without it. *Tried*: sets where it applies. An \
         advice that adds more than {MOST} points on any set is not given.\n"
    );
    println!("| advice | tried | mean | worst | on |\n|---|---|---|---|---|");
    let mut rows: Vec<(String, Vec<(f64, String)>)> = Vec::new();
    rows.extend(ACTIONS.map(|(name, _)| (name.to_owned(), Vec::new())));
    rows.extend(METHODS.map(|name| (format!("use {name}"), Vec::new())));
    for name in sets {
        eprintln!("{name}: advice");
        let set = Set::find(&folder, name)?;
        let table = set.read()?;
        let truth = set.true_classes(&table)?;
        let plain = fit(&table, "auto", &[])?.consensus;
        let labels: Vec<Option<usize>> = (0..table.task_count())
            .map(|task| Some(plain.label(task)))
            .collect();
        let verdicts =
            Inspect::default().judge_workers(&table, &fit(&table, "auto", &[])?, &mut Context::new(0))?;
        for (row, (_, act)) in rows.iter_mut().zip(ACTIONS) {
            let Some(kept) = act(&table, &verdicts)? else {
                continue;
            };
            let part = table.keep_workers(|worker| {
                let code = table.workers().find(worker).map_or(0, |code| code as usize);
                kept[code]
            })?;
            let found = fit(&part, "auto", &[])?.consensus;
            let changed: Vec<Option<usize>> = (0..table.task_count())
                .map(|task| {
                    let at = part.tasks().find(table.tasks().get(task))? as usize;
                    (!part.task_slices(at).0.is_empty()).then_some(())?;
                    let class = part.classes().get(found.label(at));
                    table.classes().find(class).map(|class| class as usize)
                })
                .collect();
            row.1.push((above(&changed, &labels, &truth), name.clone()));
        }
        for (row, method) in rows[ACTIONS.len()..].iter_mut().zip(METHODS) {
            let found = fit(&table, method, &[])?.consensus;
            let changed: Vec<Option<usize>> = (0..table.task_count())
                .map(|task| Some(found.label(task)))
                .collect();
            row.1.push((above(&changed, &labels, &truth), name.clone()));
        }
    }
    for (advice, found) in &rows {
        let mean = found.iter().map(|entry| entry.0).sum::<f64>() / found.len().max(1) as f64;
        match found.iter().max_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((worst, on)) => println!("| {advice} | {} | {mean:+.2} | {worst:+.2} | {on} |", found.len()),
            None => println!("| {advice} | 0 | | | |"),
        }
    }
    Ok(())
}

/// Points of error of some labels above those of others, on tasks that have both.
fn above(changed: &[Option<usize>], plain: &[Option<usize>], truth: &[Option<usize>]) -> f64 {
    let (mut known, mut more) = (0.0, 0.0);
    for ((changed, plain), truth) in changed.iter().zip(plain).zip(truth) {
        if let (Some(changed), Some(plain), Some(truth)) = (changed, plain, truth) {
            known += 1.0;
            more += f64::from(u8::from(changed != truth)) - f64::from(u8::from(plain != truth));
        }
    }
    100.0 * more / f64::max(known, 1.0)
}

/// All workers but those of some kinds; none if there are none of them.
fn without(
    table: &Annotations,
    verdicts: &[WorkerVerdict],
    kinds: &[WorkerVerdictKind],
) -> Option<Vec<bool>> {
    let mut kept = vec![true; table.worker_count()];
    let bad = verdicts.iter().filter(|verdict| kinds.contains(&verdict.kind));
    bad.for_each(|verdict| kept[verdict.worker] = false);
    kept.contains(&false).then_some(kept)
}

/// All workers, of each group of copies the one with the most labels; none if there are no groups.
fn one_of_each(table: &Annotations, verdicts: &[WorkerVerdict]) -> Option<Vec<bool>> {
    let labels = table.labels_per_worker();
    let mut kept = vec![true; table.worker_count()];
    for verdict in verdicts {
        let key = |worker: usize| (labels[worker], std::cmp::Reverse(worker));
        let better = |&other: &usize| key(other) > key(verdict.worker);
        kept[verdict.worker] = !verdict.same_errors_as.iter().any(better);
    }
    kept.contains(&false).then_some(kept)
}
