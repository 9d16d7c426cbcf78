"""Checks: labels against the truth, workers against each other, and what a table can tell."""

import warnings
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import _quorate
from ._input import truths
from ._labels import read
from ._options import as_text, running
from ._progress import Progress, Reporter
from ._result import Result
from .errors import DataWarning

__all__ = ["Agreement", "Coefficient", "Evaluation", "Finding", "Inspection", "agreement", "evaluate", "inspect"]


class Evaluation:
    """Labels against the truth. Numbers are attributes; ``to_dict`` has all of them.

    >>> import quorate
    >>> evaluation = quorate.evaluate({"t1": "cat", "t2": "dog"}, {"t1": "cat", "t2": "cat"})
    >>> evaluation.error, evaluation.tasks_scored
    (0.5, 2)
    """

    tasks_scored: int
    """Tasks that have both a label and a truth."""
    tasks_without_truth: int
    """Tasks with a label but no truth."""
    truths_without_prediction: int
    """Tasks with a truth but no label."""
    tied: int
    """Tasks on which classes are tied."""
    error: float
    """Share of wrong labels."""
    error_interval_95: Tuple[float, float]
    """Its interval."""
    balanced_accuracy: float
    """Mean recall of the classes."""
    log_loss: Optional[float]
    """Mean negative logarithm of the probability of the truth; needs the probabilities of all classes."""
    brier: Optional[float]
    """Mean squared distance of probabilities and truth."""
    calibration_error: Optional[float]
    """Mean distance of confidence and accuracy; needs a confidence."""
    calibration: List[Dict[str, float]]
    """Confidence against accuracy, by bins of confidence."""
    classes: List[Dict[str, Any]]
    """Precision, recall and F1 of every class."""

    def __init__(self, document: Dict[str, Any]) -> None:
        self._document = document
        self.__dict__.update({name: value for name, value in document.items() if name != "error_interval_95"})
        low, high = document["error_interval_95"]
        self.error_interval_95 = (low, high)

    def to_dict(self) -> Dict[str, Any]:
        """All numbers, as ``quorate evaluate --json`` prints them."""
        return self._document

    def __repr__(self) -> str:
        low, high = self.error_interval_95
        return (
            f"<quorate.Evaluation: error {100 * self.error:.2f} % (95 % interval {100 * low:.2f} to "
            f"{100 * high:.2f} %) on {self.tasks_scored} tasks, balanced accuracy {100 * self.balanced_accuracy:.2f} %>"
        )


def evaluate(
    predicted: Any,
    truth: Any,
    *,
    ties: str = "lowest",
    bins: int = 10,
    except_tasks: Sequence[Any] = (),
    normalize: bool = False,
) -> Evaluation:
    """Compares labels with the known truth.

    Args:
        predicted: A :class:`quorate.Result`, or labels: a dict by task, or a table with columns ``task, label`` and,
            if there, ``confidence`` and ``p:CLASS``.
        truth: The true labels, in the same forms.
        ties: What a tie counts for: ``"lowest"``, the label that was given, or ``"fractional"``, a fair share.
        bins: Number of bins of the calibration table.
        except_tasks: Tasks to leave out, for example those that were given as gold.
        normalize: Classes of the two sides that differ only in case and white space are the same.
    """
    import json

    if isinstance(predicted, Result):
        predicted = _quorate.Data.stream(predicted._native.labels(True, False).__arrow_c_stream__(), "predicted")
    found, known = truths(predicted, "predicted"), truths(truth, "truth")
    assert found is not None and known is not None
    document, warning = _quorate.evaluate(
        found, known, except_tasks=[as_text(task) for task in except_tasks], ties=ties, bins=bins, normalize=normalize
    )
    if warning is not None:
        warnings.warn(warning, DataWarning, stacklevel=2)
    return Evaluation(json.loads(document))


class Finding(NamedTuple):
    """Something to look at."""

    kind: str
    """What it is, for programs: ``spammers``, ``few-labels``, .."""
    severity: str
    """``info``, ``warning`` or ``problem``."""
    sentence: str
    """What was found."""
    advice: str
    """What to do."""
    evidence: Dict[str, float]
    """The numbers behind it."""
    workers: List[str]
    """The workers that it is about."""
    classes: List[str]
    """The classes that it is about."""


class Coefficient(NamedTuple):
    """A coefficient of agreement."""

    value: Optional[float]
    """Its value; None where it is not defined."""
    interval: Optional[Tuple[float, float]]
    """Its 95 % interval over tasks."""
    undefined: Optional[str] = None
    """Why there is no value."""


