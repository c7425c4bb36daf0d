"""Few points: K at once, one pair descent, one certificate. The same mathematics as SVC, without its fixed cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .._core.core import CHOICE
from ..estimators.machines import Task
from ..examination import examine
from ..gram import DenseGram
from ..kernels import Kernel
from ..losses import HardMargin
from ..problem import Problem
from ..solution import Solution, Status
from ..solvers.base import feasible_start
from ..types import Points

FEW = 1500  # points
_STEPS = 30  # pair steps for each point; problems that need more are hard ones
_AIM = 1e-5  # of the violation that is allowed; where rounding or the number of steps forbids that, half of it will do


def solve_quickly(kernel: Kernel, X: Points, tasks: Sequence[Task], violation: float, gap: float) -> list[Solution] | None:
    """Every problem to this KKT violation and relative gap; None, where one of them needs more than pair descent."""
    if isinstance(tasks[0].loss, HardMargin):
        return None
    gram = DenseGram.compute(kernel, X, dtype=np.dtype(np.float64))
    if gram.doubt is not None:
        return None
    solutions = []
    for task in tasks:
        solution = _solved(task.problem(gram), violation)
        if solution is None or not solution.certificate.relative_gap <= gap:
            return None
        solutions.append(solution)
    return solutions


def _solved(problem: Problem, tol: float) -> Solution | None:
    """Pair descent until no pair violates optimality by more than `tol`, and well below where that costs little."""
    K, t, n = problem.gram.columns(np.float64).matrix, problem.terms, problem.n
    assert K is not None
    beta, F, diag, lo, hi, eps = np.zeros((6, len(K)))
    beta[:n], lo[:n], hi[:n], eps[:n] = feasible_start(problem, None), t.lo, t.hi, t.eps
    F[:n], diag[:n] = t.q - t.r * beta[:n], K.diagonal()[:n] + t.r
    if beta.any():
        F -= K @ beta
    if not problem.bias:  # a phantom point takes what the others give
        lo[n], hi[n] = -np.inf, np.inf
    steps, violation = CHOICE.functions.pair_descent(K, diag, F, beta, lo, hi, eps, _AIM * tol, _STEPS * n)
    if violation > 0.5 * tol:
        return None
    certificate, _, b = examine(problem, beta[:n])
    if certificate.status is not Status.EXAMINED:
        return None
    return Solution(beta[:n], b, replace(certificate, status=Status.CONVERGED), work=2.0 * steps * len(K))
