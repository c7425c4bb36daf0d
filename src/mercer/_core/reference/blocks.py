"""Problems on one K that is held, by blocks (working sets): all free points and the worst violators.

In a block, pair descent (SMO) and Newton steps of the free coefficients take turns; then one sum over rows of K brings
F of all points up to date. The constants, and the reasons for them, are those of blocks.hpp.
"""

from __future__ import annotations

import numpy as np

from ...types import Array, Index
from .newton import solve_definite
from .pairs import CHUNK, pair_descent
from .points import choose, extremes, shares
from .rows import add_rows

FOUND = 11  # facts about each cell
_OTHERS, _LARGEST, _WORTH_BLOCKS, _SMALL = 384, 2000, 0.4, 768
_BLOCK_PART, _ALL_PART = 0.1, 0.01
_LEAST_BURST, _MOST_BURST, _NEWTON_COST = 8.0, 64.0, 0.01
MOST_NEWTON, _SINGLE_NEWTON, _CHEAP_NEWTON, _WORTH_NEWTON = 1600, 300, 200, 0.1
_MOST_CONJUGATE, _FIRST_FEW, _CONJUGATE, _PROMISING, _AT_ONCE = 12, 4, 1e-10, 1e-4, 0.25
_MOST_BLOCKS, _MOST_CYCLES, _MOST_HALVINGS = 400, 30, 8
_LEAST_VIOLATION, _RIDGE, _SINGLE_RIDGE = 1e-13, 1e-7, 1e-5
_FEW_AT_BOUNDS = 0.05
_NO_LESS = 1e-9
_ROUNDING = 64 * float(np.finfo(np.float64).eps)


def settle_cells(
    K: Array, terms: Array, start: Index, goals: Array, beta: Array, F: Array, found: Array, bias: bool, most: int
) -> None:
    """Descend in each cell until its gap is goals[:, 0] of the objective and, where goals[:, 2] is not 0, no more than
    so much of f^2 at all points that cannot move (or 1e-9 of the objective); or no more than goals[:, 1].

    terms are q, r, eps, lo and hi of each cell and point. A cell c starts from the answer of cell start[c, 1] before
    it: coefficients at a bound go to the new one (those that could not move there are those of cell start[c, 0], with a
    smaller C), and the sum is repaired; or from itself (start[c, 1] = c), with its
    own beta and F, and, where these are nearly right, with Newton steps first. But where start[c, 0] is a cell before
    it, with a smaller C, and few of its coefficients (none, for those that start from themselves) are at a bound, it
    starts from that one: it is nearly the answer. beta and F are changed in place; K is float32 and
    padded for `pair_descent`. found: whether the gap is small; steps of pairs, of Newton's, rounds; how many
    coefficients are free; the dual value, the gap, the extremes of the slopes, the sum of all |beta - old|, and the
    factor of w whose gap it is. Not done: more than `most` steps, or no headway, because of rounding.
    """
    for c, (smaller, other) in enumerate(start):
        again = bool(other == c)
        part = _part_at_bounds(terms[:, smaller], beta[smaller]) if smaller < c else 1.0
        first = smaller if part == 0.0 or (part < _FEW_AT_BOUNDS and not again) else other
        problem = _Problem(K, terms[:, c], beta[c], F[c], bias)
        if first < c:
            some = smaller if smaller < c else first
            problem.start(terms[:, first], beta[first], F[first], terms[:, some], beta[some])
        found[c] = problem.settle(goals[c], most, again)


def _part_at_bounds(terms: Array, beta: Array) -> float:
    used = beta != 0.0
    bound = used & ((beta <= terms[3]) | (beta >= terms[4]))
    return np.count_nonzero(bound) / np.count_nonzero(used) if used.any() else 1.0


def measure_cells(terms: Array, beta: Array, F: Array, found: Array, bias: bool) -> None:
    """As `settle_cells`, without a step."""
    for c in range(len(beta)):
        found[c] = _Problem(np.zeros((0, 0)), terms[:, c], beta[c], F[c], bias).settle(np.zeros(3), 0, False)


