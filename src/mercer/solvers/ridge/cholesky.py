"""Ridge regression by Cholesky's factor of K + diag(r), refined in float64."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ...amounts import A_DIGIT, LARGEST, MEASURED, ROUNDING
from ...kernels.points import Domain
from ...memory import BudgetError, format_bytes
from ...parallel import crew_kept, one_blas_thread
from ...params import suggestion
from ...types import Array
from ..base import Work
from ..conjugate_gradients import USUAL_STEPS, Standing, conjugate_gradients, norms
from ..triangular import SHIFTS, Factor, NotDefiniteError, factor_bytes, factor_work, larger
from .linear_system import TIGHT, AllTargets, Blocks, RidgeSolver, System

_SAFE = 1.0 / ROUNDING.of_a_number  # float32 is not for values that are larger or smaller than this
_SLOW, _PATIENCE = 0.5, 3  # so many steps may leave more than this part of the residual
_FAR = A_DIGIT  # a relative residual above this is worth another factor, of a larger diagonal
_PANELS = 2  # All kernel values are computed so many times: for the factor, and for its refinement.
_INVERSE = 2.0  # The diagonal of the inverse takes so many times as long as the factor.
_FACTORS = 4  # at most
_CLOSE = MEASURED  # times what rounding leaves is good enough


@dataclass(frozen=True)
class Cholesky(RidgeSolver):
    """K + diag(r) = L L', exactly.

    Where the matrix cannot be factored, its diagonal is raised by as little as it takes, and conjugate gradients go
    from there as far as rounding allows.

    Parameters
    ----------
    precision : {"auto", "float32", "float64"}, default="auto"
        float32 takes half the time and memory, and the answer is refined in float64; "auto" is float32 for many points,
        and float64 where that turns out not to be enough and fits in the memory.
    """

    precision: str = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        choices = ("auto", "float32", "float64")
        if self.precision not in choices:
            raise ValueError(
                f"Cholesky: there is no precision {self.precision!r}.{suggestion(str(self.precision), choices)}"
            )

    def first_work(self, problem: Any) -> Work:
        n, given = problem.stream.n, problem.kernel.domain is Domain.VALUES
        single = 0.5 if n > LARGEST.points_exact and self.precision != "float64" else 1.0
        times = 1.0 + _INVERSE if problem.loo else single
        return Work(values=0 if given else _PANELS * n * n, flops=factor_work(n) * times)

    def blocks(self, system: System) -> Blocks:
        """See RidgeSolver: the answer, and a better one where a more precise factor is still to be had."""
        columns, attempts, factors = Standing.zero(system.right), self._attempts(system), 0
        for dtype, shift in attempts:
            factor = Factor(system.n, dtype, partial(fill_columns, system.gram, system.r + shift))
            best = partial(_of_first_points, system, factor)
            try:
                for _ in factor.steps():
                    yield replace(system.working, best=best)
            except NotDefiniteError:
                continue
            before = columns
            for better in refined(system, factor, before):
                if better.relative(system.sizes) <= 1.0:  # else it is worse than nothing
                    columns = better
                yield system.block(columns.V, columns.AV)
            if not columns.fresh:
                columns = _recomputed(system, columns.V)
            if columns.relative(system.sizes) > _FAR:
                columns = _nearest(before, columns, _recomputed(system, factor.solve(system.right)))
            yield system.block(columns.V, columns.AV, done=True, factor=factor)
            factors += 1
            enough = _FAR if dtype == attempts[-1][0] else min(system.ridge.tol, TIGHT)
            if factors == _FACTORS or columns.relative(system.sizes) <= enough:
                return
        if not factors:  # the matrix is far from positive definite: nothing is better than f = b
            yield system.block(columns.V, columns.AV, done=True)

    def _attempts(self, system: System) -> list[tuple[str, float]]:
        """Precisions, and what is added to the diagonal; an error, where a factor is larger than all that there is."""
        diagonal = system.gram.diag().astype(np.float64) + system.r
        largest = float(np.abs(diagonal).max())
        in_range = diagonal.min() > 1.0 / _SAFE and largest < _SAFE
        auto = self.precision == "auto" and system.n > LARGEST.points_exact and in_range
        single, room = (self.precision == "float32" or auto) and not system.ridge.loo, system.ridge.budget
        double = not single or factor_bytes(system.n, np.float64) <= room
        precisions = ["float32"] * single + ["float64"] * double
        size = factor_bytes(system.n, precisions[0])
        if size > room:
            raise BudgetError(
                f"The factor of {system.n} points takes {format_bytes(size)}, more than "
                f"memory={format_bytes(room)}: allow more, or use solver='conjugategradient' or 'nystrom'."
            )
        shifts = larger(largest * float(np.finfo(precisions[-1]).eps) / A_DIGIT, SHIFTS)
        return [(dtype, 0.0) for dtype in precisions] + [(precisions[-1], shift) for shift in shifts]


def refined(system: System, factor: Factor, columns: Standing) -> Iterator[Standing]:
    """Conjugate gradients with this factor as preconditioner, until rounding hides any further progress.

    The relative residual that rounding of sums over n values is likely to leave is eps (1 + sqrt(n) max k |V| / |B|).
    A step is the last, where one that gains as much as that before it comes near that.
    """
    largest, best, slow = float(np.abs(system.gram.diag()).max()), columns.relative(system.sizes), 0
    steps, last = conjugate_gradients(system.right, columns, system.apply, factor.solve), None
    for _ in range(USUAL_STEPS):
        columns = steps.send(last)
        yield columns
        rounded = 1.0 + np.sqrt(system.n) * largest * float((norms(columns.V) / system.sizes).max())
        now, close = columns.relative(system.sizes), _CLOSE * float(np.finfo(float).eps) * rounded
        slow = slow + 1 if now > _SLOW * best else 0
        last, best = now * now <= close * best, min(best, now)
        if columns.stuck or slow >= _PATIENCE or now <= close:
            return


def _recomputed(system: System, V: Array) -> Standing:
    """These columns, with a product of their own."""
    AV = system.apply(V)
    return Standing(V, AV, system.right - AV)


def _nearest(*several: Standing) -> Standing:
    """Of each column the one with the least residual.

    Where rounding misleads conjugate gradients, the plain answer of a slightly larger lambda may be the best there is.
    """
    best, *others = several
    for other in others:
        nearer = norms(other.R) < norms(best.R)
        best = Standing(*(np.where(nearer, getattr(other, side), getattr(best, side)) for side in ("V", "AV", "R")))
    return best


def _of_first_points(system: System, factor: Factor) -> AllTargets:
    """The answer of the points whose part of the factor is ready: what there is, when time runs out."""
    V = np.zeros(system.right.shape)
    if factor.ready:
        V[: factor.ready] = factor.solve(system.right[: factor.ready])
    return system.block(V, None)


def fill_columns(gram: Any, r: Array, start: int, stop: int, out: Array) -> None:
    """out <- the rows start ... n of the columns start ... stop of K + diag(r)."""
    own = np.arange(stop - start)
    if gram.once:
        out[...] = gram.matrix[start:, start:stop]
    elif gram.kernel is None:
        out[...] = (gram.features[start:] @ gram.features[start:stop].T).astype(out.dtype)
    else:
        columns = gram.columns(out.dtype)
        with one_blas_thread(), crew_kept():  # of hundreds of strips
            columns = columns.narrow(np.arange(start, stop), columns.threads)
            columns.fill(np.arange(start, gram.n), out, np.arange(len(out)))
        out[own, own] = gram.diag()[start:stop]
    out[own, own] += r[start:stop].astype(out.dtype)
