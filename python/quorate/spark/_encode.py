"""From a DataFrame of rows to blocks of labels: checked, coded, dealt by task, persisted. One shuffle."""

from __future__ import annotations

import functools
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from .. import _quorate
from .._input import ROLES, column_names
from .._options import Reading, as_text
from ..errors import InputError, ParameterError
from . import _executor
from ._blocks import Blocks, Cluster

MAX_CLASSES = 65_536
"""Distinct labels that are collected at most."""

_MIN_BLOCKS = 16
_MAX_BLOCKS = 1 << 20
_SMALL_BLOCK = 1 << 17
_LARGE_BLOCK = 1 << 25
_PARTITION_LABELS = 1 << 23
_BROADCAST_WORKERS = 2_000_000


class Input(NamedTuple):
    """What is to be encoded, and how."""

    reading: Reading
    order: Optional[str]
    gold: Any
    further_classes: Sequence[str]
    cluster: Cluster


class Encoded(NamedTuple):
    """Labels on the cluster, and what reading them told."""

    blocks: Blocks
    table: Dict[str, Any]
    types: Dict[str, str]
    notes: List[str]
    warnings: List[str]


def encode(frame: Any, given: Input) -> Encoded:
    """Encodes the labels of a DataFrame."""
    if given.reading.duplicates not in ("last", "first", "keep", "error"):
        raise ParameterError(
            f'duplicates: found {given.reading.duplicates!r}, expected "last", "first", "keep" or "error"'
        )
    rows, types = _rows(frame, given)
    if given.reading.keep_workers is not None:
        rows = _keep_workers(rows, given.reading.keep_workers)
    counts = _count_labels(rows, given)
    gold = None if given.gold is None else gold_of(frame.sparkSession, given.gold)
    vocabulary = _arrange(counts, given, gold)
    codes, workers = _worker_codes(rows)
    labels = sum(count for label, count in counts.labels.items() if label is not None)
    if labels == 0:
        codes.unpersist()
        raise InputError(f"there are no labels: {counts.abstentions} rows, all of them without a label")
    try:
        blocks = _deal(rows, codes, workers, vocabulary, gold, labels, given)
        try:
            blocks.count()
        except BaseException:
            blocks.close()
            raise
    finally:
        codes.unpersist()
    if given.reading.duplicates == "error" and blocks.repeated:
        blocks.close()
        raise InputError(
            f"{blocks.repeated} rows have the task and worker of another row; keep one of them, or choose what counts "
            'with duplicates="last", "first" or "keep"'
        )
    table = {
        "workers": blocks.workers,
        "classes": blocks.classes,
        "tasks": blocks.tasks,
        "labels": blocks.labels,
        "abstentions": counts.abstentions,
        "repeated": blocks.repeated,
        "duplicates": given.reading.duplicates,
        "gold": None if gold is None else (blocks.known, gold.tasks - blocks.known),
    }
    return Encoded(blocks, table, types, vocabulary.notes, vocabulary.warnings)


class _Counts(NamedTuple):
    labels: Dict[Optional[str], int]
    abstentions: int


class _Vocabulary(NamedTuple):
    classes: List[str]
    codes: Dict[str, int]
    notes: List[str]
    warnings: List[str]


class _Gold(NamedTuple):
    frame: Any
    tasks: int
    classes: List[str]


def text_of(name: str, kind: str) -> str:
    """A column as text, written as on one machine: whole numbers without a fraction."""
    quoted = _quoted(name)
    if kind in ("double", "float"):
        whole = f"{quoted} = floor({quoted}) and abs({quoted}) < 9007199254740992"
        return (
            f"case when isnan({quoted}) then null when {whole} then cast(cast({quoted} as bigint) as string) "
            f"else cast({quoted} as string) end"
        )
    return f"cast({quoted} as string)"


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_SIMPLE = ("string", "boolean", "tinyint", "smallint", "int", "bigint", "float", "double")


def _rows(frame: Any, given: Input) -> Tuple[Any, Dict[str, str]]:
    """The rows as text, ``task, worker, label`` and, where it is needed, ``place``; and what the columns were."""
    names = dict(zip(ROLES, column_names(given.reading.columns)))
    kinds = dict(frame.dtypes)
    lacking = [name for name in names.values() if name not in kinds]
    if lacking:
        raise InputError(
            f"the DataFrame has no column {', '.join(map(repr, lacking))}; found {', '.join(kinds)}; name columns with "
            'columns={"task": .., "worker": .., "label": ..}'
        )
    for role, name in names.items():
        kind = kinds[name]
        if kind not in _SIMPLE and not kind.startswith(("varchar", "char", "decimal")):
            raise InputError(f"column {name!r} ({role}) is of type {kind}, expected text, numbers or booleans")
    types = {role: kinds[name] for role, name in names.items()}
    chosen = [f"{text_of(name, kinds[name])} as {role}" for role, name in names.items()]
    if given.reading.duplicates in ("last", "first"):
        chosen.append(f"{_place(given.order, kinds)} as place")
    rows = frame.selectExpr(*chosen)
    missing = ", ".join(_literal(text) for text in ("", *given.reading.missing))
    others = [name for name in rows.columns if name != "label"]
    return rows.selectExpr(*others, f"case when label in ({missing}) then null else label end as label"), types


