"""Tables of results, and how they become the caller's own kind of frame."""

from __future__ import annotations

import sys
from typing import Any, Dict, Iterator, List, Optional, Tuple

from . import _quorate
from .errors import InputError

__all__ = ["Table"]

_SHOWN = 10


class Table:
    """A table of results: columns of equal length, kept as Arrow data.

    It needs no other library, and every library that knows Arrow takes it without a copy
    (``polars.DataFrame(table)``, ``pyarrow.table(table)``, ``pandas.DataFrame.from_arrow(table)``).

    >>> import quorate
    >>> rows = [("t1", "ann", "cat"), ("t1", "bob", "cat"), ("t2", "ann", "dog")]
    >>> table = quorate.aggregate(rows, "majority-vote").labels
    >>> table.columns
    ['task', 'label', 'confidence']
    >>> table["label"]
    ['cat', 'dog']
    >>> list(table)
    [('t1', 'cat', 1.0), ('t2', 'dog', 1.0)]
    """

    __slots__ = ("_native",)

    def __init__(self, native: _quorate.ArrowTable) -> None:
        self._native = native

    @property
    def columns(self) -> List[str]:
        """Names of the columns."""
        return self._native.column_names()

    def __len__(self) -> int:
        return len(self._native)

    def __getitem__(self, column: str) -> List[Any]:
        return self._native.column(column)

    def __iter__(self) -> Iterator[Tuple[Any, ...]]:
        return zip(*(self[column] for column in self.columns))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return self.columns == other.columns and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def __reduce__(self) -> Tuple[Any, Tuple[bytes]]:
        return (_unpickle, (self._native.to_ipc(),))

    def head(self, rows: int = 5) -> Table:
        """The first rows."""
        return Table(self._native.head(rows))

    def to_dict(self) -> Dict[str, List[Any]]:
        """The columns as lists, by name."""
        return {column: self[column] for column in self.columns}

    def to_arrow(self) -> Any:
        """The table as a ``pyarrow.Table``."""
        return _needed("pyarrow", "to_arrow").table(self)

    def to_polars(self) -> Any:
        """The table as a ``polars.DataFrame``."""
        return _needed("polars", "to_polars").DataFrame(self)

    def to_pandas(self) -> Any:
        """The table as a ``pandas.DataFrame``."""
        return _needed("pandas", "to_pandas").DataFrame(self.to_dict(), columns=self.columns)

    def __repr__(self) -> str:
        return f"<quorate.Table: {len(self)} rows, columns {', '.join(self.columns)}>\n{self._text()}"

    def _text(self) -> str:
        cells = [self.columns, *([_shown(cell) for cell in row] for row in self.head(_SHOWN))]
        widths = [max(len(row[column]) for row in cells) for column in range(len(self.columns))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells]
        if len(self) > _SHOWN:
            lines.append("..")
        return "\n".join(lines)


def _shown(cell: Any) -> str:
    if cell is None:
        return ""
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def _unpickle(data: bytes) -> Table:
    return Table(_quorate.ArrowTable.from_ipc(data))


def _needed(library: str, function: str) -> Any:
    """Imports a library that is only needed here."""
    try:
        return __import__(library)
    except ImportError:
        raise ImportError(f"{function} needs {library}: pip install {library}") from None


def kind_of(data: object) -> str:
    """Which library's frame this is; ``"table"`` for what is no frame."""
    module = type(data).__module__.split(".")[0]
    if module in ("pandas", "polars", "pyarrow", "narwhals"):
        return module
    # The module of a relation is called otherwise in some versions.
    if module in ("duckdb", "_duckdb"):
        return "duckdb"
    return "dict" if isinstance(data, dict) else "table"


def as_kind(native: _quorate.ArrowTable, kind: str) -> Any:
    """The table as a frame of this kind."""
    table = Table(native)
    if kind == "pandas":
        return table.to_pandas()
    if kind == "polars":
        return table.to_polars()
    if kind == "pyarrow":
        return table.to_arrow()
    if kind == "duckdb":
        import duckdb  # type: ignore[import-not-found, import-untyped, unused-ignore]

        return duckdb.from_arrow(table.to_arrow())
    if kind == "narwhals":
        narwhals = sys.modules["narwhals"]
        for backend in ("polars", "pandas", "pyarrow"):
            if backend in sys.modules:
                return narwhals.from_native(as_kind(native, backend))
        raise InputError("found a narwhals frame without the library behind it")
    return table.to_dict() if kind == "dict" else table
