"""Smooth losses, by Newton's method in the primal: all folds and all values of C of a machine, each from the answer for
the C before.

With slopes g and curvatures W of C loss at f, the dual point -g is within its bounds, and at the best b its sum is 0.
The gap of any w is then 1/2 |w - sum_i -g_i phi(x_i)|^2: how far one more step of the same kind would go.

`in_features`: w itself, for few columns. `in_points`: f = K beta + b on one K for all folds; points that a fold leaves
out have no weight, and their scores come for nothing. Newton's systems of all folds are solved together by conjugate
gradients, so that K is read once for all of them; K ~ F F' of few columns is their preconditioner (see
solvers/newton/in_points.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._core.core import CHOICE
from ..amounts import A_DIGIT, LARGEST
from ..arithmetic import inner
from ..gram import Design
from ..gram.pivoted import pivoted_cholesky
from ..kernels.points import is_sparse
from ..limits import check_limits
from ..losses import Logistic, Loss
from ..solvers.conjugate_gradients import USUAL_STEPS, Standing, conjugate_gradients, norms
from ..solvers.triangular import inverse_of
from ..types import Array, Index
from .matrices import Matrix
from .paths import GOAL, Fold

core = CHOICE.functions
_MOST_STEPS, _MOST_TRIALS = 50, 20
_EXACT = 0.01  # of a Newton system, at least: a step takes longer to prepare than to find
_LEVEL = 0.1  # of the slope at the start of a step: the least value is near
_LANDMARKS = 200
_AT_ONCE = 100_000_000  # products of entries between two looks at the clock: a tenth of a second


@dataclass(frozen=True, eq=False)
class FoldLosses:
    """A problem in one fold: the loss, and for all points targets and weights for C = 1, which are 0 where left out."""

    loss: Loss
    y: Array
    weight: Array
    bias: bool

    @cached_property
    def _own(self) -> Index | slice:
        """The points that are not left out."""
        return slice(None) if self.weight.all() else np.flatnonzero(self.weight)

    def alone(self) -> tuple[Index, FoldLosses]:
        """The numbers of these points, and the problem on them alone."""
        own = np.flatnonzero(self.weight)
        return own, replace(self, y=self.y[own], weight=self.weight[own])

    def at(self, scores: Array, C: float) -> tuple[Array, Array, Array, float]:
        """Values, slopes and curvatures of the losses at the scores with their best bias, and that bias."""
        own, b = self._own, 0.0
        y, s, weight = self.y[own], scores[own], C * self.weight[own]
        if self.bias:
            b = float(np.mean(self.loss.best_bias(y, s, weight, 0.0)))
        value, slope, curvature = np.zeros((3, scores.size))
        for out, values in zip((value, slope, curvature), self.loss.model(y, s + b), strict=True):
            out[own] = weight * values
        return value, slope, curvature, b


@dataclass(eq=False)
class Found:
    """The answers to a problem: scores of all points with b, and the relative gap: (folds, C)."""

    f: Array
    gap: Array


def weigh(n: int, machine: Any, folds: list[Fold]) -> list[list[FoldLosses]]:
    """The problems, each in all folds. `machine` has C = 1."""
    out: list[list[FoldLosses]] = []
    for fold in folds:
        order, _, tasks = machine._plan(fold.y, fold.weight)
        places = fold.train if order is None else fold.train[order]
        out.append([])
        for task in tasks:
            y, weight = np.ones(n), np.zeros(n)
            y[places], weight[places] = task.y, task.C
            out[-1].append(FoldLosses(task.loss, y, weight, task.bias))
    return [list(row) for row in zip(*out, strict=True)]


def in_features(Z: Array, problem: list[FoldLosses], Cs: Array) -> Found:
    """Newton's method in w, fold by fold, on the points that it trains on."""
    every = Design(Z)
    found = Found(np.zeros((len(problem), len(Cs), every.n)), np.zeros((len(problem), len(Cs))))
    for fold, given in enumerate(problem):
        rows, own = given.alone()
        X, w, f, told = Z[rows], np.zeros(Z.shape[1]), np.zeros(rows.size), np.zeros(4)
        kind, at_once = (isinstance(own.loss, Logistic), own.bias), max(1, _AT_ONCE // (X.size * X.shape[1]))
        for c, C in enumerate(Cs.tolist()):
            for _ in range(-(-_MOST_STEPS // at_once)):
                check_limits()
                core.descend_margins(X, own.y, C * own.weight, kind, (GOAL, at_once), w, f, told)
                if not told[3]:
                    break
            b, primal, gap, _ = told.tolist()
            found.f[fold, c], found.gap[fold, c] = every.dots(w) + b, gap / primal
    return found


def in_points(matrix: Matrix, points: Any, kernel: Any, problem: list[FoldLosses], Cs: Array) -> Found:
    """Newton's method in beta, all folds together."""
    n = len(matrix.precise)
    F = pivoted_cholesky(kernel, points, min(_LANDMARKS, n), np.random.default_rng(0))[0]
    found = Found(np.zeros((len(problem), len(Cs), n)), np.zeros((len(problem), len(Cs))))
    beta, scores = np.zeros((2, len(problem), n))
    for c, C in enumerate(Cs.tolist()):
        place = _AllFolds(matrix, F, problem, C, beta, scores)
        for _ in range(_MOST_STEPS):
            check_limits()
            if (place.gap <= GOAL).all() or not place.step():
                break
        beta, scores = place.beta, place.scores
        found.f[:, c], found.gap[:, c] = scores + place.b[:, None], place.gap
    return found


class _AllFolds:
    """Where all folds stand for one C: beta and K beta, (folds, points)."""

    def __init__(
        self, matrix: Matrix, F: Array, problem: list[FoldLosses], C: float, beta: Array, scores: Array
    ) -> None:
        self.matrix, self.F, self.problem, self.C = matrix, F, problem, C
        self.stand(beta, scores)

    def stand(self, beta: Array, scores: Array) -> None:
        """Look at the losses there, and how far the dual points of their slopes are."""
        known = [own.at(row, self.C) for own, row in zip(self.problem, scores, strict=True)]
        value, slope, self.curvature = (np.stack([one[k] for one in known]) for k in range(3))
        self.b = np.array([one[3] for one in known])
        self.beta, self.scores = beta, scores
        self.primal = 0.5 * np.einsum("ki,ki->k", beta, scores) + value.sum(axis=1)
        self.slope, self.left = slope, -slope - beta
        self.gap = 0.5 * np.einsum("ki,ki->k", self.left, self._product(self.left)) / self.primal

    def _product(self, V: Array) -> Array:
        """V K, by values in float32."""
        n = len(self.matrix.precise)
        size = np.abs(V).max(axis=1, keepdims=True)
        size[size == 0.0] = 1.0
        found = np.asarray(V / size, np.float32) @ self.matrix.single[:n, :n]
        return np.asarray(size * found.astype(np.float64))

    def step(self) -> bool:
        """A Newton step of each fold, or a part of it; whether any objective has fallen."""
        direction = self._direction()
        change = np.empty_like(direction)
        every = np.arange(len(self.matrix.precise))
        core.sum_rows(self.matrix.precise, every, every, direction, False, change)
        moved, beta, scores = False, self.beta.copy(), self.scores.copy()
        for fold in np.flatnonzero(self.gap > GOAL).tolist():
            part = self._part(fold, direction[fold], change[fold])
            beta[fold] += part * direction[fold]
            scores[fold] += part * change[fold]
            moved = moved or part > 0.0
        if moved:
            self.stand(beta, scores)
        return moved

    def _part(self, fold: int, direction: Array, change: Array) -> float:
        """How much of a step to take: all of it, where the objective falls so far; else about where it is least. 0,
        where it does not fall. Each trial takes next to nothing beside the step itself.
        """
        along, curved = inner(direction, self.scores[fold]), inner(direction, change)
        norm, best, part = inner(self.beta[fold], self.scores[fold]), 0.0, 1.0
        least, low, high = self.primal[fold], (0.0, along + inner(self.slope[fold], change)), (1.0, 0.0)
        first = abs(low[1])
        for _ in range(_MOST_TRIALS):
            value, slope, _, _ = self.problem[fold].at(self.scores[fold] + part * change, self.C)
            there = 0.5 * norm + part * along + 0.5 * part**2 * curved + float(value.sum())
            rise = along + part * curved + inner(slope, change)
            if there < least:
                least, best = there, part
            if best == part and (abs(rise) <= _LEVEL * first or (part == 1.0 and rise <= 0.0)):
                break
            low, high = (low, (part, rise)) if rise > 0.0 else ((part, rise), high)
            part = low[0] + _between(-low[1], high[1]) * (high[0] - low[0])
        return best

    def _direction(self) -> Array:
        """(I + W K) d = left - W e with sum d = - sum beta, of each fold: two systems with one matrix."""
        folds = len(self.problem)
        right = np.concatenate([self.left, self.curvature])
        root = np.sqrt(np.concatenate([self.curvature, self.curvature])).T
        B = root * self._product(right).T
        near = [_near(self.F, root[:, k, None]) for k in range(folds)]

        def precondition(R: Array) -> Array:
            both = [near[k](R[:, [k, folds + k]]) for k in range(folds)]
            return np.concatenate([np.stack([one[:, j] for one in both], axis=1) for j in (0, 1)], axis=1)

        enough = np.minimum(_EXACT, np.maximum(A_DIGIT * np.sqrt(self.gap), GOAL))
        enough = np.concatenate([enough, enough]) * norms(B)
        steps = conjugate_gradients(
            B, Standing.zero(B), lambda V: V + root * self._product((root * V).T).T, precondition
        )
        for number, standing in enumerate(steps, 1):
            if standing.stuck or number == 5 * USUAL_STEPS or (norms(standing.R) <= enough).all():
                break
        found = right - (root * standing.V).T
        first, second = found[:folds], found[folds:]
        sums = second.sum(axis=1)
        free = np.array([own.bias for own in self.problem]) & (sums > 0.0)
        e = np.where(free, (first.sum(axis=1) + self.beta.sum(axis=1)) / np.where(free, sums, 1.0), 0.0)
        return np.asarray(first - e[:, None] * second)


def _near(F: Array, root: Array) -> Callable[[Array], Array]:
    """v -> about (I + W^1/2 F F' W^1/2)^-1 v by Woodbury's identity."""
    weighed = root * F
    inverse = inverse_of(np.eye(F.shape[1]) + weighed.T @ weighed)
    return lambda V: np.asarray(V - root * (F @ inverse(F.T @ (root * V))))


def _between(fall: float, rise: float) -> float:
    """Where a slope that goes from -fall to rise is about 0, in parts of the way: not too near to the ends."""
    part = fall / (fall + rise) if fall > 0.0 and rise > 0.0 else 0.5
    return min(max(part, A_DIGIT), 1.0 - A_DIGIT)


def few_columns(points: Any, room: float) -> bool:
    """Whether a matrix of as many rows and columns as points have is small, and there is room for all points, dense."""
    rows, columns = points.shape
    return bool(columns <= LARGEST.columns and rows * columns * np.dtype(np.float64).itemsize <= room)


def placed(points: Any, constant: bool) -> Array:
    """The features of points, dense; with a column of ones, where the bias is penalised."""
    Z = np.ascontiguousarray(points.toarray() if is_sparse(points) else points, np.float64)
    return np.hstack([Z, np.ones((len(Z), 1))]) if constant else Z


def seen(found: list[Found], fold: int, rows: Index) -> Array:
    """f of some points of a fold: (C, points, problems)."""
    return np.stack([one.f[fold][:, rows] for one in found], axis=2)
