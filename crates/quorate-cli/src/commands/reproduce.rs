//! `quorate reproduce`: the paper's tables and figures, the printed value beside ours.

use std::path::PathBuf;
use std::sync::Mutex;

use anyhow::Result;
use clap::Args;
use quorate_lab::{EXPERIMENTS, Experiment, Report, Settings, Setup, Watch, find, write_page};

use crate::args::RunArgs;
use crate::choices::{Choices, one_of};
use crate::printer::Printer;
use crate::progress::Bar;
use crate::session::Session;
use crate::text_table::{TextTable, duration};

/// What to run again.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    quorate reproduce --list                      what there is\n  \
    quorate reproduce --quick                     everything, few trials, some minutes\n  \
    quorate reproduce tab:AMT1 tab:AMT2 -o amt    two tables\n  \
    quorate reproduce fig:conv_symnmf1 --trials 5 --seed 7\n\n\
    Writes index.html (one page that needs nothing else), results.md, results.json and figures/*.svg.\n\
    A name may be shortened to the part after the colon.")]
pub struct ReproduceArgs {
    /// Tables, figures and theorems by their label in the paper; all of them if not given
    #[arg(value_name = "TABLE")]
    tables: Vec<String>,
    /// Show what can be run, and stop
    #[arg(long)]
    list: bool,
    /// Fewer trials, and fewer steps of the slowest methods; the page says where
    #[arg(long)]
    quick: bool,
    /// Folder of the data sets (bluebird, dog, rte, ..)
    #[arg(long, value_name = "DIR", env = "QUORATE_DATA", default_value = "data")]
    data: PathBuf,
    /// Trials of every experiment, instead of its own number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    trials: Option<u32>,
    /// Set-up of the synthetic tables: as the paper's text says, the same with a uniform prior, as the
    /// authors' program has it, or all three. The UCI tables train their annotators by it (text or code)
    #[arg(long, value_parser = one_of(SETUPS), default_value = "all")]
    setup: Setup,
    /// Folder to write to; made if it is not there
    #[arg(short, long, value_name = "DIR", default_value = "reproduction")]
    output: PathBuf,
    #[command(flatten)]
    run: RunArgs,
}

const SETUPS: Choices<Setup> = &[
    ("text", "", Setup::Text),
    ("uniform", "", Setup::Uniform),
    ("code", "", Setup::Code),
    ("all", "", Setup::All),
];

/// Runs the experiments, writes the page and prints what came out.
pub fn run(args: &ReproduceArgs, printer: &mut Printer) -> Result<()> {
    if args.list {
        return printer.data(&listed());
    }
    let chosen: Vec<&'static Experiment> = if args.tables.is_empty() {
        EXPERIMENTS.iter().collect()
    } else {
        args.tables.iter().map(|name| find(name)).collect::<Result<_>>()?
    };
    let session = Session::start(&args.run, printer.quiet());
    let watch = RunBar(Mutex::new(Bar::new("reproduce", printer.quiet())));
    // Better to fail now than after an hour.
    quorate_io::make_output_folder(&args.output)?;
    let ran = quorate_lab::run(&chosen, &settings(args), &session.cancellation(), &watch);
    drop(watch);
    let report = ran?;
    let page = write_page(&report, &args.output)?;
    printer.data(&summary(&report))?;
    printer.note(format!("The page: {}", page.html.display()));
    Ok(())
}

fn settings(args: &ReproduceArgs) -> Settings {
    Settings {
        quick: args.quick,
        trials: args.trials.map(|trials| trials as usize),
        seed: args.run.seed,
        data: args.data.clone(),
        setup: args.setup,
        threads: args.run.threads,
        memory: args.run.memory.bytes(),
        command: command_line(args),
    }
}

/// What decides the numbers of the page, and nothing else.
fn command_line(args: &ReproduceArgs) -> String {
    let mut words = vec!["quorate reproduce".to_owned()];
    words.extend(args.tables.iter().cloned());
    if args.quick {
        words.push("--quick".into());
    }
    if let Some(trials) = args.trials {
        words.push(format!("--trials {trials}"));
    }
    let setup = SETUPS.iter().find(|(_, _, setup)| *setup == args.setup);
    if let Some((name, ..)) = setup.filter(|(.., setup)| *setup != Setup::All) {
        words.push(format!("--setup {name}"));
    }
    words.push(format!("--seed {}", args.run.seed));
    words.join(" ")
}

/// The bar of the whole run.
struct RunBar(Mutex<Option<Bar>>);

impl Watch for RunBar {
    fn update(&self, name: &str, done: f64, total: f64) {
        if let Ok(mut bar) = self.0.lock()
            && let Some(bar) = bar.as_mut()
        {
            bar.show_work(name, done, total);
        }
    }
}

fn listed() -> String {
    let mut table = TextTable::new(["name", ">trials", ">quick", "in the paper"]);
    for experiment in EXPERIMENTS {
        table.row([
            experiment.name.to_owned(),
            experiment.trials.full.to_string(),
            experiment.trials.quick.to_string(),
            experiment.title.to_owned(),
        ]);
        table.row([
            String::new(),
            String::new(),
            String::new(),
            format!("  runs {}", experiment.runs),
        ]);
    }
    table.render()
}

fn summary(report: &Report) -> String {
    let mut table = TextTable::new([
        "in the paper",
        ">better",
        ">equal",
        ">worse",
        ">claims that hold",
        ">time",
    ]);
    for section in &report.sections {
        let [better, equal, worse] = section.verdicts().map(|count| count.to_string());
        let (holding, claims) = section.claims_holding();
        let time = duration(section.seconds.unwrap_or(0.0));
        table.row([
            section.name.clone(),
            better,
            equal,
            worse,
            format!("{holding} of {claims}"),
            time,
        ]);
    }
    table.render()
}
