"""Simulated crowds with known truth."""

from typing import List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _quorate
from ._labels import Labels
from ._model import Model
from ._table import Table
from .errors import ParameterError

__all__ = ["Crowd", "simulate"]

Amount = Union[int, float]


class Crowd(NamedTuple):
    """A simulated crowd."""

    labels: Labels
    """Who answered what; :attr:`quorate.Labels.table` has the rows."""
    truth: Table
    """The truth: ``task, label``."""
    model: Model
    """The true prior and confusion matrices."""


def simulate(
    *,
    tasks: int = 1000,
    workers: int = 25,
    classes: int = 3,
    prior: Union[str, Sequence[float]] = "uniform",
    density: float = 0.3,
    labels_per_task: Optional[int] = None,
    accuracy: Optional[Tuple[float, float]] = None,
    experts: Amount = 1,
    specialists: Amount = 0,
    epsilon: float = 0.1,
    spammers: Amount = 0,
    constant_spammers: Amount = 0,
    adversaries: Amount = 0,
    designated: int = 0,
    designated_density: float = 0.8,
    missing_pairs: float = 0.0,
    skew: float = 0.0,
    seed: int = 0,
) -> Crowd:
    """Draws a crowd with known truth: the one that ``quorate simulate`` draws with the same settings.

    Args:
        tasks: Number of tasks.
        workers: Number of workers.
        classes: Number of classes.
        prior: Class prior: ``"uniform"``, ``"dirichlet"`` (random) or the probabilities.
        density: Each worker labels a task with this probability.
        labels_per_task: Each task gets exactly this many labels, instead of ``density``.
        accuracy: Accuracy of ordinary workers, drawn between these two; without it confusion matrices are random.
        experts: Workers that are nearly always right; a whole number, or a share below 1 as a float.
        specialists: Workers that know one class and guess the others.
        epsilon: How near to perfect experts and specialists are.
        spammers: Workers that answer at random.
        constant_spammers: Workers that always give the same answer.
        adversaries: Workers that are systematically wrong.
        designated: Designated workers, who label a large part of the tasks.
        designated_density: Share of the tasks that a designated worker labels.
        missing_pairs: Share of the pairs of workers that have no task in common.
        skew: Skew of the workers' activity: the r-th busiest gives r^-skew as many labels as the first.
        seed: Seed; the same settings and seed give the same crowd.

    >>> import quorate
    >>> crowd = quorate.simulate(tasks=100, workers=8, labels_per_task=3)
    >>> crowd.labels
    <quorate.Labels: 300 labels of 8 workers on 100 tasks, 3 classes>
    """
    shares: Optional[List[float]]
    if isinstance(prior, str):
        known = {"uniform": None, "dirichlet": []}  # type: ignore[var-annotated]
        if prior not in known:
            raise ParameterError(f'prior: found {prior!r}, expected "uniform", "dirichlet" or probabilities')
        shares = known[prior]
    else:
        shares = [float(share) for share in prior]
    labels, truth, model = _quorate.simulate(
        {
            "tasks": tasks,
            "workers": workers,
            "classes": classes,
            "prior": shares,
            "density": density,
            "labels_per_task": labels_per_task,
            "accuracy": accuracy,
            "experts": experts,
            "specialists": specialists,
            "epsilon": epsilon,
            "spammers": spammers,
            "constant_spammers": constant_spammers,
            "adversaries": adversaries,
            "designated": designated,
            "designated_density": designated_density,
            "missing_pairs": missing_pairs,
            "skew": skew,
            "seed": seed,
        }
    )
    return Crowd(Labels(labels, "table"), Table(truth), Model(model))
