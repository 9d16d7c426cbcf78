//! The page holds what it should, stays small, and what people wrote is inert in it.

use quorate::simulate::{Amount, Coverage, Prior, Quality, Simulation};
use quorate::{Annotations, Context};
use quorate_report::{Evidence, PlanOptions, Report};

fn page(annotations: &Annotations, title: &str, truth: Option<&[Option<usize>]>) -> String {
    let fit = quorate::aggregate(annotations).unwrap();
    let options = PlanOptions {
        budget: Some(10.0),
        target: Some(0.05),
    };
    let evidence = Evidence::gather(annotations, &fit, &options, &mut Context::new(0)).unwrap();
    Report {
        title,
        annotations,
        fit: &fit,
        method: "auto",
        seed: 0,
        evidence: &evidence,
        truth,
        task_url: None,
        task_texts: None,
        spreadsheet_safe: false,
    }
    .to_html()
}

#[test]
fn hostile_names_never_become_markup() {
    let bad = "</script><img src=x onerror=alert(1)>\"'\u{202e}\u{1b}[31m";
    let rows = (0..6).flat_map(|task| (0..3).map(move |worker| (task, worker)));
    let rows = rows.map(|(task, worker)| {
        (
            format!("{bad}{task}"),
            format!("{bad}{worker}"),
            format!("{bad}{}", task % 2),
        )
    });
    let html = page(&Annotations::from_triples(rows).unwrap(), bad, None);
    assert!(!html.contains("<img"));
    assert!(!html.contains('\u{202e}') && !html.contains('\u{1b}'));
    // The style sheet and the two scripts of the page itself, nothing else.
    assert_eq!(html.matches("<script").count(), 2);
    assert_eq!(html.matches("</script>").count(), 2);
}

#[test]
fn nothing_points_outside() {
    let rows = [
        ("t1", "ann", "a"),
        ("t1", "bob", "b"),
        ("t2", "ann", "a"),
        ("t2", "bob", "a"),
    ];
    let html = page(
        &Annotations::from_triples(rows).unwrap(),
        "small",
        Some(&[Some(0), Some(0)]),
    );
    let addresses = html.matches("http").count();
    let of_svg = html.matches("http://www.w3.org/2000/svg").count() + html.matches("http-equiv").count();
    assert_eq!(addresses, of_svg);
}

#[test]
fn one_task_and_one_worker_still_give_a_page() {
    let html = page(
        &Annotations::from_triples([("t", "w", "a")]).unwrap(),
        "one",
        None,
    );
    assert!(html.contains("<section id=\"tasks\""));
}

/// Two groups without a common task, all of one mind but for one task.
#[test]
fn the_plan_says_when_to_stop_and_whom_to_connect() {
    let rows = (0..30).flat_map(|task| (0..3).map(move |worker| (task, worker)));
    let rows = rows.map(|(task, worker)| {
        let answer = (task + usize::from(task == 0 && worker == 0)) % 2;
        (
            format!("t{task}"),
            format!("w{}", worker + 3 * (task % 2)),
            answer.to_string(),
        )
    });
    let html = page(&Annotations::from_triples(rows).unwrap(), "two groups", None);
    let (_, plan) = html.split_once("<section id=\"plan\"").unwrap();
    let (plan, _) = plan.split_once("</section>").unwrap();
    for part in [
        "Error now",
        "Labels until the error is 5.0 %",
        "data-table=\"dispatch\"",
        "9 pairs of workers cannot be compared",
        "Then every pair can be compared.",
    ] {
        assert!(plan.contains(part), "{part}: {plan}");
    }
    let rows = [("t1", "ann", "a"), ("t1", "bob", "b"), ("t1", "cem", "b")];
    let together = page(&Annotations::from_triples(rows).unwrap(), "one group", None);
    assert!(!together.contains("data-table=\"dispatch\""));
}

/// Every task by two workers of its own.
#[test]
fn a_page_of_too_many_workers_says_that_it_does_not_connect_them() {
    let tasks = quorate::plan::MAX_WORKERS / 2 + 1;
    let rows = (0..tasks).flat_map(|task| [2 * task, 2 * task + 1].map(|worker| (task, worker)));
    let rows = rows.map(|(task, worker)| {
        (
            format!("t{task}"),
            format!("w{worker}"),
            (task % 3 * worker % 2).to_string(),
        )
    });
    let html = page(&Annotations::from_triples(rows).unwrap(), "many workers", None);
    assert!(html.contains("with 32,770 workers there are too many pairs to look at each"));
    assert!(!html.contains("data-table=\"dispatch\""));
}

/// The promise is 2 MB for 10^5 tasks; a tenth of that is drawn here.
#[test]
fn ten_thousand_tasks_take_less_than_a_tenth_of_two_megabytes_beyond_the_page() {
    let crowd = Simulation {
        tasks: 10_000,
        workers: 100,
        classes: 4,
        prior: Prior::Uniform,
        quality: Quality::Accuracy {
            lowest: 0.5,
            highest: 0.9,
            concentration: 1.0,
        },
        experts: Amount::Number(0),
        coverage: Coverage::PerTask(3),
        ..Simulation::default()
    }
    .run(1)
    .unwrap();
    let large = page(&crowd.annotations, "large", None).len();
    let rows = [("t1", "ann", "a"), ("t1", "bob", "b")];
    let empty = page(&Annotations::from_triples(rows).unwrap(), "small", None).len();
    assert!(large - empty < 200_000, "{large} {empty}");
}
