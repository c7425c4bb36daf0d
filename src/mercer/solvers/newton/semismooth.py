"""Semismooth Newton steps in w, for losses that are piecewise quadratic, or made so by a proximal term.

    minimise  1/2 |w|^2 + 1/2 penalty e^2 + sum_i L_i(f_i),     f = Z w + column e
    L_i(f) = max over s in [lo_i, hi_i] of  -h_i(s) - f s - sigma/2 (s - centre_i)^2

With r_i + sigma > 0 the maximum is at one s, beta_i(f), which is piecewise linear in f: it falls with the rate
1 / (r_i + sigma) where it is free, and not at all where it is at a kink or a bound. So L_i' = -beta_i(f), the gradient
is w - Z'beta(f), and I + Z' diag(rate) Z is a Hessian wherever there is one (in Clarke's sense elsewhere). Near the
answer nobody changes sides any more, and the steps end exactly.

With v, w = Z'v: a whole step takes it to beta(f) - rate df. Reference: Li, Sun, Toh 2018.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import NamedTuple

import numpy as np

from ..._core.core import CHOICE
from ...amounts import A_DIGIT, ROUNDING
from ...arithmetic import inner
from ...gram import Design
from ...types import Array, Index
from ..triangular import NotDefiniteError
from .hessian import Bias, Hessian
from .line_search import flat_step

core = CHOICE.functions

_INNER = 2.0  # A gradient of so many times sqrt(sigma) |beta - centre|, or less, is near enough for the next centre.


class Proximal(NamedTuple):
    """What makes losses smooth: sigma/2 |beta - centre|^2; nothing, where sigma is 0."""

    sigma: float
    centre: Array


class Semismooth:
    """Where the steps stand: v, w, e and f; beta(f), its image Z'beta and its sum; the gradient."""

    def __init__(self, design: Design, terms: Array, bias: Bias, proximal: Proximal, v: Array) -> None:
        self.design, self.terms, self.bias, self.proximal = design, terms, bias, proximal
        self.hessian = Hessian(design, bias)
        self.v, n = v, design.n
        self.beta, self.rate, self.slack = np.empty(n), np.empty(n), np.empty(n)
        self.others = 0.0, 0.0  # of points that do not take part: sum beta, |beta - centre|^2
        self.steps, self.moved, self.left = 0, 0.0, 1.0

    def stand(self, w: Array, e: float) -> None:
        """At this w = Z'v and e."""
        self.w, self.e = w, e
        self.f = self.design.dots(w) + self.bias.column * e
        self.evaluate_anew()

    def evaluate_anew(self) -> None:
        """The same without what is known from before: rounding errors do not add up for long."""
        self.known, self.image = np.zeros(self.design.n), np.zeros_like(self.w)
        self.evaluate()

    def evaluate(self) -> None:
        """beta(f), the rates, how far f_i may move before beta_i changes sides (slack); the gradient."""
        total, self.conjugate, distance, self.reach = core.proximal_point(
            self.f, self.terms, self.proximal.centre, self.proximal.sigma, self.beta, self.rate, self.slack
        )
        self.total, self.distance = self.others[0] + total, self.others[1] + distance
        self.image = self.image + self.design.combination(self.beta - self.known)
        self.known[:] = self.beta
        self.gradient = self.w - self.image
        self.gradient_e = self.bias.penalty * self.e - self.bias.column * self.total
        self.size = float(np.sqrt(inner(self.gradient, self.gradient) + self.gradient_e**2))

    @property
    def rounding(self) -> float:
        """A gradient of this size cannot be told from 0."""
        return ROUNDING.of_a_sum * (float(np.sqrt(inner(self.w, self.w))) + abs(self.e) + ROUNDING.least)

    @property
    def found(self) -> bool:
        """Whether the minimum is near enough for the next centre."""
        sigma = self.proximal.sigma
        return sigma > 0.0 and self.size <= _INNER * np.sqrt(sigma * self.distance) + self.rounding

    def run(self, most: int) -> bool:
        """Steps, until the gradient is clearly smaller or the minimum is found; False where there is none to take."""
        enough, self.moved, self.left = A_DIGIT * self.size, 0.0, 1.0
        for number in range(most):
            if number and (self.size <= enough or self.found):
                break
            if not self._step():
                return number > 0
            self.steps += 1
        return True

    def _step(self) -> bool:
        """One step of Newton's method, as far as the line search lets it."""
        try:
            towards, e = self.hessian.inverse(self.rate, self.proximal.sigma or 1.0)(self.gradient, self.gradient_e)
        except NotDefiniteError:
            return False
        dw, de = -towards, -e if self.bias.column else 0.0
        first = inner(self.gradient, dw) + self.gradient_e * de
        if not (np.isfinite(first) and first < 0.0 and self.size > self.rounding):
            return False
        df = self.design.dots(dw) + self.bias.column * de
        part = flat_step(self._slopes(dw, de, df, first), first)
        if not part > 0.0:
            return False
        self.v += part * (self.beta - self.rate * df - self.v)
        self.w = self.w + part * dw
        self.e += part * de
        self.f += part * df
        self.moved += part * float(np.abs(df).max(initial=0.0))
        self.left *= 1.0 - part
        self.evaluate()
        return True

    def _slopes(self, dw: Array, de: float, df: Array, first: float) -> Callable[[float], float]:
        """The slope of the objective along the step, as a function of the part that is taken."""
        (sigma, centre), here = self.proximal, inner(self.beta, df)
        curved = inner(dw, dw) + self.bias.penalty * de * de

        def slope(part: float) -> float:
            there = core.proximal_slope(self.f, df, part, self.terms, centre, sigma)
            return first + part * curved + here - float(there)

        return slope

    # Some of the points alone.

    def only(self, rows: Index) -> Semismooth:
        """The same problem, in which only these points may change their beta: the active ones."""
        some = copy(self)
        some.design = Design(self.design.Z[rows], self.design.constant)
        some.hessian = Hessian(some.design, self.bias, self.hessian.single)
        some.terms = self.terms.take(rows, axis=1)
        some.proximal = Proximal(self.proximal.sigma, self.proximal.centre[rows])
        some.v, some.f, some.beta = self.v[rows], self.f[rows], self.beta[rows]
        some.rate, some.slack, some.known = self.rate[rows], self.slack[rows], self.known[rows]
        away = some.beta - some.proximal.centre
        some.others = self.total - float(some.beta.sum()), max(self.distance - inner(away, away), 0.0)
        return some

    def follow(self, some: Semismooth, rows: Index) -> None:
        """Go where these points have led; v of the others has gone towards their beta, by as much."""
        self.v = self.beta + some.left * (self.v - self.beta)
        self.v[rows] = some.v
        self.w, self.e, self.steps = some.w, some.e, some.steps
        before, self.f = self.f, self.design.dots(self.w) + self.bias.column * self.e
        self.moved = float(np.abs(self.f - before).max())
        self.evaluate()
