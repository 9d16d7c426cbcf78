"""A class for each method, made from the table of methods; ``methods.pyi`` has their types.

>>> from quorate.methods import DawidSkene
>>> rows = [("t1", "ann", "cat"), ("t1", "bob", "cat"), ("t1", "cem", "dog"), ("t2", "bob", "dog")]
>>> DawidSkene(max_iter=20).fit_predict(rows)
{'t1': 'cat', 't2': 'dog'}

Methods that rank items by comparisons (:func:`quorate.rank`) have classes, too:

>>> from quorate.methods import WinRate
>>> WinRate().fit_predict([("new", "old", "left"), ("old", "new", "tie")])
{'new': 0.75, 'old': 0.25}
"""

from __future__ import annotations

import inspect
import textwrap
from typing import Any, Dict, List, Literal, Optional, Type, TypeVar  # noqa: F401 (names in signatures)

from . import _quorate
from ._estimator import Configured, Estimator, clone
from ._ranker import Ranker
from .errors import ParameterError

Kind = TypeVar("Kind", bound=Configured)

_WORDS = {
    **{word: word.upper() for word in "dl mv em ds cnmf glad mace ibcc ebcc kos svd iwmv spa admm pg tac cria bt".split()},
    "symnmf": "SymNMF",
    "msr": "MSR",
}


def class_name(method: str) -> str:
    """``rob-symnmf-em`` becomes ``RobSymNMFEM``."""
    return "".join(_WORDS.get(word, word.capitalize()) for word in method.split("-"))


def list_methods() -> List[str]:
    """Names of all methods for labels, as :func:`quorate.aggregate` takes them.

    >>> import quorate
    >>> quorate.list_methods()[0]
    'auto'
    """
    return list(_CLASSES)


def find_method(name: str) -> Type[Estimator]:
    """The class of a method for labels, by the method's name or an alias.

    >>> import quorate
    >>> quorate.find_method("mv")
    <class 'quorate.methods.MajorityVote'>
    """
    found = _quorate.find_method(name)
    if found in _RANKERS:
        raise ParameterError(f"{found} takes comparisons of two items: quorate.methods.find_ranker has its class")
    return _CLASSES[found]


def list_rankers() -> List[str]:
    """Names of all methods for comparisons, as :func:`quorate.rank` takes them.

    >>> from quorate.methods import list_rankers
    >>> list_rankers()
    ['judge-bt', 'bradley-terry', 'plackett-luce', 'win-rate', 'elo']
    """
    return list(_RANKERS)


def find_ranker(name: str) -> Type[Ranker]:
    """The class of a method for comparisons, by the method's name or an alias.

    >>> from quorate.methods import find_ranker
    >>> find_ranker("bt")
    <class 'quorate.methods.BradleyTerry'>
    """
    found = _quorate.find_method(name)
    if found in _CLASSES:
        raise ParameterError(f"{found} takes labels: quorate.find_method has its class")
    return _RANKERS[found]


def _parameter(row: Dict[str, Any]) -> inspect.Parameter:
    """A parameter of the table as one of ``__init__``."""
    kinds = {"int": int, "float": float, "text": str, "choice": str}
    choices = ", ".join(f'"{choice}"' for choice in row["choices"])
    return inspect.Parameter(
        row["name"].replace("-", "_"),
        inspect.Parameter.KEYWORD_ONLY,
        default=kinds[row["kind"]](row["default"]),
        annotation=f"Literal[{choices}]" if choices else kinds[row["kind"]].__name__,
    )


def signature_of(method: Dict[str, Any]) -> inspect.Signature:
    """The signature of ``__init__`` of the class of a method."""
    running = [("random_state", 0, "int"), ("n_jobs", None, "Optional[int]")]
    keyword = inspect.Parameter.KEYWORD_ONLY
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = [own, *map(_parameter, method["parameters"])]
    parameters += [inspect.Parameter(name, keyword, default=default, annotation=kind) for name, default, kind in running]
    return inspect.Signature(parameters, return_annotation="None")


def _doc_of(method: Dict[str, Any]) -> str:
    def paragraph(text: str, indent: str = "") -> str:
        return textwrap.fill(text, 110, initial_indent=indent, subsequent_indent=indent and indent + "    ")

    facts = {
        "returns_model": "Estimates a model: ``priors_``, ``errors_``, ``skills_``.",
        "needs_features": "Needs the argument ``features`` of ``fit``.",
        "needs_probabilities": "Needs the argument ``class_probabilities`` of ``fit``.",
    }
    reference = "Reference: " + method["citation"] if method["citation"] else ""
    text = [method["summary"].rstrip(".") + ".", method["description"]]
    text += [" ".join(words for fact, words in facts.items() if method[fact]), reference]
    rows = method["parameters"]
    lines = [f"{row['name'].replace('-', '_')}: {row['about'].rstrip('.')}; {row['range']}." for row in rows]
    lines += ["random_state: Seed of everything random.", "n_jobs: Number of threads; None takes all."]
    listed = "\n".join(["Args:", *(paragraph(line, "    ") for line in lines)])
    return "\n\n".join([*(paragraph(part) for part in text if part), listed])


def _class_of(method: Dict[str, Any], base: Type[Kind]) -> Type[Kind]:
    signature = signature_of(method)

    def __init__(*args: Any, **given: Any) -> None:
        try:
            bound = signature.bind(*args, **given)
        except TypeError as error:
            raise TypeError(f"{name}.__init__() {error}") from None
        bound.apply_defaults()
        own = bound.arguments.pop("self")
        own.__dict__.update(bound.arguments)

    name = class_name(method["name"])
    __init__.__signature__ = signature  # type: ignore[attr-defined]
    __init__.__qualname__ = f"{name}.__init__"
    parameters = tuple(row["name"].replace("-", "_") for row in method["parameters"])
    members = {"_method": method["name"], "_parameters": parameters, "__init__": __init__}
    return type(name, (base,), {**members, "__doc__": _doc_of(method), "__module__": __name__})


def _classes(takes: str, base: Type[Kind]) -> Dict[str, Type[Kind]]:
    table = _quorate.method_table()
    return {method["name"]: _class_of(method, base) for method in table if method["takes"] == takes}


_CLASSES = _classes("labels", Estimator)
_RANKERS = _classes("comparisons", Ranker)
_NAMES = {made.__name__: made for made in (*_CLASSES.values(), *_RANKERS.values())}
globals().update(_NAMES)
_FUNCTIONS = ["clone", "find_method", "find_ranker", "list_methods", "list_rankers"]
__all__ = sorted(["Estimator", "Ranker", *_FUNCTIONS, *_NAMES])
