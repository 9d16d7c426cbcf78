//! Which judges answer as one: groups that are alike beyond what the truth explains.
//!
//! If all judges err independently given one truth, the similarity of two of them is a product, `r_ij = l_i
//! l_j`, and for any four of them
//!
//! ```text
//! r_ij r_lm = r_il r_jm        (a vanishing tetrad)
//! ```
//!
//! Where the left side is larger, i and j have something in common that l and m do not see, or the other way
//! round: the labels cannot tell which. The reading that is taken: the pair that is more alike is the one
//! that copies.
//!
//! 1. Every judge is a voice.
//! 2. Of all pairs of voices, the most alike first: does their similarity go beyond what the truth explains,
//!    seen from the voices outside that are clearly less like them (mean of the tetrads over all l and m;
//!    [`VoiceSimilarity::beyond_truth`])? It must do so beyond chance (one-sided, all pairs together at
//!    [`FALSE_ALARMS`]) and by at least [`MIN_EXCESS`]. Then the pair becomes one voice, which gives the
//!    answer most of its judges give.
//! 3. Repeat until no pair is left. Four voices are needed for a test.
//!
//! A set of judges who are nearly identical, with one voice outside, passes every test: judges who are all
//! right and copies of one judge look the same from one outside voice. [`suspected`] finds such a set by its
//! similarity alone.
//!
//! C. Spearman, "General intelligence, objectively determined and measured", American Journal of Psychology
//! 15 (1904), for tetrads.

use super::answers::Patterns;
use super::similarity::VoiceSimilarity;
use crate::special::distributions::normal_quantile;

/// Nominal chance of one false pair or more in a panel of independent judges. [`MIN_EXCESS`] keeps the real
/// one far below: it was 3 % with 200 items and 1 % with 400 on simulated panels of three to six judges.
const FALSE_ALARMS: f64 = 0.2;
/// Least dependence of judges who count as one voice.
const MIN_EXCESS: f64 = 0.3;
/// Mean similarity of the voices outside below which they tell nothing.
const MIN_SIMILARITY: f64 = 0.05;
/// A voice is outside a pair if it is less like both than this share of their similarity.
const OUTSIDE: f64 = 0.8;
/// Similarity within a set from which its judges may be copies of one.
const NEARLY_IDENTICAL: f64 = 0.75;
/// Disagreement within such a set over that with the voice outside, at most.
const TIGHT: f64 = 0.4;

/// Groups of judges, each one voice, by rising number of their first judge.
pub(super) fn find_voices(patterns: &Patterns) -> Vec<Vec<usize>> {
    let mut voices: Vec<Vec<usize>> = (0..patterns.judges).map(|judge| vec![judge]).collect();
    while voices.len() >= 4 {
        let similarity = VoiceSimilarity::of(patterns, &voices);
        let Some((i, j)) = most_dependent(&similarity, voices.len()) else {
            break;
        };
        let joined = voices.remove(j);
        voices[i].extend(joined);
        voices[i].sort_unstable();
        voices.sort();
    }
    voices
}

/// The most alike pair that depends on each other, `i < j`.
fn most_dependent(similarity: &VoiceSimilarity, voices: usize) -> Option<(usize, usize)> {
    let critical = normal_quantile(FALSE_ALARMS / (voices * (voices - 1) / 2) as f64);
    let pairs = (0..voices).flat_map(|i| (i + 1..voices).map(move |j| (i, j)));
    let mut pairs: Vec<(usize, usize)> = pairs.collect();
    let r = |(i, j): (usize, usize)| similarity.between(i, j);
    pairs.sort_by(|&a, &b| r(b).total_cmp(&r(a)));
    pairs.into_iter().find(|&pair| {
        let found = similarity.beyond_truth(pair, &outside(similarity, voices, pair));
        let tells = found.common >= MIN_SIMILARITY && found.common < r(pair);
        tells && found.excess >= MIN_EXCESS && found.z >= critical
    })
}

/// Voices that are clearly less like a pair than the two are like each other; all others where there are not
/// two of these.
fn outside(similarity: &VoiceSimilarity, voices: usize, (i, j): (usize, usize)) -> Vec<usize> {
    let others = || (0..voices).filter(|&voice| voice != i && voice != j);
    let nearest = |voice: usize| similarity.between(i, voice).max(similarity.between(j, voice));
    let is_far = |&voice: &usize| nearest(voice) < OUTSIDE * similarity.between(i, j);
    let far: Vec<usize> = others().filter(is_far).collect();
    if far.len() > 1 { far } else { others().collect() }
}

/// Voices, all but one, that are so alike that they may be copies of one judge, with nothing outside to tell.
pub(super) fn suspected(patterns: &Patterns, voices: &[Vec<usize>]) -> Option<Vec<usize>> {
    if voices.len() < 3 {
        return None;
    }
    let similarity = VoiceSimilarity::of(patterns, voices);
    let r = |a: usize, b: usize| similarity.between(a, b);
    (0..voices.len()).find_map(|outside| {
        let set: Vec<usize> = (0..voices.len()).filter(|&voice| voice != outside).collect();
        let mut least: f64 = 1.0;
        let mut within = 0.0;
        for (place, &i) in set.iter().enumerate() {
            for &j in &set[place + 1..] {
                least = least.min(r(i, j));
                within += 1.0 - r(i, j);
            }
        }
        within /= (set.len() * (set.len() - 1) / 2) as f64;
        let between = set.iter().map(|&i| 1.0 - r(i, outside)).sum::<f64>() / set.len() as f64;
        (least >= NEARLY_IDENTICAL && within <= TIGHT * between).then_some(set)
    })
}

/// The voices with those of a set joined to one.
pub(super) fn join(voices: &[Vec<usize>], set: &[usize]) -> Vec<Vec<usize>> {
    let (mut joined, mut rest) = (Vec::new(), Vec::new());
    for (place, voice) in voices.iter().enumerate() {
        if set.contains(&place) {
            joined.extend_from_slice(voice)
        } else {
            rest.push(voice.clone())
        }
    }
    joined.sort_unstable();
    rest.push(joined);
    rest.sort();
    rest
}
