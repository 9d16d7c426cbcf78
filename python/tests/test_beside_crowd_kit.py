"""Majority vote and Dawid-Skene beside crowd-kit. Opt-in: QUORATE_CROWD_KIT names an interpreter that has crowd-kit."""

from __future__ import annotations

import json
import os
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


@pytest.mark.skipif("QUORATE_CROWD_KIT" not in os.environ, reason="opt-in: QUORATE_CROWD_KIT is not set")
def test_majority_vote_and_dawid_skene_are_those_of_crowd_kit(rows: Any) -> None:
    columns = {name: list(values) for name, values in zip(("task", "worker", "label"), zip(*rows))}
    done = subprocess.run(
        [os.environ["QUORATE_CROWD_KIT"], "-c", THEIRS], input=json.dumps(columns), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    theirs: Dict[str, Any] = json.loads(done.stdout)
    frame = pandas.DataFrame(columns)
    votes = crowdkit.MajorityVote().fit_predict_proba(frame)
    model = crowdkit.DawidSkene(1000, tol=1e-10).fit_predict_proba(frame)
    for ours, name, tolerance in [(votes, "votes", 1e-12), (model, "model", 1e-4)]:
        other = pandas.DataFrame.from_dict(theirs[name], orient="index").reindex(ours.index)[list(ours.columns)]
        assert (ours - other.fillna(0.0)).abs().to_numpy().max() < tolerance, name
    assert quorate.__version__
