"""Ridge regression in explicit features: the normal equations, of as many unknowns as there are features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..kernels import Kernel, Linear
from ..problem import Problem
from ..types import Array, Points
from .linear import Block, Blocks, RidgeSolver, System
from .streams import Features, Piece, Stream
from .weights import FeatureProblem, Weights, answers


@dataclass(frozen=True)
class NormalEquations(RidgeSolver, names=("normalequations", "primal")):
    """(Z'CZ + lambda I) w = Z'C(t - b), for kernels k(x, z) = phi(x) . phi(z) with fewer features than points."""

    def check(self, problem: Problem) -> None:
        super().check(problem)
        gram = problem.gram
        if gram.features is None and width_of_features(gram.kernel, gram.points) is None:
            raise ValueError(f"NormalEquations needs explicit features, which {gram.kernel!r} does not have.")

    def weights(
        self, kernel: Kernel, stream: Stream, width: int, penalty: float, bias: bool, centre: Array, tol: float
    ) -> tuple[FeatureProblem, Iterator[Weights]]:
        """The problem, and its answer, refined as far as rounding allows."""
        problem = FeatureProblem(stream, Features(kernel, None, width), None, penalty, bias, centre)
        return problem, answers(problem, stream, 1.0, np.float64, tol)

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


def width_of_features(kernel: Kernel, X: Points) -> int | None:
    """The number of explicit features; None where there are none. Seen on one point."""
    features = kernel.features(X[0:1])
    return None if features is None else int(features.shape[1])
