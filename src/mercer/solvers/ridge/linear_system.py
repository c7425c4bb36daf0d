"""Ridge regression is a linear system, of any number of targets at once:

    (K + diag(r)) beta + b = t,    sum beta = 0 where b is free,    r_i = 1 / C_i = lambda / weight_i

With u = A^-1 1 and v = A^-1 t for A = K + diag(r), which is positive definite: b = sum v / sum u and beta = v - b u. So
the solvers have columns A^-1 [t, 1] to find.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, TypeGuard

import numpy as np

from ...arithmetic import inner
from ...columns import multiply
from ...examination import INFEASIBLE, examine
from ...gram import DenseGram, Gram, PointsGram, unformed
from ...kernels.points import Domain
from ...losses import Squared
from ...problem import Problem
from ...shards.afar import SpreadGram, SpreadPoints
from ...solution import Status
from ...types import Array
from ..base import Iterate, Several, Solver
from ..conjugate_gradients import inner_products, norms
from .posed import Ridge, weighted_mean
from .ridge_certificate import RidgeCertificate

PRECISE = 1500  # up to so many points all is float64 from the start
_TIGHT = 1e-10  # the relative residual to reach, where nobody names one


class System:
    """(K + diag(r)) V = [t, 1]: a column for each target, less its centre, and one of ones where b is free.

    `penalty` is lambda: objectives are told in values of J, that many times those of the problem with C = 1 / r.
    """

    def __init__(
        self, gram: Any, T: Array, r: Array, bias: bool = False, budget: float = np.inf, penalty: float = 1.0,
        precise: bool = False,
    ) -> None:  # fmt: skip
        self.gram, self.T, self.r, self.bias, self.penalty = gram, T, r, bias, penalty
        self.room = int(min(budget, 2**60))  # bytes that a solver may take
        self.precise = precise  # whether a factor must be float64
        self.n = len(T)
        # What is taken from each target before, and added to b.
        self.centre = weighted_mean(T, 1.0 / r) if bias else np.zeros(T.shape[1])
        self.centred = T - self.centre
        self.right = np.column_stack([self.centred, np.ones(self.n)]) if bias else self.centred
        sizes = norms(self.right)
        self.sizes = np.where(sizes > 0.0, sizes, 1.0)

    @classmethod
    def of(cls, ridge: Ridge, gram: Gram | None) -> System:
        """The system of a problem whose rows are arrays; without a Gram matrix for as long as none is needed."""
        _, T, weight = ridge.whole
        return cls(gram, T, ridge.penalty / weight, ridge.bias, ridge.budget, ridge.penalty, ridge.loo)

    def product(self, V: Array, dtype: Any = np.float64) -> Array:
        """K V from the kernel and the points; where float32 values will do, from those that are held."""
        gram: Gram = self.gram
        if gram.afar:
            return gram.recompute(V, dtype=dtype)
        if isinstance(gram, DenseGram) and dtype == np.float32 == gram.dtype:
            return (gram.matrix @ V.astype(np.float32)).astype(np.float64)
        if gram.features is not None:
            return gram.recompute(V)
        if held(gram):
            return gram @ V
        columns = gram.from_points() if isinstance(gram, DenseGram) else gram.columns(dtype)
        return multiply(columns, V, dtype)

    def apply(self, V: Array, dtype: Any = np.float64) -> Array:
        """A V = (K + diag(r)) V."""
        return np.asarray(self.product(V, dtype) + self.r[:, None] * V)

    def block(self, V: Array, AV: Array | None, **rest: Any) -> AllTargets:
        """beta and b from columns V = A^-1 [t, 1], and K beta from A V."""
        KV = None if AV is None else AV - self.r[:, None] * V
        if not self.bias:
            return self.answer(V, KV, self.centre, **rest)
        u, v = V[:, -1:], V[:, :-1]
        total = float(u.sum())
        b = v.sum(axis=0) / total if total else np.zeros(v.shape[1])
        beta = v - u * b
        beta -= u * (beta.sum(axis=0) / total) if total else 0.0  # once more: b may be large, and the sum must be 0
        scores = None if KV is None else KV[:, :-1] - KV[:, -1:] * b
        return self.answer(beta, scores, b + self.centre, **rest)

    def answer(self, beta: Array, scores: Array | None, b: Array, **rest: Any) -> AllTargets:
        """What beta, K beta and b are worth; where nobody knows K beta, it is computed.

        With the errors e = t - K beta - b, the gap is 1/2 sum (e - r beta)^2 / r: squares, of which none cancels.
        """
        if scores is None:
            scores, rest = self.product(beta), rest | {"done": True}
        errors = self.centred - (b - self.centre) - scores
        residual = errors - self.r[:, None] * beta
        half = 0.5 * self.penalty / self.r
        primal = 0.5 * self.penalty * inner_products(beta, scores) + half @ errors**2
        relative = norms(residual) / self.sizes[: len(primal)]
        return AllTargets(self, beta, scores, b, residual, primal, half @ residual**2, relative, **rest)


def held(gram: Gram) -> TypeGuard[DenseGram]:
    """Whether K is given as it is, or the result of a user's function: not to be computed more than once."""
    return isinstance(gram, DenseGram) and (gram.kernel.serial or not gram.kernel.symmetric)


