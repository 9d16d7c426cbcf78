//! Plans: limits, order, costs, dispatch, and fewer labels than chance.

use quorate::methods::DawidSkeneEm;
use quorate::plan::{Assignment, Dispatch, Plan, Replay, Strategy};
use quorate::simulate::{Amount, Coverage, Prior, Quality, Simulated, Simulation};
use quorate::{Aggregate, Annotations, Context, Fit};

fn crowd(tasks: usize, labels_per_task: usize, seed: u64) -> Simulated {
    Simulation {
        tasks,
        workers: 30,
        classes: 3,
        prior: Prior::Uniform,
        quality: Quality::Accuracy {
            lowest: 0.4,
            highest: 0.95,
            concentration: 1.0,
        },
        experts: Amount::Number(0),
        coverage: Coverage::PerTask(labels_per_task),
        ..Simulation::default()
    }
    .run(seed)
    .unwrap()
}

fn fitted(annotations: &Annotations) -> Fit {
    DawidSkeneEm::default()
        .smoothing(0.1)
        .fit(annotations, &mut Context::new(0))
        .unwrap()
}

#[test]
fn a_plan_keeps_to_its_limits() {
    let crowd = crowd(200, 3, 1);
    let fit = fitted(&crowd.annotations);
    let mut plan = Plan::new(100.0);
    plan.capacity = Some(5);
    plan.excluded = (0..200).map(|task| (task, 3)).collect();
    let planned = plan.run(&crowd.annotations, &fit, &mut Context::new(0)).unwrap();
    assert_eq!(planned.assignments.len(), 100);
    assert_eq!(planned.spent, 100.0);
    let mut given = [0; 30];
    let mut seen = std::collections::HashSet::new();
    for next in &planned.assignments {
        given[next.worker] += 1;
        assert!(
            seen.insert((next.task, next.worker)),
            "never the same worker twice"
        );
        let (workers, _) = crowd.annotations.task_slices(next.task);
        assert!(!workers.contains(&(next.worker as u32)));
    }
    assert!(given.iter().all(|&labels| labels <= 5));
    assert_eq!(given[3], 0);
    assert!(
        planned
            .assignments
            .windows(2)
            .all(|pair| pair[0].gain >= pair[1].gain)
    );
}

/// Half of the plan or less corrects labels: `15 / (15 + labels per worker)` of it compares workers.
#[test]
fn the_whole_budget_is_spent_and_no_more() {
    for (tasks, labels_per_task) in [(200, 2), (200, 3)] {
        let crowd = crowd(tasks, labels_per_task, 4);
        let fit = fitted(&crowd.annotations);
        let plan = |budget: f64, explore: Option<f64>| {
            let plan = Plan {
                explore,
                ..Plan::new(budget)
            };
            plan.run(&crowd.annotations, &fit, &mut Context::new(0)).unwrap()
        };
        for budget in (1..=120).map(f64::from) {
            for explore in [None, Some(0.0), Some(0.3), Some(0.96)] {
                let planned = plan(budget, explore);
                assert_eq!(planned.spent, budget, "{tasks} tasks, explore {explore:?}");
                assert_eq!(planned.assignments.len() as f64, budget);
            }
            // No label costs half.
            assert_eq!(plan(budget + 0.5, None).assignments.len() as f64, budget);
            let corrects = |next: &&Assignment| next.gain > 0.0;
            let share = plan(budget, Some(0.3))
                .assignments
                .iter()
                .filter(corrects)
                .count();
            assert_eq!(
                share as f64,
                (0.7 * budget + 1e-9).floor().max(1.0),
                "of {budget}"
            );
        }
    }
}

#[test]
fn costs_are_kept_and_cheap_workers_preferred() {
    let crowd = crowd(200, 3, 2);
    let fit = fitted(&crowd.annotations);
    let plan = Plan {
        costs: (0..30)
            .map(|worker| if worker < 15 { 1.0 } else { 4.0 })
            .collect(),
        capacity: Some(1000),
        ..Plan::new(50.0)
    };
    let planned = plan.run(&crowd.annotations, &fit, &mut Context::new(0)).unwrap();
    assert!(planned.spent <= 50.0 && planned.spent > 45.0);
    let cheap = planned.assignments.iter().filter(|next| next.worker < 15).count();
    assert!(cheap * 10 > planned.assignments.len() * 9);
}

