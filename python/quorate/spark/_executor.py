"""What runs on the executors: functions for ``mapInArrow``, which Spark finds there by their names."""

from __future__ import annotations

import os
from typing import Any, Iterable, Iterator, List, Sequence, Tuple, Union

from .. import _quorate

BLOCK_SCHEMA = (
    "block int, labels binary, tasks binary, task_count long, label_count long, repeated long, known long"
)
NODE_SCHEMA = "level int, place long, part binary"
LABEL_SCHEMA = "task string, label string, confidence double, probabilities array<double>"
HASH_SCHEMA = "hash long"


class InFile:
    """Bytes that are too large to travel with every task: in a file that executors can read."""

    def __init__(self, path: str, is_artifact: bool) -> None:
        self.path = path
        self.is_artifact = is_artifact

    def read(self) -> bytes:
        """The bytes."""
        path = self.path
        if self.is_artifact:
            from pyspark import SparkFiles  # type: ignore[import-not-found, unused-ignore]

            path = SparkFiles.get(os.path.basename(path))
        with open(path, "rb") as file:
            return file.read()


Payload = Union[bytes, InFile]


def bytes_of(payload: Payload) -> bytes:
    """The bytes, wherever they are."""
    return payload.read() if isinstance(payload, InFile) else payload


def _batch(columns: Sequence[Tuple[str, Any, List[Any]]]) -> Any:
    import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]

    arrays = [pyarrow.array(values, type=kind) for _, kind, values in columns]
    return pyarrow.RecordBatch.from_arrays(arrays, names=[name for name, _, _ in columns])


def _stream(batch: Any) -> Any:
    import pyarrow

    return pyarrow.Table.from_batches([batch]).__arrow_c_stream__()


def encode_rows(duplicates: str, has_gold: bool, batches: Iterable[Any]) -> Iterator[Any]:
    """Rows that come block by block to blocks, a row each."""
    import pyarrow

    encoder = _quorate.BlockEncoder(duplicates, has_gold)
    kinds = [pyarrow.int32(), pyarrow.binary(), pyarrow.binary(), *[pyarrow.int64()] * 4]
    names = [field.split()[0] for field in BLOCK_SCHEMA.split(", ")]

    def row(block: Tuple[Any, ...]) -> Any:
        return _batch([(name, kind, [value]) for name, kind, value in zip(names, kinds, block)])

    for batch in batches:
        for block in encoder.push(_stream(batch)):
            yield row(block)
    last = encoder.finish()
    if last is not None:
        yield row(last)


def _nodes(runner: _quorate.PassRunner) -> Any:
    import pyarrow

    nodes = runner.finish()
    return _batch(
        [
            ("level", pyarrow.int32(), [level for level, _, _ in nodes]),
            ("place", pyarrow.int64(), [place for _, place, _ in nodes]),
            ("part", pyarrow.binary(), [part for _, _, part in nodes]),
        ]
    )


def run_pass(request: Payload, batches: Iterable[Any]) -> Iterator[Any]:
    """A pass over the blocks of a partition: one small row, or a few, of what it returned."""
    runner = None
    for batch in batches:
        runner = runner or _quorate.PassRunner(bytes_of(request))
        for block, labels in zip(batch.column("block"), batch.column("labels")):
            runner.add(block.as_py(), labels.as_py())
    if runner is not None:
        yield _nodes(runner)


def merge_nodes(request: Payload, batches: Iterable[Any]) -> Iterator[Any]:
    """What passes returned, merged as far as the nodes at hand allow."""
    runner = None
    for batch in batches:
        runner = runner or _quorate.PassRunner(bytes_of(request))
        for level, place, part in zip(batch.column("level"), batch.column("place"), batch.column("part")):
            runner.add_node(level.as_py(), place.as_py(), part.as_py())
    if runner is not None:
        yield _nodes(runner)


def label_rows(rule: Payload, workers: int, classes: List[str], batches: Iterable[Any]) -> Iterator[Any]:
    """The label, confidence and probabilities of every task."""
    import pyarrow

    fit = None
    for batch in batches:
        fit = fit or bytes_of(rule)
        for labels, tasks in zip(batch.column("labels"), batch.column("tasks")):
            table = _quorate.label_rows(fit, labels.as_py(), tasks.as_py(), workers, classes)
            yield from pyarrow.table(table).to_batches()


def hash_rows(fingerprint: Payload, batches: Iterable[Any]) -> Iterator[Any]:
    """The hashes of the tasks of each block, summed."""
    import pyarrow

    hasher = None
    for batch in batches:
        hasher = hasher or bytes_of(fingerprint)
        pairs = zip(batch.column("labels"), batch.column("tasks"))
        sums = [_quorate.hash_tasks(hasher, labels.as_py(), tasks.as_py()) for labels, tasks in pairs]
        yield _batch([("hash", pyarrow.int64(), [_signed(value) for value in sums])])


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value
