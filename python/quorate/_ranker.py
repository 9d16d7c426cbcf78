"""What the class of every method that ranks has: ``fit``, and what was learnt."""

from __future__ import annotations

from typing import Any, List, Optional, TypeVar

from ._estimator import Configured, threads_of
from ._rank import RankResult, rank
from .errors import NotFittedError, ParameterError

__all__ = ["Ranker"]

Self = TypeVar("Self", bound="Ranker")


class Ranker(Configured):
    """The base of all methods for comparisons.

    The input is a table of comparisons (see :func:`quorate.rank`). What ``fit`` learns has a trailing underscore. Of a
    pandas frame, scores are a series indexed by item; of anything else, a dict by item.
    """

    _result: Optional[RankResult] = None

    def fit(self: Self, data: Any, **options: Any) -> Self:
        """Learns from comparisons.

        Args:
            data: The comparisons: a frame, a path, a dict of columns, rows of (left, right, winner).
            **options: How to read them and what to say; the arguments of :func:`quorate.rank`, but for ``by``.
        """
        if options.get("by") is not None:
            raise ParameterError("by: a class fits one leaderboard; quorate.rank(data, method, by=..) makes several")
        parameters = {name: getattr(self, name) for name in self._parameters}
        options = {"seed": self.random_state, "threads": threads_of(self.n_jobs), **options}
        self._result = rank(data, self._method, **parameters, **options)
        return self

    def fit_predict(self, data: Any, **options: Any) -> Any:
        """Learns from comparisons and returns the score of every item."""
        return self.fit(data, **options).scores_

    @property
    def result_(self) -> RankResult:
        """Everything that the fit says."""
        if self._result is None:
            raise NotFittedError(f"this {type(self).__name__} has not been fitted: call fit first")
        return self._result

    @property
    def scores_(self) -> Any:
        """The score of every item, from the best to the worst: of a pandas frame, a series ``score`` indexed by item."""
        table = self.result_._table()
        if self.result_._kind == "pandas":
            return table.to_pandas().set_index("item")["score"]
        return dict(zip(table["item"], table["score"]))

    @property
    def leaderboard_(self) -> Any:
        """The items from the best to the worst; see :attr:`quorate.results.RankResult.leaderboard`."""
        return self.result_.leaderboard

    @property
    def judges_(self) -> Any:
        """The judges; see :attr:`quorate.results.RankResult.judges`."""
        return self.result_.judges

    @property
    def n_iter_(self) -> int:
        """Iterations done."""
        return self.result_.iterations

    @property
    def converged_(self) -> bool:
        """Whether the iteration reached its tolerance."""
        return self.result_.converged

    @property
    def loss_history_(self) -> List[float]:
        """The objective after each iteration; empty for methods without one."""
        return self.result_.trace
