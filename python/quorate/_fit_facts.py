"""What every fit says of itself, wherever the labels are."""

from __future__ import annotations

from typing import List, Union

from . import _quorate


class FitFacts:
    """Method, classes, and how the iteration went."""

    _native: Union[_quorate.Fitted, _quorate.ClusterFit]

    @property
    def method(self) -> str:
        """Name of the method."""
        return self._native.method

    @property
    def classes(self) -> List[str]:
        """The classes, in order."""
        return self._native.classes

    @property
    def iterations(self) -> int:
        """Iterations done."""
        return self._native.iterations

    @property
    def converged(self) -> bool:
        """Whether the iteration reached its tolerance."""
        return self._native.converged

    @property
    def trace(self) -> List[float]:
        """The objective before each iteration and at the end; empty for methods without one."""
        return self._native.trace
