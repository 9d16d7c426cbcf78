"""crowd-kit's aggregators of comparisons: its signatures, attributes, shapes, index and errors."""

from __future__ import annotations

import inspect
import random
from typing import Any

import numpy
import pandas
import pytest

import quorate
from quorate.compat.crowdkit import BradleyTerry, NoisyBradleyTerry


def comparisons(rows: int = 900, seed: int = 5) -> pandas.DataFrame:
    """Items a to f, the last the best, by worker ``left``, who nearly always says left, ``coin``, and three others."""
    draw = random.Random(seed)
    found = []
    for _ in range(rows):
        left, right = draw.sample("abcdef", 2)
        worker = draw.choice(["ann", "bob", "cem", "coin", "left"])
        lead = 0.8 * (ord(left) - ord(right))
        chance = {"coin": 0.5, "left": 0.95}.get(worker, 1 / (1 + numpy.exp(-lead)))
        found.append((worker, left, right, left if draw.random() < chance else right))
    return pandas.DataFrame(found, columns=["worker", "left", "right", "label"])


@pytest.fixture(scope="module")
def frame() -> pandas.DataFrame:
    return comparisons()


def test_signatures() -> None:
    names = {kind: list(inspect.signature(kind).parameters.values()) for kind in (BradleyTerry, NoisyBradleyTerry)}
    assert [(own.name, own.default) for own in names[BradleyTerry]] == [("n_iter", inspect.Parameter.empty), ("tol", 1e-5)]
    assert [(own.name, own.default) for own in names[NoisyBradleyTerry]] == [
        ("n_iter", 100), ("tol", 1e-5), ("regularization_ratio", 1e-5), ("random_state", 0)
    ]


def test_bradley_terry_is_the_fixed_point_of_its_equations(frame: pandas.DataFrame) -> None:
    """Hunter's equations: an item's wins are its expected wins."""
    method = BradleyTerry(n_iter=100)
    scores = method.fit_predict(frame)
    assert scores.name == "agg_score" and scores.index.name is None and list(scores.index) == list("abcdef")
    assert scores.dtype == float and scores.sum() == pytest.approx(1) and scores is method.scores_
    wins = frame["label"].value_counts()
    pairs = [(row.left, row.right) for row in frame.itertuples()]
    for item in "abcdef":
        others = [a if b == item else b for a, b in pairs if item in (a, b)]
        expected = sum(scores[item] / (scores[item] + scores[other]) for other in others)
        assert wins[item] == pytest.approx(expected, rel=1e-4), item
    # Who said it makes no difference, nor do rows whose label is neither item.
    assert BradleyTerry(100).fit_predict(frame.drop(columns="worker")).equals(scores)
    strange = pandas.concat([frame, pandas.DataFrame([["ann", "a", "b", "c"]], columns=frame.columns)])
    with pytest.warns(quorate.DataWarning, match="1 of 901 labels are neither"):
        assert BradleyTerry(100).fit_predict(strange).equals(scores)


def test_noisy_bradley_terry_tells_workers_apart(frame: pandas.DataFrame) -> None:
    method = NoisyBradleyTerry().fit(frame)
    assert isinstance(method, NoisyBradleyTerry)
    assert method.scores_.name == "agg_score" and method.scores_.index.name == "label"
    assert list(method.scores_.index) == list("abcdef") and method.scores_.is_monotonic_increasing
    assert method.scores_.between(0, 1).all()
    skills, biases = method.skills_, method.biases_
    assert skills.name == "skill" and biases.name == "bias" and skills.index.name is None
    assert list(skills.index) == list(biases.index) == ["ann", "bob", "cem", "coin", "left"]
    assert skills["coin"] < 0.6 < skills[["ann", "bob", "cem"]].min()
    assert biases["left"] > 0.85 and biases.drop("left").between(0.3, 0.7).all()
    assert not hasattr(method, "loss_history_"), "nor has it one there"


def test_items_may_be_tuples(frame: pandas.DataFrame) -> None:
    """Comparisons of two questions in one table, kept apart by items that carry their question."""
    both = pandas.concat([frame.assign(question="q1"), comparisons(seed=6).assign(question="q2")])
    for column in ("left", "right", "label"):
        both[column] = list(zip(both["question"], both[column]))
    scores = NoisyBradleyTerry(n_iter=50).fit_predict(both)
    assert len(scores) == 12 and scores.index[0] == ("q1", "a")
    scores.index = pandas.MultiIndex.from_tuples(scores.index, names=["question", "label"])
    assert list(scores["q2"].index) == list("abcdef")


@pytest.mark.parametrize("make", [lambda: BradleyTerry(100), NoisyBradleyTerry])
def test_edges(make: Any, frame: pandas.DataFrame) -> None:
    with pytest.raises(quorate.errors.NotFittedError):
        make().scores_
    empty = make().fit_predict(frame.iloc[:0])
    assert empty.empty and empty.dtype == float and empty.name == "agg_score"
    for error in (KeyError, ValueError, quorate.InputError):
        with pytest.raises(error, match="expected one named 'left'"):
            make().fit(frame.drop(columns="left"))
    numbers = frame.assign(**{name: frame[name].map(ord) for name in ("left", "right", "label")})
    assert list(make().fit_predict(numbers).index) == list(range(97, 103))


def test_other_edges(frame: pandas.DataFrame) -> None:
    assert BradleyTerry(0).fit_predict(frame).tolist() == pytest.approx([1 / 6] * 6)
    none = NoisyBradleyTerry().fit(frame.iloc[:0])
    assert none.skills_.empty and none.biases_.empty
    with pytest.raises(KeyError, match="'worker'"):
        NoisyBradleyTerry().fit(frame.drop(columns="worker"))
    with pytest.raises(quorate.errors.NotApplicableError, match="regularization_ratio"):
        NoisyBradleyTerry(regularization_ratio=0.1).fit(frame)
    with pytest.warns(quorate.DataWarning, match="infinite"):
        unbeaten = BradleyTerry(100).fit_predict(pandas.DataFrame([["a", "b", "a"]], columns=["left", "right", "label"]))
    assert 0.5 < unbeaten["a"] < 1
