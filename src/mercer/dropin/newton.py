"""Newton's method for squared hinge losses, in w: few columns, no kernel matrix.

    J(w) = 1/2 |w|^2 + sum_i C_i max(0, 1 - y_i <w, z_i>)^2

J is quadratic as long as no point crosses its margin, so that a few steps end exactly. beta_i = 2 C_i y_i max(0, 1 -
y_i <w, z_i>) is a dual point, and J(w) minus its dual value is the gap.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..solution import Certificate, Status
from ..types import Array, inner

_ROUNDS = 50
_HALVINGS = 30


def newton(Z: Array, y: Array, C: Array, tol: float) -> tuple[Array, Certificate, int]:
    """w, its certificate, and the number of steps; the status is "converged" where the relative gap is below `tol`."""
    w, f = np.zeros(Z.shape[1]), np.zeros(len(Z))
    best = _judged(Z, y, C, w, f)
    rounds = 0
    for _ in range(_ROUNDS):
        active = y * f < 1.0
        Z_active, C_active = Z[active], C[active]
        H = 2.0 * (Z_active.T * C_active) @ Z_active
        H[np.diag_indices_from(H)] += 1.0
        step = (
            cho_solve(cho_factor(H, check_finite=False), 2.0 * Z_active.T @ (C_active * y[active]), check_finite=False)
            - w
        )
        along, part, found = Z @ step, 1.0, None
        for _ in range(_HALVINGS):
            found = _judged(Z, y, C, w + part * step, f + part * along)
            if found.primal < best.primal:
                break
            part *= 0.5
        if found is None or found.primal >= best.primal:
            break  # rounding hides what is left
        w, f, best, rounds = w + part * step, f + part * along, found, rounds + 1
        if np.array_equal(y * f < 1.0, active) and part == 1.0:
            break  # this is the least value of the quadratic that J is here
    certificate = _judged(Z, y, C, w, Z @ w)
    done = certificate.relative_gap <= tol
    return w, Certificate(
        certificate.primal, certificate.dual, kkt_violation=certificate.kkt_violation,
        status=Status.CONVERGED if done else Status.STALLED,
    ), max(1, rounds)  # fmt: skip


def _judged(Z: Array, y: Array, C: Array, w: Array, f: Array) -> Certificate:
    """Primal value of w, dual value of the point that its losses make."""
    short = np.maximum(0.0, 1.0 - y * f)
    primal = 0.5 * inner(w, w) + inner(C, short * short)
    beta = 2.0 * C * y * short
    u = beta @ Z
    dual = inner(beta, y) - 0.5 * inner(u, u) - inner(beta * beta, 0.25 / C)
    violation = float(np.abs(Z @ (u - w)).max())
    return Certificate(primal, min(dual, primal), kkt_violation=violation)
