"""crowd-kit's aggregators of labels: columns ``task, worker, label``.

>>> import pandas as pd
>>> from quorate.compat.crowdkit.aggregation import MajorityVote
>>> df = pd.DataFrame(
...     [["t1", "p1", 0], ["t1", "p2", 0], ["t1", "p3", 1], ["t2", "p1", 1], ["t2", "p2", 0], ["t2", "p3", 1]],
...     columns=["task", "worker", "label"],
... )
>>> MajorityVote().fit_predict(df).to_dict()
{'t1': 0, 't2': 1}
"""

from __future__ import annotations

from typing import Any, Dict, Optional

from quorate import _quorate, methods
from quorate._estimator import Estimator
from quorate._model import Model
from quorate._options import as_text
from quorate._table import _needed
from quorate.compat.crowdkit._answers import accuracy, check_columns, nothing, weighted_votes
from quorate.compat.crowdkit.aggregation.base import BaseClassificationAggregator
from quorate.errors import InputError, NotApplicableError, ParameterError

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


def _refuse(own: object, why: str, **defaults: Any) -> None:
    """Refuses arguments that have no counterpart here, unless they have crowd-kit's defaults."""
    for name, default in defaults.items():
        found = getattr(own, name)
        if found is not default and (default is None or found != default):
            raise NotApplicableError(f"{name}: found {found!r}; {why}: leave it out")


def _ordered(frame: Any, ids: Any) -> Any:
    """The rows in the order in which their ids come first."""
    return frame.reindex(ids.unique()).rename_axis(frame.index.name)


class _Probabilistic(BaseClassificationAggregator):
    """Aggregators with probabilities."""

    def fit_predict_proba(self, data: Any) -> Any:
        """The probability of every label for every task, a frame indexed by task."""
        return self.fit(data).probas_

    def _learn_labels(self, probas: Any) -> None:
        self._learn(probas_=probas, labels_=probas.idxmax(axis=1).rename("agg_label"))

    def _learn_fit(self, data: Any, fitted: Estimator) -> None:
        """Labels and probabilities, tasks in the order of their first row."""
        order = data["task"]
        labels, probas = _ordered(fitted.labels_, order), _ordered(fitted.probas_, order)
        self._learn(labels_=labels, probas_=probas, loss_history_=fitted.loss_history_)


class MajorityVote(_Probabilistic):
    """The most frequent label, each worker's vote with a weight if ``skills`` are given.

    Args:
        default_skill: The skill of workers who have none, for ``on_missing_skill="value"``.
        on_missing_skill: What to do with such workers: ``"error"``, ``"ignore"`` (an error if a task loses all its
            answers) or ``"value"``.
    """

    def __init__(self, default_skill: Optional[float] = None, on_missing_skill: str = "error") -> None:
        self.default_skill, self.on_missing_skill = default_skill, on_missing_skill

    def fit(self, data: Any, skills: Any = None) -> MajorityVote:
        """Learns from labels; ``skills`` is a series of weights indexed by worker."""
        check_columns(data)
        if data.empty:
            self._learn(**nothing("labels_", "probas_", "skills_"))
            return self
        if skills is None:
            # Ties go to the lowest label, here and there.
            fitted = methods.MajorityVote().fit(data)
            self._learn(probas_=fitted.probas_.sort_index(), labels_=fitted.labels_.sort_index())
        else:
            data, weights = self._weights(data, skills)
            self._learn_labels(weighted_votes(data, weights))
        self._learn(skills_=accuracy(data, self.labels_, "worker").rename("skill"))
        return self

    def _weights(self, data: Any, skills: Any) -> Any:
        """The answers that count, and the weights of their workers."""
        how, default = self.on_missing_skill, self.default_skill
        if how not in ("error", "ignore", "value"):
            raise ParameterError(f"on_missing_skill: found {how!r}, expected 'error', 'ignore' or 'value'")
        if (how == "value") != (default is not None):
            raise ParameterError(f"default_skill: found {default!r} with on_missing_skill={how!r}, expected both or none")
        weights = data["worker"].drop_duplicates().set_axis(data["worker"].drop_duplicates()).map(skills)
        if default is not None:
            weights = weights.fillna(default)
        unknown = weights.index[weights.isna()]
        if len(unknown) and how == "error":
            raise InputError(
                f"skills: found none for {len(unknown)} workers, for example {unknown[0]!r}; give theirs, or choose another "
                "on_missing_skill"
            )
        kept = data[~data["worker"].isin(unknown)]
        lost = data["task"].nunique() - kept["task"].nunique()
        if lost:
            raise InputError(f"skills: {lost} tasks have no worker with a skill; expected one at least for every task")
        return kept, weights

    def fit_predict(self, data: Any, skills: Any = None) -> Any:
        """The label of every task, a series ``agg_label`` indexed by task."""
        return self.fit(data, skills).labels_

    def fit_predict_proba(self, data: Any, skills: Any = None) -> Any:
        """The share of the votes of every label for every task, a frame indexed by task."""
        return self.fit(data, skills).probas_


