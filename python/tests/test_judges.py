"""Panels of judges from Python: the same report as the program's."""

import json
import random
import subprocess
import sys

import pytest

import quorate


def panel(copies=2, items=120, seed=1):
    """Rows of three independent judges and copies of a fourth, and the truth."""
    draw = random.Random(seed)
    rows, truth = [], {}
    for item in range(items):
        good = draw.random() < 0.5
        truth[f"q{item}"] = "pass" if good else "fail"

        def answer(accuracy):
            return truth[f"q{item}"] if draw.random() < accuracy else ("fail" if good else "pass")

        hidden = answer(0.7)
        answers = [answer(0.85) for _ in range(3)] + [hidden if draw.random() < 0.95 else answer(0.7) for _ in range(copies)]
        rows += [(f"q{item}", f"j{place}", said) for place, said in enumerate(answers)]
    return rows, truth


def test_a_report_has_verdicts_judges_and_a_corrected_pass_rate():
    rows, truth = panel()
    report = quorate.judges(rows, gold=dict(list(truth.items())[:40]))
    assert len(report.verdicts) == 120 and len(report.judges) == 5
    assert report.positive == "pass"
    assert report.pass_rate.interval[0] < report.pass_rate.estimate < report.pass_rate.interval[1]
    assert set(report.judges[0].recalls) == {"pass", "fail"}
    assert 1 < report.effective_judges < 5
    assert report.agreement_with_gold.estimate > 0.7
    assert "5 judges" in repr(report)


def test_the_program_prints_the_same_document(tmp_path):
    rows, _ = panel()
    path = tmp_path / "judgements.csv"
    path.write_text("task,worker,label\n" + "".join(f"{','.join(row)}\n" for row in rows))
    printed = subprocess.run(
        [sys.executable, "-m", "quorate._program", "judges", str(path), "--json", "--quiet"], capture_output=True, text=True
    )
    assert printed.returncode == 0, printed.stderr
    program, python = json.loads(printed.stdout), quorate.judges(rows).to_dict()
    for document in (program, python):
        document.pop("findings")  # what to do is said in each face's own words
    assert program == python


def test_failures_and_policies():
    rows = [("q1", "a", "pass"), ("q1", "b", None), ("q1", "c", None), ("q2", "a", "fail"), ("q2", "b", "fail")]
    report = quorate.judges(rows, policy="strict-majority")
    assert report.verdicts["label"] == [None, "fail"]
    assert report.verdicts["asked"] == [3, 2]
    failed = quorate.judges(rows, policy="strict-majority", unscored="fail").to_dict()
    assert [found["observed"] for found in failed["classes"]] == [1.0, 0.0]


def test_two_judges_ask_for_gold():
    rows = [("q1", "a", "pass"), ("q1", "b", "fail"), ("q2", "a", "fail"), ("q2", "b", "fail")]
    found = quorate.judges(rows).findings[0]
    assert found.kind == "two-voices" and "gold" in found.advice


@pytest.mark.parametrize(
    "arguments",
    [{"policy": "best"}, {"unscored": "hide"}, {"positive": "nothing"}],
)
def test_bad_arguments_are_named(arguments):
    rows, _ = panel(items=20)
    with pytest.raises(quorate.errors.ParameterError):
        quorate.judges(rows, **arguments)


def test_nothing_to_judge_is_an_error():
    with pytest.raises(quorate.InputError):
        quorate.judges([("q1", "a", None)])
