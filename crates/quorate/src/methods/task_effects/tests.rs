use super::*;
use crate::methods::tests::assert_close;
use crate::model::Priors;

/// Six tasks (rows), four workers, three classes; `None`: no label.
fn toy() -> Annotations {
    let rows = [
        [Some(0), Some(0), Some(1), Some(0)],
        [Some(1), Some(1), Some(1), Some(2)],
        [Some(2), Some(0), Some(2), Some(2)],
        [Some(0), Some(0), Some(0), None],
        [Some(1), Some(2), Some(1), Some(1)],
        [Some(2), Some(2), None, Some(0)],
    ];
    let labels = rows.iter().enumerate().flat_map(|(task, row)| {
        let given = row.iter().enumerate();
        given.filter_map(move |(worker, label)| label.map(|label| (task as u32, worker as u32, label)))
    });
    Annotations::from_codes(6, 4, 3, labels).unwrap()
}

/// Runs so many rounds on the toy; returns the rounds to look into.
fn run<'p>(problem: &'p Problem<'p>, priors: &'p Priors, count: usize) -> (EffectRounds<'p>, usize) {
    let context = Context::new(0);
    let start = crate::methods::vote_fractions(&toy());
    let start = start.as_slice();
    let mut rounds = EffectRounds::new(&TaskEffects::default(), problem, start, priors, &context);
    rounds.start();
    for round in 0..count {
        rounds.round(round);
        if round > rounds::EARLY && rounds.largest_change() < 1e-3 {
            return (rounds, round + 1);
        }
    }
    (rounds, count)
}

/// Values of the reference program (NumPy, `task_effects_reference.py`), six printed decimals: half a unit of
/// the last one may differ.
const PRINTED: f64 = 6e-7;

#[test]
fn toy_numbers_of_the_reference() {
    let annotations = toy();
    let problem = Problem::new(&annotations, true);
    let priors = Priors::default();

    let (rounds, _) = run(&problem, &priors, 1);
    let abilities = rounds.parameters_for_tests().abilities();
    assert_close(&abilities, &[0.244936, -0.105284, 0.066604, -0.153109], PRINTED);
    // The reference prints [truth][answer].
    let crowd = [
        1.059855, -0.832041, -0.363393, -0.781127, 0.936391, -0.278264, -0.407669, -0.333166, 0.681198,
    ];
    assert_close(&transposed(&rounds.parameters_for_tests().crowd), &crowd, PRINTED);
    let found = rounds.finish();
    #[rustfmt::skip]
    assert_close(&found.rows, &[
        0.830251, 0.079737, 0.090011, 0.021744, 0.851081, 0.127176, 0.189984, 0.055473, 0.754543,
        0.938514, 0.015567, 0.045919, 0.02253, 0.842524, 0.134945, 0.265853, 0.093914, 0.640233,
    ], PRINTED);
    assert_close(&found.prior, &[0.363538, 0.320096, 0.316366], PRINTED);

    let found = run(&problem, &priors, 2).0.finish();
    #[rustfmt::skip]
    assert_close(&found.rows, &[
        0.877672, 0.032865, 0.089463, 0.022138, 0.914832, 0.063029, 0.113029, 0.049424, 0.837547,
        0.928666, 0.007018, 0.064316, 0.02232, 0.916109, 0.06157, 0.197665, 0.084058, 0.718276,
    ], PRINTED);

    let found = run(&problem, &priors, 6).0.finish();
    #[rustfmt::skip]
    assert_close(&found.rows, &[
        0.938582, 0.008108, 0.05331, 0.017676, 0.974227, 0.008098, 0.0165, 0.033832, 0.949668,
        0.905845, 0.001687, 0.092468, 0.017766, 0.974189, 0.008045, 0.054041, 0.05302, 0.892939,
    ], PRINTED);
    assert_sizes(&found, [0.644697, 0.454110, 0.275994, 0.272925]);

    let (rounds, count) = run(&problem, &priors, 40);
    assert_eq!(count, 21);
    let abilities = rounds.parameters_for_tests().abilities();
    assert_close(&abilities, &[0.236687, -0.088283, 0.024199, -0.10615], PRINTED);
    let crowd = [
        1.598747, -0.219278, -1.430002, -1.600789, 1.326169, 0.179462, 0.261202, -1.569678, 1.204354,
    ];
    assert_close(&transposed(&rounds.parameters_for_tests().crowd), &crowd, PRINTED);
    let found = rounds.finish();
    #[rustfmt::skip]
    assert_close(&found.rows, &[
        0.984679, 0.000863, 0.014458, 0.002232, 0.99699, 0.000777, 0.001015, 0.008046, 0.990938,
        0.962958, 0.000143, 0.036899, 0.002283, 0.996916, 0.000802, 0.011002, 0.020574, 0.968423,
    ], PRINTED);
    assert_sizes(&found, [0.322174, 0.461127, 0.277564, 0.276117]);
    assert_close(&found.prior, &[0.355725, 0.322282, 0.321994], PRINTED);
}

