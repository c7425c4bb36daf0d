"""Ridge regression in explicit features: the normal equations, of as many unknowns as there are features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...amounts import AT_A_TIME
from ...kernels.points import count, is_sparse
from ...params import require_integer
from ...problem import Problem
from ...types import Array
from ..base import Work
from .in_features import FeatureProblem, Weights, all_answers, by_products
from .linear_system import Blocks, RidgeSolver, System
from .posed import Ridge, width_of_features
from .row_sums import DataPiece, RowsOfFeatures


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

    def check(self, problem: Any) -> None:
        super().check(problem)
        if isinstance(problem, Problem):
            gram = problem.gram
            if gram.features is None and width_of_features(gram.kernel, gram.points) is None:
                raise ValueError(f"NormalEquations needs explicit features, which {gram.kernel!r} does not have.")

    def posed(self, ridge: Ridge) -> FeatureProblem:
        """The problem in explicit features."""
        width = width_of_features(ridge.kernel, ridge.arrays.X)
        if width is None:
            raise ValueError(f"KernelRidge: {self!r} needs explicit features, which {ridge.kernel!r} does not have.")
        if self.sample != 0:
            ridge.require_room(width, "features")
        problem = FeatureProblem(
            ridge.stream, RowsOfFeatures(ridge.kernel, None, width), None, ridge.penalty, ridge.bias, ridge.centre
        )
        if self.sample is None:
            return problem
        some = ridge.drawn(self.sample or AT_A_TIME.rows)  # with no factor, these show the sizes of features
        dtype = np.float32 if getattr(some.X, "dtype", None) == np.float32 else np.float64
        return replace(
            problem, drawn=some, sample=ridge.stream.only(some), scale=ridge.stream.n / count(some.X), dtype=dtype
        )

    def answers(self, ridge: Ridge) -> Iterator[Weights]:
        """See RidgeSolver: w, refined as far as rounding allows."""
        problem = self.posed(ridge)
        if self.sample != 0:
            return all_answers(problem, ridge.tol)
        assert problem.drawn is not None
        return by_products(problem, _diagonal(problem, problem.drawn), problem.dtype, ridge.tol)

    def first_work(self, problem: Any) -> Work:
        width = width_of_features(problem.kernel, problem.some.X) or 1
        rows = problem.stream.n if self.sample is None else min(problem.stream.n, self.sample)
        return Work(flops=(rows + width) * width**2 if rows else 0)

    def blocks(self, system: System) -> Blocks:
        """See RidgeSolver: beta = C e / lambda, in the common form, where lambda is 1."""
        for answer in self.answers(replace(system.ridge, generator=np.random.default_rng(0))):
            if answer.measured is not None:
                yield system.answer(answer.measured.errors / system.r[:, None], None, answer.b)


def _diagonal(problem: FeatureProblem, some: DataPiece) -> Array:
    """That of Z'CZ + lambda I, about, from some of the rows; Z centred where b is free."""
    Z, share = problem.features.block(some.X), some.weight / some.weight.mean()
    squares = share @ (Z.multiply(Z) if is_sparse(Z) else Z * Z) / share.size
    if problem.bias:
        squares = squares - (share @ Z / share.size) ** 2
    mass = problem.stream.n * float(some.weight.mean())
    return np.asarray(mass * np.maximum(squares, 0.0) + problem.penalty)
