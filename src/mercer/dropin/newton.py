"""Newton's method in w for losses with r > 0 (see `Terms`), such as the squared hinge: few columns, no kernel matrix.

    J(w) = 1/2 |w|^2 + 1/2 sum_i r_i beta_i^2,    beta_i = (q_i - f_i) / r_i within [lo_i, hi_i],    f = Z w

where each bound is 0 or infinite. J is quadratic as long as no beta_i comes to 0 or leaves it, so that a few steps end
exactly. beta is a dual point, and J(w) minus its dual value is the gap. (`solvers/newton/semismooth.py` does this for
any number of points, without a copy of them; it takes some milliseconds more.)
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..arithmetic import inner
from ..losses import Terms
from ..solution import Certificate, Status
from ..solvers.newton.line_search import flat_step
from ..solvers.triangular import inverse_of
from ..types import Array

_ROUNDS = 50


def newton(Z: Array, t: Terms, tol: float) -> tuple[Array, Certificate, int]:
    """w, its certificate, and the number of steps; the status is "converged" where the relative gap is below `tol`."""
    w, f, rounds = np.zeros(Z.shape[1]), np.zeros(len(Z)), 0
    beta, free = t.best(f), np.ones(len(Z), bool)
    while rounds < _ROUNDS:
        step = _towards_least(Z[free], t.q[free], t.r[free]) - w
        along = Z @ step
        own, square = w @ step, step @ step
        first = float(own - beta @ along)
        if not first < 0.0:
            break  # rounding hides what is left
        part = flat_step(lambda part: float(own + part * square - t.best(f + part * along) @ along), first)  # noqa: B023
        before, objective = free, _objective(t, w, beta)
        after, moved = t.best(f + part * along), w + part * step
        if not _objective(t, moved, after) < objective:
            break
        w, f, beta, free, rounds = moved, f + part * along, after, after != 0.0, rounds + 1
        if part == 1.0 and np.array_equal(before, free):
            break  # this is the least value of the quadratic that J is here
    certificate = _certified(Z, t, w)
    status = Status.CONVERGED if certificate.relative_gap <= tol else Status.STALLED
    return w, replace(certificate, status=status), max(1, rounds)


def _towards_least(Z: Array, q: Array, r: Array) -> Array:
    """The least value of J, were these coefficients free and all others 0."""
    scaled = Z / r[:, None]
    H = scaled.T @ Z
    H.flat[:: len(H) + 1] += 1.0
    return inverse_of(H)(scaled.T @ q)


def _objective(t: Terms, w: Array, beta: Array) -> float:
    return 0.5 * float(w @ w + (t.r * beta) @ beta)


def _certified(Z: Array, t: Terms, w: Array) -> Certificate:
    """Primal value of w, dual value of the point that its losses make."""
    f = Z @ w
    beta = t.best(f)
    u = beta @ Z
    primal, dual = _objective(t, w, beta), inner(t.q, beta) - 0.5 * inner(u, u) - 0.5 * inner(t.r * beta, beta)
    return Certificate(primal, min(dual, primal), kkt_violation=float(np.abs(Z @ (u - w)).max()))
