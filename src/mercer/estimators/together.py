"""Small problems on the points of one matrix, many in one native call: a thousand pairs of classes cost what they
compute.

Each is settled from beta = 0 by pair descent (SMO), and certified in float64. What is not within the tolerance then is
left to `solve`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

import numpy as np

from ..examination import accounts_from, excess
from ..gram import Gram
from ..gram.base import Parts
from ..limits import now
from ..losses import HardMargin
from ..parallel import for_each, thread_count
from ..problem import Task, require_in_range
from ..rounds import FINE, SMALL
from ..solution import Certificate, Solution, Status, Step
from ..solvers import Decomposition
from ..solvers.base import WHOLE
from ..types import Array, Index

_STEPS = 50  # pairs for each point, at most
_GOAL = 0.5  # of the tolerance is what is to be reached
_PIECE = 500_000  # squares of numbers of points that a thread takes at a time
_SOLVER = Decomposition()
_REASON = "it is small: settled by one native call"


def settle(
    gram: Gram, tasks: Sequence[Task], tol: float, take: Callable[[int, Solution], None], stop: Callable[[], bool]
) -> None:
    """Give each answer that was found to `take`, with the number of its problem; until `stop` says so."""
    loss = tasks[0].loss
    small = [number for number, task in enumerate(tasks) if task.n <= WHOLE]
    posed = loss.quadratic and not isinstance(loss, HardMargin) and not tasks[0].mass
    if not small or not posed or not gram.kernel.known_definite():  # who is in doubt is looked at by `solve`, in time
        return
    require_in_range(np.concatenate([tasks[number].C for number in small]), gram.diag())
    size = np.cumsum([tasks[number].n ** 2 for number in small]) // _PIECE
    pieces = [[small[k] for k in part] for _, part in groupby(range(len(small)), key=lambda k: int(size[k]))]

    def work(numbers: list[int]) -> None:
        answers = [] if stop() else _settled(gram, [tasks[number] for number in numbers], tol)
        for number, answer in zip(numbers, answers, strict=False):
            if answer is not None:
                take(number, answer)

    for_each(pieces, work, thread_count() if len(pieces) > 1 else 1)


def _settled(gram: Gram, tasks: Sequence[Task], tol: float) -> list[Solution | None]:
    """One native call for some of the problems."""
    began, loss, sizes = now(), tasks[0].loss, [task.n for task in tasks]
    y, C = np.concatenate([task.y for task in tasks]), np.concatenate([task.C for task in tasks])
    rows = np.concatenate([np.arange(gram.n) if task.rows is None else task.rows for task in tasks])
    ends, t = np.cumsum(sizes), loss.terms(y, C)
    starts: Index = np.concatenate([[0], ends[:-1]])
    beta, share, sums = np.zeros(y.size), np.empty(y.size), np.empty((len(tasks), 10))
    parts = Parts(ends, rows, (t.q, t.r, t.eps, t.lo, t.hi), (beta, share, sums))
    if not gram.settle(parts, (bool(tasks[0].bias), FINE if gram.n <= SMALL else _GOAL * tol, _STEPS)):
        return [None] * len(tasks)
    nothing = np.add.reduceat(C * loss.value(y, np.zeros(y.size)), starts).tolist()
    support = np.add.reduceat(beta != 0.0, starts, dtype=np.int64).tolist()
    seconds = (now() - began) / len(tasks)
    found: list[Solution | None] = []
    for task, own, a, b, zero, size in zip(tasks, sums.tolist(), starts, ends, nothing, support, strict=True):
        certificate = _certificate(task, own, share[a:b], zero)
        if not certificate.relative_gap <= tol:
            found.append(None)
            continue
        step = Step(1, certificate.primal, certificate.dual, size, seconds)
        work = 2.0 * own[0] * task.n
        found.append(Solution(beta[a:b], own[1], certificate, (step,), seconds, _SOLVER, _REASON, work=work))
    return found


def _certificate(task: Task, sums: list[float], share: Array, nothing: float) -> Certificate:
    """What the sums of one problem prove, where `nothing` is the loss of f = 0."""
    _, b, *rest = sums
    primal, dual, _, violation, feasibility, _ = accounts_from(rest, task, None, b, share)
    rounding = excess(primal, dual, nothing) if dual > primal else 0.0
    return Certificate(primal, min(primal, dual), rounding, violation, feasibility, Status.CONVERGED, share)
