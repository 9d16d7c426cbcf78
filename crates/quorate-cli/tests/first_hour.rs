//! The first hour: tables as people have them, what is left out, the summary and the list of tasks to review.

mod support;

use std::fs;
use std::path::Path;

use support::{done, folder, run, stable};

fn put(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(name), text).unwrap();
}

fn get(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

/// The small table in other forms, and the labels of the plain one.
fn forms(folder: &Path) -> String {
    let text = get(folder, "labels.csv")
        .replace(",\"so, what\"", "")
        .replace(",comment", "");
    let rows: Vec<Vec<&str>> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect())
        .collect();
    put(
        folder,
        "named.csv",
        &text.replace("task,worker,label", "item_id,Annotator,answer"),
    );
    put(folder, "semicolon.csv", &text.replace(',', ";"));
    let objects: Vec<String> = rows
        .iter()
        .map(|row| {
            format!(
                "{{\"task\":\"{}\",\"worker\":\"{}\",\"label\":\"{}\"}}",
                row[0], row[1], row[2]
            )
        })
        .collect();
    put(folder, "array.json", &format!("[{}]", objects.join(",\n")));
    let mut wide = String::from("task,ann,bob,cem\n");
    for task in rows.chunks(3) {
        wide.push_str(&format!(
            "{},{},{},{}\n",
            task[0][0], task[0][2], task[1][2], task[2][2]
        ));
    }
    put(folder, "wide.csv", &wide);
    done(
        folder,
        "aggregate labels.csv -o plain.csv --workers plain-workers.csv",
    );
    get(folder, "plain.csv") + &get(folder, "plain-workers.csv")
}

