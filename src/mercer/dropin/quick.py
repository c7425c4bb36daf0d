"""Few points: K at once, pair and Newton steps, one certificate. The mathematics of SVC, without its fixed cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._core.core import CHOICE
from ..columns import Columns, padded
from ..columns.choose import way_of
from ..gram import DenseGram
from ..kernels import Kernel, Precomputed
from ..kernels.points import Domain, is_sparse
from ..losses import HardMargin, Terms, violation
from ..parallel import thread_count
from ..problem import Task
from ..solution import Certificate, Status
from ..solvers.newton.free_coefficients import newton_steps
from ..types import Array, Points

core = CHOICE.functions
FEW = 1500  # points;
_DENSE = 2_000_000  # entries of sparse ones, up to which they may be made dense
_STEPS = 10  # pair steps for each point; where these do not suffice,
_TURNS = 8  # Newton steps of the free coefficients and few pair steps take turns, so often at most;
_NEWTON_WORK = 5e9  # and no more multiplications than about so many
_ENOUGH, _AIM = 0.5, 1e-5  # of the violation that is allowed: what has to be reached, and what is aimed at
_ALONE = 300  # points, up to which a second thread is not worth it
_CLOSE = 100  # points, up to which to find a faster way would take longer
_FREE = 2000  # coefficients, at most, for a Newton step


class Found(NamedTuple):
    """The answer to a problem."""

    beta: Array
    b: float
    certificate: Certificate


def solve_quickly(kernel: Kernel, X: Points, tasks: Sequence[Task], violation: float, gap: float) -> list[Found] | None:
    """Every problem to this KKT violation and relative gap; None, where one of them needs more than this."""
    if isinstance(tasks[0].loss, HardMargin):
        return None
    K = matrix_of(kernel, X)
    if kernel.reason() is None and DenseGram(K[: len(X), : len(X)], kernel, X).doubt is not None:
        return None
    found = []
    for task in tasks:
        answer = _solved(task, K if task.rows is None else _part(K, task.rows), violation)
        if answer is None or not answer.certificate.relative_gap <= gap:
            return None
        found.append(answer)
    return found


def few_dense(X: Any) -> Array | None:
    """The points as a dense array, where they are few; sparse ones with many columns are not."""
    if X.shape[0] > FEW or (is_sparse(X) and X.shape[0] * X.shape[1] > _DENSE):
        return None
    return np.asarray(X.toarray() if is_sparse(X) else X)


def matrix_of(kernel: Kernel, X: Points) -> Array:
    """K in float64, with zeros around it."""
    n = len(X)
    K = np.zeros((padded(n),) * 2)
    if kernel.domain is Domain.VALUES:
        K[:n, :n] = X
    else:
        way = way_of(kernel, (X,), np.float64, exact=n <= _CLOSE)
        columns = Columns(kernel, X, np.float64, thread_count() if n > _ALONE else 1, way=way)
        columns.square(columns.at, K)
    if not (kernel.bounded or np.isfinite(K).all()):
        raise ValueError("kernel values are not finite")
    return K


def _part(K: Array, rows: Array) -> Array:
    out = np.zeros((padded(rows.size),) * 2)
    out[: rows.size, : rows.size] = K[np.ix_(rows, rows)]
    return out


def _solved(task: Task, K: Array, tol: float) -> Found | None:
    """Descent until no pair violates optimality by more than a small part of `tol`, or at least by half of it."""
    t, n = task.loss.terms(task.y, task.C), task.y.size
    diag, F, beta, lo, hi, eps = small = np.zeros((6, len(K)))
    lo[:n], hi[:n], eps[:n], F[:n] = t.lo, t.hi, t.eps, t.q
    np.add(K.diagonal()[:n], t.r, out=diag[:n])
    if task.mass:
        beta[:n] = _filled(t.hi, task.mass)
        F[:n] -= t.r * beta[:n] + _product(K, beta, n)
    if not task.bias:  # a phantom point takes what the others give
        lo[n], hi[n] = -np.inf, np.inf
    if _descend(K, small, task.bias, _AIM * tol) > _ENOUGH * tol:
        return None
    beta = beta[:n].copy()
    scores = _product(K, beta, n)
    top, bottom, _ = core.extremes(t.gradient(beta, scores), beta, t.eps, t.lo, t.hi)
    b = 0.5 * (top + bottom) if task.bias else 0.0
    if not np.isfinite(b):  # one side alone bounds it
        b = task.problem(DenseGram(K[:n, :n], Precomputed(), np.arange(n))).best_bias(scores)
    return Found(beta, b, certified(t, task, beta, scores, b))


def _filled(hi: Array, mass: float) -> Array:
    """Coefficients that sum up to the mass: the first ones at their bounds."""
    return np.diff(np.minimum(np.cumsum(hi), mass), prepend=0.0)


def _descend(K: Array, small: Array, bias: bool, aim: float) -> float:
    """Steps of pairs, and Newton steps where many do not suffice; the violation that is left."""
    left, violation = _NEWTON_WORK, np.inf
    for steps in (_STEPS * len(K), *[len(K) // 8] * _TURNS):
        if violation < np.inf:
            diag, F, beta, lo, hi, eps = small
            left = newton_steps(K, diag, F, beta, lo, hi, eps, bias, _FREE, left)
        _, violation = core.pair_descent(K, *small, aim, steps)
        if violation <= aim or left <= 0.0:
            break
    return float(violation)


def _product(K: Array, beta: Array, n: int) -> Array:
    """K beta, row by row."""
    used, out = np.flatnonzero(beta), np.zeros(n)
    core.add_rows(K, used, beta[used], out)
    return out


def certified(t: Terms, task: Task, beta: Array, scores: Array, b: float) -> Certificate:
    """What K beta proves, all of it in float64."""
    loss, conjugate, norm, top, bottom, outside, total, largest = core.account(
        t.q, t.r, t.eps, t.lo, t.hi, beta, scores, scores, b, np.empty(beta.size)
    )
    primal, dual = 0.5 * norm + loss + task.mass * b, -0.5 * norm - conjugate
    outside = max(outside, abs(total - task.mass) / max(1.0, beta.size**0.5)) if task.bias else outside
    return Certificate(
        primal, min(dual, primal), max(dual - primal, 0.0), violation(top, bottom, task.bias),
        outside / largest if largest else outside, Status.CONVERGED,
    )  # fmt: skip
