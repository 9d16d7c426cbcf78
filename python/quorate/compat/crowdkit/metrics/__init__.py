"""crowd-kit's metrics: of answers (``data``) and of workers (``workers``, once ``performers``)."""

from quorate.compat.crowdkit.metrics import data, performers, workers

__all__ = ["data", "performers", "workers"]
