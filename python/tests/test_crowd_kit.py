"""crowd-kit's aggregators of labels, metrics and postprocessing: signatures, attributes, shapes, index, errors, edges."""

from __future__ import annotations

import inspect
import subprocess
import sys
import warnings
from typing import Any, Dict, List

import numpy
import pandas
import pytest

import quorate
from quorate.compat import crowdkit
from quorate.compat.crowdkit import aggregation
from quorate.compat.crowdkit.metrics.data import alpha_krippendorff, consistency, uncertainty
from quorate.compat.crowdkit.metrics.workers import accuracy_on_aggregates
from quorate.compat.crowdkit.postprocessing import entropy_threshold

SIGNATURES: Dict[str, Dict[str, Any]] = {
    "MajorityVote": {"default_skill": None, "on_missing_skill": "error"},
    "Wawa": {},
    "GoldMajorityVote": {},
    "ZeroBasedSkill": {"n_iter": 100, "lr_init": 1.0, "lr_steps_to_reduce": 20, "lr_reduce_factor": 0.5, "eps": 1e-5},
    "DawidSkene": {"n_iter": 100, "tol": 1e-5, "initial_error_strategy": None},
    "OneCoinDawidSkene": {"n_iter": 100, "tol": 1e-5, "initial_error_strategy": None},
    "GLAD": {
        "n_iter": 100, "tol": 1e-5, "silent": True, "labels_priors": None, "alphas_priors_mean": None,
        "betas_priors_mean": None, "m_step_max_iter": 25, "m_step_tol": 1e-2,
    },
    "MACE": {
        "n_restarts": 10, "n_iter": 50, "method": "vb", "smoothing": 0.1, "default_noise": 0.5, "alpha": 0.5, "beta": 0.5,
        "random_state": 0, "verbose": 0,
    },
    "MMSR": {"n_iter": 10000, "tol": 1e-10, "random_state": 0},
    "KOS": {"n_iter": 100, "random_state": 0},
}

ATTRIBUTES: Dict[str, List[str]] = {
    "MajorityVote": ["probas_", "skills_"],
    "Wawa": ["probas_", "skills_"],
    "GoldMajorityVote": ["probas_", "skills_"],
    "ZeroBasedSkill": ["probas_", "skills_"],
    "DawidSkene": ["probas_", "priors_", "errors_", "loss_history_"],
    "OneCoinDawidSkene": ["probas_", "priors_", "errors_", "skills_", "loss_history_"],
    "GLAD": ["probas_", "alphas_", "betas_", "loss_history_"],
    "MACE": ["probas_", "thetas_", "spamming_"],
    "MMSR": ["scores_", "skills_", "loss_history_"],
    "KOS": [],
}


def small() -> pandas.DataFrame:
    """Three workers on two tasks; the third disagrees with the first on both."""
    rows = [("t2", "b", 1), ("t1", "a", 0), ("t1", "b", 0), ("t1", "c", 1), ("t2", "a", 1), ("t2", "c", 0)]
    return pandas.DataFrame(rows, columns=["task", "worker", "label"])


@pytest.fixture(scope="module")
def crowd() -> quorate.Crowd:
    return quorate.simulate(tasks=90, workers=9, classes=2, accuracy=(0.6, 0.9), labels_per_task=5, seed=8)


@pytest.fixture(scope="module")
def frame(crowd: quorate.Crowd) -> pandas.DataFrame:
    found: pandas.DataFrame = crowd.labels.table.to_pandas().sample(frac=1, random_state=1)
    return found


@pytest.fixture(scope="module")
def truth(crowd: quorate.Crowd) -> pandas.Series:
    found: pandas.Series = crowd.truth.to_pandas().set_index("task")["label"]
    return found


def fit(name: str, frame: pandas.DataFrame, truth: pandas.Series) -> Any:
    """The aggregator after ``fit_predict``, with its labels."""
    method = getattr(aggregation, name)()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", quorate.QuorateWarning)
        labels = method.fit_predict(frame, truth.iloc[:30]) if name == "GoldMajorityVote" else method.fit_predict(frame)
    return method, labels


