//! How good each worker is, worst first, and what a worker takes for what.

use quorate::methods::DawidSkeneEm;
use quorate::simulate::{Amount, Simulation};
use quorate::{Aggregate, Context};

pub(crate) fn main() -> quorate::Result<()> {
    let crowd = Simulation {
        uniform_spammers: Amount::Number(2),
        ..Simulation::default()
    }
    .run(3)?;
    let annotations = &crowd.annotations;
    let fit = DawidSkeneEm::default().fit(annotations, &mut Context::new(0))?;
    let mut workers: Vec<_> = fit.workers(annotations).collect();
    workers.sort_by(|a, b| {
        a.accuracy
            .partial_cmp(&b.accuracy)
            .expect("accuracies are numbers")
    });
    for worker in workers.iter().take(5) {
        let accuracy = worker.accuracy.unwrap_or_default();
        println!(
            "{:<4} {:>4} labels, right in {:.0} %",
            worker.worker,
            worker.labels,
            100.0 * accuracy
        );
    }
    if let Some(model) = &fit.model {
        println!("the first worker's confusion matrix: {:.2?}", model.confusion(0));
    }
    Ok(())
}
