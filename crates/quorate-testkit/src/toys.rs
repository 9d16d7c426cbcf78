//! The two small examples that the methods' worked numbers refer to, and how their tests compare numbers.

use quorate::Annotations;

/// Labels as task, worker and class.
pub type Labels = Vec<(u32, u32, u16)>;

/// Labels from a row of answers for each task; `-` where a worker gave none.
fn labels(rows: &[&str]) -> Labels {
    let mut labels = Labels::new();
    for (task, row) in (0..).zip(rows) {
        for (worker, answer) in (0..).zip(row.chars()) {
            labels.extend(answer.to_digit(10).map(|class| (task, worker, class as u16)));
        }
    }
    labels
}

/// The labels of the three-class example: 6 tasks, 4 workers.
pub fn labels_a() -> Labels {
    labels(&["0001", "001", "1111", "110", "2220", "2122"])
}

/// The three-class example.
pub fn toy_a() -> Annotations {
    Annotations::from_codes(6, 4, 3, labels_a()).unwrap()
}

/// The two-class example: 8 tasks, 5 workers.
pub fn toy_b() -> Annotations {
    let rows = [
        "11010", "11101", "111-0", "1011-", "00101", "00011", "00010", "00-01",
    ];
    Annotations::from_codes(8, 5, 2, labels(&rows)).unwrap()
}

/// Fails if two numbers are further apart than the tolerance.
pub fn assert_close(found: &[f64], wanted: &[f64], tolerance: f64) {
    assert_eq!(found.len(), wanted.len());
    for (a, b) in found.iter().zip(wanted) {
        assert!((a - b).abs() <= tolerance, "{found:?}, expected {wanted:?}");
    }
}

/// Fails if an objective falls by more than rounding.
pub fn assert_rising(trace: &[f64]) {
    for pair in trace.windows(2) {
        assert!(pair[1] >= pair[0] - 1e-9 * pair[0].abs(), "{trace:?}");
    }
}
