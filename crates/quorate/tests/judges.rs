//! Panels of judges: what copies, shared errors and failures do to verdicts and rates. `quorate-bench judges`
//! runs the same experiments with more panels.

use quorate::Context;
use quorate::judges::{Judges, Panel, PanelFinding, PanelReport, Unscored, VerdictPolicy};
use quorate_testkit::panels::{
    PanelPlan, SimulatedPanel, effective_distance, share_coverage, three_and_copies,
};

const PLAN: PanelPlan = PanelPlan {
    items: 400,
    share: 0.5,
    independent: Vec::new(),
    copies: None,
    failures: 0.0,
};

fn report(panel: &Panel) -> PanelReport {
    Judges::default().run(panel, &mut Context::new(0)).unwrap()
}

#[test]
fn copies_of_a_worse_judge_do_not_outvote_three_independent_ones() {
    for gold in [0, 50] {
        let (mut with_copies, mut alone) = (0.0, 0.0);
        for copies in 1..=9 {
            let errors = three_and_copies(copies, 0.9, gold, 6);
            // A point is what four labels of 400 are; majority vote loses from 3 to 25 points.
            assert!(
                errors.with_copies < errors.alone + 0.02,
                "{copies} copies, {gold} gold: {errors:?}"
            );
            with_copies += errors.with_copies / 9.0;
            alone += errors.alone / 9.0;
        }
        assert!(with_copies < alone + 0.01, "{with_copies} {alone}, {gold} gold");
    }
}

/// One judge against copies of another: each is right about 80 % of the items.
fn one_against_copies(seed: u64) -> SimulatedPanel {
    let plan = PanelPlan {
        independent: vec![[0.8; 2]],
        copies: Some((4, 0.95, [0.8; 2])),
        ..PLAN
    };
    plan.draw(seed)
}

#[test]
fn one_judge_against_copies_of_another_is_undecided_without_gold() {
    for seed in 0..5 {
        let panel = one_against_copies(seed);
        let found = panel.report(0);
        let asks = found.findings.iter().any(|finding| {
            matches!(finding, PanelFinding::CannotTell { alike, outside } if alike.len() == 4 && outside.len() == 1)
        });
        assert!(asks, "{:?}", found.findings);
        assert!(found.prevalence[1].model.is_none() && found.judges[0].accuracy.is_none());
        // Items on which the one judge stands against all four copies.
        let annotations = panel.panel.annotations();
        let disputed: Vec<f64> = (0..400)
            .filter(|&item| {
                let answers: Vec<usize> = annotations.labels_of_task(item).map(|(_, x)| x).collect();
                answers[1..].iter().all(|&answer| answer != answers[0])
            })
            .map(|item| found.verdicts[item].confidence)
            .collect();
        assert!(disputed.len() > 50);
        assert!(
            disputed.iter().all(|&confidence| confidence < 0.85),
            "{disputed:?}"
        );
    }
}

#[test]
fn gold_settles_what_labels_cannot_tell() {
    for seed in 0..5 {
        let panel = one_against_copies(seed);
        let found = panel.report(80);
        let open = found
            .findings
            .iter()
            .any(|finding| matches!(finding, PanelFinding::CannotTell { .. }));
        assert!(!open, "{:?}", found.findings);
        assert!(found.judges.iter().all(|judge| judge.accuracy.is_some()));
    }
}

#[test]
fn gold_can_say_that_the_more_alike_judges_are_the_right_ones() {
    // Three judges of 97 % who err independently, and three who share an error: labels are read as if the
    // first three copied, and gold turns that round.
    let plan = PanelPlan {
        independent: vec![[0.97; 2]; 3],
        copies: Some((3, 0.85, [0.65; 2])),
        ..PLAN
    };
    let mut errors = [0.0; 2];
    for seed in 0..5 {
        let panel = plan.draw(seed);
        errors[0] += panel.error(&panel.report(0), 50) / 5.0;
        errors[1] += panel.error(&panel.report(50), 50) / 5.0;
    }
    assert!(errors[1] < 0.03, "{errors:?}");
}

