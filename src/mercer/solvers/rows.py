"""Rows: points one at a time, in explicit features where there are some, else by rows of K.

A method that changes one coefficient at a time holds an image of beta from which any score can be read: w = Z'beta,
where there is a Z, or all scores K beta, where there is none. Passes are the same loops for both.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..gram import Design, Gram
from ..problem import Problem
from ..types import Array, inner

_BLOCK = 2**22  # values of rows of K at a time


class Features:
    """K = Z Z' + c: the image of beta is w = Z'beta. What c adds to the scores is left to whoever knows sum beta."""

    def __init__(self, design: Design) -> None:
        self.design, self.constant, self.diag = design, design.constant, design.squared_norms

    def image(self, beta: Array | None) -> Array:
        """Z'beta; None is beta = 0."""
        return np.zeros(self.design.width) if beta is None else self.design.combination(beta)

    def scores(self, image: Array) -> Array:
        """Z Z'beta, as an array that is nobody else's."""
        return self.design.dots(image)

    def norm(self, image: Array, beta: Array) -> float:
        """beta'Z Z'beta."""
        return inner(image, image)

    def descend(
        self,
        points: Array,
        beta: Array,
        image: Array,
        order: Array,
        size: int,
        bias: Array,
        shift: float,
        margin: float,
    ) -> tuple[int, float]:
        """One pass of `_core.descent`."""
        from .._core.descent import dense_pass, sparse_pass

        run = self.design.loop(dense_pass, sparse_pass)
        left, worst = run(points, beta, image, order, size, bias, shift, margin)
        return int(left), float(worst)

    def passes(self, *state: Any) -> tuple[int, float, float]:
        """Several passes of `_core.descent`, with who leaves."""
        from .._core.descent import dense_passes, sparse_passes

        left, margin, visits = self.design.loop(dense_passes, sparse_passes)(*state)
        return int(left), float(margin), float(visits)

    def draw(self, points: Array, order: Array, steps: Array, u: Array, image: Array, *rest: Any) -> None:
        """Steps of `_core.stochastic`."""
        from .._core.stochastic import dense_draws, sparse_draws

        self.design.loop(dense_draws, sparse_draws)(points, order, steps, u, image, *rest)


class Kernels:
    """K by rows: the image of beta is K beta."""

    def __init__(self, gram: Gram) -> None:
        self.gram, self.constant = gram, 0.0
        self.diag = np.asarray(gram.diag(), np.float64)
        self.block = max(1, min(_BLOCK // gram.n, getattr(gram, "batch", gram.n)))

    def image(self, beta: Array | None) -> Array:
        """K beta; None is beta = 0."""
        return np.zeros(self.gram.n) if beta is None else np.asarray(self.gram @ beta, np.float64)

    def scores(self, image: Array) -> Array:
        """K beta, as an array that is nobody else's."""
        return image.copy()

    def norm(self, image: Array, beta: Array) -> float:
        """beta'K beta."""
        return inner(image, beta)

    def descend(
        self,
        points: Array,
        beta: Array,
        image: Array,
        order: Array,
        size: int,
        bias: Array,
        shift: float,
        margin: float,
    ) -> tuple[int, float]:
        """One pass of `_core.descent`, a block of rows at a time; nobody leaves."""
        from .._core.descent import kernel_pass

        worst = 0.0
        for start in range(0, size, self.block):
            part = order[start : min(start + self.block, size)]
            worst = max(worst, float(kernel_pass(self.gram.rows(part), points, beta, image, part, bias, shift)))
        return size, worst

    def draw(self, points: Array, order: Array, steps: Array, u: Array, image: Array, *rest: Any) -> None:
        """Steps of `_core.stochastic`, a block of rows at a time."""
        from .._core.stochastic import kernel_draws

        for start in range(0, order.size, self.block):
            part = slice(start, start + self.block)
            kernel_draws(self.gram.rows(order[part]), points, order[part], steps[part], u, image, *rest)


def rows_of(gram: Gram) -> Features | Kernels:
    """Explicit features, where there are some."""
    return Kernels(gram) if gram.design is None else Features(gram.design)


def table_of(problem: Problem, diag: Array) -> Array:
    """The dual terms of all points, as `_core.descent` takes them: a row for each point."""
    from .._core.descent import COLUMNS, LOGISTIC, fill

    points = np.empty((problem.n, COLUMNS))
    lo, hi = problem.bounds
    if problem.loss.quadratic:
        t = problem.terms
        fill(points, t.q, t.r, t.eps, lo, hi, diag)
    else:
        zero = np.zeros(problem.n)
        fill(points, problem.y, zero + LOGISTIC, zero, lo, hi, diag)
    return points


def random_words(seed: int | None) -> Array:
    """The state of the random words of `_core.descent`; None is a seed like any other: the same words every time."""
    state = np.random.SeedSequence(0 if seed is None else seed).generate_state(1, np.uint64)
    return np.maximum(state, np.uint64(1))
