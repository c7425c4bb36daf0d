"""Small problems on the points of one matrix, many in one native call: a thousand pairs of classes cost no more than
their arithmetic.

Each is settled from beta = 0 by pair descent (SMO), and certified in float64. What is not within the tolerance then is
left to `solve`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from ..amounts import AT_A_TIME, ROUNDS
from ..examination import accounts_from, excess
from ..gram import Gram
from ..gram.gram import Aim, Parts
from ..limits import now
from ..losses import HardMargin, Loss
from ..parallel import for_each, thread_count
from ..problem import Task, require_in_range
from ..rounds import FINE, SMALL
from ..solution import Certificate, Solution, Status, Step
from ..solvers import Decomposition
from ..solvers.base import WHOLE
from ..types import Array, Index

_GOAL = 0.5  # of the tolerance is what is to be reached
_SOLVER = Decomposition()
_REASON = "it is small: settled by one native call"
_NONE = np.empty(0)


class Settled(NamedTuple):
    """What was found of a problem: its certificate tells how good it is. `steps`: of pairs."""

    beta: Array
    b: float
    certificate: Certificate
    steps: float


Call: TypeAlias = Callable[[Parts, Aim], bool]
"""Settles parts natively, where it can; whether it could."""


def settle(
    gram: Gram, tasks: Sequence[Task], tol: float, take: Callable[[int, Solution], None], stop: Callable[[], bool]
) -> None:
    """Give each answer that was found to `take`, with the number of its problem; until `stop` says so."""
    loss = tasks[0].loss
    small = [number for number, task in enumerate(tasks) if task.n <= WHOLE]
    quadratic = loss.quadratic and not isinstance(loss, HardMargin)
    if not small or not quadratic or not gram.kernel.known_definite():  # `solve` looks into doubts, within the time
        return
    require_in_range(np.concatenate([tasks[number].C for number in small]), gram.diag())
    piece = (np.cumsum([tasks[number].n ** 2 for number in small]) // AT_A_TIME.entries_for_a_thread).tolist()
    pieces = [[small[k] for k in part] for _, part in groupby(range(len(small)), key=piece.__getitem__)]
    how = Aim(
        bool(tasks[0].bias), FINE if gram.n <= SMALL else _GOAL * tol, np.inf, ROUNDS.in_vain
    )  # so many steps for each point

    def work(numbers: list[int]) -> None:
        if stop():
            return
        began = now()
        found = settled(gram.settle, posed([tasks[number] for number in numbers], gram.n), how)
        seconds = (now() - began) / len(numbers)
        for number, one in zip(numbers, found, strict=False):
            if one.certificate.relative_gap <= tol:
                take(number, _solution(one, seconds))

    for_each(pieces, work, thread_count() if len(pieces) > 1 else 1)


def _solution(found: Settled, seconds: float) -> Solution:
    beta, b, certificate, steps = found
    step = Step(1, certificate.primal, certificate.dual, int(np.count_nonzero(beta)), seconds)
    work = 2.0 * steps * beta.size
    return Solution(beta, b, certificate, (step,), seconds, _SOLVER, _REASON, work=work)


class Lot(NamedTuple):
    """Problems of one loss on some of the points: the rows of each up to its end, targets and weights of all."""

    loss: Loss
    y: Array
    C: Array
    rows: Index
    ends: Index
    bias: bool = True
    mass: float = 0.0


def posed(tasks: Sequence[Task], n: int) -> Lot:
    """The same of tasks on n points."""
    task, every = tasks[0], np.arange(n)
    if len(tasks) == 1:
        rows = every if task.rows is None else task.rows
        return Lot(task.loss, task.y, task.C, rows, np.array([task.n]), bool(task.bias), task.mass)
    y, C = np.concatenate([task.y for task in tasks]), np.concatenate([task.C for task in tasks])
    rows = np.concatenate([every if task.rows is None else task.rows for task in tasks])
    return Lot(task.loss, y, C, rows, np.cumsum([task.n for task in tasks]), bool(task.bias), task.mass)


def settled(call: Call, problems: Lot, how: Aim, shares: bool = True) -> list[Settled]:
    """One native call for all of them; nothing, where it cannot settle them."""
    loss, y, C, rows, ends, bias, mass = problems
    t, size, last = loss.terms(y, C), y.size, ends.tolist()
    beta, share, sums = np.zeros(size), np.empty(size), np.empty((len(last), 10))
    if mass:
        for start, end in pairwise([0, *last]):  # the first ones at their bounds
            hi = t.hi[start:end]
            beta[start:end] = np.minimum(np.maximum(mass - (hi.cumsum() - hi), 0.0), hi)
    if not call(Parts(ends, rows, (t.q, t.r, t.eps, t.lo, t.hi), (beta, share, sums)), how):
        return []
    found, start = [], 0
    for (steps, b, *own), end in zip(sums.tolist(), last, strict=True):
        certificate = certified(own, Stated(end - start, bias, mass), b, share[start:end] if shares else _NONE)
        if certificate.dual > certificate.primal:
            at = slice(start, end)
            loss_at_zero = float((C[at] * loss.value(y[at], np.zeros(end - start))).sum())
            certificate = rounded(certificate, loss_at_zero)
        found.append(Settled(beta[start:end], b, certificate, steps))
        start = end
    return found


class Stated(NamedTuple):
    """What the accounts have to know of a problem."""

    n: int
    bias: bool
    mass: float


def certified(sums: Sequence[float], facts: Stated, b: float, share: Array) -> Certificate:
    """What the sums of `account` prove of one problem."""
    primal, dual, _, violation, feasibility, _ = accounts_from(sums, facts, None, b, share)
    return Certificate(primal, dual, 0.0, violation, feasibility, Status.CONVERGED, share)


def rounded(certificate: Certificate, loss_at_zero: float) -> Certificate:
    """A dual above the primal can only be rounding; `loss_at_zero` is the loss of f = 0."""
    primal, dual = certificate.primal, certificate.dual
    return (
        replace(certificate, dual=primal, rounding=excess(primal, dual, loss_at_zero)) if dual > primal else certificate
    )
