"""Input of every form: types, chunks, slices, nulls, and what is refused."""

from __future__ import annotations

import pathlib
from typing import Any, List, Optional, Tuple

import hypothesis
import numpy
import pandas
import polars
import pyarrow
import pytest
from hypothesis import strategies

import quorate

Row = Tuple[str, str, Optional[str]]


def table_of(labels: quorate.Labels) -> List[Tuple[Any, ...]]:
    return sorted(labels.table)


rows_strategy = strategies.lists(
    strategies.tuples(
        strategies.sampled_from(["t1", "t2", "t3", "a task with a long name, \u00e9t\u00e9"]),
        strategies.sampled_from(["w1", "w2", "a worker with a long name"]),
        strategies.one_of(strategies.none(), strategies.sampled_from(["cat", "dog", ""])),
    ),
    min_size=1,
    max_size=30,
)


@hypothesis.given(rows_strategy, strategies.integers(1, 7))
@hypothesis.settings(deadline=None, max_examples=60)
def test_every_form_of_the_same_rows_is_the_same_table(rows: List[Row], cut: int) -> None:
    columns = {name: list(values) for name, values in zip(("task", "worker", "label"), zip(*rows))}
    try:
        wanted = quorate.read(rows)
    except quorate.InputError as error:
        assert "no labels" in str(error)
        with pytest.raises(quorate.InputError, match="no labels"):
            quorate.read(pyarrow.table(columns))
        return
    whole = pyarrow.table(columns)
    text = pyarrow.schema([(name, pyarrow.string()) for name in columns])
    whole = whole.cast(text)
    padded = pyarrow.concat_tables([whole.slice(0, 1), whole, whole.slice(0, 1)])
    forms: List[Any] = [
        whole,
        pyarrow.concat_tables([whole.slice(0, cut), whole.slice(cut)]),
        padded.slice(1, whole.num_rows),
        whole.cast(pyarrow.schema([(name, pyarrow.large_string()) for name in columns])),
        whole.cast(pyarrow.schema([(name, pyarrow.string_view()) for name in columns])),
        pyarrow.table({name: whole[name].combine_chunks().dictionary_encode() for name in columns}),
        polars.DataFrame(columns, schema={name: polars.String for name in columns}),
        polars.DataFrame(columns, schema={name: polars.Categorical for name in columns}),
        pandas.DataFrame(columns).astype("string"),
        pandas.DataFrame(columns).astype("string").astype("category"),
        columns,
    ]
    for form in forms:
        found = quorate.read(form)
        assert list(found.table) == list(wanted.table), type(form)
        assert found.classes == wanted.classes and found.tasks == wanted.tasks and found.notes == wanted.notes


@hypothesis.given(
    strategies.lists(
        strategies.tuples(strategies.integers(0, 5), strategies.integers(-3, 3), strategies.integers(0, 2)), min_size=1
    ),
    strategies.sampled_from(["int8", "int16", "int32", "int64", "float32", "float64"]),
)
@hypothesis.settings(deadline=None, max_examples=40)
def test_numbers_of_every_width_are_the_same_table(rows: List[Tuple[int, int, int]], width: str) -> None:
    array = numpy.array(rows, dtype=width)
    wanted = table_of(quorate.read(rows))
    assert table_of(quorate.read(array)) == wanted
    frame = pandas.DataFrame(array, columns=["task", "worker", "label"])
    assert table_of(quorate.read(frame)) == wanted
    assert table_of(quorate.read(polars.DataFrame(frame))) == wanted


def test_booleans_and_unsigned_numbers() -> None:
    frame = polars.DataFrame(
        {"task": [1, 2**63 + 1], "worker": ["a", "b"], "label": [True, False]}, schema_overrides={"task": polars.UInt64}
    )
    assert list(quorate.read(frame).table) == [(1, "a", True), (2**63 + 1, "b", False)]


def test_missing_values_are_abstentions() -> None:
    frame = pandas.DataFrame({"task": [1, 1, 2], "worker": ["a", "b", "a"], "label": [1.0, float("nan"), 0.0]})
    labels = quorate.read(frame)
    assert len(labels) == 2 and labels.classes == ["0", "1"]
    assert any("1 row without a label" in note for note in labels.notes)


