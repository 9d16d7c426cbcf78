"""What every fit says of itself, wherever the data are."""

from __future__ import annotations

from typing import Any, Dict, List, Union

from . import _quorate


class FitFacts:
    """Method, how the iteration went, and what to beware of."""

    _facts: Dict[str, Any]

    def __init__(self, native: Union[_quorate.Fitted, _quorate.ClusterFit, _quorate.Ranking]) -> None:
        self._facts = native.facts()

    @property
    def method(self) -> str:
        """Name of the method."""
        return str(self._facts["method"])

    @property
    def iterations(self) -> int:
        """Iterations done."""
        return int(self._facts["iterations"])

    @property
    def converged(self) -> bool:
        """Whether the iteration reached its tolerance."""
        return bool(self._facts["converged"])

    @property
    def trace(self) -> List[float]:
        """The objective before each iteration and at the end; empty for methods without one."""
        return list(self._facts["trace"])

    @property
    def warnings(self) -> List[str]:
        """What to beware of in this result."""
        return list(self._facts["warnings"])

    @property
    def notes(self) -> List[str]:
        """Facts about the run that are worth knowing."""
        return list(self._facts["notes"])


class LabelFacts(FitFacts):
    """The same of a fit of labels."""

    @property
    def classes(self) -> List[str]:
        """The classes, in order."""
        return list(self._facts["classes"])
