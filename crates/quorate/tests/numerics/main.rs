//! Every method on random small tables: finite probabilities, rows that sum to one, unanimous tasks that keep
//! their answer or a warning, the same answer under other codes, parameters at the ends of their ranges;
//! objectives that move one way (`objectives.rs`); numbers next to nothing (`denormals.rs`).
//!
//! `RAYON_NUM_THREADS=1 QUORATE_TABLES=100000 cargo test -p quorate --all-features --test numerics --
//! --nocapture` runs as many tables (one thread: these fits are too small to share); `docs/reliability.md`
//! has the figures.

mod denormals;
mod objectives;
mod symmetry;
mod table;

use std::collections::BTreeMap;

use quorate::internal::seeded;
use quorate::methods::{Fit, Kind, Method};
use quorate::{Annotations, Error};
use quorate_baselines::all_methods;
use quorate_testkit::crowds::context;
use quorate_testkit::properties::check_fit;
use rand::{Rng, RngExt};

use table::{Codes, Table};

/// Tables when nobody asks for more.
const TABLES: u64 = 1500;

/// Tables of each of the tests.
fn tables_asked_for() -> u64 {
    std::env::var("QUORATE_TABLES").map_or(TABLES, |text| text.parse().expect("a number of tables"))
}

/// Upper ends of ranges of whole numbers are cut here: restarts of `mace` and `ebcc` are always all done, and
/// 1000 of them take seconds on the largest of these tables. `large_whole_numbers_only_take_time` goes
/// further on a tiny one.
const MAX_REPEATS: usize = 1000;

/// One parameter at an end of its range; or none, half of the time.
fn draw_parameters(method: &Method, rng: &mut impl Rng) -> Vec<(String, String)> {
    if method.parameters.is_empty() || rng.random_bool(0.5) {
        return Vec::new();
    }
    let parameter = &method.parameters[rng.random_range(0..method.parameters.len())];
    let high_end = rng.random_bool(0.5);
    let value = match parameter.kind {
        Kind::Integer(low, high) => {
            if high_end {
                high.min(low.max(MAX_REPEATS)).to_string()
            } else {
                low.to_string()
            }
        }
        Kind::Number(low, high) => if high_end { high } else { low }.to_string(),
        Kind::Choice(words) => words[rng.random_range(0..words.len())].to_owned(),
        Kind::Text => return Vec::new(),
    };
    vec![(parameter.name.to_owned(), value)]
}

/// Fits with some parameters set.
pub(crate) fn fit(method: &Method, given: &[(String, String)], table: &Annotations) -> Result<Fit, Error> {
    method
        .with_parameters(given)?
        .fit(table, &mut context(method, table, 1))
}

/// Methods with steps that choose one class, so that ties on the way go to the lowest one.
const CLASS_CODES_MATTER: &[&str] = &["fast-ds", "auto"];

/// How far posteriors may differ under other codes.
fn slack(method: &Method, given: &[(String, String)]) -> f64 {
    let least = |name: &str| {
        given
            .iter()
            .any(|(key, value)| key == name && value == "0.000001")
    };
    match method.name {
        // The penalty is all that bounds the tables of answers that nobody gave. Its curvature is gamma K^2,
        // and the search ends at a slope of 1e-3: with the least gamma it ends wherever rounding leads it.
        "minimax-entropy" if least("gamma") => 1e-2,
        // The same bits; but a label that all workers gave wins a tie by a hair (2e-9 for each of at most 50
        // classes), and only where it would lose the tie by its code.
        _ if method.canonical_order => 1e-7,
        // Sums in another order may stop one round earlier: at the tolerance of the rounds.
        _ => 1e-6,
    }
}

/// What was seen, for the figures in the docs.
#[derive(Default)]
struct Seen {
    tables: u64,
    refused: u64,
    overturned: u64,
    compared: u64,
    classes_compared: u64,
    /// Tables with the answer of an exchange that leaves the table as it is, by method.
    exchanged: BTreeMap<&'static str, u64>,
    /// Tables with another answer.
    differ: Vec<String>,
    /// Largest difference of a posterior among all others, by method.
    largest: BTreeMap<&'static str, f64>,
}

