"""The arguments of aggregate: the ones that people use, and groups of the rest."""

from __future__ import annotations

import inspect
from typing import Any, Dict

import pytest

import quorate
import quorate.results


def test_about_ten_arguments_and_three_groups() -> None:
    parameters = list(inspect.signature(quorate.aggregate).parameters)
    assert parameters[:2] == ["data", "method"] and parameters[-4:] == ["knowledge", "reading", "fitting", "parameters"]
    assert len(parameters) <= 13
    assert len(quorate.__all__) <= 40


@pytest.mark.parametrize(
    ("old", "group"),
    [
        ("prior", "knowledge"),
        ("worker_prior", "knowledge"),
        ("features", "knowledge"),
        ("class_probabilities", "knowledge"),
        ("duplicates", "reading"),
        ("missing", "reading"),
        ("use_gold", "reading"),
        ("update", "fitting"),
        ("calibrate", "fitting"),
        ("memory", "fitting"),
        ("parameters", "fitting"),
    ],
)
def test_an_argument_that_moved_says_where_it_went(rows: Any, old: str, group: str) -> None:
    with pytest.raises(TypeError, match=f"{old}.*part of {group}: {group}={{") as caught:
        quorate.aggregate(rows, "majority-vote", **{old: None})
    assert "goes to fitting" not in str(caught.value)


def test_a_parameter_of_the_method_with_such_a_name_goes_to_fitting(rows: Any) -> None:
    with pytest.raises(TypeError, match="the parameter 'prior' of dawid-skene goes to fitting"):
        quorate.aggregate(rows, "dawid-skene", prior="flat")
    flat = quorate.aggregate(rows, "dawid-skene", fitting={"parameters": {"prior": "flat"}})
    assert flat.to_dict() == quorate.methods.DawidSkene(prior="flat").fit_predict(rows)


def test_groups_are_objects_or_dicts_and_shortcuts_are_part_of_them(rows: Any) -> None:
    few = [(task, worker, str(label)) for task, worker, label in rows[:300]]
    few.append((few[0][0], few[0][1], "x"))

    def fit(**options: Any) -> Dict[Any, Any]:
        return quorate.aggregate(few, "majority-vote", **options).to_dict()

    first = fit(reading=quorate.Reading(duplicates="first"))
    assert first == fit(reading={"duplicates": "first"}) and "x" not in first.values()
    columns = {"task": "task", "worker": "worker", "label": "label"}
    assert fit(columns=columns) == fit(reading={"columns": columns})
    gold = {few[0][0]: "x"}
    assert fit(gold=gold) == fit(knowledge=quorate.Knowledge(gold=gold)) and fit(gold=gold)[few[0][0]] == "x"
    with pytest.raises(TypeError, match="gold is given twice"):
        fit(gold=gold, knowledge={"gold": gold})
    with pytest.raises(TypeError, match="reading: found 'duplicate', expected columns, classes, duplicates"):
        fit(reading={"duplicate": "first"})
    with pytest.raises(TypeError, match="'seed': .*(str|integer)"):
        fit(seed="one")


def test_names_that_moved_say_where_they_are() -> None:
    assert quorate.methods.DawidSkene is quorate.find_method("dawid-skene")
    with pytest.raises(AttributeError, match="it is quorate.methods.DawidSkene"):
        quorate.DawidSkene
    with pytest.raises(AttributeError, match="it is quorate.results.Finding"):
        quorate.Finding
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        quorate.nothing
