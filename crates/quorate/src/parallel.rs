//! Parallel sums whose bits do not depend on the number of threads.
//!
//! Floating-point addition is not associative, so work is cut into chunks whose borders depend on the data
//! alone; partial results are collected in chunk order and folded in that order.

use std::ops::{AddAssign, Range};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

pub(crate) use crate::linalg::small::add;

/// Borders of `chunks` ranges over `0..starts.len() - 1` items, each with about the same share of
/// `starts[last]` (compressed rows: `starts` is the offset array).
pub fn balanced_ranges(starts: &[u32], chunks: usize) -> Vec<Range<usize>> {
    let items = starts.len().saturating_sub(1);
    let total = starts.last().copied().unwrap_or(0) as u64;
    let mut borders = vec![0];
    for chunk in 1..chunks as u64 {
        let target = (total * chunk / chunks as u64) as u32;
        borders.push(starts.partition_point(|&start| start < target).min(items));
    }
    borders.push(items);
    borders.dedup();
    if borders.len() == 1 {
        borders.push(items);
    }
    borders.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// Number of chunks for work that needs a private table of so many numbers a chunk: from the data alone, and
/// few enough that to clear and add up the tables is little work beside the labels, 4 bytes a label; where
/// that is one, two chunks may take 32. A power of two, which threads share evenly.
pub(crate) fn private_chunks(labels: usize, numbers: usize) -> usize {
    let numbers = numbers.max(2);
    let least = if labels >= numbers / 2 { 2 } else { 1 };
    let most = (labels / (2 * numbers)).clamp(least, 16);
    1 << most.ilog2()
}

/// Most private tables at a time where labels are not in memory: they are elsewhere to save memory.
pub(crate) const MAX_CHUNKS: usize = 4;

/// Makes of counts, one place behind, where each one's items start.
pub(crate) fn add_up<T: Copy + AddAssign>(starts: &mut [T]) {
    for n in 1..starts.len() {
        let before = starts[n - 1];
        starts[n] += before;
    }
}

/// Borders of at most `chunks` ranges of nearly the same length over `0..items`.
pub fn even_ranges(items: usize, chunks: usize) -> Vec<Range<usize>> {
    let chunks = chunks.clamp(1, items.max(1));
    let range = |chunk| items * chunk / chunks..items * (chunk + 1) / chunks;
    (0..chunks).map(range).collect()
}

/// Runs `work` on each range in parallel together with the matching slice of `rows` (`width` values an
/// item), so that every task can write its own row; results come back in the order of the ranges.
pub fn map_rows<T: Send, R: Send>(
    ranges: Vec<Range<usize>>,
    rows: &mut [T],
    width: usize,
    work: impl Fn(Range<usize>, &mut [T]) -> R + Sync,
) -> Vec<R> {
    map_slices(ranges, rows, |range| range.len() * width, work)
}

/// [`map_rows`] where each range has something of its own besides, in the order of the ranges.
pub(crate) fn map_rows_with<T: Send, S: Send, R: Send>(
    ranges: Vec<Range<usize>>,
    rows: &mut [T],
    width: usize,
    own: impl Iterator<Item = S>,
    work: impl Fn(Range<usize>, &mut [T], S) -> R + Sync,
) -> Vec<R> {
    let parts = split_rows(ranges, rows, |range| range.len() * width);
    let parts = parts.into_iter().zip(own).collect();
    map_ranges(parts, |((range, rows), own)| work(range, rows, own))
}

/// [`map_rows`] for rows of different lengths: `length` tells how many values belong to a range.
pub(crate) fn map_slices<T: Send, R: Send>(
    ranges: Vec<Range<usize>>,
    rows: &mut [T],
    length: impl Fn(&Range<usize>) -> usize,
    work: impl Fn(Range<usize>, &mut [T]) -> R + Sync,
) -> Vec<R> {
    let parts = split_rows(ranges, rows, length);
    map_ranges(parts, |(range, rows)| work(range, rows))
}

/// Each range with its part of the rows.
pub(crate) fn split_rows<T>(
    ranges: Vec<Range<usize>>,
    rows: &mut [T],
    length: impl Fn(&Range<usize>) -> usize,
) -> Vec<(Range<usize>, &mut [T])> {
    let mut rest = rows;
    let part = |range: Range<usize>| {
        let (part, tail) = std::mem::take(&mut rest).split_at_mut(length(&range));
        rest = tail;
        (range, part)
    };
    ranges.into_iter().map(part).collect()
}

/// Runs `work` on each range, or other part, in parallel; results come back in the order of the parts.
pub fn map_ranges<P: Send, R: Send>(parts: Vec<P>, work: impl Fn(P) -> R + Sync + Send) -> Vec<R> {
    if parts.len() <= 1 {
        return parts.into_iter().map(work).collect();
    }
    // Each part, and its result once it is there.
    let slots = parts.into_iter().map(|part| Mutex::new((Some(part), None)));
    let slots: Vec<Mutex<(Option<P>, Option<R>)>> = slots.collect();
    for_each_index(slots.len(), &|index| {
        let mut slot = slots[index].lock().unwrap_or_else(PoisonError::into_inner);
        slot.1 = slot.0.take().map(&work);
    });
    let slots = slots.into_iter().map(Mutex::into_inner);
    let results = slots.map(|slot| slot.unwrap_or_else(PoisonError::into_inner).1);
    results.flatten().collect()
}

/// The one parallel loop under all maps of parts: a generic one would be compiled again for each kind of
/// work, and a third of the library's code was that.
fn for_each_index(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(work);
}

/// Adds the parts to the total, each number in the order of the parts; which thread adds which makes no
/// difference.
pub(crate) fn add_in_order(total: &mut [f64], parts: Vec<&[f64]>) {
    const NUMBERS: usize = 1 << 14;
    let chunks = total.par_chunks_mut(NUMBERS).enumerate();
    chunks.for_each(|(chunk, total)| parts.iter().for_each(|part| add(total, &part[chunk * NUMBERS..])));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_powers_of_two_and_their_tables_small() {
        assert_eq!(private_chunks(0, 0), 1);
        assert_eq!(private_chunks(49, 100), 1);
        assert_eq!(private_chunks(50, 100), 2);
        assert_eq!(private_chunks(799, 100), 2);
        assert_eq!(private_chunks(800, 100), 4);
        assert_eq!(private_chunks(1_000_000, 1), 16);
    }

    #[test]
    fn ranges_cover_everything_once_whatever_the_skew() {
        for (starts, chunks) in [
            (vec![0], 4),
            (vec![0, 0, 0], 4),
            (vec![0, 1, 2, 3, 4], 2),
            (vec![0, 100, 101, 102], 8),
            (vec![0, 1, 2, 1000], 3),
        ] {
            let ranges = balanced_ranges(&starts, chunks);
            assert!(ranges.len() <= chunks.max(1));
            let mut next = 0;
            for range in ranges {
                assert_eq!(range.start, next);
                next = range.end;
            }
            assert_eq!(next, starts.len() - 1);
        }
    }
}
