"""Which is better: a leaderboard from comparisons of two items, or from rankings of several."""

from __future__ import annotations

import json
import os
import warnings
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Union, overload

from . import _quorate
from ._fit_facts import FitFacts
from ._input import Columns, as_list, to_data
from ._options import as_text, running
from ._progress import Progress, Reporter
from ._table import Table, as_kind, kind_of
from .errors import ConvergenceWarning, DataWarning

__all__ = ["RankResult", "RankResults", "rank"]

# What the values of a row without names are.
ROLES = ("left", "right", "winner", "judge", "prompt", "weight")


class RankResult(FitFacts):
    """Items from the best to the worst, with everything else that comparisons tell.

    Tables come back in the kind of frame that went in, and a :class:`quorate.Table` where there was none.

    >>> import quorate
    >>> result = quorate.rank([("a", "b", "left"), ("b", "c", "left"), ("c", "a", "right"), ("b", "a", "tie")])
    >>> result.leaderboard["item"]
    ['a', 'b', 'c']
    >>> result.better("a", "c") > 0.5
    True
    """

    _native: _quorate.Ranking

    def __init__(self, native: _quorate.Ranking, kind: str) -> None:
        super().__init__(native)
        self._native = native
        self._kind = kind
        self._document: Optional[Dict[str, Any]] = None

    def __len__(self) -> int:
        return len(self._native)

    def _table(self) -> Table:
        return Table(self._native.leaderboard())

    @property
    def items(self) -> List[Any]:
        """The items from the best to the worst, group by group."""
        return self._table()["item"]

    @property
    def leaderboard(self) -> Any:
        """The items from the best to the worst: ``rank, item, score``, the interval ``low, high`` of the score, the
        range ``rank_low, rank_high`` of ranks, ``wins, losses, ties``, the chance to be better than the next one, and
        the group."""
        return as_kind(self._native.leaderboard(), self._kind)

    @property
    def judges(self) -> Any:
        """The judges: comparisons, agreement with the ranking, discrimination, position bias, ties, self-agreement on
        swapped pairs, verdict; None where the comparisons name no judges."""
        native = self._native.judges()
        return None if native is None else as_kind(native, self._kind)

    @property
    def matrix(self) -> Any:
        """How every item fared against every other one, a row for each two: ``item, against, wins, losses, ties,
        win_probability, better``."""
        return as_kind(self._native.matrix(), self._kind)

    @property
    def win_probability(self) -> Any:
        """The share of comparisons that one item would win against another, ties half: of a pandas frame, a square
        frame; else a dict of dicts, ``win_probability[item][against]``. None where the two cannot be compared."""
        items, rows = self.items, self._native.win_probability()
        if self._kind == "pandas":
            import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]

            index = pandas.Index(items, name="item")
            return pandas.DataFrame(rows, index=index, columns=pandas.Index(items, name="against"), dtype=float)
        return {item: dict(zip(items, row)) for item, row in zip(items, rows)}

    @property
    def groups(self) -> List[List[Any]]:
        """Items that can be compared with each other, the largest group first. Items of different groups were never
        compared, not even through others."""
        groups: Dict[int, List[Any]] = {}
        table = self._table()
        for item, group in zip(table["item"], table["group"]):
            groups.setdefault(group, []).append(item)
        return list(groups.values())

    @property
    def tied_for_first(self) -> List[Any]:
        """The items of the first group that cannot be told from its leader at the level, the leader first."""
        names = set(self.to_dict()["tied_for_first"])
        return [item for item in self.items if as_text(item) in names]

    @property
    def findings(self) -> List[str]:
        """What is settled and what is not, a sentence each."""
        return self._native.findings()

    def better(self, item: Any, than: Any) -> Optional[float]:
        """The chance that one item is better than another; None where it is not known: the two cannot be compared, or
        the method has no intervals."""
        return self._native.better(as_text(item), as_text(than))

    def next_pairs(self, n: int = 10) -> Any:
        """The comparisons that help the ranking most, and who should make them: ``left, right, judge``, the chance that
        the first item is better as of now, and what the comparison is expected to tell.

        >>> import quorate
        >>> rows = [("a", "b", "left"), ("b", "c", "left"), ("c", "a", "right")]
        >>> len(quorate.rank(rows).next_pairs(2))
        2
        """
        return as_kind(self._native.next_pairs(n), self._kind)

    def report(
        self,
        path: Optional[Union[str, "os.PathLike[str]"]] = None,
        *,
        title: str = "Leaderboard",
        spreadsheet_safe: bool = False,
    ) -> str:
        """Puts the leaderboard, who beats whom, the judges and what to compare next on one self-contained HTML page, as
        ``quorate report`` does; returns the page.

        Args:
            path: Where to write the page; nowhere if not given.
            title: Its title.
            spreadsheet_safe: In the tables that are downloaded from the page, put an apostrophe before text that a
                spreadsheet would take for a formula.
        """
        return self._native.report({"path": path, "title": title, "spreadsheet_safe": spreadsheet_safe})

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the leaderboard to a file; the extension tells the format (CSV, TSV, JSONL, Parquet, Arrow)."""
        self._native.write(path)

    def to_pandas(self) -> Any:
        """The leaderboard as a ``pandas.DataFrame``."""
        return self._table().to_pandas()

    def to_polars(self) -> Any:
        """The leaderboard as a ``polars.DataFrame``."""
        return self._table().to_polars()

    def to_arrow(self) -> Any:
        """The leaderboard as a ``pyarrow.Table``."""
        return self._table().to_arrow()

    def to_dict(self) -> Dict[str, Any]:
        """The ranking in numbers, as ``quorate rank --json`` prints it."""
        if self._document is None:
            (self._document,) = json.loads(self._native.document(None))
        return dict(self._document)

    def __deepcopy__(self, memo: Any) -> RankResult:
        return self

    def __reduce__(self) -> Any:
        raise TypeError("a RankResult cannot be pickled: keep its tables, or the comparisons, and rank them again")

    def __repr__(self) -> str:
        places = self._table().head(5)
        shown = zip(places["rank"], places["item"], places["score"])
        lines = [f"<quorate.results.RankResult: {self.method}, {len(self._table())} items, {len(self)} answers>"]
        lines += [f"{rank}. {item}  {score:.2f}" for rank, item, score in shown]
        lines += [f"warning: {warning}" for warning in self.warnings]
        return "\n".join([*lines, *self.findings])

    def _repr_html_(self) -> str:
        from ._html import ranking_page

        return ranking_page(self)


class RankResults(Mapping[Any, RankResult]):
    """A ranking for each value of a column (``by``).

    >>> import quorate
    >>> rows = [("a", "b", "left", "poems"), ("a", "b", "right", "code"), ("b", "a", "tie", "code")]
    >>> table = dict(zip(("left", "right", "winner", "kind"), map(list, zip(*rows))))
    >>> results = quorate.rank(table, by="kind")
    >>> results["code"].items
    ['b', 'a']
    """

    def __init__(self, native: _quorate.Rankings, kind: str) -> None:
        self._native = native
        self._kind = kind
        results = [RankResult(native.at(place), kind) for place in range(len(native))]
        self._results: Dict[Any, RankResult] = {result._table()["by"][0]: result for result in results}

    def __getitem__(self, value: Any) -> RankResult:
        return self._results[value]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def _table(self) -> Table:
        return Table(self._native.leaderboard())

    @property
    def leaderboard(self) -> Any:
        """All leaderboards as one table, with a first column ``by``."""
        return as_kind(self._native.leaderboard(), self._kind)

    def report(
        self,
        path: Optional[Union[str, "os.PathLike[str]"]] = None,
        *,
        title: str = "Leaderboards",
        spreadsheet_safe: bool = False,
    ) -> str:
        """Puts all rankings on one page; see :meth:`RankResult.report`."""
        return self._native.report({"path": path, "title": title, "spreadsheet_safe": spreadsheet_safe})

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes all leaderboards to one file."""
        self._native.write(path)

    def to_pandas(self) -> Any:
        """All leaderboards as one ``pandas.DataFrame``."""
        return self._table().to_pandas()

    def to_polars(self) -> Any:
        """All leaderboards as one ``polars.DataFrame``."""
        return self._table().to_polars()

    def to_arrow(self) -> Any:
        """All leaderboards as one ``pyarrow.Table``."""
        return self._table().to_arrow()

    def __repr__(self) -> str:
        return "\n".join(f"{value}: {result!r}" for value, result in self.items())

    def _repr_html_(self) -> str:
        from ._html import rankings_page

        return rankings_page(self)