#[test]
fn every_form_of_a_table_gives_the_same_bytes() {
    let folder = folder();
    let plain = forms(folder.path());
    for (arguments, told) in [
        (
            "named.csv",
            Some(r#"columns task = "item_id", worker = "Annotator", label = "answer""#),
        ),
        ("semicolon.csv", Some("fields separated by ';'")),
        ("semicolon.csv --delimiter ;", None),
        ("array.json", None),
        (
            "wide.csv --wide",
            Some(r#"the task in column "task", 3 workers in the others"#),
        ),
        ("wide.csv --wide --spill s", Some("3 workers")),
        ("named.csv --spill s", Some("item_id")),
    ] {
        let method = if arguments.contains("--spill") {
            "dawid-skene"
        } else {
            "auto"
        };
        let found = done(
            folder.path(),
            &format!("aggregate {arguments} -m {method} -o out.csv --workers out-workers.csv"),
        );
        let plain = match method {
            "auto" => plain.clone(),
            _ => {
                done(
                    folder.path(),
                    "aggregate labels.csv -m dawid-skene --spill s -o p.csv --workers w.csv",
                );
                get(folder.path(), "p.csv") + &get(folder.path(), "w.csv")
            }
        };
        let written = get(folder.path(), "out.csv") + &get(folder.path(), "out-workers.csv");
        assert_eq!(written, plain, "{arguments}");
        let reading: Vec<&str> = found
            .stderr
            .lines()
            .filter(|line| line.starts_with("read "))
            .collect();
        match told {
            Some(told) => assert!(
                reading.len() == 1 && reading[0].contains(told),
                "{arguments}: {reading:?}"
            ),
            None => assert!(reading.is_empty(), "{arguments}: {reading:?}"),
        }
    }
}

#[test]
fn truth_gold_and_predictions_have_columns_of_any_name() {
    let folder = folder();
    let folder = folder.path();
    let truth = get(folder, "truth.csv");
    put(folder, "odd.csv", &truth.replace("task,label", "picture,animal"));
    put(
        folder,
        "known.csv",
        &truth.replace("task,label", "Item;Truth").replace(',', ";"),
    );
    done(folder, "aggregate labels.csv -m mv -o out.csv");
    let same = done(folder, "evaluate out.csv truth.csv").stdout;
    let named = "evaluate out.csv odd.csv --truth-columns task=picture,label=animal";
    assert_eq!(done(folder, named).stdout, same);
    assert_eq!(done(folder, "evaluate out.csv known.csv").stdout, same);
    let refused = run(folder, "evaluate out.csv odd.csv");
    assert_eq!(refused.code, 2);
    assert!(
        refused.stderr.contains("the task and the label"),
        "{}",
        refused.stderr
    );
    done(
        folder,
        "aggregate labels.csv --gold odd.csv --gold-columns task=picture,label=animal -o x.csv",
    );
    done(
        folder,
        "compare labels.csv --truth odd.csv --truth-columns task=picture,label=animal -m mv",
    );
    // The names of the labels' columns serve for gold as well.
    put(
        folder,
        "pictures.csv",
        &get(folder, "labels.csv").replace("task,worker,label", "picture,who,animal"),
    );
    let named =
        "aggregate pictures.csv --columns task=picture,worker=who,label=animal --gold odd.csv -o y.csv";
    done(folder, named);
}

#[test]
fn workers_and_tasks_are_left_out_by_list_and_by_file() {
    let folder = folder();
    let folder = folder.path();
    put(folder, "drop.txt", "cem\n");
    put(folder, "tasks.csv", "task\nt0\nt1\n");
    let by_list = done(
        folder,
        "aggregate labels.csv -m mv --drop-workers cem,zoe -o a.csv",
    );
    assert!(
        by_list.stderr.contains("1 worker left out by --drop-workers"),
        "{}",
        by_list.stderr
    );
    assert!(
        by_list
            .stderr
            .contains("1 worker listed in --drop-workers not found"),
        "{}",
        by_list.stderr
    );
    done(
        folder,
        "aggregate labels.csv -m mv --drop-workers drop.txt -o b.csv",
    );
    done(
        folder,
        "aggregate labels.csv -m mv --keep-workers ann,bob -o c.csv",
    );
    done(
        folder,
        "aggregate labels.csv -m mv --drop-workers cem --spill s -o d.csv",
    );
    for other in ["b.csv", "c.csv", "d.csv"] {
        assert_eq!(get(folder, other), get(folder, "a.csv"), "{other}");
    }
    done(
        folder,
        "aggregate labels.csv -m mv --drop-tasks tasks.csv -o e.csv",
    );
    done(
        folder,
        "aggregate labels.csv -m mv --drop-tasks t0,t1 --spill s -o f.csv",
    );
    assert_eq!(get(folder, "e.csv"), get(folder, "f.csv"));
    assert_eq!(get(folder, "e.csv").lines().count(), 11);
    done(folder, "aggregate labels.csv -m mv --keep-tasks t0,t1 -o g.csv");
    assert_eq!(get(folder, "g.csv").lines().count(), 3);
    let refused = run(folder, "aggregate labels.csv --drop-workers nowhere.csv");
    assert_eq!(refused.code, 2);
    assert!(
        refused.stderr.contains("there is no such file"),
        "{}",
        refused.stderr
    );
}

/// A simulated crowd with spammers, the README's.
fn crowd(folder: &Path) {
    done(
        folder,
        "simulate -o crowd --tasks 500 --workers 40 --accuracy 0.5,0.9 --labels-per-task 5 --spammers 20%",
    );
}

#[test]
fn the_summary_says_what_people_want_to_know() {
    let folder = folder();
    let folder = folder.path();
    crowd(folder);
    let plain = done(folder, "aggregate crowd/labels.csv -o out.csv");
    insta::assert_snapshot!("summary", stable(&plain.stderr));
    let sure = done(
        folder,
        "aggregate crowd/labels.csv -o out.csv --intervals intervals.csv",
    );
    insta::assert_snapshot!("summary-with-intervals", stable(&sure.stderr));
    // Every face says the same.
    let json = done(folder, "aggregate crowd/labels.csv -o out.csv --json -q");
    let summary: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let percent = |name: &str| 100.0 * summary["estimated_error"][name].as_f64().unwrap();
    let range = format!("{:.1} to {:.1} %", percent("low"), percent("high"));
    let said = format!(
        "estimated error: {:.1} % ({:.0} % range: {range})",
        percent("value"),
        percent("level")
    );
    assert!(sure.stderr.contains(&said), "{said}: {}", sure.stderr);
    done(folder, "report crowd/labels.csv -o page.html");
    assert!(get(folder, "page.html").contains(&range), "{range}");
}

#[test]
fn a_worker_has_one_accuracy_with_one_interval() {
    let folder = folder();
    let folder = folder.path();
    crowd(folder);
    done(
        folder,
        "aggregate crowd/labels.csv -o out.csv --workers fitted.csv",
    );
    done(folder, "workers crowd/labels.csv -o judged.csv");
    let read = |file: &str| {
        let text = get(folder, file);
        let mut lines = text.lines();
        let header: Vec<String> = lines.next().unwrap().split(',').map(str::to_owned).collect();
        let place = |name: &str| header.iter().position(|column| column == name).unwrap();
        let places = ["worker", "accuracy", "low", "high"].map(place);
        let mut rows: Vec<Vec<String>> = lines
            .map(|line| {
                let cells: Vec<&str> = line.split(',').collect();
                places.iter().map(|&place| cells[place].to_owned()).collect()
            })
            .collect();
        rows.sort();
        rows
    };
    let fitted = read("fitted.csv");
    assert!(
        fitted.len() > 10 && fitted.iter().all(|row| !row[2].is_empty()),
        "{fitted:?}"
    );
    assert_eq!(fitted, read("judged.csv"));
}

#[test]
fn tasks_to_review_come_with_their_reasons() {
    let folder = folder();
    let folder = folder.path();
    crowd(folder);
    let shown = done(folder, "aggregate crowd/labels.csv -o out.csv --review 5");
    insta::assert_snapshot!("review-shown", stable(&shown.stderr));
    done(
        folder,
        "aggregate crowd/labels.csv -m dawid-skene -o out.csv --review review.csv --review-tasks 20",
    );
    let list = get(folder, "review.csv");
    assert!(list.starts_with("task,label,confidence,runner_up,runner_up_probability,votes,reasons\n"));
    assert!(list.lines().count() <= 21 && list.lines().count() > 10, "{list}");
    let confidence = |line: &str| line.split(',').nth(2).unwrap().parse::<f64>().unwrap();
    let sorted: Vec<f64> = list.lines().skip(1).map(confidence).collect();
    assert!(sorted.is_sorted(), "{sorted:?}");
    // On disk the same list.
    done(
        folder,
        "aggregate crowd/labels.csv -m dawid-skene --spill s -o out.csv --review disk.csv --review-tasks 20",
    );
    assert_eq!(get(folder, "disk.csv"), list);
    // To check them finds more wrong labels than chance does.
    done(folder, "evaluate out.csv crowd/truth.csv");
    let truth = get(folder, "crowd/truth.csv");
    let wrong = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        !truth.contains(&format!("{},{}\n", cells[0], cells[1]))
    };
    let found = list.lines().skip(1).filter(|line| wrong(line)).count();
    let all = get(folder, "out.csv")
        .lines()
        .skip(1)
        .filter(|line| wrong(line))
        .count();
    assert!(
        found * 500 > 2 * all * sorted.len(),
        "{found} of {} and {all} of 500",
        sorted.len()
    );
}

#[test]
fn compare_leaves_slow_methods_out_and_stops_at_the_limit() {
    let folder = folder();
    let folder = folder.path();
    let fast = done(folder, "compare labels.csv --truth truth.csv");
    assert!(
        !fast.stdout.contains("cria-v") && fast.stdout.contains("auto"),
        "{}",
        fast.stdout
    );
    assert!(fast.stderr.contains("--all runs them, too"), "{}", fast.stderr);
    assert!(fast.stderr.contains("majority-vote: error"), "{}", fast.stderr);
    crowd(folder);
    let stopped = done(
        folder,
        "compare crowd/labels.csv -m majority-vote,cria-v --limit 0.001",
    );
    assert!(stopped.stdout.contains("stopped after"), "{}", stopped.stdout);
    assert!(stopped.stdout.contains("majority-vote"), "{}", stopped.stdout);
}

#[test]
fn evaluate_shows_classes_in_natural_order_and_twenty_of_them() {
    let folder = folder();
    let folder = folder.path();
    let labels: String = (0..60).map(|task| format!("t{task},{}\n", task % 25)).collect();
    put(folder, "many.csv", &format!("task,label\n{labels}"));
    let found = done(folder, "evaluate many.csv many.csv");
    assert!(
        found
            .stdout
            .contains("and 5 classes with fewer truths (--all-classes)"),
        "{}",
        found.stdout
    );
    let classes = |text: &str| -> Vec<u32> {
        text.lines()
            .filter_map(|line| line.split_whitespace().next()?.parse().ok())
            .collect()
    };
    let shown = classes(&found.stdout);
    assert!(shown.len() == 20 && shown.is_sorted(), "{shown:?}");
    let all = done(folder, "evaluate many.csv many.csv --all-classes");
    assert_eq!(classes(&all.stdout), (0..25).collect::<Vec<_>>());
}

#[test]
fn help_has_headings() {
    let folder = folder();
    let help = done(folder.path(), "aggregate --help").stdout;
    for heading in [
        "Reading:",
        "Method:",
        "Output:",
        "How sure:",
        "What you know already:",
        "Updates:",
        "Running:",
    ] {
        assert!(help.contains(heading), "{heading}");
    }
    // What a command does is not a part of how it reads.
    for command in [
        "compare", "convert", "inspect", "judges", "plan", "report", "workers",
    ] {
        let help = done(folder.path(), &format!("{command} --help")).stdout;
        let (_, reading) = help.split_once("Reading:").unwrap();
        let is_heading = |line: &&str| line.ends_with(':') && !line.starts_with(' ');
        let options: Vec<&str> = reading
            .lines()
            .take_while(|line| !is_heading(line))
            .filter(|line| line.trim_start().starts_with('-'))
            .collect();
        assert!(
            options.last().is_some_and(|last| last.contains("--use-gold")),
            "{command}: {options:?}"
        );
    }
}

#[test]
fn errors_of_simulate_name_options() {
    let folder = folder();
    for (arguments, option) in [
        ("simulate -o c --spammers 99", "--spammers"),
        ("simulate -o c --accuracy 2,3", "--accuracy"),
        ("simulate -o c --workers 0", "--workers"),
    ] {
        let refused = run(folder.path(), arguments);
        assert_eq!(refused.code, 2, "{arguments}");
        assert!(refused.stderr.contains(option), "{arguments}: {}", refused.stderr);
    }
}

#[test]
fn control_characters_of_ids_do_not_reach_the_terminal() {
    let folder = folder();
    put(
        folder.path(),
        "odd.csv",
        "task,worker,label\n\u{1b}[31mt1,w\u{7}1,a\nt1,w2,\u{1b}b\nt2,w\u{7}1,a\nt2,w2,a\n",
    );
    for arguments in [
        "aggregate odd.csv -m dawid-skene -o out.csv --review 5",
        "inspect odd.csv",
        "evaluate out.csv out.csv",
        "aggregate odd.csv --classes a",
    ] {
        let found = run(folder.path(), arguments);
        for text in [found.stdout, found.stderr] {
            assert!(!text.contains(['\u{1b}', '\u{7}']), "{arguments}: {text:?}");
        }
    }
}

#[test]
fn an_empty_class_and_a_limit_that_is_no_number_are_refused() {
    let folder = folder();
    let found = run(folder.path(), "aggregate labels.csv --classes cat,dog,");
    assert_eq!(found.code, 2);
    assert!(found.stderr.contains("empty class"), "{}", found.stderr);
    let found = run(folder.path(), "evaluate truth.csv truth.csv --fail-above nan");
    assert_eq!(found.code, 2, "{}", found.stderr);
}

#[test]
fn an_empty_gold_label_is_said() {
    let folder = folder();
    put(folder.path(), "gold.csv", "task,label\nt1,dog\nt2,\n");
    let found = run(folder.path(), "aggregate labels.csv --gold gold.csv -o out.csv");
    assert!(
        found.stderr.contains("1 row of --gold without a label"),
        "{}",
        found.stderr
    );
}

#[test]
fn an_error_while_writing_leaves_no_output_behind() {
    let folder = folder();
    // A NUL byte can come in by JSON and cannot go out by CSV.
    put(
        folder.path(),
        "nul.jsonl",
        "{\"task\":\"a\\u0000\",\"worker\":\"w\",\"label\":\"x\"}\n{\"task\":\"b\",\"worker\":\"v\",\"label\":\"y\"}\n",
    );
    let before = fs::read_dir(folder.path()).unwrap().count();
    let found = run(
        folder.path(),
        "aggregate nul.jsonl -m dawid-skene -o no.csv --model m.json --workers w.csv",
    );
    assert_eq!(found.code, 2, "{}", found.stderr);
    assert!(found.stderr.contains("NUL"), "{}", found.stderr);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), before);
}
