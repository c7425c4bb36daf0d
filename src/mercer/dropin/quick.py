"""Few points: K at once, one pair descent, one certificate. The same mathematics as SVC, without its fixed cost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._core.core import CHOICE
from ..columns import Columns, padded
from ..estimators.machines import Task
from ..examination import Products, accounts
from ..gram import DenseGram
from ..kernels import Kernel
from ..kernels.points import Domain
from ..losses import HardMargin
from ..parallel import thread_count
from ..problem import Problem
from ..solution import Certificate, Solution, Status
from ..solvers.base import feasible_start
from ..types import Array, Points

core = CHOICE.functions
FEW = 1500  # points
_STEPS, _LEAST_STEPS = 30, 5_000  # pair steps for each point, and in all; problems that need more are hard ones
_FIRST, _AIM = 0.5, 1e-5  # of the violation that is allowed: what has to be reached, and what is aimed at after that,
_MORE = 3  # with so many times the steps
_ALONE = 300  # points, up to which a second thread is not worth it


def solve_quickly(
    kernel: Kernel, X: Points, tasks: Sequence[Task], violation: float, gap: float
) -> list[Solution] | None:
    """Every problem to this KKT violation and relative gap; None, where one of them needs more than pair descent."""
    if isinstance(tasks[0].loss, HardMargin):
        return None
    K = _matrix(kernel, X)
    gram = DenseGram(K[: len(X), : len(X)], kernel, X)
    if gram.doubt is not None:
        return None
    solutions = []
    for task in tasks:
        own = K if task.rows is None else _part(K, task.rows)
        solution = _solved(task.problem(gram), own, violation)
        if solution is None or not solution.certificate.relative_gap <= gap:
            return None
        solutions.append(solution)
    return solutions


def _matrix(kernel: Kernel, X: Points) -> Array:
    """K in float64, with zeros around it."""
    n = len(X)
    K = np.zeros((padded(n),) * 2)
    if kernel.domain is Domain.VALUES:
        K[:n, :n] = X
    else:
        columns = Columns(kernel, X, np.float64, thread_count() if n > _ALONE else 1)
        columns.square(columns.at, K)
    if not np.isfinite(K).all():
        raise ValueError("kernel values are not finite")
    return K


def _part(K: Array, rows: Array) -> Array:
    out = np.zeros((padded(rows.size),) * 2)
    out[: rows.size, : rows.size] = K[np.ix_(rows, rows)]
    return out


def _solved(problem: Problem, K: Array, tol: float) -> Solution | None:
    """Pair descent until no pair violates optimality by more than `tol`, and far below where that costs little."""
    t, n = problem.terms, problem.n
    beta, F, diag, lo, hi, eps = np.zeros((6, len(K)))
    lo[:n], hi[:n], eps[:n] = t.lo, t.hi, t.eps
    F[:n], diag[:n] = t.q, K.diagonal()[:n] + t.r
    if problem.mass:
        beta[:n] = feasible_start(problem, None)
        F[:n] -= t.r * beta[:n] + _product(K, beta, n)
    if not problem.bias:  # a phantom point takes what the others give
        lo[n], hi[n] = -np.inf, np.inf
    most = max(_STEPS * n, _LEAST_STEPS)
    steps, violation = core.pair_descent(K, diag, F, beta, lo, hi, eps, _FIRST * tol, most)
    if violation > _FIRST * tol:
        return None
    more, _ = core.pair_descent(K, diag, F, beta, lo, hi, eps, _AIM * tol, _MORE * steps)
    beta = beta[:n].copy()
    certificate, b = _certified(problem, beta, _product(K, beta, n))
    return Solution(beta, b, certificate, work=2.0 * (steps + more) * len(K))


def _product(K: Array, beta: Array, n: int) -> Array:
    """K beta, row by row."""
    used, out = np.flatnonzero(beta), np.zeros(n)
    core.add_rows(K, used, beta[used], out)
    return out


def _certified(problem: Problem, beta: Array, scores: Array) -> tuple[Certificate, float]:
    """What K beta proves, all of it in float64; and b."""
    b = problem.best_bias(scores)
    found = accounts(problem, beta, b, beta, Products(scores, scores))
    dual, rounding = min(found.dual, found.primal), max(found.dual - found.primal, 0.0)
    certificate = Certificate(found.primal, dual, rounding, found.violation, found.feasibility, Status.CONVERGED)
    return certificate, b
