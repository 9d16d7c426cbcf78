"""Who should label what next, and when to stop."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

__all__ = ["ErrorEstimate", "Plan"]


class ErrorEstimate(NamedTuple):
    """An estimated share of wrong labels, with the ends of its interval."""

    error: float
    low: float
    high: float


class Plan:
    """The most valuable next labels, and what they will do to the error. Made by :meth:`quorate.Result.plan`."""

    def __init__(self, assignments: Any, document: Dict[str, Any]) -> None:
        self._assignments = assignments
        self._document = document

    @property
    def assignments(self) -> Any:
        """The labels to collect, the most valuable first: ``task, worker, gain, cost, confidence``.

        Labels with a gain of 0 explore: they compare workers, on the tasks with most labels.
        """
        return self._assignments

    @property
    def error_now(self) -> ErrorEstimate:
        """The estimated error now."""
        return ErrorEstimate(**self._document["error_now"])

    @property
    def error_after(self) -> ErrorEstimate:
        """The estimated error once the labels are there."""
        return ErrorEstimate(**self._document["error_after"])

    @property
    def spent(self) -> float:
        """What the labels cost."""
        return float(self._document["spent"])

    @property
    def retired(self) -> int:
        """Number of tasks that need no more labels."""
        return int(self._document["retired"])

    @property
    def labels_to_target(self) -> Optional[int]:
        """Labels that reach the target error; None without a target, or where it is out of reach."""
        target = self._document["target"]
        return None if target is None else target["labels"]

    @property
    def labels_to_target_between(self) -> Optional[Tuple[Optional[int], Optional[int]]]:
        """The interval of :attr:`labels_to_target`; an end of None is out of reach. None without a target."""
        target = self._document["target"]
        return None if target is None else (target["low"], target["high"])

    @property
    def curve(self) -> List[Tuple[int, float]]:
        """Estimated error after more and more labels: pairs of labels and error."""
        return [(labels, error) for labels, error in self._document["curve"]]

    def to_dict(self) -> Dict[str, Any]:
        """The forecast in numbers, as ``quorate plan --json`` prints it."""
        return dict(self._document)

    def __repr__(self) -> str:
        now, after = self.error_now.error, self.error_after.error
        return f"<quorate.Plan: {self._document['labels']} labels, estimated error {now:.1%} to {after:.1%}>"
