"""Panels of judges, language models above all: verdicts, strictness, dependence, pass rate."""

import json
import warnings
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import _quorate
from ._input import ROLES, Columns, column_names, to_data, truths
from ._options import MISSING, Reading, as_text, native_reading, running
from ._fit_facts import EstimatedError
from ._progress import Progress, Reporter
from ._table import as_kind, kind_of
from .errors import DataWarning

__all__ = ["JudgeReport", "PanelFinding", "PanelReport", "Share", "judges"]


class Share(NamedTuple):
    """A share and its 95 % interval."""

    estimate: float
    """The estimate."""
    interval: Optional[Tuple[float, float]]
    """Its interval; None where it cannot be known."""


class PanelFinding(NamedTuple):
    """Something to know before the numbers."""

    kind: str
    """What it is, for programs: ``cannot-tell``, ``one-voice``, .."""
    sentence: str
    """What was found."""
    advice: Optional[str]
    """What to do, if something can be done."""


class JudgeReport(NamedTuple):
    """What a judge is like."""

    judge: str
    """Its name."""
    answers: int
    """Answers, repeated ones included."""
    failures: int
    """Rows without an answer."""
    items: int
    """Items with an answer that counts."""
    accuracy: Optional[Share]
    """Probability of the right answer; None where labels cannot tell."""
    recalls: Optional[Dict[str, Share]]
    """The same for items of each class: true positive and true negative rate where there are two."""
    strictness: Optional[str]
    """``"strict"``, ``"lenient"`` or ``"balanced"``, for two classes."""
    self_consistency: Optional[float]
    """How often two answers to the same item are the same; None if it was never asked twice."""
    agreement_with_panel: Optional[float]
    """Mean probability of its answers given the answers of the others."""
    agreement_with_gold: Optional[Share]
    """Share of its answers that are the known truth."""


def _share(document: Optional[Dict[str, Any]]) -> Optional[Share]:
    if document is None:
        return None
    interval = document["interval_95"]
    return Share(document["estimate"], None if interval is None else (interval[0], interval[1]))


def _judge(document: Dict[str, Any]) -> JudgeReport:
    recalls, consistency = document["recalls"], document["self_consistency"]
    return JudgeReport(
        judge=document["judge"],
        answers=document["answers"],
        failures=document["failures"],
        items=document["items"],
        accuracy=_share(document["accuracy"]),
        recalls=None if recalls is None else {name: Share(*_pair(cell)) for name, cell in recalls.items()},
        strictness=document["strictness"],
        self_consistency=None if consistency is None else consistency["agreement"],
        agreement_with_panel=document["agreement_with_panel"],
        agreement_with_gold=_share(document["agreement_with_gold"]),
    )


def _pair(cell: Dict[str, Any]) -> Tuple[float, Tuple[float, float]]:
    low, high = cell["interval_95"]
    return cell["estimate"], (low, high)


class PanelReport:
    """What a panel says, and what to think of it. ``to_dict`` has all numbers."""

    verdicts: Any
    """The verdict on every item, with a confidence: a frame of the kind that came in, else a :class:`quorate.Table`."""
    pass_rate: Share
    """Share of the positive class, corrected for the errors of the verdicts where that is possible."""
    positive: str
    """The positive class."""
    judges: List[JudgeReport]
    """Every judge."""
    effective_judges: float
    """Number of independent judges that the panel is worth."""
    groups: List[List[str]]
    """Judges who err together and count as one voice."""
    estimated_error: EstimatedError
    """Expected share of wrong verdicts."""
    agreement_with_gold: Optional[Share]
    """Share of verdicts, as if no truth were known, that are the known truth."""
    unscored: int
    """Items without a verdict."""
    findings: List[PanelFinding]
    """What to know before the numbers."""

    def __init__(self, verdicts: Any, document: Dict[str, Any]) -> None:
        self._document = document
        self.verdicts = verdicts
        rate = _share(document["pass_rate"])
        assert rate is not None
        self.pass_rate = rate
        self.positive = document["positive"]
        self.judges = [_judge(judge) for judge in document["judges"]]
        self.effective_judges = document["dependence"]["effective_judges"]
        self.groups = document["dependence"]["groups"]
        self.estimated_error = EstimatedError(**document["estimated_error"])
        self.agreement_with_gold = _share(document["agreement_with_gold"])
        self.unscored = document["unscored"]
        self.findings = [PanelFinding(**found) for found in document["findings"]]

    def to_dict(self) -> Dict[str, Any]:
        """All numbers, as ``quorate judges --json`` prints them."""
        return self._document

    def __repr__(self) -> str:
        interval = self.pass_rate.interval
        within = "" if interval is None else f" ({100 * interval[0]:.1f} to {100 * interval[1]:.1f})"
        head = (
            f"<quorate.PanelReport: {self._document['items']} items, {len(self.judges)} judges worth "
            f"{self.effective_judges:.1f} independent ones, {self.positive} {100 * self.pass_rate.estimate:.1f} %{within}>"
        )
        return "\n".join([head, *(found.sentence for found in self.findings)])