@pytest.mark.parametrize("name", list(SIGNATURES))
def test_every_class_keeps_the_contract(name: str, frame: pandas.DataFrame, truth: pandas.Series) -> None:
    kind = getattr(aggregation, name)
    parameters = inspect.signature(kind).parameters
    assert {own: parameters[own].default for own in parameters} == SIGNATURES[name]
    assert list(parameters) == list(SIGNATURES[name]), "the order counts for arguments without names"
    fresh = kind()
    assert all(getattr(fresh, own) == default for own, default in SIGNATURES[name].items())
    assert repr(fresh).startswith(f"{name}(")
    for attribute in ["labels_", *ATTRIBUTES[name]]:
        assert not hasattr(fresh, attribute), "nothing is learnt before the fit"
    method, labels = fit(name, frame, truth)
    assert labels.name == "agg_label" and labels.index.name == "task" and labels is method.labels_
    assert set(labels.index) == set(frame["task"]) and set(labels) <= {"1", "2"}
    assert (labels == truth[labels.index]).mean() > 0.8
    for attribute in ATTRIBUTES[name]:
        assert hasattr(method, attribute), attribute
    probas = getattr(method, "probas_", None)
    if probas is not None:
        assert (probas.index == labels.index).all() and probas.index.name == "task" and sorted(probas.columns) == ["1", "2"]
        assert numpy.allclose(probas.sum(axis=1), 1) and (probas.idxmax(axis=1) == labels).all()
        by_proba = kind().fit_predict_proba(frame, *([truth.iloc[:30]] if name == "GoldMajorityVote" else []))
        assert numpy.allclose(by_proba, probas)
    skills = getattr(method, "skills_", None)
    if skills is not None:
        assert skills.name == "skill" and skills.index.name == "worker" and set(skills.index) == set(frame["worker"])
    with pytest.raises(KeyError, match="expected one named 'worker'"):
        kind().fit_predict(frame.drop(columns="worker"), *([truth] if name == "GoldMajorityVote" else []))


@pytest.mark.parametrize("name", [name for name in SIGNATURES if name != "GoldMajorityVote"])
def test_frames_without_rows(name: str) -> None:
    method = getattr(aggregation, name)().fit(small().iloc[:0])
    for attribute in ["labels_", *ATTRIBUTES[name]]:
        if hasattr(method, attribute):
            assert len(getattr(method, attribute)) == 0, attribute


def test_majority_vote_and_skills() -> None:
    vote = aggregation.MajorityVote()
    assert vote.fit_predict(small()).to_dict() == {"t1": 0, "t2": 1} and vote.labels_.dtype == "int64"
    assert vote.probas_.loc["t1"].tolist() == pytest.approx([2 / 3, 1 / 3])
    assert vote.skills_.to_dict() == {"a": 1.0, "b": 1.0, "c": 0.0}
    tie = small()[lambda rows: rows["worker"] != "b"]
    assert vote.fit_predict(tie).to_dict() == {"t1": 0, "t2": 0}, "ties go to the lowest label"
    skills = pandas.Series({"a": 0.2, "b": 0.3, "c": 0.6})
    assert vote.fit_predict(small(), skills).to_dict() == {"t1": 1, "t2": 0}
    assert vote.fit_predict_proba(small(), skills).loc["t1", 1] == pytest.approx(0.6 / 1.1)
    known = skills.drop("c")
    with pytest.raises(ValueError, match="found none for 1 workers, for example 'c'"):
        vote.fit(small(), known)
    assert aggregation.MajorityVote(on_missing_skill="ignore").fit_predict(small(), known).to_dict() == {"t1": 0, "t2": 1}
    assert aggregation.MajorityVote(0.9, "value").fit_predict(small(), known).to_dict() == {"t1": 1, "t2": 0}
    alone = pandas.concat([small(), pandas.DataFrame([["t3", "c", 0]], columns=["task", "worker", "label"])])
    for options, words in [
        ({"on_missing_skill": "ignore"}, "1 tasks have no worker with a skill"),
        ({"on_missing_skill": "drop"}, "on_missing_skill: found 'drop'"),
        ({"on_missing_skill": "value"}, "default_skill: found None"),
        ({"default_skill": 0.5}, "default_skill: found 0.5"),
    ]:
        with pytest.raises(ValueError, match=words):
            aggregation.MajorityVote(**options).fit(alone, known)


