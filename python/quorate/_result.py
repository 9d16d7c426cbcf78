"""What a fit says: labels, probabilities, workers, model, and how far to trust them."""

from __future__ import annotations

import json
import os
import warnings
from typing import Any, Dict, List, Optional, Tuple, Union

from . import _quorate
from ._fit_facts import EstimatedError, LabelFacts
from ._input import by_id, pairs, truths, worker_numbers
from ._model import Model
from ._plan import Dispatch, Plan, Replay
from ._progress import Progress, Reporter
from ._table import Table, as_kind
from .errors import DataWarning, NotApplicableError, ParameterError

__all__ = ["Result"]


class Result(LabelFacts):
    """The labels of all tasks, with everything else that a fit says.

    Tables come back in the kind of frame that went in: pandas for pandas, polars for polars, and a
    :class:`quorate.Table` where the labels came from a file or from rows.

    >>> import quorate
    >>> result = quorate.aggregate([
    ...     ("t1", "ann", "cat"), ("t1", "bob", "cat"), ("t1", "cem", "dog"),
    ...     ("t2", "ann", "dog"), ("t2", "bob", "dog"), ("t2", "cem", "dog"),
    ... ], "dawid-skene")
    >>> result.labels.columns
    ['task', 'label', 'confidence']
    >>> result.workers["worker"]
    ['ann', 'bob', 'cem']
    >>> result.converged
    True
    """

    _native: _quorate.Fitted

    def __init__(self, native: _quorate.Fitted, kind: str) -> None:
        super().__init__(native)
        self._native = native
        self._kind = kind
        self._summary: Optional[Dict[str, Any]] = None

    def _table(self, native: _quorate.ArrowTable) -> Any:
        return as_kind(native, self._kind)

    @property
    def labels(self) -> Any:
        """The label of every task and the probability that it is right: ``task, label, confidence``."""
        return self._table(self._native.labels(False, False))

    @property
    def probabilities(self) -> Any:
        """The probability of every class for every task: ``task, label, confidence`` and ``p:CLASS``."""
        return self._table(self._native.labels(True, False))

    @property
    def difficulty(self) -> Any:
        """The labels with the chance that an average worker answers the task wrongly, for methods in which tasks
        differ (``auto``, ``task-effects``); None for the others."""
        return self._table(self._native.labels(False, True)) if self._facts["has_difficulty"] else None

    @property
    def workers(self) -> Any:
        """The workers: number of labels, accuracy, agreement with the consensus, cells of the confusion matrix."""
        return self._table(self._native.workers())

    @property
    def confusion(self) -> Any:
        """The confusion matrices, a row for each cell: ``worker, answer, truth, probability``; None for methods
        without a model."""
        native = self._native.confusion()
        return None if native is None else self._table(native)

    @property
    def changes(self) -> Any:
        """The tasks whose label is not that of majority vote, with the workers who tipped it."""
        return self._table(self._native.changes())

    @property
    def model(self) -> Optional[Model]:
        """The prior and the confusion matrices; None for methods that do not estimate them."""
        native = self._native.model()
        return None if native is None else Model(native)

    @property
    def summary(self) -> Dict[str, Any]:
        """The run in numbers, as ``quorate aggregate --json`` prints them."""
        if self._summary is None:
            self._summary = json.loads(self._native.summary())
        return dict(self._summary)

    @property
    def estimated_error(self) -> EstimatedError:
        """The share of wrong labels, with its range."""
        return EstimatedError(**self.summary["estimated_error"])

    def intervals(self, level: float = 0.95, *, progress: Progress = None) -> Any:
        """Intervals of worker accuracies, confusion matrices and class shares.

        Columns ``what, worker, answer, truth, estimate, low, high``. Truths and matrices are drawn from their
        posterior, which assumes that workers err independently.

        Args:
            level: Probability that an interval holds the true value.
            progress: See :data:`quorate.Progress`.
        """
        with Reporter(progress) as report:
            native = self._native.intervals(level, report)
        if native is None:
            raise NotApplicableError(f"{self.method} does not estimate a model, which intervals need")
        return self._table(native)

    def review(self, n: int = 20) -> Any:
        """The tasks to look at first: those whose label is most likely wrong, with the votes and the reasons."""
        return self._table(self._native.review(n))

    def plan(
        self,
        budget: float,
        *,
        costs: Any = None,
        capacity: Optional[int] = None,
        capacities: Any = None,
        exclude: Any = None,
        explore: Optional[float] = None,
        target: Optional[float] = None,
        retire: float = 0.99,
        progress: Progress = None,
    ) -> Plan:
        """Plans the most valuable next labels: which tasks, and by whom.

        Args:
            budget: What may be spent: a number of labels, or an amount where ``costs`` are given.
            costs: What a label by each worker costs, as a dict or as a table with columns ``worker, cost``; workers not
                listed cost 1.
            capacity: New labels that a worker can give; twice an even share if not given.
            capacities: New labels that each worker can give, as a dict or as a table with columns ``worker, labels``;
                workers not listed as ``capacity`` says, or none.
            exclude: Pairs of task and worker that must not be assigned, as rows or as a table with columns
                ``task, worker``. Nobody is ever asked the same task twice.
            explore: Share of the labels that compare workers (on the tasks with most labels, by the workers with
                fewest), to find out where the model is wrong; the more, the fewer labels a worker has given so far, if
                not given.
            target: Error to reach, for :attr:`quorate.Plan.labels_to_target` and its interval.
            retire: Confidence from which on a task needs no more labels.
            progress: See :data:`quorate.Progress`.

        >>> import quorate
        >>> crowd = quorate.simulate(tasks=100, workers=10, accuracy=(0.5, 0.9), labels_per_task=3)
        >>> plan = quorate.aggregate(crowd.labels).plan(20)
        >>> len(plan.assignments)
        20
        >>> plan.error_after.error < plan.error_now.error
        True
        """
        with Reporter(progress) as report:
            table, retired, document, told = _quorate.plan(
                self._native,
                {
                    "budget": budget,
                    "costs": worker_numbers(costs, "costs", "cost"),
                    "capacity": capacity,
                    "capacities": worker_numbers(capacities, "capacities", "labels"),
                    "exclude": pairs(exclude, "exclude"),
                    "explore": explore,
                    "target": target,
                    "retire": retire,
                },
                report,
            )
        _warn(told)
        return Plan(self._table(table), retired.column("task"), json.loads(document))

    def dispatch(self, *, shared: Optional[int] = None, exclude: Any = None, progress: Progress = None) -> Dispatch:
        """Plans the labels that let every pair of workers be compared, as few as can be found.

        Workers who share no task can be compared through two others, but not always. Two designated workers are chosen,
        and everybody who needs it shares tasks with both of them (``quorate plan --goal comparable``).

        Args:
            shared: Tasks that each worker should share with both designated workers; 10, or twice the number of classes
                if that is more, if not given.
            exclude: Pairs of task and worker that must not be assigned; see :meth:`plan`.
            progress: See :data:`quorate.Progress`.

        >>> import quorate
        >>> crowd = quorate.simulate(tasks=60, workers=12, labels_per_task=1, accuracy=(0.6, 0.9))
        >>> dispatch = quorate.aggregate(crowd.labels, "dawid-skene").dispatch(shared=3)
        >>> dispatch.out_of_reach_before, dispatch.out_of_reach_after
        (66, 0)
        """
        with Reporter(progress) as report:
            table, workers, document, told = _quorate.dispatch(
                self._native, shared, pairs(exclude, "exclude"), report
            )
        _warn(told)
        return Dispatch(self._table(table), workers.column("worker"), json.loads(document))

    def replay_plan(
        self,
        budget: float,
        truth: Any,
        *,
        start: int = 2,
        rounds: int = 10,
        capacity: Optional[int] = None,
        explore: Optional[float] = None,
        progress: Progress = None,
    ) -> Replay:
        """Plays a plan on these labels, whose truth is known, to see what it would have bought.

        Most labels are hidden and shown round by round: as planned, the most uncertain tasks first, and at random. The
        method is fitted again after each round (``quorate plan --simulate``). That tells something where tasks have many
        labels.

        Args:
            budget: New labels that are shown in all rounds together.
            truth: The true labels, as a dict or as a table with columns ``task, label``.
            start: Labels per task that are shown at the start.
            rounds: Rounds in which the budget is spent.
            capacity: New labels that a worker can give; twice an even share if not given.
            explore: Share of the labels with which the plan compares workers; see :meth:`plan`.
            progress: See :data:`quorate.Progress`.

        >>> import quorate
        >>> crowd = quorate.simulate(tasks=80, workers=20, labels_per_task=20, accuracy=(0.4, 0.9))
        >>> replay = quorate.aggregate(crowd.labels, "dawid-skene").replay_plan(240, crowd.truth, rounds=4)
        >>> [labels for labels, error in replay.curves["random"]]
        [160, 220, 280, 340, 400]
        """
        known = truths(truth, "truth")
        if known is None:
            raise ParameterError("truth: found None, expected the true labels of some tasks")
        with Reporter(progress) as report:
            document = _quorate.replay_plan(
                self._native,
                {
                    "budget": budget,
                    "truth": known,
                    "start": start,
                    "rounds": rounds,
                    "capacity": capacity,
                    "explore": explore,
                },
                report,
            )
        return Replay(json.loads(document))

    def report(
        self,
        path: Optional[Union[str, "os.PathLike[str]"]] = None,
        *,
        title: str = "Labels",
        truth: Any = None,
        task_url: Optional[str] = None,
        texts: Any = None,
        show: str = "text",
        budget: Optional[float] = None,
        target: Optional[float] = None,
        spreadsheet_safe: bool = False,
        progress: Progress = None,
    ) -> str:
        """Puts the whole story on one self-contained HTML page, as ``quorate report`` does; returns the page.

        Args:
            path: Where to write the page; nowhere if not given.
            title: Its title.
            truth: True labels of some tasks: adds the error, a reliability curve and a confusion matrix.
            task_url: Address of a task, with ``{task}`` in place of its id.
            texts: What the tasks are about: a dict by task, or a table with a column ``task`` and the one that ``show``
                names. The page then holds those texts; without it no text of a task gets into the page.
            show: Column of ``texts`` that is shown beside each task.
            budget: Labels that the section on what to label next plans for; a tenth of the labels if not given.
            target: Error that the same section says how to reach; half of the estimated error if not given.
            spreadsheet_safe: In the tables that are downloaded from the page, put an apostrophe before text that a
                spreadsheet would take for a formula.
            progress: See :data:`quorate.Progress`.
        """
        with Reporter(progress) as report:
            page, told = _quorate.report(
                self._native,
                {
                    "path": path,
                    "title": title,
                    "truth": truths(truth, "truth"),
                    "task_url": task_url,
                    "texts": None if texts is None else by_id(texts, "texts", "task", show),
                    "show": show,
                    "budget": budget,
                    "target": target,
                    "spreadsheet_safe": spreadsheet_safe,
                },
                report,
            )
        _warn(told)
        return page

    def save_model(self, path: Union[str, "os.PathLike[str]"], *, keep_labels: bool = False) -> None:
        """Writes ``model.json`` as ``quorate aggregate --model`` does.

        Args:
            path: Where to write it.
            keep_labels: Keep the labels beside it, so that later labels can be folded in
                (:func:`quorate.aggregate` with ``update``).
        """
        if not self._native.save_model(path, keep_labels):
            raise NotApplicableError(f"{self.method} does not estimate a model: choose another method")

    def save(self, path: Union[str, "os.PathLike[str]"], *, probabilities: bool = False) -> None:
        """Writes the labels to a file; the extension tells the format (CSV, TSV, JSONL, Parquet, Arrow)."""
        self._native.write_labels(path, probabilities)

    def to_pandas(self) -> Any:
        """The labels as a ``pandas.DataFrame``."""
        return as_kind(self._native.labels(False, False), "pandas")

    def to_polars(self) -> Any:
        """The labels as a ``polars.DataFrame``."""
        return as_kind(self._native.labels(False, False), "polars")

    def to_arrow(self) -> Any:
        """The labels as a ``pyarrow.Table``."""
        return as_kind(self._native.labels(False, False), "pyarrow")

    def to_dict(self) -> Dict[Any, Any]:
        """The label of every task, by task."""
        table = Table(self._native.labels(False, False))
        return dict(zip(table["task"], table["label"]))

    def __repr__(self) -> str:
        facts = self.summary
        lines = [
            f"<quorate.Result: {facts['method']}, {facts['tasks']} tasks, {facts['workers']} workers, "
            f"{facts['classes']} classes, {facts['labels']} labels>",
            f"estimated error: {self.estimated_error}; differs from majority vote on "
            f"{facts['changed_from_majority_vote']} tasks; {facts['tied_tasks']} tied",
        ]
        if not self.converged:
            lines.append(f"did not converge in {self.iterations} iterations")
        lines.extend(f"warning: {warning}" for warning in self.warnings)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from ._html import result_page

        return result_page(self)

    def __reduce__(self) -> Tuple[Any, Tuple[Any, str]]:
        return (_unpickle, (self._native.to_state(), self._kind))


def _warn(told: List[str]) -> None:
    """Python warnings for what the native half warns of, at the line that called a method of the result."""
    for words in told:
        warnings.warn(words, DataWarning, stacklevel=3)


def _unpickle(state: Any, kind: str) -> Result:
    return Result(_quorate.Fitted.from_state(state), kind)
