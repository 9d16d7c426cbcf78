"""The view of a result in a notebook: summary, tasks to look at first, workers, small pictures. No scripts."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence

from ._table import Table

if TYPE_CHECKING:
    from ._result import Result

__all__ = ["result_page"]

_TASKS = 8
_WORKERS = 12
_BINS = 10

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
.quorate .side { display: flex; flex-wrap: wrap; gap: 0 3em; }
"""


def result_page(result: Result) -> str:
    """The view of a result."""
    facts = result.summary
    parts = [f"<div class='quorate'><style>{_STYLE}</style>", _summary(result)]
    parts += [f"<p class='warning'>{escape(text)}</p>" for text in result.warnings]
    if not result.converged:
        text = f"not settled after {result.iterations} iterations: a few labels may still change"
        parts.append(f"<p class='warning'>{text}</p>")
    labels = Table(result._native.labels(False, False))
    parts += ["<div class='side'><div><h4>Confidence of the labels</h4>", _confidences(labels["confidence"])]
    parts += ["</div><div><h4>Classes</h4>", _classes(labels["label"]), "</div></div>"]
    if facts["expected_error"] > 0:
        parts += ["<h4>Look at these tasks first</h4>", _review(Table(result._native.review(_TASKS)))]
    parts += ["<h4>Workers</h4>", _workers(Table(result._native.workers())), "</div>"]
    return "".join(parts)


def _summary(result: Result) -> str:
    facts = result.summary
    shown = [
        (f"{facts['tasks']:,}", "tasks"),
        (f"{facts['labels']:,}", "labels"),
        (f"{facts['workers']:,}", "workers"),
        (f"{100 * facts['expected_error']:.1f} %", "estimated error"),
        (f"{facts['changed_from_majority_vote']:,}", "differ from majority vote"),
        (f"{facts['tied_tasks']:,}", "tied"),
    ]
    cells = "".join(f"<span><b>{number}</b> {words}</span>" for number, words in shown)
    return f"<p><b>quorate</b> {escape(result.method)}</p><p class='facts'>{cells}</p>"


def _confidences(values: Sequence[float]) -> str:
    """How many labels there are at each confidence, as bars."""
    counts = [0] * _BINS
    for value in values:
        counts[min(int(value * _BINS), _BINS - 1)] += 1
    # What no label has is left out: the lowest confidence is one over the number of classes.
    first = next((place for place, count in enumerate(counts) if count), 0)
    rows = [(f"{place / _BINS:.1f} to {(place + 1) / _BINS:.1f}", counts[place]) for place in range(first, _BINS)]
    return _bars(rows)


def _classes(labels: Sequence[Any]) -> str:
    """How many tasks have each label, as bars."""
    counts: Dict[Any, int] = {}
    for label in labels:
        counts[label] = counts.get(label, 0) + 1
    rows = sorted(counts.items(), key=lambda row: -row[1])
    shown = [(str(label), count) for label, count in rows[:_BINS]]
    if len(rows) > _BINS:
        shown.append((f"{len(rows) - _BINS} more", sum(count for _, count in rows[_BINS:])))
    return _bars(shown)


def _bars(rows: Sequence[Any]) -> str:
    most = max((count for _, count in rows), default=0) or 1
    height, width = 18, 160
    marks = []
    for place, (name, count) in enumerate(rows):
        y, long = place * height, width * count / most
        title = f"<title>{escape(name)}: {count:,}</title>"
        short = name if len(name) <= 14 else name[:13] + "…"
        marks.append(
            f"<g>{title}<text x='92' y='{y + 13}' text-anchor='end'>{escape(short)}</text>"
            f"<rect x='100' y='{y + 3}' width='{long:.1f}' height='{height - 6}' fill='#4878a8'/>"
            f"<text x='{106 + long:.1f}' y='{y + 13}'>{count:,}</text></g>"
        )
    return (
        f"<svg width='330' height='{height * len(rows)}' font-size='11' fill='currentColor' role='img'>"
        f"{''.join(marks)}</svg>"
    )


def _gauge(share: Optional[float]) -> str:
    """A share as a small bar."""
    if share is None:
        return ""
    return (
        "<svg width='64' height='10' role='img'><rect width='64' height='10' fill='#8883'/>"
        f"<rect width='{64 * min(max(share, 0.0), 1.0):.1f}' height='10' fill='#4878a8'/></svg>"
    )


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
