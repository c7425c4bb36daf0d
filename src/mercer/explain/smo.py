"""Pair steps (SMO) by hand: which two multipliers are changed, how far, and when nothing is left to do."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from ..kernels import Kernel, Linear
from .cases import Dual
from .exact import Labels, Vector, dot, fraction, labels, refuse_many, require_few, require_whole, sympy
from .formula import Formula, Listing, Symbol, Words, chain, condition, equals, point
from .letters import K, alpha_bold, over, y_
from .sample import Sample, read_sample
from .sample_steps import gram_steps, renamed
from .steps import Prose, Section, Solution, Step, Table, say
from .world import World, exact, vector

MOST_POINTS, MOST_STEPS = 8, 30
_a, _F, _t = Symbol("alpha", "i"), Symbol("F", "i"), Symbol("t")
_Fj, _d, _L = Symbol("F", "j"), Symbol("eta"), Symbol("L")


@dataclass(frozen=True)
class Pair:
    """One step: the multipliers before it, the two points, how far it wants to go and how far it goes."""

    alpha: Vector
    i: int
    j: int
    violation: Fraction
    curvature: Fraction
    wanted: Fraction | None
    t: Fraction


@dataclass(frozen=True)
class SmoProblem(Sample):
    """Points with labels, C (None: hard margin), and how many steps at most."""

    labels: Labels
    C: Fraction | None
    steps: int

    @property
    def y(self) -> tuple[int, ...]:
        """The labels."""
        return self.labels.signs

    def forces(self, alpha: Vector) -> Vector:
        """F_i = y_i - sum_j alpha_j y_j K_ij: the b that point i would need."""
        beta = [s * a for s, a in zip(self.y, alpha, strict=True)]
        return tuple(s - dot(row, beta) for s, row in zip(self.y, self.K, strict=True))

    def room(self, alpha: Vector, i: int, up: bool) -> Fraction | None:
        """How far alpha_i y_i can rise (or fall); None where there is no end."""
        if (self.y[i] > 0) == up:
            return None if self.C is None else self.C - alpha[i]
        return alpha[i]

    def choice(self, alpha: Vector) -> tuple[int, int] | None:
        """The point that wants most to rise, and the one that wants most to fall; None where nobody is left."""
        F = self.forces(alpha)
        rise = [i for i in range(self.n) if self.room(alpha, i, True) != 0]
        fall = [i for i in range(self.n) if self.room(alpha, i, False) != 0]
        if not rise or not fall:
            return None
        i, j = max(rise, key=lambda p: (F[p], -p)), min(fall, key=lambda p: (F[p], p))
        return (i, j) if F[i] > F[j] else None

    @cached_property
    def run(self) -> tuple[tuple[Pair, ...], Vector, bool]:
        """The steps, the multipliers at the end, and whether nothing was left to do."""
        alpha = (Fraction(0),) * self.n
        found: list[Pair] = []
        while len(found) < self.steps:
            chosen = self.choice(alpha)
            if chosen is None:
                return tuple(found), alpha, True
            i, j = chosen
            F = self.forces(alpha)
            curvature = self.K[i][i] + self.K[j][j] - 2 * self.K[i][j]
            wanted = (F[i] - F[j]) / curvature if curvature else None
            limits = [v for v in (wanted, self.room(alpha, i, True), self.room(alpha, j, False)) if v is not None]
            if not limits:
                return tuple(found), alpha, False
            pair = Pair(alpha, i, j, F[i] - F[j], curvature, wanted, min(limits))
            found.append(pair)
            moved = list(alpha)
            moved[i] += pair.t * self.y[i]
            moved[j] -= pair.t * self.y[j]
            alpha = tuple(moved)
        return tuple(found), alpha, self.choice(alpha) is None

    def solve(self) -> Solution:
        """See `smo`."""
        return worked(self)

    def world(self, scope: str) -> World:
        """The multipliers before a step, with i and j its points; or at the end."""
        kind, _, number = scope.partition(" ")
        signs = [sympy().Integer(s) for s in self.y]
        base = self.base.also(families={Symbol("y"): signs})
        if kind == "data":
            return base
        pairs, alpha, _ = self.run
        after = alpha
        if kind == "pair":
            pair = pairs[int(number)]
            alpha = pair.alpha
            after = pairs[int(number) + 1].alpha if int(number) + 1 < len(pairs) else after
            base = base.where(i=pair.i, j=pair.j).also({_t: exact(pair.t)})
        K_ = base.letters[K]
        beta = vector([s * a for s, a in zip(self.y, alpha, strict=True)])
        forces = [sympy().Integer(s) - v for s, v in zip(self.y, K_ * beta, strict=True)]
        moved = vector([s * a for s, a in zip(self.y, after, strict=True)])
        L = sum(map(exact, after)) - (moved.T * K_ * moved)[0, 0] / 2
        families = {Symbol("F"): forces, Symbol("alpha"): [exact(a) for a in alpha]}
        return base.also({alpha_bold: vector(after), _L: L}, families)

    def prove_choice(self, step: Step) -> bool:
        """No other pair that can move has a larger difference."""
        for pair in self.run[0]:
            F = self.forces(pair.alpha)
            for p in range(self.n):
                for q in range(self.n):
                    able = self.room(pair.alpha, p, True) != 0 and self.room(pair.alpha, q, False) != 0
                    if able and F[p] - F[q] > pair.violation:
                        return False
        return True

    def prove_end(self, step: Step) -> bool:
        """Nothing is left to do where the dual value is the best of all cases."""
        best = max(
            (v.alpha for v in _optima(self) if v.alpha is not None),
            key=lambda a: Dual(self.K, self.y, self.C).dual_value(a),
        )
        dual = Dual(self.K, self.y, self.C)
        return (dual.dual_value(self.run[1]) == dual.dual_value(best)) == self.run[2]


def _optima(e: SmoProblem) -> list[Any]:
    from .cases import Finding, try_all

    return [v for v in try_all(Dual(e.K, e.y, e.C)) if v.finding is Finding.OPTIMAL]


def smo(X: Any, y: Any, C: Any = None, kernel: Kernel | str = Linear(), steps: int = 10) -> Solution:  # noqa: B008
    """Pair steps on the dual of the support vector machine, exactly, with the choice of each pair."""
    sympy()
    bound = None if C is None else fraction(C, "C")
    refuse_many(X, MOST_POINTS, "mercer.SVC")
    if bound is not None and bound <= 0:
        raise ValueError(f"C must be greater than 0, or None for the hard margin, not {C}.")
    fields = read_sample(X, kernel, "mercer.SVC")
    rows = fields["gram"] if fields["points"] is None else fields["points"]
    problem = SmoProblem(**fields, labels=labels(y, len(rows)), C=bound, steps=steps)
    if not _optima(problem):
        raise ValueError("These classes cannot be separated, so that the dual has no largest value: give C.")
    return problem.solve()


def worked(e: SmoProblem) -> Solution:
    """The solution, from the data alone."""
    require_few(e.n, MOST_POINTS, "mercer.SVC")
    require_whole("steps", e.steps, MOST_STEPS)
    pairs, alpha, done = e.run
    dual = Dual(e.K, e.y, e.C)
    answer = {"alpha": alpha, "value": dual.dual_value(alpha), "steps": len(pairs), "optimal": done}
    answer["pairs"] = tuple((p.i + 1, p.j + 1) for p in pairs)
    return Solution(f"Pair steps: {e.n} points", (_data(e), _idea(e), _table(e), _end(e)), answer, None, e)


def _data(e: SmoProblem) -> Section:
    columns = [*e.columns(), (y_("i"), e.y)]
    counted = Prose((*say("There are {} points:", e.n).parts, *renamed(e.labels)))
    first = Step(counted, (Table.of_points(columns),), scope="data")
    return Section("The data", (first, *gram_steps(e)[:1]))


def _idea(e: SmoProblem) -> Section:
    Kii, Kjj, Kij = (Symbol("K", index) for index in ("ii", "jj", "ij"))
    force = condition(_F, "=", y_("i") - over(Symbol("alpha", "j") * y_("j") * Kij, "j"))
    slope = Listing(
        (Words("dual along the step:  "), condition(Symbol("L'"), "=", _F - _Fj - _t * (Kii + Kjj - 2 * Kij))), ""
    )
    best = condition(_t, "=", (_F - _Fj) / (Kii + Kjj - 2 * Kij))
    steps = (
        Step(
            say("One multiplier alone cannot change, since {}. So two are: {} y rises at i by t and falls at j by t. "
                "What counts is", condition(over(_a * y_("i")), "=", 0), Symbol("alpha")),
            (force,), say("the b that point i would need; at the optimum all free points agree on it"),
        ),
        Step(say("The pair: i has the largest F of those that can rise, j the smallest of those that can fall.")),
        Step(say("The best step, cut where a multiplier reaches its bound:"), (slope, best)),
    )  # fmt: skip
    return Section("A pair of multipliers", steps)


def _table(e: SmoProblem) -> Section:
    Kii, Kjj, Kij = (Symbol("K", index) for index in ("ii", "jj", "ij"))
    header = (say("step"), say("i, j"), say("{}", _F - _Fj), say("{}", Kii + Kjj - 2 * Kij), say("best t"),
              say("{}", _t), say("{} after", alpha_bold), say("{} after", _L))  # fmt: skip
    pairs, alpha, _ = e.run
    afters = [*(pair.alpha for pair in pairs[1:]), alpha]
    dual = Dual(e.K, e.y, e.C)
    rows = []
    for number, (pair, after) in enumerate(zip(pairs, afters, strict=True), 1):
        wanted: Any = say("no end") if pair.wanted is None else say("{}", pair.wanted)
        rows.append((say("{}", number), say(f"{pair.i + 1}, {pair.j + 1}"), say("{}", pair.violation),
                     say("{}", pair.curvature), wanted, say("{}", pair.t), say("{}", point(after)),
                     say("{}", dual.dual_value(after))))  # fmt: skip
    table = Table(header, tuple(rows), scopes=tuple(f"pair {k}" for k in range(len(rows))))
    words = say(f"From {{}} on, at most {e.steps} steps:", condition(alpha_bold, "=", 0))
    return Section("The steps", (Step(words, (table,), proof="choice"),))


def _end(e: SmoProblem) -> Section:
    pairs, alpha, done = e.run
    F = e.forces(alpha)
    rise = [F[i] for i in range(e.n) if e.room(alpha, i, True) != 0]
    fall = [F[i] for i in range(e.n) if e.room(alpha, i, False) != 0]
    shown: tuple[Formula, ...] = (equals(alpha_bold, point(alpha)),)
    if done and rise and fall:
        shown += (chain(max(rise), "<=", min(fall)),)
    words = "No pair is left: nobody who can rise wants more than anybody who can fall. This is the optimum:"
    if not done:
        words = f"After {len(pairs)} steps a pair is still left. Pair steps come nearer and nearer, and need not end:"
    return Section("The end", (Step(say(words), shown, scope="end", proof="end"),))
