//! Known truths of some tasks: they are the answer there, and the workers are judged by them.

use quorate::methods::DawidSkeneEm;
use quorate::simulate::{Quality, Simulation};
use quorate::{Aggregate, Context};

pub(crate) fn main() -> quorate::Result<()> {
    let quality = Quality::Accuracy {
        lowest: 0.3,
        highest: 0.7,
        concentration: 1.0,
    };
    let crowd = Simulation {
        quality,
        ..Simulation::default()
    }
    .run(5)?;
    let known = crowd.truth.iter().enumerate().take(100);
    let gold = known.map(|(task, &class)| (task as u32, class as u16));
    let with_gold = crowd.annotations.clone().with_gold(gold)?;
    for (name, table) in [("without gold", &crowd.annotations), ("with gold", &with_gold)] {
        let fit = DawidSkeneEm::default().fit(table, &mut Context::new(0))?;
        let others = fit.consensus.labels().into_iter().zip(&crowd.truth).skip(100);
        let wrong = others.filter(|(label, truth)| label != *truth).count();
        println!(
            "{name}: {wrong} of {} other labels are wrong",
            crowd.truth.len() - 100
        );
    }
    Ok(())
}
