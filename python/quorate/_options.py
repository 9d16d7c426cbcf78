"""What goes with labels: how to read them, what is known besides them, how to fit."""

import os
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Type, TypeVar, Union

from . import _quorate
from ._input import Columns, column_names, to_data, truths
from ._model import Model
from .errors import ParameterError

__all__ = ["Fitting", "Knowledge", "Reading"]

MISSING = ("NaN", "nan")

Path = Union[str, "os.PathLike[str]"]
Prior = Union[str, Mapping[Any, float]]


class Reading(NamedTuple):
    """How labels are read: ``reading=quorate.Reading(duplicates="first")``, or a dict with these keys."""

    columns: Optional[Columns] = None
    """Names of the columns by role, where they are not ``task``, ``worker`` and ``label``."""
    classes: Optional[Sequence[Any]] = None
    """The only classes allowed, in order; without it every label is a class."""
    duplicates: str = "last"
    """What counts when a worker labelled a task more than once: ``"last"``, ``"first"``, ``"keep"`` (every row) or
    ``"error"``."""
    missing: Sequence[str] = MISSING
    """Labels that mean "no answer", besides None, NaN and the empty one."""
    normalize: bool = False
    """Join classes that differ only in case and white space."""
    keep_workers: Optional[Sequence[Any]] = None
    """The only workers to use."""
    wide: bool = False
    """The table has a row for each task and a column for each worker."""
    format: Optional[str] = None
    """What a file is, where its content and name do not tell: one of :data:`quorate.FORMATS`."""
    question: Optional[str] = None
    """The question of an export, where it has several."""
    use_gold: bool = False
    """Fix the tasks whose truth is marked in an export, and learn the workers from them."""


class Knowledge(NamedTuple):
    """What is known besides the labels: ``knowledge=quorate.Knowledge(prior="uniform")``, or a dict with these keys."""

    gold: Any = None
    """Tasks whose truth is known, as a dict or as a table with columns ``task, label``: fixed in every step, and
    workers are learnt from them."""
    prior: Optional[Prior] = None
    """Shares of the classes, ``{"spam": 0.1, "ham": 0.9}`` or ``"uniform"``; held fixed unless ``prior_weight`` is
    given."""
    prior_weight: Optional[float] = None
    """Let the data correct ``prior``: it counts as much as this many tasks."""
    worker_prior: Any = None
    """A model of earlier labels, as a :class:`quorate.Model`, a :class:`quorate.Result` or a path: what it rests on counts
    as if those labels were here, too."""
    worker_prior_weight: float = 1.0
    """Weight of an earlier label beside a new one."""
    features: Any = None
    """Numbers that describe the tasks, for methods that learn from them: a table with a column ``task``, or an array
    with a row for each task (see ``feature_tasks``)."""
    feature_tasks: Optional[Sequence[Any]] = None
    """The task of each row of an array of features; without it row i belongs to task i."""
    class_probabilities: Any = None
    """Probabilities from a classifier, for methods that use them: columns ``task`` and ``p:CLASS``."""


class Fitting(NamedTuple):
    """How a method is fitted: ``fitting=quorate.Fitting(memory=16)``, or a dict with these keys."""

    parameters: Mapping[str, Any] = {}
    """Parameters of the method by name, for those whose names are arguments, too."""
    update: Optional[Path] = None
    """A model file that was saved with ``keep_labels=True``: the new labels are folded into it."""
    calibrate: bool = False
    """Lower the confidence to what it is worth if some tasks mislead many workers at once. ``auto`` allows for it by
    itself."""
    memory: float = 4.0
    """Refuse what would need more memory than this, in GiB."""


Options = TypeVar("Options")


def options_of(kind: Type[Options], name: str, given: Union[Options, Mapping[str, Any], None], **short: Any) -> Options:
    """Options that were given as an object or as a dict, with those that have an argument of their own."""
    fields: Sequence[str] = kind._fields  # type: ignore[attr-defined]
    options: Any = given if isinstance(given, kind) else None
    if options is None:
        entries: Mapping[str, Any] = given or {}  # type: ignore[assignment]
        unknown = [field for field in entries if field not in fields]
        if unknown:
            raise TypeError(f"{name}: found {unknown[0]!r}, expected {', '.join(fields)}")
        options = kind(**entries)
    for field, value in short.items():
        if value is not None:
            if getattr(options, field) is not None:
                raise TypeError(f"{field} is given twice: as an argument and in {name}")
            options = options._replace(**{field: value})
    return options  # type: ignore[no-any-return]