#[test]
fn effective_number_of_judges_is_within_a_tenth() {
    let independent = |number: usize| vec![[0.85; 2]; number];
    let mut distances = Vec::new();
    for (judges, copies, rate) in [(3, 3, 0.8), (4, 2, 0.9), (5, 5, 0.95)] {
        let plan = PanelPlan {
            items: 500,
            independent: independent(judges),
            copies: Some((copies, rate, [0.75; 2])),
            ..PLAN
        };
        distances.push(effective_distance(&plan, 0, 8));
    }
    // A correlation that all judges share is seen on gold only.
    for (judges, rate) in [(3, 0.5), (5, 0.7)] {
        let plan = PanelPlan {
            items: 500,
            copies: Some((judges, rate, [0.75; 2])),
            ..PLAN
        };
        distances.push(effective_distance(&plan, 200, 8));
    }
    let mean = distances.iter().sum::<f64>() / distances.len() as f64;
    assert!(mean < 0.1, "{distances:?}");
}

#[test]
fn corrected_shares_hold_the_truth() {
    // 95 % of the panels, three standard errors either way. All 500 are in `quorate-bench judges`.
    let held = |(held, all): (usize, usize)| held as f64 / all as f64;
    let blind = share_coverage(0, 100);
    assert!(blind.model.1 == 100 && held(blind.model) >= 0.88, "{blind:?}");
    assert!(
        blind.uncorrected < 90,
        "the plain share should be biased: {blind:?}"
    );
    let known = share_coverage(60, 60);
    assert!(
        held(known.model) >= 0.86 && held(known.rogan_gladen) >= 0.86,
        "{known:?}"
    );
}

#[test]
fn independent_judges_stay_independent() {
    let mut grouped = 0;
    for seed in 0..40 {
        let rates = |judge: usize| [0.65 + 0.05 * judge as f64, 0.95 - 0.04 * judge as f64];
        let plan = PanelPlan {
            independent: (0..6).map(rates).collect(),
            ..PLAN
        };
        grouped += usize::from(!plan.draw(seed).report(0).dependence.groups.is_empty());
    }
    // One in twenty is the promised rate; six of forty come by chance in less than 2 of 100 runs.
    assert!(grouped < 6, "{grouped} of 40");
}

#[test]
fn failures_stay_in_the_denominator() {
    let mut rows = Vec::new();
    for item in 0..10 {
        for judge in ["a", "b", "c"] {
            let answer = match (item, judge) {
                (0, _) => "",
                (1, "b" | "c") => "",
                (8.., _) => "fail",
                _ => "pass",
            };
            rows.push((format!("q{item}"), judge, answer));
        }
    }
    let panel = Panel::from_rows(rows).unwrap();
    let strict = Judges {
        policy: VerdictPolicy::StrictMajority,
        ..Judges::default()
    };
    let with = |settings: Judges| settings.run(&panel, &mut Context::new(0)).unwrap();
    let kept = with(strict);
    // Nobody answered q0, one of three q1; q8 and q9 fail.
    assert_eq!(
        kept.verdicts
            .iter()
            .filter(|verdict| verdict.label.is_none())
            .count(),
        2
    );
    assert_eq!((kept.verdicts[1].answered, kept.verdicts[1].asked), (1, 3));
    assert_eq!(
        (kept.prevalence[1].verdicts, kept.prevalence[1].observed),
        (7 - 1, 0.6)
    );
    let left_out = with(Judges {
        unscored: Unscored::LeftOut,
        ..strict
    });
    assert_eq!(left_out.prevalence[1].observed, 0.75);
    let failed = with(Judges {
        unscored: Unscored::As(0),
        ..strict
    });
    assert_eq!(
        (failed.prevalence[0].observed, failed.prevalence[1].observed),
        (0.4, 0.6)
    );
    let model = report(&panel);
    assert_eq!(model.verdicts[0].label, None);
    assert_eq!(model.verdicts[1].label, Some(1));
    let two = with(Judges {
        quorum: 2,
        ..Judges::default()
    });
    assert_eq!(two.verdicts[1].label, None);
    assert_eq!(
        model
            .judges
            .iter()
            .map(|judge| judge.failures)
            .collect::<Vec<_>>(),
        [1, 2, 2]
    );
}

#[test]
fn repeated_prompts_tell_how_consistent_a_judge_is() {
    let mut rows = Vec::new();
    for item in 0..20 {
        let name = format!("q{item}");
        for judge in ["a", "b", "c"] {
            rows.push((name.clone(), judge, "pass"));
        }
        // Asked twice more: the same answer on 15 items, another one both times on 5.
        let again = if item < 15 { "pass" } else { "fail" };
        rows.push((name.clone(), "a", again));
        rows.push((name, "a", again));
    }
    let found = report(&Panel::from_rows(rows).unwrap());
    let a = found.judges[0].self_consistency.unwrap();
    // Of the three pairs of answers to each of the 5 items one is the same.
    assert_eq!(a.items, 20);
    assert!((a.agreement - (15.0 + 5.0 / 3.0) / 20.0).abs() < 1e-12, "{a:?}");
    assert!(found.judges[1].self_consistency.is_none());
    assert_eq!(found.judges[0].answers, 60);
}

