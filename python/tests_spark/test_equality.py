"""The labels of the cluster are those of one machine, for any number of partitions."""

from __future__ import annotations

import csv
import json
import pathlib
from typing import Any, Dict

import pytest

import quorate
import quorate.spark
from conftest import Rows, answers_of, frame_of, furthest, local_answers, public_data, spilled

METHODS: Dict[str, Dict[str, Any]] = {
    "majority-vote": {},
    "dawid-skene": {"max_iter": 8},
    "one-coin": {"max_iter": 6},
    "fast-ds": {"max_iter": 4},
    "pooled-ds": {"max_iter": 5},
    "ibcc": {"max_iter": 5},
    "rob-symnmf": {},
    "rob-symnmf-em": {"max_iter": 5},
}


@pytest.mark.filterwarnings("ignore::quorate.QuorateWarning")
@pytest.mark.parametrize("method", METHODS)
def test_labels_are_those_of_one_machine(spark: Any, rows: Rows, method: str) -> None:
    parameters = METHODS[method]
    local = quorate.aggregate(rows, method, **parameters)
    wanted = local_answers(local.probabilities, local.classes)
    frame = frame_of(spark, rows)
    found = {}
    for partitions in (1, 2, 7):
        with quorate.spark.aggregate(frame, method, cluster={"partitions": partitions}, **parameters) as result:
            assert (result.iterations, result.classes) == (local.iterations, local.classes)
            assert result.converged == local.converged
            found[partitions] = answers_of(result.labels)
    # To the last digit, whatever the partitions.
    assert found[1] == found[2] == found[7]
    assert furthest(found[1], wanted) < 1e-9


@pytest.mark.filterwarnings("ignore::quorate.QuorateWarning")
@pytest.mark.parametrize("method", ["task-effects", "auto"])
def test_members_that_stream_are_close_to_those_of_labels_on_disk(
    spark: Any, rows: Rows, method: str, tmp_path: pathlib.Path
) -> None:
    wanted = spilled(rows, method, tmp_path)
    # The other members are above with 1, 2 and 7 partitions; this one takes long.
    found = []
    for partitions in (7,) if method == "auto" else (1, 2, 7):
        with quorate.spark.aggregate(frame_of(spark, rows), method, cluster={"partitions": partitions}) as result:
            found.append(answers_of(result.labels))
    assert all(answers == found[0] for answers in found)
    # A small table on disk is fitted in memory, where effects of tasks are warm from the round before and a posterior
    # may still move by the tolerance of 1e-3: the bound of crates/quorate/tests/blocks.rs. That the passes of a cluster
    # are those of blocks here to 1e-9 is shown in crates/quorate/tests/remote.rs.
    assert furthest(found[0], wanted) < 5e-3


@pytest.mark.filterwarnings("ignore::quorate.QuorateWarning")
def test_without_pairs_sums_over_tasks_are_merged(spark: Any, rows: Rows) -> None:
    local = quorate.aggregate(rows, "rob-symnmf", form="matrix-free", sweeps=6)
    with quorate.spark.aggregate(frame_of(spark, rows), "rob-symnmf", form="matrix-free", sweeps=6) as result:
        assert furthest(answers_of(result.labels), local_answers(local.probabilities, local.classes)) < 1e-9


@pytest.mark.filterwarnings("ignore::quorate.QuorateWarning")
def test_workers_model_and_summary_are_those_of_one_machine(spark: Any, rows: Rows) -> None:
    local = quorate.aggregate(rows, "dawid-skene", max_iter=6)
    with quorate.spark.aggregate(frame_of(spark, rows), "dawid-skene", max_iter=6) as result:
        found = {row["worker"]: row.asDict() for row in result.workers.collect()}
        table = local.workers.to_dict()
        assert sorted(found) == sorted(table["worker"])
        for place, worker in enumerate(table["worker"]):
            for column, values in table.items():
                wanted = values[place]
                close = wanted if isinstance(wanted, str) else pytest.approx(wanted, abs=1e-9)
                assert found[worker][column] == close, (worker, column)
        assert result.model is not None and local.model is not None
        ours, theirs = (json.loads(model._native.to_json()) for model in (result.model, local.model))
        assert {**ours, "workers": 0, "prior": 0} == {**theirs, "workers": 0, "prior": 0}
        for name, wanted in local.summary.items():
            if name != "fit_seconds":
                assert result.summary[name] == (pytest.approx(wanted) if isinstance(wanted, float) else wanted), name
        assert result.summary["passes"] > 5 and result.summary["bytes_received"] > 0
        assert result.trace == pytest.approx(local.trace)


