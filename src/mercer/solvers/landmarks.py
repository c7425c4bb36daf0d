"""The problem as landmarks see it (Nystrom approximation): K ~ F F' with few columns, and nothing of size n x n.

Pivoted Cholesky gives F F' = K_nL K_LL^-1 K_Ln. The function f = F w has the coefficients F_L'^-1 w at the landmarks,
none elsewhere, and the same norm in either view: it is an answer of the full problem. A dual point for F F' is one of
the full dual. So the certificate is that of the full problem, and tells what the landmarks cost; the history is of the
problem with F F'. Reference: Rudi, Carratino, Rosasco 2017.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from math import sqrt
from typing import ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from ..amounts import A_DIGIT, ROUNDING, SHARE, TOLERANCE
from ..gram import Gram, LowRankGram
from ..gram.pivoted import pivoted_cholesky
from ..limits import deadline, now
from ..losses import HardMargin
from ..memory import DOUBLE
from ..problem import Problem, feasible_start
from ..solution import Status, relative
from ..types import Array
from .base import MOST_LANDMARKS, Iterate, Solver, require_features

FIRST = 8  # So many landmarks to begin with, where time is short;
_GROWS = 1.3, 1.0 / A_DIGIT  # then so many times as many, at least and at most.
_BY_VALUES = 100  # Up to so many landmarks, kernel values take most of the time.
_WHOLE = 2  # The best answer takes so many times as long as landmarks and least squares: twice as many are worth more.
_ENOUGH = TOLERANCE / A_DIGIT
"""At this relative gap of the problem with F F', more landmarks are worth more than more rounds."""


def landmark_factor(gram: Gram, landmarks: int, seed: int | None) -> tuple[Array, Array]:
    """F and the landmarks; once for all problems on one Gram matrix."""
    key = (landmarks, seed)
    if _factors.get(gram, (None, None))[0] != key:
        _factors[gram] = key, _factor(gram, landmarks, np.random.default_rng(seed))
    return _factors[gram][1]


_factors: WeakKeyDictionary[Gram, tuple[tuple[int, int | None], tuple[Array, Array]]] = WeakKeyDictionary()
_grown: WeakKeyDictionary[Gram, tuple[Array, Array]] = WeakKeyDictionary()


def _factor(
    gram: Gram,
    landmarks: int,
    generator: np.random.Generator,
    room: float = np.inf,
    begun: tuple[Array, Array] | None = None,
) -> tuple[Array, Array]:
    """F and the landmarks; where some were begun with, these are the first of them. Rows that are
    worked on take no more than `room` bytes, and products as many.
    """
    F, pivots = pivoted_cholesky(gram.kernel, gram.points, landmarks, generator, room=room, begun=begun)
    return (F, pivots) if pivots.size else (np.zeros((gram.n, 1)), pivots)  # a kernel that is 0 everywhere


def seen_problem(problem: Problem, F: Array, pivots: Array, room: int | None = None) -> Problem:
    """The same problem with F F' in place of K; its solver has so many bytes."""
    return replace(problem, gram=LowRankGram(F, f"low rank: {pivots.size} landmarks", budget=room))


def of_full_problem(iterate: Iterate, seen: Problem, F: Array, pivots: Array) -> Iterate:
    """An iterate for F F' as one of the full problem: coefficients at the landmarks alone, and a dual point."""
    beta = _at_landmarks(F.T @ iterate.beta, F, pivots)
    dual_beta = iterate.beta if iterate.dual_beta is None else iterate.dual_beta
    dual = seen.dual(iterate.beta, iterate.scores) if iterate.dual is None else iterate.dual
    return replace(iterate, beta=beta, dual_beta=dual_beta, dual=dual)


def _at_landmarks(w: Array, F: Array, pivots: Array) -> Array:
    """The coefficients of f = F w."""
    from scipy.linalg import solve_triangular

    beta = np.zeros(len(F))
    if pivots.size:
        beta[pivots] = solve_triangular(F[pivots], w, lower=True, trans="T")
    return beta


def least_squares(problem: Problem, F: Array, pivots: Array) -> Iterate:
    """The f = F w + b with the least squares of y - f, and the best b for the loss: a fair answer, and soon found."""
    C = problem.C[:, None]
    matrix = (C * F).T @ F
    matrix[np.diag_indices_from(matrix)] += 1.0
    w = np.linalg.solve(matrix, (C * F).T @ (problem.y - problem.bias * problem.y.mean()))
    scores, zeros = F @ w, np.zeros(problem.n)
    b, beta = problem.best_bias(scores), _at_landmarks(w, F, pivots)
    primal = problem.primal(beta, b, scores)
    return Iterate(beta, scores, b, 0.0, gap=primal, dual_beta=zeros, partial=True)


