//! Whole evaluations: by hand, at the edges, and against the formulas written out.

use proptest::prelude::*;

use super::probability_scores::LOG_LOSS_FLOOR;
use super::*;
use crate::model::Consensus;

fn known(truth: &[usize]) -> Vec<Option<usize>> {
    truth.iter().copied().map(Some).collect()
}

/// Five tasks: right, wrong, tied with the truth in it (twice), truth unknown.
fn example() -> (Consensus, Vec<Option<usize>>) {
    let rows = [
        [0.8, 0.1, 0.1],
        [0.6, 0.3, 0.1],
        [0.5, 0.5, 0.0],
        [0.5, 0.5, 0.0],
        [0.0, 0.0, 1.0],
    ];
    (
        Consensus::new(3, rows.concat()),
        vec![Some(0), Some(1), Some(0), Some(1), None],
    )
}

#[test]
fn worked_example() {
    let (consensus, truth) = example();
    let predictions = Predictions::from_consensus(&consensus).unwrap();
    let lowest = evaluate(&predictions, &truth).unwrap();
    assert_eq!(
        (lowest.error.scored, lowest.error.wrong, lowest.error.rate),
        (4, 2.0, 0.5)
    );
    assert_eq!(
        (
            lowest.error.tied,
            lowest.error.without_truth,
            lowest.error.without_prediction
        ),
        (2, 1, 0)
    );
    assert_eq!(lowest.balanced_accuracy, 0.5);
    assert_eq!(
        lowest.confusion.as_slice(),
        [2.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    );
    let class = &lowest.per_class[0];
    assert_eq!((class.support, class.predicted, class.correct), (2, 4.0, 2.0));
    assert_eq!(
        (class.precision, class.recall, class.f1),
        (Some(0.5), Some(1.0), Some(2.0 / 3.0))
    );
    let class = &lowest.per_class[1];
    assert_eq!(
        (class.precision, class.recall, class.f1),
        (None, Some(0.0), Some(0.0))
    );
    let class = &lowest.per_class[2];
    assert_eq!(
        (class.support, class.precision, class.recall, class.f1),
        (0, None, None, None)
    );
    let log_loss = -(0.8f64.ln() + 0.3f64.ln() + 2.0 * 0.5f64.ln()) / 4.0;
    assert!((lowest.log_loss.unwrap() - log_loss).abs() < 1e-12);
    // 0.06 + 0.86 + 0.5 + 0.5
    assert!((lowest.brier.unwrap() - 1.92 / 4.0).abs() < 1e-12);
    // Confidences 0.8 (right), 0.6 (wrong), 0.5 twice (half right).
    assert!((lowest.calibration.unwrap().expected_error - (0.2 + 0.6 + 0.0) / 4.0).abs() < 1e-12);

    let rule = Evaluate {
        ties: TieRule::Fractional,
        ..Evaluate::default()
    };
    let fractional = rule.run(&predictions, &truth).unwrap();
    assert_eq!((fractional.error.wrong, fractional.error.rate), (2.0, 0.5));
    assert_eq!(
        fractional.confusion.as_slice(),
        [1.5, 0.5, 0.0, 1.5, 0.5, 0.0, 0.0, 0.0, 0.0]
    );
    assert_eq!(fractional.balanced_accuracy, (0.75 + 0.25) / 2.0);
}

#[test]
fn labels_alone_and_with_a_confidence() {
    let labels = [Some(0), Some(1), None, Some(1)];
    let truth = [Some(0), Some(0), Some(1), None];
    let bare = evaluate(&Predictions::from_labels(2, &labels).unwrap(), &truth).unwrap();
    assert_eq!((bare.error.scored, bare.error.rate), (2, 0.5));
    assert_eq!((bare.error.without_truth, bare.error.without_prediction), (1, 1));
    assert_eq!((bare.log_loss, bare.brier, bare.calibration), (None, None, None));
    let confidences = [0.9, 0.7, f64::NAN, 0.1];
    let sure = Predictions::from_confidences(2, &labels, &confidences).unwrap();
    let sure = evaluate(&sure, &truth).unwrap();
    assert_eq!((sure.log_loss, sure.brier), (None, None));
    assert!((sure.calibration.unwrap().expected_error - (0.1 + 0.7) / 2.0).abs() < 1e-12);
}

#[test]
fn nothing_to_score_and_tables_that_do_not_match_are_errors() {
    let labels = [Some(0), None];
    let predictions = Predictions::from_labels(1, &labels).unwrap();
    for truth in [[None, None], [None, Some(0)]] {
        let message = evaluate(&predictions, &truth).unwrap_err().to_string();
        assert!(message.contains("nothing to evaluate"), "{message}");
    }
    assert!(evaluate(&predictions, &[Some(0)]).is_err());
    assert!(evaluate(&predictions, &[Some(usize::MAX), None]).is_err());
    assert!(evaluate(&Predictions::from_labels(1, &[]).unwrap(), &[]).is_err());
}

#[test]
fn perfect_all_wrong_and_one_class() {
    let truth = [0, 1, 2, 1];
    let perfect = Consensus::one_hot(3, truth);
    let perfect = evaluate(&Predictions::from_consensus(&perfect).unwrap(), &known(&truth)).unwrap();
    assert_eq!((perfect.error.rate, perfect.balanced_accuracy), (0.0, 1.0));
    assert_eq!((perfect.log_loss, perfect.brier), (Some(0.0), Some(0.0)));
    assert_eq!(perfect.calibration.unwrap().expected_error, 0.0);
    assert_eq!(perfect.error.interval.0, 0.0);

    let wrong = Consensus::one_hot(3, truth.map(|class| (class + 1) % 3));
    let wrong = evaluate(&Predictions::from_consensus(&wrong).unwrap(), &known(&truth)).unwrap();
    assert_eq!((wrong.error.rate, wrong.balanced_accuracy), (1.0, 0.0));
    assert!((wrong.log_loss.unwrap() + LOG_LOSS_FLOOR.ln()).abs() < 1e-12);
    assert_eq!((wrong.brier, wrong.error.interval.1), (Some(2.0), 1.0));
    assert_eq!(wrong.calibration.unwrap().expected_error, 1.0);

    let one = Consensus::one_hot(1, [0, 0]);
    let one = evaluate(&Predictions::from_consensus(&one).unwrap(), &known(&[0, 0])).unwrap();
    assert_eq!(
        (one.error.rate, one.balanced_accuracy, one.error.tied),
        (0.0, 1.0, 0)
    );
}

#[test]
fn a_truth_that_no_prediction_can_name_is_wrong_everywhere() {
    let consensus = Consensus::new(2, vec![0.5, 0.5, 1.0, 0.0]);
    let predictions = Predictions::from_consensus(&consensus).unwrap();
    for ties in [TieRule::Lowest, TieRule::Fractional] {
        let rule = Evaluate {
            ties,
            ..Evaluate::default()
        };
        let found = rule.run(&predictions, &known(&[2, 0])).unwrap();
        assert_eq!((found.error.rate, found.confusion.class_count()), (0.5, 3));
        assert_eq!(found.per_class[2].recall, Some(0.0));
        assert_eq!(found.brier, Some(1.5 / 2.0));
    }
}

proptest! {
    #[test]
    fn as_the_formulas_written_out(
        rows in proptest::collection::vec((0u8..4, 0u8..4, 0u8..4, proptest::option::of(0usize..3)), 1..30),
        fractional in any::<bool>(),
    ) {
        // Small whole weights make ties common; a row of zeros has no prediction.
        let row = |&(a, b, c, _): &(u8, u8, u8, _)| {
            let sum = f64::from(a + b + c).max(1.0);
            [a, b, c].map(|weight| f64::from(weight) / sum)
        };
        let consensus = Consensus::new(3, rows.iter().flat_map(row).collect());
        let truth: Vec<_> = rows.iter().map(|row| row.3).collect();
        let ties = if fractional { TieRule::Fractional } else { TieRule::Lowest };
        let rule = Evaluate { ties, ..Evaluate::default() };
        let found = rule.run(&Predictions::from_consensus(&consensus).unwrap(), &truth);

        let mut table = [[0.0; 3]; 3];
        let (mut log_loss, mut brier, mut scored) = (0.0, 0.0, 0.0);
        for (values, truth) in rows.iter().filter_map(|row| row.3.map(|truth| (row, truth))) {
            let weights = [values.0, values.1, values.2];
            let top = weights.into_iter().max().unwrap();
            if top == 0 {
                continue;
            }
            let winners: Vec<_> = (0..3).filter(|&class| weights[class] == top).collect();
            let counted = if fractional { &winners[..] } else { &winners[..1] };
            for &class in counted {
                table[truth][class] += 1.0 / counted.len() as f64;
            }
            scored += 1.0;
            let p = row(values);
            log_loss -= p[truth].max(1e-15).ln();
            brier += (0..3).map(|k| (p[k] - f64::from(u8::from(k == truth))).powi(2)).sum::<f64>();
        }
        if scored == 0.0 {
            prop_assert!(found.is_err());
            return Ok(());
        }
        let found = found.unwrap();
        let trace: f64 = (0..3).map(|k| table[k][k]).sum();
        prop_assert!((found.error.rate - (1.0 - trace / scored)).abs() < 1e-12);
        prop_assert!((found.log_loss.unwrap() - log_loss / scored).abs() < 1e-12);
        prop_assert!((found.brier.unwrap() - brier / scored).abs() < 1e-12);
        let recalls: Vec<f64> = (0..3)
            .map(|k| (table[k][k], table[k].iter().sum::<f64>()))
            .filter(|&(_, support)| support > 0.0)
            .map(|(correct, support)| correct / support)
            .collect();
        let balanced = recalls.iter().sum::<f64>() / recalls.len() as f64;
        prop_assert!((found.balanced_accuracy - balanced).abs() < 1e-12);
        for (cell, expected) in found.confusion.as_slice().iter().zip(table.as_flattened()) {
            prop_assert!((cell - expected).abs() < 1e-12);
        }
    }
}
