"""mercer explain --kind ...: how each kind of worked solution reads what stands on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from .exits import UsageError
from .points import read_points, written


def solved(arguments: argparse.Namespace, explain: Any, kernel: dict[str, Any]) -> Any:
    """The worked solution of one of these kinds."""
    return _READERS[arguments.kind](arguments, explain, kernel)


def _one(arguments: argparse.Namespace) -> str:
    if len(arguments.problem) != 1:
        raise UsageError(f"--kind {arguments.kind} takes one text in quotation marks.")
    return str(arguments.problem[0])


def _coordinates(text: str | None) -> list[str] | None:
    return None if text is None else [cell.strip() for cell in text.strip("()").split(",")]


def _needed(arguments: argparse.Namespace, name: str) -> list[str]:
    found = _coordinates(getattr(arguments, name))
    if found is None:
        raise UsageError(f"--kind {arguments.kind} needs --{name}, such as --{name} 1,0.")
    return found


def _given(**options: Any) -> dict[str, Any]:
    """Options that were told."""
    return {name: value for name, value in options.items() if value is not None}


def _points(arguments: argparse.Namespace) -> Any:
    return read_points(_one(arguments), arguments)


def _unlabelled(arguments: argparse.Namespace) -> Any:
    given = written(_one(arguments), labels=False)
    return given[0] if given is not None else _points(arguments)[0]


def _duality(arguments: argparse.Namespace, explain: Any, kernel: dict[str, Any]) -> Any:
    first, *more = arguments.problem
    return explain.duality(first, more)


def _subgradient(arguments: argparse.Namespace, explain: Any, kernel: dict[str, Any]) -> Any:
    return explain.subgradient(_one(arguments), _needed(arguments, "at"), _coordinates(arguments.vector))


def _descent(arguments: argparse.Namespace, explain: Any, kernel: dict[str, Any]) -> Any:
    told = _given(steps=arguments.steps, rule=arguments.rule)
    return explain.descent(_one(arguments), _needed(arguments, "at"), **told)


def _hinge(arguments: argparse.Namespace, explain: Any, kernel: dict[str, Any]) -> Any:
    X, y = _points(arguments)
    return explain.hinge(X, y, arguments.C or 1, w=_coordinates(arguments.w), b=arguments.b)


def _stochastic(arguments: argparse.Namespace, explain: Any, kernel: dict[str, Any]) -> Any:
    X, y = _points(arguments)
    told = _given(C=arguments.C, steps=arguments.steps, rule=arguments.rule, order=arguments.order)
    return explain.stochastic(X, y, **told, average_from=arguments.average_from, seed=arguments.seed)


def _gram(arguments: argparse.Namespace, explain: Any, kernel: dict[str, Any]) -> Any:
    return explain.gram(_unlabelled(arguments), **kernel, c=_coordinates(arguments.vector))


def _rkhs(arguments: argparse.Namespace, explain: Any, kernel: dict[str, Any]) -> Any:
    """f, and g where there is one: points with their coefficients, '1,2:1 0,1:-2'."""
    functions = []
    for text in arguments.problem:
        given = written(text)
        if given is None:
            raise UsageError("A function is points with coefficients, such as '1,2:1 0,1:-2'.")
        functions.append(list(zip(given[1], given[0], strict=True)))
    return explain.rkhs(*functions[:2], **kernel, at=_coordinates(arguments.at))


def _maps(arguments: argparse.Namespace, explain: Any, kernel: dict[str, Any]) -> Any:
    return explain.maps(*([feature.strip() for feature in text.split(",")] for text in arguments.problem))


def _pca(arguments: argparse.Namespace, explain: Any, kernel: dict[str, Any]) -> Any:
    return explain.pca(_unlabelled(arguments), **kernel)


def _smo(arguments: argparse.Namespace, explain: Any, kernel: dict[str, Any]) -> Any:
    X, y = _points(arguments)
    return explain.smo(X, y, **_given(C=arguments.C, steps=arguments.steps), **kernel)


def _rbf(arguments: argparse.Namespace, explain: Any, kernel: dict[str, Any]) -> Any:
    """The number of terms."""
    text = _one(arguments)
    if not text.isdigit():
        raise UsageError(f"--kind rbf takes the number of terms, such as 5, not {text!r}.")
    return explain.rbf(int(text))


def _neighbours(arguments: argparse.Namespace, explain: Any, kernel: dict[str, Any]) -> Any:
    X, y = _points(arguments)
    return explain.neighbours(X, y, _needed(arguments, "at"))


def _shrinkage(arguments: argparse.Namespace, explain: Any, kernel: dict[str, Any]) -> Any:
    return explain.shrinkage(*_points(arguments))


_READERS: dict[str, Callable[[argparse.Namespace, Any, dict[str, Any]], Any]] = {
    "duality": _duality, "subgradient": _subgradient, "descent": _descent, "hinge": _hinge, "stochastic": _stochastic,
    "gram": _gram, "rkhs": _rkhs, "maps": _maps, "pca": _pca, "smo": _smo, "rbf": _rbf, "neighbours": _neighbours,
    "shrinkage": _shrinkage,
}  # fmt: skip