#[test]
fn the_order_of_the_rows_does_not_matter() {
    let crowd = crowd(80, 3, 3);
    let named = |annotations: &Annotations| {
        let fit = fitted(annotations);
        let planned = Plan::new(40.0)
            .run(annotations, &fit, &mut Context::new(0))
            .unwrap();
        let name = |next: &Assignment| {
            (
                annotations.tasks().get(next.task).to_owned(),
                annotations.workers().get(next.worker).to_owned(),
            )
        };
        planned.assignments.iter().map(name).collect::<Vec<_>>()
    };
    let table = &crowd.annotations;
    let rows: Vec<(String, String, String)> = table
        .iter()
        .map(|(task, worker, class)| {
            let (tasks, workers) = (table.tasks(), table.workers());
            (
                tasks.get(task).into(),
                workers.get(worker).into(),
                table.classes().get(class).into(),
            )
        })
        .collect();
    let forwards = Annotations::from_triples(rows.clone()).unwrap();
    let backwards = Annotations::from_triples(rows.into_iter().rev()).unwrap();
    assert_eq!(named(&forwards), named(&backwards));
}

#[test]
fn bad_settings_are_refused() {
    let crowd = crowd(20, 3, 4);
    let fit = fitted(&crowd.annotations);
    let refused = |plan: Plan| plan.run(&crowd.annotations, &fit, &mut Context::new(0)).is_err();
    for budget in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(refused(Plan::new(budget)));
    }
    assert!(refused(Plan {
        costs: vec![1.0; 3],
        ..Plan::new(5.0)
    }));
    assert!(refused(Plan {
        costs: vec![f64::NAN; 30],
        ..Plan::new(5.0)
    }));
    assert!(refused(Plan {
        target: Some(1.5),
        ..Plan::new(5.0)
    }));
    let without_model = Fit {
        model: None,
        ..fit.clone()
    };
    assert!(
        Plan::new(5.0)
            .run(&crowd.annotations, &without_model, &mut Context::new(0))
            .is_err()
    );
}

#[test]
fn gold_and_certain_tasks_get_no_labels_and_are_retired() {
    let crowd = crowd(50, 3, 5);
    let gold = crowd
        .truth
        .iter()
        .take(25)
        .enumerate()
        .map(|(task, &class)| (task as u32, class as u16));
    let annotations = crowd.annotations.with_gold(gold).unwrap();
    let fit = fitted(&annotations);
    let planned = Plan::new(200.0)
        .run(&annotations, &fit, &mut Context::new(0))
        .unwrap();
    assert!(planned.assignments.iter().all(|next| next.task >= 25));
    assert!((0..25).all(|task| planned.retired.contains(&task)));
}

#[test]
fn more_labels_reach_a_lower_target() {
    let crowd = crowd(300, 2, 6);
    let fit = fitted(&crowd.annotations);
    let now = fit.consensus.expected_error();
    let labels = |target: f64| {
        let plan = Plan {
            target: Some(target),
            ..Plan::new(10.0)
        };
        plan.run(&crowd.annotations, &fit, &mut Context::new(0))
            .unwrap()
            .forecast
            .target
            .unwrap()
            .labels
    };
    assert_eq!(labels((now * 1.5).min(0.9)), Some(0));
    let (half, quarter) = (labels(now / 2.0).unwrap(), labels(now / 4.0).unwrap());
    assert!(0 < half && half < quarter);
}

/// Two groups that share no task: no pair across them is in reach.
#[test]
fn a_dispatch_brings_every_pair_into_reach() {
    for seed in 0..5 {
        let crowd = Simulation {
            tasks: 300,
            workers: 40,
            coverage: Coverage::PerTask(2),
            missing_pairs: 0.8,
            ..Simulation::default()
        }
        .run(seed)
        .unwrap();
        let apart = crowd.annotations.iter().map(|(task, worker, class)| {
            // A worker of its own on every twentieth task.
            let worker = if task % 20 == 0 { 39 } else { worker % 39 };
            (task as u32, worker as u32, class as u16)
        });
        let annotations = Annotations::from_codes(300, 40, 3, apart).unwrap();
        let fit = fitted(&annotations);
        let dispatched = Dispatch::default()
            .run(&annotations, &fit, &mut Context::new(0))
            .unwrap();
        assert!(
            dispatched.out_of_reach_before.unwrap() >= 39,
            "worker 39 is alone"
        );
        assert_eq!(dispatched.out_of_reach_after, Some(0));
        assert!(!dispatched.assignments.is_empty());
        let distinct: std::collections::HashSet<_> = dispatched.assignments.iter().collect();
        assert_eq!(distinct.len(), dispatched.assignments.len());
        for &(task, worker) in &dispatched.assignments {
            assert!(!annotations.task_slices(task).0.contains(&(worker as u32)));
        }
    }
}