/// One table, one method.
fn check(number: u64, seen: &mut Seen) {
    let mut rng = seeded(number, 77);
    let table = Table::draw(&mut rng);
    let method = all_methods()
        .cycle()
        .nth(number as usize % all_methods().count())
        .unwrap();
    let given = draw_parameters(method, &mut rng);
    let what = format!("table {number}, {given:?}: {table:?}");
    let annotations = table.build();
    seen.tables += 1;
    let fitted = match fit(method, &given, &annotations) {
        Ok(fitted) => fitted,
        Err(Error::NotApplicable { reason, .. }) => {
            assert!(reason.len() > 20, "{}, {what}: {reason}", method.name);
            seen.refused += 1;
            return;
        }
        Err(error) => panic!("{}, {what}: {error}", method.name),
    };
    check_fit(method, &annotations, &fitted, &what);
    let said = fitted
        .warnings
        .iter()
        .any(|text| text.contains("all labels agree"));
    seen.overturned += u64::from(said);
    // The predictions of the made-up classifier hang on the names of the tasks.
    if method.needs_probabilities {
        return;
    }
    let keep_classes = method.uses_class_order
        || table.ties()
        || CLASS_CODES_MATTER.contains(&method.name)
        || number.is_multiple_of(2);
    let codes = Codes::draw(&table, keep_classes, &mut rng);
    let recoded = table.recoded(&codes, &mut rng);
    let again = fit(method, &given, &recoded.build())
        .unwrap_or_else(|error| panic!("{}, {what}: {error}", method.name));
    seen.compared += 1;
    seen.classes_compared += u64::from(!keep_classes);
    let gap = largest_gap(&table, &codes, &fitted, &again);
    let slack = slack(method, &given);
    if gap <= slack {
        let largest = seen.largest.entry(method.name).or_default();
        *largest = largest.max(gap);
        return;
    }
    let (one, two) = ((&table, &fitted.consensus), (&recoded, &again.consensus));
    if symmetry::carries_over(one, two, method.uses_class_order, slack) {
        *seen.exchanged.entry(method.name).or_default() += 1
    } else {
        seen.differ
            .push(format!("{}, table {number}, {given:?}: {gap:.1e}", method.name))
    }
}

/// Largest difference of a posterior under the codes.
fn largest_gap(table: &Table, codes: &Codes, fitted: &Fit, again: &Fit) -> f64 {
    let mut gap = 0.0f64;
    for task in 0..table.tasks {
        let row = again.consensus.row(codes.tasks[task] as usize);
        for class in 0..table.classes {
            let difference = fitted.consensus.row(task)[class] - row[codes.classes[class] as usize];
            gap = gap.max(difference.abs());
        }
    }
    gap
}

#[test]
fn every_method_keeps_its_promises_on_random_small_tables() {
    let mut seen = Seen::default();
    (0..tables_asked_for()).for_each(|number| check(number, &mut seen));
    println!(
        "{} tables, {} refused in words, {} with an overturned unanimous task and a warning; {} fitted again under other codes, \
         {} of them with other codes of the classes",
        seen.tables, seen.refused, seen.overturned, seen.compared, seen.classes_compared
    );
    for (name, gap) in seen.largest.iter().filter(|(_, gap)| **gap > 1e-9) {
        println!("largest difference of a posterior of {name}: {gap:.1e}");
    }
    println!(
        "answers exchanged with the table: {:?}, in all {}",
        seen.exchanged,
        seen.exchanged.values().sum::<u64>()
    );
    assert!(
        seen.differ.is_empty(),
        "{} tables with another answer: {:#?}",
        seen.differ.len(),
        seen.differ
    );
}

/// Whole numbers are cut here on a tiny table: some count rounds within rounds (`m-steps` of `glad`), which
/// are always all done.
const MAX_REPEATS_WITHIN: usize = 5000;

/// Three workers, four tasks, two classes.
#[test]
fn large_whole_numbers_only_take_time() {
    let rows = [[0, 0, 1], [1, 1, 1], [0, 1, 0], [1, 1, 0]];
    let labels = rows.iter().enumerate().flat_map(|(task, row)| {
        let answers = row.iter().enumerate();
        answers.map(move |(worker, &label)| (task as u32, worker as u32, label))
    });
    let table = Annotations::from_codes(4, 3, 2, labels).unwrap();
    for method in all_methods() {
        for parameter in method.parameters {
            let Kind::Integer(low, high) = parameter.kind else {
                continue;
            };
            for value in [low, high.min(MAX_REPEATS_WITHIN)] {
                let given = [(parameter.name.to_owned(), value.to_string())];
                let fitted = fit(method, &given, &table).unwrap();
                check_fit(method, &table, &fitted, &format!("{given:?}"));
            }
        }
    }
}
