"""The classification aggregators of crowd-kit: change the import, and the code runs.

``from crowdkit.aggregation import DawidSkene`` becomes ``from quorate.compat.crowdkit import DawidSkene``. Class
names, parameters, column names, and shapes and index of results are those of crowd-kit; the fits are ours.

What differs: Dawid-Skene estimates are compared by posterior, not by the loss, so ``loss_history_`` is our objective;
``DawidSkene(initial_error_strategy="assign")`` is not there.

>>> import pandas as pd
>>> from quorate.compat.crowdkit import MajorityVote
>>> df = pd.DataFrame(
...     [["t1", "p1", 0], ["t1", "p2", 0], ["t1", "p3", 1], ["t2", "p1", 1], ["t2", "p2", 0], ["t2", "p3", 1]],
...     columns=["task", "worker", "label"],
... )
>>> MajorityVote().fit_predict(df).to_dict()
{'t1': 0, 't2': 1}
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, TypeVar

from .... import _quorate, methods
from ...._estimator import Estimator
from ...._model import Model
from ...._options import as_text
from ...._table import _needed
from ....errors import InputError, NotApplicableError, NotFittedError
from ._columns import check_columns

__all__ = [
    "DawidSkene",
    "GLAD",
    "GoldMajorityVote",
    "KOS",
    "MACE",
    "MMSR",
    "MajorityVote",
    "OneCoinDawidSkene",
    "Wawa",
    "ZeroBasedSkill",
]

Self = TypeVar("Self", bound="_Aggregator")


class _Aggregator:
    """What all aggregators have: ``fit``, ``fit_predict`` and the attributes of crowd-kit."""

    _sorted = False
    """Whether crowd-kit sorts the tasks; else they stand in the order of their first row."""

    _fitted: Optional[Estimator] = None

    def _estimator(self) -> Estimator:
        raise NotImplementedError

    def _fit(self: Self, data: Any, **options: Any) -> Self:
        check_columns(data, ("task", "worker", "label"))
        self._fitted = self._estimator().fit(data, **options)
        return self

    def fit(self: Self, data: Any) -> Self:
        """Learns from labels: a frame with columns ``task``, ``worker`` and ``label``."""
        return self._fit(data)

    def fit_predict(self, data: Any) -> Any:
        """The label of every task, a series ``agg_label`` indexed by task."""
        return self.fit(data).labels_

    @property
    def _known(self) -> Estimator:
        if self._fitted is None:
            raise NotFittedError(f"this {type(self).__name__} has not been fitted: call fit first")
        return self._fitted

    def _ordered(self, frame: Any) -> Any:
        return frame.sort_index() if self._sorted else frame

    @property
    def labels_(self) -> Any:
        """The label of every task, a series ``agg_label`` indexed by task."""
        return self._ordered(self._known.labels_)

    @property
    def loss_history_(self) -> List[float]:
        """The objective of every iteration."""
        return self._known.loss_history_


class _Probabilistic(_Aggregator):
    """Aggregators with probabilities."""

    def fit_predict_proba(self, data: Any) -> Any:
        """The probability of every label for every task, a frame indexed by task."""
        return self.fit(data).probas_

    @property
    def probas_(self) -> Any:
        """The probability of every label for every task, a frame indexed by task."""
        return self._ordered(self._known.probas_)


class DawidSkene(_Probabilistic):
    """Dawid-Skene: a confusion matrix for every worker, by EM.

    Args:
        n_iter: Largest number of iterations.
        tol: Tolerance of the iteration.
        initial_error_strategy: ``"addition"`` adds the counts of ``initial_error`` to those of the data.
    """

    def __init__(self, n_iter: int = 100, tol: float = 1e-5, initial_error_strategy: Optional[str] = None) -> None:
        self.n_iter, self.tol, self.initial_error_strategy = n_iter, tol, initial_error_strategy

    def _estimator(self) -> Estimator:
        return methods.DawidSkene(max_iter=self.n_iter, tol=self.tol)

    def fit(self, data: Any, true_labels: Any = None, initial_error: Any = None) -> DawidSkene:
        """Learns from labels; ``true_labels`` is a series of known labels indexed by task."""
        options: Dict[str, Any] = {"gold": true_labels}
        if initial_error is not None and self.initial_error_strategy is not None:
            if self.initial_error_strategy != "addition":
                raise NotApplicableError(
                    f"initial_error_strategy: found {self.initial_error_strategy!r}, expected 'addition' or None"
                )
            options["knowledge"] = {"worker_prior": _history(initial_error)}
        return self._fit(data, **options)

    def fit_predict(self, data: Any, true_labels: Any = None, initial_error: Any = None) -> Any:
        """The label of every task, a series ``agg_label`` indexed by task."""
        return self.fit(data, true_labels, initial_error).labels_

    def fit_predict_proba(self, data: Any, true_labels: Any = None, initial_error: Any = None) -> Any:
        """The probability of every label for every task, a frame indexed by task."""
        return self.fit(data, true_labels, initial_error).probas_

    @property
    def priors_(self) -> Any:
        """The probability of every label, a series ``prior``."""
        return self._known.priors_

    @property
    def errors_(self) -> Any:
        """The confusion matrices, a frame indexed by worker and label with a column for every true label."""
        return self._known.errors_


def _history(initial_error: Any) -> Model:
    """Counts of answers as a model that a fit can start with."""
    import json

    classes = [as_text(label) for label in initial_error.columns]
    workers = []
    for worker, own in initial_error.groupby(level=0, sort=False):
        answers = own.droplevel(0)
        answers.index = [as_text(label) for label in answers.index]
        counts = answers.reindex(classes).fillna(0.0).to_numpy().astype(float)
        totals = counts.sum(axis=0)
        confusion = [
            [cell / total if total > 0 else 1 / len(classes) for cell, total in zip(row, totals)] for row in counts
        ]
        labels = int(round(counts.sum()))
        workers.append({"id": as_text(worker), "labels": labels, "confusion": confusion, "counts": counts.tolist()})
    document = {
        "format_version": 1,
        "method": "dawid-skene",
        "seed": 0,
        "fingerprint": "0",
        "classes": classes,
        "prior": [1 / len(classes)] * len(classes),
        "workers": workers,
    }
    return Model(_quorate.Model.from_json(json.dumps(document)))


class OneCoinDawidSkene(DawidSkene):
    """Dawid-Skene with one number for every worker: the probability to be right."""

    def _estimator(self) -> Estimator:
        return methods.OneCoin(max_iter=self.n_iter, tol=self.tol)

    @property
    def skills_(self) -> Any:
        """The accuracy of every worker, a series ``skill`` indexed by worker."""
        return self._known.skills_


class MajorityVote(_Probabilistic):
    """The most frequent label, each worker's vote with a weight if ``skills`` are given.

    Args:
        on_missing_skill: What to do with workers without a skill: ``"error"``, ``"ignore"`` or ``"value"``.
        default_skill: The skill of such workers, for ``"value"``.
    """

    _sorted = True
    _weighted: Any = None

    def __init__(self, on_missing_skill: str = "error", default_skill: Optional[float] = None) -> None:
        self.on_missing_skill, self.default_skill = on_missing_skill, default_skill

    def _estimator(self) -> Estimator:
        return methods.MajorityVote()

    def fit(self, data: Any, skills: Any = None) -> MajorityVote:
        """Learns from labels; ``skills`` is a series of weights indexed by worker."""
        self._weighted = None if skills is None else _weighted_votes(data, self._complete(data, skills))
        return self._fit(data)

    def _complete(self, data: Any, skills: Any) -> Any:
        unknown = set(data["worker"]) - set(skills.index)
        if unknown and self.on_missing_skill == "error":
            raise InputError(f"skills: found none for {len(unknown)} workers, for example {next(iter(unknown))!r}")
        default = self.default_skill if self.on_missing_skill == "value" else 0.0
        return skills.reindex(sorted(set(data["worker"]), key=str)).fillna(default)

    def fit_predict(self, data: Any, skills: Any = None) -> Any:
        """The label of every task, a series ``agg_label`` indexed by task."""
        return self.fit(data, skills).labels_

    def fit_predict_proba(self, data: Any, skills: Any = None) -> Any:
        """The share of the votes of every label for every task, a frame indexed by task."""
        return self.fit(data, skills).probas_

    @property
    def probas_(self) -> Any:
        """The share of the votes of every label for every task, a frame indexed by task."""
        return super().probas_ if self._weighted is None else self._weighted

    @property
    def labels_(self) -> Any:
        """The label of every task, a series ``agg_label`` indexed by task."""
        return super().labels_ if self._weighted is None else self._weighted.idxmax(axis=1).rename("agg_label")


def _weighted_votes(data: Any, weights: Any) -> Any:
    """Shares of the votes, each with the weight of its worker."""
    pandas = _needed("pandas", "MajorityVote")
    votes = pandas.DataFrame(
        {"task": data["task"], "label": data["label"], "weight": data["worker"].map(weights).astype(float)}
    )
    sums = votes.groupby(["task", "label"])["weight"].sum().unstack("label", fill_value=0.0)
    return sums.div(sums.sum(axis=1), axis=0)


class GoldMajorityVote(_Probabilistic):
    """Majority vote in which a worker weighs as much as the share of known tasks that they got right."""

    _sorted = True

    def __init__(self) -> None:
        self._vote = MajorityVote(on_missing_skill="ignore")

    def _estimator(self) -> Estimator:
        return methods.MajorityVote()

    def fit(self, data: Any, true_labels: Any = None) -> GoldMajorityVote:
        """Learns the weights from the tasks of ``true_labels``, a series indexed by task."""
        known = data[data["task"].isin(true_labels.index)]
        right = known["label"].to_numpy() == true_labels.reindex(known["task"]).to_numpy()
        self.skills_ = known.assign(skill=right.astype(float)).groupby("worker")["skill"].mean()
        self._vote.fit(data, self.skills_)
        return self._fit(data)

    def predict(self, data: Any) -> Any:
        """The label of every task of ``data``."""
        return self._vote.fit_predict(data, self.skills_)

    def predict_proba(self, data: Any) -> Any:
        """The weighted share of every label for every task of ``data``."""
        return self._vote.fit_predict_proba(data, self.skills_)

    def fit_predict(self, data: Any, true_labels: Any = None) -> Any:
        """The label of every task, a series ``agg_label`` indexed by task."""
        return self.fit(data, true_labels).labels_

    def fit_predict_proba(self, data: Any, true_labels: Any = None) -> Any:
        """The weighted share of every label for every task, a frame indexed by task."""
        return self.fit(data, true_labels).probas_

    @property
    def probas_(self) -> Any:
        """The weighted share of every label for every task, a frame indexed by task."""
        return self._vote.probas_

    @property
    def labels_(self) -> Any:
        """The label of every task, a series ``agg_label`` indexed by task."""
        return self._vote.labels_


class _Skilled(_Probabilistic):
    """Aggregators that give workers a skill and can judge other tasks by it."""

    _sorted = True

    @property
    def skills_(self) -> Any:
        """The skill of every worker, a series ``skill`` indexed by worker."""
        return self._known.skills_

    def predict(self, data: Any) -> Any:
        """The label of every task of ``data``."""
        return self.predict_proba(data).idxmax(axis=1).rename("agg_label")

    def predict_proba(self, data: Any) -> Any:
        """The weighted share of every label for every task of ``data``."""
        return _weighted_votes(data, self.skills_)


class Wawa(_Skilled):
    """Worker agreement with aggregate: votes weighted by how often a worker agrees with the majority."""

    def _estimator(self) -> Estimator:
        return methods.Wawa()


class ZeroBasedSkill(_Skilled):
    """Weights that follow how often a worker agrees with the weighted votes.

    Args:
        n_iter: Largest number of iterations.
        lr_init, lr_steps_to_reduce, lr_reduce_factor: Taken for crowd-kit's sake; the step size is ours.
        eps: Tolerance of the iteration.
    """

    def __init__(
        self,
        n_iter: int = 100,
        lr_init: float = 1.0,
        lr_steps_to_reduce: int = 20,
        lr_reduce_factor: float = 0.5,
        eps: float = 1e-5,
    ) -> None:
        self.n_iter, self.eps = n_iter, eps
        self.lr_init, self.lr_steps_to_reduce, self.lr_reduce_factor = lr_init, lr_steps_to_reduce, lr_reduce_factor

    def _estimator(self) -> Estimator:
        return methods.ZeroBasedSkill(max_iter=self.n_iter, tol=self.eps)


class GLAD(_Probabilistic):
    """GLAD: the ability of every worker and the difficulty of every task.

    Args:
        n_iter: Largest number of iterations.
        tol: Tolerance of the iteration.
        silent: Taken for crowd-kit's sake.
    """

    def __init__(self, n_iter: int = 100, tol: float = 1e-5, silent: bool = True) -> None:
        self.n_iter, self.tol, self.silent = n_iter, tol, silent

    def _estimator(self) -> Estimator:
        return methods.GLAD(max_iter=self.n_iter, tol=self.tol)

    @property
    def alphas_(self) -> Any:
        """The ability of every worker, a series indexed by worker."""
        return self._known.skills_


class MMSR(_Aggregator):
    """Matrix mean-subsequence-reduced: skills from a robust factorisation of agreements.

    Args:
        n_iter: Largest number of iterations.
        tol: Tolerance of the iteration.
        random_state: Seed.
    """

    def __init__(self, n_iter: int = 10000, tol: float = 1e-10, random_state: Optional[int] = 0) -> None:
        self.n_iter, self.tol, self.random_state = n_iter, tol, random_state

    def _estimator(self) -> Estimator:
        return methods.MMSR(max_iter=self.n_iter, tol=self.tol, random_state=self.random_state or 0)

    def fit_predict_score(self, data: Any) -> Any:
        """The score of every label for every task, a frame indexed by task."""
        return self.fit(data).scores_

    @property
    def scores_(self) -> Any:
        """The score of every label for every task, a frame indexed by task."""
        return self._known.probas_

    @property
    def skills_(self) -> Any:
        """The skill of every worker, a series ``skill`` indexed by worker."""
        return self._known.skills_


class MACE(_Probabilistic):
    """MACE: which workers guess, and what they guess.

    Args:
        n_restarts: Number of random starts.
        n_iter: Largest number of iterations of each.
        method: ``"vb"`` (variational) or ``"em"``.
        smoothing: Smoothing of ``"em"``; taken for crowd-kit's sake with ``"vb"``.
        random_state: Seed.
    """

    def __init__(
        self,
        n_restarts: int = 10,
        n_iter: int = 50,
        method: str = "vb",
        smoothing: float = 0.1,
        random_state: int = 0,
        **others: Any,
    ) -> None:
        self.n_restarts, self.n_iter, self.method = n_restarts, n_iter, method
        self.smoothing, self.random_state, self.others = smoothing, random_state, others

    def _estimator(self) -> Estimator:
        known = methods.MACE(restarts=self.n_restarts, max_iter=self.n_iter, random_state=self.random_state)
        return known if self.method == "vb" else known.set_params(update="em", smoothing=self.smoothing)


class KOS(_Aggregator):
    """Karger, Oh and Shah: belief propagation for two classes.

    Args:
        n_iter: Number of rounds.
        random_state: Seed.
    """

    def __init__(self, n_iter: int = 100, random_state: int = 0) -> None:
        self.n_iter, self.random_state = n_iter, random_state

    def _estimator(self) -> Estimator:
        return methods.KOS(rounds=self.n_iter, random_state=self.random_state)
