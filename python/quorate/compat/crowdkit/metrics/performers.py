"""The name that ``workers`` had before crowd-kit 1.1."""

from quorate.compat.crowdkit.metrics.workers import accuracy_on_aggregates

__all__ = ["accuracy_on_aggregates"]
