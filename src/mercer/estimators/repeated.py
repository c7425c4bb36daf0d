"""Repeated points: equal ones with equal targets are trained on as one, with the sum of their C.

Their losses are one function of f, so that the smaller problem has the same primal and dual values and the same gap.
Its coefficients are then given back to all points. Where the dual terms are linear within their bounds (hinge,
epsilon-insensitive), it does not matter who of the equal points has how much: the first ones are filled up, so that
few are support vectors. Else each has its part in proportion to its C, which is the best that they can do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..amounts import AT_A_TIME, LARGEST, ROUNDING, SHARE
from ..columns import pieces
from ..kernels.points import Domain, count, is_sparse, nbytes, take
from ..losses import EpsilonInsensitive, Hinge, OneClass
from ..memory import parse_bytes
from ..parallel import for_each, thread_count
from ..problem import Task
from ..solution import Solution
from ..types import Array, Index, Points
from .checks import LEFT

_LARGEST = int(np.iinfo(np.uint64).max)
_LINEAR = (Hinge, EpsilonInsensitive, OneClass)  # between bounds of -C, 0 and C
_FEWEST = 2 * LARGEST.working_set  # Of fewer points there is little to gain.


@dataclass(frozen=True, eq=False)
class Merged:
    """The points that differ, the problem on them, and the way back to all points."""

    points: Points
    task: Task
    whole: Task
    """The problem on all points."""
    place: Index
    """Where each of all points stands among those that differ."""

    def spread(self, solution: Solution) -> Solution:
        """The answer for all points; of the gap, equal ones have shares in proportion to their C."""
        part = self.whole.C / self.task.C[self.place]
        certificate = solution.certificate
        proof = certificate.proof
        if proof is not None:
            proof = replace(proof, weights=proof.weights[self.place] * part)
        certificate = replace(certificate, residuals=certificate.residuals[self.place] * part, proof=proof)
        dual_beta = None if solution.dual_beta is None else solution.dual_beta[self.place] * part
        beta = self._filled(solution.beta) if isinstance(self.whole.loss, _LINEAR) else solution.beta[self.place] * part
        return replace(solution, beta=beta, dual_beta=dual_beta, certificate=certificate)

    def _filled(self, beta: Array) -> Array:
        """Coefficients with these sums over equal points, one after the other at its bound."""
        out, rows = np.zeros(self.place.size), np.flatnonzero(beta[self.place])
        order = rows[np.argsort(self.place[rows], kind="stable")]
        place, most = self.place[order], self.whole.C[order]
        total = np.cumsum(most)
        first = np.searchsorted(place, place)
        before = total - most - (total - most)[first]  # what the equal ones before may have
        left = np.abs(beta)[place] - before
        near = ROUNDING.of_a_difference * most
        out[order] = np.where(left >= most - near, most, np.where(left > near, left, 0.0))
        return np.copysign(out, beta[self.place])


def merged(points: Points, tasks: tuple[Task, ...], domain: Domain, memory: Any) -> Merged | None:
    """The one problem of these tasks on the points that differ, where that saves enough; None otherwise."""
    if len(tasks) != 1 or domain is not Domain.VECTORS or count(points) < _FEWEST:
        return None
    (task,) = tasks
    numbers = numbers_of(points, task.y)
    if np.count_nonzero(np.diff(np.sort(numbers))) >= LEFT * numbers.size:
        return None
    first, place = distinct(points, task.y, numbers)
    if first.size > LEFT * place.size or nbytes(points) > SHARE.little * parse_bytes(memory):
        return None
    C = np.bincount(place, task.C)
    return Merged(take(points, first), replace(task, y=task.y[first], C=C), task, place)


def distinct(X: Points, y: Array, numbers: Array) -> tuple[Index, Index]:
    """The first of each set of equal rows with equal y, in order; and for each row, which of those it equals.

    Rows with different numbers are not equal.
    """
    bits = np.uint64(numbers.size.bit_length())  # the last ones of a number give way to that of its row: one sort
    together = np.sort((numbers >> bits << bits) | np.arange(numbers.size, dtype=np.uint64))
    order = (together & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.intp)
    new = np.concatenate([[True], np.diff(together >> bits) != 0])
    source = np.empty_like(order)  # of each row, the first row with its number
    source[order] = order[new][np.cumsum(new) - 1]
    repeats = np.flatnonzero(source != np.arange(source.size))
    for part in pieces(repeats.size, AT_A_TIME.rows):  # rows that have their number by chance are not repeats
        rows = repeats[part]
        differ = _differ(X[rows], X[source[rows]]) | (y[rows] != y[source[rows]])
        source[rows[differ]] = rows[differ]
    alone = source == np.arange(source.size)
    return np.flatnonzero(alone), (np.cumsum(alone) - 1)[source]


def numbers_of(X: Points, y: Array) -> Array:
    """A number for each row and its y, equal where they are: the sum of their bits times a factor for each column.

    The sums are modulo 2^64, so that their order does not matter, and a dense row has the number of a sparse one.
    """
    kind = np.dtype(f"u{X.dtype.itemsize}")
    factors = np.random.default_rng(0).integers(_LARGEST, size=X.shape[1] + 1, dtype=np.uint64, endpoint=True)
    factors |= np.uint64(1)
    out: Array = np.ascontiguousarray(y, np.float64).view(np.uint64) * factors[-1]
    if is_sparse(X):
        total = np.concatenate([[np.uint64(0)], np.cumsum(X.data.view(kind) * factors[X.indices], dtype=np.uint64)])
        out += np.diff(total[X.indptr])
        return out

    def task(strip: slice) -> None:
        out[strip] += np.einsum("ij,j->i", np.ascontiguousarray(X[strip]).view(kind), factors[:-1])

    for_each(pieces(len(X), AT_A_TIME.rows), task, thread_count())
    return out


def _differ(A: Points, B: Points) -> Array:
    """In which rows two sets of points are not the same."""
    return np.asarray(np.diff((A != B).indptr) > 0 if is_sparse(A) else (A != B).any(axis=1))
