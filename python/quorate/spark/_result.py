"""What a fit on a cluster says."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional, Sequence

from .. import _quorate
from .._fit_facts import EstimatedError, LabelFacts
from .._model import Model
from . import _executor
from ._encode import Encoded


class Result(LabelFacts):
    """The labels of all tasks as a DataFrame, with everything else that a fit says.

    The blocks of labels stay persisted while DataFrames are made of them; :meth:`unpersist`, or the end of a ``with``
    block, gives them back.
    """

    _native: _quorate.ClusterFit

    def __init__(self, native: _quorate.ClusterFit, encoded: Encoded) -> None:
        super().__init__(native)
        self._native = native
        self._encoded = encoded
        self._blocks = encoded.blocks
        self._model: Optional[Model] = None
        self._labels: Any = None

    @property
    def labels(self) -> Any:
        """A DataFrame of all tasks: ``task, label, confidence, probabilities``, the last an array in the order of
        :attr:`classes`. Made when it is used, block by block on the executors."""
        if self._labels is None:
            rows = self._blocks.map(
                _executor.label_rows,
                self._native.rule(),
                len(self._blocks.workers),
                self._blocks.classes,
                schema=_executor.LABEL_SCHEMA,
            )
            self._labels = _restored(rows, self._encoded.types, ("task", "label"))
        return self._labels

    @property
    def workers(self) -> Any:
        """A DataFrame of the workers: number of labels, accuracy, agreement with the consensus, cells of the
        confusion matrix."""
        rows = _from_arrow(self._blocks.frame.sparkSession, self._native.workers())
        return _restored(rows, self._encoded.types, ("worker",))

    @property
    def model(self) -> Optional[Model]:
        """The prior and the confusion matrices, saved as the same ``model.json``; None for methods without one. Takes
        one pass over the names of the tasks, for the fingerprint of the data."""
        if self._model is None:
            hashes = self._blocks.map(_executor.hash_rows, self._native.fingerprint(), schema=_executor.HASH_SCHEMA)
            total = sum(row[0] for row in hashes.collect()) % (1 << 64)
            native = self._native.model(total)
            self._model = None if native is None else Model(native)
        return self._model

    @property
    def summary(self) -> Dict[str, Any]:
        """The run in numbers, as :attr:`quorate.Result.summary`, with what travelled: ``passes`` over the blocks,
        ``partitions``, ``bytes_sent`` (requests) and ``bytes_received`` (statistics) in all."""
        facts: Dict[str, Any] = json.loads(self._native.summary())
        blocks = self._blocks
        facts["passes"] = blocks.passes
        facts["partitions"] = blocks.partitions
        facts["bytes_sent"] = blocks.bytes_sent
        facts["bytes_received"] = blocks.bytes_received
        return facts

    @property
    def warnings(self) -> List[str]:
        """What to beware of in this result."""
        return self._encoded.warnings + super().warnings

    @property
    def notes(self) -> List[str]:
        """Facts about the run that are worth knowing."""
        return self._encoded.notes + super().notes

    @property
    def estimated_error(self) -> EstimatedError:
        """The share of wrong labels, with its range."""
        return EstimatedError(**self.summary["estimated_error"])

    def unpersist(self) -> None:
        """Gives the memory of the blocks back. DataFrames of this result encode the labels again if they are used."""
        self._blocks.close()

    def __enter__(self) -> Result:
        return self

    def __exit__(self, *_: object) -> None:
        self.unpersist()

    def __repr__(self) -> str:
        facts = self.summary
        return (
            f"<quorate.spark.Result: {facts['tasks']} tasks, {facts['workers']} workers, {facts['labels']} labels, by "
            f"{self.method}, {self.iterations} iterations>"
        )


def _restored(frame: Any, types: Dict[str, str], columns: Sequence[str]) -> Any:
    """Ids and labels in the types that they had; text where a class is no such value."""
    chosen = []
    for name in frame.columns:
        kind = types.get(name) if name in columns else None
        plain = kind is None or kind == "string" or kind.startswith(("varchar", "char"))
        chosen.append(f"`{name}`" if plain else f"cast(`{name}` as {kind}) as `{name}`")
    return frame.selectExpr(*chosen)


def _from_arrow(session: Any, native: _quorate.ArrowTable) -> Any:
    """A DataFrame of a small table."""
    import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import pyspark  # type: ignore[import-not-found, unused-ignore]

    table = pyarrow.table(native)
    # Spark has no unsigned numbers.
    fields = [
        pyarrow.field(field.name, pyarrow.int64() if pyarrow.types.is_uint64(field.type) else field.type)
        for field in table.schema
    ]
    table = table.cast(pyarrow.schema(fields))
    newer = int(pyspark.__version__.split(".")[0]) >= 4
    return session.createDataFrame(table if newer else table.to_pandas())


class Overview:
    """What two passes tell of labels on a cluster: what is there, how far workers agree, who is connected."""

    table: Dict[str, Any]
    """Tasks, workers, labels, labels of each class, labels per task and per worker."""
    agreement: Dict[str, Optional[float]]
    """``observed`` agreement, ``fleiss``, ``alpha_nominal``, ``alpha_ordinal``, ``alpha_interval``, ``ac1``; None where
    a coefficient is not defined."""
    connectivity: Dict[str, Any]
    """Connected ``parts`` of the crowd with their workers and labels, the largest first, and pairs of labels on the
    same task."""

    def __init__(self, facts: Dict[str, Any], notes: List[str], warnings: List[str]) -> None:
        given = sorted(facts.pop("labels_per_worker"))
        spread = (given[0], given[len(given) // 2], given[-1]) if given else (0, 0, 0)
        self.agreement = dict(facts.pop("agreement"))
        self.connectivity = {
            name: facts.pop(name) for name in ("parts", "workers_in_parts", "labels_in_parts", "pairs_of_labels")
        }
        self.table = {**facts, "labels_per_class": dict(facts["labels_per_class"]), "labels_per_worker": spread}
        self.notes = notes
        self.warnings = warnings

    def __repr__(self) -> str:
        observed = self.agreement.get("observed")
        shown = "undefined" if observed is None else f"{observed:.3f}"
        return (
            f"<quorate.spark.Overview: {self.table['labels']} labels of {self.table['workers']} workers on "
            f"{self.table['tasks']} tasks, observed agreement {shown}, {self.connectivity['parts']} connected parts>"
        )
