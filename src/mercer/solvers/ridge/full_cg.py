"""Ridge regression by conjugate gradients on the full problem: products K v only, so that K need not be held."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from ...amounts import LARGEST, SHARE
from ...columns import Columns
from ...gram import DenseGram, Gram
from ...gram.pivoted import pivoted_cholesky
from ...kernels.points import Domain
from ...memory import DOUBLE
from ...params import require_integer
from ...types import Array
from ..base import LANDMARKS, Work
from ..conjugate_gradients import BY_SINGLE, MOST_STEPS, Standing, conjugate_gradients, norms, nystrom
from ..nanoseconds import PASSES_PER_DIGIT
from ..newton.spread_landmarks import landmark_rows
from ..triangular import inverse_of
from .linear_system import Blocks, RidgeSolver, System
from .posed import Ridge

_SLOW = 0.5  # a residual that shrinks to no less than this has reached what rounding allows


@dataclass(frozen=True)
class ConjugateGradient(RidgeSolver):
    """Conjugate gradients, preconditioned by randomly pivoted Cholesky: K + diag(r) ~ F F' + diag(r).

    Steps use float32 kernel values, and begin again from a residual recomputed in float64 until that one is small
    enough; where float32 leads no further, they use float64 values. Reference: Díaz et al. 2023.

    Parameters
    ----------
    rank : int, default=None
        The number of columns of F; None: 1000, fewer where there are fewer points, or memory is short.
    random_state : int, default=0
        The seed of the pivots.
    """

    rank: int | None = None
    random_state: int | None = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rank is not None:
            require_integer(self, "rank", at_least=1)

    def _gram(self, ridge: Ridge) -> Gram:
        """All of K in float32, where values are dear and there is room for them."""
        gram = super()._gram(ridge)
        if gram.afar or isinstance(gram, DenseGram) or DOUBLE * gram.n**2 > ridge.budget:
            return gram
        kernel, points = ridge.kernel, ridge.arrays.X
        cheap = Columns(kernel, points[0:1], np.float32).cheap
        return gram if cheap else DenseGram.compute(kernel, points, dtype=np.float32)

    def first_work(self, problem: Any) -> Work:
        n, given = problem.stream.n, problem.kernel.domain is Domain.VALUES
        rank = min(self.rank or LANDMARKS, n)
        return Work(values=0 if given else n * rank + int(PASSES_PER_DIGIT) * n * n, flops=2 * n * rank**2)

    def blocks(self, system: System) -> Blocks:
        """See RidgeSolver."""
        yield system.working
        precondition, tol = self._preconditioner(system), system.ridge.tol
        dtype = np.dtype(np.float32 if system.n > LARGEST.points_exact else np.float64)
        columns, before = Standing.zero(system.right), 1.0
        while True:
            shrink = max(BY_SINGLE, 0.5 * tol / max(columns.relative(system.sizes), tol))
            sizes = norms(columns.R)
            sizes[sizes == 0.0] = 1.0
            apply = partial(system.apply, dtype=dtype)
            steps = conjugate_gradients(columns.R, Standing.zero(columns.R), apply, precondition)
            for inner in islice(steps, MOST_STEPS):  # to begin again is to forget
                yield system.block(columns.V + inner.V, columns.AV + inner.AV)
                if inner.stuck or inner.relative(sizes) <= shrink:
                    break
            V = columns.V + inner.V
            AV = system.apply(V)
            candidate = Standing(V, AV, system.right - AV)
            now = candidate.relative(system.sizes)
            if now < before:
                columns = candidate
            yield system.block(columns.V, columns.AV, done=True)
            if not now <= _SLOW * before:  # also where it is not a number
                if dtype == np.float64:
                    return
                dtype = np.dtype(np.float64)  # the rounding of float32 values is what is left
            before = min(now, before)

    def _preconditioner(self, system: System) -> Callable[[Array], Array]:
        """v -> (F F' + diag(r))^-1 v."""
        gram, budget = system.gram, system.ridge.budget
        share = SHARE.some * budget
        rank = max(1, int(min(self.rank or LANDMARKS, system.n, share / (DOUBLE * system.n))))
        if gram.afar:
            return _by_landmarks(system, rank, self.random_state)
        room, generator = 0.5 * share, np.random.default_rng(self.random_state)
        F, pivots = pivoted_cholesky(gram.kernel, gram.points, rank, generator, room=room)
        inverse = 1.0 / system.r
        return nystrom(F, inverse) if pivots.size else lambda V: inverse[:, None] * V


def _by_landmarks(system: System, rank: int, seed: int | None) -> Callable[[Array], Array]:
    """The same of points that are spread over blocks: F are their rows of landmarks, and stay with the blocks."""
    F, _ = landmark_rows(system.gram, rank, seed)
    inverse = 1.0 / system.r
    inner = inverse_of(np.eye(F.width) + F.squares(np.arange(system.n), inverse)[0])

    def precondition(V: Array) -> Array:
        columns = [v - inverse * F.dots(inner(F.combination(v))) for v in (inverse[:, None] * V).T]
        return np.stack(columns, axis=1)

    return precondition
