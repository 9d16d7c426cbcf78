"""Plans, dispatches, replays and report pages from Python: the same as the program's."""

from __future__ import annotations

import csv
import json
import pathlib
from typing import Any, Callable, Dict, List, Tuple

import pytest

import quorate


def read_pairs(path: pathlib.Path) -> List[Tuple[str, str]]:
    with open(path, newline="") as file:
        return [(row["task"], row["worker"]) for row in csv.DictReader(file)]


def write(path: pathlib.Path, head: str, rows: Any) -> pathlib.Path:
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([head.split(","), *rows])
    return path


def rounded(document: Any) -> Any:
    """Numbers with the digits that the program prints."""
    return json.loads(json.dumps(document), parse_float=lambda text: round(float(text), 6))


@pytest.fixture(scope="module")
def result(crowd: pathlib.Path) -> quorate.Result:
    return quorate.aggregate(crowd / "labels.csv")


@pytest.fixture(scope="module")
def sparse(tmp_path_factory: pytest.TempPathFactory, program: Callable[..., str]) -> pathlib.Path:
    """A crowd in which most pairs of workers share no task."""
    folder = tmp_path_factory.mktemp("sparse")
    program("simulate", "--tasks", 150, "--workers", 30, "--labels-per-task", 1, "--accuracy", "0.6,0.9", "-o", folder)
    return folder


def test_a_plan_is_that_of_the_program(
    crowd: pathlib.Path, result: quorate.Result, program: Callable[..., str], tmp_path: pathlib.Path
) -> None:
    plan = result.plan(30, target=0.05, retire=0.9)
    told = json.loads(
        program("plan", crowd / "labels.csv", "--budget", 30, "--target", 0.05, "--retire", 0.9,
                "-o", tmp_path / "next.csv", "--retired", tmp_path / "done.csv", "--json")
    )
    assert rounded(plan.to_dict()) == rounded(told)
    assert plan.labels_to_target == told["target"]["labels"]
    assert plan.labels_to_target_between == (told["target"]["low"], told["target"]["high"])
    rows = read_pairs(tmp_path / "next.csv")
    assert rows == list(zip(plan.assignments["task"], plan.assignments["worker"])) and len(rows) == 30
    done = (tmp_path / "done.csv").read_text().splitlines()
    assert done == ["task", *plan.retired_tasks] and len(done) == plan.retired + 1 > 1
    with pytest.raises(quorate.QuorateError, match="budget"):
        result.plan(float("nan"))


def test_costs_capacities_and_exclusions_are_those_of_the_program(
    crowd: pathlib.Path, result: quorate.Result, program: Callable[..., str], tmp_path: pathlib.Path
) -> None:
    free = result.plan(30).assignments
    first, worker = free["task"][0], free["worker"][0]
    workers = sorted(set(result.workers["worker"]))
    costs: Dict[Any, float] = {name: 1 + place % 3 for place, name in enumerate(workers)}
    capacities: Dict[Any, int] = {name: 4 for name in workers[:8]}
    exclude = [(first, name) for name in workers[:6]]
    arguments = [
        "--costs", write(tmp_path / "costs.csv", "worker,cost", costs.items()),
        "--capacities", write(tmp_path / "capacities.csv", "worker,labels", capacities.items()),
        "--exclude", write(tmp_path / "exclude.csv", "task,worker", exclude),
    ]
    told = program("plan", crowd / "labels.csv", "--budget", 30, "-o", tmp_path / "next.csv", "--json", *arguments)
    plan = result.plan(30, costs=costs, capacities=capacities, exclude=exclude)
    assert rounded(plan.to_dict()) == rounded(json.loads(told))
    rows = list(zip(plan.assignments["task"], plan.assignments["worker"]))
    assert rows == read_pairs(tmp_path / "next.csv")
    assert plan.spent <= 30 and plan.spent == sum(costs[name] for _, name in rows)
    assert not set(exclude) & set(rows)
    for name in workers:
        assert [worker for _, worker in rows].count(name) <= capacities.get(name, 0)
    # Files, frames and series do as well as dicts and rows.
    again = result.plan(30, costs=arguments[1], capacities=arguments[3], exclude=arguments[5])
    assert again.to_dict() == plan.to_dict()
    pandas = pytest.importorskip("pandas")
    frames = result.plan(
        30, costs=pandas.Series(costs), capacities=pandas.Series(capacities),
        exclude=pandas.DataFrame(exclude, columns=["task", "worker"]),
    )
    assert frames.to_dict() == plan.to_dict()
    # Each of them alone changes the plan.
    assert worker not in result.plan(30, costs={worker: 1e6}).assignments["worker"]
    assert worker not in result.plan(30, capacity=9, capacities={worker: 0}).assignments["worker"]
    without = result.plan(30, exclude=[(first, worker)]).assignments
    assert (first, worker) not in zip(without["task"], without["worker"])
    # Nobody is asked what a plan that is under way asks already.
    second = result.plan(30, exclude=result.plan(30).assignments).assignments
    assert not set(zip(second["task"], second["worker"])) & set(zip(free["task"], free["worker"]))


def test_what_a_plan_cannot_use_is_told(result: quorate.Result) -> None:
    with pytest.warns(quorate.DataWarning, match="1 worker of costs"):
        result.plan(5, costs={"nobody": 2})
    with pytest.warns(quorate.DataWarning, match="2 workers of capacities"):
        result.plan(5, capacity=5, capacities={"nobody": 2, "no one": 1})
    with pytest.warns(quorate.DataWarning, match="1 row of exclude"):
        result.plan(5, exclude=[("no task", "nobody")])
    with pytest.raises(quorate.InputError, match="cost"):
        result.plan(5, costs={result.workers["worker"][0]: -1})
    with pytest.raises(quorate.InputError, match="exclude"):
        result.plan(5, exclude=[("only a task",)])