@overload
def rank(
    data: Any,
    method: Optional[str] = None,
    *,
    by: None = None,
    columns: Optional[Columns] = None,
    both_bad: str = "tie",
    scale: str = "log-odds",
    level: float = 0.95,
    format: Optional[str] = None,
    seed: int = 0,
    threads: int = 0,
    memory: float = 4.0,
    progress: Progress = None,
    **parameters: Any,
) -> RankResult: ...


@overload
def rank(
    data: Any,
    method: Optional[str] = None,
    *,
    by: str,
    columns: Optional[Columns] = None,
    both_bad: str = "tie",
    scale: str = "log-odds",
    level: float = 0.95,
    format: Optional[str] = None,
    seed: int = 0,
    threads: int = 0,
    memory: float = 4.0,
    progress: Progress = None,
    **parameters: Any,
) -> RankResults: ...


def rank(
    data: Any,
    method: Optional[str] = None,
    *,
    by: Optional[str] = None,
    columns: Optional[Columns] = None,
    both_bad: str = "tie",
    scale: str = "log-odds",
    level: float = 0.95,
    format: Optional[str] = None,
    seed: int = 0,
    threads: int = 0,
    memory: float = 4.0,
    progress: Progress = None,
    **parameters: Any,
) -> Union[RankResult, RankResults]:
    """Ranks items by comparisons of two of them, or by rankings of several.

    Judges differ in how well they tell items apart, in the side that they prefer and in ties; the default method learns
    all of it. The numbers are those of the program ``quorate rank``, to the last digit, for any number of threads.

    Args:
        data: The comparisons, a row each: ``left, right, winner`` (also ``model_a, model_b, winner``; ``item_a,
            item_b``; ``chosen, rejected``), with ``judge``, ``prompt`` and ``weight`` where they are known. The winner is
            a side, the name of an item, ``tie`` or ``both_bad``; rows without one are left out. Or rankings: ``item,
            rank`` with ``judge`` or ``prompt``, or a column ``ranking`` with lists of items. As a frame (pandas, polars,
            pyarrow, duckdb, narwhals), a path, a dict of columns, rows as dicts, or rows of (left, right, winner[,
            judge[, prompt[, weight]]]).
        method: Name of the method; :func:`quorate.methods.list_rankers` lists them. Without it ``judge-bt``, and
            ``plackett-luce`` for rankings.
        by: A column; each of its values gets a leaderboard of its own (:class:`quorate.results.RankResults`).
        columns: Names of the columns by what they hold, where they are not found by themselves: ``{"left": "first",
            "winner": "vote"}``; also ``right, chosen, rejected, item, rank, ranking, judge, prompt, weight``.
        both_bad: What becomes of rows that call both items bad: ``"tie"`` or ``"drop"``.
        scale: Unit of the scores: ``"log-odds"``, or ``"elo"``, where 400 points are a factor of ten in the odds and the
            mean is 1000.
        level: Level of intervals, ranges of ranks and what counts as settled.
        format: What a file is, where its name does not tell.
        seed: Seed of everything random.
        threads: Number of threads; 0 takes all. The result does not depend on it.
        memory: Refuse what would need more memory than this, in GiB.
        progress: See :data:`quorate.Progress`.
        **parameters: Parameters of the method, with ``_`` for ``-``; the docs of its class list them.

    >>> import quorate
    >>> votes = [("new", "old", "left", "ann"), ("old", "new", "right", "bob"), ("old", "new", "left", "cem")]
    >>> result = quorate.rank(votes)
    >>> result.items
    ['new', 'old']
    >>> result.judges["judge"]
    ['ann', 'bob', 'cem']
    """
    wanted = {
        "method": method,
        "parameters": [
            (name.replace("_", "-"), as_text(value)) for name, value in parameters.items() if value is not None
        ],
        "columns": [(str(role), str(name)) for role, name in (columns or {}).items()],
        "format": format,
        "both_bad": both_bad,
        "by": by,
        "scale": scale,
        "level": level,
    }
    source = _comparisons(data, columns or {})
    with Reporter(progress) as report:
        native = _quorate.rank(source, wanted, running(seed, threads, memory, report))
    if by is None:
        result = RankResult(native.at(0), kind_of(data))
        _warn_of([result])
        return result
    results = RankResults(native, kind_of(data))
    _warn_of(list(results.values()))
    return results


