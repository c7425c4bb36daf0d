"""Newton's method for squared hinge losses, in w: few columns, no kernel matrix.

    J(w) = 1/2 |w|^2 + sum_i C_i max(0, 1 - y_i <w, z_i>)^2

J is quadratic as long as no point crosses its margin, so that a few steps end exactly. beta_i = 2 C_i y_i max(0, 1 -
y_i <w, z_i>) is a dual point, and J(w) minus its dual value is the gap.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..solution import Certificate, Status
from ..types import Array, inner

_ROUNDS = 50
_HALVINGS = 30


def newton(Z: Array, y: Array, C: Array, tol: float) -> tuple[Array, Certificate, int]:
    """w, its certificate, and the number of steps; the status is "converged" where the relative gap is below `tol`."""
    w, f, rounds = np.zeros(Z.shape[1]), np.zeros(len(Z)), 0
    best, active = _objective(y, C, w, f), np.ones(len(Z), bool)
    while rounds < _ROUNDS:
        step = _towards_least(Z[active], y[active], C[active]) - w
        along, part = Z @ step, 1.0
        for _ in range(_HALVINGS):
            value = _objective(y, C, w + part * step, f + part * along)
            if value < best:
                break
            part *= 0.5
        else:
            break  # rounding hides what is left
        w, f, best, rounds = w + part * step, f + part * along, value, rounds + 1
        before, active = active, y * f < 1.0
        if part == 1.0 and np.array_equal(before, active):
            break  # this is the least value of the quadratic that J is here
    certificate = _certified(Z, y, C, w)
    status = Status.CONVERGED if certificate.relative_gap <= tol else Status.STALLED
    return w, replace(certificate, status=status), max(1, rounds)


def _towards_least(Z: Array, y: Array, C: Array) -> Array:
    """The least value of J, were these points and no others within the margin."""
    scaled = (2.0 * C)[:, None] * Z
    H = scaled.T @ Z
    H.flat[:: len(H) + 1] += 1.0
    return np.linalg.solve(H, scaled.T @ y)


def _objective(y: Array, C: Array, w: Array, f: Array) -> float:
    short = np.maximum(1.0 - y * f, 0.0)
    return 0.5 * float(w @ w) + float(C @ (short * short))


def _certified(Z: Array, y: Array, C: Array, w: Array) -> Certificate:
    """Primal value of w, dual value of the point that its losses make."""
    f = Z @ w
    short = np.maximum(0.0, 1.0 - y * f)
    beta = 2.0 * C * y * short
    u = beta @ Z
    dual = inner(beta, y) - 0.5 * inner(u, u) - inner(beta * beta, 0.25 / C)
    primal = _objective(y, C, w, f)
    return Certificate(primal, min(dual, primal), kkt_violation=float(np.abs(Z @ (u - w)).max()))