def test_votes_by_skill() -> None:
    wawa = aggregation.Wawa().fit(small())
    assert not hasattr(wawa, "labels_"), "fit learns skills, and predict labels"
    assert wawa.skills_.to_dict() == {"a": 1.0, "b": 1.0, "c": 0.0}
    assert wawa.predict(small()).to_dict() == {"t1": 0, "t2": 1} and wawa.predict_proba(small()).loc["t1", 0] == 1.0
    gold = aggregation.GoldMajorityVote()
    assert gold.fit_predict(small(), pandas.Series({"t1": 1})).to_dict() == {"t1": 1, "t2": 0}
    assert gold.skills_.to_dict() == {"a": 0.0, "b": 0.0, "c": 1.0}
    with pytest.raises(ValueError, match="found none for"):
        gold.fit(small(), pandas.Series({"t9": 1})).predict(small())
    zero = aggregation.ZeroBasedSkill(n_iter=0).fit(small())
    assert zero.skills_.tolist() == pytest.approx([0.5 + 1e-5] * 3)
    assert aggregation.ZeroBasedSkill().fit(small()).skills_.to_dict() == pytest.approx({"a": 1, "b": 1, "c": 0}, abs=1e-4)


def test_dawid_skene() -> None:
    method = aggregation.DawidSkene(100)
    assert method.fit_predict(small(), pandas.Series({"t1": 1}))["t1"] == 1
    assert method.errors_.index.names == ["worker", "label"] and list(method.errors_.columns) == [0, 1]
    assert method.priors_.name == "prior" and method.priors_.sum() == pytest.approx(1)
    index = pandas.MultiIndex.from_product([["a", "b"], [0, 1]], names=["worker", "label"])
    history = pandas.DataFrame([[9, 1], [1, 9], [9, 1], [1, 9]], index=index, columns=[0, 1])
    added = aggregation.DawidSkene(100, initial_error_strategy="addition")
    assert added.fit_predict(small(), initial_error=history).to_dict() == {"t1": 0, "t2": 1}
    with pytest.raises(ValueError, match="index"):
        added.fit(small(), initial_error=history.rename_axis(["who", "label"]))
    with pytest.raises(ValueError, match="found 'add'"):
        aggregation.DawidSkene(initial_error_strategy="add").fit(small(), initial_error=history)
    with pytest.raises(quorate.errors.NotApplicableError, match="'assign'"):
        aggregation.DawidSkene(initial_error_strategy="assign").fit(small(), initial_error=history)
    start = aggregation.DawidSkene(0).fit(small())
    assert start.probas_.loc["t1"].tolist() == pytest.approx([2 / 3, 1 / 3]) and start.loss_history_ == []
    assert start.errors_.loc[("a", 0)].tolist() == pytest.approx([2 / 3, 1 / 3])
    assert aggregation.DawidSkene(0).fit(small(), pandas.Series({"t1": 1, "t9": 0})).labels_["t1"] == 1


def test_glad_knows_easy_tasks(frame: pandas.DataFrame) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", quorate.QuorateWarning)
        method = aggregation.GLAD(n_iter=200).fit(frame)
    assert method.alphas_.name == "alpha" and method.betas_.name == "beta"
    assert list(method.alphas_.index) == list(frame["worker"].unique())
    # The defining equation: each easiness is a maximum of the expected likelihood with its prior.
    def expected(task: str, easiness: float) -> float:
        own = frame[frame["task"] == task]
        score = own["worker"].map(method.alphas_) * numpy.exp(easiness)
        right = numpy.array([method.probas_.loc[task, label] for label in own["label"]])
        told = right * -numpy.log1p(numpy.exp(-score)) + (1 - right) * -numpy.log1p(numpy.exp(score))
        return float(told.sum() - (easiness - 1) ** 2 / 2)

    for task, easiness in list(method.betas_.items())[:20]:
        assert expected(task, easiness) >= max(expected(task, easiness - 1e-3), expected(task, easiness + 1e-3))


