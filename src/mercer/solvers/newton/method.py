"""Newton's method, for losses with a second derivative: the exact solver of kernel logistic regression.

    minimise  1/2 beta'K beta + sum C_i loss(y_i, f_i) + mass b,     f = K beta + b

With slopes g_i and curvatures W_i of C_i loss at f, the minimum of the quadratic model is where

    (I + W K) beta' = W f - g - W b',     sum beta' = mass:

two systems with one matrix. At the full step beta'_i = -(g_i + W_i (f'_i - f_i)). With the logistic loss this is within
its bounds as soon as no score changes by more than 1: near the answer beta is a dual point too, and its gap is real.

This is iteratively reweighted least squares (IRLS) in beta; where there are features, `irls.py` does it in w.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...amounts import ROUNDING
from ...arithmetic import inner
from ...params import require_integer
from ...problem import Problem, feasible_start
from ...solution import Status, relative
from ...types import Array
from ..base import LANDMARK_BYTES, LANDMARKS, Iterate, Solver, Work
from ..landmarks import landmark_factor, of_full_problem, seen_problem
from .in_points import InPoints, first_step, points_of
from .irls import irls_steps
from .line_search import FLAT, TRIALS, flat_step
from .spread_landmarks import landmark_rows


@dataclass(frozen=True)
class Newton(Solver):
    """Newton's method with a line search: exact, from one Cholesky factor a round.

    The matrix is n x n or, where K = Z Z' with few features, of their number. Where neither can be held, conjugate
    gradients take its place, which need only products K v.
    """

    def check(self, problem: Problem) -> None:
        super().check(problem)
        if not problem.loss.smooth:
            raise ValueError(
                f"{type(self).__name__} needs a loss with a second derivative, and {problem.loss!r} has none: "
                "leave the solver out, and one that serves this loss is chosen."
            )

    def first_work(self, problem: Problem) -> Work:
        return Work() if _in_features(problem) else first_step(problem.gram)

    def iterates(self, problem: Problem, start: Array | None) -> Generator[Iterate, Array | None, None]:
        if _in_features(problem):
            yield from irls_steps(problem, problem.gram.design, start)
            return
        points = points_of(problem.gram)
        beta = feasible_start(problem, start)
        scores = points.product(beta)
        place = _Standing(beta, scores, problem.best_bias(scores))
        gap = np.inf
        while True:
            place, moved = _step(problem, points, place, gap)
            if not moved and not points.exact:
                place, moved = _step(problem, points, place, 0.0)
            iterate = _iterate(problem, points, place)
            gap = _relative_gap(problem, iterate)
            sent = yield replace(iterate, done=not moved)
            if sent is not None:
                if not moved:
                    return
                place = _Standing(place.beta, sent, problem.best_bias(sent))


@dataclass(frozen=True)
class NystromNewton(Newton):
    """Newton's method on K as so many landmarks see it (see landmarks.py): never n x n, for many points.

    Parameters
    ----------
    landmarks : int, default=1000
        How many.
    random_state : int, default=0
        The seed of the draw.
    """

    landmarks: int = LANDMARKS
    random_state: int | None = 0
    exhausted: ClassVar[Status] = Status.APPROXIMATE

    def __post_init__(self) -> None:
        super().__post_init__()
        require_integer(self, "landmarks", at_least=1)

    def first_work(self, problem: Problem) -> Work:
        n, m = problem.n, min(self.landmarks, problem.n)
        return Work(n * m, 2 * n * m * m)  # the landmarks, and a round

    def iterates(self, problem: Problem, start: Array | None) -> Generator[Iterate, Array | None, None]:
        if self._streams(problem):
            yield from self._in_passes(problem, start)
            return
        F, pivots = landmark_factor(problem.gram, self.landmarks, self.random_state)
        seen = seen_problem(problem, F, pivots)
        for iterate in super().iterates(seen, start):
            sent = yield of_full_problem(iterate, seen, F, pivots)
            if sent is not None:
                return  # this is what the landmarks can give

    def _streams(self, problem: Problem) -> bool:
        """Whether there is no room for rows of landmarks: then they are computed in each pass anew."""
        gram = problem.gram
        room = np.inf if gram.budget is None else gram.budget
        tight = gram.afar or LANDMARK_BYTES * problem.n * min(self.landmarks, problem.n) > room
        return tight and not problem.mass and gram.kernel is not None

    def _in_passes(self, problem: Problem, start: Array | None) -> Generator[Iterate, Array | None, None]:
        """The same without a matrix of n x m: sums of m x m alone."""
        design, chosen = landmark_rows(problem.gram, self.landmarks, self.random_state)
        for iterate in irls_steps(problem, design, start):
            beta = np.zeros(problem.n)
            beta[chosen] = design.coefficients(design.combination(iterate.beta))
            sent = yield replace(iterate, beta=beta)
            if sent is not None:
                return


def _in_features(problem: Problem) -> bool:
    """Whether steps are taken in w: they begin with some of the points, and products are looked at one by one."""
    return problem.gram.design is not None and not problem.mass


class _Standing(NamedTuple):
    """Where the method stands: beta, K beta, b."""

    beta: Array
    scores: Array
    b: float

    def moved(self, other: _Standing, part: float) -> _Standing:
        """A part of the way to another place."""
        beta = self.beta + part * (other.beta - self.beta)
        scores = self.scores + part * (other.scores - self.scores)
        return _Standing(beta, scores, self.b + part * (other.b - self.b))


def _step(problem: Problem, points: InPoints, place: _Standing, gap: float) -> tuple[_Standing, bool]:
    """The next place, with the best b; and whether it promised to be a better one."""
    _, slope, curvature = (problem.C * side for side in problem.loss.model(problem.y, place.scores + place.b))
    target = _model_minimum(problem, points, place, slope, curvature, gap)
    primal = problem.primal(place.beta, place.b, place.scores)
    first = _slope(problem, place, target, 0.0)
    if not -first > ROUNDING.of_a_number * abs(primal):  # f is the best; the target may still be the better dual point
        better = problem.primal(target.beta, target.b, target.scores) <= primal + ROUNDING.of_a_difference * abs(primal)
        return (target if better else place), False
    for rise in (FLAT, 0.0):  # a slope above 0 may be that of a rise, where the objective has a sharp bend
        part = flat_step(lambda part: _slope(problem, place, target, part), first, rise)
        new = place.moved(target, part)
        new = new._replace(b=problem.best_bias(new.scores))
        if part > 0.0 and problem.primal(new.beta, new.b, new.scores) < primal:
            return new, True
    return place, False


def _slope(problem: Problem, place: _Standing, target: _Standing, part: float) -> float:
    """The slope of the objective, a part of the way to the target."""
    here, up = place.moved(target, part), target.b - place.b
    rise = inner(target.beta - place.beta, here.scores) + problem.mass * up
    f = here.scores + here.b
    return rise + inner(problem.C * problem.loss.slope(problem.y, f), target.scores - place.scores + up)


def _model_minimum(
    problem: Problem, points: InPoints, place: _Standing, slope: Array, curvature: Array, gap: float
) -> _Standing:
    """The minimum of the quadratic model."""
    right = np.stack([curvature * (place.scores + place.b) - slope, curvature], axis=1)
    solved, per_bias = points.solve(curvature, right, gap).T
    b, total = place.b, float(per_bias.sum())
    if problem.bias and total > 0.0:
        b = (float(solved.sum()) - problem.mass) / total
    beta = solved - b * per_bias
    return _Standing(beta, points.product(beta), b)


def _iterate(problem: Problem, points: InPoints, place: _Standing) -> Iterate:
    """The place with a dual point: beta itself where it is one, else minus the slopes there, as far as that is good."""
    beta, scores, b = place
    if problem.feasibility(beta) <= ROUNDING.of_a_difference:
        return Iterate(beta, scores, b)
    point = feasible_start(problem, -problem.C * problem.loss.slope(problem.y, scores + b))
    product = points.product(point)
    parts = 0.5 ** np.arange(TRIALS) if problem.mass == 0.0 else np.ones(1)
    best = max(parts, key=lambda part: problem.dual(part * point, part * product))
    return Iterate(beta, scores, b, problem.dual(best * point, best * product), dual_beta=best * point)


def _relative_gap(problem: Problem, iterate: Iterate) -> float:
    """The gap as the solver sees it."""
    b: Any = iterate.b
    dual = problem.dual(iterate.beta, iterate.scores) if iterate.dual is None else iterate.dual
    primal = problem.primal(iterate.beta, b, iterate.scores)
    return relative(primal - dual, primal, dual)
