"""The one choice of a solver, where the user names none."""

from __future__ import annotations

from ..gram import DenseGram, LazyGram
from ..gram.dense import DensePart
from ..problem import Problem
from .base import Solver
from .decomposition import Decomposition
from .newton import Newton, NystromNewton

_EXACT = 6000  # points, up to which a matrix of all of them is factored
_LANDMARKS = 1000  # at most


def choose(problem: Problem) -> tuple[Solver, str]:
    """A solver that serves the problem, and why it was chosen."""
    if problem.loss.quadratic:
        return Decomposition(), "it is exact and fast for every loss with a quadratic dual, at every size"
    gram = problem.gram
    if gram.features is not None:
        return Newton(), f"{gram.features.shape[1]} features describe K exactly"
    if isinstance(gram, DenseGram | DensePart) and problem.n <= _EXACT:
        return Newton(), f"K is held, and {problem.n} points are no more than {_EXACT}"
    room = gram.budget if isinstance(gram, LazyGram) else gram.nbytes
    landmarks = int(min(_LANDMARKS, max(1, room // (32 * problem.n))))
    return NystromNewton(landmarks), f"{problem.n} points are too many for an exact solution: landmarks stand for them"
