"""crowd-kit's interface: change the import, and the code runs.

``from crowdkit.aggregation import DawidSkene`` becomes ``from quorate.compat.crowdkit.aggregation import DawidSkene``, and
so for ``metrics``, ``postprocessing`` and ``datasets``; aggregators can be imported from ``quorate.compat.crowdkit`` itself,
too. For code that cannot be changed:

>>> import sys
>>> import quorate.compat.crowdkit
>>> sys.modules["crowdkit"] = quorate.compat.crowdkit
>>> from crowdkit.aggregation import MajorityVote

Class names, parameters, column names, and shapes and index of results are those of crowd-kit; the fits are ours. Arguments
that have no counterpart are refused, unless they have crowd-kit's defaults.
"""

from quorate.compat.crowdkit import aggregation, datasets, metrics, postprocessing
from quorate.compat.crowdkit.aggregation import *  # noqa: F403

__all__ = ["aggregation", "datasets", "metrics", "postprocessing", *aggregation.__all__]
