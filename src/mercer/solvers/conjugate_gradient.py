"""Ridge regression by conjugate gradients on the full problem: products K v only, so that K need not be held."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from ..gram.pivoted import pivoted_cholesky
from ..params import require_integer
from ..types import Array
from .conjugate import Columns, conjugate_gradients, norms
from .linear import Blocks, RidgeSolver, System, working

_SINGLE_FROM = 1500  # with fewer points, all is float64
_RANKS = 1000, 0.1  # of the preconditioner: at most so many, and this part of the points
_SHARE = 0.3  # of the memory is for the preconditioner, and half as much while it is made
_ROWS = 4096  # of F that are multiplied at a time
_INNER = 1e-4  # what float32 values are good for: a residual that is recomputed in float64 shrinks to this part
_LONGEST = 300  # steps between two recomputations
_SLOW = 0.5  # a residual that shrinks to no less than this has reached what rounding allows


@dataclass(frozen=True)
class ConjugateGradient(RidgeSolver):
    """Conjugate gradients, preconditioned by randomly pivoted Cholesky: K + diag(r) ~ F F' + diag(r).

    rank is the number of columns of F (None: a tenth of the points, 1000 at most; fewer where memory is short). Steps
    use float32 kernel values, and begin again from a residual recomputed in float64 until that one is small enough.
    Reference: Díaz et al. 2023.
    """

    rank: int | None = None
    random_state: int | None = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rank is not None:
            require_integer(self, "rank", at_least=1)

    def blocks(self, system: System, tol: float) -> Blocks:
        """See RidgeSolver."""
        yield working(system)
        precondition = self._preconditioner(system)
        dtype: Any = np.float32 if system.n > _SINGLE_FROM else np.float64
        columns, before = Columns.zero(system.right), 1.0
        while True:
            shrink = max(_INNER, 0.3 * tol / max(columns.relative(system.sizes), tol))
            sizes = norms(columns.R)
            sizes[sizes == 0.0] = 1.0
            apply = partial(system.apply, dtype=dtype)
            steps = conjugate_gradients(columns.R, Columns.zero(columns.R), apply, precondition)
            for inner in islice(steps, _LONGEST):
                yield system.block(columns.V + inner.V, columns.AV + inner.AV)
                if inner.stuck or inner.relative(sizes) <= shrink:
                    break
            V = columns.V + inner.V
            AV = system.apply(V)
            candidate = Columns(V, AV, system.right - AV)
            now = candidate.relative(system.sizes)
            if now < before:
                columns = candidate
            yield system.block(columns.V, columns.AV, final=True)
            if not now <= _SLOW * before:  # also where it is not a number
                if dtype == np.float64:
                    return
                dtype = np.float64  # the rounding of float32 values is what is left
            before = min(now, before)

    def _preconditioner(self, system: System) -> Callable[[Array], Array]:
        """v -> (F F' + diag(r))^-1 v."""
        from scipy.linalg import cho_factor, cho_solve

        gram, (most, part) = system.gram, _RANKS
        rank = self.rank or min(most, part * system.n)
        rank = max(1, int(min(rank, _SHARE * system.budget / (8 * system.n))))
        room, generator = 0.5 * _SHARE * system.budget, np.random.default_rng(self.random_state)
        F, pivots = pivoted_cholesky(gram.kernel, gram.points, rank, generator, room=room)
        inverse = 1.0 / system.r[:, None]
        if pivots.size == 0:
            return lambda V: inverse * V
        inner = np.eye(pivots.size)
        for start in range(0, system.n, _ROWS):
            rows = slice(start, start + _ROWS)
            inner += F[rows].T @ (inverse[rows] * F[rows])
        factor = cho_factor(inner, lower=True, overwrite_a=True)

        def precondition(V: Array) -> Array:
            V = inverse * V
            return np.asarray(V - inverse * (F @ cho_solve(factor, F.T @ V)))

        return precondition
