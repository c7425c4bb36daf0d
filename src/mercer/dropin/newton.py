"""Newton's method in w for losses with r > 0 (see `Terms`), such as the squared hinge: few columns, no kernel matrix.

    J(w) = 1/2 |w|^2 + 1/2 sum_i r_i beta_i^2,    beta_i = (q_i - f_i) / r_i within [lo_i, hi_i],    f = Z w

where each bound is 0 or infinite. J is quadratic as long as no beta_i comes to 0 or leaves it, so that a few steps end
exactly. beta is a dual point, and J(w) minus its dual value is the gap. (`solvers/newton/semismooth.py` does this for
any number of points, without a copy of them; it takes some milliseconds more.)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._core.core import CHOICE
from ..losses import Terms
from ..solution import Certificate, Status, relative
from ..solvers.newton.line_search import flat_step
from ..solvers.triangular import inverse_of
from ..types import Array, Index

core = CHOICE.functions
_ROUNDS = 50


def newton(Z: Array, t: Terms, tol: float) -> tuple[Array, Certificate, int]:
    """w, its certificate, and the number of steps; the status is "converged" where the relative gap is below `tol`."""
    w, f, rounds = np.zeros(Z.shape[1]), np.zeros(len(Z)), 0
    beta, free = t.best(f), np.ones(len(Z), bool)
    objective = _objective(t, w, beta)
    while rounds < _ROUNDS:
        step = _towards_least(Z, np.flatnonzero(free), t) - w
        along, seen = Z @ step, dict[float, Array]()
        own = float(w @ step)
        first = own - float(beta @ along)
        if not first < 0.0:
            break  # rounding hides what is left
        part = flat_step(_slopes(t, f, along, (own, float(step @ step)), seen), first)
        beta, moved, before = seen[part], w + part * step, objective
        objective = _objective(t, moved, beta)
        if not objective < before:
            break
        w, f, rounds, past, free = moved, f + part * along, rounds + 1, free, beta != 0.0
        if part == 1.0 and np.array_equal(past, free):
            break  # this is the least value of the quadratic that J is here
    return w, _certified(Z, t, w, tol), max(1, rounds)


def _towards_least(Z: Array, free: Index, t: Terms) -> Array:
    """The least value of J, were these coefficients free and all others 0."""
    rate, pull = 1.0 / t.r[free], np.zeros(len(Z))
    H, ones, right = np.eye(Z.shape[1]), np.zeros(Z.shape[1]), np.zeros(Z.shape[1])
    core.add_dense_squares(Z, free, rate, False, H, ones)
    pull[free] = rate * t.q[free]
    core.combine((Z,), pull, right, 0, len(Z))
    return inverse_of(H)(right)


def _slopes(
    t: Terms, f: Array, along: Array, squares: tuple[float, float], seen: dict[float, Array]
) -> Callable[[float], float]:
    """The slope of J after a part of the step, from w'step and |step|^2; `seen` keeps beta at each part."""
    own, square = squares

    def slope(part: float) -> float:
        beta = seen[part] = t.best(f + part * along)
        return own + part * square - float(beta @ along)

    return slope


def _objective(t: Terms, w: Array, beta: Array) -> float:
    return 0.5 * float(w @ w + (t.r * beta) @ beta)


def _certified(Z: Array, t: Terms, w: Array, tol: float) -> Certificate:
    """Primal value of w, dual value of the point that its losses make."""
    beta = t.best(Z @ w)
    u, curved = beta @ Z, 0.5 * float((t.r * beta) @ beta)
    primal, dual = 0.5 * float(w @ w) + curved, float(t.q @ beta) - 0.5 * float(u @ u) - curved
    dual = min(dual, primal)
    status = Status.CONVERGED if relative(primal - dual, primal, dual) <= tol else Status.STALLED
    return Certificate(primal, dual, kkt_violation=float(np.abs(Z @ (u - w)).max()), status=status)
