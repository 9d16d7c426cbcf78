"""The parts of results: what plans, checks, comparisons and panels are made of."""

from ._checks import Coefficient, Finding
from ._compare import ComparedMethod
from ._judges import JudgeReport, PanelFinding, Share
from ._plan import ErrorEstimate, ReplayedStrategy

__all__ = [
    "Coefficient",
    "ComparedMethod",
    "ErrorEstimate",
    "Finding",
    "JudgeReport",
    "PanelFinding",
    "ReplayedStrategy",
    "Share",
]
