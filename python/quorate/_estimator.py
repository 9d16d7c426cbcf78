"""What the class of every method has: ``fit``, ``predict``, and what was learnt."""

from __future__ import annotations

from typing import Any, ClassVar, Dict, List, Optional, Tuple, TypeVar

from . import _quorate
from ._aggregate import aggregate
from ._labels import read_as
from ._options import Fitting, Reading, options_of
from ._result import Result
from ._table import Table, as_kind
from .errors import NotApplicableError, NotFittedError, ParameterError

__all__ = ["Configured", "Estimator", "clone", "threads_of"]

Self = TypeVar("Self", bound="Configured")
Fitted = TypeVar("Fitted", bound="Estimator")

_RUNNING = ("random_state", "n_jobs")


class Configured:
    """A method with its parameters, in the manner of scikit-learn."""

    _method: ClassVar[str] = ""
    _parameters: ClassVar[Tuple[str, ...]] = ()

    random_state: int
    n_jobs: Optional[int]

    def get_params(self, deep: bool = True) -> Dict[str, Any]:
        """The parameters by name. ``deep`` is there for scikit-learn."""
        return {name: getattr(self, name) for name in (*self._parameters, *_RUNNING)}

    def set_params(self: Self, **parameters: Any) -> Self:
        """Sets parameters by name."""
        known = (*self._parameters, *_RUNNING)
        for name, value in parameters.items():
            if name not in known:
                raise ParameterError(f"parameter {name!r}: unknown; {type(self).__name__} has {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.get_params() == other.get_params()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        defaults = type(self)().get_params()
        changed = {name: value for name, value in self.get_params().items() if value != defaults[name]}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"


class Estimator(Configured):
    """The base of all methods for labels, in the manner of crowd-kit and scikit-learn.

    The input is a table of labels (see :func:`quorate.read`), not a matrix of features. What ``fit`` learns has a
    trailing underscore. Of a pandas frame, results have the shapes of crowd-kit: series and frames indexed by task
    or worker. Of other frames they are frames of the same kind, with a column ``task`` or ``worker``.
    """

    _result: Optional[Result] = None

    def fit(self: Fitted, data: Any, **options: Any) -> Fitted:
        """Learns from labels.

        Args:
            data: The labels: a frame, a path, rows of (task, worker, label), a dict of columns.
            **options: What else is known and how to read the labels; the arguments of :func:`quorate.aggregate`
                (``gold``, ``columns``, ``classes``, ``knowledge``, ``reading``, ``fitting``, ..).
        """
        parameters = {name: getattr(self, name) for name in self._parameters}
        options.setdefault("seed", self.random_state)
        options.setdefault("threads", threads_of(self.n_jobs))
        self._reading = options_of(Reading, "reading", options.get("reading"), columns=options.get("columns"))
        self._threads = options["threads"]
        fitting = options_of(Fitting, "fitting", options.pop("fitting", None))
        fitting = fitting._replace(parameters={**fitting.parameters, **parameters})
        self._result = aggregate(data, self._method, fitting=fitting, **options)
        return self

    def fit_predict(self, data: Any, **options: Any) -> Any:
        """Learns from labels and returns the label of every task."""
        return self.fit(data, **options).labels_

    def fit_predict_proba(self, data: Any, **options: Any) -> Any:
        """Learns from labels and returns the probability of every class for every task."""
        return self.fit(data, **options).probas_

    def predict(self, data: Any = None) -> Any:
        """The label of every task of ``data``, by what was learnt: its tasks may be new, its workers are those of
        the fit. Without ``data``, the labels of the fit."""
        return self.labels_ if data is None else _labels(*self._judge(data))

    def predict_proba(self, data: Any = None) -> Any:
        """The probability of every class for every task of ``data``; without it, of the tasks of the fit."""
        return self.probas_ if data is None else _probas(*self._judge(data))

    def _judge(self, data: Any) -> Tuple[_quorate.ArrowTable, str, List[Any]]:
        result = self.result_
        reading = self._reading
        how = Reading(reading.columns, None, reading.duplicates, reading.missing, reading.normalize)
        labels = read_as(data, how, self._threads, None)
        judged = result._native.predict(labels._native)
        if judged is None:
            raise NotApplicableError(
                f"{self._method} does not estimate a model of its workers, so it cannot judge other tasks: "
                "fit all labels together"
            )
        return judged[0], labels._kind, self.classes_

    @property
    def result_(self) -> Result:
        """Everything that the fit says."""
        if self._result is None:
            raise NotFittedError(f"this {type(self).__name__} has not been fitted: call fit first")
        return self._result

    @property
    def classes_(self) -> List[Any]:
        """The classes, in order."""
        return Table(self.result_._native.class_shares())["class"]

    @property
    def labels_(self) -> Any:
        """The label of every task: of a pandas frame, a series ``agg_label`` indexed by task."""
        return _labels(self.result_._native.labels(False, False), self.result_._kind, self.classes_)

    @property
    def probas_(self) -> Any:
        """The probability of every class for every task: of a pandas frame, a frame indexed by task with a column
        for each class."""
        return _probas(self.result_._native.labels(True, False), self.result_._kind, self.classes_)

    @property
    def priors_(self) -> Any:
        """The probability of every class; None for methods without a model."""
        result = self.result_
        if result._facts["prior"] is None:
            return None
        table = result._native.class_shares()
        if result._kind == "pandas":
            frame = as_kind(table, "pandas")
            return _series(frame["probability"], frame["class"], "prior", "label")
        return as_kind(table, result._kind)

    @property
    def errors_(self) -> Any:
        """The confusion matrices: of a pandas frame, a frame indexed by worker and answer with a column for each
        truth; else a row for each cell. None for methods without a model."""
        result = self.result_
        native = result._native.confusion()
        if native is None:
            return None
        if result._kind != "pandas":
            return as_kind(native, result._kind)
        frame = as_kind(native, "pandas")
        classes = self.classes_
        wide = frame.pivot(index=["worker", "answer"], columns="truth", values="probability")
        workers = list(dict.fromkeys(frame["worker"]))
        wide = wide.reindex([(worker, answer) for worker in workers for answer in classes])[classes]
        wide.index.names, wide.columns.name = ["worker", "label"], "label"
        return wide

    @property
    def skills_(self) -> Any:
        """The accuracy of every worker by the model, or the method's own score: of a pandas frame, a series indexed
        by worker. None for methods that have neither."""
        result = self.result_
        table = Table(result._native.workers())
        column = "score" if "score" in table.columns else "accuracy"
        if all(value is None for value in table[column]):
            return None
        frame = table.to_pandas() if result._kind == "pandas" else None
        if frame is not None:
            return _series(frame[column], frame["worker"], "skill", "worker")
        return {"worker": table["worker"], "skill": table[column]}

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
        """The objective before each iteration and at the end; empty for methods without one."""
        return self.result_.trace


def clone(estimator: Self) -> Self:
    """A method with the same parameters that has learnt nothing.

    >>> from quorate.methods import DawidSkene, clone
    >>> clone(DawidSkene(max_iter=7))
    DawidSkene(max_iter=7)
    """
    return type(estimator)(**estimator.get_params())


def threads_of(n_jobs: Optional[int]) -> int:
    """Threads of the native half: 0 takes all, as None and -1 do here."""
    if n_jobs is None or n_jobs == -1:
        return 0
    if n_jobs < 1:
        raise ParameterError(f"n_jobs: found {n_jobs}, expected a number of threads, or -1 or None for all")
    return n_jobs


def _series(values: Any, index: Any, name: str, index_name: str) -> Any:
    series = values.set_axis(index)
    series.name, series.index.name = name, index_name
    return series


def _labels(native: _quorate.ArrowTable, kind: str, classes: List[Any]) -> Any:
    frame = as_kind(native, kind)
    if kind == "pandas":
        return _series(frame["label"], frame["task"], "agg_label", "task")
    if kind in ("polars", "pyarrow", "narwhals"):
        return frame.select(["task", "label"])
    if kind == "duckdb":
        return frame.project("task, label")
    return {task: label for task, label in zip(frame["task"], frame["label"])}


def _probas(native: _quorate.ArrowTable, kind: str, classes: List[Any]) -> Any:
    frame = as_kind(native, kind)
    columns = [name for name in native.column_names() if name.startswith("p:")]
    if kind == "pandas":
        wide = frame.set_index("task")[columns].set_axis(classes, axis=1)
        wide.columns.name = "label"
        return wide
    if kind in ("polars", "pyarrow", "narwhals"):
        return frame.select(["task", *columns])
    if kind == "duckdb":
        return frame.project(", ".join(f'"{name}"' for name in ["task", *columns]))
    rows = zip(*(frame[name] for name in columns))
    return {task: dict(zip(classes, row)) for task, row in zip(frame["task"], rows)}
