"""From labels to the label of every task: the one function most people need."""

from __future__ import annotations

import os
import warnings
from typing import Any, ContextManager, Mapping, Optional, Sequence, Union

from . import _quorate
from ._fit_facts import FitFacts
from ._input import Columns
from ._labels import read_as
from ._model import Model
from ._options import (
    MISSING,
    Fitting,
    Knowledge,
    Prior,
    Reading,
    native_fitting,
    native_knowledge,
    running,
    side_table,
)
from ._progress import Progress, Reporter
from ._result import Result
from .errors import ConvergenceWarning, DataWarning

__all__ = ["aggregate"]


def aggregate(
    data: Any,
    method: str = "auto",
    *,
    parameters: Optional[Mapping[str, Any]] = None,
    gold: Any = None,
    prior: Optional[Prior] = None,
    prior_weight: Optional[float] = None,
    worker_prior: Union[Model, Result, str, "os.PathLike[str]", None] = None,
    worker_prior_weight: float = 1.0,
    features: Any = None,
    feature_tasks: Optional[Sequence[Any]] = None,
    class_probabilities: Any = None,
    update: Union[str, "os.PathLike[str]", None] = None,
    calibrate: bool = False,
    columns: Optional[Columns] = None,
    classes: Optional[Sequence[Any]] = None,
    duplicates: str = "last",
    missing: Sequence[str] = MISSING,
    normalize: bool = False,
    keep_workers: Optional[Sequence[Any]] = None,
    wide: bool = False,
    format: Optional[str] = None,
    question: Optional[str] = None,
    use_gold: bool = False,
    seed: int = 0,
    threads: int = 0,
    memory: float = 4.0,
    progress: Progress = None,
    **further_parameters: Any,
) -> Result:
    """Works out the label of every task from a table of who answered what.

    The same data, method and seed give the same result for any number of threads, to the last digit, and it is
    that of the program ``quorate aggregate``.

    Args:
        data: The labels: a frame, a path, rows of (task, worker, label), a dict of columns; see
            :func:`quorate.read`.
        method: Name of the method; :func:`quorate.list_methods` lists them.
        parameters: Parameters of the method by name, with ``_`` for ``-``; the docs of its class list them.
        gold: Tasks whose truth is known, as a dict or as a table with columns ``task, label``: fixed in every
            step, and workers are learnt from them.
        prior: Shares of the classes, ``{"spam": 0.1, "ham": 0.9}`` or ``"uniform"``; held fixed unless
            ``prior_weight`` is given.
        prior_weight: Let the data correct ``prior``: it counts as much as this many tasks.
        worker_prior: A model of earlier labels: what it rests on counts as if those labels were here, too.
        worker_prior_weight: Weight of an earlier label beside a new one.
        features: Numbers that describe the tasks, for methods that learn from them: a table with a column
            ``task``, or an array with a row for each task (see ``feature_tasks``).
        feature_tasks: The task of each row of an array of features; without it row i belongs to task i.
        class_probabilities: Probabilities from a classifier, for methods that use them: columns ``task`` and
            ``p:CLASS``.
        update: A model file that was saved with ``keep_labels=True``: the new labels are folded into it.
        calibrate: Lower the confidence to what it is worth if some tasks mislead many workers at once. ``auto``
            allows for it by itself.
        columns, classes, duplicates, missing, normalize, keep_workers, wide, format, question, use_gold: How to read
            the labels; see :func:`quorate.read`.
        seed: Seed of everything random.
        threads: Number of threads; 0 takes all. The result does not depend on it.
        memory: Refuse what would need more memory than this, in GiB.
        progress: See :data:`quorate.Progress`.
        **further_parameters: Parameters of the method, too, for those whose names are not taken above.

    >>> import quorate
    >>> result = quorate.aggregate([
    ...     ("t1", "ann", "cat"), ("t1", "bob", "cat"), ("t1", "cem", "dog"),
    ...     ("t2", "ann", "dog"), ("t2", "bob", "dog"), ("t2", "cem", "dog"),
    ... ], "dawid-skene", max_iter=50)
    >>> result.labels["label"]
    ['cat', 'dog']
    """
    reading = Reading(
        columns, classes, duplicates, missing, normalize, keep_workers, wide, format, question, use_gold
    )
    knowledge = Knowledge(
        gold, prior, prior_weight, worker_prior, worker_prior_weight, features, feature_tasks, class_probabilities
    )
    fitting = Fitting({**(parameters or {}), **further_parameters}, update, calibrate, memory)
    labels = read_as(data, reading, threads, progress)
    with _folder_for(features) as folder, Reporter(progress) as report:
        fitted = _quorate.fit(
            labels._native,
            native_knowledge(knowledge, features_of(features, folder)),
            native_fitting(method, fitting),
            running(seed, threads, memory, report),
        )
    result = Result(fitted, labels._kind)
    warn_of(result, len(labels._native.warnings))
    return result


def _folder_for(features: Any) -> ContextManager[Optional[str]]:
    """A folder for an array of features; nothing for what is none."""
    if not _is_array(features):
        return _Nothing()
    # Not above: it takes longer to import than all of this package.
    import tempfile

    return tempfile.TemporaryDirectory()


class _Nothing(ContextManager[None]):
    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


def warn_of(result: FitFacts, already: int) -> None:
    """Python warnings for what a fit warns of, but for the first ones, which were given already."""
    for warning in result.warnings[already:]:
        warnings.warn(warning, DataWarning, stacklevel=3)
    if not result.converged:
        warnings.warn(
            f"{result.method} did not converge in {result.iterations} iterations; more may change a few labels",
            ConvergenceWarning,
            stacklevel=3,
        )


def _is_array(features: Any) -> bool:
    return hasattr(features, "__array__") and hasattr(features, "ndim") and not hasattr(features, "columns")


def features_of(features: Any, folder: Optional[str]) -> Optional[_quorate.Data]:
    """Features: a table, a file, or an array, which goes through a file of NumPy's own format."""
    if folder is None:
        return side_table(features, "features")
    import numpy  # type: ignore[import-not-found, unused-ignore]

    path = os.path.join(folder, "features.npy")
    numpy.save(path, numpy.ascontiguousarray(features, dtype="float32"))
    return _quorate.Data.path(path)
