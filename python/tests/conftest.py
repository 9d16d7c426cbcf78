"""What the tests share: a simulated crowd, the program itself, the public data sets where they are."""

from __future__ import annotations

import csv
import os
import pathlib
import subprocess
import sys
from typing import Callable, Dict, List, Tuple

import pytest

Rows = List[Tuple[str, str, str]]

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture(scope="session")
def program() -> Callable[..., str]:
    """Runs the program of the wheel and returns its standard output."""

    def run(*arguments: object, code: int = 0) -> str:
        command = [sys.executable, "-m", "quorate._program", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == code, (command, done.stdout, done.stderr)
        return done.stdout

    return run


@pytest.fixture(scope="session")
def crowd(tmp_path_factory: pytest.TempPathFactory, program: Callable[..., str]) -> pathlib.Path:
    """A folder with labels.csv, truth.csv and model.json of a simulated crowd."""
    folder = tmp_path_factory.mktemp("crowd")
    program("simulate", "--tasks", 300, "--workers", 12, "--classes", 3, "--accuracy", "0.5,0.9",
            "--labels-per-task", 5, "--spammers", 2, "--seed", 7, "-o", folder)
    return folder


@pytest.fixture(scope="session")
def rows(crowd: pathlib.Path) -> Rows:
    """The labels of the crowd as rows of (task, worker, label)."""
    with open(crowd / "labels.csv", newline="") as file:
        return [(row["task"], row["worker"], row["label"]) for row in csv.DictReader(file)]


@pytest.fixture(scope="session")
def columns(rows: Rows) -> Dict[str, List[str]]:
    """The labels of the crowd as columns."""
    task, worker, label = zip(*rows)
    return {"task": list(task), "worker": list(worker), "label": list(label)}


def public_data() -> pathlib.Path:
    """The folder of the public data sets, which may not be there."""
    given = os.environ.get("QUORATE_DATA")
    return pathlib.Path(given) if given else ROOT.parent / "shared" / "data"
