"""``aggregate`` and its result: what goes in, what comes back, equal to the program to the last digit."""

from __future__ import annotations

import csv
import pickle
import pathlib
from typing import Callable, Dict, List

import pytest

import quorate

Columns = Dict[str, List[str]]


def parquet_of(program: Callable[..., str], crowd: pathlib.Path, *options: object) -> pathlib.Path:
    """The program's labels at full precision."""
    target = crowd / ("out-" + "-".join(map(str, options)).replace("/", "_")[-80:] + ".parquet")
    program("aggregate", crowd / "labels.csv", "--probabilities", "-o", target, *options)
    return target


@pytest.mark.parametrize("method", ["auto", "majority-vote", "dawid-skene", "rob-symnmf-em", "mace", "glad", "wawa"])
def test_labels_are_those_of_the_program_to_the_last_digit(
    method: str, crowd: pathlib.Path, rows: object, program: Callable[..., str]
) -> None:
    pyarrow_parquet = pytest.importorskip("pyarrow.parquet")
    wanted = pyarrow_parquet.read_table(parquet_of(program, crowd, "-m", method, "--seed", 3)).to_pydict()
    for data in (rows, crowd / "labels.csv"):
        found = quorate.aggregate(data, method, seed=3).probabilities.to_dict()
        assert found == wanted


def test_frames_of_every_library_give_the_same_and_come_back_in_kind(columns: Columns) -> None:
    import duckdb
    import narwhals
    import pandas
    import polars
    import pyarrow

    wanted = list(quorate.aggregate(list(zip(*columns.values())), "dawid-skene").labels)
    table = pyarrow.table(columns)
    frame = polars.DataFrame(columns)
    for data, kind in [
        (pandas.DataFrame(columns), pandas.DataFrame),
        (frame, polars.DataFrame),
        (frame.lazy(), polars.DataFrame),
        (table, pyarrow.Table),
        (table.to_batches()[0], pyarrow.Table),
        (duckdb.from_arrow(table), duckdb.DuckDBPyRelation),
        (narwhals.from_native(frame), narwhals.DataFrame),
        (columns, dict),
    ]:
        labels = quorate.aggregate(data, "dawid-skene").labels
        assert isinstance(labels, kind), (type(data), type(labels))
        if isinstance(labels, dict):
            rows = list(zip(*labels.values()))
        elif isinstance(labels, duckdb.DuckDBPyRelation):
            rows = labels.fetchall()
        elif isinstance(labels, pandas.DataFrame):
            rows = list(labels.itertuples(index=False, name=None))
        else:
            rows = list(zip(*pyarrow.table(labels).to_pydict().values()))
        assert rows == wanted, type(data)


def test_ids_and_labels_come_back_as_they_went_in() -> None:
    import numpy
    import polars

    task, worker, label = [1, 1, 2, 2], [10, 11, 10, 11], [True, True, False, True]
    result = quorate.aggregate(polars.DataFrame({"task": task, "worker": worker, "label": label}), "dawid-skene")
    assert result.labels.schema == {"task": polars.Int64, "label": polars.Boolean, "confidence": polars.Float64}
    assert result.workers["worker"].dtype == polars.Int64
    assert result.confusion["truth"].dtype == polars.Boolean
    array = numpy.array([[1, 10, 5], [1, 11, 5], [2, 10, 6]])
    assert quorate.aggregate(array, "majority-vote").to_dict() == {1: 5, 2: 6}
    floats = quorate.aggregate({"task": [1.0, 2.0], "worker": ["a", "a"], "label": [0.0, 1.0]}, "majority-vote")
    assert floats.labels == {"task": [1.0, 2.0], "label": [0.0, 1.0], "confidence": [1.0, 1.0]}


def test_columns_are_named_by_role(columns: Columns) -> None:
    renamed = {"item": columns["task"], "user": columns["worker"], "answer": columns["label"]}
    names = {"task": "item", "worker": "user", "label": "answer"}
    found = quorate.aggregate(renamed, "dawid-skene", columns=names).to_dict()
    assert found == quorate.aggregate(columns, "dawid-skene").to_dict()
    with pytest.raises(quorate.errors.ParameterError, match="expected task, worker or label"):
        quorate.aggregate(renamed, columns={"tasks": "item"})


def test_everything_that_a_result_says(crowd: pathlib.Path, program: Callable[..., str]) -> None:
    result = quorate.aggregate(crowd / "labels.csv", "dawid-skene")
    facts = result.summary
    assert (facts["tasks"], facts["workers"], facts["labels"]) == (300, 12, 1500)
    assert 0 < result.estimated_error.value < 0.5 and result.converged and result.iterations > 1
    assert len(result.trace) > 1 and result.trace == sorted(result.trace)
    assert result.classes == ["1", "2", "3"]
    assert len(result.workers) == 12
    assert len(result.confusion) == 12 * 9
    assert len(result.changes) == facts["changed_from_majority_vote"] > 0
    review = result.review(5)
    assert len(review) == 5
    worst = sorted(result.labels["confidence"])[:5]
    assert review["confidence"] == worst
    intervals = result.intervals(0.9)
    assert all(low <= high for low, high in zip(intervals["low"], intervals["high"]))
    for file, table in [("workers.csv", result.workers), ("changes.csv", result.changes)]:
        option = "--" + file.split(".")[0]
        program("aggregate", crowd / "labels.csv", "-m", "dawid-skene", option, crowd / file, "-o", crowd / "o.csv")
        with open(crowd / file, newline="") as wanted:
            assert [row[0] for row in csv.reader(wanted)][1:] == list(table.to_dict().values())[0]


