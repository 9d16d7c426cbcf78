"""Majority vote, Dawid-Skene and Bradley-Terry beside crowd-kit. Opt-in: QUORATE_CROWD_KIT names an interpreter that has crowd-kit."""

from __future__ import annotations

import json
import os
import random
import subprocess
from typing import Any, Dict

import pandas
import pytest

import quorate
from quorate.compat import crowdkit

THEIRS = """
import json, sys, pandas
from crowdkit.aggregation import DawidSkene, MajorityVote
frame = pandas.DataFrame(json.load(sys.stdin))
votes, model = MajorityVote().fit_predict_proba(frame), DawidSkene(1000, tol=1e-10).fit_predict_proba(frame)
print(json.dumps({"votes": votes.to_dict("index"), "model": model.to_dict("index")}))
"""


PAIRS = """
import json, sys, pandas
from crowdkit.aggregation import BradleyTerry
frame = pandas.DataFrame(json.load(sys.stdin))
# With another tol it ends after two steps: its test for the end compares an array with itself.
print(json.dumps(BradleyTerry(50000, tol=0.0).fit_predict(frame).to_dict()))
"""

beside = pytest.mark.skipif("QUORATE_CROWD_KIT" not in os.environ, reason="opt-in: QUORATE_CROWD_KIT is not set")


def theirs_on(code: str, columns: Any) -> Any:
    """What crowd-kit says of a frame with these columns."""
    command = [os.environ["QUORATE_CROWD_KIT"], "-c", code]
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


@beside
def test_majority_vote_and_dawid_skene_are_those_of_crowd_kit(rows: Any) -> None:
    columns = {name: list(values) for name, values in zip(("task", "worker", "label"), zip(*rows))}
    theirs: Dict[str, Any] = theirs_on(THEIRS, columns)
    frame = pandas.DataFrame(columns)
    votes = crowdkit.MajorityVote().fit_predict_proba(frame)
    model = crowdkit.DawidSkene(1000, tol=1e-10).fit_predict_proba(frame)
    for ours, name, tolerance in [(votes, "votes", 1e-12), (model, "model", 1e-4)]:
        other = pandas.DataFrame.from_dict(theirs[name], orient="index").reindex(ours.index)[list(ours.columns)]
        assert (ours - other.fillna(0.0)).abs().to_numpy().max() < tolerance, name
    assert quorate.__version__