class _Weighted(_Probabilistic):
    """Aggregators that learn skills, and then weigh votes by them."""

    def predict(self, data: Any) -> Any:
        """The label of every task of ``data`` by weighted vote."""
        self._vote(data)
        return self.labels_

    def predict_proba(self, data: Any) -> Any:
        """The weighted share of every label for every task of ``data``."""
        self._vote(data)
        return self.probas_

    def _vote(self, data: Any) -> None:
        vote = MajorityVote().fit(data, self.skills_)
        self._learn(labels_=vote.labels_, probas_=vote.probas_)

    def fit_predict(self, data: Any) -> Any:
        """The label of every task, a series ``agg_label`` indexed by task."""
        return self.fit(data).predict(data)

    def fit_predict_proba(self, data: Any) -> Any:
        """The weighted share of every label for every task, a frame indexed by task."""
        return self.fit(data).predict_proba(data)


class Wawa(_Weighted):
    """Worker agreement with aggregate: votes weighted by how often a worker agrees with the majority."""

    def fit(self, data: Any) -> Wawa:
        """Learns skills from labels."""
        self._learn(skills_=MajorityVote().fit(data).skills_)
        return self


class GoldMajorityVote(_Weighted):
    """Majority vote in which a worker weighs as much as the share of known tasks that they got right."""

    def fit(self, data: Any, true_labels: Any) -> GoldMajorityVote:  # type: ignore[override]
        """Learns the weights from the tasks of ``true_labels``, a series indexed by task."""
        check_columns(data)
        self._learn(skills_=accuracy(data, true_labels, "worker").rename("skill"))
        return self

    def fit_predict(self, data: Any, true_labels: Any) -> Any:  # type: ignore[override]
        """The label of every task, a series ``agg_label`` indexed by task."""
        return self.fit(data, true_labels).predict(data)

    def fit_predict_proba(self, data: Any, true_labels: Any) -> Any:  # type: ignore[override]
        """The weighted share of every label for every task, a frame indexed by task."""
        return self.fit(data, true_labels).predict_proba(data)