#[test]
fn the_order_of_rows_and_the_number_of_threads_do_not_matter() {
    let plan = PanelPlan {
        items: 120,
        independent: vec![[0.8; 2]; 3],
        copies: Some((2, 0.9, [0.7; 2])),
        failures: 0.05,
        ..PLAN
    };
    let panel = plan.draw(3).panel;
    let annotations = panel.annotations();
    let mut rows: Vec<(String, String, String)> = annotations
        .iter()
        .map(|(item, judge, answer)| {
            (
                annotations.tasks().get(item).to_owned(),
                annotations.workers().get(judge).to_owned(),
                annotations.classes().get(answer).to_owned(),
            )
        })
        .collect();
    let forward = report(&Panel::from_rows(rows.clone()).unwrap());
    rows.reverse();
    let reversed_panel = Panel::from_rows(rows).unwrap();
    let mut context = Context::new(0).with_threads(2).unwrap();
    let backward = Judges::default().run(&reversed_panel, &mut context).unwrap();
    for (item, name) in annotations.tasks().iter().enumerate() {
        let Some(other) = reversed_panel.annotations().tasks().find(name) else {
            continue;
        };
        assert_eq!(
            forward.verdicts[item], backward.verdicts[other as usize],
            "{name}"
        );
    }
    assert_eq!(
        forward.dependence.effective_judges,
        backward.dependence.effective_judges
    );
    assert_eq!(forward.prevalence, backward.prevalence);
}

#[test]
fn small_and_odd_panels_are_reported_on_honestly() {
    let rows = |rows: &[(&str, &str, &str)]| Panel::from_rows(rows.to_vec());
    assert!(rows(&[]).is_err());
    assert!(rows(&[("q1", "a", "")]).is_err());
    let one = report(&rows(&[("q1", "a", "pass"), ("q2", "a", "fail")]).unwrap());
    assert!(one.findings.contains(&PanelFinding::OneJudge));
    assert!(one.verdicts.iter().all(|verdict| verdict.confidence < 0.9));
    let two = report(
        &rows(&[
            ("q1", "a", "pass"),
            ("q1", "b", "fail"),
            ("q2", "a", "fail"),
            ("q2", "b", "fail"),
        ])
        .unwrap(),
    );
    assert!(two.findings.contains(&PanelFinding::TwoVoices));
    assert!(two.verdicts[0].confidence < 0.9 && two.prevalence[0].model.is_none());
    let same = report(&rows(&[("q1", "a", "pass"), ("q1", "b", "pass"), ("q1", "c", "pass")]).unwrap());
    assert!(same.findings.contains(&PanelFinding::OneClass));
    let many: Vec<(String, String, &str)> = (0..51)
        .map(|judge| ("q".to_owned(), format!("j{judge}"), "x"))
        .collect();
    let message = Panel::from_rows(many).unwrap_err().to_string();
    assert!(message.contains("found 51 judges"), "{message}");
}

#[test]
fn more_than_two_classes_have_a_recall_each() {
    let classes = ["a", "b", "c"];
    let wrong = |item: usize, judge: usize| (item + judge).is_multiple_of(judge + 4);
    let mut rows = Vec::new();
    for item in 0..300 {
        for judge in 0..4 {
            // Judge j errs on every (j + 4)-th item, always towards the next class.
            let answer = classes[(item + usize::from(wrong(item, judge))) % 3];
            rows.push((format!("q{item}"), format!("j{judge}"), answer));
        }
    }
    let found = report(&Panel::from_rows(rows).unwrap());
    for judge in &found.judges {
        for (class, recall) in judge.recalls.as_ref().unwrap().iter().enumerate() {
            let right = (0..300)
                .filter(|&item| item % 3 == class && !wrong(item, judge.judge))
                .count();
            let known = right as f64 / 100.0;
            assert!((recall.estimate - known).abs() < 0.1, "{judge:?} {class} {known}");
        }
    }
    let shares: f64 = found
        .prevalence
        .iter()
        .map(|found| found.model.unwrap().estimate)
        .sum();
    assert!((shares - 1.0).abs() < 1e-9);
}
