"""Labels on the cluster: blocks of whole tasks, persisted, and passes over them."""

from __future__ import annotations

import functools
import os
import tempfile
import uuid
from typing import Any, Callable, Iterable, List, NamedTuple, Optional, Tuple, Union

from ..errors import ParameterError
from . import _executor
from ._executor import InFile, Payload

Node = Tuple[int, int, bytes]

_BATCH_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
_BATCH_BYTES = 64 << 20


class Cluster(NamedTuple):
    """How labels are dealt over the cluster and what travels: ``cluster=quorate.spark.Cluster(partitions=64)``, or a dict
    with these keys."""

    partitions: Optional[int] = None
    """Partitions of the blocks; by default as many as Spark shuffles into, while each has some million labels."""
    closure_bytes: int = 32 << 20
    """Parameters up to this size travel with the function that executors run; larger ones (10^6 workers with matrices,
    say) in a file."""
    driver_bytes: int = 128 << 20
    """Where the partitions would send more than this to the driver, one more stage merges on the executors."""
    shared_folder: Union[str, "os.PathLike[str]", None] = None
    """A folder that driver and executors see, for parameters in files; without it they go as Spark artifacts (Spark 4,
    or Spark Connect)."""


class Blocks:
    """The labels of all tasks: ``block, labels, tasks``, a row for each block, in the order of blocks within a partition."""

    def __init__(
        self,
        frame: Any,
        *,
        workers: List[str],
        classes: List[str],
        blocks: int,
        partitions: int,
        cluster: Cluster,
    ) -> None:
        self.frame = frame.persist()
        self.workers = workers
        self.classes = classes
        self.cluster = cluster
        self.partitions = partitions
        self._count = blocks
        self._files: List[str] = []
        self.passes = 0
        self.bytes_sent = 0
        self.bytes_received = 0
        self.tasks = self.labels = self.repeated = self.known = self.block_bytes = 0

    def count(self) -> None:
        """Encodes the labels, and counts what is there."""
        sums = "sum(task_count), sum(label_count), sum(repeated), sum(known), sum(length(labels)), count(*)"
        row = self.frame.selectExpr(*sums.split(", ")).collect()[0]
        self.tasks, self.labels, self.repeated, self.known, total, count = (value or 0 for value in row)
        self.block_bytes = total // max(count, 1)

    def ask(self, request: bytes) -> List[Node]:
        """Runs the pass of a request on all blocks."""
        payload, used = self._payload(request)
        run = self.frame.select("block", "labels").mapInArrow(
            functools.partial(_executor.run_pass, payload), _executor.NODE_SCHEMA
        )
        expected = 8 * len(self.workers) * len(self.classes) ** 2 * self.partitions
        if expected > self.cluster.driver_bytes:
            run = self._merged(run, payload)
        with _batch_rows(self.frame.sparkSession, self.block_bytes):
            rows = run.collect()
        for path in used:
            self._remove(path)
        nodes = [(row[0], row[1], bytes(row[2])) for row in rows]
        self.passes += 1
        self.bytes_sent += len(request)
        self.bytes_received += sum(len(part) for _, _, part in nodes)
        return nodes

    def _merged(self, nodes: Any, payload: Payload) -> Any:
        """A stage that merges the nodes of neighbouring partitions."""
        groups = max(2, int(self.partitions**0.5))
        return (
            nodes.selectExpr("*", "shiftleft(place, level) as first")
            .selectExpr("*", f"cast(first * {groups} div {self._count} as int) as part_group")
            .repartition(groups, "part_group")
            .sortWithinPartitions("first")
            .select("level", "place", "part")
            .mapInArrow(functools.partial(_executor.merge_nodes, payload), _executor.NODE_SCHEMA)
        )

    def map(self, function: Callable[..., Iterable[Any]], payload: bytes, *arguments: Any, schema: str) -> Any:
        """A DataFrame of what a function makes of blocks and the names of their tasks. Files stay until the end."""
        sent, used = self._payload(payload)
        self._files.extend(used)
        return self.frame.select("labels", "tasks").mapInArrow(functools.partial(function, sent, *arguments), schema)

    def _payload(self, data: bytes) -> Tuple[Payload, List[str]]:
        """The bytes as they travel, and the file that they are in, if they are in one."""
        limit = self.cluster.closure_bytes
        if len(data) <= limit:
            return data, []
        folder = self.cluster.shared_folder
        name = f"quorate-{uuid.uuid4().hex}.bytes"
        path = os.path.join(folder if folder is not None else tempfile.gettempdir(), name)
        # Whole before it has its name: executors never see a part of it.
        with open(path + ".part", "wb") as file:
            file.write(data)
        os.rename(path + ".part", path)
        if folder is not None:
            return InFile(path, False), [path]
        try:
            self.frame.sparkSession.addArtifact(path, file=True)
        except Exception as error:
            self._remove(path)
            raise ParameterError(
                f"the parameters of {len(self.workers)} workers take {len(data)} bytes, above the {limit} that travel "
                f"with every task, and Spark does not take them as an artifact ({error}); name a folder that driver "
                "and executors see with the argument shared_folder, or raise closure_bytes"
            ) from error
        return InFile(path, True), [path]

    @staticmethod
    def _remove(path: str) -> None:
        try:
            os.remove(path)
        except OSError:
            # Whoever cleans the folder was faster.
            pass

    def close(self) -> None:
        """Gives memory and files back."""
        self.frame.unpersist()
        for path in self._files:
            self._remove(path)
        self._files.clear()


class _batch_rows:
    """Blocks are rows of megabytes: as many in an Arrow batch as fit into a few tens of them."""

    def __init__(self, session: Any, block_bytes: int) -> None:
        self._conf = session.conf
        self._rows = max(1, _BATCH_BYTES // max(block_bytes, 1))
        self._before: Optional[str] = None

    def __enter__(self) -> None:
        before = self._conf.get(_BATCH_ROWS, "10000")
        if 0 < int(before) <= self._rows:
            return
        self._before = before
        self._conf.set(_BATCH_ROWS, str(self._rows))

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            self._conf.set(_BATCH_ROWS, self._before)
