"""crowd-kit's aggregator of sets of labels: columns ``task, worker, label``, the label a list.

>>> import pandas as pd
>>> from quorate.compat.crowdkit.aggregation import BinaryRelevance
>>> df = pd.DataFrame(
...     [["t1", "p1", ["tree", "house"]], ["t1", "p2", ["tree"]], ["t1", "p3", ["tree", "car"]], ["t2", "p1", ["car"]]],
...     columns=["task", "worker", "label"],
... )
>>> BinaryRelevance().fit_predict(df).to_dict()
{'t1': ['tree'], 't2': ['car']}
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from quorate._table import _needed
from quorate.compat.crowdkit._answers import check_columns
from quorate.compat.crowdkit.aggregation.base import BaseClassificationAggregator
from quorate.compat.crowdkit.aggregation.classification import MajorityVote
from quorate.errors import ParameterError

__all__ = ["BinaryRelevance"]


class BinaryRelevance(BaseClassificationAggregator):
    """Every label is a question of its own: does the task have it?

    Args:
        base_aggregator: Aggregates the answers to each of these questions; majority vote if not given.
    """

    def __init__(self, base_aggregator: Optional[BaseClassificationAggregator] = None) -> None:
        base = MajorityVote() if base_aggregator is None else base_aggregator
        if not isinstance(base, BaseClassificationAggregator):
            raise ParameterError(f"base_aggregator: found {type(base).__name__}, expected an aggregator of labels")
        self.base_aggregator = base

    def fit(self, data: Any) -> BinaryRelevance:
        """Learns from labels: a frame whose labels are lists; an empty list is an answer."""
        check_columns(data)
        pandas = _needed("pandas", "BinaryRelevance")
        labels = sorted({label for answer in data["label"] for label in answer})
        found: Dict[Any, List[Any]] = {task: [] for task in data["task"]}
        aggregators = {}
        for label in labels:
            chosen = data[["task", "worker"]].assign(label=[int(label in answer) for answer in data["label"]])
            aggregators[label] = self.base_aggregator._clone()
            for task, has in aggregators[label].fit_predict(chosen).items():
                if has:
                    found[task].append(label)
        index = pandas.Index(list(found), name="task")
        self._learn(aggregators_=aggregators, labels_=pandas.Series(list(found.values()), index, object, "agg_label"))
        return self
