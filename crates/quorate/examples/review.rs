//! The tasks to look at first, and why: `cargo run -p quorate --example review`.

use quorate::review::Review;
use quorate::simulate::Simulation;

pub(crate) fn main() -> quorate::Result<()> {
    let crowd = Simulation {
        tasks: 200,
        workers: 20,
        ..Simulation::default()
    }
    .run(1)?;
    let fit = quorate::aggregate(&crowd.annotations)?;
    for task in (Review { most: 10 }).run(&crowd.annotations, &fit) {
        let reasons: Vec<String> = task.reasons.iter().map(ToString::to_string).collect();
        println!(
            "{}: {} ({:.2}); {}",
            task.task,
            task.label,
            task.confidence,
            reasons.join("; ")
        );
    }
    Ok(())
}