def growing(first: int, most: int, passes: Callable[[int], float] = lambda size: 1.0) -> Iterator[int]:
    """How many landmarks to take: a few, then more; so many landmarks take `passes` of their number over the rows. Only
    time ends it: the last answer stands until there is a better one.
    """
    size = min(first, most)
    while True:
        began = now()
        yield size
        if size == most:
            return
        seconds = now() - began
        size = _more(size, most, seconds * passes(_more(size, most, seconds)) / passes(size))


def _more(size: int, most: int, seconds: float, kept: int = 0) -> int:
    """How many to take after so many, which took so long: as many as the time that is left allows, if the work grows
    with their number while they are few, but for those that are `kept`, and then with its square.
    """
    part = SHARE.most * deadline().left() / max(seconds, ROUNDING.least)
    few = part + kept / size
    growth = few if size * few <= _BY_VALUES else max(_BY_VALUES / size, sqrt(part))
    return int(min(most, np.ceil(size * np.clip(growth, *_GROWS))))


@dataclass(frozen=True)
class Growing(Solver):
    """Landmarks, few at first, then more: the answer where time is too short for an exact solver. Each is the best f
    so far that is a sum over landmarks.
    """

    most: int = MOST_LANDMARKS
    random_state: int | None = 0
    exhausted: ClassVar[Status] = Status.OUT_OF_TIME
    hurried: ClassVar[bool] = True

    def iterates(self, problem: Problem, start: Array | None) -> Generator[Iterate, Array | None, None]:
        easy, best = not (problem.mass or isinstance(problem.loss, HardMargin)), np.inf
        generator, most = np.random.default_rng(self.random_state), min(self.most, problem.n)
        F, pivots = _grown.get(problem.gram, (np.empty((problem.n, 0)), np.empty(0, np.intp)))
        size, room = min(max(FIRST, pivots.size), most), DOUBLE * problem.n * most
        while True:
            began = now()
            F, pivots = _grown[problem.gram] = _factor(problem.gram, size, generator, room, (F, pivots))
            seen = seen_problem(problem, F, pivots, room)
            if easy:
                iterate = least_squares(seen, F, pivots)
                primal, _ = objectives(seen, iterate)
                if primal < best:
                    best = primal
                    yield iterate
                more = _more(size, most, _WHOLE * (now() - began), size)
                if more >= 2 * size:
                    size = more
                    continue
            best = yield from _best_of(seen, F, pivots, best)
            if pivots.size < size or size == most:
                return
            size = _more(size, most, now() - began, size)


def _best_of(seen: Problem, F: Array, pivots: Array, best: float) -> Generator[Iterate, Array | None, float]:
    """Better and better answers with these landmarks; the objective of the last."""
    from .auto import choose

    for iterate in choose(seen)[0].iterates(seen, None):
        primal, dual = objectives(seen, iterate)
        if primal < best and iterate.beta.any():
            best = primal
            yield replace(of_full_problem(iterate, seen, F, pivots), partial=True, done=False)
        if iterate.done or relative(primal - dual, primal, dual) <= _ENOUGH:
            break
    return best


@dataclass(frozen=True)
class InFeatures(Solver):
    """Explicit features, computed once: where rows of K would compute them again and again."""

    exhausted: ClassVar[Status] = Status.OUT_OF_TIME
    hurried: ClassVar[bool] = True

    def check(self, problem: Problem) -> None:
        super().check(problem)
        require_features(self, problem, problem.gram.kernel.features(problem.gram.points[0:1]))

    def iterates(self, problem: Problem, start: Array | None) -> Generator[Iterate, Array | None, None]:
        from .auto import choose

        gram = problem.gram
        seen = replace(problem, gram=LowRankGram(gram.kernel.features(gram.points[0 : problem.n])))
        for iterate in choose(seen)[0].iterates(seen, start):
            yield replace(iterate, partial=True, done=False)
            if iterate.done:
                return


def objectives(seen: Problem, iterate: Iterate) -> tuple[float, float]:
    """Primal and dual value of an iterate."""
    if iterate.gap is not None and iterate.dual is not None:
        return iterate.dual + iterate.gap, iterate.dual
    scores = seen.gram @ iterate.beta if iterate.scores is None else iterate.scores
    b = seen.best_bias(scores) if iterate.b is None else iterate.b
    dual_beta = iterate.beta if iterate.dual_beta is None else iterate.dual_beta
    return seen.primal(iterate.beta, b, scores), seen.dual(dual_beta) if iterate.dual is None else iterate.dual


def least(problem: Problem) -> Iterate:
    """The answer without any time: zeros; or, where these are not allowed, a beta, and K beta as landmarks see it."""
    beta, gram = feasible_start(problem, None), problem.gram
    if not beta.any() or gram.design is not None or gram.kernel is None:
        return Iterate(beta)
    F, _ = landmark_factor(gram, FIRST, 0)
    return Iterate(beta, F @ (F.T @ beta))
