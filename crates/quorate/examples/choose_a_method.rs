//! A method as a type with its parameters, the same one by its name, and all methods on one table.

use quorate::methods::{METHODS, SymNmf, find};
use quorate::simulate::Simulation;
use quorate::{Aggregate, Context};

pub(crate) fn main() -> quorate::Result<()> {
    let crowd = Simulation::default().run(1)?;
    let typed = SymNmf::rob_symnmf().sweeps(50_usize);
    let fit = typed.fit(&crowd.annotations, &mut Context::new(0))?;
    println!("rob-symnmf: {} iterations", fit.iterations);

    let by_name = find("rob-symnmf")?.with_parameters(&[("sweeps".into(), "50".into())])?;
    let same = by_name.fit(&crowd.annotations, &mut Context::new(0))?;
    assert_eq!(fit.consensus, same.consensus);

    for method in METHODS.iter().filter(|method| !method.needs_probabilities) {
        let fit = method
            .with_defaults()?
            .fit(&crowd.annotations, &mut Context::new(0))?;
        let labels = fit.consensus.labels();
        let wrong = labels
            .iter()
            .zip(&crowd.truth)
            .filter(|(label, truth)| label != truth);
        println!(
            "{:<20} {:>4} of {} labels are wrong",
            method.name,
            wrong.count(),
            labels.len()
        );
    }
    Ok(())
}