class ZeroBasedSkill(_Weighted):
    """Weights that follow how often a worker agrees with the weighted votes.

    Args:
        n_iter: Largest number of rounds.
        lr_init: Learning rate at the start: only crowd-kit's default is taken.
        lr_steps_to_reduce: Rounds after which the learning rate is halved.
        lr_reduce_factor: Factor of the learning rate: only crowd-kit's default is taken.
        eps: Above an even share of the classes, where skills start: only crowd-kit's default is taken.
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

    def fit(self, data: Any) -> ZeroBasedSkill:
        """Learns skills from labels."""
        check_columns(data)
        _refuse(self, "the learning rate starts at 1 and is halved", lr_init=1.0, lr_reduce_factor=0.5, eps=1e-5)
        if data.empty:
            self._learn(**nothing("skills_"))
        elif self.n_iter == 0:
            pandas = _needed("pandas", "ZeroBasedSkill")
            index = pandas.Index(data["worker"].unique(), name="worker")
            self._learn(skills_=pandas.Series(1 / data["label"].nunique() + self.eps, index, name="skill"))
        else:
            rounds, half = self.n_iter, self.lr_steps_to_reduce
            fitted = methods.ZeroBasedSkill(max_iter=rounds, halve_every=half, tol=0, ties="lowest").fit(data)
            self._learn(skills_=fitted.skills_.sort_index())
        return self


class DawidSkene(_Probabilistic):
    """Dawid-Skene: a confusion matrix for every worker, by EM.

    Args:
        n_iter: Largest number of iterations.
        tol: Tolerance of the iteration.
        initial_error_strategy: ``"addition"``: the counts of ``initial_error`` count as if they were in the data.
    """

    def __init__(self, n_iter: int = 100, tol: float = 1e-5, initial_error_strategy: Optional[str] = None) -> None:
        self.n_iter, self.tol, self.initial_error_strategy = n_iter, tol, initial_error_strategy

    def fit(self, data: Any, true_labels: Any = None, initial_error: Any = None) -> DawidSkene:
        """Learns from labels; ``true_labels`` is a series of known labels indexed by task, ``initial_error`` a frame of
        counts indexed by worker and label with a column for every true label."""
        check_columns(data)
        if data.empty:
            self._learn(**nothing("labels_", "probas_", "priors_", "errors_", "loss_history_"))
            return self
        options: Dict[str, Any] = {"gold": true_labels}
        if initial_error is not None and self.initial_error_strategy is not None:
            _check_history(initial_error, self.initial_error_strategy)
            options["knowledge"] = {"worker_prior": _history(initial_error)}
        if self.n_iter == 0:
            self._learn_start(data, true_labels)
        else:
            fitted = self._estimator().fit(data, **options)
            self._learn_fit(data, fitted)
            self._learn(priors_=fitted.priors_, errors_=fitted.errors_)
        return self

    def _estimator(self) -> Estimator:
        return methods.DawidSkene(max_iter=self.n_iter, tol=self.tol)

    def _learn_start(self, data: Any, true_labels: Any) -> None:
        """Where the iteration starts: shares of the votes, and what follows from them."""
        probas = weighted_votes(data)
        if true_labels is not None:
            known = true_labels[true_labels.index.isin(probas.index)]
            probas.loc[known.index] = 0.0
            for task, label in known.items():
                probas.loc[task, label] = 1.0
        counts = data.join(probas, on="task").drop(columns=["task"]).groupby(["worker", "label"], sort=False).sum()
        self._learn_labels(probas)
        errors = counts / counts.groupby("worker", sort=False).transform("sum")
        self._learn(priors_=probas.mean().rename("prior"), errors_=errors.fillna(0.0), loss_history_=[])

    def fit_predict(self, data: Any, true_labels: Any = None, initial_error: Any = None) -> Any:
        """The label of every task, a series ``agg_label`` indexed by task."""
        return self.fit(data, true_labels, initial_error).labels_

    def fit_predict_proba(self, data: Any, true_labels: Any = None, initial_error: Any = None) -> Any:
        """The probability of every label for every task, a frame indexed by task."""
        return self.fit(data, true_labels, initial_error).probas_


def _check_history(initial_error: Any, strategy: str) -> None:
    if strategy == "assign":
        raise NotApplicableError(
            "initial_error_strategy: found 'assign', which starts from these matrices and forgets them; expected 'addition', "
            "with counts of answers that stay in every step"
        )
    if strategy != "addition":
        raise ParameterError(f"initial_error_strategy: found {strategy!r}, expected 'addition' or None")
    if list(initial_error.index.names) != ["worker", "label"]:
        raise InputError(f"initial_error: found the index {list(initial_error.index.names)}, expected ['worker', 'label']")


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


class OneCoinDawidSkene(_Probabilistic):
    """Dawid-Skene with one number for every worker: the probability to be right.

    Args:
        n_iter: Largest number of iterations.
        tol: Tolerance of the iteration.
        initial_error_strategy: There as in crowd-kit, where it has no effect: only None is taken.
    """

    def __init__(self, n_iter: int = 100, tol: float = 1e-5, initial_error_strategy: Optional[str] = None) -> None:
        self.n_iter, self.tol, self.initial_error_strategy = n_iter, tol, initial_error_strategy

    def fit(self, data: Any) -> OneCoinDawidSkene:
        """Learns from labels."""
        check_columns(data)
        _refuse(self, "one-coin has no initial errors", initial_error_strategy=None)
        if data.empty:
            self._learn(**nothing("labels_", "probas_", "priors_", "errors_", "skills_", "loss_history_"))
            return self
        fitted = methods.OneCoin(max_iter=max(self.n_iter, 1), tol=self.tol).fit(data)
        self._learn_fit(data, fitted)
        self._learn(priors_=fitted.priors_, errors_=fitted.errors_, skills_=_ordered(fitted.skills_, data["worker"]))
        return self


class GLAD(_Probabilistic):
    """GLAD: the ability of every worker and the difficulty of every task.

    Args:
        n_iter: Largest number of iterations.
        tol: Tolerance of the iteration.
        silent: Without it, a progress bar is shown.
        labels_priors, alphas_priors_mean, betas_priors_mean: Labels are equally probable before, abilities and easiness
            are around 1: only crowd-kit's defaults are taken.
        m_step_max_iter: Largest number of Newton turns in an M-step.
        m_step_tol: A turn has no tolerance here: only crowd-kit's default is taken.
    """

    def __init__(
        self,
        n_iter: int = 100,
        tol: float = 1e-5,
        silent: bool = True,
        labels_priors: Any = None,
        alphas_priors_mean: Any = None,
        betas_priors_mean: Any = None,
        m_step_max_iter: int = 25,
        m_step_tol: float = 1e-2,
    ) -> None:
        self.n_iter, self.tol, self.silent = n_iter, tol, silent
        self.labels_priors, self.alphas_priors_mean, self.betas_priors_mean = labels_priors, alphas_priors_mean, betas_priors_mean
        self.m_step_max_iter, self.m_step_tol = m_step_max_iter, m_step_tol

    def fit(self, data: Any) -> GLAD:
        """Learns from labels."""
        check_columns(data)
        _refuse(self, "labels are equally probable before, abilities and easiness are around 1",
                labels_priors=None, alphas_priors_mean=None, betas_priors_mean=None)
        _refuse(self, "m_step_max_iter ends a step", m_step_tol=1e-2)
        if data.empty:
            self._learn(**nothing("labels_", "probas_", "alphas_", "betas_", "loss_history_"))
            return self
        method = methods.GLAD(max_iter=max(self.n_iter, 1), tol=self.tol, m_steps=self.m_step_max_iter)
        fitted = method.fit(data, progress=not self.silent)
        self._learn_fit(data, fitted)
        self._learn(labels_=self.labels_.sort_index(), probas_=self.probas_.sort_index())
        alphas = _ordered(fitted.skills_, data["worker"]).rename("alpha")
        self._learn(alphas_=alphas, betas_=_easiness(data, alphas, self.probas_))
        return self


def _easiness(data: Any, alphas: Any, probas: Any) -> Any:
    """The logarithm of every task's easiness: where the M-step of GLAD has its maximum, given abilities and labels."""
    numpy = _needed("numpy", "GLAD")
    pandas = _needed("pandas", "GLAD")
    tasks, names = pandas.factorize(data["task"])
    ability = data["worker"].map(alphas).to_numpy()
    right = probas.to_numpy()[probas.index.get_indexer(data["task"]), probas.columns.get_indexer(data["label"])]
    easiness = numpy.ones(len(names))
    for _ in range(50):
        score = ability * numpy.exp(easiness[tasks])
        chance = 1 / (1 + numpy.exp(-score))
        slope = numpy.bincount(tasks, (right - chance) * score) - (easiness - 1)
        step = slope / (numpy.bincount(tasks, chance * (1 - chance) * score**2) + 1)
        easiness = easiness + numpy.clip(step, -1, 1)
        if numpy.abs(step).max() < 1e-10:
            break
    return pandas.Series(easiness, pandas.Index(names, name="task"), name="beta")


