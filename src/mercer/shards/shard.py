"""Shard: a block of points, their terms, their coefficients beta and F = q - r beta - K beta, the negative slope of the
smooth part of the dual. What a solver sees; it asks and tells:

    candidates(q)       the points that violate most, half of them from the last time (a working set)
    block(W)            K of these points
    move(W, beta)       new coefficients: F -= (K + r) (beta - old)
    gap()               how far from the best answer, by F as it stands
    refresh(scores)     F from K beta as it really is
    shrink(margin), restore()   who is in play (shrinking)
"""

from __future__ import annotations

from functools import partial
from operator import call

import numpy as np

from .._core.core import CHOICE
from ..amounts import LARGEST, ROUNDING
from ..columns import PIECE, Columns, GivenColumns, Kept, padded, pieces
from ..losses import Terms
from ..memory import CACHE_LINE
from ..parallel import for_each
from ..types import Array, Index

core = CHOICE.functions
_WORTH_THREADS = 2_000_000  # values; smaller sums stay in one thread


class Shard:
    """Some points, those in play, and who is not; rows of K are kept where their values are not cheap.

    beta, F, `added` and the terms are those of the points in play. What rises and what sinks is added to F apart, so
    that sizes of sums are sums of sizes: `added` is all of them, and `travel` the sum of all |beta - old|. They bound
    what rounding has done to F (`errors`).
    """

    active: Index
    columns: Columns
    terms: Terms
    beta: Array
    F: Array
    added: Array
    n: int  # how many are in play
    everyone: bool  # whether all are
    top: float  # the largest slope of what may rise,
    bottom: float  # and the smallest of what may sink:
    violation: float  # by how much the first is above the second
    middle: float  # the bias: the middle of what the slopes leave for it
    free: int  # the number of coefficients between their bounds
    last: Index  # the last working set
    inherited: Array  # by how much F may have been wrong in the beginning
    given: Array | None  # K of everyone, padded, where it is there and everyone in play
    held: Array | None  # the same, or the last block where that was of all in play
    stale: bool  # whether F of those left out is out of date
    left_out: list[tuple[Index, Array]]  # and all of beta at that time

    def __init__(self, columns: Columns, terms: Terms, bias: bool, beta: Array, memory: float) -> None:
        self.whole, self.all_terms, self.bias = columns, terms, bias
        self.all_beta, self.all_F, self.all_added = beta, terms.q - terms.r * beta, np.zeros(beta.size)
        self.dtype = columns.dtype
        self.scratch: Array = np.empty(0, columns.dtype)
        self.kept: Kept | None = None
        small = columns.n <= LARGEST.points_kept and padded(columns.n) ** 2 * columns.dtype.itemsize <= memory
        if small and columns.matrix is None:
            self.whole = self._all_by_symmetry(columns)
        elif not columns.cheap:
            self.kept = Kept(columns, memory)
        support = np.flatnonzero(beta)
        self.travel, self.work, self.left_out, self.inherited = 0.0, 0.0, [], np.zeros(1)
        self.sums = np.empty(beta.size)  # new memory is slow
        self.bounded = self.whole.errors.rest < np.inf
        self._play(np.arange(beta.size), self.whole)
        if support.size:
            self._subtract(support, np.zeros(support.size, bool), beta[support])
            self.update_extremes()

    def _all_by_symmetry(self, columns: Columns) -> GivenColumns:
        K = np.zeros((padded(columns.n),) * 2, columns.dtype)
        columns.square(columns.at, K)
        return GivenColumns(K, columns.n, columns.counted, columns.errors.largest)

    def update_extremes(self) -> None:
        """The extremes of the slopes, and how many coefficients are free."""
        t = self.terms
        self.top, self.bottom, self.free = core.extremes(self.F, self.beta, t.eps, t.lo, t.hi)
        if not self.bias:
            self.top, self.bottom = max(self.top, 0.0), min(self.bottom, 0.0)
        self.violation = self.top - self.bottom
        self.middle = 0.5 * (self.top + self.bottom) if self.bias else 0.0

    # One round.

    def candidates(self, q: int) -> Index:
        """Half of the last working set, and the worst of the others: as many that should rise as should sink."""
        if self.n <= q:
            return np.arange(self.n)
        kept = kept_of(self.last, q)
        t, taken, chosen = self.terms, np.zeros(self.n, np.uint8), np.empty(q - kept.size, np.int64)
        taken[kept] = 1
        size = core.choose(self.F, self.beta, t.eps, t.lo, t.hi, self.top, self.bottom, taken, chosen)
        self.last = np.concatenate([kept, chosen[:size]])
        return np.sort(self.last)

    def block(self, W: Index) -> Array:
        """K of these points, padded with zeros."""
        everything = W.size == self.n
        if everything and self.held is not None:
            return self.held
        width = padded(W.size)
        if self.scratch.size < width**2:
            room = np.empty(width**2 + CACHE_LINE, self.dtype)
            self.scratch = room[-room.ctypes.data % CACHE_LINE // room.itemsize :][: width**2]
        K = self.scratch[: width**2].reshape(width, width)
        points = self.columns.at[W]
        if self.kept is not None and self.columns.dear:
            slots = self.kept.slot_of[points]
            others = points[slots < 0]
            own = np.empty((others.size, others.size), self.dtype)
            self.columns.square(others, own)
            core.gather(self.kept.values, slots, W, own, K)
        else:
            self.columns.square(points, K)
        K[W.size :] = 0.0
        K[:, W.size :] = 0.0
        self.work += float(W.size) ** 2
        self.held = K if everything else self.given
        return K

    def move(self, W: Index, beta: Array) -> tuple[float, float]:
        """Take new coefficients; by how much the dual has risen, and the squared length of the move."""
        moved = np.flatnonzero(beta != self.beta[W])
        places, beta, t = W[moved], beta[moved], self.terms
        old, before = self.beta[places], self.F[places]
        delta = beta - old
        self.beta[places] = beta
        self.F[places] -= t.r[places] * delta
        self._subtract(places, (t.lo[places] < beta) & (beta < t.hi[places]), delta)
        self.stale = not self.everyone
        self.update_extremes()
        # The dual is quadratic: it rises by the mean of its slopes before and after, along what moved.
        kinks = t.eps[places] * (np.abs(beta) - np.abs(old))
        return float((0.5 * delta * (before + self.F[places]) - kinks).sum()), float((delta * delta).sum())

    def _subtract(self, places: Index, free: Array, delta: Array) -> None:
        """F -= K delta. A coefficient at a bound seldom moves again: its row is kept only where values are dear."""
        if delta.size == 0:
            return
        self.travel += float(np.abs(delta).sum())
        self.work += float(places.size) * self.n
        if self.held is not None:
            self.added += float(np.abs(delta).sum())
            self._add_rows(self.held, places, -delta, self.F)
            return
        points, keep = self.columns.at[places], np.zeros(places.size, bool)
        if self.kept is not None:
            keep = free | (self.kept.slot_of[points] >= 0) | self.columns.dear
        self._take_from(self.F, self.added, self.columns, points, keep, delta)

    def _take_from(self, F: Array, added: Array, columns: Columns, points: Index, keep: Array, delta: Array) -> None:
        """F -= sum_i delta_i k(point_i, columns), some by rows that are kept."""
        for which in (delta > 0.0, delta < 0.0) if self.bounded else (delta != 0.0,):
            kept, others, sums = np.flatnonzero(which & keep), np.flatnonzero(which & ~keep), self.sums[: columns.n]
            sums[:] = 0.0
            if self.kept is not None:
                for some in np.array_split(kept, kept.size // self.kept.count + 1):
                    self._add_rows(self.kept.values, self.kept.get(points[some]), delta[some], sums)
            if others.size:
                columns.add(points[others], delta[others], sums)
            F -= sums
            added += np.abs(sums, out=sums)

    def _add_rows(self, values: Array, slots: Index, v: Array, out: Array) -> None:
        """out += sum_k v_k of rows, by all cores where it is worth it."""
        threads = self.columns.threads if self.n * slots.size >= _WORTH_THREADS else 1
        parts = pieces(self.n, PIECE if threads > 1 else self.n)
        tasks = [partial(core.add_rows, values[:, part], slots, v, out[part]) for part in parts]
        for_each(tasks, call, threads)

    def settle(self, dual: float, goal: float, most: int) -> tuple[bool, float, float]:
        """Where K of everyone is held, descend until the gap is this part of the objective, or for so many steps of
        pairs: whether it is, by how much the dual has risen, and the squared length of all moves at most.
        """
        t, K = self.terms, self.held
        assert K is not None
        done, steps, _, after, _, _, _, travel = core.settle(
            K, t.r, t.eps, t.lo, t.hi, self.beta, self.F, self.bias, dual, goal, most
        )
        self.update_extremes()
        self.travel += travel
        self.added += travel
        self.work += 2.0 * steps * len(K)
        return done, after - dual, travel * travel

    def scale(self, factor: float) -> None:
        """beta and K beta times a factor, where there are no bounds to keep it; everyone is in play."""
        q = self.terms.q
        self.F[:] = q - factor * (q - self.F)
        self.beta *= factor
        self.travel *= factor
        self.added *= factor
        self.update_extremes()

    # How far from the best answer.

    def dual(self) -> float:
        """The dual value of all points, by F as it stands."""
        self.write()
        t, beta = self.all_terms, self.all_beta
        return float((0.5 * beta * (t.q + self.all_F) - t.eps * np.abs(beta)).sum())

    def gap(self) -> float:
        """The sum of the shares of all points, by F as it stands."""
        self.write()
        t = self.all_terms
        return float(core.shares(self.all_F, self.all_beta, t.r, t.eps, t.lo, t.hi, self.middle))

    def scores(self) -> Array:
        """K beta of all points, by F as it stands."""
        self.write()
        return np.asarray(self.all_terms.q - self.all_terms.r * self.all_beta - self.all_F)

    def errors(self) -> Array:
        """By how much rounding may have made the scores wrong, each of them.

        k log2(1/k) is concave, so that its mean is no larger than that of the mean k; `added` may be more than sums of
        k, but what lies above 1/e gives no more than 1/e.
        """
        self.write()
        part, halving, rest = self.whole.errors
        mean = np.clip(self.all_added / max(self.travel, ROUNDING.least), ROUNDING.least, 1.0 / np.e)
        each = (rest + ROUNDING.of_a_difference) - halving * mean * np.log2(mean)
        moved = each * self.travel if self.travel else 0.0  # without a bound, each is infinite
        return np.asarray(self.inherited + part * self.all_added + moved)

    def refresh(self, scores: Array) -> None:
        """F from K beta as it really is, where it matters, and all points in play."""
        self.write()
        self.all_F[:] = self.all_terms.gradient(self.all_beta, scores)
        self.left_out = []
        self.restore()

    # Who is in play.

    def shrink(self, margin: float, part: float) -> bool:
        """Leave out the points that are optimal by more than the margin, if fewer than this part of all remain.

        Where rows are kept, all stay: F of those left out would cost more values than it saves.
        """
        if self.kept is not None:
            return False
        rise, fall = self.terms.slopes(self.beta, self.F)
        keep = np.flatnonzero((rise > self.bottom - margin) | (fall < self.top + margin))
        if not 0 < keep.size < part * self.n:
            return False
        self.write()
        self.left_out.append((np.delete(self.active, keep), self.all_beta.copy()))
        columns = self.whole.narrow(self.whole.at[self.active[keep]], self.whole.threads)
        self._play(self.active[keep], columns)
        return True

    def restore(self) -> None:
        """All in play again, with their F up to date."""
        self.caught_up(self.travel)
        self.left_out = []
        self._play(np.arange(self.all_beta.size), self.whole)

    def caught_up(self, travel: float) -> tuple[Array, Array] | None:
        """K beta of all points, and by how much it may be wrong: F of those left out is brought up to date with what
        has moved since. None, where more has moved than this.
        """
        if travel != self.travel:
            return None
        self.write()
        for number, (out, beta_then) in enumerate(self.left_out):
            delta = self.all_beta - beta_then
            moved, F, added = np.flatnonzero(delta), self.all_F[out], self.all_added[out]
            columns, points = self.whole.narrow(self.whole.at[out], self.whole.threads), self.whole.at[moved]

            self._take_from(F, added, columns, points, np.zeros(moved.size, bool), delta[moved])
            self.all_F[out], self.all_added[out] = F, added
            self.work += float(moved.size) * out.size
            self.left_out[number] = out, self.all_beta.copy()
        return self.scores(), self.errors()

    def _play(self, active: Index, columns: Columns) -> None:
        t, self.n, self.everyone = self.all_terms, int(active.size), active.size == self.all_beta.size
        self.active, self.columns, self.stale = active, columns, False
        if columns.matrix is None:
            columns.ready()
        self.terms, self.beta, self.F, self.added = t, self.all_beta, self.all_F, self.all_added
        if not self.everyone:
            self.terms = t.at(active)
            self.beta, self.F, self.added = self.beta[active], self.F[active], self.added[active]
        self.last = np.empty(0, np.int64)
        K = self.whole.matrix
        self.given = K if K is not None and self.everyone and len(K) == padded(self.n) else None
        self.held = self.given
        self.update_extremes()

    def write(self) -> None:
        """beta and F of those in play, into those of all."""
        if not self.everyone:
            at = self.active
            self.all_beta[at], self.all_F[at], self.all_added[at] = self.beta, self.F, self.added


def kept_of(last: Index, q: int) -> Index:
    """What stays of the last working set in the next one, of q points: half; nothing of so few that it would be one."""
    half = q // 2
    return last[-half:] if half > 1 else last[:0]
