//! Verdicts on workers of simulated crowds: false alarms where nobody is a spammer, and spammers found where some are.

use crate::public::fit;
use quorate::Context;
use quorate::diagnose::{Inspect, WorkerVerdictKind};
use quorate::simulate::{Amount, Coverage, Quality, Simulation, WorkerKind};

/// Crowds of each kind.
const SEEDS: u64 = 12;

/// Workers of a crowd, and how many of them are spammers in the second half of the table.
const WORKERS: usize = 40;
const SPAMMERS: usize = 4;

/// Classes, tasks, labels per task.
const CROWDS: [(usize, usize, usize); 5] = [(2, 400, 5), (2, 200, 5), (2, 600, 3), (3, 400, 5), (4, 300, 5)];

/// Prints the table.
pub fn run() -> anyhow::Result<()> {
    println!(
        "Verdicts on {WORKERS} workers of accuracies from 0.6 to 0.95, {SEEDS} crowds of each kind. *Stop paying*: spammers whom the \
         advice says not to pay. *Spammers*: crowds in which {SPAMMERS} answer at random.\n"
    );
    println!(
        "| classes | tasks | labels per task | workers | called spammers | stop paying | spammers | found | stop paying |\n\
         |---|---|---|---|---|---|---|---|---|"
    );
    let mut total = [0; 6];
    for (classes, tasks, per_task) in CROWDS {
        let clean = count(classes, tasks, per_task, 0)?;
        let spammed = count(classes, tasks, per_task, SPAMMERS)?;
        let cells = [clean, spammed].concat();
        total.iter_mut().zip(&cells).for_each(|(sum, cell)| *sum += cell);
        println!("| {classes} | {tasks} | {per_task} | {} |", join(&cells));
    }
    println!("| **all** | | | {} |", join(&total));
    Ok(())
}

fn join(cells: &[usize]) -> String {
    let words: Vec<String> = cells.iter().map(usize::to_string).collect();
    words.join(" | ")
}

/// Workers that could be called spammers (rightly, if there are any), those who are, and those not to be paid.
fn count(classes: usize, tasks: usize, per_task: usize, spammers: usize) -> anyhow::Result<[usize; 3]> {
    let simulation = Simulation {
        tasks,
        workers: WORKERS,
        classes,
        quality: Quality::Accuracy {
            lowest: 0.6,
            highest: 0.95,
            concentration: 3.0,
        },
        experts: Amount::Number(0),
        uniform_spammers: Amount::Number(spammers),
        coverage: Coverage::PerTask(per_task),
        ..Simulation::default()
    };
    let mut counts = [0; 3];
    for seed in 0..SEEDS {
        let crowd = simulation.run(seed)?;
        let settings = Inspect {
            false_discovery_rate: 0.05,
            ..Inspect::default()
        };
        let verdicts = settings.judge_workers(
            &crowd.annotations,
            &fit(&crowd.annotations, "auto", &[])?,
            &mut Context::new(0),
        )?;
        for verdict in verdicts {
            let spammer = crowd.worker_kinds[verdict.worker] == WorkerKind::UniformSpammer;
            if spammer == (spammers > 0) {
                let called = verdict.kind == WorkerVerdictKind::Spammer;
                counts[0] += 1;
                counts[1] += usize::from(called);
                counts[2] += usize::from(called && verdict.advice().contains("do not pay"));
            }
        }
    }
    Ok(counts)
}
