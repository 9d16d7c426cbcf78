"""From labels to the label of every task: the one function most people need."""

from __future__ import annotations

import os
import warnings
from typing import Any, ContextManager, Mapping, Optional, Sequence, Union

from . import _quorate
from ._fit_facts import FitFacts
from ._input import Columns
from ._labels import read_as
from ._options import (
    MOVED,
    Fitting,
    Knowledge,
    Reading,
    native_fitting,
    native_knowledge,
    options_of,
    running,
    side_table,
    with_parameters,
)
from ._progress import Progress, Reporter
from ._result import Result
from .errors import ConvergenceWarning, DataWarning

__all__ = ["aggregate"]


def aggregate(
    data: Any,
    method: str = "auto",
    *,
    gold: Any = None,
    columns: Optional[Columns] = None,
    classes: Optional[Sequence[Any]] = None,
    seed: int = 0,
    threads: int = 0,
    progress: Progress = None,
    knowledge: Union[Knowledge, Mapping[str, Any], None] = None,
    reading: Union[Reading, Mapping[str, Any], None] = None,
    fitting: Union[Fitting, Mapping[str, Any], None] = None,
    **parameters: Any,
) -> Result:
    """Works out the label of every task from a table of who answered what.

    The same data, method and seed give the same result for any number of threads, to the last digit, and it is
    that of the program ``quorate aggregate``.

    Args:
        data: The labels: a frame, a path, rows of (task, worker, label), a dict of columns; see
            :func:`quorate.read`.
        method: Name of the method; :func:`quorate.list_methods` lists them.
        gold: Tasks whose truth is known, as a dict or as a table with columns ``task, label``: fixed in every
            step, and workers are learnt from them.
        columns: Names of the columns by role, where they are not ``task``, ``worker`` and ``label``.
        classes: The only classes allowed, in order; without it every label is a class.
        seed: Seed of everything random.
        threads: Number of threads; 0 takes all. The result does not depend on it.
        progress: See :data:`quorate.Progress`.
        knowledge: What else is known, a :class:`quorate.Knowledge` or a dict: shares of the classes, earlier work of
            the workers, features of the tasks, a classifier's probabilities.
        reading: How else to read the labels, a :class:`quorate.Reading` or a dict: repeated rows, missing answers, wide
            tables, exports of annotation tools.
        fitting: How else to fit, a :class:`quorate.Fitting` or a dict: a model that is brought up to date, calibrated
            confidence, memory.
        **parameters: Parameters of the method, with ``_`` for ``-``; the docs of its class list them.

    >>> import quorate
    >>> result = quorate.aggregate([
    ...     ("t1", "ann", "cat"), ("t1", "bob", "cat"), ("t1", "cem", "dog"),
    ...     ("t2", "ann", "dog"), ("t2", "bob", "dog"), ("t2", "cem", "dog"),
    ... ], "dawid-skene", max_iter=50)
    >>> result.labels["label"]
    ['cat', 'dog']
    """
    known = options_of(Knowledge, "knowledge", knowledge, gold=gold)
    how = options_of(Reading, "reading", reading, columns=columns, classes=classes)
    wanted = with_parameters(method, options_of(Fitting, "fitting", fitting), parameters, MOVED)
    labels = read_as(data, how, threads, progress)
    with _folder_for(known.features) as folder, Reporter(progress) as report:
        fitted = _quorate.fit(
            labels._native,
            native_knowledge(known, features_of(known.features, folder)),
            native_fitting(method, wanted),
            running(seed, threads, wanted.memory, report),
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
