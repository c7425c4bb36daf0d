"""The exact worked solution of a few points: from mercer.explain, as a document of its own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .state import State, StateError, kernel_text

MOST_POINTS = 6
_FIGURE = re.compile(r"<figure>.*?</figure>\n?", re.DOTALL)
"""Left out on the screen: the solution stands beside the page's own picture, which has other marks."""


@dataclass(frozen=True)
class Worked:
    """The same solution for the screen and for paper."""

    html: str
    latex: str


def worked(state: State) -> Worked:
    """Solve it in fractions; raises StateError where there is no such solution."""
    if not 0 < len(state.points) <= MOST_POINTS:
        raise StateError(f"Worked solutions are for up to {MOST_POINTS} points, and here are {len(state.points)}.")
    try:
        solution = _solve(state)
    except ImportError:
        raise StateError("Worked solutions need SymPy: pip install 'mercer[explain]'.") from None
    except (ValueError, TypeError, NotImplementedError) as error:
        raise StateError(str(error)) from error
    return Worked(_FIGURE.sub("", solution.to_html()), solution.to_latex())


def _solve(state: State) -> Any:
    from .. import explain
    from ..kernels import kernel

    s, k = state.settings, kernel(kernel_text(state))
    X = [[_exact(value) for value in row] for row in state.X]
    if s["machine"] == "ridge":
        return explain.ridge(X, [_exact(t) for t in state.points[:, 1]], _exact(s["lambda"]), kernel=k)
    labels = [int(label) for label in state.labels]
    if s["machine"] == "perceptron":
        return explain.perceptron(X, labels, kernel=k)
    if s["machine"] == "svc":
        return explain.svm(X, labels, C=_exact(s["C"]), kernel=k)
    raise StateError("Worked solutions are for support vector machines, ridge regression and perceptrons.")


def _exact(value: float) -> str:
    """The decimal number that the page shows, not its nearest float."""
    return f"{value:.10g}"
