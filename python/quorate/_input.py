"""Everything that can hold labels, on its way to the native half: paths, frames, lists, dicts, arrays."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from . import _quorate
from .errors import InputError, ParameterError

__all__ = ["Columns", "to_data"]

Columns = Mapping[str, str]
"""Names of columns by role: ``{"task": "item", "worker": "user", "label": "answer"}``, any of them left out."""

ROLES = ("task", "worker", "label")


def column_names(columns: Optional[Columns]) -> Tuple[str, str, str]:
    """The names of the columns of task, worker and label."""
    given = dict(columns or {})
    for role in given:
        if role not in ROLES:
            raise ParameterError(f"columns: found the role {role!r}, expected task, worker or label")
    return (given.get("task", "task"), given.get("worker", "worker"), given.get("label", "label"))


def to_data(data: Any, name: str, roles: Sequence[str], columns: Sequence[str]) -> _quorate.Data:
    """A table for the native half. ``name`` is what messages call it; rows without names are read as ``roles``,
    and go by the names in ``columns``."""
    if isinstance(data, _quorate.Data):
        return data
    if isinstance(data, (str, os.PathLike)):
        return _quorate.Data.path(os.fspath(data))
    if hasattr(data, "collect") and type(data).__module__.split(".")[0] in ("polars", "narwhals"):
        data = data.collect()
    if hasattr(data, "__arrow_c_stream__"):
        return _from_stream(data, name)
    if hasattr(data, "__dataframe__") or type(data).__module__.split(".")[0] == "pandas":
        data = _with_plain_columns(data)
        return _from_old_pandas(data, name)
    if isinstance(data, Mapping):
        return _from_columns({str(key): value for key, value in data.items()}, name)
    if hasattr(data, "__array__") and hasattr(data, "ndim"):
        return _from_array(data, name, roles, columns)
    if isinstance(data, Iterable):
        return _from_rows(data, name, roles, columns)
    raise InputError(
        f"{name}: found {type(data).__name__}, expected a path, a frame (pandas, polars, pyarrow, duckdb, "
        f"narwhals), rows of ({', '.join(roles)}), a dict of columns or an array"
    )


def _with_plain_columns(data: Any) -> Any:
    """The same frame without two kinds of columns that lose their meaning on the way: periods of pandas would arrive
    as whole numbers, and columns of polars without any value have no type that can be read."""
    library = type(data).__module__.split(".")[0]
    if library == "polars" and hasattr(data, "schema"):
        empty = [column for column, kind in data.schema.items() if str(kind) == "Null"]
        return data.with_columns([data[column].cast(str) for column in empty]) if empty else data
    if library == "pandas" and hasattr(data, "dtypes") and hasattr(data, "columns"):
        periods = [column for column, kind in data.dtypes.items() if type(kind).__name__ == "PeriodDtype"]
        return data.assign(**{column: data[column].astype("string") for column in periods}) if periods else data
    return data


def _from_stream(data: Any, name: str) -> _quorate.Data:
    data = _with_plain_columns(data)
    try:
        capsule = data.__arrow_c_stream__(None)
    except Exception as error:
        # Libraries refuse what has no Arrow type, columns of mixed types above all, each in its own words.
        raise InputError(
            f"{name}: the frame cannot be passed on ({_first_line(error)}); expected columns of one type each, "
            "text, numbers or booleans; convert the column"
        ) from error
    try:
        return _quorate.Data.stream(capsule, name)
    except ValueError as error:
        raise InputError(f"{name}: the frame cannot be read ({_first_line(error)})") from error


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _from_old_pandas(data: Any, name: str) -> _quorate.Data:
    """Frames of pandas before 2.2, which do not know the Arrow interface: column by column."""
    return _from_columns({str(column): data[column].tolist() for column in data.columns}, name)


def _from_columns(columns: Dict[str, Any], name: str) -> _quorate.Data:
    lists = [(column, as_list(values)) for column, values in columns.items()]
    lengths = {len(values) for _, values in lists}
    if len(lengths) > 1:
        found = ", ".join(f"{column}: {len(values)}" for column, values in lists)
        raise InputError(f"{name}: found columns of different lengths ({found}), expected one length")
    try:
        return _quorate.Data.columns(lists, name)
    except (TypeError, OverflowError) as error:
        raise InputError(f"{name}, {error}") from None


def as_list(values: Any) -> List[Any]:
    """The values of a column as plain Python values."""
    if isinstance(values, list):
        return values
    # Arrays and series have a way to give plain Python values.
    for method in ("tolist", "to_list", "to_pylist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)


def _from_rows(rows: Iterable[Any], name: str, roles: Sequence[str], columns: Sequence[str]) -> _quorate.Data:
    lists: List[List[Any]] = [[] for _ in roles]
    for number, row in enumerate(rows, 1):
        if isinstance(row, Mapping):
            row = [row.get(column) for column in columns]
        if isinstance(row, (str, bytes)) or not hasattr(row, "__len__") or len(row) != len(roles):
            raise InputError(f"{name}, row {number}: found {row!r}, expected ({', '.join(roles)})")
        for values, value in zip(lists, row):
            values.append(value)
    return _from_columns(dict(zip(columns, lists)), name)


def _from_array(data: Any, name: str, roles: Sequence[str], columns: Sequence[str]) -> _quorate.Data:
    if getattr(data.dtype, "names", None):
        return _from_columns({field: data[field] for field in data.dtype.names}, name)
    if data.ndim != 2 or data.shape[1] != len(roles):
        raise InputError(
            f"{name}: found an array of shape {data.shape}, expected {len(roles)} columns "
            f"({', '.join(roles)}); a matrix with a row for each task and a column for each worker goes through "
            "quorate.from_matrix"
        )
    return _from_columns({column: data[:, place] for place, column in enumerate(columns)}, name)


def from_matrix(
    matrix: Any,
    *,
    tasks: Optional[Sequence[Any]] = None,
    workers: Optional[Sequence[Any]] = None,
) -> Dict[str, List[Any]]:
    """Labels in a wide matrix, a row for each task and a column for each worker, as columns of a long table.

    NaN and None mean that the worker was not asked. Tasks and workers are numbered from 0 unless they are named;
    of a frame, the names are those of its index and its columns.

    >>> import quorate
    >>> quorate.from_matrix([[1, 1, None], [0, None, 1]], workers=["ann", "bob", "cem"])
    {'task': [0, 0, 1, 1], 'worker': ['ann', 'bob', 'ann', 'cem'], 'label': [1, 1, 0, 1]}
    """
    if hasattr(matrix, "columns") and hasattr(matrix, "index"):
        tasks = list(matrix.index) if tasks is None else tasks
        workers = list(matrix.columns) if workers is None else workers
        matrix = matrix.to_numpy()
    if hasattr(matrix, "tolist"):
        matrix = matrix.tolist()
    long: Dict[str, List[Any]] = {"task": [], "worker": [], "label": []}
    for row, answers in enumerate(matrix):
        if (tasks is not None and row >= len(tasks)) or (workers is not None and len(answers) != len(workers)):
            raise InputError(f"matrix, row {row}: found {len(answers)} answers, expected one for each worker named")
        for place, answer in enumerate(answers):
            if answer is None or answer != answer:
                continue
            if isinstance(answer, float) and answer.is_integer():
                # A matrix with NaN in it holds floats; its classes are whole numbers all the same.
                answer = int(answer)
            long["task"].append(row if tasks is None else tasks[row])
            long["worker"].append(place if workers is None else workers[place])
            long["label"].append(answer)
    return long


def truths(given: Any, name: str) -> Optional[_quorate.Data]:
    """Known labels: a dict of tasks, a series indexed by task, or a table."""
    return None if given is None else by_id(given, name, "task", "label")


def by_id(given: Any, name: str, key: str, column: str) -> _quorate.Data:
    """A value for each id: a dict by id, a series indexed by id, or a table with the columns ``key`` and ``column``."""
    if hasattr(given, "index") and hasattr(given, "items") and not hasattr(given, "columns"):
        given = dict(given.items())
    if isinstance(given, Mapping) and set(given) != {key, column}:
        given = {key: list(given.keys()), column: list(given.values())}
    return to_data(given, name, (key, column), (key, column))


def worker_numbers(given: Any, name: str, column: str) -> Optional[_quorate.Data]:
    """A number for each worker: a dict or series by worker, or a table with the columns ``worker`` and ``column``."""
    if isinstance(given, Mapping) and set(given) != {"worker", column}:
        # Numbers of other libraries are numbers, too.
        given = {worker: float(number) for worker, number in given.items()}
    return None if given is None else by_id(given, name, "worker", column)


def pairs(given: Any, name: str) -> Optional[_quorate.Data]:
    """Pairs of task and worker: rows, or a table with these columns."""
    return None if given is None else to_data(given, name, ("task", "worker"), ("task", "worker"))
