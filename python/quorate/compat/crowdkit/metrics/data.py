"""What answers tell of themselves: consistency, uncertainty, agreement."""

from __future__ import annotations

from collections import Counter
from typing import Any, Callable, Optional

from quorate._table import _needed
from quorate.compat.crowdkit._answers import check_columns
from quorate.compat.crowdkit.aggregation import MajorityVote
from quorate.errors import InputError, NotApplicableError

__all__ = ["alpha_krippendorff", "consistency", "uncertainty"]


class NotSupported(NotApplicableError, AssertionError):
    """What is needed is not there."""


def _skills(answers: Any, given: Any, aggregator: Any) -> Any:
    """The skill of the worker of every answer."""
    if given is None:
        given = getattr(aggregator, "skills_", None)
    if given is None:
        raise NotSupported(f"{type(aggregator).__name__} learns no skills: give workers_skills")
    return answers["worker"].map(given)


def _chances(answers: Any, skills: Any) -> Any:
    """For every answer, the probability of each label if the worker is right with the probability of the skill and else
    takes any other label."""
    numpy, pandas = _needed("numpy", "metrics"), _needed("pandas", "metrics")
    codes, labels = pandas.factorize(answers["label"])
    skill = skills.to_numpy(float)[:, None]
    others = (1 - skill) / max(len(labels) - 1, 1)
    chances = numpy.where(codes[:, None] == numpy.arange(len(labels)), skill, others)
    return pandas.DataFrame(chances, index=answers.index, columns=pandas.Index(labels, tupleize_cols=False))


def consistency(answers: Any, workers_skills: Any = None, aggregator: Any = MajorityVote(), by_task: bool = False) -> Any:
    """The probability of the aggregated label given the skills of the workers, on average over tasks.

    Args:
        answers: A frame with columns ``task``, ``worker`` and ``label``.
        workers_skills: A series of skills indexed by worker; those of the aggregator if not given.
        aggregator: What aggregates.
        by_task: For a series by task.

    >>> import pandas as pd
    >>> rows = [("t1", "a", 0), ("t1", "b", 0), ("t1", "c", 1)]
    >>> skills = pd.Series({"a": 0.8, "b": 0.8, "c": 0.6})
    >>> round(consistency(pd.DataFrame(rows, columns=["task", "worker", "label"]), skills), 4)
    0.9143
    """
    check_columns(answers)
    pandas = _needed("pandas", "consistency")
    aggregated = aggregator.fit_predict(answers)
    products = _chances(answers, _skills(answers, workers_skills, aggregator)).groupby(answers["task"]).prod()
    chosen = products.columns.get_indexer(aggregated.reindex(products.index))
    values = products.to_numpy()
    total = values.sum(axis=1)
    found = pandas.Series(values[range(len(values)), chosen] / total, products.index).where(total > 0, 0.0)
    return found if by_task else float(found.mean())


def uncertainty(
    answers: Any,
    workers_skills: Any = None,
    aggregator: Any = None,
    compute_by: str = "task",
    aggregate: bool = True,
) -> Any:
    """The entropy of the labels of a task, or of a worker, in nats, on average over them.

    Args:
        answers: A frame with columns ``task``, ``worker`` and ``label``.
        workers_skills: A series of skills indexed by worker; all 1 if neither they nor an aggregator are given.
        aggregator: What learns skills.
        compute_by: ``"task"`` or ``"worker"``.
        aggregate: Without it, a series by task or worker.

    >>> import pandas as pd
    >>> rows = [("t1", "a", 0), ("t1", "b", 0), ("t2", "a", 0), ("t2", "b", 1)]
    >>> uncertainty(pd.DataFrame(rows, columns=["task", "worker", "label"]), aggregate=False).round(3).to_dict()
    {'t1': 0.0, 't2': 0.693}
    """
    check_columns(answers)
    numpy = _needed("numpy", "uncertainty")
    if workers_skills is None and aggregator is None:
        skills = answers["worker"].map(lambda _: 1.0)
    else:
        if workers_skills is None:
            aggregator.fit(answers)
        skills = _skills(answers, workers_skills, aggregator)
    unknown = answers["worker"][skills.isna()].unique()
    if len(unknown):
        raise NotSupported(f"workers_skills: found none for {len(unknown)} workers, for example {unknown[0]!r}; give theirs")
    sums = _chances(answers, skills).groupby(answers[compute_by]).sum()
    shares = sums.div(sums.sum(axis=1), axis=0)
    entropy = -(shares * numpy.log(shares.where(shares > 0, 1.0))).sum(axis=1) + 0.0
    return float(entropy.mean()) if aggregate else entropy


def binary_distance(one: Any, other: Any) -> float:
    """0 for equal labels, 1 for others."""
    return 0.0 if one == other else 1.0


def alpha_krippendorff(answers: Any, distance: Callable[[Any, Any], float] = binary_distance) -> float:
    """Krippendorff's alpha: agreement of the answers on a task beyond chance.

    Args:
        answers: A frame with columns ``task``, ``worker`` and ``label``.
        distance: How far two labels are from each other, from 0 to 1.

    >>> import pandas as pd
    >>> rows = [("x", "a", 1), ("x", "b", 1), ("y", "a", 0), ("y", "b", 0), ("z", "a", 1), ("z", "b", 0)]
    >>> round(alpha_krippendorff(pd.DataFrame(rows, columns=["task", "worker", "label"])), 4)
    0.4444
    """
    check_columns(answers)
    tasks = [Counter(labels) for _, labels in answers.groupby("task", sort=False)["label"]]
    # An answer without another one on its task cannot agree with any.
    tasks = [labels for labels in tasks if sum(labels.values()) > 1]
    if not tasks:
        raise InputError("alpha_krippendorff: no task has two answers")
    every: Counter[Any] = sum(tasks, Counter())
    count = sum(every.values())

    def disagreement(labels: Counter[Any]) -> float:
        return sum(a * b * distance(one, other) for one, a in labels.items() for other, b in labels.items())

    observed = sum(disagreement(labels) / (sum(labels.values()) - 1) for labels in tasks) / count
    expected = disagreement(every) / (count * (count - 1))
    return 1.0 - observed / expected if expected > 0 else 1.0
