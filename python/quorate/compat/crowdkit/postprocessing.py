"""Answers that are set aside."""

from __future__ import annotations

import warnings
from typing import Any

from quorate._table import _needed
from quorate.compat.crowdkit._answers import check_columns
from quorate.compat.crowdkit.metrics.data import uncertainty
from quorate.errors import DataWarning

__all__ = ["entropy_threshold"]


def entropy_threshold(answers: Any, workers_skills: Any = None, percentile: int = 10, min_answers: int = 2) -> Any:
    """Leaves out workers who give nearly always the same label: those with the lowest entropy of labels.

    Args:
        answers: A frame with columns ``task``, ``worker`` and ``label``.
        workers_skills: A series of skills indexed by worker.
        percentile: Share of the workers, in percent, below which a worker is left out.
        min_answers: Workers with fewer answers stay.

    >>> import pandas as pd
    >>> rows = [("1", "a", "dog"), ("1", "b", "cat"), ("2", "a", "cat"), ("2", "b", "cat"), ("3", "a", "dog"), ("3", "b", "cat")]
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     entropy_threshold(pd.DataFrame(rows, columns=["task", "worker", "label"]))["worker"].tolist()
    ['a', 'a', 'a']
    """
    check_columns(answers)
    numpy = _needed("numpy", "entropy_threshold")
    many = answers.groupby("worker")["label"].transform("count") >= min_answers
    entropy = uncertainty(answers[many], workers_skills, compute_by="worker", aggregate=False)
    if entropy.empty:
        return answers
    removed = entropy.index[entropy <= numpy.percentile(entropy, percentile)]
    kept = answers[~answers["worker"].isin(removed)]
    if len(kept) <= len(answers) // 2:
        warnings.warn(
            f"entropy_threshold leaves {len(kept)} of {len(answers)} answers: a lower percentile, or more min_answers, keeps more",
            DataWarning,
            stacklevel=2,
        )
    return kept
