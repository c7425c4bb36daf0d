"""JSON: the whole tree, typed, and back. Relations carry their text and LaTeX too, for readers that want no tree."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

from ...kernels import Kernel
from ...kernels import kernel as as_kernel
from .. import cases, formula, optimality, picture, steps
from ..algebraic import from_sympy
from ..meaning import value as meaning
from ..perceptron import Look, Run
from . import latex, text

_FORMAT = "mercer worked solution"
_CLASSES: dict[str, Any] = {
    cls.__name__: cls
    for module in (formula, steps, cases, optimality, picture)
    for cls in vars(module).values()
    if isinstance(cls, type) and is_dataclass(cls) and cls.__module__ == module.__name__
} | {"Look": Look, "Run": Run}
_SHOWN_ONLY = ("kind", "as_text", "as_latex", "checked")


def document(solution: steps.Solution, indent: int | None = 2) -> str:
    """The solution as JSON."""
    return json.dumps({"format": _FORMAT, **_encode(solution)}, indent=indent, ensure_ascii=False)


def read(document: str) -> steps.Solution:
    """The solution that `to_json` wrote; `check()` checks it anew."""
    tree = json.loads(document)
    if not isinstance(tree, dict) or tree.pop("format", None) != _FORMAT:
        raise ValueError("This is no worked solution: Solution.to_json() writes one.")
    solution = _decode(tree)
    assert isinstance(solution, steps.Solution)
    return solution


def _encode(value: Any) -> Any:
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Fraction):
        return {"exact": str(value)}
    if isinstance(value, Kernel):
        return {"kernel": repr(value)}
    if isinstance(value, cases.Verdict):
        return {"verdict": _flat(value)}
    if is_dataclass(value):
        shown: dict[str, Any] = {"kind": type(value).__name__}
        if isinstance(value, formula.Chain):
            shown |= {"as_text": text.in_line(value), "as_latex": latex.math(value)}
        if isinstance(value, steps.Step) and value.mark is not None:
            shown["checked"] = value.mark
        return shown | {field.name: _encode(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {"map": {key: _encode(entry) for key, entry in value.items()}}
    if isinstance(value, tuple | list):
        return [_encode(entry) for entry in value]
    return {"algebraic": _encode(from_sympy(value))}


def _decode(tree: Any) -> Any:
    if isinstance(tree, list):
        return tuple(_decode(entry) for entry in tree)
    if not isinstance(tree, dict):
        return tree
    match tree:
        case {"kind": kind} if kind in _CLASSES:
            return _CLASSES[kind](**{key: _decode(part) for key, part in tree.items() if key not in _SHOWN_ONLY})
        case {"exact": number}:
            return Fraction(number)
        case {"kernel": words}:
            return as_kernel(words)
        case {"verdict": flat}:
            return _verdict(flat)
        case {"map": entries}:
            return {key: _decode(entry) for key, entry in entries.items()}
        case {"algebraic": body}:
            return meaning(_decode(body))
    raise ValueError(f"An unknown part of a worked solution: {str(tree)[:80]}.")


def _flat(verdict: cases.Verdict) -> str:
    """A verdict in a line of its own: there may be thousands."""
    vectors = (verdict.alpha, verdict.interval, verdict.contradiction)
    return "|".join(
        [
            " ".join(state.value for state in verdict.case),
            verdict.finding.name,
            *(" ".join(map(str, vector)) if vector is not None else "-" for vector in vectors),
            "-" if verdict.b is None else str(verdict.b),
            " ".join(map(str, verdict.points)),
        ]
    )


def _verdict(flat: str) -> cases.Verdict:
    states, finding, alpha, interval, contradiction, b, points = flat.split("|")
    vector = {
        name: None if words == "-" else tuple(Fraction(word) for word in words.split())
        for name, words in (("alpha", alpha), ("interval", interval), ("contradiction", contradiction))
    }
    return cases.Verdict(
        tuple(cases.State(word) for word in states.split()),
        cases.Finding[finding],
        b=None if b == "-" else Fraction(b),
        points=tuple(int(word) for word in points.split()),
        **vector,  # type: ignore[arg-type]
    )
