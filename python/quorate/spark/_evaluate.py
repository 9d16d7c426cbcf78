"""Labels on a cluster against the truth: sums that Spark makes, and the figures that follow from them."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from .. import _quorate
from .._checks import Evaluation
from ..errors import InputError, ParameterError
from ._encode import gold_of, text_of
from ._result import Result

_FLOOR = 1e-15
_TIE = 1e-9


def evaluate(predicted: Any, truth: Any, *, classes: Optional[List[str]] = None, bins: int = 10) -> Evaluation:
    """Compares the labels of a result, or a DataFrame of labels, with the known truth.

    Args:
        predicted: A :class:`quorate.spark.Result`, or a DataFrame with columns ``task, label`` and, if there,
            ``confidence`` and ``probabilities``.
        truth: The true labels: a DataFrame with columns ``task, label``, a dict by task, or pairs.
        classes: The classes in the order of ``probabilities``, where ``predicted`` is a DataFrame that has them.
        bins: Number of bins of the calibration table.
    """
    if not 1 <= bins <= 1000:
        raise ParameterError(f"bins: found {bins}, expected 1 to 1000")
    if isinstance(predicted, Result):
        predicted, classes = predicted.labels, predicted.classes
    kinds = dict(predicted.dtypes)
    if "task" not in kinds or "label" not in kinds:
        raise InputError(f"predicted: found columns {', '.join(kinds)}, expected task and label")
    has_confidence = "confidence" in kinds
    has_probabilities = "probabilities" in kinds and classes is not None
    session = predicted.sparkSession
    chosen = [f"{text_of('task', kinds['task'])} as task", f"{text_of('label', kinds['label'])} as label"]
    chosen += ["confidence"] if has_confidence else []
    chosen += ["probabilities"] if has_probabilities else []
    labels = predicted.selectExpr(*chosen).where("label is not null")
    known = gold_of(session, truth)
    scored = labels.join(known.frame, "task")
    if has_probabilities:
        assert classes is not None
        codes = session.createDataFrame(list(zip(classes, range(len(classes)))), "truth string, place int")
        scored = scored.join(codes.hint("broadcast"), "truth", "left")
    cells = scored.groupBy("truth", "label").agg(*_sums(has_confidence, has_probabilities)).collect()
    count = sum(int(row["tasks"]) for row in cells)
    if count == 0:
        raise InputError(f"nothing to evaluate: none of {known.tasks} known tasks has a label; do the task ids match?")
    document = _document(cells, count, classes)
    document["tasks_without_truth"] = int(labels.count()) - count
    document["truths_without_prediction"] = known.tasks - count
    document["calibration"], document["calibration_error"] = [], None
    if has_confidence:
        document["calibration"], document["calibration_error"] = _calibration(scored, bins, count)
    for name, column in (("log_loss", "loss"), ("brier", "squares")):
        document[name] = sum(row[column] for row in cells) / count if has_probabilities else None
    document["tied"] = sum(int(row["tied"]) for row in cells) if has_probabilities else 0
    return Evaluation(document)


def _sums(has_confidence: bool, has_probabilities: bool) -> List[Any]:
    from pyspark.sql import functions as F  # type: ignore[import-not-found, unused-ignore]

    sums = [F.expr("count(*)").alias("tasks")]
    if has_probabilities:
        of_truth = "coalesce(element_at(probabilities, place + 1), 0D)"
        squares = "aggregate(probabilities, 0D, (sum, p) -> sum + p * p)"
        ties = f"size(filter(probabilities, p -> p >= array_max(probabilities) - {_TIE})) > 1"
        sums += [
            F.expr(f"sum(-ln(least(greatest({of_truth}, {_FLOOR}), 1D)))").alias("loss"),
            F.expr(f"sum({squares} - {of_truth} * {of_truth} + (1 - {of_truth}) * (1 - {of_truth}))").alias("squares"),
            F.expr(f"sum(int({ties}))").alias("tied"),
        ]
    return sums


def _document(cells: List[Any], count: int, classes: Optional[List[str]]) -> Dict[str, Any]:
    """Error, recalls and the scores of each class, from the counts of (truth, label)."""
    table = {(row["truth"], row["label"]): int(row["tasks"]) for row in cells}
    found = sorted({name for pair in table for name in pair})
    names = [*(classes or ()), *(name for name in found if name not in (classes or ()))]
    wrong = sum(tasks for (truth, label), tasks in table.items() if truth != label)
    scores, recalls = [], []
    for name in names:
        truths = sum(tasks for (truth, _), tasks in table.items() if truth == name)
        guesses = sum(tasks for (_, label), tasks in table.items() if label == name)
        right = table.get((name, name), 0)
        if truths:
            recalls.append(right / truths)
        scores.append(
            {
                "class": name,
                "truths": truths,
                "predicted": float(guesses),
                "precision": right / guesses if guesses else None,
                "recall": right / truths if truths else None,
                "f1": 2 * right / (truths + guesses) if truths + guesses else None,
            }
        )
    return {
        "tasks_scored": count,
        "tie_rule": "lowest",
        "error": wrong / count,
        "error_interval_95": list(_quorate.error_interval(float(wrong), count)),
        "balanced_accuracy": sum(recalls) / max(len(recalls), 1),
        "classes": scores,
    }


def _calibration(scored: Any, bins: int, count: int) -> Any:
    binned = scored.selectExpr(
        f"least(cast(confidence * {bins} as int), {bins - 1}) as bin", "confidence", "int(label = truth) as hit"
    )
    rows = binned.groupBy("bin").agg({"confidence": "avg", "hit": "avg", "*": "count"}).orderBy("bin").collect()
    table = [
        {
            "lower": row["bin"] / bins,
            "upper": (row["bin"] + 1) / bins,
            "tasks": int(row["count(1)"]),
            "confidence": row["avg(confidence)"],
            "accuracy": row["avg(hit)"],
        }
        for row in rows
    ]
    error = sum(cell["tasks"] / count * abs(cell["accuracy"] - cell["confidence"]) for cell in table)
    return table, error
