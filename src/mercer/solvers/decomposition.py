"""The fast exact solver: decomposition into working sets, each solved by steps of pairs (SMO), for every loss with a
quadratic dual.

    minimise  1/2 beta'K beta + sum (r_i/2 beta_i^2 - q_i beta_i + eps_i |beta_i|),  lo <= beta <= hi,  sum beta = mass

F = q - r beta - K beta is the negative slope of the smooth part. A coefficient may rise where beta < hi, and sink where
beta > lo; the answer is optimal when nothing that may rise has a larger F than something that may sink. Each round
takes the points that violate this most (a working set, half of it kept from the round before), solves for them alone,
and updates F with the rows of K of those that moved. A problem no larger than a working set is one such piece.

A step of a pair, as in sequential minimal optimisation (SMO), takes two coefficients to their best values: `_core`
calls it pair descent. Where many of them do not solve a working set, Newton steps (free_coefficients.py) take turns
with them.

Kernel values are float32 where the Gram matrix says so; F is float64, and exact again whenever K beta is recomputed and
sent in. Where float32 values stop helping, float64 ones take over.

Once the violation is small, the points that are optimal by a wide margin leave the game (shrinking). They come back
when the others are nearly solved, with their F brought up to date by what has moved meanwhile.

Without a bias there is no equality; then a phantom point with a zero row and no bounds takes what the others give.

References: Platt 1998 (SMO); Joachims 1999 (working sets, shrinking); Fan, Chen, Lin 2005 (pairs by second order); Wen
et al. 2018 (batched working sets).
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from math import isqrt, sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from .._core.core import CHOICE
from .._core.reference import CHUNK, FOUND, MOST_NEWTON
from ..amounts import A_DIGIT, AT_A_TIME, LARGEST, MEASURED, ROUNDING, ROUNDS, SHARE, TOLERANCE
from ..limits import check_limits, deadline, now, require
from ..losses import HardMargin
from ..memory import DOUBLE
from ..params import require_integer
from ..problem import Problem, feasible_start
from ..shards import Shard
from ..types import Array, Index
from .base import WHOLE, Iterate, Solver, Work
from .newton.free_coefficients import newton_steps
from .rank import BY_LAPACK, LINEAR, features_up_to_rounding, steps_in_features

core = CHOICE.functions
_MOSTLY_FREE = 1.5  # The points in play are one working set, if they are no more than so many times the free ones,
_MOST_SETS = 3  # and no more than so many working sets.
_DEAR = 2  # working sets are so many times smaller, where values are dear
_NEARLY = 0.05  # once the violation is this part of the first, it is mostly known who is free: blocks with Newton steps
_MANY = 5  # steps of pairs for each point, where points are few or it is mostly known who is free;
_TURNS = 16  # where these do not suffice, Newton steps and fewer pair steps take turns, so many times
_COARSE = 10.0  # what rounding to float32 may do to f, about, from where on it is not worth beginning with
_DRAGS = 1000.0
"""Times n^2: after so much work on few points, few features are tried; after _MANY times as much, any number."""


class _Limits(NamedTuple):
    """What values of some precision can do."""

    part_mended: float
    """The part of a violation below which rounding hides it."""
    progress: float
    """A round that raises the dual by no more than this part of it is idle."""
    idle_rounds: int
    """After so many in a row, rounding is the limit."""


_STILL = 5  # No fit is stalled without so many idle rounds in a row.
_HIDDEN = 1e-10  # what float32 values gain too slowly, and float64 ones cannot mend
_SINGLE = _Limits(A_DIGIT * TOLERANCE, _HIDDEN, _STILL)
_DOUBLE = _Limits(_HIDDEN, ROUNDING.of_a_number, 2 * ROUNDS.again)


class _Small(NamedTuple):
    """The arrays of a working set, as `pair_descent` takes them."""

    diag: Array
    F: Array
    beta: Array
    lo: Array
    hi: Array
    eps: Array


class Descent:
    """Where the descent stands: a shard, the dual value, and whether rounding is the limit."""

    shard: Shard
    dual: float
    floor: float  # a violation that values of this precision cannot mend
    rejoin_at: float  # the violation at which those left out come back
    largest: int  # the most points of a working set, for its K to be within the memory that is left for it
    drags: list[tuple[float, bool]]  # after how much work features are tried, and whether any number of them may do
    turn: float = 0.0  # seconds that the blocks of a working set took the last time

    def __init__(self, problem: Problem, beta: Array, working_set: int) -> None:
        self.problem, self.working_set = problem, working_set
        self.hard = isinstance(problem.loss, HardMargin)
        self.size = float(np.abs(problem.gram.diag()).max())
        self.best_gap, self.seen, self.failures, self.exhausted = np.inf, np.inf, 0, False
        self.goal, self.plain = 0.5 * TOLERANCE, not self.hard
        self.idle, self.note, n = 0, "", problem.n
        served = [] if self.hard or problem.mass else [(_DRAGS, False), (_MANY * _DRAGS, True)]
        self.drags = [
            (work * n * n, wide) for work, wide in served if n <= (LARGEST.columns if wide else LARGEST.points_held)
        ]
        self._take(np.dtype(np.float64) if self._too_coarse() else problem.gram.dtype, beta)
        self.first = self.shard.violation

    def _too_coarse(self) -> bool:
        """Whether float32 is not worth beginning with: beside K_ii a small r would be lost, or f by rounding."""
        t = self.problem.terms
        if 0.0 < t.r.min() < sqrt(ROUNDING.of_a_difference) * self.size:
            return True
        reach = float(np.abs(np.where(np.isfinite(t.hi), t.hi, 0.0)).max())
        return bool(np.finfo(np.float32).eps * self.size * reach * np.sqrt(self.problem.n) > _COARSE)

    def _take(self, dtype: np.dtype[np.floating], beta: Array) -> None:
        """The points with values of this precision."""
        problem, gram = self.problem, self.problem.gram
        self.shard = Shard(gram.columns(dtype), problem.terms, problem.bias, beta, gram.rows_memory)
        self._begin()

    def _begin(self) -> None:
        """Everyone is in play, and F is exact."""
        shard = self.shard
        self.dual, self.rejoin_at = shard.dual(), -1.0
        self.largest = max(2, isqrt(self.problem.gram.room // shard.dtype.itemsize) - CHUNK)
        self.limits = _SINGLE if shard.dtype == np.float32 else _DOUBLE
        self.floor = shard.violation * self.limits.part_mended

    def close(self) -> None:
        """The problem is solved."""

    def refresh(self, scores: Array) -> None:
        """Go on from K beta as it really is, with all points; with float64 values, where float32 ones failed twice, or
        once by far.
        """
        shard = self.shard
        whole, single = not (self.hard or shard.stale), shard.dtype == np.float32
        shard.refresh(scores)
        self._begin()
        gap = self.problem.primal(shard.all_beta, self.problem.best_bias(scores), scores) - self.dual
        self.failures = 0 if gap < 0.5 * self.best_gap else self.failures + 1
        self.best_gap = min(self.best_gap, gap)
        hidden = single and whole and self.seen <= A_DIGIT * gap  # by rounding: more of it would be of no use
        if self.failures < 2 and not hidden:
            return
        if not single:
            self.exhausted = self.idle >= _STILL
            return
        self.failures, self.idle = 0, 0
        self._take(np.dtype(np.float64), np.zeros_like(scores))
        self.shard.work += shard.work
        self.shard.inherited = shard.errors()
        self.shard.all_beta[:] = shard.all_beta
        self.shard.refresh(scores)
        self._begin()

    def through_features(self) -> Generator[Iterate, Array | None, None]:
        """Where so much work has been done on few points that K must be nearly singular: Newton steps in w, if few
        features are K up to rounding; then go on from their answer.
        """
        shard, (_, wide) = self.shard, self.drags.pop(0)
        low = features_up_to_rounding(self.problem.gram, wide)
        if low is None:
            return
        self.note = BY_LAPACK
        shard.write()
        best = shard.all_beta.copy()
        for beta in (yield from steps_in_features(self.problem, low, self._count)):
            if self.problem.dual(beta) > self.problem.dual(best):
                best = beta
        shard.restore()
        shard.all_beta[:] = best
        shard.refresh(self.problem.gram.recompute(best))
        self._begin()

    def _count(self, work: float) -> float:
        """Add to the work done; all of it is returned."""
        self.shard.work += work
        return self.shard.work

    def iterate(self) -> Iterate:
        """Coefficients and K beta of all points."""
        shard = self.shard
        done, work = not shard.stale and self._at_floor(), shard.work
        early = shard.stale and not self._nearly_solved()
        self.seen, scores = np.inf if self.hard else shard.gap(), shard.scores()
        gap = None if self.hard else self.seen
        return Iterate(
            shard.all_beta, scores, shard.middle, self.dual, partial=early, behind=shard.stale, done=done, gap=gap,
            work=work, note=self.note, fetch=partial(shard.caught_up, shard.travel),
        )  # fmt: skip

    # One round.

    def round(self) -> None:
        """Choose a working set, solve for it, take its coefficients, and leave out who is optimal by a wide margin.

        Those left out come back when the others are nearly solved: with the K beta of a certificate, where the gap
        seemed small enough for one, else at the beginning of the next round.
        """
        shard = self.shard
        if shard.stale and self._nearly_solved():
            shard.restore()
            self.rejoin_at = -1.0
        if self.plain and shard.held is not None and shard.n <= max(WHOLE, self.working_set):
            self._settle()
            return
        W = self._working_set()
        if W.size == 0:  # nobody can move
            self._rise(0.0, 0.0)
            return
        K = shard.block(W)
        small = self._small(W, len(K))
        small.diag[: W.size] += K.diagonal()[: W.size]
        tol = max(A_DIGIT * (A_DIGIT if W.size == shard.n else 1.0) * shard.violation, self.floor)
        nearly = shard.violation <= _NEARLY * self.first and shard.free <= MOST_NEWTON and not self.hard
        if nearly and K.dtype == np.float32:
            self._descend_by_blocks(W, K, small, tol)
        else:
            self._descend(K, small, tol, nearly)
        self._rise(*shard.move(W, small.beta[: W.size]))
        if self.hard:
            self._scale()
        if shard.n <= WHOLE or self.hard or (shard.stale and self._nearly_solved()):
            return  # a hard margin's F changes its scale every round
        mostly_known = 0.0 < shard.violation <= SHARE.most * self.first
        if mostly_known and shard.shrink(shard.violation, SHARE.most):
            self.rejoin_at = A_DIGIT * shard.violation

    def _settle(self) -> None:
        """A problem of one working set, as far as steps of pairs alone are fast."""
        shard = self.shard
        few = shard.dtype == np.float64 and shard.n <= WHOLE
        done, risen, moved = shard.settle(self.dual, self.goal, _MANY * shard.n if few else AT_A_TIME.pair_steps)
        self._rise(risen, moved)
        self.goal, self.plain = self.goal * TOLERANCE, done and self.idle == 0

    def _working_set(self) -> Index:
        """All points, where they are few; else half of the last set, and the worst of the others."""
        shard, most = self.shard, self.largest
        limit = min(self.working_set, int(SHARE.little * max(self.problem.n, LARGEST.points_exact)))
        if shard.columns.dear:  # at first all are alike: half as many tell as much
            limit //= _DEAR if shard.last.size else 2 * _DEAR
        mostly_free = min(int(_MOSTLY_FREE * shard.free), _MOST_SETS * limit)
        if shard.n <= min(max(WHOLE, limit, mostly_free), most):
            return np.arange(shard.n)
        return shard.candidates(min(limit + (limit // 2 if shard.free > limit else 0), most))

    def _small(self, W: Index, width: int) -> _Small:
        """F, beta and the terms of the working set (diag holds r only); padded with points that cannot move."""
        shard, size = self.shard, W.size
        t = shard.terms
        diag, F = np.zeros(width, shard.dtype), np.zeros(width, shard.dtype)
        beta, lo, hi, eps = np.zeros(width), np.zeros(width), np.zeros(width), np.zeros(width)
        diag[:size], beta[:size], lo[:size], hi[:size], eps[:size] = t.r[W], shard.beta[W], t.lo[W], t.hi[W], t.eps[W]
        F[:size] = shard.F[W] - shard.middle  # near zero where it matters: float32 then has digits to spare
        if not self.problem.bias:
            lo[size], hi[size] = -np.inf, np.inf
        return _Small(diag, F, beta, lo, hi, eps)

    def _descend(self, K: Array, small: _Small, tol: float, nearly: bool) -> None:
        """Solve for the working set: steps of pairs, and where many do not suffice, Newton steps after them: soon,
        where points are few or it is nearly known which coefficients are free.
        """
        most = isqrt(self.problem.gram.room // (AT_A_TIME.copies * DOUBLE))  # free coefficients: H and its factor
        few = K.dtype == np.float64 and (nearly or self.shard.n <= WHOLE)
        left, turns = float(AT_A_TIME.multiplications), [int(SHARE.little * len(K))] * _TURNS
        for steps in [_MANY * len(K), *turns, AT_A_TIME.pair_steps] if few else [AT_A_TIME.pair_steps, *turns]:
            taken, violation = core.pair_descent(K, *small, tol, steps)
            self.shard.work += 2.0 * taken * len(K)
            if violation <= tol:
                return
            check_limits()  # nothing has moved yet
            if left > 0.0:
                before, left = left, newton_steps(K, *small, self.problem.bias, most, left)
                self.shard.work += (before - left) / LINEAR

    def _descend_by_blocks(self, W: Index, K: Array, small: _Small, tol: float) -> None:
        """Solve for the working set: some steps of pairs, and where they do not suffice, blocks of it that stay in
        cache. In these, steps of pairs and Newton steps take turns (_core/blocks.hpp), until the gap is as small a part
        of what it was as the violation is to be.
        """
        shard, n = self.shard, W.size
        beta, F, zeros = small.beta[:n].copy(), small.F[:n].astype(np.float64), np.zeros(n)
        check_limits()  # nothing has moved yet
        require(self.turn)
        taken, violation = core.pair_descent(K, *small, tol, 2 * _MANY * len(K))
        shard.work += 2.0 * taken * len(K)
        if violation <= tol:
            return
        r, eps, lo, hi = shard.terms.r[W], small.eps[:n], small.lo[:n], small.hi[:n]
        least = core.shares(F, beta, r, eps, lo, hi, 0.0) * tol / shard.violation
        delta = beta - small.beta[:n]
        moved = np.flatnonzero(delta)
        F += r * delta
        core.add_rows(K[:, :n], moved, delta[moved], F)
        terms, found = np.stack([zeros, r, eps, lo, hi])[:, None], np.zeros((1, FOUND))
        beta, goals, itself = small.beta[:n].copy(), np.array([[0.0, least, 0.0]]), np.zeros((1, 2), np.int64)
        for _ in range(_TURNS):
            check_limits()
            began = now()
            core.settle_cells(
                K, terms, itself, goals, beta[None], F[None], found, self.problem.bias, AT_A_TIME.pair_steps
            )
            done, steps, newton, _, free, *_ = found[0].tolist()
            shard.work += 2.0 * steps * len(K) + newton * min(free, MOST_NEWTON) ** 3 / LINEAR
            self.turn = now() - began
            if done or steps < AT_A_TIME.pair_steps or self.turn > deadline().left():  # what has moved so far counts
                break
        small.beta[:n] = beta

    def _rise(self, risen: float, moved: float) -> None:
        """Take note of a gain by a move of this squared length; and whether it was more than rounding.

        F, a sum of beta_i K_i, is wrong by about eps |K| |beta|, and the gain by that times the length of the move.
        """
        shard = self.shard
        self.dual += risen
        square = float((shard.beta * shard.beta).sum())
        noise = np.finfo(np.float64).eps * self.size * np.sqrt(moved * square)
        enough = max(self.limits.progress * abs(self.dual), noise)
        self.idle = 0 if risen > enough else self.idle + 1

    def _at_floor(self) -> bool:
        """Whether rounding hides what is left to gain."""
        shard = self.shard
        noise = MEASURED * float(np.finfo(shard.dtype).eps) * self.size * float(np.abs(shard.beta).max(initial=0.0))
        return shard.violation <= max(self.floor, noise) or self.idle >= self.limits.idle_rounds

    def _scale(self) -> None:
        """Without upper bounds, every multiple of beta is feasible: take the best one."""
        shard = self.shard
        total = float((shard.beta * shard.terms.q).sum())
        norm = 2.0 * (total - shard.dual())  # of f, since neither r nor eps is in this dual
        if norm > 0.0 and total > 0.0:
            shard.scale(total / norm)
            self.dual = 0.5 * total * total / norm

    def _nearly_solved(self) -> bool:
        """Whether it is time for those left out to come back."""
        return self.shard.violation <= self.rejoin_at or self._at_floor()


@dataclass(frozen=True)
class Decomposition(Solver):
    """Steps of pairs (SMO) on working sets of so many points; half as many more, where more coefficients are free.

    Parameters
    ----------
    working_set : int, default=2048
        How many points, at most: of less than eight times as many it is one of eight, or all.
    """

    working_set: int = WHOLE
    needs_quadratic: ClassVar[bool] = True
    descent: ClassVar[type[Descent]] = Descent

    def __post_init__(self) -> None:
        super().__post_init__()
        require_integer(self, "working_set", at_least=2)

    def first_work(self, problem: Problem) -> Work:
        """The block of a working set, and some rows of what moves in it."""
        if problem.gram.given:
            return Work()
        size = min(problem.n, max(self.working_set, WHOLE))
        return Work(values=size * (size + SHARE.some * problem.n))

    def iterates(self, problem: Problem, start: Array | None) -> Generator[Iterate, Array | None, None]:
        descent = self.descent(problem, feasible_start(problem, start), self.working_set)
        try:
            while not descent.exhausted:
                descent.round()
                scores = yield descent.iterate()
                if scores is not None:
                    descent.refresh(scores)
                if descent.drags and descent.shard.work > descent.drags[0][0] and not descent.exhausted:
                    yield from descent.through_features()
        finally:
            descent.close()