def _place(order: Optional[str], kinds: Mapping[str, str]) -> str:
    if order is None:
        return "monotonically_increasing_id()"
    if order not in kinds:
        raise InputError(f"order: the DataFrame has no column {order!r}; found {', '.join(kinds)}")
    kind = kinds[order]
    if kind in ("tinyint", "smallint", "int", "bigint"):
        return f"cast({_quoted(order)} as bigint)"
    if kind.startswith(("timestamp", "date")):
        return f"unix_micros(cast({_quoted(order)} as timestamp))"
    raise InputError(f"order: column {order!r} is of type {kind}, expected whole numbers, dates or timestamps")


def _keep_workers(rows: Any, kept: Sequence[Any]) -> Any:
    """Rows of other workers keep their task and lose their label and worker."""
    session = rows.sparkSession
    names = session.createDataFrame([(as_text(worker), True) for worker in kept], "worker string, kept boolean")
    joined = rows.join(names.hint("broadcast"), "worker", "left")
    others = [name for name in rows.columns if name not in ("worker", "label")]
    return joined.selectExpr(
        *others,
        "case when kept or worker is null then worker else '' end as worker",
        "case when kept then label end as label",
    )


def _count_labels(rows: Any, given: Input) -> _Counts:
    """Labels by class, in one pass that checks all ids."""
    no_worker = "worker is null" + (" or worker = ''" if given.reading.keep_workers is None else "")
    marked = rows.selectExpr(
        "label",
        "int(task is null or task = '') as no_task",
        f"int({no_worker}) as no_worker",
        "int(label is null and worker <> '') as abstained",
    )
    grouped = marked.groupBy("label").agg({"no_task": "sum", "no_worker": "sum", "abstained": "sum", "*": "count"})
    chosen = grouped.select("label", "count(1)", "sum(no_task)", "sum(no_worker)", "sum(abstained)")
    found = chosen.limit(MAX_CLASSES + 2).collect()
    labels = {row[0]: int(row[1]) for row in found}
    no_tasks, no_workers = sum(int(row[2]) for row in found), sum(int(row[3]) for row in found)
    rows_in_all = sum(labels.values())
    problems = [f"{count} of {rows_in_all} rows have no {what} id (null or empty)"
                for what, count in (("task", no_tasks), ("worker", no_workers)) if count]
    if given.reading.classes is not None:
        allowed = {as_text(value) for value in given.reading.classes}
        unknown = {label: count for label, count in labels.items() if label is not None and label not in allowed}
        if unknown:
            named = ", ".join(repr(label) for label in sorted(unknown)[:4]) + (", .." if len(unknown) > 4 else "")
            problems.append(
                f"{sum(unknown.values())} of {rows_in_all} rows have a label that is not one of the given classes "
                f"({named})"
            )
    if problems:
        raise InputError("; ".join(problems) + "; every row needs a task, a worker and a label of a known class")
    return _Counts(labels, sum(int(row[4] or 0) for row in found))


def gold_of(session: Any, given: Any) -> _Gold:
    """Known truths as a DataFrame ``task, truth``, each task once."""
    if hasattr(given, "sparkSession"):
        kinds = dict(given.dtypes)
        if "task" not in kinds or "label" not in kinds:
            raise InputError(f"gold: found columns {', '.join(kinds)}, expected task and label")
        frame = given.selectExpr(f"{text_of('task', kinds['task'])} as task", f"{text_of('label', kinds['label'])} as truth")
    else:
        pairs = list(given.items()) if isinstance(given, Mapping) else [tuple(row) for row in given]
        rows = [(as_text(task), as_text(label)) for task, label in pairs]
        frame = session.createDataFrame(rows, "task string, truth string")
    frame = frame.where("task is not null and truth is not null and truth <> ''")
    each = frame.groupBy("task").agg({"truth": "min"}).withColumnRenamed("min(truth)", "truth")
    facts = frame.selectExpr("count(distinct task)", "count(distinct task, truth)").collect()[0]
    if facts[1] > facts[0]:
        raise InputError(f"gold: {facts[1] - facts[0]} truths contradict another truth of the same task")
    found = [row[0] for row in frame.select("truth").distinct().limit(MAX_CLASSES + 1).collect()]
    return _Gold(each, int(facts[0]), sorted(found))


