"""Rankings from Python: the program's numbers, from every kind of frame, in the caller's own types."""

from __future__ import annotations

import copy
import json
import math
import pathlib
import pickle
import random
from typing import Any, Callable, Dict, List

import numpy
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import quorate
from quorate import methods
from quorate._quorate import method_table

RANKERS = {entry["name"]: entry for entry in method_table() if entry["takes"] == "comparisons"}

Columns = Dict[str, List[Any]]


def log(rows: int = 600, items: int = 6, judges: int = 4, seed: int = 3) -> Columns:
    """Comparisons of items 1, 2, .., the last the best, by judges of whom the last prefers the left side."""
    draw = random.Random(seed)
    columns: Columns = {"left": [], "right": [], "winner": [], "judge": [], "prompt": [], "kind": []}
    for row in range(rows):
        left, right = draw.sample(range(1, items + 1), 2)
        judge = draw.randrange(judges)
        lead = 0.7 * (left - right) + (1.5 if judge == judges - 1 else 0.0)
        win = draw.random() < 1 / (1 + math.exp(-lead))
        winner = "tie" if draw.random() < 0.15 else "left" if win else "right"
        values = (left, right, winner, f"j{judge}", row // 3, "code" if row % 2 else "poems")
        for column, value in zip(columns.values(), values):
            column.append(value)
    return columns


@pytest.fixture(scope="module")
def columns() -> Columns:
    return log()


@pytest.fixture(scope="module")
def path(columns: Columns, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    found = tmp_path_factory.mktemp("rank") / "votes.csv"
    pandas.DataFrame(columns).to_csv(found, index=False)
    return found


@pytest.mark.parametrize("name", list(RANKERS))
@pytest.mark.parametrize("scale", ["log-odds", "elo"])
def test_numbers_are_those_of_the_program(
    name: str, scale: str, columns: Columns, path: pathlib.Path, program: Callable[..., str], tmp_path: pathlib.Path
) -> None:
    files = {what: tmp_path / f"{what}.parquet" for what in ("leaderboard", "judges", "matrix", "next")}
    printed = program("rank", path, "-m", name, "--scale", scale, "--level", 0.9, "--json", "--quiet",
                      "-o", files["leaderboard"], "--judges", files["judges"], "--matrix", files["matrix"],
                      "--next", 12, "--next-output", files["next"])
    (document,) = json.loads(printed)
    result = quorate.rank(columns, name, scale=scale, level=0.9)
    own = result.to_dict()
    for run in (document, own):
        run.pop("next")
    # Items were numbers in the columns, and are text in the file: the document has them as text.
    assert own == document
    tables = [result.leaderboard, result.judges, result.matrix, result.next_pairs(12)]
    for file, table in zip(files.values(), tables):
        theirs = pyarrow.parquet.read_table(file).to_pydict()
        for column, values in theirs.items():
            mine = [str(value) for value in table[column]] if column in ("item", "against", "left", "right") else table[column]
            assert mine == values, (file.name, column)


def test_the_default_is_the_program_s_for_comparisons_and_for_rankings(columns: Columns) -> None:
    assert quorate.rank(columns).method == "judge-bt"
    rows = [{"judge": "a", "ranking": ["x", "y", "z"]}, {"judge": "b", "ranking": ["y", "x", "z"]}]
    rankings = quorate.rank(rows)
    assert rankings.method == "plackett-luce" and rankings.items[2] == "z" and len(rankings) == 2
    assert rankings.judges is None
    with pytest.raises(quorate.InputError, match="matrix is for comparisons of two items"):
        rankings.matrix
    with pytest.raises(quorate.InputError, match="next_pairs is for comparisons"):
        rankings.next_pairs()
    with pytest.raises(quorate.errors.NotApplicableError, match="plackett-luce takes rankings"):
        quorate.rank(rows, "elo")


def test_rankings_from_every_kind_of_frame() -> None:
    lists = {"judge": ["a", "b", "c"], "ranking": [["x", "y", "z"], ["y", "x", "z"], ["x", "z", "y"]]}
    rows = [(judge, item, place) for judge, items in zip(*lists.values()) for place, item in enumerate(items, 1)]
    wanted = quorate.rank(pandas.DataFrame(rows, columns=["judge", "item", "rank"]))
    assert wanted.items[0] == "x" and wanted.method == "plackett-luce"
    arrays = pandas.DataFrame({**lists, "ranking": [numpy.array(items) for items in lists["ranking"]]})
    for data in (lists, pandas.DataFrame(lists), arrays, polars.DataFrame(lists), pyarrow.table(lists)):
        assert quorate.rank(data).to_dict()["leaderboard"] == wanted.to_dict()["leaderboard"], type(data)
    assert isinstance(quorate.rank(polars.DataFrame(lists)).leaderboard, polars.DataFrame)


def test_a_result_is_copied_and_says_why_it_is_not_pickled() -> None:
    result = quorate.rank([("a", "b", "left")])
    assert copy.deepcopy(result) is result
    with pytest.raises(TypeError, match="rank them again"):
        pickle.dumps(result)


def test_a_square_of_too_many_items_is_refused() -> None:
    chain = [(str(item), str(item + 1), "left") for item in range(12000)]
    with pytest.raises(quorate.errors.MemoryLimitError, match="two items at a time"):
        quorate.rank(chain, "win-rate", memory=1).win_probability


def test_every_kind_of_frame_gives_the_same(columns: Columns, path: pathlib.Path) -> None:
    wanted = quorate.rank(columns)
    rows = list(zip(*(columns[name] for name in ("left", "right", "winner", "judge", "prompt"))))
    dicts = [dict(zip(columns, values)) for values in zip(*columns.values())]
    frame = pandas.DataFrame(columns)
    for data in (frame, polars.DataFrame(columns), polars.LazyFrame(columns), pyarrow.table(columns), rows, iter(rows), dicts,
                 str(path), path):
        found = quorate.rank(data)
        assert found.to_dict() == wanted.to_dict(), type(data)
    assert isinstance(quorate.rank(frame).leaderboard, pandas.DataFrame)
    assert isinstance(quorate.rank(polars.DataFrame(columns)).judges, polars.DataFrame)
    assert isinstance(quorate.rank(pyarrow.table(columns)).matrix, pyarrow.Table)
    named = frame.rename(columns={"left": "first one", "winner": "vote"})
    other = quorate.rank(named, columns={"left": "first one"})
    assert other.to_dict() == wanted.to_dict() and other.notes[0] == 'columns left = "first one", winner = "vote"'
    third = [(left, right, winner) for left, right, winner, _, _ in rows]
    assert quorate.rank(third, columns={"left": "a", "winner": "c"}).judges is None


def test_items_and_judges_come_back_as_they_went_in(columns: Columns) -> None:
    result = quorate.rank(pandas.DataFrame({**columns, "judge": [int(judge[1:]) for judge in columns["judge"]]}))
    assert result.items == [6, 5, 4, 3, 2, 1] and result.tied_for_first[0] == 6
    assert result.leaderboard["item"].dtype == "int64" and result.judges["judge"].tolist() == [0, 1, 2, 3]
    assert result.next_pairs(3)["left"].dtype == "int64"
    square = result.win_probability
    assert list(square.index) == list(square.columns) == result.items
    assert abs(square + square.T - 1).to_numpy().max() < 1e-12 and square.loc[6, 1] > 0.9
    assert result.better(6, 1) > 0.999 and result.better(1, 6) < 0.001
    assert result.matrix.set_index(["item", "against"]).win_probability[(6, 1)] == square.loc[6, 1]


def test_the_number_of_threads_changes_nothing(columns: Columns) -> None:
    one, two = (quorate.rank(columns, threads=threads) for threads in (1, 2))
    assert one.to_dict() == two.to_dict() and one.win_probability == two.win_probability


def test_what_stands_out_is_said(columns: Columns) -> None:
    result = quorate.rank(columns)
    verdicts = dict(zip(result.judges["judge"], result.judges["verdict"]))
    assert "prefers the left side" in verdicts["j3"] and verdicts["j0"] == ""
    assert any("neighbours in the ranking are settled" in text for text in result.findings)
    text = repr(result)
    assert text.startswith("<quorate.results.RankResult: judge-bt, 6 items, 600 answers>\n1. 6  ")
    page = result._repr_html_()
    assert page.count("<circle") == 6 and "prefers the left side" in page
    inert = quorate.rank([("<i>", "b", "left"), ("b", "<i>", "left")])._repr_html_()
    assert "<i>" not in inert and "&lt;i&gt;" in inert


def test_by_makes_a_leaderboard_for_each_value(
    columns: Columns, path: pathlib.Path, program: Callable[..., str], tmp_path: pathlib.Path
) -> None:
    results = quorate.rank(columns, by="kind")
    assert list(results) == ["code", "poems"] and len(results) == 2
    code = {name: [value for value, kind in zip(values, columns["kind"]) if kind == "code"] for name, values in columns.items()}
    assert results["code"].to_dict() == {**quorate.rank(code).to_dict(), "by": "code"}
    assert results.to_pandas().columns[0] == "by" and len(results.leaderboard["item"]) == 12
    program("rank", path, "--by", "kind", "-o", tmp_path / "theirs.csv", "--quiet")
    results.save(tmp_path / "ours.csv")
    assert (tmp_path / "ours.csv").read_bytes() == (tmp_path / "theirs.csv").read_bytes()
    assert results._repr_html_().count("<svg") == 2 and repr(results).startswith("code: <quorate.results.RankResult")
    assert list(quorate.rank(columns, by="prompt"))[:2] == [0, 1], "values come back as they went in"


def test_items_that_never_met_are_in_groups_of_their_own() -> None:
    result = quorate.rank([("a", "b", "left"), ("b", "c", "left"), ("x", "y", "right")], "bradley-terry")
    assert result.groups == [["a", "b", "c"], ["y", "x"]]
    assert result.better("a", "x") is None and result.win_probability["a"]["x"] is None
    assert any("2 groups of items were never compared" in text for text in result.findings)
    with pytest.raises(quorate.errors.ParameterError, match='"z", which is not among the items'):
        result.better("a", "z")


def test_rows_that_call_both_bad_are_counted_apart() -> None:
    rows = [("a", "b", "both_bad"), ("a", "b", "left"), ("b", "a", None)]
    tied, dropped = quorate.rank(rows), quorate.rank(rows, both_bad="drop")
    assert sum(tied.leaderboard["ties"]) == 2 and sum(dropped.leaderboard["ties"]) == 0
    assert tied.notes[:2] == [
        "1 row without an outcome: not used",
        '1 row that call both items bad: ties (both_bad="drop" leaves them out)',
    ]


def test_reports_are_the_program_s(
    columns: Columns, path: pathlib.Path, program: Callable[..., str], tmp_path: pathlib.Path
) -> None:
    for by in (None, "kind"):
        options = () if by is None else ("--by", by)
        program("report", path, *options, "-o", tmp_path / "theirs.html", "--title", "Votes", "--quiet")
        page = quorate.rank(str(path), by=by).report(tmp_path / "ours.html", title="Votes")  # type: ignore[call-overload]
        assert page == (tmp_path / "ours.html").read_text(encoding="utf-8")
        assert page == (tmp_path / "theirs.html").read_text(encoding="utf-8")
    with pytest.raises(quorate.errors.FileError):
        quorate.rank(columns).report(tmp_path / "nowhere" / "page.html")


def test_saved_leaderboards_are_the_program_s(
    columns: Columns, path: pathlib.Path, program: Callable[..., str], tmp_path: pathlib.Path
) -> None:
    program("rank", path, "-o", tmp_path / "theirs.csv", "--quiet")
    quorate.rank(columns).save(tmp_path / "ours.csv")
    assert (tmp_path / "ours.csv").read_bytes() == (tmp_path / "theirs.csv").read_bytes()


@pytest.mark.parametrize(
    "options, words",
    [
        ({"scale": "points"}, 'scale: found "points", expected "log-odds" or "elo"'),
        ({"level": 1.0}, "level: found 1, expected a number from 0 to below 1"),
        ({"both_bad": "no"}, 'both_bad: found "no"'),
        ({"columns": {"lefty": "left"}}, "nothing that a column of comparisons holds"),
        ({"columns": {"winner": "vote"}}, 'expected one named "vote"'),
        ({"by": "topic"}, 'expected one named "topic"'),
        ({"method": "dawid-skene"}, "it takes labels, and these are pairwise comparisons"),
        ({"method": "bradly-terry"}, "did you mean"),
        ({"maximum": 3}, "unknown; this method has max_iter"),
        ({"memory": 0}, "memory"),
    ],
)
def test_bad_arguments_are_named(options: Dict[str, Any], words: str, columns: Columns) -> None:
    with pytest.raises(quorate.QuorateError, match=words.replace("(", r"\(")):
        quorate.rank(columns, **options)


def test_bad_rows_are_named() -> None:
    for rows, words in [
        ([("a", "b", "left"), ("a", "a", "left")], "row 2: \"a\" is compared with itself"),
        ([("a", "b", "left"), ("a", "b", "x")], 'row 2, column "winner": found the outcome "x"'),
        ([], "no rows"),
    ]:
        with pytest.raises(quorate.InputError, match=words):
            quorate.rank(rows)
    with pytest.raises(quorate.InputError, match="rank the items with quorate.rank"):
        quorate.aggregate({"left": ["a"], "right": ["b"], "winner": ["left"], "judge": ["j"]})


@pytest.mark.parametrize("name", list(RANKERS))
def test_every_class_keeps_the_contract(name: str, columns: Columns) -> None:
    kind = methods.find_ranker(name)
    fresh = kind()
    parameters = fresh.get_params()
    assert set(parameters) == {row["name"].replace("-", "_") for row in RANKERS[name]["parameters"]} | {"random_state", "n_jobs"}
    assert methods.clone(fresh) == fresh and repr(fresh) == f"{kind.__name__}()" and issubclass(kind, methods.Ranker)
    with pytest.raises(quorate.errors.NotFittedError):
        fresh.scores_
    frame = pandas.DataFrame(columns)
    scores = fresh.fit_predict(frame)
    assert scores.index.name == "item" and scores.name == "score" and scores.is_monotonic_decreasing
    assert kind(n_jobs=1).fit_predict(columns) == scores.to_dict()
    assert fresh.result_.to_dict() == quorate.rank(frame, name).to_dict()
    assert isinstance(fresh.n_iter_, int) and fresh.converged_ and all(isinstance(value, float) for value in fresh.loss_history_)
    assert len(fresh.leaderboard_) == 6 and len(fresh.judges_) == 4
    with pytest.raises(quorate.errors.ParameterError, match="by: a class fits one leaderboard"):
        fresh.fit(frame, by="kind")


def test_classes_of_labels_and_of_comparisons_are_kept_apart() -> None:
    assert not set(methods.list_methods()) & set(methods.list_rankers())
    with pytest.raises(quorate.errors.ParameterError, match="find_ranker"):
        methods.find_method("bt")
    with pytest.raises(quorate.errors.ParameterError, match="quorate.find_method"):
        methods.find_ranker("mv")
