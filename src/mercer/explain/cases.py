"""The dual of the support vector machine by cases: which multipliers are 0, free, or at C.

    max sum_i alpha_i - 1/2 sum_ij alpha_i alpha_j y_i y_j K_ij,   0 <= alpha_i (<= C),   sum_i alpha_i y_i = 0

In each case the KKT conditions are a linear system, solved in fractions. The dual is concave, so that a case whose
solution satisfies the remaining conditions is optimal; every other case is rejected by the condition that it violates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import combinations, product

from .algebra import ONE, ZERO, solve, times
from .exact import Rows, Vector, dot


class State(Enum):
    """Where a multiplier is."""

    ZERO = "0"
    FREE = "free"
    BOUND = "C"


class Finding(Enum):
    """What became of a case: accepted, or the condition that it violates."""

    OPTIMAL = "optimal: every condition holds"
    FAMILY = "optimal too: many multipliers with the same w and b"
    BALANCE = "the multipliers cannot satisfy sum alpha_i y_i = 0"
    CONTRADICTION = "its equations contradict each other"
    NOT_POSITIVE = "alpha_i > 0 is violated"
    ABOVE_C = "alpha_i < C is violated"
    MARGIN = "y_i f(x_i) >= 1 is violated for a point with alpha_i = 0"
    BEYOND = "y_i f(x_i) <= 1 is violated for a point with alpha_i = C"
    NO_INTERCEPT = "no b satisfies the conditions of all points"
    EMPTY = "none of its many solutions has every multiplier inside its bounds"

    @property
    def accepted(self) -> bool:
        """Whether the case holds an optimum."""
        return self in (Finding.OPTIMAL, Finding.FAMILY)


Case = tuple[State, ...]


@dataclass(frozen=True)
class Verdict:
    """A case, what became of it, and the numbers that show it.

    `points` are those whose condition is violated; `alpha` and `b` solve the equations of the case (with FAMILY and
    EMPTY they are one solution of many); `interval` holds b where no free multiplier fixes it.
    """

    case: Case
    finding: Finding
    alpha: Vector | None = None
    b: Fraction | None = None
    interval: tuple[Fraction, Fraction] | None = None
    points: tuple[int, ...] = ()
    contradiction: Vector | None = None

    def members(self, state: State) -> tuple[int, ...]:
        """The points in that state."""
        return tuple(i for i, own in enumerate(self.case) if own is state)


@dataclass(frozen=True)
class Dual:
    """The dual problem of given points: K, y, and C (None for the hard margin)."""

    K: Rows
    y: tuple[int, ...]
    C: Fraction | None = None

    @property
    def n(self) -> int:
        """The number of points."""
        return len(self.y)

    def cases(self) -> Iterator[Case]:
        """Every case; those with many free multipliers first."""
        states = (State.FREE, State.ZERO) if self.C is None else (State.FREE, State.ZERO, State.BOUND)
        yield from product(states, repeat=self.n)

    @property
    def count(self) -> int:
        """How many cases there are."""
        return int((2 if self.C is None else 3) ** self.n)

    def scores(self, alpha: Vector) -> Vector:
        """<w, phi(x_i)> = sum_j alpha_j y_j K_ij."""
        return times(self.K, [a * s for a, s in zip(alpha, self.y, strict=True)])

    def system(self, case: Case) -> tuple[list[list[Fraction]], list[Fraction]]:
        """The equations of a case, A (alpha_free, b) = r: y_i f(x_i) = 1 for the free points, sum alpha_i y_i = 0."""
        free = [i for i, state in enumerate(case) if state is State.FREE]
        bound = [i for i, state in enumerate(case) if state is State.BOUND]
        C = self.C or ZERO
        y, K = self.y, self.K
        A = [[*(y[i] * y[j] * K[i][j] for j in free), Fraction(y[i])] for i in free]
        r = [1 - y[i] * C * sum((y[j] * K[i][j] for j in bound), ZERO) for i in free]
        A.append([*(Fraction(y[j]) for j in free), ZERO])
        r.append(-C * sum(y[j] for j in bound))
        return A, r

    def full(self, case: Case, free: Vector) -> Vector:
        """All multipliers, from those of the free points."""
        values = iter(free)
        C = self.C or ZERO
        return tuple(next(values) if s is State.FREE else C if s is State.BOUND else ZERO for s in case)

    def balanced(self, case: Case) -> bool:
        """Whether any multipliers inside their bounds satisfy sum alpha_i y_i = 0."""
        free = [self.y[i] for i, state in enumerate(case) if state is State.FREE]
        fixed = sum(self.y[i] for i, state in enumerate(case) if state is State.BOUND)
        if not free:
            return fixed == 0
        if self.C is None:
            return len(set(free)) == 2
        return -free.count(-1) < -fixed < free.count(1)

    def try_case(self, case: Case) -> Verdict:
        """Solve the equations of one case and look at its other conditions."""
        if not self.balanced(case):
            return Verdict(case, Finding.BALANCE)
        if State.FREE not in case:
            return self._without_free(case)
        outcome = solve(*self.system(case))
        if outcome.particular is None:
            return Verdict(case, Finding.CONTRADICTION, contradiction=outcome.contradiction)
        *free, b = outcome.particular
        alpha = self.full(case, tuple(free))
        if outcome.unique:
            for i, state in enumerate(case):
                if state is State.FREE and alpha[i] <= 0:
                    return Verdict(case, Finding.NOT_POSITIVE, alpha, b, points=(i,))
                if state is State.FREE and self.C is not None and alpha[i] >= self.C:
                    return Verdict(case, Finding.ABOVE_C, alpha, b, points=(i,))
        # Of many solutions all have the same w and b (K is positive semidefinite), so one speaks for all.
        for i, (state, score) in enumerate(zip(case, self.scores(alpha), strict=True)):
            margin = self.y[i] * (score + b)
            if state is State.ZERO and margin < 1:
                return Verdict(case, Finding.MARGIN, alpha, b, points=(i,))
            if state is State.BOUND and margin > 1:
                return Verdict(case, Finding.BEYOND, alpha, b, points=(i,))
        return Verdict(case, Finding.OPTIMAL if outcome.unique else Finding.FAMILY, alpha, b)

    def _without_free(self, case: Case) -> Verdict:
        alpha = self.full(case, ())
        low, high = self.intercepts(case, alpha)
        (lower, i), (upper, j) = low, high
        if lower > upper:
            return Verdict(case, Finding.NO_INTERCEPT, alpha, interval=(lower, upper), points=(i, j))
        return Verdict(case, Finding.OPTIMAL, alpha, (lower + upper) / 2, (lower, upper))

    def intercepts(self, case: Case, alpha: Vector) -> tuple[tuple[Fraction, int], tuple[Fraction, int]]:
        """The largest lower and the least upper bound on b where nothing is free, each with the point that sets it."""
        lower: list[tuple[Fraction, int]] = []
        upper: list[tuple[Fraction, int]] = []
        for i, (state, score) in enumerate(zip(case, self.scores(alpha), strict=True)):
            at_least = (state is State.ZERO) == (self.y[i] > 0)
            (lower if at_least else upper).append((self.y[i] - score, i))
        return max(lower), min(upper)

    def dual_value(self, alpha: Vector) -> Fraction:
        """sum alpha_i - 1/2 |w|^2."""
        return sum(alpha, ZERO) - self.squared_norm(alpha) / 2

    def squared_norm(self, alpha: Vector) -> Fraction:
        """|w|^2."""
        signed = [a * s for a, s in zip(alpha, self.y, strict=True)]
        return dot(signed, self.scores(alpha))


def try_all(dual: Dual) -> tuple[Verdict, ...]:
    """The verdict on every case."""
    verdicts = [dual.try_case(case) for case in dual.cases()]
    corners = [
        verdict.alpha for verdict in verdicts if verdict.finding is Finding.OPTIMAL and verdict.alpha is not None
    ]
    return tuple(
        Verdict(v.case, Finding.EMPTY, v.alpha, v.b)
        if v.finding is Finding.FAMILY and not _has_inside(dual, v.case, corners)
        else v
        for v in verdicts
    )


def _has_inside(dual: Dual, case: Case, corners: list[Vector]) -> bool:
    """Whether some optimum has exactly these states.

    The optima form a polytope whose corners are the optimal cases with one solution. Those of its points that keep the
    fixed multipliers of the case are the mixtures of such corners, and the mean of them has as many free ones as any.
    """
    fixed = {State.ZERO: ZERO, State.BOUND: dual.C}
    inside = [a for a in corners if all(s is State.FREE or a[i] == fixed[s] for i, s in enumerate(case))]
    return bool(inside) and all(
        any(a[i] != 0 for a in inside) and any(a[i] != dual.C for a in inside)
        for i, state in enumerate(case)
        if state is State.FREE
    )


def meeting_hulls(dual: Dual) -> tuple[Vector, Vector]:
    """Weights of two convex combinations, of the points +1 and of the points -1, that are the same point.

    They exist where the data is not separable, and some of them have so few points that no other weights do.
    """
    for size in range(2, dual.n + 1):
        for chosen in combinations(range(dual.n), size):
            A = [[dual.K[i][j] * dual.y[j] for j in chosen] for i in chosen]
            A.append([Fraction(dual.y[j]) for j in chosen])
            directions = solve(A, [ZERO] * len(A)).directions
            if len(directions) == 1 and (min(directions[0]) > 0 or max(directions[0]) < 0):
                weights = dict(zip(chosen, directions[0], strict=True))
                total = sum((v for j, v in weights.items() if dual.y[j] > 0), ZERO)
                share = [weights.get(j, ZERO) / total for j in range(dual.n)]
                plus = tuple(s if dual.y[j] > 0 else ZERO for j, s in enumerate(share))
                minus = tuple(s if dual.y[j] < 0 else ZERO for j, s in enumerate(share))
                return plus, minus
    raise AssertionError("separable data has no hulls that meet")


def all_hold(dual: Dual, verdicts: tuple[Verdict, ...]) -> bool:
    """Every case is there once, and each verdict is right: its equations are solved, its condition is violated."""
    cases = {verdict.case for verdict in verdicts}
    corners = [v.alpha for v in verdicts if v.finding is Finding.OPTIMAL and v.alpha is not None]
    complete = len(cases) == len(verdicts) == dual.count
    return complete and all(verdict_holds(dual, verdict, corners) for verdict in verdicts)


def verdict_holds(dual: Dual, verdict: Verdict, corners: list[Vector]) -> bool:
    """Check one verdict from its own numbers."""
    case, finding, alpha, b = verdict.case, verdict.finding, verdict.alpha, verdict.b
    if finding is Finding.BALANCE:
        return not dual.balanced(case)
    A, r = dual.system(case)
    if finding is Finding.CONTRADICTION:
        c = verdict.contradiction or ()
        return len(c) == len(r) and not any(times(tuple(zip(*A, strict=True)), c)) and dot(c, r) == ONE
    if alpha is None or alpha != dual.full(case, tuple(alpha[i] for i in verdict.members(State.FREE))):
        return False
    if finding is Finding.NO_INTERCEPT:
        (lower, i), (upper, j) = dual.intercepts(case, alpha)
        return lower > upper and verdict.points == (i, j) and verdict.interval == (lower, upper)
    if b is None or times(A, [*(alpha[i] for i in verdict.members(State.FREE)), b]) != tuple(r):
        return False
    margins = [s * (score + b) for s, score in zip(dual.y, dual.scores(alpha), strict=True)]
    if finding.accepted or finding is Finding.EMPTY:
        fine = all(
            margin >= 1 if state is State.ZERO else margin <= 1 if state is State.BOUND else margin == 1
            for state, margin in zip(case, margins, strict=True)
        )
        if finding is Finding.OPTIMAL:
            return fine and all(
                alpha[i] > 0 and (dual.C is None or alpha[i] < dual.C) for i in verdict.members(State.FREE)
            )
        return fine and _has_inside(dual, case, corners) == finding.accepted
    (i,) = verdict.points
    violated = {
        Finding.NOT_POSITIVE: case[i] is State.FREE and alpha[i] <= 0,
        Finding.ABOVE_C: case[i] is State.FREE and dual.C is not None and alpha[i] >= dual.C,
        Finding.MARGIN: case[i] is State.ZERO and margins[i] < 1,
        Finding.BEYOND: case[i] is State.BOUND and margins[i] > 1,
    }
    return violated[finding]
