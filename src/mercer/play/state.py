"""What the page holds, as Python sees it: points, a machine and its settings, from data that is not to be trusted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..types import Array

MOST_POINTS = 2_000
FARTHEST = 1e4
"""No coordinate is larger."""
MACHINES = ("svc", "svr", "oneclass", "ridge", "perceptron")
KERNELS = ("linear", "poly", "rbf", "laplacian", "text")
METHODS = ("pairs", "subgradient", "subgradient-best", "stochastic", "stochastic-best")
RANGES: dict[str, tuple[float, float, float]] = {
    "C": (0.01, 10_000, 10),
    "gamma": (0.01, 100, 1),
    "degree": (2, 6, 3),
    "coef0": (0, 1, 1),
    "epsilon": (0.01, 2, 0.2),
    "nu": (0.01, 1, 0.2),
    "lambda": (0.0001, 100, 0.1),
    "step": (-1, 5_000, -1),
}
"""Of each number: the least, the most, and what it is where none is given. The same as in state.js."""
_WHOLE = ("degree", "coef0", "step")
_CHOICES = {"machine": (MACHINES, "svc"), "kernel": (KERNELS, "rbf"), "method": (METHODS, "pairs")}
LONGEST_TEXT = 200
TEXT = "rbf(gamma=1) + 0.5*linear"


class StateError(ValueError):
    """A state that cannot be worked with, and what is wrong with it."""


@dataclass(frozen=True)
class State:
    """Points as rows (x, y), their labels 1, -1 or 2, and the settings by name; view: centre and half width."""

    points: Array
    labels: Array
    settings: Mapping[str, Any]
    view: tuple[float, float, float] = field(default=(0.0, 0.0, 2.0))

    @property
    def regression(self) -> bool:
        """Whether the height of a point is its target."""
        return self.settings["machine"] in ("svr", "ridge")

    @property
    def X(self) -> Array:  # noqa: N802
        """What the machine learns from."""
        return self.points[:, :1] if self.regression else self.points

    @property
    def y(self) -> Array | None:
        """The targets or classes; None for one-class."""
        if self.settings["machine"] == "oneclass":
            return None
        if self.regression:
            return np.asarray(self.points[:, 1])
        return self.labels

    def to_plain(self) -> dict[str, Any]:
        """The same as numbers, text and lists."""
        rows = [[*map(float, p), int(c)] for p, c in zip(self.points, self.labels, strict=True)]
        return {**self.settings, "view": list(self.view), "points": rows}


def read(given: Any) -> State:
    """The state of plain data; raises StateError for what is out of its range, or is no state at all."""
    if not isinstance(given, Mapping):
        raise StateError(f"A state is an object with points and settings, not {type(given).__name__}.")
    settings: dict[str, Any] = {
        name: _choice(name, given.get(name, start), known) for name, (known, start) in _CHOICES.items()
    }
    settings |= {name: _number(name, given.get(name, row[2])) for name, row in RANGES.items()}
    text = given.get("text", TEXT)
    if not isinstance(text, str) or len(text) > LONGEST_TEXT:
        raise StateError(f"A kernel is text of at most {LONGEST_TEXT} characters.")
    points, labels = _points(given.get("points", []))
    return State(points, labels, {**settings, "text": text}, _view(given.get("view"), points))


def _choice(name: str, value: Any, known: tuple[str, ...]) -> str:
    if value not in known:
        raise StateError(f"{name} is one of {', '.join(known)}, not {str(value)[:40]!r}.")
    return str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _number(name: str, value: Any) -> float | int:
    low, high, _ = RANGES[name]
    if not _is_number(value) or not low <= value <= high:
        raise StateError(f"{name} is a number from {low:g} to {high:g}, not {str(value)[:40]!r}.")
    return int(value) if name in _WHOLE else float(value)


def _points(rows: Any) -> tuple[Array, Array]:
    if not isinstance(rows, list) or len(rows) > MOST_POINTS:
        raise StateError(f"Points are a list of at most {MOST_POINTS} rows.")
    for row in rows:
        if not isinstance(row, list | tuple) or len(row) != 3 or not all(map(_is_number, row)):
            raise StateError(f"A point is two numbers and a label, not {str(row)[:40]!r}.")
        if max(abs(row[0]), abs(row[1])) > FARTHEST or row[2] not in (1, -1, 2):
            raise StateError(f"A point lies within {FARTHEST:g} and has the label 1, -1 or 2: {str(row)[:40]} has not.")
    table = np.array(rows, np.float64).reshape(-1, 3)
    return table[:, :2], table[:, 2].astype(np.int64)


def _view(given: Any, points: Array) -> tuple[float, float, float]:
    if isinstance(given, list | tuple) and len(given) == 3 and all(map(_is_number, given)) and given[2] >= 0.1:
        return float(given[0]), float(given[1]), float(given[2])
    if not len(points):
        return 0.0, 0.0, 2.0
    low, high = points.min(axis=0), points.max(axis=0)
    x, y = (low + high) / 2
    return float(x), float(y), 0.6 * max(float((high - low).max()), 0.5)


def kernel_text(state: State) -> str:
    """The kernel, as `mercer.kernel` and the command line take it."""
    s = state.settings
    gamma = f"{s['gamma']:g}"
    texts: dict[str, str] = {
        "linear": "linear",
        "poly": f"poly(degree={s['degree']}, gamma={gamma}, coef0={s['coef0']})",
        "rbf": f"rbf(gamma={gamma})",
        "laplacian": f"laplacian(gamma={gamma})",
        "text": s["text"],
    }
    return texts[s["kernel"]]


def machine_of(state: State, tol: float = 1e-6) -> Any:
    """The unfitted machine with these settings."""
    from .. import estimators
    from ..kernels import kernel

    s = state.settings
    k = kernel(kernel_text(state))
    if s["machine"] == "svc":
        return estimators.SVC(k, C=s["C"], tol=tol)
    if s["machine"] == "svr":
        return estimators.SVR(k, C=s["C"], epsilon=s["epsilon"], tol=tol)
    if s["machine"] == "oneclass":
        return estimators.OneClassSVM(k, nu=s["nu"], tol=tol)
    if s["machine"] == "ridge":
        return estimators.KernelRidge(k, alpha=s["lambda"], bias=True)
    return estimators.KernelPerceptron(k, bias=True)


def fitted(state: State, tol: float = 1e-6, **settings: Any) -> Any:
    """The machine, trained on the points."""
    machine = machine_of(state, tol).set_params(**settings)
    return machine.fit(state.X) if state.y is None else machine.fit(state.X, state.y)


def of_points(X: Any, y: Any) -> State:
    """Points of two columns and labels as a state: up to three classes, the first (or the positive) as circles."""
    rows, labels = np.asarray([[_as_float(value) for value in row] for row in X], np.float64), [str(c) for c in y]
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise StateError("The page shows points of two columns, and a label: give other columns to --drop.")
    names = sorted(set(labels), key=lambda name: (-_sign(name), labels.index(name)))
    if len(names) > 3:
        raise StateError(f"The page tells three classes apart, and here are {len(names)}.")
    signs = [1, -1, 2] if len(names) != 1 or _sign(names[0]) >= 0 else [-1]
    points = [[*map(float, row), signs[names.index(name)]] for row, name in zip(rows, labels, strict=True)]
    few = len(points) <= 6
    return read({"points": points, "kernel": "linear" if few else "rbf"})


def _as_float(value: Any) -> float:
    from fractions import Fraction

    try:
        return float(Fraction(str(value)))
    except (ValueError, ZeroDivisionError):
        raise StateError(f"{str(value)[:40]!r} is not a number.") from None


def _sign(name: str) -> int:
    return {"+": 1, "+1": 1, "1": 1, "1.0": 1, "-": -1, "-1": -1, "-1.0": -1}.get(name.strip(), 0)
