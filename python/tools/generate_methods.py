"""Writes python/quorate/methods.py from the library's table of methods, so that nothing drifts.

Run it with the package installed; ``--check`` only says whether the file is up to date, as a test does.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import textwrap
from typing import Any, Dict, List

from quorate import _quorate

TARGET = pathlib.Path(__file__).parents[1] / "quorate" / "methods.py"
WIDTH = 110

WORDS = {
    "dl": "DL",
    "mv": "MV",
    "symnmf": "SymNMF",
    "em": "EM",
    "ds": "DS",
    "cnmf": "CNMF",
    "glad": "GLAD",
    "mace": "MACE",
    "ibcc": "IBCC",
    "ebcc": "EBCC",
    "kos": "KOS",
    "svd": "SVD",
    "iwmv": "IWMV",
    "spa": "SPA",
    "admm": "ADMM",
    "pg": "PG",
    "tac": "TAC",
    "msr": "MSR",
    "cria": "CRIA",
}

HEADER = '''"""A class for each method. Written by python/tools/generate_methods.py from the table of methods: do not edit.

>>> from quorate.methods import DawidSkene
>>> rows = [("t1", "ann", "cat"), ("t1", "bob", "cat"), ("t1", "cem", "dog"), ("t2", "bob", "dog")]
>>> DawidSkene(max_iter=20).fit_predict(rows)
{{'t1': 'cat', 't2': 'dog'}}
"""

from __future__ import annotations

from typing import {typing}

from . import _quorate
from ._estimator import Estimator, clone

__all__ = [
{names}
]


def list_methods() -> List[str]:
    """Names of all methods, as :func:`quorate.aggregate` takes them.

    >>> import quorate
    >>> quorate.list_methods()[0]
    'auto'
    """
    return [method["name"] for method in _quorate.method_table()]


def find_method(name: str) -> Type[Estimator]:
    """The class of a method, by the method's name or an alias.

    >>> import quorate
    >>> quorate.find_method("mv")
    <class 'quorate.methods.MajorityVote'>
    """
    return _CLASSES[_quorate.find_method(name)]
'''


def class_name(method: str) -> str:
    """``rob-symnmf-em`` becomes ``RobSymNMFEM``."""
    return "".join(WORDS.get(word, word.capitalize()) for word in method.split("-"))


def type_of(parameter: Dict[str, Any]) -> str:
    if parameter["kind"] == "choice":
        return f"Literal[{', '.join(repr(choice) for choice in parameter['choices'])}]".replace("'", '"')
    return {"int": "int", "float": "float", "text": "str"}[parameter["kind"]]


def default_of(parameter: Dict[str, Any]) -> str:
    default: str = parameter["default"]
    if parameter["kind"] == "int":
        return default
    if parameter["kind"] == "float":
        return repr(float(default))
    return f'"{default}"'


def paragraph(text: str, indent: str, later: str = "") -> str:
    return textwrap.fill(
        " ".join(text.split()),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + later,
        break_long_words=False,
        break_on_hyphens=False,
    )


def source_of(method: Dict[str, Any]) -> str:
    name = class_name(method["name"])
    summary = method["summary"].rstrip(".").replace("\\", "\\\\")
    lines: List[str] = [f"class {name}(Estimator):"]
    first = paragraph(f'"""{summary}.', "    ")
    lines += [first, "", paragraph(method["description"].replace("\\", "\\\\"), "    "), ""]
    facts = []
    if method["returns_model"]:
        facts.append("Estimates a model: ``priors_``, ``errors_``, ``skills_``.")
    if method["needs_features"]:
        facts.append("Needs the argument ``features`` of ``fit``.")
    if method["needs_probabilities"]:
        facts.append("Needs the argument ``class_probabilities`` of ``fit``.")
    if facts:
        lines += [paragraph(" ".join(facts), "    "), ""]
    if method["citation"]:
        lines += [paragraph("Reference: " + method["citation"].replace("\\", "\\\\"), "    "), ""]
    lines.append("    Args:")
    for parameter in method["parameters"]:
        own = parameter["name"].replace("-", "_")
        about = parameter["about"].rstrip(".")
        lines.append(paragraph(f"{own}: {about}; {parameter['range']}.", "        ", "    "))
    lines.append(paragraph("random_state: Seed of everything random.", "        "))
    lines.append(paragraph("n_jobs: Number of threads; None takes all.", "        "))
    lines.append('    """')
    parameters = [p["name"].replace("-", "_") for p in method["parameters"]]
    listed = "".join(f'"{own}", ' for own in parameters).rstrip()
    if len(parameters) > 1:
        listed = listed.rstrip(",")
    lines += ["", f'    _method = "{method["name"]}"', f"    _parameters = ({listed})", ""]
    lines += ["    def __init__(", "        self,", "        *,"]
    for parameter, own in zip(method["parameters"], parameters):
        lines.append(f"        {own}: {type_of(parameter)} = {default_of(parameter)},")
    lines += ["        random_state: int = 0,", "        n_jobs: Optional[int] = None,", "    ) -> None:"]
    lines += [f"        self.{own} = {own}" for own in parameters]
    lines += ["        self.random_state = random_state", "        self.n_jobs = n_jobs"]
    return "\n".join(lines)


def module() -> str:
    table = _quorate.method_table()
    classes = [class_name(method["name"]) for method in table]
    assert len(set(classes)) == len(classes), "two methods have one class name"
    listed = sorted([*classes, "Estimator", "clone", "find_method", "list_methods"])
    head = HEADER.format(
        names="\n".join(f'    "{name}",' for name in listed),
        typing=", ".join(sorted({"Dict", "List", "Literal", "Optional", "Type"})),
    )
    body = "\n\n\n".join(source_of(method) for method in table)
    index = "\n".join(f'    "{m["name"]}": {class_name(m["name"])},' for m in table)
    return f"{head}\n\n{body}\n\n\n_CLASSES: Dict[str, Type[Estimator]] = {{\n{index}\n}}\n"


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