/// On trec 12 pairs were left: their workers had been attached, the ones whom they could not reach had not.
#[test]
fn a_dispatch_goes_on_until_nobody_is_out_of_reach() {
    for (groups, strays) in [(2, 1), (3, 2), (5, 3), (8, 4)] {
        // Groups of four who share tasks; the last of each shares tasks with the first of the next, too, and
        // these two err often, so that they are not designated. Strays are alone.
        let mut labels = Vec::new();
        let mut task = 0u32;
        let mut share = |workers: &[u32]| {
            for _ in 0..12 {
                let errs = |worker: u32| matches!(worker % 4, 0 | 3) && (task + worker) % 5 < 2;
                let answer = |worker: u32| (task % 2 == u32::from(errs(worker))) as u16;
                labels.extend(workers.iter().map(|&worker| (task, worker, answer(worker))));
                task += 1;
            }
        };
        for group in 0..groups {
            let first = 4 * group;
            share(&[first, first + 1, first + 2, first + 3]);
            if group + 1 < groups {
                share(&[first + 3, first + 4]);
            }
        }
        (0..strays).for_each(|stray| share(&[4 * groups + stray]));
        let (tasks, workers) = (task as usize, (4 * groups + strays) as usize);
        let table = Annotations::from_codes(tasks, workers, 2, labels).unwrap();
        let fit = quorate::aggregate(&table).unwrap();
        let dispatched = Dispatch::default()
            .run(&table, &fit, &mut Context::new(0))
            .unwrap();
        assert!(dispatched.out_of_reach_before > Some(0));
        assert_eq!(dispatched.out_of_reach_after, Some(0), "{groups} groups");
        let (l, r) = dispatched.designated.unwrap();
        assert!(!dispatched.attached.contains(&l) && !dispatched.attached.contains(&r));
    }
}

#[test]
fn nothing_is_dispatched_where_all_pairs_are_in_reach() {
    let crowd = crowd(300, 8, 7);
    let fit = fitted(&crowd.annotations);
    let dispatched = Dispatch::default()
        .run(&crowd.annotations, &fit, &mut Context::new(0))
        .unwrap();
    assert_eq!((dispatched.designated, dispatched.assignments.len()), (None, 0));
}

#[test]
fn a_plan_needs_fewer_labels_than_chance_and_than_the_most_uncertain_tasks() {
    let mut saved = [0.0; 2];
    let seeds = 4;
    for seed in 0..seeds {
        let full = Simulation {
            tasks: 300,
            workers: 20,
            classes: 3,
            prior: Prior::Uniform,
            quality: Quality::Accuracy {
                lowest: 0.4,
                highest: 0.9,
                concentration: 1.0,
            },
            experts: Amount::Number(0),
            coverage: Coverage::Probability(1.0),
            ..Simulation::default()
        }
        .run(seed)
        .unwrap();
        let truth: Vec<Option<usize>> = full.truth.iter().copied().map(Some).collect();
        let replay = Replay {
            start: 2,
            batch: 150,
            rounds: 6,
            capacity: None,
            explore: None,
        };
        let method = DawidSkeneEm::default().smoothing(0.1);
        let labels = Strategy::ALL.map(|strategy| {
            let mut context = Context::new(seed);
            let curve = replay
                .run(strategy, &full.annotations, &truth, &method, &mut context)
                .unwrap();
            assert_eq!(curve.points[0].0, 600);
            curve
        });
        let target = labels[2].points.last().unwrap().1;
        let needed: Vec<f64> = labels
            .iter()
            .map(|curve| curve.labels_to(target).unwrap_or(900.0))
            .collect();
        saved[0] += 1.0 - needed[0] / needed[2];
        saved[1] += 1.0 - needed[0] / needed[1];
    }
    assert!(saved[0] / seeds as f64 > 0.3, "beside random: {saved:?}");
    assert!(saved[1] / seeds as f64 > 0.1, "beside most uncertain: {saved:?}");
}
