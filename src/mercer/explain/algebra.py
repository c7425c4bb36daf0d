"""Linear algebra in fractions: systems with one, no or many solutions, and a proof of definiteness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import lcm
from typing import Any

from .exact import Rows, Vector, dot

ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class Outcome:
    """All x with A x = b: `particular` plus any combination of `directions`; particular is None where there is none.

    `contradiction` is then a combination c of the equations with c'A = 0 and c'b = 1.
    """

    particular: Vector | None
    directions: Rows = ()
    contradiction: Vector | None = None

    @property
    def unique(self) -> bool:
        """Exactly one solution."""
        return self.particular is not None and not self.directions


def solve(A: Sequence[Sequence[Fraction]], b: Sequence[Fraction]) -> Outcome:
    """Solve A x = b by elimination."""
    n = len(A[0]) if A else 0
    work, pivots = _eliminate([[*row, right] for row, right in zip(A, b, strict=True)], n)
    if any(row[n] for row in work[len(pivots) :]):
        return Outcome(None, (), _contradiction(A, b))
    particular = [ZERO] * n
    for r, j in enumerate(pivots):
        particular[j] = work[r][n]
    directions = []
    for j in (j for j in range(n) if j not in pivots):
        direction = [ZERO] * n
        direction[j] = ONE
        for r, k in enumerate(pivots):
            direction[k] = -work[r][j]
        directions.append(tuple(direction))
    return Outcome(tuple(particular), tuple(directions))


def _eliminate(work: list[list[Any]], columns: int) -> tuple[list[list[Any]], list[int]]:
    """The reduced rows (of which only the first `columns` columns are pivoted on), and the pivots' columns.

    Every row is multiplied by the pivot and divided by the one before, so that its entries are determinants of the
    entries given (Bareiss 1968): whole numbers stay whole, sums with exp stay sums. The last pivot is on all of the
    diagonal then, and is divided by at the end.
    """
    whole = all(isinstance(entry, Fraction) for row in work for entry in row)
    work = [_whole(row) for row in work] if whole else work
    pivots: list[int] = []
    before: Any = 1
    for j in range(columns):
        r = len(pivots)
        best = next((i for i in range(r, len(work)) if work[i][j]), None)
        if best is None:
            continue
        work[r], work[best] = work[best], work[r]
        pivot, scale = work[r], work[r][j]
        for i, row in enumerate(work):
            if i != r:
                moved = [scale * a - row[j] * p for a, p in zip(row, pivot, strict=True)]
                work[i] = [entry // before for entry in moved] if whole else [entry / before for entry in moved]
        before = scale
        pivots.append(j)
    for r in range(len(pivots)):
        work[r] = [Fraction(entry, before) if whole else entry / before for entry in work[r]]
    return work, pivots


def _whole(row: list[Fraction]) -> list[int]:
    """The row without denominators: the same equation."""
    scale = lcm(*(entry.denominator for entry in row))
    return [entry.numerator * (scale // entry.denominator) for entry in row]


def _contradiction(A: Sequence[Sequence[Fraction]], b: Sequence[Fraction]) -> Vector:
    """c with c'A = 0 and c'b = 1: each row carries how it was combined from the equations."""
    m, n = len(A), len(A[0])
    traced = [
        [*row, right, *(ONE if k == i else ZERO for k in range(m))]
        for i, (row, right) in enumerate(zip(A, b, strict=True))
    ]
    work, pivots = _eliminate(traced, n)
    row = next(row for row in work[len(pivots) :] if row[n])
    return tuple(Fraction(entry) / row[n] for entry in row[n + 1 :])


def times(A: Sequence[Sequence[Fraction]], x: Sequence[Fraction]) -> Vector:
    """A x."""
    return tuple(dot(row, x) for row in A)


def quadratic(A: Sequence[Sequence[Fraction]], x: Sequence[Fraction]) -> Fraction:
    """x'A x."""
    return dot(x, times(A, x))


def inverse(A: Sequence[Sequence[Fraction]]) -> Rows | None:
    """A^-1, or None where A is singular."""
    n = len(A)
    columns = []
    for j in range(n):
        outcome = solve(A, [ONE if i == j else ZERO for i in range(n)])
        if not outcome.unique or outcome.particular is None:
            return None
        columns.append(outcome.particular)
    return tuple(zip(*columns, strict=True))


def determinant(A: Sequence[Sequence[Fraction]]) -> Fraction:
    """By expansion along the first row."""
    if not A:
        return ONE
    minors = [determinant([[*row[:j], *row[j + 1 :]] for row in A[1:]]) if A[0][j] else ZERO for j in range(len(A))]
    return dot([(-1) ** j * a for j, a in enumerate(A[0])], minors)


def principal_minors(K: Sequence[Sequence[Fraction]]) -> dict[int, list[Fraction]]:
    """Of each size, the determinants of K cut to some of its points: >= 0 where K is positive semidefinite."""
    places = range(len(K))
    return {
        size: [determinant([[K[i][j] for j in chosen] for i in chosen]) for chosen in combinations(places, size)]
        for size in range(1, len(K) + 1)
    }


def factorised(K: Sequence[Sequence[Fraction]]) -> tuple[Rows, Vector]:
    """L and d with K = L diag(d) L', L with ones on its diagonal: for K that is positive semidefinite."""
    n = len(K)
    work = [list(row) for row in K]
    L = [[ONE if i == j else ZERO for j in range(n)] for i in range(n)]
    d = []
    for k in range(n):
        pivot = work[k][k]
        d.append(pivot)
        for i in range(k + 1, n):
            if pivot:
                L[i][k] = work[i][k] / pivot
                for j in range(k + 1, n):
                    work[i][j] -= L[i][k] * work[k][j]
    return tuple(map(tuple, L)), tuple(d)


def indefinite_witness(K: Sequence[Sequence[Fraction]]) -> Vector | None:
    """A vector c with c'K c < 0, or None: K is then positive semidefinite, and elimination has proved it."""
    n = len(K)
    work = [list(row) for row in K]
    # Row i of `basis` is the vector whose quadratic form work[i][i] is; they stay K-orthogonal to the pivots before.
    basis = [[ONE if i == j else ZERO for j in range(n)] for i in range(n)]
    for k in range(n):
        if work[k][k] < 0:
            return tuple(basis[k])
        if work[k][k] == 0:
            for j in range(k + 1, n):
                if work[k][j]:
                    # (s e_k + e_j) has the form 2 s K_kj + K_jj, which is negative for s far enough.
                    s = -(work[j][j] + 1) / (2 * work[k][j])
                    return tuple(s * a + b for a, b in zip(basis[k], basis[j], strict=True))
            continue
        for j in range(k + 1, n):
            factor = work[k][j] / work[k][k]
            if factor:
                basis[j] = [b - factor * a for a, b in zip(basis[k], basis[j], strict=True)]
                for i in range(k + 1, n):
                    work[j][i] -= factor * work[k][i]
    return None
