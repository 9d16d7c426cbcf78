"""How good workers are."""

from __future__ import annotations

from typing import Any, Optional

from quorate.compat.crowdkit._answers import accuracy, check_columns
from quorate.compat.crowdkit.aggregation import MajorityVote
from quorate.errors import ParameterError

__all__ = ["accuracy_on_aggregates"]


def accuracy_on_aggregates(
    answers: Any, aggregator: Any = MajorityVote(), aggregates: Any = None, by: Optional[str] = None
) -> Any:
    """The share of answers that are the aggregated label of their task.

    Args:
        answers: A frame with columns ``task``, ``worker`` and ``label``.
        aggregator: What aggregates, if ``aggregates`` are not given.
        aggregates: The label of every task, a series indexed by task.
        by: ``"worker"`` for a series by worker; without it one number.

    >>> import pandas as pd
    >>> rows = [("t1", "a", 0), ("t1", "b", 0), ("t1", "c", 1)]
    >>> accuracy_on_aggregates(pd.DataFrame(rows, columns=["task", "worker", "label"]), by="worker").to_dict()
    {'a': 1.0, 'b': 1.0, 'c': 0.0}
    """
    check_columns(answers)
    if aggregates is None:
        if aggregator is None:
            raise ParameterError("aggregator: found None, and no aggregates; expected one of them")
        aggregates = aggregator.fit_predict(answers)
    return accuracy(answers, aggregates, by)
