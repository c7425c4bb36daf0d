"""Ridge regression through landmarks, at any number of rows (after Rudi, Carratino, Rosasco 2017, Falkon)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..columns import block_between
from ..gram.pivoted import pivoted_cholesky
from ..kernels import Kernel
from ..kernels.evaluate import diagonal
from ..kernels.points import Chosen, count, take
from ..params import require_integer, suggestion
from ..types import Array, Index, Points
from .linear import Block, Blocks, RidgeSolver, System, weighted_mean, working
from .streams import Features, Piece, Stream
from .weights import FeatureProblem, Weights, answers, factored

_POOL = {"errors": 5, "rpcholesky": 3, "uniform": 1}  # times as many rows as landmarks are looked at
_SAMPLE = 10, 50, 100  # rows of the preconditioner, per landmark: at least, at most; and times rows per landmark
_PRECISE = 1500  # up to so many rows all is float64
_SINGLE = 1e-6  # of the largest k(x, x): a jitter of K_landmarks that float32 values may need, at most


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

    landmarks: int = 2000
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
        least, most, per = _SAMPLE
        return min(n, self.sample or max(least * self.landmarks, min(most * self.landmarks, per * n // self.landmarks)))

    def drawn(self, n: int) -> int:
        """How many of n rows are drawn at random, for landmarks and preconditioner."""
        return min(n, max(self._pool, self.sampled(n)))

    @property
    def _pool(self) -> int:
        """Of so many rows, drawn at random, some become landmarks."""
        return max(_POOL[self.selection] * self.landmarks, 1000)

    def chosen(
        self, kernel: Kernel, stream: Stream, drawn: Piece, penalty: float, bias: bool, mass: float,
        generator: np.random.Generator,
    ) -> Index:  # fmt: skip
        """Which of the rows, drawn at random from the stream, are landmarks; `mass` is the weight of all its rows."""
        pool = drawn.rows(slice(0, self._pool))
        n = count(pool.X)
        if self.selection == "uniform":
            return np.arange(min(self.landmarks, n))
        if self.selection == "errors" and self.landmarks < n:
            penalty *= float(pool.weight.sum()) / mass
            return by_errors(kernel, stream.only(pool), pool, self.landmarks, penalty, bias, generator)
        exact = self.landmarks >= n  # all points: to the last digit
        dtype = np.float64 if exact or n <= _PRECISE else np.float32
        pivots = pivoted_cholesky(kernel, pool.X, min(self.landmarks, n), generator, dtype)[1]
        return pivots if pivots.size else np.arange(1)

    def blocks(self, system: System, tol: float) -> Blocks:
        """See RidgeSolver: coefficients of the landmarks, and none elsewhere; the gap is that of the full problem."""
        generator = np.random.default_rng(self.random_state)
        order = generator.permutation(system.n)[: self.drawn(system.n)]
        gram, C = system.gram, 1.0 / system.r
        mass = float(C.sum())
        whole = Piece(gram.points, system.T, C)
        drawn = Piece(Chosen(gram.points, order)[0 : order.size], system.T[order], C[order])
        yield working(system)
        stream = Stream(lambda: iter([whole]), system.n, system.T.shape[1])
        index = self.chosen(gram.kernel, stream, drawn, 1.0, system.bias, mass, generator)
        landmarks = take(drawn.X, index)
        problem, found = self.weights(gram.kernel, landmarks, stream, drawn, 1.0, system.bias, system.centre, mass, tol)
        for answer in found:
            if answer.working:
                yield working(system)
                continue
            beta = np.zeros(system.T.shape)
            beta[order[index]] = problem.coefficients(answer.w)
            yield Block(beta, None, answer.b, final=True)

    def weights(
        self, kernel: Kernel, landmarks: Points, stream: Stream, drawn: Piece, penalty: float, bias: bool,
        centre: Array, mass: float, tol: float,
    ) -> tuple[FeatureProblem, Iterator[Weights]]:  # fmt: skip
        """The problem, and better and better answers to it; `drawn` are rows drawn at random, or all of them."""
        largest = float(diagonal(kernel, landmarks).max())
        noise = 10.0 * float(np.finfo(np.float32).eps) ** 2 * mass * largest / penalty
        single = stream.n > _PRECISE and noise <= _SINGLE
        L = root(kernel, landmarks, largest * max(1e-14 * count(landmarks), noise if single else 0.0))
        problem = FeatureProblem(stream, Features(kernel, landmarks, len(L)), L, penalty, bias, centre)
        rows = self.sampled(stream.n)
        if rows >= stream.n:
            rows, sample, scale = stream.n, stream, 1.0
        else:
            piece = drawn.rows(slice(0, rows))
            sample, scale = stream.only(piece), mass / float(piece.weight.sum())
        return problem, answers(problem, sample, scale, np.float32 if single else np.float64, tol)


def by_errors(
    kernel: Kernel, stream: Stream, pool: Piece, wanted: int, penalty: float, bias: bool,
    generator: np.random.Generator,
) -> Index:  # fmt: skip
    """Of the pool (and stream) the first rows are half of the landmarks, others are drawn by squared errors of f."""
    n, k = pool.T.shape
    half = -(-wanted // 2)
    landmarks = pool.X[0:half]
    centre = weighted_mean(pool.T, pool.weight) if bias else np.zeros(k)
    L = root(kernel, landmarks, 1e-14 * half * float(diagonal(kernel, landmarks).max()))
    problem = FeatureProblem(stream, Features(kernel, landmarks, half), L, penalty, bias, centre)
    found = next(answer for answer in answers(problem, stream, 1.0, np.float64, 1.0) if not answer.working)
    assert found.measured is not None
    costs = pool.weight[:, None] * found.measured.errors**2
    totals = costs.sum(axis=0)
    chances = (costs / np.where(totals > 0.0, totals, 1.0)).sum(axis=1)[half:]
    # The least of exponential variables, each divided by its chance, are draws without replacement; no chance, last.
    turn = generator.exponential(size=n - half) / np.maximum(chances, 1e-100)
    return np.concatenate([np.arange(half), half + np.argsort(turn, kind="stable")[: wanted - half]])


def root(kernel: Kernel, landmarks: Points, jitter: float) -> Array:
    """L with L L' = K_landmarks + jitter I, the jitter raised where rounding needs it."""
    return factored(block_between(kernel, landmarks, landmarks), jitter)