def with_parameters(
    method: str, fitting: Fitting, parameters: Mapping[str, Any], moved: Mapping[str, Sequence[str]]
) -> Fitting:
    """The fitting with further parameters of the method. ``moved``: fields of each group of options, which were
    arguments once; a parameter of such a name must not be taken for one."""
    for name in parameters:
        for group, fields in moved.items():
            if name in fields:
                own = f'; the parameter {name!r} of {method} goes to fitting={{"parameters": {{"{name}": ..}}}}'
                raise TypeError(
                    f'{name!r} is not an argument any more, but part of {group}: {group}={{"{name}": ..}}'
                    + (own if name in _parameter_names(method) else "")
                )
    return fitting._replace(parameters={**fitting.parameters, **parameters})


def _parameter_names(method: str) -> List[str]:
    found = _quorate.find_method(method)
    table = (entry for entry in _quorate.method_table() if entry["name"] == found)
    return [parameter["name"].replace("-", "_") for entry in table for parameter in entry["parameters"]]


MOVED: Dict[str, Sequence[str]] = {
    "knowledge": Knowledge._fields,
    "reading": Reading._fields,
    "fitting": Fitting._fields,
}
"""The groups of options of :func:`quorate.aggregate`."""


def as_text(value: Any) -> str:
    """An id or a class as the native half writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def texts(values: Optional[Sequence[Any]]) -> Optional[List[str]]:
    """Ids or classes as the native half writes them."""
    return None if values is None else [as_text(value) for value in values]


def running(seed: int = 0, threads: int = 0, memory: float = 4.0, progress: Any = None) -> Dict[str, Any]:
    """How work runs, for the native half."""
    return {"seed": seed, "threads": threads, "memory": memory, "progress": progress}


def native_reading(reading: Reading) -> Dict[str, Any]:
    """How labels are read, for the native half."""
    return {
        **reading._asdict(),
        "columns": column_names(reading.columns),
        "classes": texts(reading.classes),
        "missing": list(reading.missing),
        "keep_workers": texts(reading.keep_workers),
    }


def native_knowledge(knowledge: Knowledge, features: Optional[_quorate.Data] = None) -> Dict[str, Any]:
    """What is known, for the native half."""
    return {
        **knowledge._asdict(),
        "gold": truths(knowledge.gold, "gold"),
        "prior": prior_of(knowledge.prior),
        "worker_prior": model_of(knowledge.worker_prior),
        "features": features,
        "feature_tasks": texts(knowledge.feature_tasks),
        "class_probabilities": side_table(knowledge.class_probabilities, "class_probabilities"),
    }


def native_fitting(method: str, fitting: Fitting) -> Dict[str, Any]:
    """What is to be done, for the native half."""
    parameters = [
        (name.replace("_", "-"), as_text(value)) for name, value in fitting.parameters.items() if value is not None
    ]
    return {"method": method, "parameters": parameters, "update": fitting.update, "calibrate": fitting.calibrate}


def prior_of(prior: Optional[Prior]) -> Optional[List[Tuple[str, float]]]:
    """Shares by class; an empty list means equal shares."""
    if prior is None:
        return None
    if isinstance(prior, str):
        if prior != "uniform":
            raise ParameterError(f'prior: found {prior!r}, expected "uniform" or a dict such as {{"spam": 0.1, ..}}')
        return []
    return [(as_text(label), float(share)) for label, share in prior.items()]


def model_of(given: Any) -> Optional[_quorate.Model]:
    """A model, of a result or from a file."""
    if given is None:
        return None
    if isinstance(given, (str, os.PathLike)):
        return Model.load(given)._native
    model: Optional[Model] = given if isinstance(given, Model) else given.model
    if model is None:
        raise ParameterError(f"worker_prior: {given.method} does not estimate a model")
    return model._native


def side_table(given: Any, name: str) -> Optional[_quorate.Data]:
    """A table beside the labels, with named columns."""
    return None if given is None else to_data(given, name, ("task",), ("task",))
