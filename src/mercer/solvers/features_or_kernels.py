"""Rows: points one at a time, in explicit features where there are some, else by rows of K.

A method that changes one coefficient at a time holds an image of beta from which any score can be read: w = Z'beta,
where there is a Z, or all scores K beta, where there is none. Passes are the same loops for both.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.core import CHOICE
from .._core.descent import COLUMNS, LOGISTIC
from ..amounts import AT_A_TIME
from ..arithmetic import inner
from ..columns import pieces
from ..gram import Design, Gram
from ..problem import Problem
from ..types import Array, Index

core = CHOICE.functions


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

    def descend(self, points: Array, beta: Array, image: Array, order: Index, numbers: Array) -> float:
        """One pass of coordinate descent, and its largest gain; nobody leaves."""
        _, worst = core.descend(self.design.arrays, points, beta, image, order, numbers)
        return float(worst)

    def passes(self, *state: Any) -> tuple[int, float]:
        """Several passes, with who leaves: how many points are left, and how many were visited."""
        left, visits = core.descend_passes(self.design.arrays, *state)
        return int(left), float(visits)

    def draw(self, points: Array, order: Index, steps: Array, sums: Array, image: Array, numbers: Array) -> None:
        """Stochastic steps."""
        core.draws(self.design.arrays, points, order, steps, sums, image, numbers)


class Kernels:
    """K by rows: the image of beta is K beta."""

    def __init__(self, gram: Gram) -> None:
        self.gram, self.constant = gram, 0.0
        self.diag = np.asarray(gram.diag(), np.float64)
        self.block = max(1, min(AT_A_TIME.values // gram.n, getattr(gram, "batch", gram.n)))

    def image(self, beta: Array | None) -> Array:
        """K beta; None is beta = 0."""
        return np.zeros(self.gram.n) if beta is None else np.asarray(self.gram @ beta, np.float64)

    def scores(self, image: Array) -> Array:
        """K beta, as an array that is nobody else's."""
        return image.copy()

    def norm(self, image: Array, beta: Array) -> float:
        """beta'K beta."""
        return inner(image, beta)

    def descend(self, points: Array, beta: Array, image: Array, order: Index, numbers: Array) -> float:
        """One pass of coordinate descent, a block of rows at a time, and its largest gain."""
        worst = 0.0
        for own in pieces(order.size, self.block):
            part = order[own]
            worst = max(worst, core.descend_kernel(self._rows(part), points, beta, image, part, numbers))
        return worst

    def draw(self, points: Array, order: Index, steps: Array, sums: Array, image: Array, numbers: Array) -> None:
        """Stochastic steps, a block of rows at a time."""
        for part in pieces(order.size, self.block):
            core.draws_kernel(self._rows(order[part]), points, order[part], steps[part], sums, image, numbers)

    def _rows(self, index: Index) -> Array:
        """Rows of K, one after the other in memory."""
        return np.ascontiguousarray(self.gram.rows(index))


def rows_of(gram: Gram) -> Features | Kernels:
    """Explicit features, where there are some."""
    return Kernels(gram) if gram.design is None else Features(gram.design)


def table_of(problem: Problem, diag: Array) -> Array:
    """The dual terms of all points, a row for each, as `_core/descent.py` lays them out."""
    points = np.zeros((problem.n, COLUMNS))
    lo, hi = problem.bounds
    if problem.loss.quadratic:
        t = problem.terms
        columns: tuple[Any, ...] = (t.q, t.r, t.eps, lo, hi, diag + t.r)
    else:
        columns = (problem.y, LOGISTIC, 0.0, lo, hi, diag)
    for place, column in enumerate(columns):
        points[:, place] = column
    return points


def random_words(seed: int | None) -> Array:
    """The state of the random words of passes; None is a seed like any other: the same words every time."""
    state = np.random.SeedSequence(0 if seed is None else seed).generate_state(1, np.uint64)
    return np.maximum(state, np.uint64(1))