@dataclass(frozen=True, eq=False)
class AllTargets(Several):
    """Where a solver stands with all targets: beta, K beta as it believes it to be, b; what that is worth, in values
    of J.

    done: K beta has just been computed from the kernel and the points in float64.
    """

    system: System
    beta: Array
    scores: Array
    b: Array
    residual: Array
    """t - K beta - b - r beta,"""
    primal: Array
    gap: Array
    relative: Array
    """and its norm, in parts of that of t."""

    done: bool = False
    working: bool = False
    best: Callable[[], AllTargets] | None = field(default=None, repr=False)
    factor: Any = field(default=None, repr=False)
    """The factor of K + diag(r), where the solver has one."""

    def stopped(self) -> AllTargets:
        return self.best() if self.best is not None else self

    def objective(self) -> tuple[float, float, int]:
        primal = float(self.primal.sum())
        return primal, primal - float(self.gap.sum()), self.system.n

    @cached_property
    def certificates(self) -> list[RidgeCertificate]:
        """Of each target; what a solver believes of K beta is checked on a sample."""
        return [self._certificate(j) for j in range(len(self.primal))]

    def _certificate(self, j: int) -> RidgeCertificate:
        system, beta, residual = self.system, self.beta[:, j], self.residual[:, j]
        primal, dual, norm = float(self.primal[j]), float(self.primal[j] - self.gap[j]), inner(beta, self.scores[:, j])
        largest, violation = float(np.abs(beta).max()), np.ptp(residual) if system.bias else np.abs(residual).max()
        astray = abs(float(beta.sum())) / (system.n**0.5 * (largest or 1.0)) if system.bias else 0.0
        if not (np.isfinite(dual) and astray <= INFEASIBLE):
            primal, dual = primal if np.isfinite(primal) else np.inf, -np.inf
        rounding, status = (0.0, None) if self.done and norm >= 0.0 else self._examined(j)
        return RidgeCertificate(
            primal, dual, rounding, float(violation), astray, status,
            0.5 * system.penalty / system.r * residual**2, relative_residual=float(self.relative[j]),
        )  # fmt: skip

    def _examined(self, j: int) -> tuple[float, Status | None]:
        """What rounding may have done, and whether the kernel is seen to be indefinite, as of any other problem."""
        system = self.system
        problem = Problem(system.gram, system.centred[:, j], Squared(), 1.0 / system.r, system.bias)
        beta, scores = np.ascontiguousarray(self.beta[:, j]), np.ascontiguousarray(self.scores[:, j])
        certificate, _, _ = examine(problem, beta, float(self.b[j] - system.centre[j]), scores=scores)
        return system.penalty * certificate.rounding, certificate.status

    def better(self, than: Any) -> bool:
        return bool(self.relative.max() <= than.relative.max())

    def enough(self, tol: float) -> bool:
        """Both the relative gap and the relative residual; the gap alone, where rounding keeps the residual above."""
        return bool(self.relative.max() <= tol) and super().enough(tol)

    def columns(self) -> tuple[Array, Array]:
        return self.beta, self.b

    @property
    def doubt(self) -> str | None:
        return None if self.system.gram is None else self.system.gram.doubt


Blocks = Iterator[AllTargets]


class RidgeSolver(Solver, names=()):
    """Settings of an algorithm for ridge regression, which serves all targets at once."""

    factors: ClassVar[bool] = True

    def check(self, problem: Any) -> None:
        """Only the squared loss makes a linear system."""
        if not isinstance(problem, Ridge) and (not isinstance(problem.loss, Squared) or problem.mass):
            raise ValueError(
                f"{type(self).__name__} is for ridge regression, Problem(..., loss=Squared()), not for "
                f"{problem.loss!r}: leave the solver out, and one that serves this loss is chosen."
            )

    def blocks(self, system: System, tol: float) -> Blocks:
        """Answers for all targets, until nothing can be improved; `tol` is the relative residual that will do."""
        raise NotImplementedError

    def answers(self, ridge: Ridge) -> Iterator[Several]:
        """The same, of a problem of which K is not formed yet."""
        yield working(System.of(ridge, None))
        gram = self._gram(ridge)
        _ = gram.doubt  # now, since after Ctrl-C there is no time for it
        yield from self.blocks(System.of(ridge, gram), ridge.tol)

    def _gram(self, ridge: Ridge) -> Gram:
        """K, of which the solvers form what they need; all of it where its values are given or slow to compute."""
        kernel, points = ridge.kernel, ridge.whole.X
        if isinstance(points, SpreadPoints):
            return SpreadGram(kernel, points)
        if kernel.domain is Domain.VALUES or kernel.serial or not kernel.symmetric:
            return DenseGram.compute(kernel, points, dtype=np.float64)
        gram = unformed(kernel, points, ridge.budget)
        if isinstance(gram, PointsGram) and gram.n <= PRECISE:  # where lambda is small, every digit counts
            gram.exact = True
        return gram

    def iterates(self, problem: Any, start: Array | None) -> Generator[Any, Array | None, None]:
        """See Solver; a start is of no use here."""
        if isinstance(problem, Ridge):
            yield from self.answers(problem)
            return
        system = System(problem.gram, problem.y[:, None], 1.0 / problem.C, problem.bias)
        for block in self.blocks(system, _TIGHT):
            done = block.done and not block.working
            yield Iterate(block.beta[:, 0], block.scores[:, 0], float(block.b[0]), partial=block.working, done=done)


def working(system: System, best: Callable[[], AllTargets] | None = None) -> AllTargets:
    """What there is before anything is known."""
    zeros = np.zeros(system.T.shape)
    return system.answer(zeros, zeros, system.centre, done=True, working=True, best=best)
