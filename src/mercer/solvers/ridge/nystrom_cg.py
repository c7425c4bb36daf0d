"""Ridge regression through landmarks, at any number of rows (after Rudi, Carratino, Rosasco 2017, Falkon)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np

from ...amounts import A_DIGIT, AT_A_TIME, LARGEST, ROUNDING
from ...columns import block_between
from ...gram.pivoted import pivoted_cholesky
from ...kernels import Kernel
from ...kernels.points import Chosen, Domain, count, diagonal, take
from ...limits import NEVER, stopped_by, until
from ...params import require_integer, suggestion
from ...types import Array, Index, Points
from ..base import MOST_LANDMARKS, Work
from ..triangular import factored
from .in_features import FeatureProblem, Weights, all_answers, answers
from .linear_system import Blocks, RidgeSolver, System
from .posed import Ridge, weighted_mean
from .row_sums import DataPiece, RowsOfFeatures, Stream

_POOL = {"errors": 5, "rpcholesky": 3, "uniform": 1}  # times as many rows as landmarks are looked at
_SAMPLE = 10, 50  # rows of the preconditioner, per landmark: at least, and at most
_PASSES = 8  # over all rows with landmarks
_JITTER = ROUNDING.of_a_sum  # of the largest k(x, x), for each landmark
_SINGLE = sqrt(ROUNDING.of_a_difference)  # of the largest k(x, x): a jitter that float32 values may need, at most


@dataclass(frozen=True)
class NystromCG(RidgeSolver, names=("nystrom", "nystromcg")):
    """f(x) = sum_j c_j k(l_j, x) + b over landmarks l_j: the best such f, by conjugate gradients over passes.

    Rows pass by in pieces; values are computed again in each pass, float32 ones between two passes in float64.

    Parameters
    ----------
    landmarks : int, default=2000
        How many; they are rows of the data.
    selection : {"errors", "rpcholesky", "uniform"}, default="errors"
        Half of them at random, the others where f over these is wrong; by randomly pivoted Cholesky on a sample of
        rows, without a look at the targets, so that they cover the points; or all alike.
    sample : int, default=None
        Rows from which the preconditioner is made (None: 10 to 50 for each landmark). With all of them the normal
        equations are exact, and solved directly.
    random_state : int, default=None
        The seed of the draws.
    """

    landmarks: int = MOST_LANDMARKS
    selection: str = "errors"
    sample: int | None = None
    random_state: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        require_integer(self, "landmarks", at_least=1)
        if self.sample is not None:
            require_integer(self, "sample", at_least=1)
        if self.selection not in _POOL:
            raise ValueError(
                f"NystromCG: there is no selection {self.selection!r}.{suggestion(str(self.selection), _POOL)}"
            )

    def sampled(self, n: int) -> int:
        """How many of n rows the preconditioner is made from: more of them save passes over all rows."""
        least, most = _SAMPLE
        return min(
            n, self.sample or max(least * self.landmarks, min(most * self.landmarks, 2 * most * n // self.landmarks))
        )

    def drawn(self, n: int) -> int:
        """How many of n rows are drawn at random, for landmarks and preconditioner."""
        return min(n, max(self._pool, self.sampled(n)))

    @property
    def _pool(self) -> int:
        """Of so many rows, drawn at random, some become landmarks."""
        return max(_POOL[self.selection] * self.landmarks, AT_A_TIME.rows)

    def check(self, problem: Any) -> None:
        super().check(problem)
        if isinstance(problem, Ridge) and problem.kernel.domain is Domain.VALUES:
            raise ValueError("KernelRidge: landmarks need points, not precomputed values; use 'conjugategradient'.")

    def posed(self, ridge: Ridge) -> FeatureProblem:
        """The problem that landmarks pose."""
        n = ridge.stream.n
        ridge.require_room(min(self.landmarks, n), "landmarks")
        drawn = ridge.drawn(self.drawn(n))
        return self.over(ridge, drawn, self.chosen(ridge, drawn))

    def answers(self, ridge: Ridge) -> Iterator[Weights]:
        """See RidgeSolver: better and better weights, after the choice of landmarks."""
        solver = replace(self, sample=ridge.stream.n) if ridge.loo else self
        one_row = replace(ridge, stream=ridge.stream.only(ridge.some.rows(slice(0, 1))))
        with stopped_by(None), until(NEVER):
            constant = Weights.zero(solver.over(one_row, one_row.some, np.arange(1)))  # f = b: its landmark weighs 0
        yield constant
        yield from all_answers(solver.posed(ridge), ridge.tol)

    def first_work(self, problem: Any) -> Work:
        n = problem.stream.n
        m, rows = min(self.landmarks, n), n if problem.loo else self.sampled(n)
        return Work(values=_PASSES * n * m, flops=(rows + self._pool) * m * m)

    def chosen(self, ridge: Ridge, drawn: DataPiece) -> Index:
        """Which of the rows, drawn at random, are landmarks."""
        pool, generator = drawn.rows(slice(0, self._pool)), ridge.generator
        n = count(pool.X)
        if self.selection == "uniform":
            return np.arange(min(self.landmarks, n))
        if self.selection == "errors" and self.landmarks < n:
            penalty = ridge.penalty * float(pool.weight.sum()) / ridge.mass
            stream = ridge.stream.only(pool)
            return by_errors(ridge.kernel, stream, pool, self.landmarks, penalty, ridge.bias, generator)
        exact = self.landmarks >= n  # all points: to the last digit
        dtype = np.float64 if exact or n <= LARGEST.points_exact else np.float32
        pivots = pivoted_cholesky(ridge.kernel, pool.X, min(self.landmarks, n), generator, dtype)[1]
        return pivots if pivots.size else np.arange(1)

    def over(self, ridge: Ridge, drawn: DataPiece, chosen: Index) -> FeatureProblem:
        """The problem over these of the rows that were drawn at random."""
        kernel, stream, landmarks = ridge.kernel, ridge.stream, take(drawn.X, chosen)
        largest = float(diagonal(kernel, landmarks).max())
        noise = float(np.finfo(np.float32).eps) ** 2 / A_DIGIT * ridge.mass * largest / ridge.penalty
        single = stream.n > LARGEST.points_exact and noise <= _SINGLE
        L = root(kernel, landmarks, largest * max(_JITTER * count(landmarks), noise if single else 0.0))
        problem = FeatureProblem(
            stream, RowsOfFeatures(kernel, landmarks, len(L)), L, ridge.penalty, ridge.bias, ridge.centre, drawn,
            dtype=np.float32 if single else np.float64,
        )  # fmt: skip
        rows = self.sampled(stream.n)
        if rows >= stream.n:
            return problem
        piece = drawn.rows(slice(0, rows))
        return replace(problem, sample=stream.only(piece), scale=ridge.mass / float(piece.weight.sum()))

    def blocks(self, system: System) -> Blocks:
        """See RidgeSolver: coefficients of the landmarks, and none elsewhere; the gap is that of the full problem."""
        generator = np.random.default_rng(self.random_state)
        order = generator.permutation(system.n)[: self.drawn(system.n)]
        ridge = replace(system.ridge, generator=generator)
        yield system.working
        X, T, C = ridge.arrays
        drawn = DataPiece(Chosen(X, order)[0 : order.size], T[order], C[order])
        index = self.chosen(ridge, drawn)
        problem = self.over(ridge, drawn, index)
        for answer in all_answers(problem, ridge.tol):
            if answer.working:
                yield system.working
                continue
            beta = np.zeros(T.shape)
            beta[order[index]] = problem.coefficients(answer.w)
            yield system.answer(beta, None, answer.b)


def by_errors(
    kernel: Kernel, stream: Stream, pool: DataPiece, wanted: int, penalty: float, bias: bool,
    generator: np.random.Generator,
) -> Index:  # fmt: skip
    """Of the pool (and stream) the first rows are half of the landmarks, others are drawn by squared errors of f."""
    n, k = pool.T.shape
    half = -(-wanted // 2)
    landmarks = pool.X[0:half]
    centre = weighted_mean(pool.T, pool.weight) if bias else np.zeros(k)
    L = root(kernel, landmarks, _JITTER * half * float(diagonal(kernel, landmarks).max()))
    problem = FeatureProblem(stream, RowsOfFeatures(kernel, landmarks, half), L, penalty, bias, centre)
    found = next(answer for answer in answers(problem, stream, 1.0, np.float64, 1.0) if not answer.working)
    assert found.measured is not None
    costs = pool.weight[:, None] * found.measured.errors**2
    totals = costs.sum(axis=0)
    chances = (costs / np.where(totals > 0.0, totals, 1.0)).sum(axis=1)[half:]
    # The least of exponential variables, each divided by its chance, are draws without replacement; no chance, last.
    turn = generator.exponential(size=n - half) / np.maximum(chances, ROUNDING.of_a_number)
    return np.concatenate([np.arange(half), half + np.argsort(turn, kind="stable")[: wanted - half]])


def root(kernel: Kernel, landmarks: Points, jitter: float) -> Array:
    """L with L L' = K_landmarks + jitter I, the jitter raised where rounding needs it."""
    return factored(block_between(kernel, landmarks, landmarks), jitter)
