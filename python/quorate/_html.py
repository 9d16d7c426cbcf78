"""The view of a result in a notebook: summary, tasks to look at first, workers, small pictures. No scripts.

The pictures are drawn by the native half, as those of the report.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, List, Optional

from . import _quorate
from ._table import Table

if TYPE_CHECKING:
    from ._rank import RankResult, RankResults
    from ._result import Result

__all__ = ["ranking_page", "rankings_page", "result_page"]

_TASKS = 8
_WORKERS = 12

_STYLE = """
.quorate { font: 13px/1.45 system-ui, sans-serif; max-width: 60em; }
.quorate h4 { font-size: 14px; margin: 1em 0 .3em; }
.quorate p { margin: .2em 0; }
.quorate table { border-collapse: collapse; font-size: 12px; }
.quorate th, .quorate td { border: 0; border-bottom: 1px solid #8884; padding: 2px 10px 2px 0; text-align: left; }
.quorate td.number, .quorate th.number { text-align: right; font-variant-numeric: tabular-nums; }
.quorate .facts b { font-size: 18px; }
.quorate .facts span { display: inline-block; margin-right: 2em; }
.quorate .warning { border-left: 3px solid #c80; padding-left: .6em; }
.quorate .side { display: flex; flex-wrap: wrap; gap: .5em 3em; margin-top: 1em; }
.quorate .side .figure { align-self: flex-start; }
.quorate .figure text { fill: currentColor; }
.quorate .figure .bar { fill-opacity: 1; }
.quorate td .figure { max-width: none; }
"""


def result_page(result: Result) -> str:
    """The view of a result."""
    facts = result.summary
    style, confidence, classes = result._native.pictures()
    parts = [f"<div class='quorate'><style>{style}{_STYLE}</style>", _summary(result)]
    parts += [f"<p class='warning'>{escape(text)}</p>" for text in result.warnings]
    if not result.converged:
        text = f"did not converge in {result.iterations} iterations: a few labels may still change"
        parts.append(f"<p class='warning'>{text}</p>")
    parts += [f"<div class='side'>{confidence}{classes}</div>"]
    if result.estimated_error.value > 0:
        parts += ["<h4>Look at these tasks first</h4>", _review(Table(result._native.review(_TASKS)))]
    parts += ["<h4>Workers</h4>", _workers(Table(result._native.workers())), "</div>"]
    return "".join(parts)


def _summary(result: Result) -> str:
    facts, error = result.summary, result.estimated_error
    between = ""
    if error.low is not None and error.high is not None:
        between = f", between {100 * error.low:.1f} and {100 * error.high:.1f} %"
    shown = [
        (f"{facts['tasks']:,}", "tasks"),
        (f"{facts['labels']:,}", "labels"),
        (f"{facts['workers']:,}", "workers"),
        (f"{100 * error.value:.1f} %", "estimated error" + between),
        (f"{facts['changed_from_majority_vote']:,}", "differ from majority vote"),
        (f"{facts['tied_tasks']:,}", "tied"),
    ]
    cells = "".join(f"<span><b>{number}</b> {words}</span>" for number, words in shown)
    return f"<p><b>quorate</b> {escape(result.method)}</p><p class='facts'>{cells}</p>"


def _gauge(share: Optional[float]) -> str:
    return "" if share is None else _quorate.gauge(share)


def _review(tasks: Table) -> str:
    named = [column for column in tasks.columns if column not in ("task", "label", "confidence")]
    head = "".join(f"<th>{escape(name)}</th>" for name in ["task", "label", "confidence", "", *named])
    rows: List[str] = []
    columns = tasks.to_dict()
    for place in range(len(tasks)):
        confidence = columns["confidence"][place]
        cells = [
            f"<td>{escape(str(columns['task'][place]))}</td><td>{escape(str(columns['label'][place]))}</td>"
            f"<td class='number'>{confidence:.2f}</td><td>{_gauge(confidence)}</td>"
        ]
        cells += [f"<td>{_cell(columns[name][place])}</td>" for name in named]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table><tr>{head}</tr>{''.join(rows)}</table>"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.2f}" if isinstance(value, float) else escape(str(value))


def _workers(workers: Table) -> str:
    """The workers, the least accurate first, with a bar each."""
    columns = workers.to_dict()
    known = columns["accuracy"] if any(value is not None for value in columns["accuracy"]) else columns["agreement"]
    word = "accuracy" if known is columns["accuracy"] else "agreement"
    order = sorted(range(len(workers)), key=lambda place: (known[place] is None, known[place] or 0.0))
    rows = []
    for place in order[:_WORKERS]:
        value = known[place]
        shown = "" if value is None else f"{100 * value:.0f} %"
        agreement = columns["agreement"][place]
        agrees = "" if agreement is None else f"{100 * agreement:.0f} %"
        rows.append(
            f"<tr><td>{escape(str(columns['worker'][place]))}</td><td class='number'>{columns['labels'][place]:,}</td>"
            f"<td class='number'>{shown}</td><td>{_gauge(value)}</td><td class='number'>{agrees}</td></tr>"
        )
    more = len(workers) - len(rows)
    rest = f"<p>{more:,} more workers, all at least as good by this number: <code>result.workers</code></p>" if more else ""
    head = (
        f"<tr><th>worker</th><th class='number'>labels</th><th class='number'>{word}</th><th></th>"
        "<th class='number'>agrees with the labels</th></tr>"
    )
    return f"<table>{head}{''.join(rows)}</table>{rest}"


def ranking_page(result: RankResult) -> str:
    """The view of a ranking."""
    style, _ = result._native.picture()
    return f"<div class='quorate'><style>{style}{_STYLE}</style>{_ranking(result)}</div>"


def rankings_page(results: RankResults) -> str:
    """The view of several rankings, one below the other."""
    parts = [f"<h4>{escape(str(value))}</h4>{_ranking(result)}" for value, result in results.items()]
    style = next(iter(results.values()))._native.picture()[0]
    return f"<div class='quorate'><style>{style}{_STYLE}</style>{''.join(parts)}</div>"


def _ranking(result: RankResult) -> str:
    judges = result._native.judges()
    shown = [(f"{len(result):,}", "answers"), (f"{len(result._table()):,}", "items")]
    if judges is not None:
        shown.append((f"{len(judges):,}", "judges"))
    cells = "".join(f"<span><b>{number}</b> {words}</span>" for number, words in shown)
    parts = [f"<p><b>quorate</b> {escape(result.method)}</p><p class='facts'>{cells}</p>"]
    parts += [f"<p class='warning'>{escape(text)}</p>" for text in result.warnings]
    parts.append(result._native.picture()[1])
    parts += [f"<p>{escape(text)}</p>" for text in result.findings]
    if judges is not None:
        parts.append(_judges(Table(judges)))
    return "".join(parts)


def _judges(judges: Table) -> str:
    """The judges who are worth a look, those with most comparisons first."""
    columns = judges.to_dict()
    named = [place for place, verdict in enumerate(columns["verdict"]) if verdict]
    if not named:
        return "<p>No judge stands out: <code>result.judges</code> has all</p>"
    named.sort(key=lambda place: -columns["comparisons"][place])
    rows = []
    for place in named[:_WORKERS]:
        agreement = columns["agreement"][place]
        agrees = "" if agreement is None else f"{100 * agreement:.0f} %"
        rows.append(
            f"<tr><td>{escape(str(columns['judge'][place]))}</td><td>{escape(columns['verdict'][place])}</td>"
            f"<td class='number'>{columns['comparisons'][place]:,g}</td><td class='number'>{agrees}</td></tr>"
        )
    head = (
        "<tr><th>judge</th><th></th><th class='number'>comparisons</th>"
        "<th class='number'>agrees with the ranking</th></tr>"
    )
    words = f"{len(named):,} of {len(judges):,}; <code>result.judges</code> has all"
    return f"<h4>Judges worth a look ({words})</h4><table>{head}{''.join(rows)}</table>"
