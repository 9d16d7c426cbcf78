"""What all of crowd-kit's functions do with a frame of answers."""

from __future__ import annotations

from typing import Any, Dict, Optional, Sequence

from quorate._table import _needed
from quorate.errors import InputError

__all__ = ["MissingColumn", "accuracy", "check_columns", "nothing", "weighted_votes"]


class MissingColumn(InputError, KeyError, AssertionError):
    """A column is not there. crowd-kit raises the one or the other."""

    def __str__(self) -> str:
        # A KeyError would show the words in quotes.
        return str(self.args[0])


def check_columns(data: Any, needed: Sequence[str] = ("task", "worker", "label")) -> None:
    """Fails unless this is a frame with these columns."""
    if not hasattr(data, "columns"):
        raise TypeError(f"data: found {type(data).__name__}, expected a pandas DataFrame")
    for column in needed:
        if column not in data.columns:
            raise MissingColumn(f"data: found the columns {list(data.columns)}, expected one named {column!r}")


def weighted_votes(data: Any, weights: Optional[Any] = None) -> Any:
    """The share of every label in the votes on every task, each with the weight of its worker."""
    pandas = _needed("pandas", "weighted_votes")
    weight = 1.0 if weights is None else data["worker"].map(weights).astype(float)
    votes = pandas.DataFrame({"task": data["task"], "label": data["label"], "weight": weight})
    sums = votes.groupby(["task", "label"])["weight"].sum().unstack("label", fill_value=0.0)
    return sums.div(sums.sum(axis=1), axis=0)


def accuracy(data: Any, truth: Any, by: Optional[str] = None) -> Any:
    """The share of answers that are the truth, over tasks with a truth: of all, or by ``worker`` or ``task``."""
    known = data[data["task"].map(truth).notna()]
    right = (known["label"] == known["task"].map(truth)).astype(float)
    answers = known.assign(score=right).drop_duplicates(["task", "worker", "label"])
    return float(answers["score"].mean()) if by is None else answers.groupby(by)["score"].mean().rename(None)


def nothing(*names: str) -> Dict[str, Any]:
    """What is learnt of a frame without rows: the attributes of these names."""
    pandas = _needed("pandas", "fit")
    index = pandas.Index([], name="task")
    empty = {
        "labels_": pandas.Series([], index, dtype=object, name="agg_label"),
        "probas_": pandas.DataFrame(),
        "priors_": pandas.Series([], dtype=float, name="prior"),
        "errors_": pandas.DataFrame(),
        "skills_": pandas.Series([], pandas.Index([], name="worker"), dtype=float, name="skill"),
        "loss_history_": [],
        "scores_": pandas.DataFrame(),
        "alphas_": pandas.Series([], pandas.Index([], name="worker"), dtype=float, name="alpha"),
        "betas_": pandas.Series([], index, dtype=float, name="beta"),
    }
    return {name: empty[name] for name in names}
