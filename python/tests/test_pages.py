"""Examples on pages of the book, in blocks ```pycon: they run, and give what the page says."""

from __future__ import annotations

import doctest
import pathlib
import re
from typing import Any, Dict

import pytest

ROOT = pathlib.Path(__file__).parents[2]
PAGES = sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md") if "```pycon" in page.read_text("utf-8"))


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_run(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    names: Dict[str, Any] = {}
    runner = doctest.DocTestRunner()
    for block in re.finditer(r"```pycon\n(.*?)```", text, re.DOTALL):
        line = text[: block.start(1)].count("\n")
        example = doctest.DocTestParser().get_doctest(block.group(1), names, page, page, line)
        runner.run(example, clear_globs=False)
        names = example.globs
    results = runner.summarize(verbose=False)
    assert results.attempted > 0 and results.failed == 0
