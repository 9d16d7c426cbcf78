"""crowd-kit's interface: change the import, and the code runs.

``from crowdkit.aggregation import DawidSkene`` becomes ``from quorate.compat.crowdkit.aggregation import DawidSkene``; the
classes are importable from ``quorate.compat.crowdkit`` itself, too.
"""

from . import aggregation
from .aggregation import *  # noqa: F403

__all__ = ["aggregation", *aggregation.__all__]