def _arrange(counts: _Counts, given: Input, gold: Optional[_Gold]) -> _Vocabulary:
    """The classes in order, and the code of each label."""
    further = [*(gold.classes if gold else ()), *given.further_classes]
    found = sorted(label for label in counts.labels if label is not None)
    if given.reading.classes is not None:
        classes = [as_text(value) for value in given.reading.classes]
        repeated = next((label for place, label in enumerate(classes) if label in classes[:place]), None)
        if repeated is not None:
            raise ParameterError(f"class {repeated!r} is given twice")
        foreign = next((label for label in further if label not in classes), None)
        if foreign is not None:
            raise ParameterError(
                f"class {foreign!r} of gold or worker_prior is not among classes: add it there, or leave classes out"
            )
        return _Vocabulary(classes, {label: code for code, label in enumerate(classes)}, [], [])
    classes, codes, notes, warnings = _quorate.arrange_classes(
        found, [counts.labels[label] for label in found], further=further, normalize=given.reading.normalize
    )
    named = {label: code for code, label in enumerate(classes)}
    return _Vocabulary(classes, {**named, **dict(zip(found, codes))}, notes, warnings)


def _worker_codes(rows: Any) -> Tuple[Any, List[str]]:
    """A code for each worker, in the order of their names; and the names."""
    from pyspark.sql import Window  # type: ignore[import-not-found, unused-ignore]
    from pyspark.sql import functions as F  # type: ignore[import-not-found, unused-ignore]

    names = rows.select("worker").where("worker <> ''").distinct()
    codes = names.withColumn("worker_code", F.row_number().over(Window.orderBy("worker")) - 1).persist()
    listed = codes.orderBy("worker_code").select("worker").collect()
    return codes, [row[0] for row in listed]


def block_count(labels: int, cells: int) -> int:
    """Number of blocks, from the data alone: some four labels in a block for each cell of the workers' matrices, so
    that what a pass returns is small beside what it reads. A power of two."""
    size = min(max(4 * cells, _SMALL_BLOCK), _LARGE_BLOCK)
    blocks = _MIN_BLOCKS
    while blocks * size < labels and blocks < _MAX_BLOCKS:
        blocks *= 2
    return blocks


def partition_count(session: Any, labels: int, blocks: int) -> int:
    """Number of partitions: as many as Spark shuffles into, while each has a million labels; more where they would
    be large."""
    wanted = int(session.conf.get("spark.sql.shuffle.partitions", "200"))
    few = max(1, min(wanted, -(-labels // (1 << 20))))
    return min(blocks, max(few, -(-labels // _PARTITION_LABELS)))


def _deal(
    rows: Any,
    codes: Any,
    workers: List[str],
    vocabulary: _Vocabulary,
    gold: Optional[_Gold],
    labels: int,
    given: Input,
) -> Blocks:
    """Codes the rows, deals them by task and makes blocks of them."""
    session = rows.sparkSession
    cells = len(workers) * len(vocabulary.classes) ** 2
    blocks = block_count(labels, cells)
    partitions = given.cluster.partitions or partition_count(session, labels, blocks)
    if partitions < 1:
        raise ParameterError(f"partitions: found {partitions}, expected a number above 0")
    # Class codes are read back as unsigned 16-bit numbers.
    classes = [(label, code - (1 << 16) if code >= 1 << 15 else code) for label, code in vocabulary.codes.items()]
    class_codes = session.createDataFrame(classes, "label string, label_code short").hint("broadcast")
    few_workers = len(workers) <= _BROADCAST_WORKERS
    coded = rows.join(class_codes, "label", "left").join(
        codes.hint("broadcast") if few_workers else codes, "worker", "left"
    )
    chosen = ["task", "coalesce(worker_code, -1) as worker", "label_code as label"]
    if "place" in rows.columns:
        chosen.append("place")
    if gold is not None:
        truths = gold.frame.join(
            session.createDataFrame(classes, "truth string, gold_code short").hint("broadcast"), "truth"
        )
        coded = coded.join(truths.select("task", "gold_code"), "task", "left")
        chosen.append("gold_code as gold")
    dealt = (
        coded.selectExpr(f"cast(pmod(xxhash64(task), {blocks}) as int) as block", *chosen)
        .repartitionByRange(partitions, "block")
        .sortWithinPartitions("block")
    )
    encoded = dealt.mapInArrow(
        functools.partial(_executor.encode_rows, given.reading.duplicates, gold is not None), _executor.BLOCK_SCHEMA
    )
    return Blocks(
        encoded,
        workers=workers,
        classes=vocabulary.classes,
        blocks=blocks,
        partitions=partitions,
        cluster=given.cluster,
    )