def _comparisons(data: Any, columns: Columns) -> _quorate.Data:
    """Comparisons for the native half; rows in memory get the names of their columns here."""
    names = list(getattr(data, "column_names", getattr(data, "columns", ())))
    if columns.get("ranking", "ranking") in names and not isinstance(data, Mapping):
        data = {name: as_list(data[name]) for name in names}
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__array__") or not isinstance(data, Iterable):
        return to_data(data, "data", ROLES[:3], _named(ROLES[:3], columns))
    if isinstance(data, Mapping):
        return to_data({name: _flat(values) for name, values in data.items()}, "data", ROLES[:3], ROLES[:3])
    if isinstance(data, (str, os.PathLike)):
        return to_data(data, "data", ROLES[:3], ROLES[:3])
    rows = list(data)
    if rows and all(isinstance(row, Mapping) for row in rows):
        names = list(dict.fromkeys(name for row in rows for name in row))
        return to_data({name: _flat([row.get(name) for row in rows]) for name in names}, "data", names, names)
    width = len(rows[0]) if rows and hasattr(rows[0], "__len__") else 3
    roles = ROLES[: min(max(width, 3), len(ROLES))]
    return to_data(rows, "data", roles, _named(roles, columns))


def _named(roles: Sequence[str], columns: Columns) -> List[str]:
    return [columns.get(role, role) for role in roles]


def _flat(values: Any) -> Any:
    """Lists of items, which are rankings, as text."""
    if not isinstance(values, list):
        return values
    whole = [value.tolist() if hasattr(value, "tolist") else value for value in values]
    return [json.dumps(list(value)) if isinstance(value, (list, tuple)) else value for value in whole]


def _warn_of(results: Sequence[RankResult]) -> None:
    for result in results:
        for warning in result.warnings:
            warnings.warn(warning, DataWarning, stacklevel=3)
        if not result.converged:
            warnings.warn(
                f"{result.method} did not converge in {result.iterations} steps; more may change the scores a little",
                ConvergenceWarning,
                stacklevel=3,
            )