class _Problem:
    """The arrays of a problem, and what a round does with them."""

    def __init__(self, K: Array, terms: Array, beta: Array, F: Array, bias: bool) -> None:
        self.K, (self.q, self.r, self.eps, self.lo, self.hi) = K, terms
        self.beta, self.F, self.bias, inside = beta, F, bias, terms[3] < terms[4]
        self.movable = int(np.count_nonzero(inside))
        side = np.where(self.q == 1.0, self.lo == 0.0, (self.q == -1.0) & (self.hi == 0.0))
        self.hinge = bias and bool(((self.eps == 0.0) & (self.r == 0.0) & side)[inside].all())

    def settle(self, goal: Array, most: int, again: bool) -> tuple[float, ...]:
        """Descend; what `settle_cells` tells of a cell."""
        steps = newton = rounds = 0
        travel, old = 0.0, np.inf
        found = self.measure(goal)
        while rounds < _MOST_BLOCKS and not found[0] and steps < most:
            top, bottom = found[4:6]
            violation = top - bottom
            if not violation > _LEAST_VIOLATION * (1.0 + max(abs(top), abs(bottom))):
                break
            slow, old = violation > 0.5 * old and violation < _WORTH_NEWTON, violation
            block = _Block(self, *self.chosen(found[1], top, bottom), 0.5 * (top + bottom) if self.bias else 0.0)
            first = (again or found[1] <= _CHEAP_NEWTON) and violation < _WORTH_NEWTON
            taken, tried = block.descend(violation, slow, first, again)
            moved = self.move(block)
            steps, newton, travel = steps + taken, newton + tried, travel + moved
            if moved == 0.0:
                break
            found = self.measure(goal)
            again = again or found[3] <= goal[0] * max(abs(found[2]), abs(found[2] + found[3]))
            rounds += 1
        done, free, dual, gap, top, bottom, scale = found
        return float(done), steps, newton, rounds, free, dual, gap, top, bottom, travel, scale

    def start(self, terms: Array, beta: Array, F: Array, smaller: Array, known: Array) -> None:
        """From the answer of another cell, and for points that could not move there from that for a smaller C."""
        q, r = terms[:2]
        there = terms[3] < terms[4]
        own, lo, hi = np.where(there, beta, known), *np.where(there, terms[3:], smaller[3:])
        to = np.where((own >= hi) & (hi > 0.0), self.hi, np.where((own <= lo) & (lo < 0.0), self.lo, own))
        self.beta[:] = np.clip(to, self.lo, self.hi)
        self.F[:] = self.q - (q - F - r * beta)
        if self.bias:
            self._repair(float((self.beta - beta).sum()))
        self.F -= self.r * self.beta
        moved = np.flatnonzero(self.beta != beta)
        add_rows(self.K, moved, (beta - self.beta)[moved], self.F)

    def _repair(self, excess: float) -> None:
        """The sum, by as few coefficients as will do, those first whose slope asks for it."""
        sign = 1.0 if excess > 0.0 else -1.0
        end = self.lo if sign > 0.0 else self.hi
        may = np.flatnonzero(self.beta > end if sign > 0.0 else self.beta < end)
        may = may[np.argsort(sign * self.F[may], kind="stable")]
        room = np.abs(self.beta - end)[may]
        taken = np.clip(abs(excess) - (np.cumsum(room) - room), 0.0, room)
        self.beta[may] = np.where(taken == room, end[may], self.beta[may] - sign * taken)

    def measure(self, goal: Array) -> tuple[bool, int, float, float, float, float, float]:
        """Whether the gap is small, how many are free, the dual value, the gap, the extremes, and the factor of w."""
        top, bottom, free = extremes(self.F, self.beta, self.eps, self.lo, self.hi)
        if not self.bias:
            top, bottom = max(top, 0.0), min(bottom, 0.0)
        dual = float((0.5 * self.beta * (self.q + self.F) - self.eps * np.abs(self.beta)).sum())
        b = 0.5 * (top + bottom) if self.bias else 0.0
        gap, scale = shares(self.F, self.beta, self.r, self.eps, self.lo, self.hi, b), 1.0
        if self.hinge and 0.0 < top - bottom < 1.0:
            longer = 1.0 / (1.0 - 0.5 * (top - bottom))
            other = self._stretched(longer, b, dual)
            gap, scale = (other, longer) if other < gap else (gap, scale)
        size = max(abs(dual), abs(dual + gap))
        sure = goal[2] == 0.0 or gap <= max(_NO_LESS * size, goal[2] * self._nearest(b, scale))
        done = bool(gap <= goal[1] or (gap <= goal[0] * size and sure))
        return done, free, dual, gap, top, bottom, scale

    def _nearest(self, b: float, scale: float) -> float:
        """The least f^2 of a point that cannot move."""
        f = scale * (self.q - self.r * self.beta - self.F + b)
        return float(np.abs(f[self.lo >= self.hi]).min(initial=np.inf)) ** 2

    def _stretched(self, longer: float, b: float, dual: float) -> float:
        """The gap of a longer w, with what rounding may have done to a difference of large numbers."""
        scores = self.q - self.F
        loss = (self.hi - self.lo) @ np.maximum(0.0, 1.0 - longer * self.q * (scores + b))
        primal = 0.5 * longer**2 * float(self.beta @ scores) + float(loss)
        return max(primal - dual, 0.0) + _ROUNDING * (primal + abs(dual) + float(np.abs(self.beta).sum()))

    def chosen(self, free: int, top: float, bottom: float) -> tuple[Index, bool]:
        """The points of the next block, and whether it is everything."""
        fit = free + _OTHERS // 2 <= _LARGEST
        size = max(_OTHERS, free + _OTHERS // 2) if fit else _OTHERS
        if self.movable <= _SMALL or not fit or size > _WORTH_BLOCKS * self.beta.size:
            return np.arange(self.beta.size), True
        own = np.flatnonzero((self.lo < self.beta) & (self.beta < self.hi))
        taken = (self.lo >= self.hi).astype(np.uint8)
        taken[own] = 1
        others = np.empty((size - own.size) // 2 * 2, np.int64)
        many = choose(self.F, self.beta, self.eps, self.lo, self.hi, top, bottom, taken, others)
        return np.concatenate([own, others[:many]]), False

    def move(self, block: _Block) -> float:
        """Take what a block has found: the sum of all |beta - old|."""
        delta = self.beta[block.at] - block.beta[: block.q]
        moved = np.flatnonzero(delta)
        at = block.at[moved]
        self.beta[at] = block.beta[moved]
        self.F[at] += self.r[at] * delta[moved]
        add_rows(self.K, at, delta[moved], self.F)
        return float(np.abs(delta).sum())


class _Block:
    """The points of a block, padded with points that cannot move."""

    def __init__(self, problem: _Problem, at: Index, everything: bool, middle: float) -> None:
        self.at, self.everything, self.q, self.bias = at, everything, at.size, problem.bias
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

    def descend(self, violation: float, slow: bool, newton_first: bool, again: bool) -> tuple[int, int]:
        """Solve for the block: steps of pairs, and of Newton's."""
        tol, left = (_ALL_PART if self.everything else _BLOCK_PART) * violation, violation
        steps = newton = 0
        for cycle in range(_MOST_CYCLES):
            skip, taken = newton_first and cycle == 0, 0
            if not skip:
                F = self.F.astype(self.K.dtype)
                most = int(_LEAST_BURST * self.q) if newton_first or again else self.burst()
                taken, left = pair_descent(self.K, self.diag, F, self.beta, self.lo, self.hi, self.eps, tol, most)
                steps += taken
                if left <= tol and not slow:
                    break
                self.refresh()
            gain, tried = self.newton()
            newton += tried
            if newton_first and self.violation() <= tol:
                break
            if gain > 0.0:
                newton += self.newton()[1]
            if newton_first and self.violation() <= tol:
                break
            if not skip and gain <= 0.0 and (taken == 0 or left <= tol):
                break
            slow = False
        return steps, newton

    def violation(self) -> float:
        """How far the extremes of the slopes are apart."""
        own = slice(0, self.q)
        top, bottom, _ = extremes(self.F[own], self.beta[own], self.eps[own], self.lo[own], self.hi[own])
        return top - bottom if self.bias else max(top, 0.0) - min(bottom, 0.0)

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
        if free.size < 2:
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
        """d solves (K + r) d + b = slope with sum d = 0: by a factor, or, of many, by conjugate gradients."""
        if free.size < _SINGLE_NEWTON:
            found = self._inverse(free, slope, np.float64, _RIDGE)
            d = None if found is None else found[0] - found[1] * self._mean(*found)
        else:
            d = self._conjugate(free, slope, False)
            if d is None and free.size <= MOST_NEWTON and self._inverse(free, slope, np.float32, _SINGLE_RIDGE):
                d = self._conjugate(free, slope, True)
        return d if d is not None and np.isfinite(d).all() else None

    def _mean(self, step: Array, ones: Array) -> float:
        return float(step.sum() / ones.sum()) if self.bias else 0.0

    def _inverse(self, free: Index, given: Array, kind: type, ridge: float) -> tuple[Array, Array] | None:
        """What the inverse of K + r makes of `given` and of ones, with a ridge that grows until there is one."""
        largest, size = float(self.diag[free].max()), float(np.abs(given).max()) or 1.0
        while True:
            H: Array = self.K[np.ix_(free, free)].astype(kind)
            H[np.diag_indices(free.size)] = self.diag[free] + ridge * largest
            both: Array = np.column_stack([given / size, np.ones(free.size)]).astype(kind)
            if solve_definite(H, both):
                return size * both[:, 0].astype(np.float64), both[:, 1].astype(np.float64)
            if ridge > 1e-2:
                return None
            ridge *= 100.0

    def _conjugate(self, free: Index, slope: Array, by_factor: bool) -> Array | None:
        """Conjugate gradients, with a rough factor for a preconditioner; without one, if the first few steps say that
        it will not take many. (The native one tries that no more with as many free ones, once they have not.)
        """
        d, along, left, before, first = np.zeros(free.size), np.zeros(free.size), slope.copy(), np.inf, 0.0
        H = self.K[np.ix_(free, free)].astype(np.float64)
        H[np.diag_indices(free.size)] += self.r[free]
        for k in range(_MOST_CONJUGATE):
            found = self._inverse(free, left, np.float32, _SINGLE_RIDGE) if by_factor else None
            near, ones = found if found else (left, np.ones(free.size))
            near = near - ones * self._mean(near, ones)
            size = float(left @ near)
            first = size if k == 0 else first
            if size <= _CONJUGATE * first:
                return d
            if not by_factor and size > {1: _AT_ONCE, _FIRST_FEW: _PROMISING}.get(k, np.inf) * first:
                return None
            along, before = near + size / before * along, size
            product = H @ along
            curved = float(along @ product)
            if not curved > 0.0:
                return d
            d += size / curved * along
            left -= size / curved * product
        return d

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