def test_a_dispatch_is_that_of_the_program(
    sparse: pathlib.Path, program: Callable[..., str], tmp_path: pathlib.Path
) -> None:
    result = quorate.aggregate(sparse / "labels.csv")
    arguments = ["plan", sparse / "labels.csv", "--goal", "comparable", "--json", "-o", tmp_path / "dispatch.csv"]
    told = json.loads(program(*arguments, "--shared", 3))
    dispatch = result.dispatch(shared=3)
    assert dispatch.to_dict() == told
    rows = list(zip(dispatch.assignments["task"], dispatch.assignments["worker"]))
    assert rows == read_pairs(tmp_path / "dispatch.csv") and len(rows) == told["labels"] > 0
    assert list(dispatch.designated or ()) == told["designated"] and dispatch.attached == told["attached"]
    assert (dispatch.out_of_reach_before or 0) > 0 and dispatch.out_of_reach_after == 0
    assert len(result.dispatch().assignments) > len(rows)
    exclude = rows[: len(rows) // 2]
    other = result.dispatch(shared=3, exclude=exclude).assignments
    assert not set(exclude) & set(zip(other["task"], other["worker"]))


def test_a_dispatch_keeps_the_types_of_ids() -> None:
    rows = [(task, worker, "ab"[task % 2]) for worker in range(6) for task in range(10 * worker, 10 * worker + 10)]
    dispatch = quorate.aggregate(rows, "dawid-skene").dispatch(shared=2)
    assert dispatch.designated is not None and all(isinstance(worker, int) for worker in dispatch.designated)
    assert all(isinstance(worker, int) for worker in [*dispatch.attached, *dispatch.assignments["worker"]])
    assert "designated" in repr(dispatch)
    together = quorate.aggregate([("t", worker, "a") for worker in "wxyz"], "dawid-skene").dispatch()
    assert together.designated is None and len(together.assignments) == 0 and together.attached == []


def test_a_replay_is_that_of_the_program(tmp_path: pathlib.Path, program: Callable[..., str]) -> None:
    program("simulate", "--tasks", 80, "--workers", 15, "--labels-per-task", 15, "--accuracy", "0.4,0.9", "-o", tmp_path)
    labels, truth = tmp_path / "labels.csv", tmp_path / "truth.csv"
    told = program("plan", labels, "-m", "dawid-skene", "--budget", 120, "--rounds", 3, "--start", 3, "--capacity", 30,
                   "--explore", 0.2, "--simulate", "--truth", truth, "--json")
    result = quorate.aggregate(labels, "dawid-skene")
    replay = result.replay_plan(120, truth, rounds=3, start=3, capacity=30, explore=0.2)
    assert rounded(replay.to_dict()) == rounded(json.loads(told))
    assert set(replay.curves) == {"plan", "most-uncertain", "random"} and len(replay.forecasts) == 3
    assert [labels for labels, _ in replay.curves["plan"]] == [240, 280, 320, 360]
    for name, found in replay.to_the_error_of.items():
        assert found.error == replay.curves[name][-1][1]
        assert found.saved is None or found.saved < 1
    assert "random" in repr(replay)
    with pytest.raises(quorate.QuorateError, match="rounds"):
        result.replay_plan(120, truth, rounds=0)
    with pytest.raises(quorate.QuorateError, match="truth"):
        result.replay_plan(120, {"no such task": "1"})


def test_the_report_is_that_of_the_program(
    crowd: pathlib.Path, result: quorate.Result, program: Callable[..., str], tmp_path: pathlib.Path
) -> None:
    texts = {task: f"what {task} is about" for task in result.labels["task"]}
    file = write(tmp_path / "texts.csv", "task,words", texts.items())
    program("report", crowd / "labels.csv", "--title", "T", "--truth", crowd / "truth.csv", "-o", tmp_path / "page.html",
            "--texts", file, "--show", "words", "--budget", 40, "--target", 0.04, "--task-url", "/tasks/{task}", "--spreadsheet-safe")
    arguments: Dict[str, Any] = {"title": "T", "truth": crowd / "truth.csv", "budget": 40, "target": 0.04,
                                 "task_url": "/tasks/{task}", "spreadsheet_safe": True}
    page = result.report(tmp_path / "again.html", texts=file, show="words", **arguments)
    assert page == (tmp_path / "page.html").read_text(encoding="utf-8") == (tmp_path / "again.html").read_text(encoding="utf-8")
    assert result.report(texts=texts, **arguments) == page
    assert result.report(**arguments) != page
    assert result.report(texts=texts, **{**arguments, "spreadsheet_safe": False}) != page
    for wrong in ("javascript:alert(1)", "https://example.org/no-place-for-the-id"):
        with pytest.raises(quorate.QuorateError, match="task_url"):
            result.report(task_url=wrong)
    with pytest.raises(quorate.InputError, match="text"):
        result.report(texts=file)
    with pytest.warns(quorate.DataWarning, match="texts"):
        result.report(texts={"no such task": "text"})


def test_a_page_with_a_prior_is_that_of_the_program(
    crowd: pathlib.Path, program: Callable[..., str], tmp_path: pathlib.Path
) -> None:
    program("report", crowd / "labels.csv", "--title", "T", "-m", "dawid-skene", "--prior", "uniform",
            "-o", tmp_path / "page.html")
    page = quorate.aggregate(crowd / "labels.csv", "dawid-skene", knowledge={"prior": "uniform"}).report(title="T")
    assert page == (tmp_path / "page.html").read_text(encoding="utf-8")
