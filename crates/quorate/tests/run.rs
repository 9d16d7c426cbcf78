//! One run for every face.

use std::sync::Arc;

use quorate::annotations::{Duplicates, Names};
use quorate::internal::model::Rule;
use quorate::internal::run::{
    ClassShares, Knowledge, Outcome, Run, RunOver, Truths, UPDATABLE, join_update, updating,
};
use quorate::methods::{Values, find};
use quorate::simulate::{Coverage, Simulation};
use quorate::{Annotations, Consensus, Context, Error, Remedy};

fn names(names: &[&str]) -> Names {
    names.iter().copied().collect()
}

fn crowd(tasks: usize) -> Annotations {
    let settings = Simulation {
        tasks,
        coverage: Coverage::PerTask(5),
        ..Simulation::default()
    };
    settings.run(1).unwrap().annotations
}

#[test]
fn a_table_and_blocks_come_to_the_same_labels_confidence_and_intervals() {
    let table = crowd(500).with_gold((0..30).map(|task| (task, 0))).unwrap();
    let mut table = Arc::new(table);
    let method = find("dawid-skene").unwrap().with_defaults().unwrap();
    let run = Run {
        method: &*method,
        calibrate: true,
        intervals: Some(0.9),
    };
    let context = || Context::new(0);
    let whole: Outcome<Consensus> = run.over(&mut table, &mut context()).unwrap();
    let parts: Outcome<Rule> = run.over(&mut &*table, &mut context()).unwrap();
    assert_eq!(whole.fit.notes, parts.fit.notes);
    assert!(whole.fit.notes[0].starts_with("share of tasks that mislead"));
    let facts = table.summarise(&whole.fit, true, &mut context()).unwrap();
    let of_blocks = (&*table).summarise(&parts.fit, true, &mut context()).unwrap();
    assert_eq!(facts.worker_agreed, of_blocks.worker_agreed);
    assert!((facts.expected_error() - of_blocks.expected_error()).abs() < 1e-9);
    let error = |outcome: Option<quorate::intervals::ModelIntervals>| outcome.unwrap().error;
    assert!((error(whole.intervals).low - error(parts.intervals).low).abs() < 1e-9);
}

#[test]
fn knowledge_becomes_truths_classes_and_priors() {
    let rows = [("t1", "ann", "cat"), ("t1", "bob", "dog"), ("t2", "ann", "cat")];
    let table = Arc::new(Annotations::from_triples(rows).unwrap());
    let (tasks, classes) = (names(&["t2", "t9"]), names(&["cow"]));
    let gold = Truths {
        tasks: &tasks,
        classes: &classes,
        labels: &[0, 0],
    };
    let knowledge = |shares: &[(&str, f64)], closed| Knowledge {
        gold: Some(gold),
        classes: Some(ClassShares {
            shares: shares
                .iter()
                .map(|&(class, share)| (class.to_owned(), share))
                .collect(),
            tasks: None,
        }),
        closed,
        ..Knowledge::default()
    };
    let (known, told) = knowledge(&[], false).add_to(Arc::clone(&table)).unwrap();
    assert_eq!(known.classes().iter().collect::<Vec<_>>(), ["cat", "cow", "dog"]);
    assert_eq!((known.gold(0), known.gold(1)), (None, Some(1)));
    assert_eq!(told.further_classes.iter().collect::<Vec<_>>(), ["cow"]);
    assert_eq!(told.gold, Some((1, 1)));
    assert_eq!(told.priors.classes.unwrap().shares(), [1.0 / 3.0; 3]);
    // What is in use elsewhere is left as it is.
    assert!(!table.has_gold());

    let refused = |knowledge: Knowledge<'_>, table| knowledge.add_to(table).unwrap_err();
    let closed = refused(knowledge(&[], true), Arc::clone(&table));
    assert!(
        matches!(&closed, Error::UnlistedClass { class, .. } if class == "cow"),
        "{closed}"
    );
    assert_eq!(closed.remedy(), Some(Remedy::ListClass));
    let twice = refused(knowledge(&[], false), known);
    assert_eq!(
        (twice.remedy(), twice),
        (Some(Remedy::GiveTruthsOnce), Error::TruthsTwice)
    );
    let cat = ("cat", 0.5);
    for (shares, words) in [
        (&[cat][..], "no share for class \"cow\""),
        (&[cat, cat], "class \"cat\" is named twice"),
        (&[cat, ("horse", 0.5)], "no class \"horse\""),
    ] {
        let error = refused(knowledge(shares, false), Arc::clone(&table)).to_string();
        assert!(error.contains(words), "{error}");
    }
}

