"""From a DataFrame of labels to the label of every task, on the executors of Spark."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping, Optional, Sequence, Union

from .. import _quorate
from .._aggregate import warn_of
from .._input import Columns
from .._model import Model
from .._options import MISSING, Fitting, Knowledge, Prior, model_of, native_fitting, native_knowledge, running
from .._progress import Progress, Reporter
from .._result import Result as LocalResult
from ..errors import NotApplicableError
from ._blocks import Transport
from ._encode import Encoded, Reading, encode
from ._result import Overview, Result

CLOSURE_BYTES = 32 << 20
"""Parameters up to this size travel with the function."""

DRIVER_BYTES = 128 << 20
"""Statistics beyond this size are merged on the executors first."""


def aggregate(
    df: Any,
    method: str = "auto",
    *,
    parameters: Optional[Mapping[str, Any]] = None,
    gold: Any = None,
    prior: Optional[Prior] = None,
    prior_weight: Optional[float] = None,
    worker_prior: Union[Model, LocalResult, str, "os.PathLike[str]", None] = None,
    worker_prior_weight: float = 1.0,
    calibrate: bool = False,
    columns: Optional[Columns] = None,
    classes: Optional[Sequence[Any]] = None,
    duplicates: str = "last",
    order: Optional[str] = None,
    missing: Sequence[str] = MISSING,
    normalize: bool = False,
    keep_workers: Optional[Sequence[Any]] = None,
    seed: int = 0,
    threads: int = 0,
    memory: float = 4.0,
    progress: Progress = None,
    partitions: Optional[int] = None,
    closure_bytes: int = CLOSURE_BYTES,
    driver_bytes: int = DRIVER_BYTES,
    shared_folder: Union[str, "os.PathLike[str]", None] = None,
    **further_parameters: Any,
) -> Result:
    """Works out the label of every task from a Spark DataFrame of who answered what.

    Arguments that :func:`quorate.aggregate` has, too, mean the same. The result is that of one machine up to rounding,
    for any number of partitions to the last digit; ``task-effects`` and ``auto`` follow the way of labels beyond
    memory (``quorate aggregate --spill``).

    Args:
        df: A DataFrame with a row for each label.
        method: A method that goes through labels in passes: ``majority-vote``, ``dawid-skene``, ``one-coin``,
            ``fast-ds``, ``pooled-ds``, ``ibcc``, ``rob-symnmf``, ``rob-symnmf-em`` and its relatives,
            ``task-effects``, ``auto``.
        parameters: Parameters of the method by name.
        gold: Tasks whose truth is known: a dict by task, pairs of task and label, or a DataFrame with columns
            ``task, label``.
        prior: Shares of the classes, or ``"uniform"``.
        prior_weight: Let the data correct ``prior``: it counts as much as this many tasks.
        worker_prior: A model of earlier labels.
        worker_prior_weight: Weight of an earlier label beside a new one.
        calibrate: Lower the confidence to what it is worth if some tasks mislead many workers at once.
        columns: Names of the columns by role, where they are not ``task``, ``worker`` and ``label``.
        classes: The only classes allowed, in order; without it every label is a class.
        duplicates: What counts when a worker labelled a task more than once: ``"last"``, ``"first"``, ``"keep"`` or
            ``"error"``.
        order: A column (whole numbers, dates, timestamps) that says which of several rows is the last; without it the
            order of the DataFrame's rows, which a shuffle before this call does not keep.
        missing: Labels that mean "no answer", besides null, NaN and the empty one.
        normalize: Join classes that differ only in case and white space.
        keep_workers: The only workers to use.
        seed: Seed of everything random.
        threads: Threads on the driver; 0 takes all.
        memory: Refuse what would need more memory than this on the driver, in GiB.
        progress: See :data:`quorate.Progress`.
        partitions: Partitions of the blocks; by default as many as Spark shuffles into, while each has some million
            labels.
        closure_bytes: Parameters up to this size travel with the function that executors run; larger ones (10^6 workers
            with matrices, say) in a file.
        driver_bytes: Where the partitions would send more than this to the driver, one more stage merges on the
            executors.
        shared_folder: A folder that driver and executors see, for parameters in files; without it they go as Spark
            artifacts (Spark 4, or Spark Connect).
        **further_parameters: Parameters of the method, too.
    """
    check_method(method)
    knowledge = Knowledge(None, prior, prior_weight, worker_prior, worker_prior_weight)
    fitting = Fitting({**(parameters or {}), **further_parameters}, None, calibrate, memory)
    model = model_of(worker_prior)
    transport = Transport(closure_bytes, driver_bytes, None if shared_folder is None else os.fspath(shared_folder))
    reading = Reading(
        columns=columns,
        classes=classes,
        duplicates=duplicates,
        order=order,
        missing=missing,
        normalize=normalize,
        keep_workers=keep_workers,
        gold=gold,
        further_classes=() if model is None else model.classes,
        partitions=partitions,
        transport=transport,
    )
    encoded = encode(df, reading)
    blocks = encoded.blocks
    try:
        with Reporter(progress) as report:
            native = _quorate.fit_cluster(
                blocks.ask,
                encoded.table,
                native_knowledge(knowledge),
                native_fitting(method, fitting),
                running(seed, threads, memory, report),
            )
    except BaseException:
        blocks.close()
        raise
    result = Result(native, encoded)
    warn_of(result, 0)
    return result


def check_method(name: str) -> None:
    """Refuses methods that need all labels in one place, before anything is read."""
    name = _quorate.find_method(name)
    table = _quorate.method_table()
    if any(entry["name"] == name and not entry["streams"] for entry in table):
        others = ", ".join(entry["name"] for entry in table if entry["streams"])
        raise NotApplicableError(
            f"{name} needs all labels in one place, which a cluster does not give it; methods that run here are "
            f"{others}; if the labels fit on one machine, quorate.aggregate(df.toArrow(), {name!r}) runs it there"
        )


def inspect(
    df: Any,
    *,
    columns: Optional[Columns] = None,
    classes: Optional[Sequence[Any]] = None,
    duplicates: str = "last",
    order: Optional[str] = None,
    missing: Sequence[str] = MISSING,
    normalize: bool = False,
    keep_workers: Optional[Sequence[Any]] = None,
    memory: float = 4.0,
    progress: Progress = None,
    partitions: Optional[int] = None,
) -> Overview:
    """Says what is in a DataFrame of labels, how far workers agree and which of them are connected: two passes.

    The arguments mean what they mean for :func:`aggregate`.
    """
    reading = Reading(
        columns=columns,
        classes=classes,
        duplicates=duplicates,
        order=order,
        missing=missing,
        normalize=normalize,
        keep_workers=keep_workers,
        gold=None,
        further_classes=(),
        partitions=partitions,
        transport=Transport(CLOSURE_BYTES, DRIVER_BYTES, None),
    )
    encoded = encode(df, reading)
    try:
        return _overview(encoded, memory, progress)
    finally:
        encoded.blocks.close()


def _overview(encoded: Encoded, memory: float, progress: Progress) -> Overview:
    with Reporter(progress) as report:
        document = _quorate.inspect_cluster(
            encoded.blocks.ask, encoded.table, running(memory=memory, progress=report)
        )
    facts = json.loads(document)
    return Overview(facts, encoded.notes + facts.pop("notes"), encoded.warnings)