def test_intervals_are_those_of_the_program(crowd: pathlib.Path, program: Callable[..., str]) -> None:
    import pyarrow.parquet

    target = crowd / "intervals.parquet"
    program("aggregate", crowd / "labels.csv", "-m", "dawid-skene", "--intervals", target, "--level", 0.9,
            "-o", crowd / "o.csv")
    wanted = pyarrow.parquet.read_table(target).to_pydict()
    assert quorate.aggregate(crowd / "labels.csv", "dawid-skene").intervals(0.9).to_dict() == wanted


def test_models_are_those_of_the_program(crowd: pathlib.Path, program: Callable[..., str]) -> None:
    program("aggregate", crowd / "labels.csv", "-m", "dawid-skene", "--model", crowd / "m1.json", "-o", crowd / "o.csv")
    result = quorate.aggregate(crowd / "labels.csv", "dawid-skene")
    result.save_model(crowd / "m2.json")
    assert (crowd / "m1.json").read_bytes() == (crowd / "m2.json").read_bytes()
    model = quorate.Model.load(crowd / "m1.json")
    assert model == result.model
    assert abs(sum(model.prior.values()) - 1) < 1e-9
    assert all(abs(sum(column) - 1) < 1e-9 for column in zip(*model.confusion(model.workers[0])))
    model.save(crowd / "m3.json")
    assert (crowd / "m3.json").read_bytes() == (crowd / "m1.json").read_bytes()
    with pytest.raises(quorate.errors.NotApplicableError, match="does not estimate a model"):
        binary = [("t1", "a", "x"), ("t1", "b", "x"), ("t2", "a", "y"), ("t2", "b", "y")]
        quorate.aggregate(binary, "kos").save_model(crowd / "m4.json")
    assert not (crowd / "m4.json").exists()


def test_gold_priors_and_history_are_those_of_the_program(crowd: pathlib.Path, program: Callable[..., str]) -> None:
    import pyarrow.parquet

    with open(crowd / "truth.csv", newline="") as file:
        truth = {row["task"]: row["label"] for row in csv.DictReader(file)}
    known = dict(list(truth.items())[:40])
    gold = crowd / "gold.csv"
    gold.write_text("task,label\n" + "".join(f"{task},{label}\n" for task, label in known.items()))
    model = quorate.aggregate(crowd / "labels.csv", "dawid-skene").model
    assert model is not None
    model.save(crowd / "earlier.json")
    target = parquet_of(program, crowd, "-m", "dawid-skene", "--gold", gold, "--prior", "1=0.5,2=0.3,3=0.2",
                        "--prior-weight", 10, "--worker-prior", crowd / "earlier.json", "--worker-prior-weight", 0.5)
    wanted = pyarrow.parquet.read_table(target).to_pydict()
    for given in (gold, known):
        found = quorate.aggregate(
            crowd / "labels.csv",
            "dawid-skene",
            gold=given,
            knowledge={
                "prior": {1: 0.5, 2: 0.3, 3: 0.2},
                "prior_weight": 10,
                "worker_prior": model,
                "worker_prior_weight": 0.5,
            },
        )
        assert found.probabilities.to_dict() == wanted
        assert any("known from gold" in note for note in found.notes)


def test_new_labels_are_folded_into_a_saved_model(crowd: pathlib.Path, rows: List[object]) -> None:
    quorate.aggregate(rows[:1000], "dawid-skene").save_model(crowd / "old.json", keep_labels=True)
    updated = quorate.aggregate(rows[1000:], fitting=quorate.Fitting(update=crowd / "old.json"))
    whole = quorate.aggregate(rows, "dawid-skene")
    assert updated.to_dict() == whole.to_dict()


def test_results_survive_pickling(rows: object) -> None:
    result = quorate.aggregate(rows, "dawid-skene", gold={"t1": "1"}, knowledge={"prior": "uniform"})
    copy = pickle.loads(pickle.dumps(result))
    assert copy.probabilities == result.probabilities
    assert copy.intervals() == result.intervals()
    assert copy.model == result.model and copy.summary == result.summary
    assert pickle.loads(pickle.dumps(result.labels)) == result.labels
    assert pickle.loads(pickle.dumps(result.model)) == result.model


@pytest.mark.parametrize("method", ["majority-vote", "dawid-skene", "auto"])
def test_one_label_per_task_is_warned_of(method: str) -> None:
    alone = [(f"t{i}", f"w{i % 4}", "ab"[i % 2]) for i in range(12)]
    with pytest.warns(quorate.DataWarning, match="the confidence is a guess"):
        result = quorate.aggregate(alone, method)
    assert sum("the confidence is a guess" in text for text in result.warnings) == 1
    assert not any("guess" in text for text in quorate.aggregate([*alone, ("t0", "w1", "a")], method).warnings)
