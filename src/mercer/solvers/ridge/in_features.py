"""Ridge regression in features z(x), whose rows pass by:

    min J(w) = 1/2 sum_i c_i (w . z(x_i) + b - t_i)^2 + lambda/2 |w|^2,     (Z'CZ + lambda I) w = Z'C(t - b)

z are explicit features of the kernel, or L^-1 k(landmarks, x) with K_landmarks = L L'. With errors e = t - Zw - b and
the dual point beta = C e / lambda, the gap of any w is |Z'C e - lambda w|^2 / (2 lambda): one pass over the rows gives
the objective, the gap, and the right side of the next correction of w.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ...amounts import LARGEST, TOLERANCE
from ...types import Array
from ..base import Several
from ..conjugate_gradients import BY_SINGLE, MOST_STEPS, Standing, conjugate_gradients, inner_products, norms
from ..triangular import backward, factored, forward
from .posed import RidgeCertificate
from .row_sums import DataPiece, Moments, RowsOfFeatures, Stream, moments, sums

_LESS = 1.0 - TOLERANCE  # of an objective is clearly less, whatever the gaps
_PRECISE_ROWS = LARGEST.points_exact  # Precise normal equations of no more rows take no time.
_AIM = 0.5  # times the tolerance is what a gap must seem to be before it is recomputed in float64
_SLOW = 0.5  # a residual that shrinks to no less than this has reached what rounding allows


@dataclass(frozen=True, eq=False)
class FeatureProblem:
    """The problem: rows, features, L (None: explicit features), lambda, whether b is free, the means of the targets."""

    stream: Stream
    features: RowsOfFeatures
    L: Array | None
    penalty: float
    bias: bool
    centre: Array
    drawn: DataPiece | None = None
    """Rows drawn at random, where there are landmarks, which are among the first of them."""
    sample: Stream | None = None
    """Rows of which a preconditioner is made, 1 / scale of all; None: all."""
    scale: float = 1.0
    dtype: Any = np.float64
    """Of values between two passes that measure."""

    @property
    def size(self) -> tuple[int, int]:
        """Features and targets."""
        return self.features.size, self.stream.targets

    def coefficients(self, w: Array) -> Array:
        """c with w . z(x) = c . g(x)."""
        return w if self.L is None else backward(self.L, w)

    def projected(self, g: Array) -> Array:
        """sum_i v_i z(x_i) from sum_i v_i g(x_i)."""
        return g if self.L is None else forward(self.L, g)


@dataclass(frozen=True, eq=False)
class Inverse:
    """v -> (L L')^-1 v."""

    L: Array

    def __call__(self, V: Array) -> Array:
        from scipy.linalg import cho_solve

        return np.asarray(cho_solve((self.L, True), V, check_finite=False))


@dataclass(frozen=True, eq=False)
class Weights(Several):
    """An answer, and what one pass over the rows has shown of it: a value for each target; infinite before that.

    relative: the residual of the normal equations, in parts of that of w = 0.
    """

    problem: FeatureProblem
    w: Array
    relative: Array
    measured: Measured | None = None
    inverse: Inverse | None = field(default=None, repr=False)
    """(Z'CZ + lambda I)^-1; an estimate, where it was made from a sample of the rows."""

    exact: bool = False
    """Whether it was made from all of them."""

    part: bool = False
    """Whether there are fewer landmarks than were asked for: then of that problem, only J >= 0 is known."""

    @classmethod
    def unmeasured(cls, problem: FeatureProblem, w: Array, mean: Any = 0.0) -> Weights:
        """Of which nothing is known yet; with the mean of z(x), as a column, b takes the targets to their means."""
        unknown, b = np.full(w.shape[1], np.inf), problem.centre - (mean * w).sum(axis=0)
        return cls(unknown, unknown, b, len(w), None, problem, w, unknown)

    @classmethod
    def zero(cls, problem: FeatureProblem) -> Weights:
        """f = b."""
        return cls.unmeasured(problem, np.zeros(problem.size))

    @classmethod
    def of(cls, problem: FeatureProblem, now: Measured, relative: Array, *rest: Any) -> Weights:
        """What was measured."""
        gap = norms(now.residual) ** 2 / (2.0 * problem.penalty)
        return cls(now.primal, gap, now.b, len(now.w), None, problem, now.w, relative, now, *rest)

    @property
    def working(self) -> bool:
        """Whether nothing was measured."""
        return self.measured is None

    @property
    def done(self) -> bool:
        """What was measured is what there is to know."""
        return True

    def stopped(self) -> Weights:
        """In explicit features, beta follows from what was measured: before that it is 0."""
        return self if self.problem.features.landmarks is not None else Weights.zero(self.problem)

    @cached_property
    def certificates(self) -> list[RidgeCertificate]:
        """From one pass over the rows; J >= 0 is all that is known without it."""
        if self.measured is None:
            return [RidgeCertificate(np.inf, 0.0, 0.0, np.inf, relative_residual=1.0) for _ in self.primal]
        primal, dual = self.primal, np.zeros(self.gap.shape) if self.part else self.primal - self.gap
        violation = norms(self.measured.residual) / self.problem.penalty  # f of w and of beta differ by |z| times this
        columns = zip(*(side.tolist() for side in (primal, dual, violation, self.relative)), strict=True)
        return [RidgeCertificate(p, d, kkt_violation=v, relative_residual=r) for p, d, v, r in columns]

    def better(self, than: Any) -> bool:
        """Gaps tell, unless an objective is clearly less; of different problems, objectives alone."""
        if self.part or than.part:
            return float(self.primal.sum()) <= float(than.primal.sum())
        return bool((self.gap <= than.gap).all() or (self.primal < _LESS * than.primal).all())

    def enough(self, tol: float) -> bool:
        """By their gaps."""
        return bool(max([certificate.relative_gap for certificate in self.certificates]) <= tol)

    @cached_property
    def beta(self) -> Array:
        """The coefficients of landmarks; without them beta = C e / lambda."""
        problem = self.problem
        if problem.features.landmarks is not None:
            return problem.coefficients(self.w)
        if self.measured is None:
            return np.zeros((problem.stream.n, problem.stream.targets))
        weight = np.concatenate([piece.weight for piece in problem.stream.pieces()])
        beta = weight[:, None] * self.measured.errors / problem.penalty
        if problem.bias:  # far from the origin, rounding of b is large beside what is to sum up to 0
            beta -= np.outer(weight, beta.sum(axis=0) / self.measured.mass)
        return np.asarray(beta)


@dataclass(frozen=True, eq=False)
class Measured:
    """What one pass over the rows shows of weights w.

    residual is Z'C e - lambda w; mean is that of z(x), as a column, 0 unless b is free; mass is the sum of the weights;
    errors are e of each row.
    """

    w: Array
    residual: Array
    primal: Array
    b: Array
    mean: Array
    mass: float
    errors: Array


def measured(problem: FeatureProblem, w: Array, mean: Array | None = None) -> Measured:
    """One pass over the rows in float64: the objective of w with its best b, and Z'C e - lambda w. The mean of z(x) is
    known once another pass has found it.
    """
    m, k = problem.size
    stream, coefficients, centre = problem.stream, problem.coefficients(w), problem.centre
    if problem.bias and mean is None:  # one more target, of ones, with nothing taken: it pulls to the sum of z(x)
        stream = stream.with_ones()
        coefficients, centre = np.column_stack([coefficients, np.zeros(m)]), np.append(centre, 0.0)
    errors = np.empty((stream.n, k))
    found = sums(stream, problem.features, coefficients, np.float64, centre=centre, errors=errors)
    pulled, totals = problem.projected(found.pulled), found.totals[:k]
    if mean is None:
        mean = pulled[:, k:] / found.mass if problem.bias else np.zeros((m, 1))
    b = totals / found.mass if problem.bias else np.zeros(k)
    residual = pulled[:, :k] - mean * totals - problem.penalty * w
    primal = 0.5 * (found.squares[:k] - totals * b) + 0.5 * problem.penalty * inner_products(w, w)
    errors -= b
    return Measured(w, residual, primal, b + problem.centre, mean, found.mass, errors)


class Normal(NamedTuple):
    """Z'CZ and Z'Ct of some rows, with Z and t centred where b is free; the mean of z(x), as a column, or 0."""

    matrix: Array
    right: Array
    mean: Array


def normal_equations(problem: FeatureProblem, stream: Stream, precise: bool = False) -> Iterator[Normal | None]:
    """Of these rows; yields None while it works.

    L^-1 (G'CG) L^-T is fast, but small eigenvalues of K_landmarks multiply its rounding. With `precise`, L^-1 comes
    before the squares, and only their roots do.
    """
    total: Moments | None = None
    first, last = (problem.L, np.asarray) if precise else (None, problem.projected)
    for total in moments(stream, problem.features, problem.centre, first):  # noqa: B007 (the last one is the sum)
        yield None
    assert total is not None
    second, right, mean = total.second, total.right, np.zeros((len(total.first), 1))
    if problem.bias:
        second = second - np.outer(total.first, total.first) / total.mass
        right = right - np.outer(total.first, total.totals) / total.mass
        mean = last(total.first[:, None]) / total.mass
    yield Normal(last(last(second).T), last(right), mean)


def all_answers(problem: FeatureProblem, tol: float) -> Iterator[Weights]:
    """The answers, from the problem's own sample."""
    sample = problem.stream if problem.sample is None else problem.sample
    return answers(problem, sample, problem.scale, problem.dtype, tol)


def answers(problem: FeatureProblem, sample: Stream, scale: float, dtype: Any, tol: float) -> Iterator[Weights]:
    """Better and better weights, from a preconditioner made of the rows of `sample`, which are 1 / scale of all.

    Where they are all rows, corrections are exact but for rounding. Otherwise, and where rounding is too much for that,
    they are found by conjugate gradients with values in `dtype`, until these promise a relative gap of less than tol.
    """
    yield Weights.zero(problem)
    found: Normal | None = None
    for found in normal_equations(problem, sample, sample.n <= _PRECISE_ROWS):  # noqa: B007 (the last one is the answer)
        yield Weights.zero(problem)
    assert found is not None
    matrix, right = scale * found.matrix, scale * found.right
    own = np.arange(len(matrix))
    matrix[own, own] += problem.penalty
    precondition = Inverse(factored(matrix))

    w, before, direct = precondition(right), np.inf, scale == 1.0
    first = Weights.unmeasured(problem, w, found.mean)
    yield first
    sizes = np.where(norms(right) > 0.0, norms(right), 1.0)
    best: Measured | None = None
    while True:
        now = measured(problem, w, None if best is None else best.mean)
        relative = norms(now.residual) / sizes
        yield Weights.of(problem, now, relative, precondition, scale == 1.0)
        if not relative.max() < _SLOW * before:
            if not direct:
                return
            direct = False
        if best is None or relative.max() <= before:
            best, before = now, float(relative.max())
        if direct:
            w = w + precondition(now.residual)
            continue
        for step in islice(_corrections(problem, best, precondition, dtype, tol), MOST_STEPS):
            yield first
            w = step


def by_products(problem: FeatureProblem, diagonal: Array, dtype: Any, tol: float) -> Iterator[Weights]:
    """Better and better weights by conjugate gradients alone, each step a pass over the rows, with values in `dtype`.

    `diagonal` is about that of Z'CZ + lambda I. Weights are measured after 1, 2, 4, ... steps: where time ends, less
    than half of the steps are lost.
    """
    yield Weights.zero(problem)
    now, before = measured(problem, np.zeros(problem.size)), np.inf
    sizes = np.where(norms(now.residual) > 0.0, norms(now.residual), 1.0)
    while True:
        start = Weights.of(problem, now, norms(now.residual) / sizes)
        yield start
        if not start.relative.max() < _SLOW * before:  # rounding has the last word
            return
        before = float(start.relative.max())
        for step, w in enumerate(_corrections(problem, now, lambda V: V / diagonal[:, None], dtype, tol), 1):
            yield Weights.unmeasured(problem, w)
            if step & (step - 1) == 0:
                between = measured(problem, w, now.mean)
                yield Weights.of(problem, between, norms(between.residual) / sizes)
        now = measured(problem, w, now.mean)


def _corrections(
    problem: FeatureProblem, start: Measured, precondition: Callable[[Array], Array], dtype: Any, tol: float
) -> Iterator[Array]:
    """Weights by conjugate gradients from a measured point, until their gap seems to be small enough."""

    def apply(P: Array) -> Array:
        """(Z'CZ + lambda I) P, Z centred where b is free."""
        found = sums(problem.stream, problem.features, problem.coefficients(P), dtype)
        return np.asarray(problem.penalty * P - problem.projected(found.pulled) + start.mean * found.totals)

    sizes = np.where(norms(start.residual) > 0.0, norms(start.residual), 1.0)
    for inner in conjugate_gradients(start.residual, Standing.zero(start.residual), apply, precondition):
        yield start.w + inner.V
        primal = start.primal - 0.5 * inner_products(inner.V, start.residual + inner.R)
        gap = norms(inner.R) ** 2 / (2.0 * problem.penalty)
        if inner.stuck or inner.relative(sizes) <= BY_SINGLE or (gap <= _AIM * tol * primal).all():
            return
