"""Scores beside evalica, choix and arena-rank. Opt-in: QUORATE_RANKING_PEERS names an interpreter that has them."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
from typing import Any, Dict, List

import pandas
import pytest

import quorate

pytestmark = pytest.mark.skipif("QUORATE_RANKING_PEERS" not in os.environ, reason="opt-in: QUORATE_RANKING_PEERS is not set")

EVALICA = """
import evalica
winners = [{"left": evalica.Winner.X, "right": evalica.Winner.Y, "tie": evalica.Winner.Draw}[winner] for winner in frame["winner"]]
both = (frame["left"], frame["right"], winners)
scores = evalica.bradley_terry(*both, tolerance=1e-12, limit=100000).scores
found = {"bradley-terry": scores, "elo": evalica.elo(*both).scores, "counting": evalica.counting(*both).scores,
         "average": evalica.average_win_rate(*both).scores, "pairs": evalica.pairwise_frame(scores).loc["a"]}
found = {name: values.to_dict() for name, values in found.items()}
"""

CHOIX = """
import choix
items = sorted(set(frame["left"]) | set(frame["right"]))
code = {item: number for number, item in enumerate(items)}
data = [(code[left], code[right]) if winner == "left" else (code[right], code[left])
        for left, right, winner in zip(frame["left"], frame["right"], frame["winner"]) if winner != "tie"]
opt = choix.opt_pairwise(len(items), data, alpha=0.5, tol=1e-10)
mm = choix.mm_pairwise(len(items), data, max_iter=100000, tol=1e-12)
found = {"opt": dict(zip(items, opt.tolist())), "mm": dict(zip(items, mm.tolist()))}
"""

ARENA_RANK = """
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset
names = {"left": "model_a", "right": "model_b", "tie": "tie"}
frame = frame.rename(columns=names).assign(winner=frame["winner"].map(names))
dataset = PairDataset.from_pandas(frame)
fit = BradleyTerry(n_competitors=len(dataset.competitors)).compute_ratings_and_cis(dataset, significance_level=0.05)
found = {"ratings": dict(zip(fit["competitors"], map(float, fit["ratings"])))}
"""


def theirs(module: str, code: str, frame: pandas.DataFrame) -> Dict[str, Dict[str, float]]:
    """What the library says of the comparisons."""
    interpreter = os.environ["QUORATE_RANKING_PEERS"]
    if subprocess.run([interpreter, "-c", f"import {module}"], capture_output=True).returncode:
        pytest.skip(f"{module} is not installed there")
    whole = f"import json, sys, pandas\nframe = pandas.DataFrame(json.load(sys.stdin))\n{code}\nprint(json.dumps(found))"
    done = subprocess.run([interpreter, "-c", whole], input=json.dumps(frame.to_dict("list")), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: Dict[str, Dict[str, float]] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def frame() -> pandas.DataFrame:
    draw = random.Random(17)
    rows: List[Any] = []
    for _ in range(600):
        left, right = draw.sample("abcdefgh", 2)
        chance = 1 / (1 + math.exp(0.4 * (ord(left) - ord(right))))
        winner = "tie" if draw.random() < 0.2 else "left" if draw.random() < chance else "right"
        rows.append((left, right, winner))
    return pandas.DataFrame(rows, columns=["left", "right", "winner"])


def scores(result: quorate.results.RankResult) -> Dict[str, float]:
    table = result.to_pandas()
    return dict(zip(table["item"], table["score"]))


def assert_near(ours: Dict[str, float], other: Dict[str, float], tolerance: float) -> None:
    assert set(ours) == set(other)
    assert max(abs(ours[item] - other[item]) for item in ours) < tolerance


def test_evalica(frame: pandas.DataFrame) -> None:
    found = theirs("evalica", EVALICA, frame)
    result = quorate.rank(frame, "bradley-terry")
    assert_near({item: math.exp(score) for item, score in scores(result).items()}, found["bradley-terry"], 1e-6)
    assert_near(scores(quorate.rank(frame, "elo")), found["elo"], 1e-6)
    assert_near(result.win_probability.loc["a"].to_dict(), found["pairs"], 1e-6)
    board = result.leaderboard.set_index("item")
    assert_near((board["wins"] + board["ties"] / 2).to_dict(), found["counting"], 1e-12)
    pairs = result.matrix
    share = (pairs["wins"] + pairs["ties"] / 2) / (pairs["wins"] + pairs["losses"] + pairs["ties"])
    assert_near(share.groupby(pairs["item"]).mean().to_dict(), found["average"], 1e-12)


def test_choix(frame: pandas.DataFrame) -> None:
    found = theirs("choix", CHOIX, frame)
    decided = frame[frame["winner"] != "tie"]
    assert_near(scores(quorate.rank(decided, "bradley-terry", prior=1.0)), found["opt"], 1e-6)
    assert_near(scores(quorate.rank(decided, "bradley-terry")), found["mm"], 1e-6)


def test_arena_rank(frame: pandas.DataFrame) -> None:
    found = theirs("arena_rank", ARENA_RANK, frame)
    assert_near(scores(quorate.rank(frame, "bradley-terry", scale="elo")), found["ratings"], 1e-2)
