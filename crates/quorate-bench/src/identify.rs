//! How the error of the identified confusion matrices falls with the number of tasks.

use clap::Args;
use quorate::Context;
use quorate::evaluate::model_distance;
use quorate::methods::METHODS;
use quorate::simulate::{Amount, Coverage, Prior, Quality, Simulation};

/// What to simulate.
#[derive(Debug, Args)]
pub struct IdentifyArgs {
    /// Numbers of tasks
    #[arg(long, value_delimiter = ',', default_value = "5000,20000,80000,320000")]
    tasks: Vec<usize>,
    /// Crowds of each kind
    #[arg(short, long, default_value_t = 3)]
    crowds: u64,
    /// Methods
    #[arg(
        short,
        long,
        value_delimiter = ',',
        default_value = "rob-symnmf,des-symnmf,symnmf,dawid-skene"
    )]
    methods: Vec<String>,
}

/// Prints a Markdown table: mean distance of two columns (half of L1, 0 to 1) for each number of tasks, and the wrong
/// labels at the last.
pub fn run(args: &IdentifyArgs) -> anyhow::Result<()> {
    print!("| classes | pairs | specialists | method |");
    args.tasks.iter().for_each(|tasks| print!(" {tasks} tasks |"));
    println!(" wrong labels, % |\n|{}", "---|".repeat(5 + args.tasks.len()));
    for classes in [3, 5] {
        for (pairs, missing) in [("all", 0.0), ("half missing", 0.5)] {
            for (specialists, number) in [("no", 0), ("yes", classes)] {
                for name in &args.methods {
                    let simulation = Simulation {
                        workers: 25,
                        classes,
                        prior: Prior::Uniform,
                        quality: Quality::Accuracy {
                            lowest: 0.4,
                            highest: 0.8,
                            concentration: 1.0,
                        },
                        experts: Amount::Number(0),
                        specialists: Amount::Number(number),
                        epsilon: 0.0,
                        coverage: Coverage::Probability(0.3),
                        missing_pairs: missing,
                        ..Simulation::default()
                    };
                    print!("| {classes} | {pairs} | {specialists} | {name} |");
                    let mut wrong = 0.0;
                    for &tasks in &args.tasks {
                        let (distance, error) = measure(
                            &Simulation {
                                tasks,
                                ..simulation.clone()
                            },
                            name,
                            args.crowds,
                        )?;
                        print!(" {distance:.4} |");
                        wrong = error;
                    }
                    println!(" {:.1} |", 100.0 * wrong);
                }
            }
        }
    }
    Ok(())
}

/// Mean distance and share of wrong labels.
fn measure(simulation: &Simulation, method: &str, crowds: u64) -> anyhow::Result<(f64, f64)> {
    let method = quorate::methods::find_among(METHODS.iter(), method)?;
    let (mut distance, mut wrong, mut labels) = (0.0, 0, 0);
    for seed in 0..crowds {
        let crowd = simulation.run(seed)?;
        let fit = method
            .with_defaults()?
            .fit(&crowd.annotations, &mut Context::new(seed))?;
        let model = fit
            .model
            .as_ref()
            .ok_or_else(|| anyhow::anyhow!("{} gives no model", method.name))?;
        distance += model_distance(model, &crowd.model)?.mean_l1 / 2.0;
        wrong += (0..crowd.truth.len())
            .filter(|&task| fit.consensus.label(task) != crowd.truth[task])
            .count();
        labels += crowd.truth.len();
    }
    Ok((distance / crowds as f64, wrong as f64 / labels as f64))
}
