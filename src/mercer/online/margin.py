"""What the mistakes of a perceptron prove of the margin.

The margin is the largest rho for which some u of norm 1 has y_i <u, phi(x_i)> >= rho for all i. With f = sum_i a_i y_i
phi(x_i), a >= 0, M = sum a_i:

    min_i y_i f(x_i) / |f|  <=  margin  <=  |f| / M

Left, u is f / |f|. Right, M margin <= sum_i a_i y_i <u, phi(x_i)> = <u, f> <= |f|. Where f = 0 and M > 0, no u has a
positive margin: the classes cannot be separated. All without a bias; with one, phi(x) has one more coordinate, 1.

A hard margin minimises 1/2 |w|^2 with 1 / |w| as its margin: so 1 / (2 lower^2) is a primal value of that problem, and
1 / (2 upper^2) a dual one.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import indent

import numpy as np

from ..solution import Certificate, Inseparable, Status
from ..types import Array

INSEPARABLE = 1e-7  # a convex combination of y phi(x) that is shorter than this, relative to the points, is zero


@dataclass(frozen=True, eq=False)
class MarginCertificate(Certificate):
    """lower <= margin <= upper; primal and dual value are those of the hard margin. weight: M, the sum of the a_i."""

    lower: float = -np.inf
    upper: float = np.inf
    weight: float = 0.0
    name: str = ""

    def __str__(self) -> str:
        name = f"{self.name}: " if self.name else ""
        return f"{name}{self.heading}{indent(self.words(), '  ')}"

    @property
    def has_answer(self) -> bool:
        """There is an f, however many points are on its wrong side."""
        return True

    def words(self) -> str:
        """What is proved, in one phrase; the proof, where the classes cannot be separated."""
        if self.proof is not None:
            return str(self.proof)
        wrong = "some points are on the wrong side"
        if self.status is Status.OUT_OF_ITERATIONS:
            wrong = "every pass made mistakes: the data may not be separable, or max_epochs too small; " + wrong
        what = "every point is on its side" if self.lower > 0.0 else wrong
        return f"{what}; margin of f {self.lower:.4g}, and no f has more than {self.upper:.4g}"


def bounds(margins: Array, norm: float, weight: float, slack: float = 0.0) -> tuple[float, float]:
    """The lower and the upper bound from y_i f(x_i), |f| and M, where |f|^2 may be wrong by `slack`; nothing is known
    without a mistake.
    """
    if weight <= 0.0:
        return (0.0 if margins.size else -np.inf), np.inf
    least, error = float(margins.min()), np.sqrt(slack)
    longest, shortest = np.hypot(norm, error), np.sqrt(max(norm - error, 0.0)) * np.sqrt(norm + error)
    length = longest if least > 0.0 else shortest
    lower = least / length if length > 0.0 else 0.0 if least >= 0.0 else -np.inf
    return float(lower), float(longest / weight)


def as_objectives(lower: float, upper: float) -> tuple[float, float]:
    """The values of the hard margin problem that the bounds stand for."""
    with np.errstate(over="ignore", divide="ignore"):
        primal = np.float64(0.5) / np.float64(lower) ** 2 if lower > 0.0 else np.inf
        dual = np.float64(0.5) / np.float64(upper) ** 2
    return float(primal), float(dual)


def margin_certificate(
    scores: Array,
    y: Array,
    norm: float,
    weight: float,
    status: Status | None,
    proof: Inseparable | None = None,
    error: float = 0.0,
    name: str = "",
) -> MarginCertificate:
    """The certificate of an f with these scores; `error` is by how much each may be wrong, and so |f|^2 = sum_i a_i y_i
    f(x_i) by M times as much.
    """
    lower, upper = bounds(y * scores - error, norm, weight, weight * error)
    if proof is not None and lower > 0.0:  # this very f separates the classes: what looked like a proof was rounding
        status, proof = Status.CONVERGED, None
    primal, dual = as_objectives(lower, upper)
    return MarginCertificate(
        primal, dual, 0.0, np.nan, 0.0, status, np.zeros(0), proof, lower, upper, weight, name
    )  # fmt: skip
