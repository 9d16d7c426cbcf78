"""Beside crowd-kit, where the two mean the same. Opt-in: QUORATE_CROWD_KIT names an interpreter that has it."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from typing import Any

import pandas
import pytest

from quorate.compat import crowdkit

PAIRS = """
import json, sys, pandas
from crowdkit.aggregation import BradleyTerry
frame = pandas.DataFrame(json.load(sys.stdin))
# With another tol it ends after two steps: its test for the end compares an array with itself.
print(json.dumps(BradleyTerry(50000, tol=0.0).fit_predict(frame).to_dict()))
"""

beside = pytest.mark.skipif("QUORATE_CROWD_KIT" not in os.environ, reason="opt-in: QUORATE_CROWD_KIT is not set")


def theirs_on(code: str, columns: Any, interpreter: str = os.environ.get("QUORATE_CROWD_KIT", "")) -> Any:
    """What crowd-kit says of a frame with these columns."""
    command = [interpreter, "-c", code]
    done = subprocess.run(command, input=json.dumps(columns), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@beside
def test_bradley_terry_is_that_of_crowd_kit() -> None:
    draw = random.Random(9)
    pairs = [tuple(draw.sample("abcdefghij", 2)) for _ in range(500)]
    label = [left if draw.random() < 0.5 + 0.05 * (ord(left) - ord(right)) else right for left, right in pairs]
    columns = {"left": [pair[0] for pair in pairs], "right": [pair[1] for pair in pairs], "label": label}
    ours = crowdkit.BradleyTerry(100).fit_predict(pandas.DataFrame(columns))
    theirs = theirs_on(PAIRS, columns)
    assert set(theirs) == set(ours.index)
    assert max(abs(ours[item] - score) for item, score in theirs.items()) < 1e-6


LABELS = """
import json, sys, warnings
warnings.simplefilter("ignore")
import pandas
if OURS:
    import quorate.compat.crowdkit
    sys.modules["crowdkit"] = quorate.compat.crowdkit
from crowdkit import aggregation
from crowdkit.metrics.data import alpha_krippendorff, consistency, uncertainty
from crowdkit.metrics.workers import accuracy_on_aggregates
from crowdkit.postprocessing import entropy_threshold

frame = pandas.DataFrame(json.load(sys.stdin))
# Which of two tied labels crowd-kit takes depends on the version of pandas.
frame = frame.groupby("task").filter(lambda own: own["label"].value_counts().nlargest(2).nunique() == min(own["label"].nunique(), 2))
truth = frame.groupby("task")["label"].agg(lambda labels: labels.value_counts().index[0]).iloc[:100]
skills = frame.groupby("worker")["task"].count() / len(frame)
found = {}

def keep(name, make):
    try:
        value = make()
    except AttributeError:
        # Three classes of crowd-kit 1.4.2 do not run with scikit-learn 1.6 and later.
        return
    if isinstance(value, float):
        value = pandas.Series([value])
    cells = value.stack() if isinstance(value, pandas.DataFrame) else value
    found[name] = {str(key): float(cell) for key, cell in cells.items()}

def attribute(method, name, *given):
    method.fit_predict(frame, *given)
    return getattr(method, name)

keep("votes", lambda: attribute(aggregation.MajorityVote(), "probas_"))
keep("skills of votes", lambda: attribute(aggregation.MajorityVote(), "skills_"))
keep("weighted votes", lambda: attribute(aggregation.MajorityVote(), "probas_", skills))
keep("some weighted", lambda: attribute(aggregation.MajorityVote(0.05, "value"), "probas_", skills.iloc[:4]))
for name in ("probas_", "skills_"):
    keep("wawa " + name, lambda: attribute(aggregation.Wawa(), name))
    keep("zero " + name, lambda: attribute(aggregation.ZeroBasedSkill(), name))
    keep("gold " + name, lambda: attribute(aggregation.GoldMajorityVote(), name, truth))
for name in ("probas_", "priors_"):
    keep("dawid-skene " + name, lambda: attribute(aggregation.DawidSkene(2000, tol=1e-12), name))
    keep("one coin " + name, lambda: attribute(aggregation.OneCoinDawidSkene(2000, tol=1e-12), name))
    keep("start " + name, lambda: attribute(aggregation.DawidSkene(0), name))
keep("one coin skills", lambda: attribute(aggregation.OneCoinDawidSkene(2000, tol=1e-12), "skills_"))
keep("consistency", lambda: consistency(frame))
keep("consistency by task", lambda: consistency(frame, skills * 5, by_task=True))
keep("uncertainty", lambda: uncertainty(frame))
keep("uncertainty by worker", lambda: uncertainty(frame, skills * 5, compute_by="worker", aggregate=False))
keep("alpha", lambda: alpha_krippendorff(frame))
keep("alpha with distances", lambda: alpha_krippendorff(frame, lambda one, other: abs(int(one) - int(other)) / 2))
keep("accuracy", lambda: accuracy_on_aggregates(frame))
for by in ("worker", "task"):
    keep("accuracy by " + by, lambda: accuracy_on_aggregates(frame, by=by))
keep("entropy", lambda: entropy_threshold(frame, percentile=30).groupby("worker")["task"].count().astype(float))
print(json.dumps(found))
"""


@beside
def test_labels_and_metrics_are_those_of_crowd_kit(rows: Any) -> None:
    columns = {name: list(values) for name, values in zip(("task", "worker", "label"), zip(*rows))}
    theirs = theirs_on(LABELS.replace("OURS", "False"), columns)
    ours = theirs_on(LABELS.replace("OURS", "True"), columns, sys.executable)
    assert len(theirs) >= 21 and set(theirs) <= set(ours)
    for name, cells in theirs.items():
        tolerance = 1e-4 if name.startswith(("dawid-skene", "one coin")) else 1e-9
        assert set(cells) == set(ours[name]), name
        assert max(abs(cell - ours[name][key]) for key, cell in cells.items()) < tolerance, name
