"""The fast exact solver: pair descent on small working sets, for every loss with a quadratic dual.

    minimise  1/2 beta'K beta + sum (r_i/2 beta_i^2 - q_i beta_i + eps_i |beta_i|),   lo <= beta <= hi,   sum beta = mass

F = q - r beta - K beta is the negative slope of the smooth part. A coefficient may rise where beta < hi, and sink where
beta > lo; the answer is optimal when nothing that may rise has a larger F than something that may sink. Each round takes
the points that violate this most (a working set, half of it kept from the round before), solves for them alone, and
updates F with the rows of K of those that moved. A problem that is no larger than a working set is one such piece.

Rows are float32 where the Gram matrix is; F is float64, and exact again whenever K beta is recomputed and sent in. Where
float32 rows stop helping, float64 ones take over. Points far inside their bounds' optimality are left out (shrinking)
until K beta is next recomputed.

Without a bias there is no equality; then a phantom point with a zero row and no bounds takes what the others give.

References: Fan, Chen, Lin 2005 (pairs by second order); Wen et al. 2018 (batched working sets).
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..gram import Gram
from ..losses import Terms
from ..params import require_integer
from ..parallel import for_each, thread_count
from ..problem import Problem
from ..types import Array
from .base import Iterate, Solver

_WHOLE = 2048  # a problem of so many points is one working set
_STEPS = 50_000  # pair steps per round: about 50 ms
_INNER = 0.1  # a working set is solved until its violation is this part of the violation of all points
_FLOOR = {"f4": 1e-4, "f8": 1e-10}  # the part of a violation that rows of this precision can mend
_WORTH_THREADS = 2_000_000  # values; smaller updates stay in one thread


@dataclass(frozen=True)
class Decomposition(Solver):
    """Pair descent on working sets of so many points."""

    working_set: int = 1024

    def __post_init__(self) -> None:
        super().__post_init__()
        require_integer(self, "working_set", at_least=2)

    def iterates(self, problem: Problem, start: Array | None) -> Generator[Iterate, Array | None, None]:
        state = _State(problem, feasible_start(problem, start), self.working_set)
        while True:
            state.round()
            scores = yield state.iterate()
            if scores is not None:
                state.refresh(scores)
            if state.exhausted:
                return


class _State:
    """Where the descent stands. F, rise and fall are of all points in play; `violation` is the largest rise - fall."""

    def __init__(self, problem: Problem, beta: Array, working_set: int) -> None:
        self.problem, self.terms, self.gram = problem, problem.terms, problem.gram
        self.beta = beta
        self.kept = np.empty(0, np.int64)
        self.best_exact, self.failures, self.exhausted = np.inf, 0, False
        self.limit = working_set
        self._start_from(self.gram.recompute(beta, dtype=np.float32) if beta.any() else np.zeros(problem.n))

    def _start_from(self, scores: Array) -> None:
        t = self.terms
        self.F = t.q - t.r * self.beta - scores
        self.rise, self.fall = np.empty_like(self.F), np.empty_like(self.F)
        dtype = self.gram.held([0])[0].dtype
        self._look()
        self.floor = self.violation * _FLOOR[dtype.str[1:]]
        self.dtype = dtype

    def _look(self) -> None:
        from .._core.working_set import extremes

        t = self.terms
        self.top, self.bottom = extremes(self.F, self.beta, t.lo, t.hi, t.eps, self.rise, self.fall)
        if not self.problem.bias:
            self.top, self.bottom = max(self.top, 0.0), min(self.bottom, 0.0)
        self.violation = self.top - self.bottom

    def refresh(self, scores: Array) -> None:
        """Go on from K beta as it really is; with float64 rows, where float32 ones have not helped twice."""
        self._start_from(scores)
        self.failures = 0 if self.violation < 0.5 * self.best_exact else self.failures + 1
        self.best_exact = min(self.best_exact, self.violation)
        if self.failures >= 2:
            self.exhausted = self.dtype == np.float64
            self.gram, self.failures = self.gram.astype(np.float64), 0
            self._start_from(scores)

    def iterate(self) -> Iterate:
        t = self.terms
        scores = t.q - t.r * self.beta - self.F
        b = 0.5 * (self.top + self.bottom) if self.problem.bias else 0.0
        return Iterate(self.beta, scores, b, done=self.violation <= self.floor)

    def round(self) -> None:
        """Choose a working set, solve for it, and update F."""
        from .._core.pairs import pair_descent
        from .._core.working_set import subtract_rows

        W = self._working_set()
        t, size = self.terms, W.size
        K, phantom = self._small(W)
        beta, lo, hi, eps, F = (np.zeros(len(K)) for _ in range(5))
        beta[:size], lo[:size], hi[:size], eps[:size] = self.beta[W], t.lo[W], t.hi[W], t.eps[W]
        middle = 0.0 if phantom else 0.5 * (self.top + self.bottom)
        F[:size] = self.F[W] - middle  # near zero where it matters: float32 then has digits to spare
        if phantom:
            lo[size], hi[size] = -np.inf, np.inf
        small = F.astype(self.dtype)
        tol = max(_INNER * self.violation, self.floor)
        pair_descent(K, K.diagonal().copy(), small, beta, lo, hi, eps, tol, _STEPS)
        delta = beta[:size] - self.beta[W]
        moved = np.flatnonzero(delta)
        rows, delta = W[moved], delta[moved]
        self.beta[rows] = beta[moved]
        self.F[rows] -= t.r[rows] * delta
        values, slots = self.gram.held(rows)
        n = self.F.size
        threads = thread_count() if n * rows.size >= _WORTH_THREADS else 1
        edges = [n * i // threads for i in range(threads + 1)]
        for_each(
            list(zip(edges[:-1], edges[1:], strict=True)),
            lambda span: subtract_rows(self.F, values, slots, delta, *span),
            threads,
        )
        self.kept = W
        self._look()

    def _working_set(self) -> Any:
        from .._core.working_set import choose_largest

        n, limit = self.F.size, min(self.limit, self.F.size)
        taken = np.zeros(n, np.bool_)
        W = np.empty(limit, np.int64)
        kept = self.kept[-(limit // 2) :]
        size = kept.size
        W[:size] = kept
        taken[kept] = True
        half = (limit - size) // 2
        size = choose_largest(self.rise, 1.0, self.bottom, taken, W, size, half)
        size = choose_largest(self.fall, -1.0, -self.top, taken, W, size, half)
        return W[:size]

    def _small(self, W: Any) -> tuple[Array, bool]:
        """K of the working set with r on its diagonal, padded to a multiple of CHUNK points; the first may be a phantom."""
        from .._core.pairs import CHUNK

        size = W.size
        phantom = not self.problem.bias
        width = -(-(size + phantom) // CHUNK) * CHUNK
        block = self.gram.block(W)
        if width == size:
            K = block
        else:
            K = np.zeros((width, width), self.dtype)
            K[:size, :size] = block
        diagonal = np.arange(size)
        K[diagonal, diagonal] += self.terms.r[W]
        return K, phantom


def feasible_start(problem: Problem, start: Array | None) -> Array:
    """Coefficients within their bounds and with the right sum: those of `start` as far as they are, else zeros."""
    t = problem.terms
    if start is None:
        beta = np.clip(np.zeros(problem.n), t.lo, t.hi)
    else:
        beta = np.array(start, np.float64)
        if beta.shape != (problem.n,) or not np.isfinite(beta).all():
            raise ValueError(f"A start must be {problem.n} finite coefficients, one per point.")
        beta = np.clip(beta, t.lo, t.hi)
    if problem.bias:
        lack = problem.mass - float(beta.sum())
        room = np.maximum(t.hi - beta, 0.0) if lack > 0 else np.maximum(beta - t.lo, 0.0)
        taken = np.minimum(np.cumsum(room), abs(lack))
        beta += np.copysign(np.diff(taken, prepend=0.0), lack)
    return np.clip(beta, t.lo, t.hi)
