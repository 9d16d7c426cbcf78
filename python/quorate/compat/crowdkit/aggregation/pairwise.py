"""crowd-kit's aggregators of pairwise comparisons: columns ``worker, left, right, label``, the label the item that won.

The fits are ours. ``BradleyTerry`` is the maximum likelihood, which crowd-kit's steps approach but do not reach: its test
for the end compares an array with itself, so that it ends after two of them unless ``tol=0``. ``NoisyBradleyTerry`` is
``judge-bt``: workers differ in discrimination and in the side that they prefer, and how much they differ is learnt.

>>> import pandas as pd
>>> from quorate.compat.crowdkit import BradleyTerry
>>> df = pd.DataFrame([["a", "b", "a"], ["b", "a", "a"], ["a", "b", "b"]], columns=["left", "right", "label"])
>>> BradleyTerry(n_iter=100).fit_predict(df).round(3).to_dict()
{'a': 0.667, 'b': 0.333}
"""

from __future__ import annotations

import warnings
from typing import Any, Dict, List, Optional, Tuple

from quorate._rank import rank
from quorate._table import _needed
from quorate.compat.crowdkit._answers import check_columns
from quorate.compat.crowdkit.aggregation.base import BasePairwiseAggregator
from quorate.errors import DataWarning, NotApplicableError

__all__ = ["BradleyTerry", "NoisyBradleyTerry"]

Rows = Tuple[List[Any], Dict[str, List[Any]]]


class _Pairwise(BasePairwiseAggregator):
    """What both have: items by number, and scores by item."""

    _needs: Tuple[str, ...] = ("left", "right", "label")

    def _rows(self, data: Any) -> Rows:
        """The items in order, and the comparisons with items as their numbers, since an item may be any object."""
        check_columns(data, self._needs)
        left, right, label = (data[column].tolist() for column in ("left", "right", "label"))
        won = [a if winner == a else b if winner == b else None for a, b, winner in zip(left, right, label)]
        unknown = won.count(None)
        if unknown:
            warnings.warn(
                f"{unknown} of {len(won)} labels are neither the left nor the right item: these rows are not used",
                DataWarning,
                stacklevel=4,
            )
        kept = [row for row, winner in enumerate(won) if winner is not None]
        items = sorted({item for row in kept for item in (left[row], right[row])})
        number = {item: place for place, item in enumerate(items)}
        columns = {
            "left": [number[left[row]] for row in kept],
            "right": [number[right[row]] for row in kept],
            "winner": [number[won[row]] for row in kept],
        }
        if "worker" in self._needs:
            worker = data["worker"].tolist()
            columns["judge"] = [worker[row] for row in kept]
        return items, columns

    def _series(self, items: List[Any], by_item: Dict[int, float], name: Optional[str]) -> Any:
        pandas = _needed("pandas", type(self).__name__)
        # Items may be tuples, which are no levels of an index here.
        index = pandas.Index(items, name=name, tupleize_cols=False)
        return pandas.Series([by_item[place] for place in range(len(items))], index, float, "agg_score")


class BradleyTerry(_Pairwise):
    """Bradley-Terry: the probability that one item beats another is its share of the sum of their scores.

    Args:
        n_iter: Largest number of iterations.
        tol: Iterations end when scores would change by about less than this.
    """

    def __init__(self, n_iter: int, tol: float = 1e-5) -> None:
        self.n_iter, self.tol = n_iter, tol

    def fit(self, data: Any) -> BradleyTerry:
        """Learns from comparisons: a frame with columns ``left``, ``right`` and ``label``."""
        import math

        items, columns = self._rows(data)
        strength, losses = dict.fromkeys(range(len(items)), 0.0), []
        if items and self.n_iter > 0:
            # What a step adds to the likelihood goes with the square of what it changes.
            result = rank(columns, "bradley-terry", max_iter=self.n_iter, tol=min(self.tol, 1.0) ** 2)
            strength, losses = dict(zip(result.items, result._table()["score"])), result.trace
        top = max(strength.values(), default=0.0)
        share = {item: math.exp(score - top) for item, score in strength.items()}
        total = sum(share.values())
        scores = self._series(items, {item: value / total for item, value in share.items()}, None)
        self._learn(scores_=scores, loss_history_=losses)
        return self


class NoisyBradleyTerry(_Pairwise):
    """Bradley-Terry with workers who differ in skill and in the side that they prefer.

    ``skills_`` is a series by worker: the probability of preferring the better one of two items whose scores differ by 1
    in log odds. A worker who answers at random has 0.5, a usual one 0.73. ``biases_`` is the probability of choosing the
    left one of two equal items.

    Args:
        n_iter: Largest number of iterations.
        tol: Tolerance of the iteration.
        regularization_ratio: How far scores are drawn together is learnt: only crowd-kit's default is taken.
        random_state: Seed.
    """

    _needs = ("worker", "left", "right", "label")

    def __init__(
        self, n_iter: int = 100, tol: float = 1e-5, regularization_ratio: float = 1e-5, random_state: int = 0
    ) -> None:
        self.n_iter, self.tol, self.random_state = n_iter, tol, random_state
        self.regularization_ratio = regularization_ratio

    def fit(self, data: Any) -> NoisyBradleyTerry:
        """Learns from comparisons: a frame with columns ``worker``, ``left``, ``right`` and ``label``."""
        if self.regularization_ratio != 1e-5:
            raise NotApplicableError(
                f"regularization_ratio: found {self.regularization_ratio}; how far scores are drawn together is learnt "
                "here: leave it out"
            )
        items, columns = self._rows(data)
        by_item, judges = {}, None
        if items:
            steps, tol = max(self.n_iter, 1), min(self.tol, 1.0)
            result = rank(columns, "judge-bt", seed=self.random_state, max_iter=steps, tol=tol)
            by_item = {item: _share(score) for item, score in zip(result.items, result._table()["score"])}
            judges = result.judges
        skills, biases = self._of_workers(judges, "discrimination"), self._of_workers(judges, "position")
        self._learn(scores_=self._series(items, by_item, "label"), skills_=skills.rename("skill"), biases_=biases.rename("bias"))
        return self

    def _of_workers(self, judges: Any, column: str) -> Any:
        """A series by worker in order, as shares."""
        pandas = _needed("pandas", type(self).__name__)
        rows = sorted(zip(judges["judge"], judges[column])) if judges else []
        return pandas.Series([_share(odds) for _, odds in rows], [worker for worker, _ in rows], float)


def _share(odds: float) -> float:
    """The share of wins at these log odds."""
    import math

    return 1 / (1 + math.exp(-odds))
