"""Exports of annotation tools: read from Python as from the program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import quorate

FIXTURES = Path(__file__).parents[2] / "crates" / "quorate-io" / "tests" / "fixtures" / "exports"
FILES = [
    "label-studio.json",
    "label-studio-min.json",
    "label-studio.csv",
    "prodigy.jsonl",
    "argilla.json",
    "argilla-flat.jsonl",
    "doccano",
    "doccano.zip",
    "mturk.csv",
    "toloka.tsv",
    "appen.csv",
    "ground-truth.json",
    "worker-response",
    "judges.jsonl",
    "judgements.jsonl",
    "labelbox.ndjson",
    "triples.txt",
    "answers.json",
    "wide.csv",
]


def rows(labels: quorate.Labels) -> list:
    table = labels.table
    return sorted(zip(table["task"], table["worker"], table["label"]))


@pytest.mark.parametrize("name", FILES)
def test_every_format_holds_the_same_labels(name: str) -> None:
    expected = quorate.read(FIXTURES / "long.csv")
    assert rows(quorate.read(FIXTURES / name)) == rows(expected)
    assert quorate.aggregate(FIXTURES / name).to_dict() == quorate.aggregate(expected).to_dict()


def test_what_was_read_and_left_out_is_said() -> None:
    notes = quorate.read(str(FIXTURES / "label-studio.json")).notes
    assert notes[0] == "read as a Label Studio export: 3 tasks, 3 annotators, question `sentiment`"
    assert notes[1].startswith("left out: 1 answer skipped, 1 answer in drafts")
    assert "use_gold=True" in notes[2]


def test_gold_in_the_file_is_used_on_request() -> None:
    result = quorate.aggregate(FIXTURES / "toloka.tsv", "dawid-skene", reading={"use_gold": True})
    confidence = dict(zip(result.labels["task"], result.labels["confidence"]))
    assert confidence["12"] == 1.0 and confidence["13"] < 1.0


def test_questions_and_formats_are_arguments(tmp_path: Path) -> None:
    results = [{"from_name": "tone", "value": {"choices": ["dry"]}}, {"from_name": "stars", "value": {"rating": 4}}]
    tasks = [{"id": 1, "data": {}, "annotations": [{"completed_by": 3, "result": results}]}]
    path = tmp_path / "two.json"
    path.write_text(json.dumps(tasks))
    with pytest.raises(quorate.InputError, match='"tone", "stars".*argument question'):
        quorate.read(path)
    assert rows(quorate.read(path, question="stars")) == [("1", "3", "4")]
    assert quorate.aggregate(path, "majority-vote", reading={"question": "tone"}).to_dict() == {"1": "dry"}
    renamed = tmp_path / "export.dat"
    path.rename(renamed)
    assert rows(quorate.read(renamed, format="label-studio", question="tone")) == [("1", "3", "dry")]
    with pytest.raises(quorate.QuorateError, match="quorate.FORMATS"):
        quorate.read(renamed, format="excel")
    assert "prodigy" in quorate.FORMATS


def test_convert_goes_there_and_back(tmp_path: Path) -> None:
    expected = rows(quorate.read(FIXTURES / "long.csv"))
    for to, name in [("label-studio", "x.json"), ("doccano", "x.zip"), ("toloka", "x.tsv"), ("wide", "x.csv")]:
        quorate.convert(FIXTURES / "label-studio.json", tmp_path / name, to=to)
        assert rows(quorate.read(tmp_path / name)) == expected, to


def test_truths_in_the_file_and_beside_it_are_refused_together() -> None:
    """As the program does: neither takes the place of the other."""
    with pytest.raises(quorate.errors.ParameterError, match="leave gold or use_gold out"):
        quorate.aggregate(FIXTURES / "toloka.tsv", gold={"11": "pos"}, reading={"use_gold": True})
    marked = quorate.read(FIXTURES / "toloka.tsv", use_gold=True)
    with pytest.raises(quorate.errors.ParameterError, match="truths are marked in the labels"):
        quorate.aggregate(marked, gold={"11": "pos"})
