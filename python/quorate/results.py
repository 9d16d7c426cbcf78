"""Rankings, and the parts of results: what plans, checks, comparisons and panels are made of."""

from ._checks import Coefficient, Finding
from ._compare import ComparedMethod
from ._judges import JudgeReport, PanelFinding, Share
from ._plan import ErrorEstimate, ReplayedStrategy
from ._rank import RankResult, RankResults

__all__ = [
    "Coefficient",
    "ComparedMethod",
    "ErrorEstimate",
    "Finding",
    "JudgeReport",
    "PanelFinding",
    "RankResult",
    "RankResults",
    "ReplayedStrategy",
    "Share",
]
