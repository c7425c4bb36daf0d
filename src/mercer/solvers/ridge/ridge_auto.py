"""The one choice of a solver of ridge regression, where the user names none, or where time is too short for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isqrt
from typing import ClassVar

import numpy as np

from ...amounts import AT_A_TIME, LARGEST, SHARE
from ...columns import value_seconds
from ...kernels import Kernel, Linear
from ...kernels.points import Domain, count
from ...limits import NEVER, Deadline, flop_seconds, now, until
from ...memory import format_bytes
from ...parallel import one_blas_thread, thread_count
from ...solution import Status
from ...types import Points
from ..base import MOST_LANDMARKS, Work
from ..landmarks import FIRST, growing
from ..triangular import factor_bytes
from .cholesky import Cholesky
from .full_cg import ConjugateGradient
from .in_features import Weights
from .linear_system import RidgeSolver
from .normal_equations import NormalEquations
from .nystrom_cg import NystromCG
from .posed import Ridge, bytes_of_squares, width_of_features

_FULL = 60_000  # points, up to which the full problem is a matter of minutes
LEAST = 2  # landmarks that there must be, however short the time
_ROWS = 2  # Normal equations are of use from so many times as many rows as there are features.
_PASSES = 2  # Without a factor there must be time for so many passes.

_EXACT = Cholesky()


def choose_ridge(kernel: Kernel, X: Points, budget: int, *, factor: bool = False) -> tuple[RidgeSolver, str]:
    """The solver for a kernel on points X within so many bytes, and why; with `factor`, one that has a factor."""
    n = count(X)
    if kernel.domain is not Domain.VALUES:
        width = width_of_features(kernel, X)
        if width is not None and width < n and bytes_of_squares(width) <= budget:
            return NormalEquations(), f"{width} explicit features are fewer than {n} points"
    size = factor_bytes(n, "float64" if n <= LARGEST.points_exact else "float32")
    if n <= LARGEST.points_factored and size <= budget:
        return _EXACT, f"the factor takes {format_bytes(size)} of {format_bytes(budget)}"
    too_large = (
        f"a factor would take {format_bytes(size)}" if size > budget else f"{n} points would take long to factor"
    )
    if not factor and (n <= _FULL or kernel.domain is Domain.VALUES):
        return ConjugateGradient(), too_large
    if kernel.domain is Domain.VALUES:
        return _EXACT, "a factor is asked for"
    return NystromCG(landmarks_within(budget)), f"{too_large}: landmarks stand for all points"


def landmarks_within(budget: int) -> int:
    """How many landmarks to take, where nobody names a number."""
    return max(1, min(MOST_LANDMARKS, isqrt(budget // (2 * bytes_of_squares(1)))))


# Where time is short.


def seconds_of(work: Work, ridge: Ridge) -> float:
    """How long so much work takes, from a small piece of it."""
    values = work.values * value_seconds(ridge.kernel, ridge.some.X) if work.values else 0.0
    return work.flops * flop_seconds() + values


def ridge_in_time(ridge: Ridge, solver: RidgeSolver, deadline: Deadline) -> RidgeSolver:
    """The solver, or what to turn to, where time is too short for it: in explicit features, normal equations of some of
    the rows; else landmarks, as many as it allows. Precomputed values leave no choice.
    """
    if ridge.kernel.domain is Domain.VALUES:
        return solver
    # Normal equations give nothing before they are complete.
    share = SHARE.some if isinstance(solver, NormalEquations) else SHARE.most
    if seconds_of(solver.first_work(ridge), ridge) <= share * deadline.left():
        return solver
    if isinstance(solver, NormalEquations):
        rows = _rows_in_time(ridge, deadline)
        if rows is not None:
            return replace(solver, sample=rows)
    if isinstance(solver, NystromCG):
        return MoreLandmarks(solver.landmarks, solver.selection, solver.sample, solver.random_state)
    # Those of slow kernels are drawn without a look at errors.
    selection = "uniform" if ridge.kernel.serial else "errors"
    return MoreLandmarks(landmarks_within(ridge.budget), selection, asked=False)


def _rows_in_time(ridge: Ridge, deadline: Deadline) -> int | None:
    """From how many rows to make normal equations; 0 where time is too short for a factor; None where it is even too
    short for some passes over the features, and landmarks cost less.
    """
    some, kernel, n = ridge.arrays.rows(slice(0, AT_A_TIME.sampled_rows)), ridge.kernel, ridge.stream.n
    seconds = np.inf
    with one_blas_thread():
        for _ in range(2):  # the second time, nothing has to be set up
            began = now()
            Z = kernel.features(some.X)
            Z.T @ (Z @ np.ones(Z.shape[1]))
            seconds = min(seconds, now() - began)
        one_pass = seconds * n / count(some.X) / thread_count()
    width, share = int(Z.shape[1]), SHARE.some * deadline.left()
    rows = int(share / (flop_seconds() * width**2)) - width  # what the factor takes, in rows
    if rows >= _ROWS * width and one_pass <= share:
        return min(rows, n)
    return 0 if _PASSES * one_pass <= share or isinstance(kernel, Linear) else None


@dataclass(frozen=True)
class MoreLandmarks(NystromCG, names=()):
    """Few landmarks, then as many as there is time for; each number has one round, since more of them are worth more
    than more rounds. The last, where these are as many as were asked for, has all rounds.
    """

    asked: bool = True
    exhausted: ClassVar[Status] = Status.OUT_OF_TIME

    def answers(self, ridge: Ridge) -> Iterator[Weights]:
        """See RidgeSolver."""
        n, most = ridge.stream.n, min(self.landmarks, ridge.stream.n)
        with until(NEVER):
            first = next(answer for answer in self._with(min(LEAST, most)).answers(ridge) if not answer.working)
        yield replace(first, part=True)
        for size in growing(FIRST, most, lambda size: 1.0 + self._with(size).sampled(n) / n):
            whole = self.asked and size == most
            for answer in self._with(size).answers(ridge):
                yield answer if whole else replace(answer, part=True)
                if not (whole or answer.working):
                    break

    def _with(self, size: int) -> NystromCG:
        return NystromCG(size, self.selection, self.sample, self.random_state)
