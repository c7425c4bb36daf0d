"""Ridge regression is a linear system, of any number of targets at once:

    (K + diag(r)) beta + b = t,    sum beta = 0 where b is free,    r_i = 1 / C_i = lambda / weight_i

With u = A^-1 1 and v = A^-1 t for A = K + diag(r), which is positive definite: b = sum v / sum u and beta = v - b u. So
the solvers have columns A^-1 [t, 1] to find.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite
from sys import maxsize
from typing import Any, ClassVar

import numpy as np

from ...amounts import LARGEST
from ...columns import multiply
from ...examination import INFEASIBLE, examine
from ...gram import DenseGram, Gram, PointsGram, unformed
from ...kernels import Linear
from ...kernels.points import Domain
from ...losses import Squared
from ...problem import Problem
from ...shards.afar import SpreadGram, SpreadPoints
from ...solution import Status
from ...types import Array
from ..base import Iterate, Several, Solver
from ..conjugate_gradients import inner_products, norms
from .posed import Ridge, RidgeCertificate, of_arrays

TIGHT = 1e-10  # the relative residual to reach, where nobody names one; rounding permitting, refinement goes below


class System:
    """(K + diag(r)) V = [t, 1]: a column for each target, less its centre, and one of ones where b is free.

    It is that of a problem whose rows are arrays; without a Gram matrix for as long as none is needed. `doubt` is why
    the kernel may not be positive definite, where somebody has looked.
    """

    def __init__(self, ridge: Ridge, gram: Any, doubt: str | None = None) -> None:
        self.ridge, self.gram, self.doubt = ridge, gram, doubt
        _, T, weight = ridge.arrays
        self.n, self.r = len(T), ridge.penalty / weight
        self.centred = T - ridge.centre
        self.right = np.column_stack([self.centred, np.ones(self.n)]) if ridge.bias else self.centred
        sizes = norms(self.right)
        self.sizes = np.where(sizes > 0.0, sizes, 1.0)

    def product(self, V: Array, dtype: Any = np.float64) -> Array:
        """K V from the kernel and the points; where float32 values will do, from those that are held."""
        gram: Gram = self.gram
        if gram.afar:
            return gram.recompute(V, dtype=dtype)
        if isinstance(gram, DenseGram) and dtype == np.float32 == gram.dtype:
            return (gram.matrix @ V.astype(np.float32)).astype(np.float64)
        if gram.features is not None:
            return gram.recompute(V)
        if gram.once:
            return gram @ V
        columns = gram.from_points() if isinstance(gram, DenseGram) else gram.columns(dtype)
        return multiply(columns, V, dtype)

    def apply(self, V: Array, dtype: Any = np.float64) -> Array:
        """A V = (K + diag(r)) V."""
        return np.asarray(self.product(V, dtype) + self.r[:, None] * V)

    @cached_property
    def working(self) -> AllTargets:
        """What there is before anything is known."""
        zeros = np.zeros(self.centred.shape)
        return self.answer(zeros, zeros, self.ridge.centre, done=True, working=True)

    def block(self, V: Array, AV: Array | None, **rest: Any) -> AllTargets:
        """beta and b from columns V = A^-1 [t, 1], and K beta from A V."""
        KV, centre = None if AV is None else AV - self.r[:, None] * V, self.ridge.centre
        if not self.ridge.bias:
            return self.answer(V, KV, centre, **rest)
        u, v = V[:, -1:], V[:, :-1]
        total = float(u.sum())
        b = v.sum(axis=0) / total if total else np.zeros(v.shape[1])
        beta = v - u * b
        beta -= u * (beta.sum(axis=0) / total) if total else 0.0  # once more: b may be large, and the sum must be 0
        scores = None if KV is None else KV[:, :-1] - KV[:, -1:] * b
        return self.answer(beta, scores, b + centre, **rest)

    def answer(self, beta: Array, scores: Array | None, b: Array, **rest: Any) -> AllTargets:
        """What beta, K beta and b are worth; where nobody knows K beta, it is computed.

        With the errors e = t - K beta - b, the gap is 1/2 sum (e - r beta)^2 / r: squares, of which none cancels.
        """
        if scores is None:
            scores, rest = self.product(beta), rest | {"done": True}
        errors = self.centred - (b - self.ridge.centre) - scores
        residual = errors - self.r[:, None] * beta
        half, norm = 0.5 * self.ridge.arrays.weight, inner_products(beta, scores)
        primal, gap = 0.5 * self.ridge.penalty * norm + half @ errors**2, half @ residual**2
        relative = norms(residual) / self.sizes[: len(primal)]
        return AllTargets(primal, gap, b, self.n, self.doubt, self, beta, scores, norm, residual, relative, **rest)


@dataclass(frozen=True, eq=False)
class AllTargets(Several):
    """Where a solver stands with all targets: beta, K beta as it believes it to be, b; what that is worth, in values
    of J.

    done: K beta has just been computed from the kernel and the points in float64.
    """

    system: System
    beta: Array
    scores: Array
    norm: Array
    """beta'K beta."""
    residual: Array
    """t - K beta - b - r beta,"""
    relative: Array
    """and its norm, in parts of that of t."""

    done: bool = False
    working: bool = False
    best: Callable[[], AllTargets] | None = field(default=None, repr=False)
    factor: Any = field(default=None, repr=False)
    """The factor of K + diag(r), where the solver has one."""

    def stopped(self) -> AllTargets:
        return self.best() if self.best is not None else self

    @cached_property
    def certificates(self) -> list[RidgeCertificate]:
        """Of each target; what a solver believes of K beta is checked on a sample."""
        system, bias, found = self.system, self.system.ridge.bias, []
        half, columns = 0.5 * system.ridge.arrays.weight, np.stack([self.primal, self.gap, self.norm, self.relative])
        for j, (primal, gap, norm, relative) in enumerate(columns.T.tolist()):
            beta, residual, dual = self.beta[:, j], self.residual[:, j], primal - gap
            largest, violation = float(np.abs(beta).max()), np.ptp(residual) if bias else np.abs(residual).max()
            astray = abs(float(beta.sum())) / (system.n**0.5 * (largest or 1.0)) if bias else 0.0
            if not (isfinite(dual) and astray <= INFEASIBLE):
                primal, dual = primal if isfinite(primal) else np.inf, -np.inf
            rounding, status = (0.0, None) if self.done and norm >= 0.0 else self._examined(j)
            one = RidgeCertificate(primal, dual, rounding, float(violation), astray, status, half * residual**2)
            found.append(replace(one, relative_residual=relative))
        return found

    def _examined(self, j: int) -> tuple[float, Status | None]:
        """What rounding may have done, and whether the kernel is seen to be indefinite, as of any other problem."""
        system, ridge = self.system, self.system.ridge
        problem = Problem(system.gram, system.centred[:, j], Squared(), 1.0 / system.r, ridge.bias)
        beta, scores = np.ascontiguousarray(self.beta[:, j]), np.ascontiguousarray(self.scores[:, j])
        certificate, _, _ = examine(problem, beta, float(self.b[j] - ridge.centre[j]), scores=scores)
        return ridge.penalty * certificate.rounding, certificate.status

    def better(self, than: Any) -> bool:
        return bool(self.relative.max() <= than.relative.max())

    def enough(self, tol: float) -> bool:
        """Both the relative gap and the relative residual; the gap alone, where rounding keeps the residual above."""
        gaps = [certificate.relative_gap for certificate in self.certificates]
        return bool(self.relative.max() <= tol) and max(gaps) <= tol