@pytest.mark.filterwarnings("ignore::quorate.QuorateWarning")
@pytest.mark.parametrize("name", ["rte", "trec"])
def test_public_data(spark: Any, name: str) -> None:
    path = public_data() / name / "labels.csv"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    with open(path, newline="") as file:
        labels = [(row["task"], row["worker"], row["label"]) for row in csv.DictReader(file)]
    local = quorate.aggregate(labels, "dawid-skene", max_iter=12)
    wanted = local_answers(local.probabilities, local.classes)
    frame = frame_of(spark, labels)
    found = []
    for partitions in (1, 2, 7):
        with quorate.spark.aggregate(frame, "dawid-skene", max_iter=12, cluster={"partitions": partitions}) as result:
            assert result.iterations == local.iterations
            found.append(answers_of(result.labels))
    assert found[0] == found[1] == found[2]
    assert furthest(found[0], wanted) < 1e-9


@pytest.mark.filterwarnings("ignore::quorate.QuorateWarning")
def test_evaluation_is_that_of_one_machine(spark: Any) -> None:
    crowd = quorate.simulate(tasks=400, workers=12, classes=3, accuracy=(0.4, 0.8), labels_per_task=4, seed=2)
    labels = [(str(a), str(b), str(c)) for a, b, c in crowd.labels.table]
    truth = {str(task): str(label) for task, label in crowd.truth}
    for task in list(truth)[:50]:
        del truth[task]
    truth["nobody labelled this"] = "1"
    local = quorate.aggregate(labels, "dawid-skene", max_iter=3)
    wanted = quorate.evaluate(local, truth).to_dict()
    with quorate.spark.aggregate(frame_of(spark, labels), "dawid-skene", max_iter=3) as result:
        found = quorate.spark.evaluate(result, truth).to_dict()
        plain = quorate.spark.evaluate(result.labels.select("task", "label"), truth)
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            assert len(found[name]) == len(value)
            for cell, ours in zip(value, found[name]):
                assert ours == {key: pytest.approx(x) if isinstance(x, float) else x for key, x in cell.items()}
        else:
            assert found[name] == (pytest.approx(value) if isinstance(value, (float, list)) else value), name
    assert (plain.error, plain.log_loss, plain.calibration_error) == (wanted["error"], None, None)


def test_inspection_is_that_of_one_machine(spark: Any, rows: Rows) -> None:
    apart = [*rows, ("alone", "hermit", "1"), ("silent", "hermit", "")]
    wanted = quorate.inspect(apart, replicates=0)
    found = quorate.spark.inspect(frame_of(spark, apart))
    assert found.table["labels"] == wanted.table["labels"] == len(apart) - 1
    assert found.table["unlabelled_tasks"] == 1 and found.table["abstentions"] == 1
    assert sum(found.table["labels_per_class"].values()) == found.table["labels"]
    for ours, theirs in [("observed", "observed"), ("fleiss", "fleiss_kappa"), ("ac1", "gwet_ac1"),
                         ("alpha_nominal", "alpha_nominal"), ("alpha_ordinal", "alpha_ordinal")]:
        assert found.agreement[ours] == pytest.approx(getattr(wanted.agreement, theirs).value), ours
    assert found.connectivity["parts"] == 2
    assert found.connectivity["labels_in_parts"] == [len(rows), 1]


def test_one_label_per_task_is_warned_of_as_on_one_machine(spark: Any) -> None:
    alone = [(f"t{i}", f"w{i % 4}", "ab"[i % 2]) for i in range(12)]
    with pytest.warns(quorate.DataWarning, match="the confidence is a guess"):
        local = quorate.aggregate(alone, "majority-vote")
    with pytest.warns(quorate.DataWarning, match="the confidence is a guess"):
        result = quorate.spark.aggregate(frame_of(spark, alone), "majority-vote", cluster={"partitions": 2})
    with result:
        assert result.warnings == local.warnings
