"""Who should label what next, and when to stop."""

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

__all__ = ["Dispatch", "ErrorEstimate", "Plan", "Replay", "ReplayedStrategy"]


class ErrorEstimate(NamedTuple):
    """An estimated share of wrong labels, with the ends of its interval."""

    error: float
    """The estimate."""
    low: float
    """Lower end of the interval."""
    high: float
    """Upper end of the interval."""


class Plan:
    """The most valuable next labels, and what they will do to the error. Made by :meth:`quorate.Result.plan`."""

    def __init__(self, assignments: Any, retired_tasks: List[Any], document: Dict[str, Any]) -> None:
        self._assignments = assignments
        self._retired_tasks = retired_tasks
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
    def retired_tasks(self) -> List[Any]:
        """The tasks that need no more labels: their confidence is at least ``retire``."""
        return list(self._retired_tasks)

    @property
    def unplaced(self) -> int:
        """Valuable labels that nobody can give: everyone who could has labelled the task or has no capacity left."""
        return int(self._document["unplaced"])

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


class Dispatch:
    """Labels that let every pair of workers be compared, as few as could be found. Made by
    :meth:`quorate.Result.dispatch`."""

    def __init__(self, assignments: Any, workers: List[Any], document: Dict[str, Any]) -> None:
        self._assignments = assignments
        self._workers = workers
        self._document = document

    @property
    def assignments(self) -> Any:
        """The labels to collect: ``task, worker``. Empty if every pair can be compared already."""
        return self._assignments

    @property
    def designated(self) -> Optional[Tuple[Any, Any]]:
        """The two workers whom all others share tasks with; None if there is nothing to do."""
        return None if self._document["designated"] is None else (self._workers[0], self._workers[1])

    @property
    def attached(self) -> List[Any]:
        """The workers whom the labels attach to the designated ones."""
        return self._workers[2:]

    @property
    def out_of_reach_before(self) -> Optional[int]:
        """Pairs of workers that cannot be compared now, not even through others; None if there are too many workers to
        look at every pair."""
        return self._document["out_of_reach_before"]  # type: ignore[no-any-return]

    @property
    def out_of_reach_after(self) -> Optional[int]:
        """Pairs of workers that cannot be compared once the labels are there."""
        return self._document["out_of_reach_after"]  # type: ignore[no-any-return]

    def to_dict(self) -> Dict[str, Any]:
        """The dispatch in numbers, as ``quorate plan --goal comparable --json`` prints it."""
        return dict(self._document)

    def __repr__(self) -> str:
        designated = self._document["designated"]
        if designated is None:
            return "<quorate.Dispatch: every pair of workers can be compared already>"
        before, after = self.out_of_reach_before, self.out_of_reach_after
        reach = "" if before is None else f", pairs out of reach {before} to {after}"
        return f"<quorate.Dispatch: {self._document['labels']} labels, designated {' and '.join(designated)}{reach}>"


class ReplayedStrategy(NamedTuple):
    """A strategy beside the plan: what both need for the error that the strategy ends with."""

    error: float
    """The error that the strategy ends with."""
    labels: float
    """New labels of the strategy until it is there; 0 if none of them lowered the error."""
    planned: Optional[float]
    """New labels of the plan until it is there; None if it does not get there within the budget."""

    @property
    def saved(self) -> Optional[float]:
        """Share of the labels that the plan does without; None where it cannot be said."""
        return None if self.planned is None or self.labels == 0 else 1 - self.planned / self.labels


class Replay:
    """What a plan would have bought on data with known truth. Made by :meth:`quorate.Result.replay_plan`."""

    def __init__(self, document: Dict[str, Any]) -> None:
        self._document = document

    @property
    def curves(self) -> Dict[str, List[Tuple[int, float]]]:
        """Labels shown and share of wrong labels after each round, the start included, for ``"plan"``,
        ``"most-uncertain"`` and ``"random"``."""
        curves = self._document["curves"].items()
        return {name: [(labels, error) for labels, error in points] for name, points in curves}

    @property
    def forecasts(self) -> List[ErrorEstimate]:
        """What the plan of each round expected of the error after it."""
        return [ErrorEstimate(**forecast) for forecast in self._document["forecasts"]]

    @property
    def to_the_error_of(self) -> Dict[str, ReplayedStrategy]:
        """The labels that the plan and each of the other strategies need for the same error."""
        return {name: ReplayedStrategy(**found) for name, found in self._document["to_the_error_of"].items()}

    def to_dict(self) -> Dict[str, Any]:
        """The replay in numbers, as ``quorate plan --simulate --json`` prints it."""
        return dict(self._document)

    def __repr__(self) -> str:
        ends = ", ".join(f"{name} {points[-1][1]:.1%}" for name, points in self.curves.items())
        return f"<quorate.Replay: error after the last round: {ends}>"
