"""Writes python/quorate/methods.pyi, the types of the classes that quorate.methods makes of the table of methods.

Run it with the package installed; ``--check`` only says whether the file is up to date, as a test does.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from typing import Any, Dict, List

from quorate import _quorate
from quorate.methods import class_name, signature_of  # type: ignore[attr-defined]

TARGET = pathlib.Path(__file__).parents[1] / "quorate" / "methods.pyi"

OTHERS = ["Estimator", "Ranker", "clone", "find_method", "find_ranker", "list_methods", "list_rankers"]

HEADER = """# Written by python/tools/generate_methods.py from the table of methods: do not edit.

from typing import List, Literal, Optional, Type

from ._estimator import Estimator as Estimator
from ._estimator import clone as clone
from ._ranker import Ranker as Ranker

__all__ = [
{names}
]

def list_methods() -> List[str]: ...
def find_method(name: str) -> Type[Estimator]: ...
def list_rankers() -> List[str]: ...
def find_ranker(name: str) -> Type[Ranker]: ...
"""


def stub_of(method: Dict[str, Any]) -> str:
    parameters = list(signature_of(method).parameters.values())[1:]
    fields = [f"    {own.name}: {own.annotation}" for own in parameters]
    defaults = {own.name: repr(own.default).replace("'", '"') for own in parameters}
    given = [f"        {own.name}: {own.annotation} = {defaults[own.name]}," for own in parameters]
    base = "Estimator" if method["takes"] == "labels" else "Ranker"
    lines: List[str] = [f"class {class_name(method['name'])}({base}):", *fields[:-2]]
    lines += ["    def __init__(", "        self,", "        *,", *given, "    ) -> None: ..."]
    return "\n".join(lines)


def module() -> str:
    table = _quorate.method_table()
    classes = [class_name(method["name"]) for method in table]
    assert len(set(classes)) == len(classes), "two methods have one class name"
    listed = sorted([*classes, *OTHERS])
    head = HEADER.format(names="\n".join(f'    "{name}",' for name in listed))
    return "\n".join([head, *(stub_of(method) + "\n" for method in table)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether the file is up to date")
    arguments = parser.parse_args()
    text = module()
    if arguments.check:
        if TARGET.read_text(encoding="utf-8") == text:
            return 0
        print(f"{TARGET} is not up to date: run python {__file__}", file=sys.stderr)
        return 1
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