def test_wide_matrices() -> None:
    nan = float("nan")
    matrix = numpy.array([[1, 1, nan], [0, nan, 1]])
    long = quorate.from_matrix(matrix, tasks=["a", "b"], workers=["x", "y", "z"])
    assert list(quorate.read(long).table) == [("a", "x", 1), ("a", "y", 1), ("b", "x", 0), ("b", "z", 1)]
    frame = pandas.DataFrame(matrix, index=["a", "b"], columns=["x", "y", "z"])
    assert quorate.from_matrix(frame) == long
    with pytest.raises(quorate.InputError, match="expected one for each worker"):
        quorate.from_matrix([[1, 2], [1]], workers=["x", "y"])


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet", "arrow", "csv.gz", "jsonl.zst"])
def test_files_of_every_format(suffix: str, tmp_path: pathlib.Path) -> None:
    rows = [("t1", "ann", "cat"), ("t1", "bob", "dog"), ("t2", "ann", "cat")]
    quorate.convert(rows, tmp_path / f"labels.{suffix}")
    assert list(quorate.read(str(tmp_path / f"labels.{suffix}")).table) == rows


def test_bad_input_is_a_clear_exception(tmp_path: pathlib.Path) -> None:
    good = {"task": ["t"], "worker": ["w"], "label": ["x"]}
    cases: List[Tuple[Any, str]] = [
        (pandas.DataFrame({"task": [], "worker": [], "label": []}), "no labels"),
        (polars.DataFrame({"task": [], "worker": [], "label": []}, schema={"task": str, "worker": str, "label": str}), "no labels"),
        ([], "no labels"),
        (polars.DataFrame(), "expected ones named"),
        (polars.DataFrame(good).drop("label"), 'expected one named "label"'),
        (polars.DataFrame({**good, "label": [["x"]]}), "found values of type LargeList"),
        (polars.DataFrame({**good, "task": [None]}, schema_overrides={"task": str}), "task id is empty"),
        (pandas.DataFrame({"task": ["t", 1], "worker": ["w", "w"], "label": ["x", "y"]}, dtype=object), "cannot be passed on"),
        ({**good, "label": ["x", "y"]}, "different lengths"),
        ({**good, "label": [object()]}, "expected str, int, float, bool or None"),
        ([("t", "w", "x"), ("t", "w", 1)], "row 2: found int after str above"),
        ([("t", "w")], r"row 1: found \('t', 'w'\), expected \(task, worker, label\)"),
        (["abc"], "row 1: found 'abc'"),
        (numpy.zeros((2, 5)), "from_matrix"),
        (5, "found int, expected a path"),
        (tmp_path / "missing.csv", "No such file"),
        (tmp_path / "labels.xlsx", "expected one of"),
        ({**good, "label": [2**70]}, "data"),
    ]
    for data, words in cases:
        with pytest.raises(quorate.InputError, match=words) as caught:
            quorate.aggregate(data)
        assert "--" not in str(caught.value)
    path = tmp_path / "bad.csv"
    path.write_text("task,worker,label\nt,,x\n")
    with pytest.raises(quorate.InputError) as caught:
        quorate.aggregate(path)
    assert (caught.value.file, caught.value.line, caught.value.column) == (str(path), 2, "worker")


def test_no_message_names_an_option_of_the_program(crowd: pathlib.Path) -> None:
    labels = crowd / "labels.csv"
    for arguments in [
        {"fitting": {"memory": 0}},
        {"fitting": {"memory": 1e-9}, "method": "dawid-skene"},
        {"knowledge": {"prior": "flat"}},
        {"knowledge": {"prior": {"1": 0.5}}},
        {"knowledge": {"prior": {"9": 1.0}}},
        {"reading": {"duplicates": "most"}},
        {"method": "nothing"},
        {"method": "crowdlab"},
        {"method": "crowd-layer"},
        {"classes": ["1"]},
        {"columns": {"task": "item"}},
        {"fitting": {"update": crowd / "model.json"}},
        {"knowledge": {"worker_prior": crowd / "labels.csv"}},
        {"gold": {"t1": "4"}, "classes": ["1", "2", "3"]},
    ]:
        with pytest.raises(quorate.QuorateError) as caught:
            quorate.aggregate(labels, **arguments)  # type: ignore[arg-type]
        assert "--" not in str(caught.value), str(caught.value)


def test_warnings_have_classes_of_their_own(rows: Any) -> None:
    with pytest.warns(quorate.ConvergenceWarning, match="did not converge in 1 iterations"):
        assert not quorate.aggregate(rows, "dawid-skene", max_iter=1).converged
    with pytest.warns(quorate.DataWarning, match="normalize=True joins them"):
        quorate.read([("t", "a", "Yes"), ("t", "b", "yes"), ("t", "c", "no")])
    joined = quorate.read([("t", "a", "Yes"), ("t", "b", "yes"), ("t", "c", "no")], normalize=True)
    assert len(joined.classes) == 2
    assert quorate.read([("t", "a", "1"), ("t", "b", "1.0")]).classes == ["1"]
