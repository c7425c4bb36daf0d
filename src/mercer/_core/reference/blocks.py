"""A problem whose K is held, by blocks: all free points and the worst violators.

In a block, pair descent and Newton steps of the free coefficients take turns; then one sum over rows of K brings F of
all points up to date. The constants, and the reasons for them, are those of blocks.hpp.
"""

from __future__ import annotations

import numpy as np

from ...types import Array, Index
from .newton import solve_definite
from .pairs import CHUNK, pair_descent
from .points import choose, extremes, shares
from .rows import add_rows

_OTHERS, _LARGEST, _WORTH_BLOCKS, _SMALL = 384, 2000, 0.4, 768
_BLOCK_PART, _ALL_PART = 0.1, 0.01
_LEAST_BURST, _MOST_BURST, _NEWTON_COST = 4.0, 64.0, 0.1
_MOST_NEWTON, _WORTH_NEWTON = 1600, 0.1
_MOST_BLOCKS, _MOST_CYCLES, _MOST_HALVINGS = 400, 30, 8
_LEAST_VIOLATION, _RIDGE = 1e-13, 1e-7


def settle_by_blocks(
    K: Array, q: Array, r: Array, eps: Array, lo: Array, hi: Array, beta: Array, F: Array,
    bias: bool, goal: float, least: float, most: int,
) -> tuple[bool, int, int, int, int, float, float, float, float, float]:  # fmt: skip
    """Descend until the gap is `goal` of the objective, or no more than `least`: whether it is; steps of pairs, of
    Newton's, rounds; how many coefficients are free; the dual value, the gap, the extremes of the slopes, and the sum
    of all |beta - old|.

    beta and F are changed in place; K is float32 and padded for `pair_descent`. Not done: more than `most` steps, or no
    headway, because of rounding.
    """
    problem = _Problem(K, q, r, eps, lo, hi, beta, F, bias)
    steps = newton = rounds = 0
    travel, old = 0.0, np.inf
    found = problem.look(goal, least)
    while rounds < _MOST_BLOCKS and not found[0] and steps < most:
        top, bottom = found[4:]
        violation = top - bottom
        if not violation > _LEAST_VIOLATION * (1.0 + max(abs(top), abs(bottom))):
            break
        slow, old = violation > 0.5 * old and violation < _WORTH_NEWTON, violation
        at, everything = problem.chosen(found[1], top, bottom)
        moved, taken, tried = problem.descend(at, everything, violation, slow, 0.5 * (top + bottom) if bias else 0.0)
        steps, newton, travel = steps + taken, newton + tried, travel + moved
        if moved == 0.0:
            break
        found = problem.look(goal, least)
        rounds += 1
    done, free, dual, gap, top, bottom = found
    return done, steps, newton, rounds, free, dual, gap, top, bottom, travel