def test_mace_tells_what_is_guessed() -> None:
    draw = numpy.random.default_rng(4)
    rows = []
    for task in range(150):
        right = draw.choice(["x", "y", "z"])
        rows += [(task, f"w{number}", right if draw.random() < 0.85 else draw.choice(["x", "y", "z"])) for number in range(4)]
        rows.append((task, "spammer", "x" if draw.random() < 0.9 else "y"))
    frame = pandas.DataFrame(rows, columns=["task", "worker", "label"])
    method = aggregation.MACE().fit(frame)
    labels, workers = list(frame["label"].unique()), list(frame["worker"].unique())
    assert method.thetas_.shape == (5, 3) and method.spamming_.shape == (5, 2)
    assert numpy.allclose(method.thetas_.sum(axis=1), 1) and numpy.allclose(method.spamming_.sum(axis=1), 1)
    spammer = workers.index("spammer")
    assert method.spamming_[spammer, 0] > 0.8 and method.spamming_[:4, 0].max() < 0.4
    # 10 pseudo-counts for every label draw the share of 0.9 in 150 guesses towards even shares.
    assert method.thetas_[spammer, labels.index("x")] == pytest.approx((0.9 * 150 + 10) / (150 + 30), abs=0.05)
    assert aggregation.MACE(method="em").fit(frame).labels_.index.name == "task"
    with pytest.raises(ValueError, match="method: found 'bayes'"):
        aggregation.MACE(method="bayes").fit(frame)


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        ("ZeroBasedSkill", "lr_init", 0.5), ("ZeroBasedSkill", "lr_reduce_factor", 0.9), ("ZeroBasedSkill", "eps", 1e-3),
        ("OneCoinDawidSkene", "initial_error_strategy", "addition"),
        ("GLAD", "labels_priors", pandas.Series({"1": 0.5, "2": 0.5})), ("GLAD", "alphas_priors_mean", pandas.Series({"a": 1.0})),
        ("GLAD", "betas_priors_mean", pandas.Series({"a": 1.0})), ("GLAD", "m_step_tol", 0.5),
        ("MACE", "default_noise", 0.1), ("MACE", "alpha", 1.0), ("MACE", "beta", 1.0),
    ],
)
def test_arguments_without_a_counterpart_are_refused(name: str, option: str, value: Any, frame: pandas.DataFrame) -> None:
    with pytest.raises(quorate.errors.NotApplicableError, match=f"{option}: found"):
        getattr(aggregation, name)(**{option: value}).fit(frame)


def test_kos_is_for_two_labels(frame: pandas.DataFrame) -> None:
    assert aggregation.KOS(random_state=3).fit_predict(frame).equals(aggregation.KOS(random_state=3).fit_predict(frame))
    with pytest.raises(ValueError, match="found 3 labels"):
        aggregation.KOS().fit(frame.assign(label=frame["label"].where(frame["worker"] != "w1", "3")))


def test_binary_relevance() -> None:
    answers = [["tree", "house"], ["tree"], ["tree", "car"], ["car"], [], ["car"]]
    frame = pandas.DataFrame({"task": ["t1"] * 3 + ["t2"] * 3, "worker": list("abc") * 2, "label": answers})
    method = aggregation.BinaryRelevance()
    labels = method.fit_predict(frame)
    assert labels.to_dict() == {"t1": ["tree"], "t2": ["car"]} and labels.index.name == "task"
    assert sorted(method.aggregators_) == ["car", "house", "tree"]
    model = aggregation.BinaryRelevance(aggregation.DawidSkene(20)).fit(frame)
    assert isinstance(model.aggregators_["car"], aggregation.DawidSkene) and model.aggregators_["car"].n_iter == 20
    with pytest.raises(ValueError, match="base_aggregator: found str"):
        aggregation.BinaryRelevance("vote")  # type: ignore[arg-type]


