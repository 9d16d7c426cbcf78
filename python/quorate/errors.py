"""What can go wrong, and what to beware of: a small family of exceptions and warnings."""

from __future__ import annotations

from typing import Optional

__all__ = [
    "ConvergenceWarning",
    "DataWarning",
    "FileError",
    "InputError",
    "MemoryLimitError",
    "NotApplicableError",
    "NotFittedError",
    "ParameterError",
    "QuorateError",
    "QuorateWarning",
]


class QuorateError(Exception):
    """Everything that this package raises on purpose.

    The message says what was found, what was expected and what to do.
    """

    file: Optional[str] = None
    """The file, or the argument, that the error is about."""
    line: Optional[int] = None
    """The line of a text file, or the row of a frame, counted from 1."""
    column: Optional[str] = None
    """The column."""


class InputError(QuorateError, ValueError):
    """The data cannot be used: a missing column, an empty id, a type that is neither text nor number."""


class FileError(InputError, OSError):
    """A file cannot be read or written."""


class ParameterError(QuorateError, ValueError):
    """An argument is unknown, out of range or does not fit the data."""


class NotApplicableError(QuorateError, ValueError):
    """The method cannot be used here: too many classes for it, or it needs features that were not given."""


class MemoryLimitError(QuorateError, MemoryError):
    """The work would need more memory than the argument ``memory`` allows."""


class NotFittedError(QuorateError, ValueError, AttributeError):
    """Something that only a fit can tell was asked before ``fit``."""


class QuorateWarning(UserWarning):
    """Everything that this package warns of."""


class DataWarning(QuorateWarning):
    """Something about the data that may change the result."""


class ConvergenceWarning(QuorateWarning):
    """A method stopped before it had settled: a few labels may still change."""
