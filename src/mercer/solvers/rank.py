"""Features for smooth kernels: K = F F' up to rounding, with few columns, by pivoted Cholesky.

A smooth kernel on points of few coordinates has a rank, as far as float64 can tell, of some dozens or hundreds, however
many points there are. With a large C steps of pairs then crawl: what two neighbours can do together is next to nothing,
and Newton steps of all free coefficients meet a singular matrix. In terms of w = F'beta the problem is small, and
Newton steps in w (coordinate.py, newton/) solve it. K - F F' is positive semidefinite and of the size of rounding,
so that the answer is one of the problem itself; the certificate is, as always, that of K. Where even rounding is too
much for it (C times the number of points times 1e-13), what K beta and F F'beta differ by moves the targets, and the
steps are taken once more.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from math import isqrt

import numpy as np

from ..amounts import A_DIGIT, ROUNDING, ROUNDS
from ..gram import Gram, LowRankGram
from ..gram.pivoted import pivoted_cholesky
from ..kernels.points import Chosen, Domain
from ..losses import EpsilonInsensitive, Squared
from ..problem import Problem
from ..types import Array
from .base import LANDMARK_BYTES, LANDMARKS, Iterate
from .coordinate import CoordinateDescent

_TURNS = 3  # Targets are moved so many times, at most.
LINEAR = 16.0  # Multiplications of dense linear algebra that count as one value.
_READ = 2.0 * LINEAR  # A round reads F so many times, about.
BY_LAPACK = "some steps were taken in features, by LAPACK: last digits may differ on another CPU"
_POINTS_PER_COLUMN = 3  # With fewer points for each column, steps in w are no easier.


def features_up_to_rounding(gram: Gram, wide: bool = False) -> LowRankGram | None:
    """F F' with few columns, where that is K up to rounding and there is room for it; else None. Where they may be
    `wide`, with as many as it takes.
    """
    if gram.kernel is None or gram.kernel.domain is Domain.VALUES or gram.doubt is not None:
        return None
    most = gram.n if wide else gram.n // _POINTS_PER_COLUMN
    most = min(most, LANDMARKS, gram.room // (LANDMARK_BYTES * gram.n), isqrt(gram.room // LANDMARK_BYTES))
    if most < 1:
        return None
    points = gram.points[:] if isinstance(gram.points, Chosen) else gram.points
    F, pivots = pivoted_cholesky(gram.kernel, points, most, np.random.default_rng(0), left=ROUNDING.of_a_number)
    if not pivots.size or pivots.size == most < gram.n:
        return None
    return LowRankGram(np.ascontiguousarray(F), f"low rank: {pivots.size} features are K up to rounding")


def steps_in_features(
    problem: Problem, low: LowRankGram, count: Callable[[float], float]
) -> Generator[Iterate, Array | None, list[Array]]:
    """Iterates of the problem with F F' for K, until they help no more; the last coefficients of each turn.

    `count` takes the work of each round, and gives back that of all.
    """
    movable = isinstance(problem.loss, EpsilonInsensitive | Squared)  # losses of y - f
    found: list[Array] = []
    offset, start = np.zeros(problem.n), None
    work = problem.n * low.design.width * (_READ + low.design.width / LINEAR)
    for turn in range(_TURNS if movable else 1):
        moved = replace(problem, gram=low, y=problem.y - offset)
        inside = CoordinateDescent(random_state=0, feasible=True).iterates(moved, start)
        scores: Array | None = None
        least, since = np.inf, 0
        while True:
            try:
                iterate = inside.send(scores)
            except StopIteration:
                return [*found, *([] if start is None else [start])]
            scores = yield replace(iterate, work=count(work), note=BY_LAPACK)
            start = iterate.beta.copy()
            gap = np.inf if iterate.gap is None else iterate.gap
            least, since = (gap, 0) if gap < (1.0 - A_DIGIT) * least else (least, since + 1)
            if since >= ROUNDS.in_vain:  # that have not brought the gap down by a tenth
                return [*found, start]
            if scores is not None and movable and turn + 1 < _TURNS:
                offset, found = scores - low @ start, [*found, start]
                break
    return found
