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

One function, :func:`aggregate`, is what most people need; :mod:`quorate.methods` has a class for each method,
with ``fit`` and ``predict``. Nothing but Python is required; frames of pandas, polars, pyarrow, duckdb and narwhals
are taken without a copy and given back in kind.
"""

from __future__ import annotations

from . import errors, methods
from ._aggregate import aggregate
from ._checks import Agreement, Coefficient, Evaluation, Finding, Inspection, agreement, evaluate, inspect
from ._compare import ComparedMethod, Comparison, compare
from ._convert import convert
from ._input import from_matrix
from ._judges import JudgeReport, PanelFinding, PanelReport, Share, judges
from ._labels import FORMATS, Labels, read
from ._model import Model
from ._plan import Dispatch, ErrorEstimate, Plan, Replay, ReplayedStrategy
from ._progress import Progress
from ._quorate import __version__
from ._result import Result
from ._simulate import Crowd, simulate
from ._table import Table
from .errors import ConvergenceWarning, DataWarning, InputError, QuorateError, QuorateWarning
from .methods import *  # noqa: F403

__all__ = [
    "Agreement",
    "Coefficient",
    "ComparedMethod",
    "Comparison",
    "ConvergenceWarning",
    "Crowd",
    "DataWarning",
    "Dispatch",
    "ErrorEstimate",
    "Evaluation",
    "FORMATS",
    "Finding",
    "InputError",
    "Inspection",
    "JudgeReport",
    "Labels",
    "Model",
    "PanelFinding",
    "PanelReport",
    "Plan",
    "Progress",
    "QuorateError",
    "QuorateWarning",
    "Replay",
    "ReplayedStrategy",
    "Result",
    "Share",
    "Table",
    "__version__",
    "aggregate",
    "agreement",
    "compare",
    "convert",
    "errors",
    "evaluate",
    "from_matrix",
    "inspect",
    "judges",
    "methods",
    "read",
    "simulate",
    *methods.__all__,
]
