//! Objectives that a method says do not fall, or do not rise: on every random table, for every way to run the
//! method that the promise holds for.
//!
//! No promise, and so not here: `task-effects` (Laplace approximation and MacKay updates are not exact),
//! `pooled-ds` (the strength of the crowd moves between the rounds; it has no trace), `auto` (an average),
//! `mace` other than plain EM without smoothing (its trace leaves the prior out), `tensor-admm` (ADMM is not
//! monotone), and all methods without a trace.

use quorate::internal::seeded;
use quorate_baselines::find;

use crate::fit;
use crate::table::Table;

/// Which way an objective moves.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Up,
    Down,
}

/// A method, its parameters, and which way its objective moves.
type Promise = (&'static str, &'static [(&'static str, &'static str)], Way);

const PROMISES: &[Promise] = &[
    ("dawid-skene", &[], Way::Up),
    ("dawid-skene", &[("smoothing", "0.1")], Way::Up),
    ("dawid-skene", &[("prior", "flat")], Way::Up),
    ("dawid-skene", &[("tol", "0")], Way::Up),
    ("one-coin", &[], Way::Up),
    ("one-coin", &[("prior", "flat")], Way::Up),
    ("one-coin", &[("tol", "0")], Way::Up),
    ("fast-ds", &[], Way::Up),
    ("fast-ds", &[("start", "majority")], Way::Up),
    ("fast-ds", &[("smoothing", "0.1")], Way::Up),
    ("rob-symnmf-em", &[], Way::Up),
    ("rob-symnmf-em", &[("smoothing", "0")], Way::Up),
    ("des-symnmf-em", &[], Way::Up),
    ("symnmf-em", &[], Way::Up),
    ("spectral-ds", &[], Way::Up),
    ("ibcc", &[], Way::Up),
    ("ebcc", &[], Way::Up),
    ("ebcc", &[("class-counts", "one")], Way::Up),
    ("glad", &[], Way::Up),
    ("minimax-entropy", &[], Way::Up),
    ("minimax-entropy", &[("model", "ordinal")], Way::Up),
    ("mace", &[("update", "em"), ("smoothing", "0")], Way::Up),
    ("rob-symnmf", &[], Way::Down),
    ("rob-symnmf", &[("solver", "gradient")], Way::Down),
    ("rob-symnmf", &[("form", "matrix-free")], Way::Down),
    ("rob-symnmf-uniform", &[], Way::Down),
    ("rob-symnmf-uniform", &[("form", "matrix-free")], Way::Down),
    ("cnmf", &[], Way::Down),
    ("cnmf", &[("update", "mirror")], Way::Down),
];

/// Rounding: sums of some hundred logarithms.
const ROUNDING: f64 = 1e-9;

#[test]
fn objectives_move_one_way() {
    let mut steps = vec![0u64; PROMISES.len()];
    let mut broken = Vec::new();
    for number in 0..crate::tables_asked_for() {
        let promise = number as usize % PROMISES.len();
        let (name, given, way) = PROMISES[promise];
        let table = Table::draw(&mut seeded(number, 78));
        let given: Vec<(String, String)> = given
            .iter()
            .map(|&(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let fitted = fit(find(name).unwrap(), &given, &table.build()).unwrap();
        for (round, pair) in fitted.trace.windows(2).enumerate() {
            steps[promise] += 1;
            let worse = match way {
                Way::Up => pair[0] - pair[1],
                Way::Down => pair[1] - pair[0],
            };
            if worse > ROUNDING * (1.0 + pair[0].abs()) {
                broken.push(format!(
                    "{name} {given:?}, table {number}, gold {}, classes {}, round {round} of {}: {} then {}",
                    !table.gold.is_empty(),
                    table.classes,
                    fitted.trace.len(),
                    pair[0],
                    pair[1]
                ));
            }
        }
    }
    println!(
        "{} steps of objectives, {} the wrong way",
        steps.iter().sum::<u64>(),
        broken.len()
    );
    assert!(!steps.contains(&0), "an objective without steps: {steps:?}");
    assert!(broken.is_empty(), "{broken:#?}");
}
