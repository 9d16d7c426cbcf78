"""What every fit says of itself, wherever the data are."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Union

from . import _quorate


class EstimatedError(NamedTuple):
    """How many labels are wrong: an estimate, and the range that holds the true share with probability ``level``."""

    value: float
    """The estimate."""
    low: Optional[float]
    """Lower end of the range; None where no range was found to hold."""
    high: Optional[float]
    """Upper end of the range."""
    level: Optional[float]
    """Probability that the range holds the true share."""
    known_truths: int
    """Known truths that the estimate rests on; 0 where it rests on the confidence."""

    def __str__(self) -> str:
        words = f"{100 * self.value:.1f} %"
        if self.low is None or self.high is None or self.level is None:
            return words + " by the method's own confidence; no range was found to hold"
        words += f" ({100 * self.level:.0f} % range: {100 * self.low:.1f} to {100 * self.high:.1f} %"
        return words + (f", by {self.known_truths} known truths)" if self.known_truths else ")")


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
