"""Ridge regression through landmarks, at any number of rows (after Rudi, Carratino, Rosasco 2017, Falkon)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..gram.pivoted import kernel_block, pivoted_cholesky
from ..kernels import Kernel
from ..kernels.evaluate import diagonal
from ..kernels.points import Chosen, count, take
from ..params import require_integer, suggestion
from ..types import Array, Index, Points
from .linear import Block, Blocks, RidgeSolver, System, working
from .streams import Features, Piece, Stream
from .weights import FeatureProblem, Weights, answers

_POOL = 3  # times as many rows as landmarks are looked at by pivoted Cholesky
_SAMPLE = 10, 50, 200  # rows of the preconditioner, per landmark: at least, at most; and times rows per landmark
_PRECISE = 1500  # up to so many rows all is float64
_SINGLE = 1e-6  # of the largest k(x, x): a jitter of K_landmarks that float32 values may need, at most


@dataclass(frozen=True)
class NystromCG(RidgeSolver, names=("nystrom", "nystromcg")):
    """f(x) = sum_j c_j k(l_j, x) + b over landmarks l_j: the best such f, by conjugate gradients over passes.

    landmarks : how many; they are rows of the data.
    selection : "rpcholesky" (randomly pivoted Cholesky on a sample of rows: they cover the data better) or "uniform".
    sample : rows from which the preconditioner is made (None: 10 to 50 for each landmark). With all of them the normal
        equations are exact, and solved directly.

    Rows pass by in pieces; values are computed again in each pass, float32 ones between two passes in float64.
    """

    landmarks: int = 2000
    selection: str = "rpcholesky"
    sample: int | None = None
    random_state: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        require_integer(self, "landmarks", at_least=1)
        if self.sample is not None:
            require_integer(self, "sample", at_least=1)
        choices = ("rpcholesky", "uniform")
        if self.selection not in choices:
            raise ValueError(
                f"NystromCG: there is no selection {self.selection!r}.{suggestion(str(self.selection), choices)}"
            )

    def sampled(self, n: int) -> int:
        """How many of n rows the preconditioner is made from: more of them save passes over all rows."""
        least, most, per = _SAMPLE
        return min(n, self.sample or max(least * self.landmarks, min(most * self.landmarks, per * n // self.landmarks)))

    def drawn(self, n: int) -> int:
        """How many of n rows are drawn at random, for landmarks and preconditioner."""
        return min(n, max(_POOL * self.landmarks, 1000, self.sampled(n)))

    def chosen(self, kernel: Kernel, pool: Points, generator: np.random.Generator) -> Index:
        """Which of the rows, drawn at random, are landmarks."""
        wanted = min(self.landmarks, count(pool))
        if self.selection == "uniform":
            return np.arange(wanted)
        pool = pool[0 : min(count(pool), max(_POOL * self.landmarks, 1000))]
        exact = self.landmarks >= count(pool)  # all points: to the last digit
        dtype = np.float64 if exact or count(pool) <= _PRECISE else np.float32
        pivots = pivoted_cholesky(kernel, pool, wanted, generator, dtype)[1]
        return pivots if pivots.size else np.arange(1)

    def blocks(self, system: System, tol: float) -> Blocks:
        """See RidgeSolver: coefficients of the landmarks, and none elsewhere; the gap is that of the full problem."""
        generator = np.random.default_rng(self.random_state)
        order = generator.permutation(system.n)[: self.drawn(system.n)]
        gram, C = system.gram, 1.0 / system.r
        whole = Piece(gram.points, system.T, C)
        drawn = Piece(Chosen(gram.points, order)[0 : order.size], system.T[order], C[order])
        yield working(system)
        index = self.chosen(gram.kernel, drawn.X, generator)
        stream = Stream(lambda: iter([whole]), system.n, system.T.shape[1])
        landmarks = take(drawn.X, index)
        problem, found = self.weights(
            gram.kernel, landmarks, stream, drawn, 1.0, system.bias, system.centre, float(C.sum()), tol
        )
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
            sample, scale = Stream(lambda: iter([piece]), rows, stream.targets), mass / float(piece.weight.sum())
        return problem, answers(problem, sample, scale, np.float32 if single else np.float64, tol)


def root(kernel: Kernel, landmarks: Points, jitter: float) -> Array:
    """L with L L' = K_landmarks + jitter I, the jitter raised where rounding needs it."""
    from scipy.linalg import LinAlgError, cholesky

    K = kernel_block(kernel, landmarks, landmarks)
    own = np.arange(len(K))
    values = K[own, own] + 0.0
    while True:
        K[own, own] = values + jitter
        try:
            return np.asarray(cholesky(K, lower=True, check_finite=False))
        except LinAlgError:
            jitter = 10.0 * jitter if jitter > 0.0 else 1e-14
