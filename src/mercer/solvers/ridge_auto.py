"""The one choice of a solver of ridge regression, where the user names none."""

from __future__ import annotations

from ..kernels import Kernel
from ..kernels.points import Domain, count
from ..memory import format_bytes
from ..types import Points
from .base import Work
from .cholesky import PRECISE, Cholesky
from .conjugate_gradient import ConjugateGradient
from .linear import RidgeSolver
from .normal_equations import NormalEquations, width_of_features
from .nystrom_cg import NystromCG
from .triangular import factor_bytes

_FACTOR = 20_000  # points, up to which a factor is a matter of seconds
_FULL = 60_000  # points, up to which the full problem is a matter of minutes
_FEATURES = 10_000
_PASSES, _POOLED = 8, 4  # passes over all rows with landmarks; and rows for each, to choose them
_PRODUCTS, _RANK = 10, 1000  # K v of conjugate gradients, and their preconditioner
_PANELS, _INVERSE = 2, 3.0  # times all values: a factor and its refinement; and times as long: its inverse


def choose_ridge(kernel: Kernel, X: Points, budget: int, *, factor: bool = False) -> tuple[RidgeSolver, str]:
    """The solver for a kernel on points X within so many bytes, and why; with `factor`, one that has a factor."""
    n = count(X)
    if kernel.domain is not Domain.VALUES:
        width = width_of_features(kernel, X)
        if width is not None and width < n and width <= _FEATURES and 32 * width**2 <= budget:
            return NormalEquations(), f"{width} explicit features are fewer than {n} points"
    size = factor_bytes(n, "float64" if n <= PRECISE else "float32")
    if n <= _FACTOR and size <= budget:
        return Cholesky(), f"the factor takes {format_bytes(size)} of {format_bytes(budget)}"
    too_large = (
        f"a factor would take {format_bytes(size)}" if size > budget else f"{n} points would take long to factor"
    )
    if not factor and (n <= _FULL or kernel.domain is Domain.VALUES):
        return ConjugateGradient(), too_large
    if kernel.domain is Domain.VALUES:
        return Cholesky(), "a factor is asked for"
    return NystromCG(landmarks_within(budget)), f"{too_large}: landmarks stand for all points"


def landmarks_within(budget: int) -> int:
    """How many landmarks to take, where nobody names a number."""
    return min(2000, max(100, int((budget / 64) ** 0.5)))


def work_of(solver: RidgeSolver, kernel: Kernel, X: Points, loo: bool) -> Work:
    """What a solver takes until it has an answer, about."""
    n = count(X)
    if isinstance(solver, NormalEquations):
        width = width_of_features(kernel, X) or 1
        rows = n if solver.sample is None else min(n, solver.sample)
        return Work(flops=rows * width**2 + width**3 if rows else 0)
    if isinstance(solver, NystromCG):
        m, rows = min(solver.landmarks, n), n if loo else solver.sampled(n)
        return Work(values=_PASSES * n * m, flops=(rows + _POOLED * m) * m * m)
    held = kernel.domain is Domain.VALUES
    if isinstance(solver, ConjugateGradient):
        rank = min(solver.rank or _RANK, n)
        return Work(values=0 if held else n * rank + _PRODUCTS * n * n, flops=2 * n * rank**2)
    single = 0.5 if n > PRECISE and solver != Cholesky("float64") else 1.0
    return Work(values=0 if held else _PANELS * n * n, flops=n**3 / 3 * (_INVERSE if loo else single))
