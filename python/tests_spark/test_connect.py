"""The same through Spark Connect: no SparkContext, no RDD."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
from typing import Any, Dict, List

import pytest

import quorate
from conftest import Rows, furthest, local_answers
from local_cluster import LocalCluster


@pytest.mark.filterwarnings("ignore::quorate.QuorateWarning")
def test_connect_gives_the_labels_of_one_machine(cluster: LocalCluster, rows: Rows, tmp_path: pathlib.Path) -> None:
    runs: List[Dict[str, Any]] = [
        *({"method": "dawid-skene", "max_iter": 4, "cluster": {"partitions": partitions}} for partitions in (1, 2, 7)),
        {"method": "dawid-skene", "max_iter": 4, "cluster": {"partitions": 2}, "gold": {rows[0][0]: "1"}},
        {"method": "dawid-skene", "max_iter": 4, "cluster": {"partitions": 2, "closure_bytes": 1000}},
        {"method": "rob-symnmf-em", "max_iter": 3},
    ]
    given = tmp_path / "given.json"
    given.write_text(json.dumps({"rows": rows, "runs": runs}))
    address = cluster.connect_server()
    client = pathlib.Path(__file__).parent / "connect_client.py"
    environment = {name: value for name, value in cluster.environment.items() if name != "SPARK_HOME"}
    done = subprocess.run(
        [sys.executable, str(client), address, str(given)], capture_output=True, text=True, timeout=300, env=environment
    )
    assert done.returncode == 0, done.stderr[-4000:]
    document = json.loads(done.stdout)
    found = document["runs"]
    assert (document["labels"], document["error"]) == (len(rows), 0.5)
    for run, ours in zip(runs, found):
        options = {name: run[name] for name in ("max_iter", "gold") if name in run}
        local = quorate.aggregate(rows, run["method"], **options)
        assert ours["iterations"] == local.iterations
        assert furthest(ours["answers"], local_answers(local.probabilities, local.classes)) < 1e-9
        assert ours["workers"] == sorted({worker for _, worker, _ in rows})
        assert local.model is not None
        assert ours["fingerprint"] == json.loads(local.model._native.to_json())["fingerprint"]
    assert found[0]["answers"] == found[1]["answers"] == found[2]["answers"] == found[4]["answers"]
