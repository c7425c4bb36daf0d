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

from ...columns import multiply
from ...examination import examine
from ...gram import DenseGram, Gram, PointsGram, unformed
from ...kernels.points import Domain
from ...losses import Squared
from ...problem import Problem
from ...shards.afar import SpreadGram, SpreadPoints
from ...types import Array
from ..base import Iterate, Several, Solver
from ..conjugate_gradients import norms
from .posed import Ridge, weighted_mean
from .ridge_certificate import RidgeCertificate, in_values_of_J

PRECISE = 1500  # up to so many points all is float64 from the start
_TIGHT = 1e-10  # the relative residual to reach, where nobody names one


@dataclass(frozen=True, eq=False)
class System:
    """(K + diag(r)) beta + b = T, a column of T (n x m) for each target; b is 0 unless `bias`."""

    gram: Gram
    T: Array
    r: Array
    bias: bool = False
    budget: float = np.inf
    """Bytes that a solver may take."""

    penalty: float = 1.0
    """lambda: objectives are told in values of J, that many times those of the problem with C = 1 / r."""

    @classmethod
    def of(cls, ridge: Ridge, gram: Gram) -> System:
        """The system of a problem whose rows are arrays."""
        _, T, weight = ridge.whole
        return cls(gram, T, ridge.penalty / weight, ridge.bias, ridge.budget, ridge.penalty)

    @property
    def n(self) -> int:
        """The number of points."""
        return self.gram.n

    @property
    def room(self) -> int:
        """The same as a whole number."""
        return int(min(self.budget, 2**60))

    @property
    def shape(self) -> tuple[int, int]:
        """Points and columns: one for each target, and one for b."""
        return self.n, self.T.shape[1] + self.bias

    @cached_property
    def centre(self) -> Array:
        """What is taken from each target before, and added to b: its weighted mean, where b is free."""
        return weighted_mean(self.T, 1.0 / self.r) if self.bias else np.zeros(self.T.shape[1])

    @cached_property
    def right(self) -> Array:
        """[t, 1], t centred."""
        centred = self.T - self.centre
        return np.column_stack([centred, np.ones(self.n)]) if self.bias else centred

    @cached_property
    def sizes(self) -> Array:
        """|t| of each column of `right`; 1 where it is 0."""
        sizes = norms(self.right)
        return np.asarray(np.where(sizes > 0.0, sizes, 1.0))

    def product(self, V: Array, dtype: Any = np.float64) -> Array:
        """K V from the kernel and the points; where float32 values will do, from those that are held."""
        gram = self.gram
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

    def block(self, V: Array, AV: Array | None, **rest: Any) -> Block:
        """beta and b from columns V = A^-1 [t, 1], and K beta from A V."""
        KV = None if AV is None else AV - self.r[:, None] * V
        if not self.bias:
            return Block(self, V, KV, self.centre, **rest)
        u, v = V[:, -1:], V[:, :-1]
        total = float(u.sum())
        b = v.sum(axis=0) / total if total else np.zeros(v.shape[1])
        beta = v - u * b
        beta -= u * (beta.sum(axis=0) / total) if total else 0.0  # once more: b may be large, and the sum must be 0
        scores = None if KV is None else KV[:, :-1] - KV[:, -1:] * b
        return Block(self, beta, scores, b + self.centre, **rest)

    @property
    def centred(self) -> Array:
        """t, centred where b is free."""
        return self.right[:, : self.T.shape[1]]

    def residual(self, beta: Array, b: Array, scores: Array) -> Array:
        """t - K beta - r beta - b."""
        return np.asarray(self.centred - (b - self.centre) - scores - self.r[:, None] * beta)

    def relative(self, residual: Array) -> Array:
        """|residual| / |t| of each target, t centred where b is free."""
        m = self.T.shape[1]
        return np.asarray(norms(residual) / self.sizes[:m])


def held(gram: Gram) -> TypeGuard[DenseGram]:
    """Whether K is given as it is, or the result of a user's function: not to be computed more than once."""
    return isinstance(gram, DenseGram) and (gram.kernel.serial or not gram.kernel.symmetric)


@dataclass(frozen=True, eq=False)
class Block(Several):
    """Where a solver stands with all targets: beta, K beta as it believes it to be, b.

    done: K beta has just been recomputed from the kernel and the points in float64, for the certificate.
    """

    system: System
    beta: Array
    scores: Array | None
    b: Array
    done: bool = False
    working: bool = False
    best: Callable[[], Block] | None = field(default=None, repr=False)
    factor: Any = field(default=None, repr=False)
    """The factor of K + diag(r), where the solver has one."""

    def stopped(self) -> Block:
        return self.best() if self.best is not None else self

    @cached_property
    def _products(self) -> Array:
        return self.system.product(self.beta) if self.scores is None else self.scores

    def objective(self) -> tuple[float, float, int]:
        """J and its lower bound, summed over the targets, as the solver sees them; the number of points."""
        system, beta, scores = self.system, self.beta, self._products
        norm, t = float(np.einsum("ij,ij->", beta, scores)), system.centred
        misfit = t - (self.b - system.centre) - scores
        cost = float(np.einsum("ij,ij,i->", misfit, misfit, 1.0 / system.r))
        dual = float(np.einsum("ij,ij->", t, beta) - 0.5 * np.einsum("ij,ij,i->", beta, beta, system.r))
        return system.penalty * 0.5 * (norm + cost), system.penalty * (dual - 0.5 * norm), system.n

    @cached_property
    def certificates(self) -> list[RidgeCertificate]:
        """From K beta as it was recomputed."""
        system, scores = self.system, self._products
        residuals = system.relative(system.residual(self.beta, self.b, scores))
        found = []
        for j, residual in enumerate(residuals.tolist()):
            problem = Problem(system.gram, system.centred[:, j], Squared(), 1.0 / system.r, system.bias)
            beta, b = np.ascontiguousarray(self.beta[:, j]), float(self.b[j] - system.centre[j])
            certificate, _, _ = examine(problem, beta, b, scores=np.ascontiguousarray(scores[:, j]))
            found.append(in_values_of_J(certificate, system.penalty, residual))
        return found

    @property
    def residual(self) -> float:
        """The largest relative residual."""
        return max(certificate.relative_residual for certificate in self.certificates)

    def better(self, than: Any) -> bool:
        return bool(self.residual <= than.residual)

    def enough(self, tol: float) -> bool:
        """Both the relative gap and the relative residual; the gap alone, where rounding keeps the residual above."""
        return self.residual <= tol and super().enough(tol)

    def columns(self) -> tuple[Array, Array]:
        return self.beta, self.b

    @property
    def doubt(self) -> str | None:
        return self.system.gram.doubt


Blocks = Iterator[Block]


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
        afar = isinstance(ridge.whole.X, SpreadPoints)
        nothing = SpreadGram(ridge.kernel, ridge.whole.X) if afar else unformed(ridge.kernel, ridge.whole.X)
        nothing.__dict__["doubt"] = None  # f = b, whose gap holds with any kernel
        yield working(System.of(ridge, nothing))
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
            scores = None if block.scores is None else block.scores[:, 0]
            yield Iterate(block.beta[:, 0], scores, float(block.b[0]), partial=block.working, done=block.done)


def working(system: System, best: Callable[[], Block] | None = None) -> Block:
    """What there is before anything is known."""
    zeros = np.zeros(system.T.shape)
    return Block(system, zeros, zeros, system.centre, working=True, best=best)
