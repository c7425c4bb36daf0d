"""The one choice of a solver, where the user names none."""

from __future__ import annotations

from typing import Any

from ..amounts import LARGEST
from ..costs import first_seconds
from ..gram import LinearGram
from ..limits import deadline
from ..losses import HardMargin
from ..memory import DOUBLE
from ..problem import Problem
from .base import LANDMARK_BYTES, LANDMARKS, MOST_LANDMARKS, Solver
from .coordinate import CoordinateDescent
from .decomposition import Decomposition
from .landmarks import Growing, InFeatures
from .least_squares import LeastSquares
from .newton import Newton, NystromNewton
from .ridge import Ridge
from .ridge.ridge_auto import choose_ridge

_DECOMPOSITION = Decomposition()
_BYTES_PER_PAIR = 80  # Of landmarks: some m x m matrices.
_BYTES = 500_000_000  # For what landmarks need, where nobody says how many bytes there are.


def choose(problem: Any) -> tuple[Solver, str]:
    """A solver that serves the problem, and why it was chosen."""
    if isinstance(problem, Ridge):
        return choose_ridge(problem.kernel, problem.some.X, problem.budget, factor=problem.loo)
    gram = problem.gram
    if problem.loss.quadratic:
        served = not isinstance(problem.loss, HardMargin) and not problem.mass
        if served and gram.design is not None and (isinstance(gram, LinearGram) or problem.n > LARGEST.points_held):
            return CoordinateDescent(feasible=True), f"{gram.design.width} features describe K exactly"
        return _DECOMPOSITION, "it is exact and fast for every loss with a quadratic dual, at every size"
    if gram.design is not None:
        return Newton(), f"{gram.design.width} features describe K exactly"
    if gram.given and problem.n <= LARGEST.points_held:
        return Newton(), f"K is held, and {problem.n} points are no more than {LARGEST.points_held}"
    room = gram.nbytes if gram.budget is None else _whole_budget(gram)
    landmarks = int(min(_landmarks(problem.n), max(1, (room / _BYTES_PER_PAIR) ** 0.5)))
    return NystromNewton(landmarks), f"{problem.n} points are too many for an exact solution: landmarks stand for them"


def _whole_budget(gram: Any) -> int:
    """The bytes of which a Gram matrix has a part."""
    return int(gram.budget * getattr(gram, "shares", 1))


def _landmarks(n: int) -> int:
    """How many landmarks n points are worth: with more points, errors average out, and what landmarks miss weighs more.

    On cover_286k, the relative gap of the full problem grows as n^1.7 and falls as m^2.4. So their number grows with
    the square root of n, from where on an exact answer would take long.
    """
    return int(LANDMARKS * max(1.0, n / LARGEST.points_factored) ** 0.5)


def cheaper(problem: Problem, solver: Solver, share: float = 1.0) -> Solver:
    """The solver to turn to, where time is too short for this one: the one that is chosen where nobody names one, if
    there is time for it, or landmarks; after coordinate descent, least squares. It may take this share of the memory.
    """
    best, _ = choose(problem)
    if type(best) is not type(solver) and first_seconds(problem, best) <= 0.5 * deadline().left():
        return best
    if isinstance(solver, CoordinateDescent):
        return LeastSquares()
    if problem.gram.design is not None:
        served = not isinstance(problem.loss, HardMargin) and not problem.mass
        return CoordinateDescent(newton=False) if served else Decomposition()
    gram = problem.gram if problem.gram.whole is None else problem.gram.whole
    room = share * (_BYTES if gram.budget is None else _whole_budget(gram))
    features = gram.kernel.features(gram.points[0:1]) if gram.kernel.serial else None
    if features is not None and problem.n * features.shape[1] * DOUBLE <= room:
        return InFeatures()
    most = solver.landmarks if isinstance(solver, NystromNewton) else MOST_LANDMARKS
    return Growing(int(min(most, max(1, room // (LANDMARK_BYTES * problem.n)))))