class Agreement:
    """How far workers agree, beyond chance and not."""

    observed: Coefficient
    """Share of pairs of answers that agree."""
    fleiss_kappa: Coefficient
    """Fleiss' kappa."""
    alpha_nominal: Coefficient
    """Krippendorff's alpha for kinds."""
    alpha_ordinal: Coefficient
    """Krippendorff's alpha for grades in their order."""
    alpha_interval: Coefficient
    """Krippendorff's alpha for numbers."""
    gwet_ac1: Coefficient
    """Gwet's AC1."""
    mean_cohen_kappa: Optional[float]
    """Mean of Cohen's kappa over the pairs of workers who share enough tasks."""
    pairs: List[Dict[str, Any]]
    """The pairs of workers who share most tasks."""
    classes: List[Dict[str, Any]]
    """Agreement on every class."""

    def __init__(self, document: Dict[str, Any]) -> None:
        self._document = document
        for name in ("observed", "fleiss_kappa", "alpha_nominal", "alpha_ordinal", "alpha_interval", "gwet_ac1"):
            cell = document[name]
            interval = cell["interval_95"]
            found = Coefficient(cell["value"], tuple(interval) if interval else None, cell.get("undefined"))
            setattr(self, name, found)
        self.mean_cohen_kappa = document["mean_cohen_kappa"]
        self.pairs = document["pairs"]
        self.classes = document["classes"]

    def to_dict(self) -> Dict[str, Any]:
        """All numbers."""
        return self._document

    def __repr__(self) -> str:
        def shown(coefficient: Coefficient) -> str:
            return "undefined" if coefficient.value is None else f"{coefficient.value:.3f}"

        return (
            f"<quorate.Agreement: observed {shown(self.observed)}, alpha {shown(self.alpha_nominal)}, "
            f"Fleiss' kappa {shown(self.fleiss_kappa)}, AC1 {shown(self.gwet_ac1)}>"
        )


class Inspection:
    """What is in a table, how far workers agree, what can be known, and what to look at."""

    table: Dict[str, Any]
    """Sizes and density."""
    agreement: Agreement
    """How far workers agree."""
    connectivity: Dict[str, Any]
    """Which workers share tasks."""
    structure: Optional[Dict[str, Any]]
    """Workers one by one, groups that err together, classes that show; None for tables too small for it."""
    findings: List[Finding]
    """What to look at, the gravest first."""

    def __init__(self, document: Dict[str, Any]) -> None:
        self._document = document
        self.table = document["table"]
        self.agreement = Agreement(document["agreement"])
        self.connectivity = document["connectivity"]
        self.structure = document["structure"]
        self.findings = [Finding(**{name: found[name] for name in Finding._fields}) for found in document["findings"]]

    def to_dict(self) -> Dict[str, Any]:
        """Everything, as ``quorate inspect --json`` prints it."""
        return self._document

    def __repr__(self) -> str:
        head = (
            f"<quorate.Inspection: {self.table['labels']} labels of {self.table['workers']} workers on "
            f"{self.table['tasks']} tasks, {len(self.findings)} findings>"
        )
        return "\n".join([head, *(f"{found.severity}: {found.sentence}" for found in self.findings)])


def inspect(
    data: Any,
    *,
    replicates: int = 1000,
    min_shared: int = 10,
    false_alarms: float = 0.01,
    seed: int = 0,
    threads: int = 0,
    memory: float = 4.0,
    progress: Progress = None,
    **reading: Any,
) -> Inspection:
    """Says what is in a table, how far workers agree, what can be known and what to look at. No truth is needed.

    Args:
        data: The labels; see :func:`quorate.read`.
        replicates: Resampled tables behind the intervals; 0 for no intervals.
        min_shared: Tasks that two workers must share to be compared.
        false_alarms: Share of false alarms among the flagged workers, and among the flagged pairs.
        seed: Seed of everything random.
        threads: Number of threads; 0 takes all.
        memory: Refuse what would need more memory than this, in GiB.
        progress: See :data:`quorate.Progress`.
        **reading: How to read the labels: the arguments of :func:`quorate.read`.

    >>> import quorate
    >>> crowd = quorate.simulate(tasks=200, workers=10, accuracy=(0.7, 0.9), labels_per_task=5, spammers=1, seed=1)
    >>> worst = quorate.inspect(crowd.labels, replicates=0).findings[0]
    >>> worst.kind, worst.workers
    ('spammers', ['w7'])
    """
    import json

    labels = read(data, threads=threads, progress=progress, **reading)
    with Reporter(progress) as report:
        document = _quorate.inspect(
            labels._native,
            {"replicates": replicates, "min_shared": min_shared, "false_alarms": false_alarms, "pairs": 100},
            running(seed, threads, memory, report),
        )
    return Inspection(json.loads(document))


def agreement(data: Any, **options: Any) -> Agreement:
    """How far workers agree: Krippendorff's alpha, Fleiss' kappa, Gwet's AC1 and Cohen's kappa of pairs.

    Args:
        data: The labels; see :func:`quorate.read`.
        **options: The arguments of :func:`quorate.inspect`.

    >>> import quorate
    >>> rows = [("t1", "ann", "cat"), ("t1", "bob", "cat"), ("t2", "ann", "dog"), ("t2", "bob", "dog")]
    >>> quorate.agreement(rows).observed.value
    1.0
    """
    return inspect(data, **options).agreement
