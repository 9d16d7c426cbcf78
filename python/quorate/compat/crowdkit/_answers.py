"""The columns that aggregators need."""

from __future__ import annotations

from typing import Any, Sequence

from ....errors import InputError

__all__ = ["MissingColumn", "check_columns"]


class MissingColumn(InputError, KeyError):
    """A column is not there. crowd-kit's users catch KeyError."""

    def __str__(self) -> str:
        # A KeyError would show the words in quotes.
        return str(self.args[0])


def check_columns(data: Any, needed: Sequence[str]) -> None:
    """Fails unless all of these columns are there."""
    for column in needed:
        if column not in data.columns:
            raise MissingColumn(f"data: found the columns {list(data.columns)}, expected one named {column!r}")