def judges(
    data: Any,
    *,
    gold: Any = None,
    positive: Any = None,
    policy: str = "model",
    unscored: str = "keep",
    quorum: int = 1,
    columns: Optional[Columns] = None,
    classes: Optional[Sequence[Any]] = None,
    missing: Sequence[str] = MISSING,
    seed: int = 0,
    threads: int = 0,
    memory: float = 4.0,
    progress: Progress = None,
) -> PanelReport:
    """Reports on a panel of judges: verdicts, strictness, dependence, pass rate.

    Judges who err together count as one voice. Where labels cannot tell whether judges agree because they are right or
    because they copy, a finding says so; some fifty items checked by hand (``gold``) settle it.

    Args:
        data: The judgements, rows of (task, worker, label); see :func:`quorate.read`. A row without a label is a failure
            of the judge. Every row counts: several rows of a judge about an item are repeated prompts.
        gold: Items whose truth is known, drawn at random: a dict by item, or a table with columns ``task, label``.
        positive: The class whose share is the pass rate; without it ``pass``, ``yes``, ``true``, .., else the last class.
        policy: How a verdict is reached: ``"model"``, ``"majority"`` or ``"strict-majority"`` (more than half of the judges
            who were asked, failures included).
        unscored: What an item without a verdict counts for: ``"keep"`` (in the denominator), ``"fail"`` (of the other
            class) or ``"leave-out"``.
        quorum: Judges who must have answered for a verdict.
        columns: Names of the columns by role, where they are not ``task``, ``worker`` and ``label``.
        classes: The only classes allowed, in order.
        missing: Labels that mean "no answer", besides None, NaN and the empty one.
        seed: Seed of everything random.
        threads: Number of threads; 0 takes all.
        memory: Refuse what would need more memory than this, in GiB.
        progress: See :data:`quorate.Progress`.

    >>> import quorate
    >>> answers = {"q1": "pass", "q2": "fail", "q3": "pass", "q4": "pass"}
    >>> rows = [(item, judge, answer) for item, answer in answers.items() for judge in ("a", "b", "c")]
    >>> report = quorate.judges([*rows, ("q5", "a", None)])
    >>> report.verdicts["label"]
    ['pass', 'fail', 'pass', 'pass', None]
    >>> report.judges[0].failures, report.unscored
    (1, 1)
    """
    reading = Reading(columns, classes, missing=missing)
    source = to_data(data, "data", ROLES, column_names(columns))
    judging = {
        "gold": truths(gold, "gold"),
        "policy": policy,
        "unscored": unscored,
        "quorum": quorum,
        "positive": None if positive is None else as_text(positive),
    }
    with Reporter(progress) as report:
        table, document, told = _quorate.judges(
            source, judging, native_reading(reading), running(seed, threads, memory, report)
        )
    for words in told:
        warnings.warn(words, DataWarning, stacklevel=2)
    return PanelReport(as_kind(table, kind_of(data)), json.loads(document))