class MMSR(BaseClassificationAggregator):
    """Matrix mean-subsequence-reduced: skills from a robust factorisation of agreements.

    Args:
        n_iter: Largest number of iterations.
        tol: Tolerance of the iteration.
        random_state: Seed.
    """

    def __init__(self, n_iter: int = 10000, tol: float = 1e-10, random_state: Optional[int] = 0) -> None:
        self.n_iter, self.tol, self.random_state = n_iter, tol, random_state

    def fit(self, data: Any) -> MMSR:
        """Learns from labels."""
        check_columns(data)
        if data.empty:
            self._learn(**nothing("labels_", "scores_", "skills_", "loss_history_"))
            return self
        fitted = methods.MMSR(max_iter=self.n_iter, tol=self.tol, random_state=self.random_state or 0).fit(data)
        labels, scores = fitted.labels_.sort_index(), fitted.probas_.sort_index()
        skills = _ordered(fitted.skills_, data["worker"])
        self._learn(labels_=labels, scores_=scores, skills_=skills, loss_history_=fitted.loss_history_)
        return self

    def fit_predict_score(self, data: Any) -> Any:
        """The score of every label for every task, a frame indexed by task."""
        return self.fit(data).scores_


class MACE(_Probabilistic):
    """MACE: which workers guess, and what they guess.

    Args:
        n_restarts: Number of starts.
        n_iter: Largest number of iterations of each.
        method: ``"vb"`` (variational) or ``"em"``.
        smoothing: Pseudo-count of ``"em"``.
        default_noise: Spread of the random starts: only crowd-kit's default is taken.
        alpha, beta: Pseudo-counts of knowing and guessing: only crowd-kit's defaults are taken.
        random_state: Seed.
        verbose: Above 0, a progress bar is shown.
    """

    def __init__(
        self,
        n_restarts: int = 10,
        n_iter: int = 50,
        method: str = "vb",
        smoothing: float = 0.1,
        default_noise: float = 0.5,
        alpha: float = 0.5,
        beta: float = 0.5,
        random_state: int = 0,
        verbose: int = 0,
    ) -> None:
        self.n_restarts, self.n_iter, self.method = n_restarts, n_iter, method
        self.smoothing, self.default_noise, self.alpha, self.beta = smoothing, default_noise, alpha, beta
        self.random_state, self.verbose = random_state, verbose

    def fit(self, data: Any) -> MACE:
        """Learns from labels."""
        check_columns(data)
        _refuse(self, "starts are drawn and priors are set as in crowd-kit's defaults",
                default_noise=0.5, alpha=0.5, beta=0.5)
        if self.method not in ("vb", "em"):
            raise ParameterError(f"method: found {self.method!r}, expected 'vb' or 'em'")
        if data.empty:
            self._learn(**nothing("labels_", "probas_", "loss_history_"))
            return self
        method = methods.MACE(restarts=self.n_restarts, max_iter=self.n_iter, random_state=self.random_state)
        if self.method == "em":
            method.set_params(update="em", smoothing=self.smoothing)
        fitted = method.fit(data, progress=self.verbose > 0)
        self._learn_fit(data, fitted)
        self._learn_guessing(data, fitted.errors_)
        return self

    def _learn_guessing(self, data: Any, errors: Any) -> None:
        """A guess of worker ``w`` is ``a`` with probability ``xi_a``: off the diagonal of the confusion matrix stands the
        probability of guessing times ``xi_a``. Workers and labels in the order of their first row."""
        numpy = _needed("numpy", "MACE")
        labels = data["label"].unique()
        thetas, spamming = [], []
        for worker in data["worker"].unique():
            own = errors.loc[worker].loc[labels, labels].to_numpy()
            apart = own + numpy.diag(numpy.full(len(labels), numpy.nan))
            guesses = numpy.nanmean(apart, axis=1) if len(labels) > 1 else numpy.ones(1)
            share = guesses.sum()
            thetas.append(guesses / share if share > 0 else numpy.full(len(labels), 1 / len(labels)))
            spamming.append([share, 1 - share])
        self._learn(thetas_=numpy.array(thetas), spamming_=numpy.array(spamming))


class KOS(BaseClassificationAggregator):
    """Karger, Oh and Shah: belief propagation for two classes.

    Args:
        n_iter: Number of rounds.
        random_state: Seed.
    """

    def __init__(self, n_iter: int = 100, random_state: int = 0) -> None:
        self.n_iter, self.random_state = n_iter, random_state

    def fit(self, data: Any) -> KOS:
        """Learns from labels."""
        check_columns(data)
        if data.empty:
            self._learn(**nothing("labels_"))
            return self
        if data["label"].nunique() != 2:
            raise NotApplicableError(f"KOS: found {data['label'].nunique()} labels, expected two")
        fitted = methods.KOS(rounds=max(self.n_iter, 1), start="normal", random_state=self.random_state).fit(data)
        self._learn(labels_=fitted.labels_.sort_index())
        return self
