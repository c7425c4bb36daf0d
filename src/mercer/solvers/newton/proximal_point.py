"""The proximal point method, where explicit features (or free coefficients) are few: all coefficients at once.

The dual of hinge and epsilon-insensitive losses is not strictly concave (r = 0), so that the primal has kinks. A term
sigma/2 |beta - centre|^2 in the dual makes the primal smooth enough for Newton steps (`semismooth.py`); whenever their
minimum is found, its beta is the next centre, and sigma falls. Nothing is lost by it: the centres come to the answer
itself, whatever sigma is. With r > 0 (squared hinge, squared loss) there is one minimum to find, with sigma = 0.

Most points are so far from where their beta would change that the next steps do not move them: steps are taken with
the others alone, the active ones, and then all points are looked at.

After each round there is a primal point w = Z'v and a dual point beta(f), so that the gap is at hand.
References: Rockafellar 1976; Li, Sun, Toh 2018.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..._core.core import CHOICE
from ..._core.descent import COLUMNS, EPS, HI, LO, Q, R
from ...amounts import A_DIGIT, ROUNDING, SHARE
from ...arithmetic import inner
from ...gram import Design
from ...losses import Terms
from ...types import Array
from ..some_points import STEPS
from .hessian import Bias, Hessian
from .semismooth import Proximal, Semismooth

core = CHOICE.functions
_FIRST_SIGMA = 0.8  # sigma begins at this part of 1 / (largest coefficient).
_FALL = 0.4  # It falls to this part; by a digit, where one step was enough.
_NEAR = 1.5
"""Points are active whose beta would change if f moved by so many times what it moved in the last round. Steps are
taken with them alone, unless they are most of all points; where r > 0, unless they are more than a tenth: steps are few
there.
"""
STEPS_IN_VAIN = 200  # After so many steps with one centre, or without a better answer, rounding is the limit.


class ProximalPoint:
    """Where the method stands: `place`, the inner problem and its point; who may be active (`margin`)."""

    def __init__(self, design: Design, terms: Terms, beta: Array, w: Array, b: float, free_bias: bool) -> None:
        self.terms, bias = terms, Bias.of(design.constant, free_bias)
        sigma = 0.0 if terms.curved else _FIRST_SIGMA / (float(np.abs(beta).max()) or 1.0)
        self.least, self.margin, self.stuck = ROUNDING.of_a_difference * sigma, np.inf, False
        self.place = Semismooth(design, terms.rows, bias, Proximal(sigma, beta.copy()), beta.copy())
        self.place.stand(w.copy(), b if free_bias else bias.column * float(beta.sum()))
        self.rounded = self.place.hessian.single
        """Whether w may be only nearly Z'v, after steps with a float32 Hessian."""

    @cached_property
    def table(self) -> Array:
        """The terms, as passes take them."""
        table = np.zeros((self.place.design.n, COLUMNS))
        table[:, [Q, R, EPS, LO, HI]] = self.terms.rows.T
        return table

    @property
    def b(self) -> float:
        """The bias, where it is free."""
        return 0.0 if self.place.bias.penalty else self.place.e

    @property
    def dual(self) -> float:
        """The dual value of beta, where its sum is right."""
        place = self.place
        norm = inner(place.image, place.image) + place.design.constant * place.total**2
        return float(-0.5 * norm - place.conjugate)

    @property
    def gap(self) -> float:
        """The primal value of v less the dual one of beta, where its sum is right."""
        place = self.place
        norm = inner(place.w, place.w) + place.bias.penalty * place.e**2
        if place.proximal.sigma:
            losses, _ = core.losses_and_conjugates(place.f, self.table, place.beta)
        else:  # they are the largest -h(s) - f s, and found at beta
            losses = -place.conjugate - inner(place.f, place.beta)
        return float(0.5 * norm + losses - self.dual)

    def refresh(self) -> None:
        """Begin anew from v, all in float64."""
        place, self.rounded, self.margin = self.place, False, np.inf
        place.hessian = Hessian(place.design, place.bias, single=False)
        e = place.bias.column * float(place.v.sum()) if place.bias.penalty else place.e
        place.stand(place.design.combination(place.v), e)

    def advance(self) -> None:
        """The next centre, where this minimum is found; then Newton steps of the active points, or of all."""
        place = self.place
        if place.found:
            self._next_centre()
        active = np.flatnonzero(place.slack <= self.margin)
        most = SHARE.most if place.proximal.sigma else A_DIGIT
        if active.size > most * place.design.n or not self._descend(active):
            self.stuck = not place.run(1)
        self.stuck = self.stuck or (place.proximal.sigma > 0.0 and place.steps >= STEPS_IN_VAIN)
        moved = _NEAR * place.moved
        self.margin = max(moved, _FALL * self.margin) if np.isfinite(self.margin) else moved

    def _next_centre(self) -> None:
        """Where beta is now."""
        place, sigma = self.place, self.place.proximal.sigma
        # Free points are as far from their kinks as sigma lets them, and will move there.
        self.margin = max(self.margin, 2.0 * sigma * place.reach)
        sigma = max((_FALL if place.steps > 1 else A_DIGIT) * sigma, self.least)
        place.proximal, place.steps = Proximal(sigma, place.beta.copy()), 0
        place.hessian.forget()
        place.evaluate_anew()

    def _descend(self, active: Array) -> bool:
        """Steps of the active points alone; False, and nothing has happened, where the others turn out to matter."""
        place = self.place
        before, size, some = (place.w, place.e, place.v, place.f, place.steps), place.size, place.only(active)
        stuck = not some.run(STEPS)
        place.follow(some, active)
        if place.size < size:
            self.stuck = stuck
            return True
        place.w, place.e, place.v, place.f, place.steps = before
        place.evaluate()
        return False
