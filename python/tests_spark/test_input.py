"""What goes in: gold, priors, duplicates, missing labels, classes, types; and what is refused, before any pass."""

from __future__ import annotations

from typing import Any, Dict, List

import pytest

import quorate
import quorate.spark
from quorate.spark import _blocks
from conftest import Rows, answers_of, frame_of, furthest, local_answers

pytestmark = pytest.mark.filterwarnings("ignore::quorate.QuorateWarning")


def check(spark: Any, rows: Rows, method: str = "dawid-skene", **options: Any) -> quorate.spark.Result:
    """The cluster and one machine with the same options."""
    local = quorate.aggregate(rows, method, max_iter=5, **options)
    result = quorate.spark.aggregate(frame_of(spark, rows), method, max_iter=5, **options)
    assert result.classes == local.classes
    assert furthest(answers_of(result.labels), local_answers(local.probabilities, local.classes)) < 1e-9
    for name in ("tasks", "workers", "labels", "abstentions", "repeated_rows", "unlabelled_tasks"):
        assert result.summary[name] == local.summary[name], name
    result.unpersist()
    return result


def test_gold_class_prior_and_worker_history(spark: Any, rows: Rows) -> None:
    gold: Dict[str, str] = {task: label for task, _, label in rows[::37]}
    half = [row for row in rows if len(row[0]) % 2]
    earlier = quorate.aggregate(half or rows[:300], "dawid-skene").model
    result = check(spark, rows, gold=gold, knowledge=quorate.Knowledge(
        prior={"1": 0.5, "2": 0.3, "3": 0.2}, prior_weight=30, worker_prior=earlier, worker_prior_weight=0.5
    ))
    assert any("known from gold" in note for note in result.notes)
    check(spark, rows, "rob-symnmf-em", gold=gold)
    check(spark, rows, knowledge={"prior": "uniform"}, fitting={"calibrate": True})


def test_gold_as_a_dataframe_and_a_class_that_nobody_named(spark: Any, rows: Rows) -> None:
    gold = {rows[0][0]: "2", rows[40][0]: "new", "nowhere": "1"}
    local = quorate.aggregate(rows, "dawid-skene", gold=gold, max_iter=3)
    frame = spark.createDataFrame(list(gold.items()), "task string, label string")
    with quorate.spark.aggregate(frame_of(spark, rows), "dawid-skene", gold=frame, max_iter=3) as result:
        assert result.classes == local.classes and "new" in result.classes
        assert furthest(answers_of(result.labels), local_answers(local.probabilities, local.classes)) < 1e-9
        assert any("1 task of gold that nobody labelled" in warning for warning in result.warnings)


def test_missing_labels_and_workers_left_out(spark: Any, rows: Rows) -> None:
    few = rows[:600]
    odd = [*few, ("silent", few[0][1], ""), (few[0][0], "newcomer", "NaN"), (few[1][0], "newcomer", "n/a")]
    assert check(spark, odd, reading={"missing": ("NaN", "n/a")}).summary["abstentions"] == 3
    workers = sorted({worker for _, worker, _ in few})[:12]
    check(spark, few, reading={"keep_workers": workers})


def test_repeated_rows(spark: Any, rows: Rows) -> None:
    few = rows[:400]
    other = {"1": "2", "2": "3", "3": "1"}
    twice = [*few, *[(task, worker, other[label]) for task, worker, label in few[::7]]]
    numbered = [(*row, place) for place, row in enumerate(twice)]
    frame = spark.createDataFrame(numbered, "task string, worker string, label string, moment long").repartition(5)
    for policy in ("last", "first", "keep"):
        local = quorate.aggregate(twice, "dawid-skene", reading={"duplicates": policy}, max_iter=4)
        order = "moment" if policy != "keep" else None
        options: Dict[str, Any] = {"reading": {"duplicates": policy}, "order": order, "max_iter": 4}
        with quorate.spark.aggregate(frame, "dawid-skene", **options) as result:
            assert furthest(answers_of(result.labels), local_answers(local.probabilities, local.classes)) < 1e-9
            assert result.summary["repeated_rows"] == len(few[::7])
    with pytest.raises(quorate.InputError, match=f"{len(few[::7])} rows have the task and worker of another row"):
        quorate.spark.aggregate(frame, "dawid-skene", reading={"duplicates": "error"})
    # Without a column the order of the DataFrame's own rows counts.
    ordered = spark.createDataFrame(twice, "task string, worker string, label string")
    local = quorate.aggregate(twice, "majority-vote")
    with quorate.spark.aggregate(ordered, "majority-vote") as result:
        assert furthest(answers_of(result.labels), local_answers(local.probabilities, local.classes)) == 0.0


