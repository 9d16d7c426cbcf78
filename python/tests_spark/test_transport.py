"""Large parameters travel in files, many statistics are merged on the way, a lost machine changes nothing."""

from __future__ import annotations

import os
import pathlib
import threading
from typing import Any, List, Optional

import pytest

import quorate
import quorate.spark
from quorate.spark import _encode
from conftest import Rows, answers_of, frame_of
from local_cluster import LocalCluster

pytestmark = pytest.mark.filterwarnings("ignore::quorate.QuorateWarning")


@pytest.fixture(scope="module")
def plain(spark: Any, rows: Rows) -> Any:
    """Labels when everything travels with the function."""
    with quorate.spark.aggregate(frame_of(spark, rows), "dawid-skene", max_iter=6, cluster={"partitions": 4}) as result:
        return answers_of(result.labels)


def test_parameters_beyond_the_limit_travel_in_files(
    spark: Any, rows: Rows, plain: Any, tmp_path: pathlib.Path
) -> None:
    frame = frame_of(spark, rows)
    seen: List[int] = []

    def look(*_: object) -> None:
        seen.append(len(os.listdir(tmp_path)))

    cluster = quorate.spark.Cluster(partitions=4, closure_bytes=1000, shared_folder=tmp_path)
    with quorate.spark.aggregate(frame, "dawid-skene", max_iter=6, progress=look, cluster=cluster) as result:
        assert answers_of(result.labels) == plain
        # The rule behind the labels stays while they may be used.
        assert len(os.listdir(tmp_path)) == 1
    assert os.listdir(tmp_path) == [] and seen
    cluster = quorate.spark.Cluster(partitions=4, closure_bytes=1000)
    with quorate.spark.aggregate(frame, "dawid-skene", max_iter=6, cluster=cluster) as result:
        assert answers_of(result.labels) == plain


def test_the_limit_is_what_the_guide_says() -> None:
    # 10^5 workers with 4 classes travel twice (this model and the one before): 25.6 MB; 10^6 do not.
    size = 2 * 8 * 16
    assert 10**5 * size <= quorate.spark.Cluster().closure_bytes < 10**6 * size


def test_statistics_of_many_partitions_are_merged_on_the_way(spark: Any, rows: Rows, plain: Any) -> None:
    frame = frame_of(spark, rows)
    received = []
    for driver_bytes in (0, 1 << 30):
        with quorate.spark.aggregate(
            frame, "dawid-skene", max_iter=6, cluster={"partitions": 12, "driver_bytes": driver_bytes}
        ) as result:
            assert answers_of(result.labels) == plain
            received.append(result.summary["bytes_received"])
    assert received[0] < received[1]


def test_a_worker_killed_in_the_middle_of_a_fit_changes_nothing(
    cluster: LocalCluster, spark: Any, rows: Rows, plain: Any
) -> None:
    killed: List[threading.Thread] = []

    def kill(stage: str, done: int, _: Optional[int]) -> None:
        if stage == "EM" and done >= 2 and not killed:
            # While the pass that is about to start runs.
            killed.append(threading.Timer(0.05, cluster.kill_worker, (0,)))
            killed[0].start()

    try:
        with quorate.spark.aggregate(
            frame_of(spark, rows), "dawid-skene", max_iter=6, cluster={"partitions": 4}, progress=kill
        ) as result:
            killed[0].join()
            assert cluster.workers[0].returncode is not None
            assert answers_of(result.labels) == plain
    finally:
        cluster.add_worker()


def test_blocks_follow_from_the_data_alone() -> None:
    assert _encode.block_count(10**4, 500) == 16
    assert _encode.block_count(10**8, 16 * 10**4) == 256
    # Labels of a block are at least as many as four cells each, and at most 2^25.
    for labels, cells in [(10**9, 10**5), (10**12, 1_600_000), (10**11, 10**8)]:
        size = labels / _encode.block_count(labels, cells)
        assert size <= 2**25 and (size >= min(2 * cells, 2**24) or size < 2**18)


def test_progress_and_errors_of_a_callback_reach_the_caller(spark: Any, rows: Rows) -> None:
    stages: List[str] = []

    def stop(stage: str, _: int, __: Optional[int]) -> None:
        stages.append(stage)
        if stage == "EM":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        quorate.spark.aggregate(frame_of(spark, rows), "dawid-skene", progress=stop)
    assert stages[0] == "votes"


def test_quorate_alone_does_not_import_spark() -> None:
    import subprocess
    import sys

    code = "import sys, quorate, quorate.spark; sys.exit('pyspark' in sys.modules or 'pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
