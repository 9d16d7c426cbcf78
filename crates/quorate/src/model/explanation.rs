//! Why a task has this label and not that one: what each of its labels says for one class against another.
//!
//! ```text
//! ln q_n(k) - ln q_n(j) = ln prior(k) - ln prior(j) + sum over labels (m, x) of ( ln A_m(x, k) - ln A_m(x, j) )
//! ```

use super::{DawidSkene, LOG_FLOOR};

/// What one worker's answer to a task says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnswerEvidence {
    /// The worker.
    pub worker: usize,
    /// Its answer.
    pub answer: usize,
    /// Logarithm of the odds by which the answer favours the one class over the other; negative: the other
    /// way.
    pub weight: f64,
}

/// What the labels of a task, its workers and their answers side by side, say for class `chosen` against
/// class `other`, the most telling for `chosen` first.
pub fn explain(
    (workers, answers): (&[u32], &[u16]),
    model: &DawidSkene,
    chosen: usize,
    other: usize,
) -> Vec<AnswerEvidence> {
    let log = |worker, answer, truth| model.probability(worker, answer, truth).ln().max(LOG_FLOOR);
    let evidence = |(&worker, &answer): (&u32, &u16)| {
        let (worker, answer) = (worker as usize, usize::from(answer));
        let weight = log(worker, answer, chosen) - log(worker, answer, other);
        AnswerEvidence {
            worker,
            answer,
            weight,
        }
    };
    let mut found: Vec<AnswerEvidence> = workers.iter().zip(answers).map(evidence).collect();
    found.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.worker.cmp(&b.worker)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotations::Annotations;
    use crate::model::posterior;

    #[test]
    fn weights_add_up_to_the_odds_of_the_posterior() {
        let annotations = Annotations::from_codes(1, 3, 2, [(0, 0, 0), (0, 1, 1), (0, 2, 1)]).unwrap();
        let confusion = vec![0.9, 0.1, 0.1, 0.9, 0.6, 0.3, 0.4, 0.7, 0.5, 0.5, 0.5, 0.5];
        let model = DawidSkene::new(vec![0.4, 0.6], confusion);
        let row = posterior(&annotations, &model).0.row(0).to_vec();
        let told = explain(annotations.task_slices(0), &model, 0, 1);
        let sum: f64 = told.iter().map(|testimony| testimony.weight).sum();
        assert!((sum + (0.4f64 / 0.6).ln() - (row[0] / row[1]).ln()).abs() < 1e-12);
        assert_eq!(
            told.iter().map(|testimony| testimony.worker).collect::<Vec<_>>(),
            [0, 2, 1]
        );
    }
}
