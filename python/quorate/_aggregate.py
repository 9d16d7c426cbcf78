"""From labels to the label of every task: the one function most people need."""

from __future__ import annotations

import os
import warnings
from typing import Any, ContextManager, List, Mapping, Optional, Sequence, Tuple, Union

from . import _quorate
from ._input import Columns, truths, to_data
from ._labels import MISSING, Labels, as_text, read
from ._model import Model
from ._progress import Progress, Reporter
from ._result import Result
from .errors import ConvergenceWarning, DataWarning, ParameterError

__all__ = ["aggregate"]

Prior = Union[str, Mapping[Any, float]]


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
    labels = read(
        data,
        columns=columns,
        classes=classes,
        duplicates=duplicates,
        missing=missing,
        normalize=normalize,
        keep_workers=keep_workers,
        wide=wide,
        format=format,
        question=question,
        use_gold=use_gold,
        threads=threads,
        progress=progress,
    )
    with _folder_for(features) as folder, Reporter(progress) as report:
        fitted = _quorate.fit(
            labels._native,
            method=method,
            parameters=parameters_of({**(parameters or {}), **further_parameters}),
            gold=truths(gold, "gold"),
            prior=prior_of(prior),
            prior_weight=prior_weight,
            worker_prior=model_of(worker_prior),
            worker_prior_weight=worker_prior_weight,
            features=features_of(features, folder),
            feature_tasks=None if feature_tasks is None else [as_text(task) for task in feature_tasks],
            class_probabilities=side_table(class_probabilities, "class_probabilities"),
            update=update,
            calibrate=calibrate,
            seed=seed,
            threads=threads,
            memory=memory,
            progress=report,
        )
    warn_of(fitted, labels)
    return Result(fitted, labels)


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


def warn_of(fitted: _quorate.Fitted, labels: Labels) -> None:
    """Python warnings for what a fit warns of."""
    for warning in fitted.warnings[len(labels._native.warnings) :]:
        warnings.warn(warning, DataWarning, stacklevel=3)
    if not fitted.converged:
        warnings.warn(
            f"{fitted.method} did not converge in {fitted.iterations} iterations; more may change a few labels",
            ConvergenceWarning,
            stacklevel=3,
        )


def parameters_of(parameters: Mapping[str, Any]) -> List[Tuple[str, str]]:
    """Parameters of a method as text."""
    return [(name.replace("_", "-"), as_text(value)) for name, value in parameters.items() if value is not None]


def prior_of(prior: Optional[Prior]) -> Optional[List[Tuple[str, float]]]:
    """Shares by class; an empty list means equal shares."""
    if prior is None:
        return None
    if isinstance(prior, str):
        if prior != "uniform":
            raise ParameterError(f'prior: found {prior!r}, expected "uniform" or a dict such as {{"spam": 0.1, ..}}')
        return []
    return [(as_text(label), float(share)) for label, share in prior.items()]


def model_of(given: Union[Model, Result, str, "os.PathLike[str]", None]) -> Optional[_quorate.Model]:
    """A model, of a result or from a file."""
    if isinstance(given, Result):
        model = given.model
        if model is None:
            raise ParameterError(f"worker_prior: {given.method} does not estimate a model")
        given = model
    if given is None or isinstance(given, Model):
        return None if given is None else given._native
    return Model.load(given)._native


def side_table(given: Any, name: str) -> Optional[_quorate.Data]:
    """A table beside the labels, with named columns."""
    return None if given is None else to_data(given, name, ("task",), ("task",))


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
