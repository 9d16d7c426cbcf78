//! One answer of each judge to each item, and items with the same answers counted together.
//!
//! A judge who was asked several times gives the answer that it gave most often. One that contradicts itself
//! evenly gives none: it says nothing about the item. A group of judges who count as one voice speaks in the
//! same way.
//!
//! With few judges many items have the same answers. A pattern is a row of answers with the known truth, if
//! there is one, and the number of items that have it. Judges stand in order of their names and patterns in
//! order of their answers, so that nothing depends on the order of rows.

use super::panel::Panel;
use crate::annotations::{Annotations, NO_GOLD};
use crate::blocks::TaskBlock;

/// No answer.
pub(super) const NONE: u16 = u16::MAX;

/// The answers of a panel by pattern.
#[derive(Debug, Clone, Default)]
pub(super) struct Patterns {
    pub judges: usize,
    pub classes: usize,
    /// Worker code of every judge.
    pub codes: Vec<usize>,
    /// `[pattern][judge]`.
    pub answers: Vec<u16>,
    /// Known truth of every pattern, or `NO_GOLD`.
    pub gold: Vec<u32>,
    /// Items of every pattern.
    pub items: Vec<u64>,
    /// Pattern of every item.
    pub of_item: Vec<u32>,
}

impl Patterns {
    pub(super) fn of(panel: &Panel) -> Self {
        let annotations = panel.annotations();
        let (judges, classes) = (annotations.worker_count(), annotations.class_count());
        let mut codes: Vec<usize> = (0..judges).collect();
        codes.sort_by_key(|&code| annotations.workers().get(code));
        let answers = answers_by_item(annotations, &codes);
        let row = |item: usize| {
            let gold = annotations.gold(item).map_or(NO_GOLD, |class| class as u32);
            (&answers[item * judges..][..judges], gold)
        };
        let mut order: Vec<u32> = (0..annotations.task_count() as u32).collect();
        order.sort_by(|&a, &b| row(a as usize).cmp(&row(b as usize)));
        let mut patterns = Self {
            judges,
            classes,
            of_item: vec![0; annotations.task_count()],
            ..Self::default()
        };
        for run in order.chunk_by(|&a, &b| row(a as usize) == row(b as usize)) {
            let (answers, gold) = row(run[0] as usize);
            for &item in run {
                patterns.of_item[item as usize] = patterns.items.len() as u32;
            }
            patterns.answers.extend_from_slice(answers);
            patterns.gold.push(gold);
            patterns.items.push(run.len() as u64);
        }
        Self { codes, ..patterns }
    }

    /// Number of patterns.
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// The answers of a pattern.
    pub(super) fn row(&self, pattern: usize) -> &[u16] {
        &self.answers[pattern * self.judges..][..self.judges]
    }

    /// The known truth of a pattern.
    pub(super) fn truth(&self, pattern: usize) -> Option<usize> {
        let gold = self.gold[pattern];
        (gold != NO_GOLD).then_some(gold as usize)
    }

    /// Number of items whose truth is known.
    pub(super) fn gold_items(&self) -> u64 {
        let known = (0..self.len()).filter(|&pattern| self.truth(pattern).is_some());
        known.map(|pattern| self.items[pattern]).sum()
    }

    /// The same patterns with no truth known.
    pub(super) fn without_gold(&self) -> Self {
        Self {
            gold: vec![NO_GOLD; self.len()],
            ..self.clone()
        }
    }

    /// The answers of the voices, `[pattern][voice]`: a voice is a group of judges.
    pub(super) fn speak(&self, voices: &[Vec<usize>]) -> Vec<u16> {
        let mut votes = vec![0u32; self.classes];
        let mut spoken = Vec::with_capacity(self.len() * voices.len());
        for pattern in 0..self.len() {
            let row = self.row(pattern);
            for voice in voices {
                let answers = voice.iter().map(|&judge| row[judge]);
                spoken.push(most_frequent(answers, &mut votes));
            }
        }
        spoken
    }

    /// What is said, `[pattern][voice]`, as labels of voices on patterns.
    pub(super) fn labels(&self, spoken: &[u16]) -> TaskBlock {
        let mut labels = TaskBlock::empty();
        for row in spoken.chunks_exact(spoken.len() / self.len().max(1)) {
            for (voice, answer) in given(row) {
                labels.worker.push(voice as u32);
                labels.label.push(answer as u16);
            }
            labels.starts.push(labels.worker.len() as u32);
        }
        labels
    }
}

/// Who gave an answer, and which one.
pub(super) fn given(answers: &[u16]) -> impl Iterator<Item = (usize, usize)> + '_ {
    let answered = answers.iter().enumerate().filter(|&(_, &answer)| answer != NONE);
    answered.map(|(voice, &answer)| (voice, usize::from(answer)))
}

/// `[item][judge]`.
fn answers_by_item(annotations: &Annotations, codes: &[usize]) -> Vec<u16> {
    let judges = codes.len();
    let mut column = vec![0; judges];
    for (place, &code) in codes.iter().enumerate() {
        column[code] = place;
    }
    let mut votes = vec![0u32; annotations.class_count()];
    let mut answers = vec![NONE; annotations.task_count() * judges];
    for item in 0..annotations.task_count() {
        let (workers, labels) = annotations.task_slices(item);
        // The labels of a task are in order of worker.
        let mut from = 0;
        for run in workers.chunk_by(|a, b| a == b) {
            let given = labels[from..from + run.len()].iter().copied();
            answers[item * judges + column[run[0] as usize]] = most_frequent(given, &mut votes);
            from += run.len();
        }
    }
    answers
}

/// The answer that is given most often, [`NONE`] where several are or none is. `votes` is a table of zeros
/// for all classes, and is left so.
pub(super) fn most_frequent(answers: impl Iterator<Item = u16> + Clone, votes: &mut [u32]) -> u16 {
    let given = || answers.clone().filter(|&answer| answer != NONE);
    given().for_each(|answer| votes[usize::from(answer)] += 1);
    let top = given()
        .map(|answer| votes[usize::from(answer)])
        .max()
        .unwrap_or(0);
    let (mut first, mut tied) = (NONE, false);
    for answer in given().filter(|&answer| votes[usize::from(answer)] == top) {
        tied |= first != NONE && first != answer;
        first = answer;
    }
    given().for_each(|answer| votes[usize::from(answer)] = 0);
    if tied { NONE } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_answers_are_one_and_even_contradictions_none() {
        let panel = Panel::from_rows([
            ("q1", "b", "pass"),
            ("q1", "b", "fail"),
            ("q1", "b", "pass"),
            ("q1", "a", "fail"),
            ("q2", "a", "pass"),
            ("q2", "a", "fail"),
            ("q3", "b", ""),
            ("q3", "a", "fail"),
        ])
        .unwrap();
        let patterns = Patterns::of(&panel);
        // Judges by name: a, b; classes: fail, pass.
        let of = |item: usize| patterns.row(patterns.of_item[item] as usize).to_vec();
        assert_eq!(
            [of(0), of(1), of(2)],
            [vec![0, 1], vec![NONE, NONE], vec![0, NONE]]
        );
        assert_eq!(patterns.items.iter().sum::<u64>(), 3);
        let spoken = patterns.speak(&[vec![0, 1]]);
        assert_eq!(spoken[patterns.of_item[0] as usize], NONE);
        assert_eq!(spoken[patterns.of_item[2] as usize], 0);
    }
}
