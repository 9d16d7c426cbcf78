"""Labels of any kind, read once: what every function does with its first argument."""

from __future__ import annotations

import warnings
from typing import Any, List, Optional, Sequence

from . import _quorate
from ._input import ROLES, Columns, column_names, to_data
from ._options import MISSING, Reading, native_reading, running
from ._progress import Progress, Reporter
from ._table import Table, kind_of
from .errors import DataWarning

__all__ = ["FORMATS", "Labels", "read"]

FORMATS = tuple(_quorate.formats())
"""Names of the formats that are read and written: of tables, then of annotation tools."""


class Labels:
    """Who answered what on which task: a table that was read, checked and put in order.

    Every function takes what holds labels; reading them first with :func:`quorate.read` saves reading them again.
    """

    __slots__ = ("_kind", "_native")

    def __init__(self, native: _quorate.Labels, kind: str) -> None:
        self._native = native
        self._kind = kind

    @property
    def tasks(self) -> int:
        """Number of tasks."""
        return self._native.task_count

    @property
    def workers(self) -> int:
        """Number of workers."""
        return self._native.worker_count

    @property
    def classes(self) -> List[str]:
        """The classes, in order."""
        return self._native.classes

    def __len__(self) -> int:
        return self._native.label_count

    @property
    def notes(self) -> List[str]:
        """What was settled on the way in: abstentions, repeated rows, classes that were joined."""
        return self._native.notes

    @property
    def table(self) -> Table:
        """The labels as a table: ``task, worker, label``, by task and then by worker."""
        return Table(self._native.table())

    def __repr__(self) -> str:
        return (
            f"<quorate.Labels: {len(self)} labels of {self.workers} workers on {self.tasks} tasks, "
            f"{len(self.classes)} classes>"
        )


def read(
    data: Any,
    *,
    columns: Optional[Columns] = None,
    classes: Optional[Sequence[Any]] = None,
    duplicates: str = "last",
    missing: Sequence[str] = MISSING,
    normalize: bool = False,
    keep_workers: Optional[Sequence[Any]] = None,
    wide: bool = False,
    format: Optional[str] = None,
    question: Optional[str] = None,
    use_gold: bool = False,
    threads: int = 0,
    progress: Progress = None,
) -> Labels:
    """Reads labels of any kind.

    Args:
        data: A frame (pandas, polars, pyarrow, duckdb, narwhals, anything with ``__arrow_c_stream__``), a path of
            a CSV, TSV, JSONL, Parquet or Arrow file, rows of (task, worker, label), a dict of columns, or an array
            with three columns. A path may also be the export of an annotation tool (Label Studio, Prodigy, Argilla,
            doccano, Mechanical Turk, Toloka, Appen, Ground Truth, Labelbox, judgements of language models), which is
            recognised by its content. For wide matrices in memory see :func:`quorate.from_matrix`.
        columns: Names of the columns by role, where they are not ``task``, ``worker`` and ``label``.
        classes: The only classes allowed, in order; without it every label is a class.
        duplicates: What counts when a worker labelled a task more than once: ``"last"``, ``"first"``, ``"keep"``
            (every row) or ``"error"``.
        missing: Labels that mean "no answer", besides None, NaN and the empty one.
        normalize: Join classes that differ only in case and white space.
        keep_workers: The only workers to use.
        wide: The table has a row for each task and a column for each worker.
        format: What a file is, where its content and name do not tell: one of :data:`quorate.FORMATS`.
        question: The question of an export, where it has several.
        use_gold: Fix the tasks whose truth is marked in an export, and learn the workers from them.
        threads: Number of threads; 0 takes all.
        progress: See :data:`quorate.Progress`.

    >>> import quorate
    >>> quorate.read([("t1", "ann", "cat"), ("t1", "bob", "dog")])
    <quorate.Labels: 2 labels of 2 workers on 1 tasks, 2 classes>
    """
    reading = Reading(
        columns, classes, duplicates, missing, normalize, keep_workers, wide, format, question, use_gold
    )
    return read_as(data, reading, threads, progress)


def read_as(data: Any, reading: Reading, threads: int, progress: Progress) -> Labels:
    """Labels of any kind, read in this way; those that were read already stay as they are."""
    if isinstance(data, Labels):
        return data
    names = column_names(reading.columns)
    source = to_data(data, "data", ROLES, names)
    with Reporter(progress) as report:
        native = _quorate.read(source, native_reading(reading), running(threads=threads, progress=report))
    for warning in native.warnings:
        warnings.warn(warning, DataWarning, stacklevel=3)
    return Labels(native, kind_of(data))
