"""evaluate, compare, simulate, inspect, agreement, convert: what the program says, as objects."""

from __future__ import annotations

import json
import pathlib
from typing import Any, Callable

import pytest

import quorate


def without_advice(document: Any) -> Any:
    for finding in document["findings"]:
        finding.pop("advice")
    return document


def test_evaluations_are_those_of_the_program(crowd: pathlib.Path, program: Callable[..., str]) -> None:
    program("aggregate", crowd / "labels.csv", "-m", "dawid-skene", "--probabilities", "-o", crowd / "ds.parquet")
    for ties in ("lowest", "fractional"):
        wanted = json.loads(program("evaluate", crowd / "ds.parquet", crowd / "truth.csv", "--json", "--ties", ties))
        result = quorate.aggregate(crowd / "labels.csv", "dawid-skene")
        for predicted in (result, result.probabilities, crowd / "ds.parquet"):
            found = quorate.evaluate(predicted, crowd / "truth.csv", ties=ties)
            assert found.to_dict() == wanted and found.error == wanted["error"]
    assert "error" in repr(found)
    with pytest.raises(quorate.QuorateError, match="ties"):
        quorate.evaluate(result, crowd / "truth.csv", ties="none")
    with pytest.raises(quorate.InputError, match="no true class was ever predicted"):
        quorate.evaluate({"t1": "a"}, {"t1": "b"})


def test_inspections_are_those_of_the_program(crowd: pathlib.Path, program: Callable[..., str]) -> None:
    wanted = json.loads(program("inspect", crowd / "labels.csv", "--json"))
    found = quorate.inspect(crowd / "labels.csv")
    assert found.findings and all(finding.sentence and "--" not in finding.advice for finding in found.findings)
    assert {finding.kind for finding in found.findings} == {finding["kind"] for finding in wanted["findings"]}
    assert without_advice(found.to_dict()) == without_advice(wanted)
    alpha = quorate.agreement(crowd / "labels.csv").alpha_nominal
    assert alpha.value == wanted["agreement"]["alpha_nominal"]["value"]
    assert alpha.interval is not None and alpha.interval[0] < alpha.value < alpha.interval[1]
    assert "findings>" in repr(found)


def test_simulated_crowds_are_those_of_the_program(crowd: pathlib.Path) -> None:
    drawn = quorate.simulate(tasks=300, workers=12, classes=3, accuracy=(0.5, 0.9), labels_per_task=5, spammers=2, seed=7)
    assert sorted(drawn.labels.table) == sorted(quorate.read(crowd / "labels.csv").table)
    truth = quorate.evaluate(crowd / "truth.csv", drawn.truth)
    assert truth.error == 0 and truth.tasks_scored == 300
    assert drawn.model == quorate.Model.load(crowd / "model.json")
    with pytest.raises(quorate.errors.ParameterError, match="prior"):
        quorate.simulate(prior="none")
    with pytest.raises(quorate.QuorateError):
        quorate.simulate(tasks=0)


def test_comparisons_are_those_of_the_program(crowd: pathlib.Path, program: Callable[..., str]) -> None:
    names = ["majority-vote", "dawid-skene", "crowdlab", "wawa"]
    text = program("compare", crowd / "labels.csv", "--truth", crowd / "truth.csv", "-m", ",".join(names), "--json")
    wanted = {row["method"]: row for row in json.loads(text)["methods"]}
    found = quorate.compare(crowd / "labels.csv", names, truth=crowd / "truth.csv")
    for row in found.methods:
        assert row.error == wanted[row.method]["error"]
        assert row.error_fractional_ties == wanted[row.method]["error_fractional_ties"]
        assert (row.failure is None) == (wanted[row.method]["failure"] is None)
    assert found.methods[-1].method == "crowdlab" and "class_probabilities" in str(found.methods[-1].failure)
    assert [row.error for row in found.methods[:3]] == sorted(row.error for row in found.methods[:3])
    shares = {tuple(pair["methods"]): pair["share"] for pair in json.loads(text)["agreement"]}
    assert {frozenset(key): value for key, value in found.agreement.items()} == {
        frozenset(key): value for key, value in shares.items()
    }
    assert "differs from votes" in repr(found)


def test_the_view_of_a_notebook_shows_what_matters(crowd: pathlib.Path) -> None:
    result = quorate.aggregate(crowd / "labels.csv", "dawid-skene")
    page = result._repr_html_()
    for word in ("estimated error", "Look at these tasks first", "Workers", "<svg", "dawid-skene"):
        assert word in page
    assert "<script" not in page and result.review(1)["task"][0] in page
    hostile = quorate.aggregate([("<b>t</b>", "<script>", "<i>"), ("t", "x", "y")], "majority-vote")._repr_html_()
    assert "<script" not in hostile and "<i>" not in hostile and "&lt;i&gt;</text>" in hostile
    # The chart is that of the report.
    chart = page[page.index("<svg class=\"figure\"") : page.index("</svg>") + len("</svg>")]
    assert "Labels by confidence" in chart and chart in result.report()
    rows = [(f"t{i}", worker, f"class {i % 13:02}") for i in range(26) for worker in ("ann", "bob")]
    many = quorate.aggregate(rows, "majority-vote")
    assert "class 09: 2</title>" in many._repr_html_() and "3 more: 6</title>" in many._repr_html_()
    assert "estimated error" in repr(result)
