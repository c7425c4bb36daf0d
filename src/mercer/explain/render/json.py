"""JSON: the data and the whole tree, typed, and back. It carries no marks: whoever reads it checks it anew."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from fractions import Fraction
from typing import Any

from ...kernels import Kernel
from ...kernels import kernel as as_kernel
from .. import formula, steps
from ..algebraic import from_sympy
from ..chart import Chart, Contours, Graph, Panel, Trace
from ..exact import Labels
from ..exponential import Exponential, exponential
from ..expression import Constraint
from ..meaning import value as meaning
from ..picture import Picture
from ..problem import PROBLEMS

_LARGEST_EXPONENT = 100_000
_FORMAT = "mercer worked solution"
_DATA = (Labels, Constraint, Picture, Chart, Panel, Graph, Trace, Contours)
_CLASSES: dict[str, Any] = {
    cls.__name__: cls
    for cls in (*vars(formula).values(), *vars(steps).values(), *_DATA)
    if isinstance(cls, type) and is_dataclass(cls)
}


def _class(name: Any) -> Any:
    """The class of a part: of what is shown, or one of the kinds of exercises."""
    return (_CLASSES.get(name) or PROBLEMS.get(name)) if isinstance(name, str) else None


def document(solution: steps.Solution, indent: int | None = 2) -> str:
    """The solution as JSON."""
    return json.dumps({"format": _FORMAT, **_encode(solution)}, indent=indent, ensure_ascii=False)


def read(document: str) -> steps.Solution:
    """The solution that `to_json` wrote; `check()` checks it anew."""
    try:
        tree = json.loads(document)
    except (TypeError, ValueError, RecursionError):  # no text, no JSON, or nested without end
        tree = None
    if not isinstance(tree, dict) or tree.pop("format", None) != _FORMAT:
        raise ValueError("This is no worked solution: Solution.to_json() writes one.")
    solution = _decode(tree)
    if not isinstance(solution, steps.Solution):
        raise ValueError("This is no worked solution: Solution.to_json() writes one.")
    if solution.problem is None:
        raise ValueError("This worked solution holds no data, so that nothing in it can be checked.")
    return solution


def _encode(value: Any) -> Any:
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Fraction):
        return {"exact": str(value)}
    if isinstance(value, Exponential):
        return {
            "with exp": [[str(v) for exponent, c in part.items() for v in (-exponent, c)] for part in value.parts()],
            "unit": "1",
        }
    if isinstance(value, formula.Number):
        return {"number": str(value.value)}
    if isinstance(value, Kernel):
        return {"kernel": repr(value)}
    if is_dataclass(value):
        own = [(entry, getattr(value, entry.name)) for entry in fields(value)]
        told = {entry.name: _encode(part) for entry, part in own if not _is_default(entry, part)}
        return {"kind": type(value).__name__, **told}
    if isinstance(value, Mapping):
        return {"map": {key: _encode(entry) for key, entry in value.items()}}
    if isinstance(value, tuple | list):
        return [_encode(entry) for entry in value]
    return {"algebraic": _encode(from_sympy(value))}


def _is_default(entry: Any, part: Any) -> bool:
    """What is as it is unless said otherwise needs not be said."""
    return entry.default is not MISSING and type(part) is type(entry.default) and part == entry.default


def _decode(tree: Any) -> Any:
    if isinstance(tree, list):
        return tuple(_decode(entry) for entry in tree)
    if not isinstance(tree, dict):
        return tree
    kind = _class(tree.get("kind"))
    if kind is not None:
        told = {key: _decode(part) for key, part in tree.items() if key != "kind"}
        try:
            return kind(**told)
        except TypeError as error:
            raise ValueError(f"A part of a worked solution is damaged: {error}.") from None
    if len(tree) == 1:
        match tree:
            case {"number": number}:
                return formula.Number(_fraction(number))
            case {"exact": number}:
                return _fraction(number)
            case {"kernel": str(words)}:
                return as_kernel(words)
            case {"map": dict(entries)}:
                return {key: _decode(entry) for key, entry in entries.items()}
            case {"algebraic": body}:
                return meaning(_decode(body))
    if set(tree) == {"with exp", "unit"}:
        return _with_exp(tree["with exp"], _fraction(tree["unit"]))
    raise ValueError(f"An unknown part of a worked solution: {str(tree)[:80]}.")


def _with_exp(parts: Any, unit: Fraction) -> Any:
    """A number with exp, from the powers and factors above and below its line."""
    try:
        sums = []
        for part in parts:
            numbers = [_fraction(entry) for entry in part]
            if any(abs(k * unit) > _LARGEST_EXPONENT for k in numbers[::2]):
                raise ValueError("an exponent is too large")
            terms = [c * exponential(-k * unit) for k, c in zip(numbers[::2], numbers[1::2], strict=True)]
            sums.append(sum(terms, Fraction(0)))
        top, bottom = sums
        return top / bottom
    except (ValueError, TypeError, ArithmeticError):
        raise ValueError("A part of a worked solution is damaged: a number with exp.") from None


def _fraction(number: Any) -> Fraction:
    try:
        return Fraction(str(number))
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"A part of a worked solution is damaged: {number!r:.40} is no fraction.") from None