class _Problem:
    """The arrays of a problem, and what a round does with them."""

    def __init__(
        self, K: Array, q: Array, r: Array, eps: Array, lo: Array, hi: Array, beta: Array, F: Array, bias: bool
    ) -> None:
        self.K, self.q, self.r, self.eps, self.lo, self.hi = K, q, r, eps, lo, hi
        self.beta, self.F, self.bias, self.movable = beta, F, bias, int(np.count_nonzero(lo < hi))

    def look(self, goal: float, least: float) -> tuple[bool, int, float, float, float, float]:
        """Whether the gap is small, how many are free, the dual value, the gap, and the extremes."""
        top, bottom, free = extremes(self.F, self.beta, self.eps, self.lo, self.hi)
        if not self.bias:
            top, bottom = max(top, 0.0), min(bottom, 0.0)
        dual = float((0.5 * self.beta * (self.q + self.F) - self.eps * np.abs(self.beta)).sum())
        b = 0.5 * (top + bottom) if self.bias else 0.0
        gap = shares(self.F, self.beta, self.r, self.eps, self.lo, self.hi, b)
        done = gap <= goal * max(abs(dual), abs(dual + gap)) or gap <= least
        return done, free, dual, gap, top, bottom

    def chosen(self, free: int, top: float, bottom: float) -> tuple[Index, bool]:
        """The points of the next block, and whether it is everything."""
        fit = free + _OTHERS // 2 <= _LARGEST
        size = max(_OTHERS, free + _OTHERS // 2) if fit else _OTHERS
        if self.movable <= _SMALL or not fit or size > _WORTH_BLOCKS * self.movable:
            return np.arange(self.beta.size), True
        own = np.flatnonzero((self.lo < self.beta) & (self.beta < self.hi))
        taken = (self.lo >= self.hi).astype(np.uint8)
        taken[own] = 1
        others = np.empty((size - own.size) // 2 * 2, np.int64)
        many = choose(self.F, self.beta, self.eps, self.lo, self.hi, top, bottom, taken, others)
        return np.concatenate([own, others[:many]]), False

    def descend(
        self, at: Index, everything: bool, violation: float, slow: bool, middle: float
    ) -> tuple[float, int, int]:
        """Solve for a block, and move: the sum of all |beta - old|, and steps of pairs and of Newton's."""
        block = _Block(self, at, everything, middle)
        tol, steps, newton = (_ALL_PART if everything else _BLOCK_PART) * violation, 0, 0
        for _ in range(_MOST_CYCLES):
            F = block.F.astype(self.K.dtype)
            taken, left = pair_descent(
                block.K, block.diag, F, block.beta, block.lo, block.hi, block.eps, tol, block.burst()
            )
            steps += taken
            if left <= tol and not slow:
                break
            block.refresh()
            gain, tried = block.newton()
            newton += tried
            if gain > 0.0:
                newton += block.newton()[1]
            elif taken == 0 or left <= tol:
                break
            slow = False
        delta = self.beta[at] - block.beta[: at.size]
        moved = np.flatnonzero(delta)
        self.beta[at[moved]] = block.beta[moved]
        self.F[at[moved]] += self.r[at[moved]] * delta[moved]
        add_rows(self.K, at[moved], delta[moved], self.F)
        return float(np.abs(delta).sum()), steps, newton


class _Block:
    """The points of a block, padded with points that cannot move."""

    def __init__(self, problem: _Problem, at: Index, everything: bool, middle: float) -> None:
        self.q, self.bias = at.size, problem.bias
        width = len(problem.K) if everything else (at.size + CHUNK) // CHUNK * CHUNK
        self.K = problem.K
        if not everything:
            self.K = np.zeros((width, width), problem.K.dtype)
            self.K[: at.size, : at.size] = problem.K[np.ix_(at, at)]
        self.beta, self.lo, self.hi, self.eps, self.r, self.F = (np.zeros(width) for _ in range(6))
        for own, given in (
            (self.beta, problem.beta), (self.lo, problem.lo), (self.hi, problem.hi), (self.eps, problem.eps),
            (self.r, problem.r), (self.F, problem.F - middle),
        ):  # fmt: skip
            own[: at.size] = given[at]
        self.diag = np.zeros(width, problem.K.dtype)
        self.diag[: at.size] = self.r[: at.size].astype(problem.K.dtype) + self.K.diagonal()[: at.size]
        if not problem.bias:
            self.lo[at.size], self.hi[at.size] = -np.inf, np.inf
        self.before, self.start = self.beta.copy(), self.F.copy()

    def burst(self) -> int:
        """Steps of pairs before a Newton step: as many as cost about the same."""
        free = float(np.count_nonzero(((self.lo < self.beta) & (self.beta < self.hi))[: self.q]))
        fair = _NEWTON_COST * free**3 / len(self.K)
        return int(min(max(fair, _LEAST_BURST * self.q), _MOST_BURST * self.q))

    def refresh(self) -> None:
        """F in float64, from what has moved since the start."""
        delta = (self.before - self.beta)[: self.q]
        moved = np.flatnonzero(delta)
        self.F = self.start.copy()
        self.F[moved] += self.r[moved] * delta[moved]
        add_rows(self.K, moved, delta[moved], self.F)

    def newton(self) -> tuple[float, int]:
        """One Newton step of the free coefficients, bent at their bounds: the best of t = 1, 1/2, 1/4 ... on
        clip(beta + t d - lambda), where lambda keeps the sum. The gain of the dual, and whether it was tried.
        """
        own, eps = self.beta, self.eps
        low = np.where((eps > 0.0) & (own > 0.0), 0.0, self.lo)  # |beta| has a kink at 0, which counts as a bound
        high = np.where((eps > 0.0) & (own < 0.0), 0.0, self.hi)
        free = np.flatnonzero((low < own) & (own < high) & ~((eps > 0.0) & (own == 0.0)))
        free = free[free < self.q]
        if not 2 <= free.size <= _MOST_NEWTON:
            return 0.0, 0
        low, high, slope = low[free], high[free], self.F[free] - np.sign(own[free]) * eps[free]
        d = self._direction(free, slope)
        best, kept = 0.0, None
        for t in 0.5 ** np.arange(_MOST_HALVINGS) if d is not None else ():
            step, inside = self._bent(own[free], low, high, t * d)
            change = np.zeros(len(self.K))
            add_rows(self.K, free, step, change)
            change[free] += self.r[free] * step
            gain = float((slope * step).sum() - 0.5 * (step * change[free]).sum())
            if gain > best:
                best, kept = gain, (step, change)
            elif best > 0.0:
                break
            if inside:
                break
        if kept is None:
            return 0.0, 1
        to, room = own[free] + kept[0], self.hi[free] - self.lo[free]
        near = 1e-12 * np.where(room < 1e300, room, 1.0)
        self.beta[free] = np.where(high - to < near, high, np.where(to - low < near, low, to))
        self.F[: self.q] -= kept[1][: self.q]
        return best, 1

    def _direction(self, free: Index, slope: Array) -> Array | None:
        """d solves (K + r) d + b = slope with sum d = 0."""
        ridge, largest = _RIDGE, float(self.diag[free].max())
        while True:
            H = self.K[np.ix_(free, free)].astype(np.float64)
            H[np.diag_indices(free.size)] = self.diag[free] + ridge * largest
            both = np.column_stack([slope, np.ones(free.size)])
            if solve_definite(H, both):
                break
            if ridge > 1e-2:
                return None
            ridge *= 100.0
        step, ones = both.T
        d = step - ones * (step.sum() / ones.sum()) if self.bias else step
        return d if np.isfinite(d).all() else None

    def _bent(self, own: Array, low: Array, high: Array, d: Array) -> tuple[Array, bool]:
        """clip(beta + d - lambda) - beta; and whether no bound was met."""
        shift = 0.0
        for _ in range(60):
            to = own + d - shift
            clipped = np.clip(to, low, high)
            step, between = clipped - own, np.count_nonzero((to > low) & (to < high))
            if not self.bias or abs(step.sum()) <= 1e-13 * np.abs(step).sum() or between == 0:
                break
            shift += step.sum() / between
        inside = bool((clipped == to).all())
        if self.bias:  # what rounding has left of the sum goes to the one with the most room
            room = np.minimum(own + step - low, high - own - step)
            if abs(step.sum()) > room.max():
                return np.zeros(own.size), True
            step[room.argmax()] -= step.sum()
        return step, inside
