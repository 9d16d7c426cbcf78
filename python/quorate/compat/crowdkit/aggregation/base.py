"""What all aggregators of crowd-kit have."""

from __future__ import annotations

from typing import Any, Dict

from quorate.errors import NotFittedError

__all__ = ["BaseClassificationAggregator", "BasePairwiseAggregator"]


class _Learner:
    """Attributes with a trailing underscore are there after ``fit``, and not before."""

    def __getattr__(self, name: str) -> Any:
        if name.endswith("_") and not name.startswith("_"):
            raise NotFittedError(f"this {type(self).__name__} has no {name}: call fit first, if it has one then")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _learn(self, **learnt: Any) -> None:
        self.__dict__.update(learnt)

    def _parameters(self) -> Dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name[-1] != "_" and name[0] != "_"}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._parameters().items())})"


class BaseClassificationAggregator(_Learner):
    """Aggregators of labels: ``fit``, ``fit_predict`` and ``labels_``, a series ``agg_label`` indexed by task."""

    def fit(self, data: Any) -> Any:
        """Learns from labels: a frame with columns ``task``, ``worker`` and ``label``."""
        raise NotImplementedError

    def fit_predict(self, data: Any) -> Any:
        """The label of every task, a series ``agg_label`` indexed by task."""
        return self.fit(data).labels_

    def _clone(self) -> Any:
        """The same without what was learnt."""
        return type(self)(**self._parameters())


class BasePairwiseAggregator(_Learner):
    """Aggregators of comparisons: ``fit``, ``fit_predict`` and ``scores_``, a series ``agg_score`` indexed by item."""

    def fit(self, data: Any) -> Any:
        """Learns from comparisons: a frame whose label is the left or the right item."""
        raise NotImplementedError

    def fit_predict(self, data: Any) -> Any:
        """The score of every item, a series ``agg_score`` indexed by item."""
        return self.fit(data).scores_
