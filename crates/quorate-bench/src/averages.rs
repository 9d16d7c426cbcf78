//! Averages of several methods' probabilities on the public data sets and thinned copies of them: which
//! members earn their place in `auto`, and what choosing them on other data sets would have given.
//!
//! Every member is fitted once to every copy. An average is a weight for each member; `task-effects` has at
//! least half. The second table leaves each family of data sets out in turn, chooses the average with the
//! lowest mean error on the thinned copies of the others, and scores it on the family left out: what a choice
//! on these sets is worth elsewhere.

use clap::Args;
use quorate::Annotations;
use quorate::model::Consensus;
use quorate_testkit::public_data;

use crate::public::{Set, fit, score};
use crate::trust::copies;

/// What to run.
#[derive(Debug, Args)]
pub struct AveragesArgs {
    /// Families of data sets, sets of one family joined by +
    #[arg(
        short,
        long,
        value_delimiter = ',',
        default_value = "bluebird,dog,labelme,rte,trec,web,age,barzan,cf+cf_amt+weather1000,ducks,face,flower,music,product"
    )]
    families: Vec<String>,
    /// Thinned copies of each kind
    #[arg(short, long, default_value_t = 2)]
    copies: u64,
}

/// Method and parameters of a member.
type Member = (&'static str, &'static [(&'static str, &'static str)]);

/// The members. `task-effects` and the votes come first: every average has the former.
const MEMBERS: [Member; 8] = [
    ("task-effects", &[]),
    ("majority-vote", &[]),
    ("fast-ds", &[]),
    ("dawid-skene", &[("smoothing", "0.1"), ("tol", "1e-5")]),
    ("mace", &[("restarts", "1")]),
    ("ibcc", &[]),
    ("pooled-ds", &[("strength", "1")]),
    ("rob-symnmf", &[]),
];

/// Weights of the members.
type Weights = [f64; MEMBERS.len()];

/// The weights of `auto`.
const AUTO: Weights = [4.0, 2.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0];

/// Error and calibration error in percent.
#[derive(Clone, Copy, Default)]
struct Score {
    error: f64,
    calibration: f64,
}

/// `[average][family][set][copy]`, the full set first.
type Scores = Vec<Vec<Vec<Vec<Score>>>>;

/// Prints two Markdown tables.
pub fn run(args: &AveragesArgs) -> anyhow::Result<()> {
    let folder = public_data::folder();
    let averages = averages();
    let mut scores: Scores = vec![Vec::new(); averages.len()];
    for family in &args.families {
        scores.iter_mut().for_each(|average| average.push(Vec::new()));
        for name in family.split('+') {
            let set = Set::find(&folder, name)?;
            let of_copies = copies(&set.read()?, args.copies)?
                .iter()
                .map(|annotations| {
                    eprintln!("{name}: {} labels", annotations.label_count());
                    score_averages(&set, annotations, &averages)
                })
                .collect::<anyhow::Result<Vec<Vec<Score>>>>()?;
            for (average, scores) in scores.iter_mut().enumerate() {
                let sets = scores.last_mut().expect("a family was begun");
                sets.push(of_copies.iter().map(|copy| copy[average]).collect());
            }
        }
    }
    print_averages(&averages, &scores);
    print_left_out(&args.families, &averages, &scores);
    Ok(())
}

/// Every member alone; then task-effects with a share of one half or two thirds beside votes (none, one or
/// two parts) and up to two others (one part each).
fn averages() -> Vec<Weights> {
    let single = |member: usize| std::array::from_fn(|at| f64::from(u8::from(at == member)));
    let mut averages: Vec<Weights> = (0..MEMBERS.len()).map(single).collect();
    let others: Vec<usize> = (2..MEMBERS.len()).collect();
    let mut subsets: Vec<Vec<usize>> = vec![Vec::new()];
    subsets.extend(others.iter().map(|&one| vec![one]));
    for (at, &one) in others.iter().enumerate() {
        subsets.extend(others[at + 1..].iter().map(|&two| vec![one, two]));
    }
    for subset in &subsets {
        for votes in [0.0, 1.0, 2.0] {
            let rest = votes + subset.len() as f64;
            for times in [1.0, 2.0] {
                if rest > 0.0 {
                    let mut weights = [0.0; MEMBERS.len()];
                    (weights[0], weights[1]) = (times * rest, votes);
                    subset.iter().for_each(|&member| weights[member] = 1.0);
                    averages.push(weights);
                }
            }
        }
    }
    averages
}

fn score_averages(set: &Set, annotations: &Annotations, averages: &[Weights]) -> anyhow::Result<Vec<Score>> {
    let truth = set.true_classes(annotations)?;
    let fits = MEMBERS
        .iter()
        .map(|(method, parameters)| Ok(fit(annotations, method, parameters)?.consensus));
    let fits: Vec<Consensus> = fits.collect::<anyhow::Result<_>>()?;
    let average = |weights: &Weights| {
        let total: f64 = weights.iter().sum();
        let mut sum = vec![0.0; fits[0].as_slice().len()];
        for (fit, weight) in fits.iter().zip(weights).filter(|(_, weight)| **weight > 0.0) {
            let cells = sum.iter_mut().zip(fit.as_slice());
            cells.for_each(|(cell, value)| *cell += weight / total * value);
        }
        let consensus = Consensus::new(annotations.class_count(), sum);
        let [error, calibration] = score(&consensus, &truth)?;
        Ok(Score { error, calibration })
    };
    averages.iter().map(average).collect()
}

fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values
        .into_iter()
        .fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count)
}

/// Mean over sets, each the mean over its copies, of one family.
fn thinned_error(family: &[Vec<Score>]) -> f64 {
    mean(
        family
            .iter()
            .map(|copies| mean(copies.iter().map(|score| score.error))),
    )
}

fn name(weights: &Weights) -> String {
    let parts: Vec<String> = MEMBERS
        .iter()
        .zip(weights)
        .filter(|(_, weight)| **weight > 0.0)
        .map(|((name, _), weight)| {
            if *weight == 1.0 {
                (*name).to_owned()
            } else {
                format!("{weight} {name}")
            }
        })
        .collect();
    if *weights == AUTO {
        format!("**{} (`auto`)**", parts.join(" + "))
    } else {
        parts.join(" + ")
    }
}

/// Single members, `auto`, and the averages with the lowest error on thinned copies.
fn print_averages(averages: &[Weights], scores: &Scores) {
    println!(
        "Error in percent over the full sets (*mean*; *families*: each family once), over families with thinned copies, the most \
         above majority vote on a full set in points, and the expected calibration error over the full sets.\n"
    );
    println!("| answer | mean | families | thinned | worst | calibration |\n|---|---|---|---|---|---|");
    let thinned = |at: usize| mean(scores[at].iter().map(|family| thinned_error(family)));
    let mut order: Vec<usize> = (MEMBERS.len()..averages.len()).collect();
    order.sort_by(|&a, &b| thinned(a).total_cmp(&thinned(b)));
    let auto = averages
        .iter()
        .position(|weights| *weights == AUTO)
        .expect("auto is an average");
    let best = order.iter().copied().filter(|&at| at != auto).take(8);
    let small = (MEMBERS.len()..averages.len())
        .filter(|&at| averages[at][2..].iter().filter(|weight| **weight > 0.0).count() == 0);
    for at in (0..MEMBERS.len()).chain(small).chain([auto]).chain(best) {
        let full = |pick: fn(&Score) -> f64| {
            scores[at]
                .iter()
                .flatten()
                .map(move |copies| pick(&copies[0]))
                .collect::<Vec<f64>>()
        };
        let votes = scores[1].iter().flatten().map(|copies| copies[0].error);
        let above = full(|score| score.error)
            .into_iter()
            .zip(votes)
            .map(|(own, votes)| own - votes);
        println!(
            "| {} | {:.2} | {:.2} | {:.2} | {:+.1} | {:.2} |",
            name(&averages[at]),
            mean(full(|score| score.error)),
            mean(
                scores[at]
                    .iter()
                    .map(|family| mean(family.iter().map(|copies| copies[0].error)))
            ),
            thinned(at),
            above.fold(f64::NEG_INFINITY, f64::max),
            mean(full(|score| score.calibration)),
        );
    }
    let spread: Vec<f64> = order.iter().map(|&at| thinned(at)).collect();
    println!(
        "\n{} averages; their errors with thinned copies lie between {:.2} and {:.2}, half of them below {:.2}.\n",
        order.len(),
        spread[0],
        spread[spread.len() - 1],
        spread[spread.len() / 2]
    );
}

/// Each family left out in turn.
fn print_left_out(families: &[String], averages: &[Weights], scores: &Scores) {
    println!(
        "| family left out | chosen on the others | its error there | `auto` | majority-vote | task-effects |"
    );
    println!("|---|---|---|---|---|---|");
    let auto = averages
        .iter()
        .position(|weights| *weights == AUTO)
        .expect("auto is an average");
    let mut sums = [0.0; 4];
    for (left_out, family) in families.iter().enumerate() {
        let elsewhere = |average: usize| {
            let others = scores[average]
                .iter()
                .enumerate()
                .filter(|(at, _)| *at != left_out);
            mean(others.map(|(_, family)| thinned_error(family)))
        };
        let chosen = (0..averages.len())
            .min_by(|&a, &b| elsewhere(a).total_cmp(&elsewhere(b)))
            .expect("there are averages");
        let errors = [chosen, auto, 1, 0].map(|at| thinned_error(&scores[at][left_out]));
        sums.iter_mut().zip(errors).for_each(|(sum, error)| *sum += error);
        let cells = errors.map(|error| format!("{error:.2}"));
        println!(
            "| {} | {} | {} |",
            family.replace('+', ", "),
            name(&averages[chosen]),
            cells.join(" | ")
        );
    }
    let means = sums.map(|sum| format!("{:.2}", sum / families.len() as f64));
    println!("| **mean** | | {} |", means.join(" | "));
}
