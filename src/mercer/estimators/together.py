"""Problems on one matrix that is held, all in one native call: a hundred pairs of classes cost what they compute.

Each is settled from beta = 0 by pair descent (SMO), and certified in float64. What is not within the tolerance then is
left to `solve`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from .._core.core import CHOICE
from ..driver import FINE, SMALL
from ..examination import accounts_from, excess
from ..gram import DenseGram, Gram
from ..limits import now
from ..losses import HardMargin
from ..parallel import for_each, thread_count
from ..problem import require_in_range
from ..solution import Certificate, Solution, Status, Step
from ..solvers import Decomposition
from ..solvers.base import WHOLE
from ..types import Array
from .tasks import Task

core = CHOICE.functions
_STEPS = 50  # pairs for each point, at most
_GOAL = 0.5  # of the tolerance is what is to be reached
_PIECE = 500_000  # values of K that a thread takes at a time
_SOLVER = Decomposition()
_REASON = "K is held: all problems in one native call"


def settled(gram: Gram, tasks: Sequence[Task], tol: float, stop: Callable[[], bool]) -> list[Solution | None]:
    """The answer to each problem that was settled; until `stop` says so."""
    nobody: list[Solution | None] = [None] * len(tasks)
    if not (isinstance(gram, DenseGram) and gram.stands(np.float64) and gram.doubt is None):
        return nobody
    first = tasks[0]
    if not first.loss.quadratic or isinstance(first.loss, HardMargin) or first.mass or len(first.y) > WHOLE:
        return nobody
    goal = FINE if gram.n <= SMALL else _GOAL * tol
    found, pieces = nobody, _pieces(tasks)

    def work(piece: tuple[int, int]) -> None:
        if not stop():
            found[slice(*piece)] = _settled(gram, tasks[slice(*piece)], tol, goal)

    for_each(pieces, work, thread_count() if len(pieces) > 1 else 1)
    return found


def _pieces(tasks: Sequence[Task]) -> list[tuple[int, int]]:
    """Problems that follow one another, of about as many values in each piece."""
    size = np.cumsum([len(task.y) ** 2 for task in tasks])
    edges = np.searchsorted(size, np.arange(_PIECE, size[-1], _PIECE)) + 1
    return list(pairwise(np.unique([0, *edges, len(tasks)]).tolist()))


def _settled(gram: DenseGram, tasks: Sequence[Task], tol: float, goal: float) -> list[Solution | None]:
    """One native call for some of the problems."""
    began, loss, bias = now(), tasks[0].loss, tasks[0].bias
    y, C = np.concatenate([task.y for task in tasks]), np.concatenate([task.C for task in tasks])
    rows = np.concatenate([np.arange(gram.n) if task.rows is None else task.rows for task in tasks])
    ends = np.cumsum([len(task.y) for task in tasks])
    require_in_range(C, gram.diag())
    t = loss.terms(y, C)
    beta, share, sums = np.zeros(y.size), np.empty(y.size), np.empty((len(tasks), 10))
    core.settle_parts(gram.matrix, ends, rows, t.q, t.r, t.eps, t.lo, t.hi, beta, share, sums, (bias, goal, _STEPS))
    starts = np.concatenate([[0], ends[:-1]])
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