Blocks = Iterator[AllTargets]


class RidgeSolver(Solver, names=()):
    """Settings of an algorithm for ridge regression, which serves all targets at once."""

    factors: ClassVar[bool] = True
    ridge: ClassVar[bool] = True

    def check(self, problem: Any) -> None:
        """Only the squared loss makes a linear system."""
        if not isinstance(problem, Ridge) and (not isinstance(problem.loss, Squared) or problem.mass):
            raise ValueError(
                f"{type(self).__name__} is for ridge regression, Problem(..., loss=Squared()), not for "
                f"{problem.loss!r}: leave the solver out, and one that serves this loss is chosen."
            )

    def blocks(self, system: System) -> Blocks:
        """Answers for all targets, until nothing can be improved; ridge.tol is the relative residual that will do."""
        raise NotImplementedError

    def answers(self, ridge: Ridge) -> Iterator[Several]:
        """The same, of a problem of which K is not formed yet."""
        yield System(ridge, None).working
        gram = self._gram(ridge)
        yield from self.blocks(System(ridge, gram, gram.doubt))  # seen now, since after Ctrl-C there is no time for it

    def _gram(self, ridge: Ridge) -> Gram:
        """K, of which the solvers form what they need; all of it where its values are given or slow to compute."""
        kernel, points = ridge.kernel, ridge.arrays.X
        if isinstance(points, SpreadPoints):
            return SpreadGram(kernel, points)
        if kernel.domain is Domain.VALUES or kernel.serial or not kernel.symmetric:
            return DenseGram.compute(kernel, points, dtype=np.float64)
        gram = unformed(kernel, points, ridge.budget)
        if isinstance(gram, PointsGram) and gram.n <= LARGEST.points_exact:  # where lambda is small, every digit counts
            gram.exact = True
        return gram

    def iterates(self, problem: Any, start: Array | None) -> Generator[Any, Array | None, None]:
        """See Solver; a start is of no use here."""
        if isinstance(problem, Ridge):
            yield from self.answers(problem)
            return
        gram = problem.gram
        kernel, X = (gram.kernel, gram.points) if gram.features is None else (Linear(), gram.features)
        ridge = of_arrays(X, problem.y[:, None], problem.C, problem.bias, maxsize, kernel=kernel, tol=TIGHT)
        for block in self.blocks(System(ridge, gram)):
            done = block.done and not block.working
            yield Iterate(block.beta[:, 0], block.scores[:, 0], float(block.b[0]), partial=block.working, done=done)
