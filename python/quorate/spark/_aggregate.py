"""From a DataFrame of labels to the label of every task, on the executors of Spark."""

from __future__ import annotations

import json
from typing import Any, Mapping, Optional, Sequence, Union

from .. import _quorate
from .._aggregate import warn_of
from .._input import Columns
from .._options import (
    MOVED,
    Fitting,
    Knowledge,
    Reading,
    model_of,
    native_fitting,
    native_knowledge,
    options_of,
    running,
    with_parameters,
)
from .._progress import Progress, Reporter
from ..errors import NotApplicableError
from ._blocks import Cluster
from ._encode import Encoded, Input, encode
from ._result import Overview, Result


def aggregate(
    df: Any,
    method: str = "auto",
    *,
    gold: Any = None,
    columns: Optional[Columns] = None,
    classes: Optional[Sequence[Any]] = None,
    order: Optional[str] = None,
    seed: int = 0,
    threads: int = 0,
    progress: Progress = None,
    knowledge: Union[Knowledge, Mapping[str, Any], None] = None,
    reading: Union[Reading, Mapping[str, Any], None] = None,
    fitting: Union[Fitting, Mapping[str, Any], None] = None,
    cluster: Union[Cluster, Mapping[str, Any], None] = None,
    **parameters: Any,
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
        gold: Tasks whose truth is known: a dict by task, pairs of task and label, or a DataFrame with columns
            ``task, label``.
        columns: Names of the columns by role, where they are not ``task``, ``worker`` and ``label``.
        classes: The only classes allowed, in order; without it every label is a class.
        order: A column (whole numbers, dates, timestamps) that says which of several rows is the last; without it the
            order of the DataFrame's rows, which a shuffle before this call does not keep.
        seed: Seed of everything random.
        threads: Threads on the driver; 0 takes all.
        progress: See :data:`quorate.Progress`.
        knowledge: What else is known: shares of the classes, earlier work of the workers; see
            :class:`quorate.Knowledge`.
        reading: How else to read the labels: repeated rows, missing answers, workers to keep; see
            :class:`quorate.Reading`.
        fitting: How else to fit: calibrated confidence, memory of the driver; see :class:`quorate.Fitting`.
        cluster: How labels are dealt and what travels, a :class:`quorate.spark.Cluster` or a dict.
        **parameters: Parameters of the method.
    """
    check_method(method)
    known = options_of(Knowledge, "knowledge", knowledge, gold=gold)
    moved = {**MOVED, "cluster": Cluster._fields}
    wanted = with_parameters(method, options_of(Fitting, "fitting", fitting), parameters, moved)
    _refuse(known, "knowledge", ("features", "feature_tasks", "class_probabilities"))
    _refuse(wanted, "fitting", ("update",))
    model = model_of(known.worker_prior)
    further = () if model is None else model.classes
    given = _input(columns, classes, reading, cluster, order, known.gold, further)
    encoded = encode(df, given)
    blocks = encoded.blocks
    try:
        with Reporter(progress) as report:
            native = _quorate.fit_cluster(
                blocks.ask,
                encoded.table,
                {**native_knowledge(known._replace(gold=None, worker_prior=None)), "worker_prior": model},
                native_fitting(method, wanted),
                running(seed, threads, wanted.memory, report),
            )
    except BaseException:
        blocks.close()
        raise
    result = Result(native, encoded)
    warn_of(result, 0)
    return result


def _input(
    columns: Optional[Columns],
    classes: Optional[Sequence[Any]],
    reading: Union[Reading, Mapping[str, Any], None],
    cluster: Union[Cluster, Mapping[str, Any], None],
    order: Optional[str],
    gold: Any = None,
    further_classes: Sequence[str] = (),
) -> Input:
    how = options_of(Reading, "reading", reading, columns=columns, classes=classes)
    _refuse(how, "reading", ("wide", "format", "question", "use_gold"))
    return Input(how, order, gold, further_classes, options_of(Cluster, "cluster", cluster))


def _refuse(options: Any, name: str, fields: Sequence[str]) -> None:
    """Refuses options that only labels on one machine have."""
    for field in fields:
        if getattr(options, field) != options._field_defaults[field]:
            raise NotApplicableError(f"{name}: {field} is for labels on one machine: leave it out")


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
    order: Optional[str] = None,
    memory: float = 4.0,
    progress: Progress = None,
    reading: Union[Reading, Mapping[str, Any], None] = None,
    cluster: Union[Cluster, Mapping[str, Any], None] = None,
) -> Overview:
    """Says what is in a DataFrame of labels, how far workers agree and which of them are connected: two passes.

    The arguments mean what they mean for :func:`aggregate`.
    """
    encoded = encode(df, _input(columns, classes, reading, cluster, order))
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
