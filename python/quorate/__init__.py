"""Turns many unreliable answers into labels you can trust.

From a table of who answered what on which task (crowd workers, experts, LLM judges), Quorate works out the true
label of every task with a confidence, and how each worker errs.

>>> import quorate
>>> result = quorate.aggregate([
...     ("t1", "ann", "cat"), ("t1", "bob", "cat"), ("t1", "cem", "dog"),
...     ("t2", "ann", "dog"), ("t2", "bob", "dog"), ("t2", "cem", "dog"),
... ])
>>> result.to_dict()
{'t1': 'cat', 't2': 'dog'}

One function, :func:`aggregate`, is what most people need; :func:`rank` makes a leaderboard from comparisons of two
items; :mod:`quorate.methods` has a class for each method. Nothing but Python is required; frames of pandas, polars,
pyarrow, duckdb and narwhals are taken without a copy and given back in kind.
"""

from __future__ import annotations

from typing import Any

from . import errors, methods, results
from ._aggregate import aggregate
from ._checks import Agreement, Evaluation, Inspection, agreement, evaluate, inspect
from ._compare import Comparison, compare
from ._convert import convert
from ._input import from_matrix
from ._judges import PanelReport, judges
from ._labels import FORMATS, Labels, read
from ._model import Model
from ._options import Fitting, Knowledge, Reading
from ._plan import Dispatch, Plan, Replay
from ._progress import Progress
from ._quorate import __version__
from ._rank import rank
from ._result import Result
from ._simulate import Crowd, simulate
from ._table import Table
from .errors import ConvergenceWarning, DataWarning, InputError, QuorateError, QuorateWarning
from .methods import find_method, list_methods

__all__ = [
    "Agreement",
    "Comparison",
    "ConvergenceWarning",
    "Crowd",
    "DataWarning",
    "Dispatch",
    "Evaluation",
    "FORMATS",
    "Fitting",
    "InputError",
    "Inspection",
    "Knowledge",
    "Labels",
    "Model",
    "PanelReport",
    "Plan",
    "Progress",
    "QuorateError",
    "QuorateWarning",
    "Reading",
    "Replay",
    "Result",
    "Table",
    "__version__",
    "aggregate",
    "agreement",
    "compare",
    "convert",
    "errors",
    "evaluate",
    "find_method",
    "from_matrix",
    "inspect",
    "judges",
    "list_methods",
    "methods",
    "rank",
    "read",
    "results",
    "simulate",
]


def __getattr__(name: str) -> Any:
    for module in (methods, results):
        if name in module.__all__:
            raise AttributeError(f"quorate.{name} is not there: it is {module.__name__}.{name}")
    raise AttributeError(f"module 'quorate' has no attribute {name!r}")
