"""Ridge regression in explicit features: the normal equations, of as many unknowns as there are features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..kernels import Kernel, Linear
from ..kernels.points import count, is_sparse
from ..params import require_integer
from ..problem import Problem
from ..types import Array, Points
from .linear import Block, Blocks, RidgeSolver, System
from .streams import Features, Piece, Stream
from .weights import FeatureProblem, Weights, answers, by_products

_SIZES = 1000  # rows from which the sizes of features are seen


@dataclass(frozen=True)
class NormalEquations(RidgeSolver, names=("normalequations", "primal")):
    """(Z'CZ + lambda I) w = Z'C(t - b), for kernels k(x, z) = phi(x) . phi(z) with fewer features than points.

    Parameters
    ----------
    sample : int, default=None
        Rows, drawn at random, of which Cholesky's factor is made; conjugate gradients lead on from there, and their
        steps are passes over all rows. 0: no factor, for thousands of features in little time. None: all rows.
    """

    sample: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sample is not None:
            require_integer(self, "sample", at_least=0)

    def check(self, problem: Problem) -> None:
        super().check(problem)
        gram = problem.gram
        if gram.features is None and width_of_features(gram.kernel, gram.points) is None:
            raise ValueError(f"NormalEquations needs explicit features, which {gram.kernel!r} does not have.")

    def weights(
        self, kernel: Kernel, stream: Stream, width: int, penalty: float, bias: bool, centre: Array, tol: float,
        some: Piece | None = None,
    ) -> tuple[FeatureProblem, Iterator[Weights]]:  # fmt: skip
        """The problem, and its answer, refined as far as rounding allows; `some` are the rows of the sample."""
        problem = FeatureProblem(stream, Features(kernel, None, width), None, penalty, bias, centre)
        if some is None:
            return problem, answers(problem, stream, 1.0, np.float64, tol)
        dtype = np.float32 if getattr(some.X, "dtype", None) == np.float32 else np.float64
        if self.sample:
            return problem, answers(problem, stream.only(some), stream.n / count(some.X), dtype, tol)
        return problem, by_products(problem, _diagonal(problem, some), dtype, tol)

    def drawn(self) -> int:
        """How many rows to draw at random; with no factor, those from which the sizes of features are seen."""
        return _SIZES if self.sample == 0 else self.sample or 0

    def blocks(self, system: System, tol: float) -> Blocks:
        """See RidgeSolver: beta = C e / lambda, in the common form, where lambda is 1."""
        gram = system.gram
        kernel, X = (Linear(), gram.features) if gram.features is not None else (gram.kernel, gram.points)
        width = int(kernel.features(X[:1]).shape[1])
        piece = Piece(X, system.T, 1.0 / system.r)
        stream = Stream(lambda: iter([piece]), system.n, system.T.shape[1])
        _, found = self.weights(kernel, stream, width, 1.0, system.bias, system.centre, tol)
        for answer in found:
            if answer.measured is None:
                continue
            e = answer.measured.errors
            yield Block(e / system.r[:, None], None, answer.b, final=True)


def _diagonal(problem: FeatureProblem, some: Piece) -> Array:
    """That of Z'CZ + lambda I, about, from some of the rows; Z centred where b is free."""
    Z, share = problem.features.block(some.X), some.weight / some.weight.mean()
    squares = share @ (Z.multiply(Z) if is_sparse(Z) else Z * Z) / share.size
    if problem.bias:
        squares = squares - (share @ Z / share.size) ** 2
    mass = problem.stream.n * float(some.weight.mean())
    return np.asarray(mass * np.maximum(squares, 0.0) + problem.penalty)


def width_of_features(kernel: Kernel, X: Points) -> int | None:
    """The number of explicit features; None where there are none. Seen on one point."""
    features = kernel.features(X[0:1])
    return None if features is None else int(features.shape[1])