/// The review that every fit ends with is part of an update, too.
#[test]
fn an_update_is_reviewed_as_every_fit_is() {
    let method = find(UPDATABLE).unwrap();
    let values = Values::with(method.parameters, &[]).unwrap();
    let fit = |table: &Annotations| {
        let plain = method
            .with_defaults()
            .unwrap()
            .fit(table, &mut Context::new(0))
            .unwrap();
        (plain, updating(&values).fit(table, &mut Context::new(0)).unwrap())
    };
    // One label a task: nothing can be known of the workers.
    let alone = Annotations::from_codes(
        12,
        4,
        2,
        (0..12).map(|task| (task, task % 4, (task % 3 == 0) as u16)),
    );
    let (plain, update) = fit(&alone.unwrap());
    assert!(
        update.warnings[0].ends_with("the confidence is a guess"),
        "{:?}",
        update.warnings
    );
    assert_eq!(
        (plain.warnings, plain.consensus),
        (update.warnings, update.consensus)
    );
    // Two workers who are known to swap two classes are overturned, and that is said.
    let rows = (0..40u32).flat_map(|task| {
        let (truth, swapped) = ((task % 2) as u16, (1 - task % 2) as u16);
        let others = (0..5).map(move |worker| (task, worker, truth));
        let liars = [(task, 5, swapped), (task, 6, swapped)];
        others.filter(move |_| task < 38).chain(liars)
    });
    let (plain, update) = fit(&Annotations::from_codes(40, 7, 2, rows).unwrap());
    assert!(
        update.warnings[0].contains("2 tasks on which all labels agree"),
        "{:?}",
        update.warnings
    );
    assert_eq!(plain.warnings, update.warnings);
}

#[test]
fn an_update_refuses_classes_that_are_not_listed() {
    let table = |classes: [&str; 2]| {
        let rows = [("t1", "ann", classes[0]), ("t2", "ann", classes[1])];
        Annotations::from_triples(rows).unwrap()
    };
    let (old, new) = (table(["a", "b"]), table(["a", "c"]));
    let refused = join_update(old.clone(), &new, Duplicates::Last, true).unwrap_err();
    assert!(
        matches!(&refused, Error::UnlistedClass { class, .. } if class == "b"),
        "{refused}"
    );
    let (all, joined) = join_update(old, &new, Duplicates::Last, false).unwrap();
    assert_eq!(
        (all.class_count(), joined.new_tasks, joined.new_workers),
        (3, 0, 0)
    );
}

/// Where the model does not fit, the confidence cannot be calibrated: that is said.
#[test]
fn auto_says_where_memory_is_too_small_to_calibrate() {
    let table = crowd(100);
    let method = find("auto").unwrap().with_defaults().unwrap();
    let fit = |bytes| {
        let mut context = Context::new(0).with_memory_limit(bytes);
        method.fit(&table, &mut context).unwrap()
    };
    let said = |fit: &quorate::Fit| fit.warnings.iter().any(|text| text.contains("is not lowered"));
    let (enough, short) = (fit(1 << 30), fit(1 << 12));
    assert!(enough.model.is_some() && !said(&enough), "{:?}", enough.warnings);
    assert!(short.model.is_none() && said(&short), "{:?}", short.warnings);
}
