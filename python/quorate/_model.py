"""Models: how each worker errs, and how frequent the classes are."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Tuple, Union

from . import _quorate

__all__ = ["Model"]


class Model:
    """A fitted model: the prior of the classes and a confusion matrix for every worker.

    Saved and loaded as the same ``model.json`` that the program writes (``quorate aggregate --model``).

    >>> import quorate
    >>> rows = [("t1", "ann", "cat"), ("t1", "bob", "cat"), ("t2", "ann", "dog"), ("t2", "bob", "dog")]
    >>> model = quorate.aggregate(rows, "dawid-skene").model
    >>> model.classes
    ['cat', 'dog']
    >>> model.workers
    ['ann', 'bob']
    """

    __slots__ = ("_native",)

    def __init__(self, native: _quorate.Model) -> None:
        self._native = native

    @staticmethod
    def load(path: Union[str, "os.PathLike[str]"]) -> Model:
        """Reads a model file."""
        return Model(_quorate.Model.load(path))

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the model file, whole or not at all."""
        self._native.save(path)

    @property
    def method(self) -> str:
        """The method that fitted it."""
        return self._native.method

    @property
    def parameters(self) -> Dict[str, str]:
        """The method's parameters."""
        return dict(self._native.parameters)

    @property
    def classes(self) -> List[str]:
        """The classes, in order."""
        return self._native.classes

    @property
    def prior(self) -> Dict[str, float]:
        """The probability of each class."""
        return dict(zip(self._native.classes, self._native.prior))

    @property
    def workers(self) -> List[str]:
        """The workers."""
        return self._native.workers

    def confusion(self, worker: Any) -> List[List[float]]:
        """The confusion matrix of a worker: a row for each answer, a column for each truth; columns sum to 1."""
        matrix = self._native.confusion(str(worker))
        if matrix is None:
            raise KeyError(worker)
        return matrix

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model):
            return NotImplemented
        return self._native.to_json() == other._native.to_json()

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Tuple[Any, Tuple[str]]:
        return (_unpickle, (self._native.to_json(),))

    def __repr__(self) -> str:
        shares = ", ".join(f"{label} {share:.2f}" for label, share in list(self.prior.items())[:6])
        return f"<quorate.Model: {len(self.workers)} workers, {len(self.classes)} classes ({shares}), by {self.method}>"


def _unpickle(text: str) -> Model:
    return Model(_quorate.Model.from_json(text))
