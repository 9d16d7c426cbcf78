"""Several methods on one table, side by side."""

import time
import warnings
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import _quorate
from ._aggregate import aggregate
from ._input import truths
from ._labels import read_as
from ._options import Knowledge, Reading, options_of
from ._result import Result
from .errors import QuorateError, QuorateWarning

__all__ = ["Comparison", "ComparedMethod", "compare"]


class ComparedMethod(NamedTuple):
    """One method of a comparison."""

    method: str
    """Its name."""
    error: Optional[float]
    """Share of wrong labels, ties to the lowest class; None without truth."""
    error_fractional_ties: Optional[float]
    """Share of wrong labels where a tie counts a fair share."""
    seconds: float
    """Time of the fit."""
    changed_from_majority_vote: int
    """Tasks whose label is not that of majority vote."""
    tied: int
    """Tasks on which classes are tied."""
    converged: bool
    """Whether the iteration reached its tolerance."""
    failure: Optional[str]
    """Why the method failed, if it did."""
    result: Optional[Result]
    """Everything else."""


class Comparison(NamedTuple):
    """Methods side by side, the best first where the truth is known; failures last."""

    methods: List[ComparedMethod]
    """One entry for each method."""
    agreement: Dict[Tuple[str, str], float]
    """Share of equal labels of every pair of methods."""

    def __repr__(self) -> str:
        lines = [f"{'method':22} {'error':>8} {'seconds':>8} {'differs from votes':>19}"]
        for row in self.methods:
            if row.failure is not None:
                lines.append(f"{row.method:22} {row.failure}")
                continue
            error = "-" if row.error is None else f"{100 * row.error:.2f} %"
            lines.append(f"{row.method:22} {error:>8} {row.seconds:8.2f} {row.changed_from_majority_vote:19}")
        return "\n".join(lines)


def compare(data: Any, methods: Optional[Sequence[str]] = None, *, truth: Any = None, **options: Any) -> Comparison:
    """Runs several methods on one table. A method that fails does not end the others: its entry says why.

    Args:
        data: The labels; see :func:`quorate.read`.
        methods: Names of the methods; all of them if not given, but for those that need features or class
            probabilities that are not given.
        truth: The truth, where it is known: a dict by task, or a table with columns ``task, label``.
        **options: The arguments of :func:`quorate.aggregate`.

    >>> import quorate
    >>> crowd = quorate.simulate(tasks=200, workers=10, accuracy=(0.5, 0.9), labels_per_task=5)
    >>> both = quorate.compare(crowd.labels, ["majority-vote", "dawid-skene"], truth=crowd.truth)
    >>> [row.method for row in both.methods]
    ['dawid-skene', 'majority-vote']
    """
    short = {name: options.pop(name, None) for name in ("columns", "classes")}
    reading = options_of(Reading, "reading", options.pop("reading", None), **short)
    labels = read_as(data, reading, options.get("threads", 0), options.get("progress"))
    known = truths(truth, "truth")
    rows = [_run(name, labels, known, options) for name in methods or _fitting(options)]
    rows.sort(key=lambda row: (row.failure is not None, row.error or 0.0))
    fitted = [(row.method, row.result.to_dict()) for row in rows if row.result is not None]
    agreement = {}
    for place, (name, own) in enumerate(fitted):
        for other_name, other in fitted[place + 1 :]:
            equal = sum(own[task] == other[task] for task in own)
            agreement[(name, other_name)] = equal / max(len(own), 1)
    return Comparison(rows, agreement)


def _fitting(options: Dict[str, Any]) -> List[str]:
    """Methods whose side data are given."""
    known = options_of(Knowledge, "knowledge", options.get("knowledge"))
    return [
        method["name"]
        for method in _quorate.method_table()
        if method["takes"] == "labels"
        and (not method["needs_features"] or known.features is not None)
        and (not method["needs_probabilities"] or known.class_probabilities is not None)
    ]


def _run(name: str, labels: Any, truth: Optional[_quorate.Data], options: Dict[str, Any]) -> ComparedMethod:
    _quorate.find_method(name)
    started = time.perf_counter()
    try:
        with warnings.catch_warnings():
            # The entry says what converged; the rest is in its result.
            warnings.simplefilter("ignore", QuorateWarning)
            result = aggregate(labels, name, **options)
    except QuorateError as failure:
        return ComparedMethod(name, None, None, time.perf_counter() - started, 0, 0, False, str(failure), None)
    error: Optional[float] = None
    fair: Optional[float] = None
    if truth is not None:
        lowest, fractional, scored = _quorate.error_of(result._native, truth)
        if scored:
            error, fair = lowest, fractional
    facts = result.summary
    return ComparedMethod(
        result.method,
        error,
        fair,
        facts["fit_seconds"],
        facts["changed_from_majority_vote"],
        facts["tied_tasks"],
        result.converged,
        None,
        result,
    )