def test_metrics_by_hand() -> None:
    frame = small()
    skills = pandas.Series({"a": 0.8, "b": 0.7, "c": 0.6})
    by_task = consistency(frame, skills, by_task=True)
    right, wrong = 0.8 * 0.7 * 0.4, 0.2 * 0.3 * 0.6
    assert by_task.to_dict() == pytest.approx({"t1": right / (right + wrong), "t2": right / (right + wrong)})
    assert consistency(frame, skills) == pytest.approx(by_task.mean())
    assert consistency(frame, aggregator=aggregation.Wawa()) == 1.0, "the skills of the aggregator: 1, 1 and 0"
    entropy = -(2 / 3 * numpy.log(2 / 3) + 1 / 3 * numpy.log(1 / 3))
    assert uncertainty(frame) == pytest.approx(entropy)
    assert uncertainty(frame, compute_by="worker", aggregate=False).to_dict() == pytest.approx(dict.fromkeys("abc", numpy.log(2)))
    assert accuracy_on_aggregates(frame) == pytest.approx(4 / 6)
    assert accuracy_on_aggregates(frame, aggregates=pandas.Series({"t1": 1}), by="worker").to_dict() == {"a": 0, "b": 0, "c": 1}
    assert crowdkit.metrics.performers.accuracy_on_aggregates is accuracy_on_aggregates
    for fails, words in [
        (lambda: consistency(frame, aggregator=aggregation.DawidSkene(5)), "learns no skills"),
        (lambda: uncertainty(frame, skills.drop("a")), "found none for 1 workers"),
        (lambda: uncertainty(frame.drop(columns="label")), "expected one named 'label'"),
    ]:
        with pytest.raises(AssertionError, match=words):
            fails()
    with pytest.raises(TypeError, match="expected a pandas DataFrame"):
        alpha_krippendorff([("t", "w", 1)])
    with pytest.raises(ValueError, match="no aggregates"):
        accuracy_on_aggregates(frame, aggregator=None)


def test_alpha_is_that_of_the_agreement(frame: pandas.DataFrame) -> None:
    assert alpha_krippendorff(frame) == pytest.approx(quorate.agreement(frame).alpha_nominal.value)
    numbers = frame.assign(label=frame["label"].astype(int))
    squared = alpha_krippendorff(numbers, lambda one, other: (one - other) ** 2)
    assert squared == pytest.approx(quorate.agreement(numbers).alpha_interval.value)


def test_entropy_threshold_leaves_out_who_says_always_the_same(frame: pandas.DataFrame) -> None:
    worker = frame["worker"].iloc[0]
    lazy = frame.assign(label=frame["label"].where(frame["worker"] != worker, "1"))
    assert set(frame["worker"]) - set(entropy_threshold(lazy)["worker"]) == {worker}
    assert entropy_threshold(lazy, min_answers=1000).equals(lazy)
    with pytest.warns(quorate.DataWarning, match="a lower percentile"):
        entropy_threshold(lazy, percentile=90)


def test_data_sets_are_not_downloaded() -> None:
    assert crowdkit.datasets.get_datasets_list() == []
    with pytest.raises(quorate.errors.NotApplicableError, match="nothing is downloaded here"):
        crowdkit.datasets.load_dataset("relevance-2")


def test_code_that_cannot_be_changed() -> None:
    code = """
import sys
import quorate.compat.crowdkit
sys.modules["crowdkit"] = quorate.compat.crowdkit
import pandas as pd
from crowdkit.aggregation import DawidSkene, NoisyBradleyTerry
from crowdkit.aggregation.base import BaseClassificationAggregator
from crowdkit.metrics.data import consistency
from crowdkit.metrics.workers import accuracy_on_aggregates
from crowdkit.postprocessing import entropy_threshold
from crowdkit.datasets import load_dataset
df = pd.DataFrame([["t", "a", 1], ["t", "b", 1]], columns=["task", "worker", "label"])
print(DawidSkene(5).fit_predict(df)["t"], consistency(df))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("1 "), done.stderr
