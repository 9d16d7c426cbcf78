"""Runs one method of crowd-kit from file to labels or of evalica from file to leaderboard, or compares two files of labels.

run_peer.py fit METHOD PARAMETERS SECONDS LABELS OUTPUT    stops after SECONDS
run_peer.py rank METHOD SECONDS COMPARISONS OUTPUT         stops after SECONDS
run_peer.py compare A B OUTPUT                             writes the share of the tasks of A with the same label in B
run_peer.py version OUTPUT                                 writes the versions of what is installed
"""

import json
import signal
import sys


def fit(method, parameters, seconds, labels, output):
    signal.signal(signal.SIGALRM, lambda *_: sys.exit(f"stopped after {seconds} s"))
    signal.alarm(int(seconds))
    import crowdkit.aggregation
    import pandas

    table = pandas.read_csv(labels)[["task", "worker", "label"]]
    model = getattr(crowdkit.aggregation, method)(**json.loads(parameters))
    found = model.fit_predict(table)
    found.rename("label").rename_axis("task").to_csv(output)


def rank(method, seconds, comparisons, output):
    signal.signal(signal.SIGALRM, lambda *_: sys.exit(f"stopped after {seconds} s"))
    signal.alarm(int(seconds))
    import evalica
    import numpy
    import pandas

    table = pandas.read_csv(comparisons, usecols=["left", "right", "winner"], dtype="category")
    outcomes = {"left": evalica.Winner.X, "right": evalica.Winner.Y, "tie": evalica.Winner.Draw}
    winners = numpy.array([outcomes[name] for name in table["winner"].cat.categories], dtype=object)
    winners = winners[table["winner"].cat.codes.to_numpy()].tolist()
    found = getattr(evalica, method)(table["left"].tolist(), table["right"].tolist(), winners)
    found.scores.rename("score").rename_axis("item").to_csv(output)


def compare(first, second, output):
    import pandas

    first, second = (pandas.read_csv(name, index_col="task")["label"] for name in (first, second))
    with open(output, "w") as file:
        file.write(str(float((first == second.reindex(first.index)).mean())))


def version(output):
    import importlib.metadata as metadata
    import platform

    names = ["crowd-kit", "pandas", "numpy", "scikit-learn", "evalica"]
    versions = [f"{name} {metadata.version(name)}" for name in names]
    with open(output, "w") as file:
        file.write(", ".join([f"Python {platform.python_version()}", *versions]))


{"fit": fit, "rank": rank, "compare": compare, "version": version}[sys.argv[1]](*sys.argv[2:])
