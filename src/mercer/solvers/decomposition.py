"""The fast exact solver: pair descent on small working sets, for every loss with a quadratic dual.

    minimise  1/2 beta'K beta + sum (r_i/2 beta_i^2 - q_i beta_i + eps_i |beta_i|),  lo <= beta <= hi,  sum beta = mass

F = q - r beta - K beta is the negative slope of the smooth part. A coefficient may rise where beta < hi, and sink where
beta > lo; the answer is optimal when nothing that may rise has a larger F than something that may sink. Each round
takes the points that violate this most (a working set, half of it kept from the round before), solves for them alone,
and updates F with the rows of K of those that moved. A problem no larger than a working set is one such piece.

Where many steps of pairs do not solve it, Newton steps of the free coefficients (free.py) take turns with them.

Rows are float32 where the Gram matrix is; F is float64, and exact again whenever K beta is recomputed and sent in.
Where float32 rows stop helping, float64 ones take over.

Once the violation is small, the points that are optimal by a wide margin leave the game (shrinking). They come back
when the others are nearly solved: with the K beta of a certificate, where the gap seems small enough for one, else with
their F brought up to date by what has moved meanwhile.

Without a bias there is no equality; then a phantom point with a zero row and no bounds takes what the others give.

References: Fan, Chen, Lin 2005 (pairs by second order); Wen et al. 2018 (batched working sets).
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._core import CHUNK, is_small, loops, padded
from ..deadline import look
from ..gram import DenseGram, Gram, Held
from ..gram.dense import DensePart
from ..losses import HardMargin, Terms
from ..parallel import for_each, thread_count
from ..params import require_integer
from ..problem import Problem
from ..types import Array, inner
from .base import WHOLE, Iterate, Solver, Work, feasible_start
from .free import newton_steps
from .rank import features_up_to_rounding, steps_in_features

_MOSTLY_FREE = 1.5  # WHOLE points are one working set; so are those in play, if no more than so many times the free,
_MOST_SETS = 3  # and no more than so many working sets
_COMPACT = 6000  # points; so small problems run several rounds without Python between, each in one thread,
_COMPACT_ROUNDS = 8  # so many at most,
_COMPACT_SET = 256  # with no larger working sets,
_COMPACT_PART = 0.03  # until the violation, of all points and of a working set, is this part of what it was
_STEPS = 50_000  # pair steps per round: a fraction of a second
_MANY = 5  # the same for few points, for each of them;
_TURNS = 16  # where that does not suffice, Newton steps and fewer pair steps take turns,
_NEWTON_WORK = 5e9  # until about so many multiplications are done
_INNER = 0.1  # a working set is solved until its violation is this part of the violation of all points;
_INNER_WHOLE = 0.01  # the same, where the working set is everything
_SHRINK_FROM = 0.6  # points leave once the violation is this part of the first,
_SHRINK_MARGIN = 1.0  # if they are optimal by more than this many times the violation,
_SHRINK_TO = 0.7  # and if fewer than this part of the points remain;
_REJOIN = 0.1  # they come back when the violation of the others has become this part of what it was
_FLOOR = {4: 2e-5, 8: 1e-10}  # the part of a violation that rows of so many bytes a value can mend
_LOST = 1e-6  # of K_ii: a smaller r would be lost beside it in float32
_PROGRESS = {4: 1e-10, 8: 1e-15}  # a round that raises the dual by no more than this part of it is idle;
_IDLE = {4: 5, 8: 20}  # after so many in a row, rounding is the limit;
_STILL = 3  # and no fit is stalled without so many
_COARSE = 10.0  # what rounding to float32 may do to f, about, from where on it is not worth beginning with
_DRAGS = 1000.0  # times n^2: after so much work on few points, features are tried
_FEW = 6000  # points
_LINEAR = 16.0  # multiplications of dense linear algebra count as one value
_WORTH_THREADS = 2_000_000  # values; smaller updates stay in one thread
_ROWS_THAT_MOVE = 0.25  # of a working set, in a first round


@dataclass(frozen=True)
class Decomposition(Solver):
    """Pair descent on working sets of so many points; half as many more, where more coefficients than that are free."""

    working_set: int = 2048
    needs_quadratic: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        require_integer(self, "working_set", at_least=2)

    def first_work(self, problem: Problem) -> Work:
        """The block of a working set, and some rows of what moves in it."""
        gram, n = problem.gram, problem.n
        compact = gram.gaussian is not None and n * thread_count() <= _COMPACT
        if compact or gram.design is not None or isinstance(gram, DenseGram | DensePart):
            return Work()
        size = min(n, max(self.working_set, WHOLE))
        return Work(values=size * (size + _ROWS_THAT_MOVE * n))

    def iterates(self, problem: Problem, start: Array | None) -> Generator[Iterate, Array | None, None]:
        descent = _Descent(problem, feasible_start(problem, start), self.working_set)
        while True:
            descent.round()
            scores = yield descent.iterate()
            if scores is not None:
                descent.refresh(scores)
            if descent.exhausted:
                return
            if descent.drags:
                yield from descent.through_features()


class _Small(NamedTuple):
    """The arrays of a working set, as `pair_descent` takes them."""

    diag: Array
    F: Array
    beta: Array
    lo: Array
    hi: Array
    eps: Array


class _Descent:
    """Where the descent stands.

    The points in play are `active`; beta, F, rise, fall and the terms are theirs alone. All coefficients and all of F,
    as they were when each point was last in play, are `all_beta` and `all_F`.
    """

    # Set by `_play`, `_look` and `_begin`:
    active: Any
    gram: Gram
    terms: Terms
    beta: Array
    F: Array
    rise: Array
    fall: Array
    top: float
    bottom: float
    violation: float
    free: int  # the number of coefficients between their bounds
    kept: Any  # the last working set
    block: Array | None  # K of all points in play, where they are one working set
    rejoin_at: float  # the violation at which those left out come back
    stale: bool  # whether F of those left out is out of date
    dual: float
    floor: float  # a violation that rows of this precision cannot mend
    first: float  # the violation at the beginning
    idle: int  # rounds in a row in which the dual gained no more than rounding
    work: float  # values of K computed or read

    def __init__(self, problem: Problem, beta: Array, working_set: int) -> None:
        self.problem, self.whole_gram, self.limit = problem, problem.gram, working_set
        self.hard = isinstance(problem.loss, HardMargin)
        self.few = is_small(problem.n**2) and self.whole_gram.dtype == np.float64
        self.loops = loops(self.few)
        self.all_beta = beta
        self.size = float(np.abs(self.whole_gram.diag()).max())
        if 0.0 < problem.terms.r.min() < _LOST * self.size:
            self.whole_gram = self.whole_gram.astype(np.float64)
        reach = float(np.abs(np.where(np.isfinite(problem.terms.hi), problem.terms.hi, 0.0)).max())
        if np.finfo(np.float32).eps * self.size * reach * np.sqrt(problem.n) > _COARSE:
            self.whole_gram = self.whole_gram.astype(np.float64)
        self.best_gap, self.failures, self.exhausted = np.inf, 0, False
        self.work, self.idle, self.tried = 0.0, 0, False
        started = bool(beta.any())
        self._begin(self.whole_gram.recompute(beta, dtype=self.whole_gram.dtype) if started else np.zeros(problem.n))
        self.first = self.violation

    def refresh(self, scores: Array) -> None:
        """Go on from K beta as it really is, with all points; with float64 rows, where float32 ones failed twice."""
        self._begin(scores)
        gap = self.problem.primal(self.all_beta, self.problem.best_bias(scores), scores) - self.dual
        self.failures = 0 if gap < 0.5 * self.best_gap else self.failures + 1
        self.best_gap = min(self.best_gap, gap)
        if self.failures >= 2:
            if self.dtype == np.float64:
                self.exhausted = self.idle >= _STILL
            else:
                self.whole_gram, self.failures, self.idle = self.whole_gram.astype(np.float64), 0, 0
                self._begin(scores)

    @property
    def drags(self) -> bool:
        """Whether so much work has been done on few points that K must be nearly singular."""
        n = self.problem.n
        return not (self.tried or self.hard or self.problem.mass) and n <= _FEW and self.work > _DRAGS * n * n

    def through_features(self) -> Generator[Iterate, Array | None, None]:
        """Newton steps in w, where few features are K up to rounding; then go on from their answer."""
        self.tried = True
        low = features_up_to_rounding(self.whole_gram)
        if low is None:
            return
        self._write()
        best = self.all_beta.copy()
        for beta in (yield from steps_in_features(self.problem, low, self._count)):
            if self.problem.dual(beta) > self.problem.dual(best):
                best = beta
        self.all_beta[:] = best
        self._begin(self.whole_gram.recompute(best))

    def _count(self, work: float) -> float:
        """Add to the work done; all of it is returned."""
        self.work += work
        return self.work

    def iterate(self) -> Iterate:
        """Coefficients and K beta of all points."""
        self._write()
        t = self.problem.terms
        scores = t.q - t.r * self.all_beta - self.all_F
        b = 0.5 * (self.top + self.bottom) if self.problem.bias else 0.0
        done, partial = self._at_floor(), self.stale and not self._nearly_solved()
        gap = None if self.hard else self.loops.shares(self.all_F, self.all_beta, t.r, t.eps, t.lo, t.hi, b)
        return Iterate(self.all_beta, scores, b, self.dual, partial=partial, done=done, gap=gap, work=self.work)

    def round(self) -> None:
        """Choose a working set, solve for it, and update F; of small problems, several times."""
        if self.stale and self._nearly_solved():
            self._rejoin()
            self._shrink()
            if self._at_floor():
                return
        if self._compact():
            self._compiled_rounds()
        else:
            self._round()
        self.stale = self.active.size < self.problem.n
        if self.hard:
            self._scale()
        self._look()
        if not (self.stale and self._nearly_solved()):
            self._shrink()

    def _compact(self) -> bool:
        """Whether the problem is small enough for several rounds in one thread."""
        return self.gram.gaussian is not None and not self.hard and self.problem.n * thread_count() <= _COMPACT

    def _compiled_rounds(self) -> None:
        """Some rounds without Python between them."""
        from .._core.rounds import gaussian_rounds

        t, limit = self.terms, min(self.limit, _COMPACT_SET, self._largest() // 2)
        K = _scratch.square(padded(2 * limit), self.dtype, self)
        if self.kept.size != 2 * limit + 1:
            self.kept = np.zeros(2 * limit + 1, np.int64)
        Z, levels, gamma, way = self.gram.gaussian
        risen, work, moved = gaussian_rounds(
            Z, levels, gamma, way, self.F, self.beta, t.r, t.eps, t.lo, t.hi, self.problem.bias, self.rise, self.fall,
            self.kept, limit, K, _COMPACT_PART * self.violation, _COMPACT_PART, self.floor, _COMPACT_ROUNDS, _STEPS,
        )  # fmt: skip
        self.work += work
        self._rise_dual(risen, moved)

    def _round(self) -> None:
        W = self._working_set()
        if W.size == 0:  # nobody can move
            self._rise_dual(0.0, 0.0)
            return
        everything = W.size == self.active.size
        K, small = self._block(W, everything), self._small(W)
        small.diag[: W.size] += K.diagonal()[: W.size]
        tol = max((_INNER_WHOLE if everything else _INNER) * self.violation, self.floor)
        self._descend(K, small, tol)
        self._move(W, small.beta[: W.size], K if everything else None)
        self.kept = W

    def _descend(self, K: Array, small: _Small, tol: float) -> None:
        """Solve for the working set: steps of pairs, and where many do not suffice, Newton steps after them."""
        most = isqrt(self.gram.room // 32)  # free coefficients: room for H, its factor, and as much again
        left, turns = _NEWTON_WORK, [len(K) // 8] * _TURNS
        for steps in [_MANY * len(K), *turns, _STEPS] if self.few else [_STEPS, *turns]:
            look()  # nothing has moved yet
            taken, violation = self.loops.pair_descent(K, *small, tol, steps)
            self.work += 2.0 * taken * len(K)
            if violation <= tol:
                return
            if left > 0.0:
                before, left = left, newton_steps(K, *small, self.problem.bias, most, left)
                self.work += (before - left) / _LINEAR

    def _begin(self, scores: Array) -> None:
        """All points in play, and F from K beta."""
        t = self.problem.terms
        self.all_F = t.q - t.r * self.all_beta - scores
        self.dtype = self.whole_gram.dtype
        self.dual = self.problem.dual(self.all_beta, scores)
        self._play_all()
        self.floor = self.violation * _FLOOR[self.dtype.itemsize]

    # One round.

    def _working_set(self) -> Any:
        """All points, where they are few; else those kept from the last round, and the worst of the others."""
        n = self.active.size
        if n <= self._whole():
            return np.arange(n)
        from .._core.working_set import choose_working_set

        limit = min(self.limit * (3 if self.free > self.limit else 2) // 2, self.gram.most_held, self._largest())
        taken = np.empty(n, np.bool_)
        return choose_working_set(self.rise, self.fall, self.top, self.bottom, self.kept, limit, taken)

    def _largest(self) -> int:
        """The most points of a working set, for its K to be within the memory that is left for it."""
        return max(2, isqrt(self.gram.room // self.dtype.itemsize) - CHUNK)

    def _whole(self) -> int:
        """So many points are one working set."""
        if self.gram.padded is not None:
            return int(self.active.size)
        mostly_free = min(int(_MOSTLY_FREE * self.free), _MOST_SETS * self.limit)
        return min(max(WHOLE, self.limit, mostly_free), self._largest())

    def _block(self, W: Any, everything: bool) -> Any:
        """K of the working set, padded with zeros."""
        width = padded(W.size)
        if everything and self.gram.padded is not None:
            return self.gram.padded
        if everything and self.block is not None and _scratch.owner is self:
            return self.block
        K = _scratch.square(width, self.dtype, self)
        K[W.size :] = 0
        K[:, W.size :] = 0
        self.gram.block(W, K)
        self.work += float(W.size) ** 2
        self.block = K if everything else None
        return K

    def _small(self, W: Any) -> _Small:
        """F, beta and the terms of the working set (diag holds r only); padded with points that cannot move."""
        t, size, width = self.terms, W.size, padded(W.size)
        diag, F = np.zeros(width, self.dtype), np.zeros(width, self.dtype)
        beta, lo, hi, eps = (np.zeros(width) for _ in range(4))
        diag[:size], beta[:size], lo[:size], hi[:size], eps[:size] = t.r[W], self.beta[W], t.lo[W], t.hi[W], t.eps[W]
        # Near zero where it matters: float32 then has digits to spare.
        F[:size] = self.F[W] - (0.5 * (self.top + self.bottom) if self.problem.bias else 0.0)
        if not self.problem.bias:
            lo[size], hi[size] = -np.inf, np.inf
        return _Small(diag, F, beta, lo, hi, eps)

    def _move(self, W: Any, beta: Array, K: Array | None) -> None:
        """Take the new coefficients of the working set; K is theirs, where they are all there are."""
        delta = beta - self.beta[W]
        moved = np.flatnonzero(delta)
        self.work += float(moved.size) * self.active.size
        rows, delta = W[moved], delta[moved]
        old, before = self.beta[rows], self.F[rows]
        self.beta[rows] = beta[moved]
        self.F[rows] -= self.terms.r[rows] * delta
        if K is None:
            self._subtract_rows(rows, delta)
        else:
            self._subtract(Held(K, moved, [(0, W.size, 0)]), delta)
        # The dual is quadratic: it has risen by the mean of its slopes before and after, along what moved.
        kinks = self.terms.eps[rows] * (np.abs(self.beta[rows]) - np.abs(old))
        risen = 0.5 * inner(delta, before + self.F[rows]) - float(kinks.sum())
        self._rise_dual(risen, inner(delta, delta))

    def _rise_dual(self, risen: float, moved: float) -> None:
        """Take note of a gain by a move of this squared length; and whether it was more than rounding.

        F, a sum of beta_i K_i, is wrong by about eps |K| |beta|, and the gain by that times the length of the move.
        """
        self.dual += risen
        noise = np.finfo(np.float64).eps * self.size * np.sqrt(moved * inner(self.beta, self.beta))
        enough = max(_PROGRESS[self.dtype.itemsize] * abs(self.dual), noise)
        self.idle = 0 if risen > enough else self.idle + 1

    def _subtract_rows(self, rows: Any, delta: Array) -> None:
        """F -= K delta. A coefficient at a bound seldom moves again: its row may not be worth keeping."""
        beta, t = self.beta[rows], self.terms
        keep = self.gram.worth_keeping(rows, (beta > t.lo[rows]) & (beta < t.hi[rows]))
        if not keep.all():
            self.F -= self.gram.combination(rows[~keep], delta[~keep])
        if keep.any():
            self._subtract(self.gram.held(rows[keep]), delta[keep])

    def _subtract(self, held: Held, delta: Array) -> None:
        """F -= K delta, by all cores where it is worth it."""
        pieces = thread_count() if self.F.size * delta.size >= _WORTH_THREADS else 1
        spans = [
            (left, right, offset)
            for start, stop, offset in held.runs
            for left, right in pairwise(np.linspace(start, stop, pieces + 1).astype(int).tolist())
        ]
        for_each(spans, lambda span: self.loops.subtract_rows(self.F, held.values, held.places, delta, *span), pieces)

    def _look(self) -> None:
        """The largest gain of a rise, the smallest of a fall, and by how much they are in the wrong order."""
        t = self.terms
        self.top, self.bottom, self.free = self.loops.extremes(
            self.F, self.beta, t.lo, t.hi, t.eps, self.rise, self.fall
        )
        if not self.problem.bias:
            self.top, self.bottom = max(self.top, 0.0), min(self.bottom, 0.0)
        self.violation = self.top - self.bottom

    def _at_floor(self) -> bool:
        """Whether rounding hides what is left to gain."""
        noise = 8.0 * float(np.finfo(self.dtype).eps) * self.size * float(np.abs(self.beta).max(initial=0.0))
        return self.violation <= max(self.floor, noise) or self.idle >= _IDLE[self.dtype.itemsize]

    def _scale(self) -> None:
        """Without upper bounds, every multiple of beta is feasible: take the best one."""
        scores = self.terms.q - self.F
        total, norm = inner(self.beta, self.terms.q), inner(self.beta, scores)
        if norm > 0.0 and total > 0.0:
            factor = total / norm
            self.beta *= factor
            self.F[:] = self.terms.q - factor * scores
            self.dual = 0.5 * total * factor

    # Who is in play.

    def _shrink(self) -> None:
        """Leave out the points that are optimal by a wide margin, where that leaves out many."""
        if (
            self.active.size <= self._whole() or self._compact() or self.hard
        ):  # a hard margin's F changes its scale every round
            return
        if not 0.0 < self.violation <= _SHRINK_FROM * self.first:
            return
        margin = _SHRINK_MARGIN * self.violation
        keep = np.flatnonzero((self.rise > self.bottom - margin) | (self.fall < self.top + margin))
        if 0 < keep.size < _SHRINK_TO * self.active.size:
            self._write()
            self.left_out.append((np.delete(self.active, keep), self.all_beta.copy()))
            self._play(self.active[keep], self.gram.narrow(keep))
            self.rejoin_at = _REJOIN * self.violation

    def _nearly_solved(self) -> bool:
        """Whether it is time for those left out to come back."""
        return self.violation <= self.rejoin_at or self._at_floor()

    def _rejoin(self) -> None:
        """Bring F of the points left out up to date, with what has moved since; all are in play again."""
        self._write()
        for out, beta_then in self.left_out:
            self.all_F[out] -= self.whole_gram.recompute(self.all_beta - beta_then, out, self.dtype)
        self._play_all()

    def _play_all(self) -> None:
        self.left_out: list[tuple[Any, Array]] = []
        self._play(np.arange(self.problem.n), self.whole_gram)
        self.stale = False

    def _play(self, active: Any, gram: Gram) -> None:
        t = self.problem.terms
        everyone = active.size == self.problem.n
        self.active, self.gram, self.rejoin_at = active, gram, -1.0
        self.terms = t if everyone else Terms(t.q[active], t.r[active], t.eps[active], t.lo[active], t.hi[active])
        self.beta, self.F = self.all_beta, self.all_F
        if not everyone:
            self.beta, self.F = self.beta[active], self.F[active]
        self.rise, self.fall = np.empty_like(self.F), np.empty_like(self.F)
        self.kept, self.block = np.empty(0, np.int64), None
        self._look()

    def _write(self) -> None:
        if self.active.size < self.problem.n:
            self.all_beta[self.active], self.all_F[self.active] = self.beta, self.F


class _Scratch(threading.local):
    """A square of memory per thread for K of a working set, used again and again: touching new memory is slow."""

    def __init__(self) -> None:
        self.bytes = np.empty(0, np.uint8)
        self.owner: object = None

    def square(self, width: int, dtype: Any, owner: object) -> Any:
        """A width x width array; it belongs to this owner until somebody else asks."""
        size = width * width * int(dtype.itemsize)
        if self.bytes.size < size:
            self.bytes = np.empty(size, np.uint8)
        self.owner = owner
        return self.bytes[:size].view(dtype).reshape(width, width)


_scratch = _Scratch()
