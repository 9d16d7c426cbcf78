"""The contract of every class: parameters, fit, predict, what was learnt, pickling."""

from __future__ import annotations

import pathlib
import pickle
import subprocess
import sys
import warnings
from typing import Any

import numpy
import pandas
import polars
import pytest

import quorate
from quorate import methods
from quorate._quorate import method_table

TABLE = {entry["name"]: entry for entry in method_table() if entry["takes"] == "labels"}


@pytest.fixture(scope="module")
def frame() -> pandas.DataFrame:
    """Two classes, so that every method can be used; every worker labels many tasks."""
    crowd = quorate.simulate(tasks=80, workers=8, classes=2, accuracy=(0.6, 0.9), labels_per_task=5, seed=2)
    return crowd.labels.table.to_pandas()


def options(name: str, frame: pandas.DataFrame) -> Any:
    """The side data that a method needs."""
    tasks = list(dict.fromkeys(frame["task"]))
    given = {}
    if TABLE[name]["needs_features"]:
        given["features"] = numpy.random.default_rng(0).normal(size=(len(tasks), 4))
        given["feature_tasks"] = tasks
    if TABLE[name]["needs_probabilities"]:
        given["class_probabilities"] = {"task": tasks, "p:1": [0.6] * len(tasks), "p:2": [0.4] * len(tasks)}
    return {"knowledge": given}


@pytest.mark.parametrize("name", list(TABLE))
def test_every_class_keeps_the_contract(name: str, frame: pandas.DataFrame) -> None:
    kind = methods.find_method(name)
    fresh = kind()
    parameters = fresh.get_params()
    assert set(parameters) == {p["name"].replace("-", "_") for p in TABLE[name]["parameters"]} | {"random_state", "n_jobs"}
    assert methods.clone(fresh) == fresh and repr(fresh) == f"{kind.__name__}()"
    assert kind.__doc__ and TABLE[name]["summary"].rstrip(".") in " ".join(kind.__doc__.split())
    with pytest.raises(quorate.errors.NotFittedError):
        fresh.labels_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", quorate.QuorateWarning)
        fitted = fresh.fit(frame, **options(name, frame))
        labels, probas = fitted.labels_, fitted.probas_
        assert fitted is fresh
        assert labels.index.name == "task" and labels.name == "agg_label" and set(labels) <= {"1", "2"}
        assert list(probas.columns) == ["1", "2"] and (probas.index == labels.index).all()
        assert numpy.allclose(probas.sum(axis=1), 1)
        assert (methods.clone(fresh).fit_predict(frame, **options(name, frame)) == labels).all()
        again = kind(n_jobs=1).fit_predict_proba(frame, **options(name, frame))
        assert (again.to_numpy() == probas.to_numpy()).all(), "the number of threads changes nothing"
        copy = pickle.loads(pickle.dumps(fitted))
        assert (copy.probas_.to_numpy() == probas.to_numpy()).all() and copy.get_params() == parameters
        assert isinstance(fitted.n_iter_, int) and isinstance(fitted.converged_, bool)
        assert all(isinstance(value, float) for value in fitted.loss_history_)
        if TABLE[name]["returns_model"]:
            assert abs(fitted.priors_.sum() - 1) < 1e-9
            assert fitted.errors_.shape == (8 * 2, 2) and fitted.errors_.index.names == ["worker", "label"]
            assert numpy.allclose(fitted.errors_.groupby(level=0).sum(), 1)
            seen = fitted.predict(frame.iloc[:50])
            assert set(seen.index) == set(frame["task"].iloc[:50])
            unseen = frame.iloc[:50].assign(task=lambda rows: "new-" + rows["task"])
            assert fitted.predict_proba(unseen).shape == (seen.size, 2)
        else:
            assert fitted.priors_ is None and fitted.errors_ is None
            with pytest.raises(quorate.errors.NotApplicableError):
                fitted.predict(frame)


def test_parameters_are_set_checked_and_shown() -> None:
    method = methods.DawidSkene().set_params(max_iter=3, prior="flat")
    assert eval(repr(method), vars(methods)) == method and "max_iter=3" in repr(method)
    with pytest.raises(quorate.errors.ParameterError, match="unknown; DawidSkene has max_iter"):
        method.set_params(nope=1)
    rows = [("t1", "a", "x"), ("t2", "a", "y")]
    with pytest.raises(quorate.errors.ParameterError, match='"max_iter": found "0", expected a whole number'):
        methods.DawidSkene(max_iter=0).fit(rows)
    with pytest.raises(quorate.errors.ParameterError, match="n_jobs"):
        methods.DawidSkene(n_jobs=0).fit(rows)
    with pytest.raises(quorate.errors.ParameterError, match="did you mean"):
        quorate.aggregate(rows, "dawid-sken")
    with pytest.raises(quorate.errors.ParameterError, match="has max_iter"):
        quorate.aggregate(rows, "dawid-skene", maximum=2)


def test_scikit_learn_would_clone_it() -> None:
    """What scikit-learn's clone does: the constructor takes every parameter and keeps it as it is."""
    for name in TABLE:
        kind = methods.find_method(name)
        given = kind().get_params(deep=False)
        again = kind(**given).get_params(deep=False)
        assert all(given[key] is again[key] or given[key] == again[key] for key in given)


def test_predictions_of_a_model_are_its_posteriors(frame: pandas.DataFrame) -> None:
    fitted = methods.DawidSkene(tol=0).fit(frame)
    assert numpy.allclose(fitted.predict_proba(frame), fitted.probas_, atol=1e-9)
    with pytest.raises(quorate.InputError, match="none of them is by a worker"):
        fitted.predict(frame.assign(worker="stranger"))


@pytest.mark.parametrize("kind", ["polars", "pyarrow", "dict", "rows"])
def test_results_of_other_frames_are_frames_of_their_kind(kind: str, frame: pandas.DataFrame) -> None:
    import pyarrow

    data: Any = {
        "polars": lambda: polars.DataFrame(frame),
        "pyarrow": lambda: pyarrow.table(polars.DataFrame(frame)),
        "dict": lambda: frame.to_dict("list"),
        "rows": lambda: list(frame.itertuples(index=False, name=None)),
    }[kind]()
    wanted = methods.DawidSkene().fit_predict(frame)
    method = methods.DawidSkene()
    labels, probas = method.fit_predict(data), method.probas_
    if kind in ("polars", "pyarrow"):
        assert type(labels) is type(data) and type(method.errors_) is type(data)
        columns = pyarrow.table(labels).to_pydict()
        labels = dict(zip(columns["task"], columns["label"]))
        assert pyarrow.table(probas).column_names == ["task", "p:1", "p:2"]
    else:
        assert abs(sum(probas["t1"].values()) - 1) < 1e-9
    assert labels == wanted.to_dict()


def test_the_classes_are_those_of_the_table() -> None:
    """python/tools/generate_methods.py --check, where the sources are at hand."""
    script = pathlib.Path(__file__).parents[1] / "tools" / "generate_methods.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
