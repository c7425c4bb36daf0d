"""Iteratively reweighted least squares (IRLS): Newton's method in w, for smooth losses and explicit features.

    minimise  1/2 |w|^2 + 1/2 penalty e^2 + sum C_i loss(y_i, f_i),     f = Z w + column e

K = Z Z' + c, and nothing of size n x n. The bias is e (see `hessian.Bias`). With beta minus the slopes and D the
curvatures at f, both times C, a step solves

    (I + Z'DZ) dw + column Z'D1 de = Z'beta - w,     column 1'DZ dw + (penalty + column^2 1'D1) de = g,

g = column sum beta - penalty e: by conjugate gradients, with a matrix near this one that is cheap to factor,
where features are not too many (see preconditioner.py). Their directions are combinations of rows of Z, like w itself.

A free bias is at its best value before each step: then sum beta = 0, beta is a dual point, and the gap is real.
Where points are many, all begins with some of them, each standing for several; where features are many and sparse, with
coordinate descent.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from itertools import islice
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from ...amounts import A_DIGIT, ROUNDING
from ...arithmetic import inner
from ...gram import Design
from ...limits import check_limits
from ...losses import Logistic, Loss
from ...problem import Problem
from ...types import Array
from ..base import Iterate
from ..conjugate_gradients import MOST_STEPS, Carried, one_column
from ..descent import CoordinatePasses
from ..features_or_kernels import Features
from ..nanoseconds import PASSES_PER_DIGIT
from ..some_points import PART_OF_GRADIENT, STEPS, how_many
from .hessian import Bias
from .line_search import FLAT, flat_step
from .preconditioner import ROWS_PER_FEATURE, Preconditioner

_FEWEST_ENTRIES = 25  # With shorter rows a visit of a point costs more than to read it.
_LARGEST_C = 1.0 / A_DIGIT  # The mean of C_i K_ii, up to which passes of coordinate descent are tried.
_TRIAL_ROUNDS = 2  # They have so many rounds, and go on as long as no more passes than usual gain a digit.
_LEAST_RESIDUAL = sqrt(ROUNDING.of_a_difference)
"""Conjugate gradients need not come nearer than this, in parts of what they began with."""


class PointData(NamedTuple):
    """Of some points, what their losses are made of."""

    loss: Loss
    y: Array
    C: Array


def irls_steps(problem: Problem, design: Any, start: Array | None) -> Generator[Iterate, Array | None, None]:
    """Newton steps, until nothing is left to gain; `design` are the features of the problem, or what landmarks see."""
    data = PointData(problem.loss, problem.y, problem.C)
    place = Reweighted(design, data, Bias.of(design.constant, problem.bias))
    if start is None and not place.near.possible and _worth_passes(problem):
        start = yield from _passes(problem)
    place.begin(start)
    while True:
        moved = place.step()
        yield place.iterate(done=not moved)
        if not moved:
            return


def _worth_passes(problem: Problem) -> bool:
    """Whether coordinate descent is fast at first: sparse rows, not too short, none heavy, and no bias to wait for."""
    design: Design = problem.gram.design
    if problem.bias or not isinstance(problem.loss, Logistic):
        return False
    if not design.sparse or design.entries < _FEWEST_ENTRIES * design.n:
        return False
    return inner(problem.C, design.squared_norms) <= _LARGEST_C * design.n


def _passes(problem: Problem) -> Generator[Iterate, Array | None, Array]:
    """Coordinate descent as long as it is fast; where it has come to."""
    descent = CoordinatePasses(problem, Features(problem.gram.design), None, None)
    while not descent.idle and (descent.rounds < _TRIAL_ROUNDS or descent.passes_per_digit <= PASSES_PER_DIGIT):
        descent.round()
        yield replace(descent.iterate(), done=False)
    return descent.beta


class NewtonStep(NamedTuple):
    """A step of w and e, and what it makes of f and of the coefficients v."""

    w: Array
    e: float
    f: Array
    v: Array


class Reweighted:
    """Where the method stands: v and w = Z'v, e, f; beta, its image Z'beta and the curvatures at f."""

    def __init__(self, design: Any, data: PointData, bias: Bias) -> None:
        self.design, self.data, self.bias = design, data, bias
        self.first = 0.0  # the largest gradient so far
        self.near = Preconditioner(design, bias)

    def begin(self, start: Array | None) -> None:
        """From given coefficients, if f = 0 is no better; or, of many points, from the answer for some of them."""
        n, d, (loss, y, C) = self.design.n, self.design.width, self.data
        size = how_many(n, ROWS_PER_FEATURE * d)
        if start is not None:
            self._begin_at(np.array(start, np.float64))
            if self.primal <= inner(C, loss.value(y, np.zeros(n))):
                return
        if not size:
            self._begin_at(self._constant())
            return
        rows, part = self.design.part(size)
        some = Reweighted(part, PointData(loss, y[rows], C[rows] * (n / size)), self.bias)
        some._begin_at(some._constant())
        enough = PART_OF_GRADIENT * some.size
        for _ in range(STEPS):
            if not some.step() or some.size <= enough:
                break
        v = np.zeros(n)
        v[rows] = some.v
        self._begin_at(v, some.e)

    def _constant(self) -> Array:
        """Zeros; with a penalised bias and conjugate gradients, the equal coefficients that it asks for first: with
        them f is, in the mean, the best constant.
        """
        n = self.design.n
        if self.near.possible or not self.bias.penalty * self.bias.column:
            return np.zeros(n)
        mean = float(self.design.product(np.ones(n)).mean())
        return np.full(n, self._best_bias(np.zeros(n)) / mean if 0.0 < mean < np.inf else 0.0)

    def _best_bias(self, f: Array) -> float:
        low, high = self.data.loss.best_bias(self.data.y, f, self.data.C, 0.0)
        return 0.5 * (low + high)

    def _begin_at(self, v: Array, b: float = 0.0) -> None:
        """From v, and from b where it is free."""
        self.v, self.w = v, self.design.combination(v)
        self.e = self.bias.column * float(v.sum()) if self.bias.penalty else b
        self.f = self.design.dots(self.w) + self.bias.column * self.e
        self._evaluate()

    def _evaluate(self) -> None:
        """The best value of a free bias; beta and the curvatures there, and the gradient."""
        (loss, y, C), (column, penalty) = self.data, self.bias
        if not penalty:
            b = self._best_bias(self.f)
            self.e += b
            self.f = self.f + b
        value, slope, curvature = loss.model(y, self.f)
        self.losses = inner(C, value)
        self.beta, self.rate = -C * slope, C * curvature
        self.image, self.total = self.design.combination(self.beta), float(self.beta.sum())
        self.right = self.image - self.w
        self.right_e = column * self.total - penalty * self.e
        self.size = float(np.sqrt(inner(self.right, self.right) + self.right_e * self.right_e))

    def step(self) -> bool:
        """A Newton step; False where there is none to take."""
        if not self.size > ROUNDING.of_a_number * (np.sqrt(inner(self.w, self.w)) + abs(self.e) + ROUNDING.least):
            return False
        whole = self._direction()
        first = -inner(self.right, whole.w) - self.right_e * whole.e
        before, size, (v, w, e, f) = self.primal, self.size, (self.v, self.w, self.e, self.f)
        for rise in (FLAT, 0.0):  # a slope above 0 may be that of a rise, where the objective has a sharp bend
            part = flat_step(lambda part: self._slope(whole, part), first, rise) if first < 0.0 else 0.0
            if not part > 0.0:
                return False
            self.v, self.w = v + part * whole.v, w + part * whole.w
            self.e, self.f = e + part * whole.e, f + part * whole.f
            self._evaluate()
            if self.primal <= before:
                return self.primal < before or self.size < size
            self.v, self.w, self.e, self.f = v, w, e, f
            self._evaluate()
        return False  # rounding

    def _slope(self, step: NewtonStep, part: float) -> float:
        """The slope of the objective after a part of a step."""
        loss, y, C = self.data
        regular = inner(self.w + part * step.w, step.w) + self.bias.penalty * (self.e + part * step.e) * step.e
        return regular + loss.slope_along(y, C, self.f, step.f, part)

    @np.errstate(over="ignore", invalid="ignore")
    def _direction(self) -> NewtonStep:
        """The step, by preconditioned conjugate gradients.

        Every vector there is a combination Z'c of rows, and c is carried along: a whole step takes v to beta - D df,
        but for what the residual leaves.
        """
        design, (column, penalty), rate, near = self.design, self.bias, self.rate, self.near
        near.renew(rate)
        self.first = max(self.first, self.size)
        precision = min(A_DIGIT, max(_LEAST_RESIDUAL, self.size / self.first))
        d, s = design.width, np.empty(design.n)
        rates = 0.0 if penalty else design.combination(rate)
        mean, near_mean = (_Mean(), _Mean()) if penalty else (_Mean(rate), _Mean(near.weight))  # a free bias follows

        def apply(p: Array) -> Array:
            image = p.copy()
            image[:d] += design.weighted(p[:d], column * p[d], rate, s)
            near.spent += 1.0
            if penalty:
                image[d] += column * inner(rate, s)
            else:
                image[:d] -= mean.of(s) * rates
            return image

        def precondition(r: Array) -> Array:
            return np.append(*near.solve(r[:d], float(r[d])))

        right = np.append(self.right, penalty * self.right_e)
        enough = precision**2 * inner(right, right)
        c = Carried(self.beta - self.v)
        for found in islice(one_column(right, apply, precondition), MOST_STEPS):
            check_limits()
            c.follow(found, s, rate, near.weight, (mean.of(s), near_mean.of(s)))
            if found.stuck or not inner(found.rest, found.rest) > enough:
                break
        dw, de = found.v[:d], float(found.v[d])
        if not penalty:
            de = -mean.of(c.f)
            c.f += de
        return NewtonStep(dw, de, c.f, self.beta - self.v - c.residual - rate * c.f)

    @property
    def primal(self) -> float:
        """The objective."""
        return 0.5 * (inner(self.w, self.w) + self.bias.penalty * self.e * self.e) + self.losses

    def iterate(self, done: bool) -> Iterate:
        """What `solve` is told."""
        b = 0.0 if self.bias.penalty else self.e
        norm = inner(self.image, self.image) + self.design.constant * self.total * self.total
        dual = 0.0 - 0.5 * norm + self.losses + inner(self.f, self.beta)
        scores = self.f - b
        return Iterate(self.v, scores, b, dual, gap=self.primal - dual, done=done, dual_beta=self.beta.copy())


class _Mean:
    """The mean by these weights; 0 where there are none."""

    def __init__(self, weight: Array | None = None) -> None:
        self.weight, self.total = weight, 0.0 if weight is None else float(weight.sum())

    def of(self, s: Array) -> float:
        """That of these values."""
        return 0.0 if self.weight is None or not self.total > 0.0 else inner(self.weight, s) / self.total
