"""Newton's method in w, for the logistic loss and explicit features: K = Z Z' + c, and nothing of size n x n.

    minimise  1/2 |w|^2 + 1/2 penalty e^2 + sum C_i loss(y_i, f_i),     f = Z w + column e

The bias is e: free (column 1, no penalty), penalised (column sqrt(c), penalty 1), or absent (column 0). With beta the
slopes and D the curvatures at f, both times C, a step solves

    (I + Z'DZ) dw + column Z'D1 de = Z'beta - w,     column 1'DZ dw + (penalty + column^2 1'D1) de = g,

g = column sum beta - penalty e: by conjugate gradients, with a matrix near this one that is cheap to factor, where
features are not too many (see preconditioner.py). Their directions are combinations of rows of Z, like w itself.

A free bias is at its best value before each step: then sum beta = 0, beta is a dual point, and the gap is real. Where
points are many, all begins with some of them, each standing for several; where features are many and sparse, with
coordinate descent.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import numpy as np

from ...gram import Design
from ...limits import look
from ...losses import Logistic
from ...losses.logistic import other_label
from ...problem import Problem
from ...types import Array, inner
from ..base import Iterate
from ..descent import Descent
from ..rows import Features
from .preconditioner import Preconditioner

_SHORT = 25  # entries of a row, with fewer of which a visit of its point costs more than to read it
_HEAVY = 10.0  # C_i K_ii in the mean, up to which passes of coordinate descent are tried:
_TRIAL, _FAST = 2, 6.0  # so many rounds, and as long as so many passes gain a digit
_PART, _ROWS = 8, 4  # it begins with one point of so many, and at least so many times as many as there are features;
_PART_STEPS, _PART_SMALLER = 12, 0.01  # so many steps with them, or until the gradient is this small beside the first
_GRADIENTS = 200  # steps of conjugate gradients, at most,
_ROUGH, _PRECISE = 0.1, 1e-6  # until the residual is this small
_SEARCHES, _FLAT = 30, 0.3  # slopes of a line search, until one is this small beside the first
_ROUNDING = 1e-15
_LOSS = Logistic()


def smooth_steps(problem: Problem, design: Any, start: Array | None) -> Generator[Iterate, Array | None, None]:
    """Newton steps, until nothing is left to gain; `design` are the features of the problem, or what landmarks see."""
    place = _Place(design, problem.y, problem.C, problem.bias)
    if start is None and not place.model.possible and _worth_passes(problem):
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
    if problem.bias or not design.sparse or design.entries < _SHORT * design.n:
        return False
    return inner(problem.C, design.squared_norms) <= _HEAVY * design.n


def _passes(problem: Problem) -> Generator[Iterate, Array | None, Array]:
    """Coordinate descent as long as it is fast; where it has come to."""
    descent = Descent(problem, Features(problem.gram.design), None, None)
    while not descent.idle and (descent.rounds < _TRIAL or descent.passes_per_digit <= _FAST):
        descent.round()
        yield replace(descent.iterate(), done=False)
    return descent.beta


class _Place:
    """Where the method stands: v and w = Z'v, e, f; beta, its image Z'beta and the curvatures at f."""

    def __init__(self, design: Any, y: Array, C: Array, free_bias: bool) -> None:
        self.design, self.y, self.C, self.free_bias = design, y, C, free_bias
        self.column = 1.0 if free_bias else float(np.sqrt(design.constant))
        self.penalty = 0.0 if free_bias else 1.0
        self.work = np.empty((4, design.n))
        self.first = 0.0  # the largest gradient so far
        self.model = Preconditioner(design, self.column, self.penalty)

    def begin(self, start: Array | None) -> None:
        """From given coefficients, if f = 0 is no better; or, of many points, from the answer for some of them."""
        n, d = self.design.n, self.design.width
        size = max(n // _PART, _ROWS * d)
        if start is not None:
            self._begin_at(np.array(start, np.float64))
            if self.primal <= np.log(2.0) * self.C.sum():
                return
        if size > n // 3:
            self._begin_at(self._constant())
        else:
            rows, part = self.design.part(size)
            some = _Place(part, self.y[rows], self.C[rows] * (n / size), self.free_bias)
            some._begin_at(some._constant())
            enough = _PART_SMALLER * some.size
            for _ in range(_PART_STEPS):
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
        if self.model.possible or not self.penalty * self.column:
            return np.zeros(n)
        b = _LOSS.bias_by_newton(self.y, np.zeros(n), self.C) or 0.0
        mean = float(self.design.product(np.ones(n)).mean())
        return np.full(n, b / mean if 0.0 < mean < np.inf else 0.0)

    def _begin_at(self, v: Array, b: float = 0.0) -> None:
        """From v, and from b where it is free."""
        self.v, self.w = v, self.design.combination(v)
        self.e = b if self.free_bias else self.column * float(v.sum())
        self.f = self.design.dots(self.w) + self.column * self.e
        self._look()

    def _look(self) -> None:
        """The best value of a free bias; beta and the curvatures there, and the gradient."""
        if self.free_bias:
            b = _LOSS.bias_by_newton(self.y, self.f, self.C) or 0.0
            self.e += b
            self.f += b
        p = other_label(self.y * self.f)
        self.losses = inner(self.C, _LOSS.value(self.y, self.f))
        self.beta, self.rate = self.y * self.C * p, self.C * p * (1.0 - p)
        self.image, self.total = self.design.combination(self.beta), float(self.beta.sum())
        self.right = self.image - self.w
        self.extra = self.column * self.total - self.penalty * self.e
        self.size = float(np.sqrt(inner(self.right, self.right) + self.extra * self.extra))

    def step(self) -> bool:
        """A Newton step; False where there is none to take."""
        if not self.size > _ROUNDING * (np.sqrt(inner(self.w, self.w)) + abs(self.e) + 1e-300):
            return False
        dw, de, df, c = self._direction()
        before, size, (v, w, e, f) = self.primal, self.size, (self.v, self.w, self.e, self.f)
        for flat in (_FLAT, 0.0):  # a slope above 0 may be that of a rise, where the objective has a sharp bend
            part = self._search(dw, de, df, flat)
            if not part > 0.0:
                return False
            self.v, self.w, self.e, self.f = v + part * c, w + part * dw, e + part * de, f + part * df
            self._look()
            if self.primal <= before:
                return self.primal < before or self.size < size
            self.v, self.w, self.e, self.f = v, w, e, f
            self._look()
        return False  # rounding

    def _direction(self) -> tuple[Array, float, Array, Array]:
        """dw, de, the change of f, and c with dw = Z'c, by conjugate gradients; arrays that are valid until the next.

        Every vector there is a combination Z'c of rows, and its c is found beside it: for dw, for the residual r, and
        for q, where the direction is p = M^-1 q.
        """
        design, column, penalty, rate, model = self.design, self.column, self.penalty, self.rate, self.model
        model.renew(rate)
        self.first = max(self.first, self.size)
        precision = min(_ROUGH, max(_PRECISE, self.size / self.first))
        s, f, c, q_c = self.work  # touched before: new memory is slow
        f[:], c[:], dw, de = 0.0, 0.0, np.zeros(design.width), 0.0
        rates = design.combination(rate) if self.free_bias else 0.0
        r, r_e = self.right.copy(), penalty * self.extra
        r_c = self.beta - self.v
        (p, p_e), q_c[:] = model.solve(r, r_e), r_c
        size, enough = inner(r, p) + r_e * p_e, precision**2 * (inner(r, r) + r_e * r_e)
        for _ in range(_GRADIENTS):
            look()
            model.spent += 1.0
            image = design.weighted(p, column * p_e, rate, s)
            # A free bias follows: s is centred, with the weights of M for the coefficients, of H for all else.
            mean, other = (_mean(s, rate), _mean(s, model.weight)) if self.free_bias else (0.0, 0.0)
            p_c = q_c - model.weight * (s - other)
            s -= mean
            t = rate * s
            curved = inner(p, p) + p_e * p_e + inner(s, t)
            if not 0.0 < curved < np.inf:
                break
            step = size / curved
            f += step * s
            c += step * p_c
            r_c -= step * (p_c + t)
            dw += step * p
            de += step * (p_e - mean)  # a free bias: what was taken from s
            r -= step * (p + image)
            r += (step * mean) * rates
            r_e -= step * (p_e + column * penalty * float(t.sum()))
            if not inner(r, r) + r_e * r_e > enough:
                break
            z, z_e = model.solve(r, r_e)
            size, before = inner(r, z) + r_e * z_e, size
            turn = size / before
            p, p_e = z + turn * p, z_e + turn * p_e
            q_c *= turn
            q_c += r_c
        return dw, de, f, c

    def _search(self, dw: Array, de: float, df: Array, flat: float) -> float:
        """A part of a step at which the objective is nearly least: its slope is at most `flat` beside the first."""
        linear = inner(self.w, dw) + self.penalty * self.e * de
        square, weighted = inner(dw, dw) + self.penalty * de * de, self.y * self.C * df

        def slope(part: float) -> float:
            return linear + part * square - inner(weighted, other_label(self.y * (self.f + part * df)))

        first = -inner(self.right, dw) - self.extra * de
        if not first < 0.0:
            return 0.0
        low, high, part, now = 0.0, 1.0, 1.0, slope(1.0)
        for _ in range(_SEARCHES):
            if now <= -flat * first and (now >= _FLAT * first or part == 1.0):
                return part
            low, high = (part, high) if now < 0.0 else (low, part)
            part = 0.5 * (low + high)
            now = slope(part)
        return low

    @property
    def primal(self) -> float:
        """The objective."""
        return 0.5 * (inner(self.w, self.w) + self.penalty * self.e * self.e) + self.losses

    def iterate(self, done: bool) -> Iterate:
        """What `solve` is told."""
        b = self.e if self.free_bias else 0.0
        norm = inner(self.image, self.image) + self.design.constant * self.total * self.total
        dual = 0.0 - 0.5 * norm + self.losses + inner(self.f, self.beta)
        scores = self.f - b
        return Iterate(self.v, scores, b, dual, gap=self.primal - dual, done=done, dual_beta=self.beta.copy())


def _mean(s: Array, weight: Array) -> float:
    """The mean of s; 0 where there are no weights."""
    total = float(weight.sum())
    return inner(weight, s) / total if total > 0.0 else 0.0
