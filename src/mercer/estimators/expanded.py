"""Machines with a polynomial kernel, trained and evaluated around the mean of the points.

Far from the origin, or with columns that were not scaled, values of a polynomial kernel are so large that their
rounding hides f. Its features around the mean have all digits (kernels/expansion.py), the machine is a linear one in
them, and the answer is the same one: f(x) = sum beta_i k(x_i, x) + b = <w, z(x)> + b_m, since sum beta = 0. Without a
bias z(x) holds a constant too, and b is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..amounts import AT_A_TIME
from ..columns import pieces
from ..gram import Gram
from ..kernels import Kernel, Polynomial
from ..kernels.expansion import MOST, Expansion, expansion_of
from ..kernels.points import count
from ..losses import HardMargin
from ..memory import DOUBLE
from ..problem import Task
from ..solution import Solution, Status
from ..solvers import CoordinateDescent
from ..solvers.base import WHOLE
from ..types import Array, Points

_HARD = 1e6  # The mean of C |z|^2 from which on steps of pairs take long.
SOLVER = CoordinateDescent(feasible=True, weights=True)


@dataclass(frozen=True, eq=False)
class Expanded:
    """f(x) = <w, z(x)> + b of each problem: what predictions are made with."""

    expansion: Expansion
    weights: Array
    """w, a row for each problem."""
    biases: Array

    @classmethod
    def of(cls, expansion: Expansion, gram: Gram, tasks: Sequence[Task], solutions: Sequence[Solution]) -> Expanded:
        """What was certified: w itself, or the same sum to the last bit."""

        def weights(task: Task, solution: Solution) -> Array:
            if solution.weights is not None:
                return solution.weights
            return np.asarray(task.problem(gram).gram.design.combination(solution.beta))

        rows = [weights(*both) for both in zip(tasks, solutions, strict=True)]
        return cls(expansion, np.stack(rows), np.array([solution.b for solution in solutions]))

    def scores(self, X: Points) -> Array:
        """f(x) of each problem, as columns."""
        strip = max(1, AT_A_TIME.values // self.weights.shape[1])
        out = np.empty((count(X), len(self.weights)))
        for part in pieces(len(out), strip):
            np.matmul(self.expansion(X[part]), self.weights.T, out=out[part])
        return out + self.biases


def expanded_points(
    kernel: Kernel, X: Points, tasks: Sequence[Task], room: float
) -> tuple[Expansion, Array] | tuple[None, None]:
    """The expansion and the features of the points, where all problems are the same with them, and hard without them;
    they are fewer than the points and have room (bytes).
    """
    if not isinstance(kernel, Polynomial) or any(task.mass or not task.loss.quadratic for task in tasks):
        return None, None
    if any(isinstance(task.loss, HardMargin) for task in tasks):
        return None, None
    fewest = min(len(task.y) for task in tasks)
    most = int(min(MOST, fewest - 1, room / (DOUBLE * count(X))))
    found = expansion_of(kernel, X, most, whole=not all(task.bias for task in tasks))
    if found is None:
        return None, None
    with np.errstate(all="ignore"):
        Z = found(X)
        size = float(np.einsum("ij,ij->i", Z, Z).mean())
    hard = np.isfinite(size) and any(float(task.C.mean()) * size > _HARD for task in tasks)
    return (found, Z) if hard else (None, None)


def worth_another(solutions: Sequence[Solution]) -> bool:
    """Whether steps in the features of few points have stalled, where steps of pairs may not."""
    few = all(solution.beta.size <= WHOLE for solution in solutions)
    return few and any(solution.status is Status.STALLED for solution in solutions)


def better(some: Sequence[Solution], others: Sequence[Solution]) -> bool:
    """Whether the worst gap of some answers is smaller than that of the others."""
    worst, other = (max(solution.certificate.relative_gap for solution in both) for both in (some, others))
    return worst < other