/// s, va, vb, ve.
fn assert_sizes(found: &rounds::Found, expected: [f64; 4]) {
    let parameters::Variances {
        ability,
        bias,
        confusion,
    } = found.variances;
    let sizes = [found.effect, ability.sqrt(), bias.sqrt(), confusion.sqrt()];
    assert_close(&sizes, &expected, PRINTED);
}

fn transposed(table: &[f64]) -> Vec<f64> {
    let classes = table.len().isqrt();
    (0..table.len())
        .map(|cell| table[cell % classes * classes + cell / classes])
        .collect()
}

#[test]
fn equal_tasks_are_visited_once_and_count_as_many() {
    // The toy three times over: merged and one by one the same, but for the order of sums.
    let labels: Vec<(u32, u32, u16)> = toy()
        .iter()
        .flat_map(|(task, worker, label)| {
            (0..3).map(move |copy| (copy * 6 + task as u32, worker as u32, label as u16))
        })
        .collect();
    let annotations = Annotations::from_codes(18, 4, 3, labels).unwrap();
    let problem = Problem::new(&annotations, true);
    assert_eq!(problem.labels().task_count(), 6);
    assert_eq!(problem.weights, Some(vec![3.0; 6]));
    // One task that differs: merged still, and it alone has its own row.
    let gold = annotations.with_gold([(0, 2)]).unwrap();
    let problem = Problem::new(&gold, true);
    assert_eq!(problem.labels().task_count(), 7);
    let fit = TaskEffects::default().fit(&gold, &mut Context::new(0)).unwrap();
    assert_eq!(fit.consensus.row(0), [0.0, 0.0, 1.0]);
    assert_eq!(fit.consensus.row(6), fit.consensus.row(12));
    assert!(fit.consensus.row(6)[0] > 0.5);
}

#[test]
fn a_part_of_the_tasks_tells_nearly_as_much_as_all() {
    let crowd = crate::simulate::Simulation {
        tasks: 1200,
        workers: 30,
        classes: 3,
        coverage: crate::simulate::Coverage::PerTask(6),
        quality: crate::simulate::Quality::Accuracy {
            lowest: 0.5,
            highest: 0.9,
            concentration: 2.0,
        },
        ..crate::simulate::Simulation::default()
    };
    let annotations = crowd.run(5).unwrap().annotations;
    let whole = TaskEffects::default()
        .fit(&annotations, &mut Context::new(0))
        .unwrap();
    for parts in [1, 4] {
        let (mut blocks, mut context) = (&annotations, Context::new(0));
        let mut passes = crate::blocks::Passes::over(&mut blocks);
        let method = TaskEffects::default();
        super::streamed::learn_from_sample(&method, parts, &mut passes, &mut context).unwrap();
        let found = Consensus::new(3, passes.into_rows());
        let labels = found.labels().into_iter().zip(whole.consensus.labels());
        let other = labels.filter(|(a, b)| a != b).count();
        // Among 1200 tasks; with all of them in the sample only ties can differ.
        assert!(other <= if parts == 1 { 2 } else { 60 }, "{parts}: {other}");
    }
}