def test_types_and_names_of_columns(spark: Any) -> None:
    rows = [(n, float(m), m == n % 2) for n in range(12) for m in range(3)]
    frame = spark.createDataFrame(rows, "item int, `the user` double, answer boolean")
    columns = {"task": "item", "worker": "the user", "label": "answer"}
    local = quorate.aggregate({"item": [r[0] for r in rows], "the user": [r[1] for r in rows],
                               "answer": [r[2] for r in rows]}, "dawid-skene", columns=columns)
    with quorate.spark.aggregate(frame, "dawid-skene", columns=columns) as result:
        assert dict(result.labels.dtypes) == {
            "task": "int", "label": "boolean", "confidence": "double", "probabilities": "array<double>"
        }
        assert dict(result.workers.dtypes)["worker"] == "double"
        found = {row["task"]: row["label"] for row in result.labels.collect()}
    assert found == dict(zip(local.labels["task"], local.labels["label"]))


def test_classes_in_order_and_joined(spark: Any, rows: Rows) -> None:
    check(spark, rows[:500], classes=["3", "1", "2", "4"])
    mixed: List[Any] = [(task, worker, "2.0" if label == "2" and place % 2 else label)
                        for place, (task, worker, label) in enumerate(rows[:500])]
    assert check(spark, mixed).classes == ["1", "2", "3"]


def test_what_is_refused_with_the_number_of_rows(
    spark: Any, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_pass(*_: object) -> None:
        raise AssertionError("a pass ran")

    monkeypatch.setattr(_blocks.Blocks, "ask", no_pass)
    frame = frame_of(spark, rows[:100])
    with pytest.raises(quorate.InputError, match="no column 'worker'; found task, who, label; name columns with"):
        quorate.spark.aggregate(frame.withColumnRenamed("worker", "who"))
    bad: List[Any] = [*rows[:20], (None, "w1", "1"), ("", "w1", "1"), ("t1", None, "1")]
    with pytest.raises(quorate.InputError, match="2 of 23 rows have no task id .*; 1 of 23 rows have no worker id"):
        quorate.spark.aggregate(frame_of(spark, bad))
    with pytest.raises(quorate.InputError, match=r"\d+ of 100 rows have a label that is not one of the given classes"):
        quorate.spark.aggregate(frame, classes=["1", "2"])
    with pytest.raises(quorate.InputError, match="there are no labels: 3 rows"):
        quorate.spark.aggregate(frame_of(spark, [("t", f"w{m}", "") for m in range(3)]))
    with pytest.raises(quorate.InputError, match=r"column 'label' \(label\) is of type array<string>"):
        quorate.spark.aggregate(frame.selectExpr("task", "worker", "array(label) as label"))
    with pytest.raises(quorate.InputError, match="gold: 1 truths contradict"):
        quorate.spark.aggregate(frame, gold=[("t1", "1"), ("t1", "2")])
    with pytest.raises(quorate.errors.ParameterError, match="class 'x' of gold or worker_prior is not among classes"):
        quorate.spark.aggregate(frame, classes=["1", "2", "3"], gold={rows[0][0]: "x"})


def test_methods_that_need_all_labels_say_what_to_do(spark: Any, rows: Rows) -> None:
    frame = frame_of(spark, rows[:50])
    with pytest.raises(quorate.errors.NotApplicableError, match="glad needs all labels in one place.*dawid-skene.*"
                       r"quorate.aggregate\(df.toArrow\(\), 'glad'\)"):
        quorate.spark.aggregate(frame, "glad")
    with pytest.raises(quorate.errors.NotApplicableError, match="random ties"):
        quorate.spark.aggregate(frame, "majority-vote", ties="random")
    with pytest.raises(quorate.errors.ParameterError, match="there is no method"):
        quorate.spark.aggregate(frame, "dawid-sken-e-e-e-e")
