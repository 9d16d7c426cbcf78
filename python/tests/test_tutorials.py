"""The tutorials run, and say what they are meant to show."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

TUTORIALS = pathlib.Path(__file__).parents[1] / "tutorials"


def run(name: str, *arguments: str, cwd: pathlib.Path) -> str:
    command = [sys.executable, str(TUTORIALS / name), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.filterwarnings("default")
def test_crowd_labels(tmp_path: pathlib.Path) -> None:
    told = run("crowd_labels.py", str(tmp_path / "pictures"), cwd=tmp_path)
    assert "tell nothing" in told or "random" in told or "guess" in told, told
    errors = [float(line.split("error ")[1].split(" %")[0]) for line in told.splitlines() if "Evaluation: error" in line]
    votes, default, gold = errors
    assert default < votes and gold < votes
    assert "<svg" in (tmp_path / "pictures" / "result.html").read_text(encoding="utf-8")


def test_llm_judges(tmp_path: pathlib.Path) -> None:
    told = run("llm_judges.py", cwd=tmp_path)
    assert "large-a" in told and "large-b" in told and "Evaluation: error" in told


def test_planning(tmp_path: pathlib.Path) -> None:
    told = run("planning.py", str(tmp_path / "pictures"), cwd=tmp_path)
    scored = [line for line in told.splitlines() if "Evaluation: error" in line]
    error = {line.split(":")[0]: float(line.split("error ")[1].split(" %")[0]) for line in scored}
    assert error["as planned"] < error["anyhow"], told
    assert "</html>" in (tmp_path / "pictures" / "report.html").read_text(encoding="utf-8")


def test_rank_models(tmp_path: pathlib.Path) -> None:
    told = run("rank_models.py", str(tmp_path / "pictures"), cwd=tmp_path)
    lines = {line.split()[0]: line for line in told.splitlines() if line}
    assert "answers at random" in lines["careless"] and "prefers the left side" in lines["first-is-best"], told
    off = {name: float(lines[name].split("off by")[1].split()[0]) for name in ("judge-bt", "bradley-terry", "win-rate", "elo")}
    assert min(off, key=lambda name: off[name]) == "judge-bt", told
    assert "<svg" in (tmp_path / "pictures" / "ranking.html").read_text(encoding="utf-8")
