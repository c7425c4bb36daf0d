"""The proof that two classes cannot be separated: where it is found, and how it is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .arithmetic import inner
from .types import Array

if TYPE_CHECKING:
    from .problem import Problem

_INSEPARABLE = 1e-7  # two convex combinations that are nearer than this, relative to the size of the points, meet
_SINGLE = 1e-6  # what float32 values make of a squared distance of 0
_TERMS = 4  # of a sum, and coordinates of a point, that are written out
_EVEN = 1e-9  # by so much the weights of two classes may differ; so small a weight is not written out


@dataclass(frozen=True, eq=False)
class Inseparable:
    """Why there is no hard margin: two convex combinations, one of each class, that meet up to rounding.

    weights: per point, >= 0, summing to 1 over each class. distance: |sum_i y_i weights_i phi(x_i)|, between the two
    combinations, in feature space. bound: what rounding errors alone may amount to. Without a bias the weights sum to 1
    over all points: a convex combination of the y_i phi(x_i) is zero up to rounding. y: the class of each point, -1 or
    +1. sums: sum_i weights_i x_i over y_i = 1 and over y_i = -1, as rows, where phi(x) is x.
    """

    weights: Array
    distance: float
    bound: float
    y: Array = field(default_factory=lambda: np.zeros(0), repr=False)
    sums: Array | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return self.text(lambda row: f"x[{row}]")

    def text(self, name: Callable[[int], str], sums: Array | None = None) -> str:
        """The proof written out, with these names for the points, and sums in other units than those of the machine."""
        sums = self.sums if sums is None else sums
        upper, lower = (float(self.weights[self.y == side].sum()) for side in (1.0, -1.0))
        if lower > 0.0 and abs(upper - lower) <= _EVEN:  # then so much of either class meets
            what, scale = "the hulls of the two classes meet: these points of theirs are {} apart", 1.0 / upper
            parts = [np.where(self.y == side, scale * self.weights, 0.0) for side in (1.0, -1.0)]
            points = None if sums is None else scale * sums
        else:
            what, scale = "a convex combination of the points y phi(x) is {} from zero", 1.0
            parts = [self.weights * self.y]
            points = None if sums is None else sums[:1] - sums[1:]
        named = name if self.sums is not None else lambda row: f"phi({name(row)})"
        lines = [_combination(part, named) for part in parts]
        if points is not None:
            lines = [f"{line} = {_point(p, self.bound)}" for line, p in zip(lines, points, strict=True)]
        distance, bound = scale * self.distance, scale * self.bound
        first = f"{what.format(f'{distance:.2g}')}, which is no more than rounding ({bound:.2g})"
        return "\n".join([first, *lines])


def _combination(part: Array, name: Callable[[int], str]) -> str:
    """0.5 x[0] - 0.25 x[3] and so on; of many, those with the largest weights."""
    rows = np.flatnonzero(np.abs(part) > _EVEN)
    more = max(0, rows.size - _TERMS)
    rows = np.sort(rows[np.argsort(-np.abs(part[rows]), kind="stable")[:_TERMS]])
    text = " ".join(f"{'-' if part[row] < 0.0 else '+'} {abs(part[row]):.3g} {name(int(row))}" for row in rows)
    return text.removeprefix("+ ") + (f" + ... ({more} points more)" if more else "")


def _point(p: Array, bound: float) -> str:
    """(0, 1.5); without its rounding."""
    shown = [f"{0.0 if abs(value) <= bound else value:.4g}" for value in p[:_TERMS].tolist()]
    return f"({', '.join(shown)}{', ...' if p.size > _TERMS else ''})"


def may_be_inseparable(problem: Problem, beta: Array, scores: Array | None, square: float = _INSEPARABLE**2) -> bool:
    """Whether a hard margin looks hopeless, worth a certificate: the squared distance is small, as far as one knows."""
    if scores is None:
        return False
    total, norm = 0.5 * float(np.abs(beta).sum()), inner(beta, scores)
    return total > 0.0 and norm <= square * total**2 * float(np.abs(problem.gram.diag()).max())


def nearly_inseparable(problem: Problem, beta: Array, products: Any) -> bool:
    """The same, from scores that may be float32: whether the distance is worth one more product K v."""
    rounding = 0.0 if products.exact else _SINGLE
    return may_be_inseparable(problem, beta, products.dual_scores, 4.0 * _INSEPARABLE**2 + rounding)


def proof_of(problem: Problem, beta: Array) -> Inseparable | None:
    """The proof that the classes meet, where the coefficients of beta on their right sides are one."""
    y = problem.y
    weights = np.maximum(y * beta, 0.0)
    groups = (y > 0, y < 0) if problem.bias else (y != 0,)
    for group in groups:
        total = float(weights[group].sum())
        if total <= 0.0:
            return None
        weights[group] /= total
    signed = y * weights
    distance = float(np.sqrt(max(float(signed @ problem.gram.product64(signed)), 0.0)))
    bound = _INSEPARABLE * float(np.sqrt(np.abs(problem.gram.diag()).max()))
    return Inseparable(weights, distance, bound, np.sign(y)) if distance <= bound else None
