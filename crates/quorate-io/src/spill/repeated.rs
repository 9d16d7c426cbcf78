//! Where a worker labels a task again. Labels on disk have no lines: the input is read once more, for that
//! worker and task alone.

use crate::error::{Error, ErrorKind};
use crate::exports::recognise;
use crate::source::{Progress, Source};
use crate::tables::annotations::{ReadOptions, read_into};

/// The error about a repeated label with the row that repeats it, as it would be found in memory; any other
/// error as it is.
pub(super) fn with_row(
    error: Error,
    source: &Source,
    options: &ReadOptions,
    cancelled: &dyn Fn() -> bool,
    progress: Progress<'_>,
) -> Error {
    let ErrorKind::Data(quorate::Error::RepeatedLabel { task, worker }) = error.kind() else {
        return error;
    };
    if source.is_stream() {
        return Error::new(ErrorKind::RepeatedInStream(repeated(task, worker))).in_file(source.name());
    }
    let (mut found, mut rows) = (false, 0u64);
    let take = |of_task: &str, of_worker: &str, label: &str| {
        rows += 1;
        if rows.is_multiple_of(1 << 16) && cancelled() {
            return Err(quorate::Error::Cancelled.into());
        }
        let is_it = !label.is_empty() && of_task == task && of_worker == worker;
        if is_it && std::mem::replace(&mut found, true) {
            return Err(repeated(task, worker).into());
        }
        Ok(())
    };
    let read = recognise(source, options)
        .and_then(|recognised| read_into(source, options, recognised, take, progress));
    match read {
        Err(found) if matches!(found.kind(), ErrorKind::Data(_)) => found.in_file(source.name()),
        // The input is no longer what it was.
        _ => error,
    }
}

fn repeated(task: &str, worker: &str) -> quorate::Error {
    quorate::Error::RepeatedLabel {
        task: task.to_owned(),
        worker: worker.to_owned(),
    }
}
