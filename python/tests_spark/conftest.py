"""What the tests on a cluster share: the cluster, a classic session, labels, and comparison with one machine."""

from __future__ import annotations

import csv
import os
import pathlib
import subprocess
import sys
from typing import Any, Dict, Iterator, List, Tuple

import pytest

import quorate
from local_cluster import LocalCluster

Rows = List[Tuple[str, str, str]]
Answers = Dict[str, List[float]]

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    """One master and two workers, for all tests of a run."""
    cluster = LocalCluster(tmp_path_factory.mktemp("cluster"))
    try:
        yield cluster
    finally:
        cluster.close()


@pytest.fixture(scope="session")
def spark(cluster: LocalCluster) -> Iterator[Any]:
    """A classic session."""
    session = cluster.session()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def rows() -> Rows:
    """Labels of a simulated crowd."""
    crowd = quorate.simulate(
        tasks=500, workers=24, classes=3, accuracy=(0.5, 0.9), labels_per_task=5, spammers=2, seed=7
    )
    return [(str(task), str(worker), str(label)) for task, worker, label in crowd.labels.table]


def frame_of(spark: Any, rows: Rows) -> Any:
    """A DataFrame of rows, in several partitions."""
    return spark.createDataFrame(rows, "task string, worker string, label string").repartition(3)


def answers_of(frame: Any) -> Answers:
    """The probabilities of each task of a DataFrame of results."""
    return {str(row["task"]): list(row["probabilities"]) for row in frame.collect()}


def local_answers(table: Any, classes: List[str]) -> Answers:
    """The probabilities of each task of a result of one machine."""
    columns = table.to_dict() if hasattr(table, "to_dict") else table
    return {
        str(task): [columns[f"p:{name}"][place] for name in classes] for place, task in enumerate(columns["task"])
    }


def furthest(found: Answers, wanted: Answers) -> float:
    """The largest difference of a probability; both are about the same tasks."""
    assert found.keys() == wanted.keys()
    return max(abs(a - b) for task in wanted for a, b in zip(found[task], wanted[task]))


def spilled(rows: Rows, method: str, folder: pathlib.Path) -> Answers:
    """What the program says of labels on disk."""
    import pyarrow.parquet

    labels, target = folder / "labels.csv", folder / f"{method}.parquet"
    with open(labels, "w", newline="") as file:
        csv.writer(file).writerows([("task", "worker", "label"), *rows])
    command = ["aggregate", labels, "-m", method, "--spill", folder, "--probabilities", "-o", target]
    subprocess.run([sys.executable, "-m", "quorate._program", *map(str, command)], check=True, capture_output=True)
    columns = pyarrow.parquet.read_table(target).to_pydict()
    return local_answers(columns, [name[2:] for name in columns if name.startswith("p:")])


def public_data() -> pathlib.Path:
    """The folder of the public data sets, which may not be there."""
    given = os.environ.get("QUORATE_DATA")
    return pathlib.Path(given) if given else ROOT.parent / "shared" / "data"
