//! Sorting a partition: its runs become labels by task.

use std::fs::File;
use std::io::{self, BufReader, Read};

use quorate::annotations::{CodeColumns, Duplicates, Names};
use quorate::internal::blocks::TaskBlock;

use super::folder::Folder;
use super::runs::{LABEL, damaged, read_start};
use crate::binary::{read_bytes, read_text, read_u32};
use crate::error::Result;
use crate::memory;
use crate::tables::name_filter::NameFilter;

/// The code of a worker whose labels are left out.
pub(super) const LEFT_OUT: u32 = u32::MAX;

/// One partition, sorted: the labels by task, the names of the tasks and the rows they first appear in.
pub(super) struct Partition {
    pub(super) block: TaskBlock,
    pub(super) tasks: Names,
    pub(super) first_rows: Vec<u64>,
    pub(super) repeated: u64,
    /// Tasks that were left out, and tasks that are on a list.
    pub(super) left_out: (usize, usize),
}

/// Reads a partition's runs and sorts them; tasks that the filter leaves out are only counted. `worker_codes`
/// and `class_codes` replace the codes of the rows.
pub(super) fn sort_partition(
    folder: &Folder,
    partition: usize,
    (worker_codes, class_codes): (&[u32], &[u16]),
    filter: NameFilter<'_>,
    duplicates: Duplicates,
) -> Result<Partition> {
    let path = folder.file("rows", partition);
    let mut runs = BufReader::with_capacity(1 << 20, File::open(&path)?);
    let (mut tasks, mut first_rows) = (Names::default(), Vec::new());
    let mut columns = CodeColumns::default();
    let (mut unchecked, mut repeated) = (0, 0);
    let (mut name, mut labels) = (Vec::new(), Vec::new());
    let mut dropped = Names::default();
    while let Some(row) = read_start(&mut runs)? {
        read_text(&mut runs, &mut name)?;
        let text = std::str::from_utf8(&name).map_err(|_| damaged())?;
        if !filter.allows(text) {
            dropped.intern(text);
            let bytes = u64::from(read_u32(&mut runs)?) * LABEL as u64;
            io::copy(&mut (&mut runs).take(bytes), &mut io::sink())?;
            continue;
        }
        let code = tasks.intern(text);
        if code as usize == first_rows.len() {
            first_rows.push(row);
        }
        let count = read_u32(&mut runs)? as usize;
        unchecked += count;
        if unchecked >= memory::ROWS {
            unchecked = 0;
            if let Err(error) = memory::check(columns.bytes_to_come(count + memory::ROWS, tasks.len())) {
                let (dropped, many) = columns.drop_repeated(tasks.len(), duplicates);
                repeated += dropped;
                if !many {
                    return Err(error);
                }
            }
        }
        read_bytes(&mut runs, (count * LABEL) as u64, &mut labels)?;
        for bytes in labels.as_chunks::<LABEL>().0 {
            let [a, b, c, d, e, f] = *bytes;
            let who = worker_codes.get(u32::from_le_bytes([a, b, c, d]) as usize);
            let what = class_codes.get(usize::from(u16::from_le_bytes([e, f])));
            let (Some(&who), Some(&what)) = (who, what) else {
                return Err(damaged());
            };
            if who != LEFT_OUT {
                columns.task.push(code);
                columns.worker.push(who);
                columns.label.push(what);
            }
        }
    }
    drop((runs, name, labels));
    std::fs::remove_file(&path)?;
    let (block, more_repeated) = TaskBlock::sort(tasks.len(), vec![columns], duplicates);
    let (_, kept_listed) = filter.count(&tasks);
    let (left_out, dropped_listed) = filter.count(&dropped);
    Ok(Partition {
        left_out: (left_out, kept_listed + dropped_listed),
        block,
        tasks,
        first_rows,
        repeated: repeated + more_repeated,
    })
}
