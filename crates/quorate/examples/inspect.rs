//! What a table can and cannot tell, before anything is believed.

use quorate::Context;
use quorate::diagnose::Inspect;
use quorate::simulate::{Amount, Simulation};

pub(crate) fn main() -> quorate::Result<()> {
    let crowd = Simulation {
        constant_spammers: Amount::Number(3),
        ..Simulation::default()
    }
    .run(2)?;
    let inspection = Inspect::default().run(
        &crowd.annotations,
        &quorate::aggregate(&crowd.annotations)?,
        &mut Context::new(0),
    )?;
    for finding in &inspection.findings {
        println!(
            "{}: {}\n  {}",
            finding.severity.name(),
            finding.sentence,
            finding.advice
        );
    }
    Ok(())
}
