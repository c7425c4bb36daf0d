"""Small problems with constraints, solved by the cases of the KKT conditions, and what can be proved of the answer.

    min or max f(x)   with   h_j(x) = 0,   g_i(x) <= 0

The Lagrangian is f + sum lambda_j h_j + s sum mu_i g_i with s = 1 for a minimum and -1 for a maximum, and mu_i >= 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from itertools import combinations
from typing import Any

from .algebraic import from_sympy
from .exact import NotByHandError, sympy
from .expression import Constraint


class Outcome(Enum):
    """What became of a point of a case."""

    ACCEPTED = "accepted"
    INFEASIBLE = "violates a constraint"
    SIGN = "has a negative multiplier"
    OPEN = "a whole family: its free variables decide"


@dataclass(frozen=True)
class Candidate:
    """A solution of the equations of one case, and the condition that it violates, if any: its place, and its value."""

    point: tuple[Any, ...]
    equality_multipliers: tuple[Any, ...]
    multipliers: tuple[Any, ...]
    outcome: Outcome = Outcome.ACCEPTED
    place: int = -1


@dataclass(frozen=True)
class Case:
    """Which inequalities are active, and the solutions of its equations."""

    active: tuple[int, ...]
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class Program:
    """The problem."""

    sense: str
    f: Any
    constraints: tuple[Constraint, ...]

    @cached_property
    def variables(self) -> tuple[Any, ...]:
        """In the order of their names."""
        free = self.f.free_symbols.union(*(c.body.free_symbols for c in self.constraints))
        return tuple(sorted(free, key=lambda symbol: symbol.name))

    @cached_property
    def equalities(self) -> tuple[Any, ...]:
        """h_j, each to be 0."""
        return tuple(c.body for c in self.constraints if c.equality)

    @cached_property
    def inequalities(self) -> tuple[Any, ...]:
        """g_i, each to be at most 0."""
        return tuple(c.body for c in self.constraints if not c.equality)

    @property
    def sign(self) -> int:
        """How the inequalities enter the Lagrangian."""
        return 1 if self.sense == "min" else -1

    @cached_property
    def lambdas(self) -> tuple[Any, ...]:
        """The multipliers of the equalities."""
        return _named("lambda", len(self.equalities))

    @cached_property
    def mus(self) -> tuple[Any, ...]:
        """The multipliers of the inequalities."""
        return _named("mu", len(self.inequalities))

    @cached_property
    def lagrangian(self) -> Any:
        """f + sum lambda_j h_j + s sum mu_i g_i."""
        total = self.f + sum(m * h for m, h in zip(self.lambdas, self.equalities, strict=True))
        return total + self.sign * sum(m * g for m, g in zip(self.mus, self.inequalities, strict=True))

    def cases(self) -> list[Case]:
        """All cases: those with fewest active constraints first."""
        places = range(len(self.inequalities))
        chosen = [active for size in range(len(places) + 1) for active in combinations(places, size)]
        return [self._case(active) for active in chosen]

    def _case(self, active: tuple[int, ...]) -> Case:
        sp = sympy()
        off = {m: 0 for i, m in enumerate(self.mus) if i not in active}
        unknowns = [*self.variables, *self.lambdas, *(self.mus[i] for i in active)]
        equations = [sp.diff(self.lagrangian, x).xreplace(off) for x in self.variables]
        equations += [*self.equalities, *(self.inequalities[i] for i in active)]
        found: list[Candidate] = []
        for solution in solve_real(equations, unknowns):
            values = {u: solution.get(u, u) for u in unknowns}
            # Multipliers that are not unique: the cases with fewer active constraints hold the ones that matter.
            free = set().union(*(v.free_symbols for v in values.values())) & {*self.lambdas, *self.mus}
            values = {u: sp.simplify(v.xreplace(dict.fromkeys(free, sp.Integer(0)))) for u, v in values.items()}
            candidate = Candidate(
                tuple(values[x] for x in self.variables),
                tuple(values[m] for m in self.lambdas),
                tuple(values.get(m, sp.Integer(0)) for m in self.mus),
            )
            found.append(self._judged(candidate))
        return Case(active, tuple(found))

    def _judged(self, candidate: Candidate) -> Candidate:
        at = dict(zip(self.variables, candidate.point, strict=True))
        slack = [_sign(g.xreplace(at)) for g in self.inequalities]
        signs = [_sign(m) for m in candidate.multipliers]
        if 1 in slack:
            return replace(candidate, outcome=Outcome.INFEASIBLE, place=slack.index(1))
        if -1 in signs:
            return replace(candidate, outcome=Outcome.SIGN, place=signs.index(-1))
        return replace(candidate, outcome=Outcome.OPEN) if None in (*slack, *signs) else candidate

    def value(self, point: tuple[Any, ...]) -> Any:
        """f at a point."""
        return sympy().simplify(self.f.xreplace(dict(zip(self.variables, point, strict=True))))


def _named(letter: str, count: int) -> tuple[Any, ...]:
    sp = sympy()
    if count == 1:
        return (sp.Symbol(letter, real=True),)
    return tuple(sp.Symbol(f"{letter}_{i + 1}", real=True) for i in range(count))


def _sign(expression: Any) -> int | None:
    """-1, 0 or 1, exactly; None where free variables leave it open."""
    expression = sympy().simplify(expression)
    if expression.free_symbols:
        return 1 if expression.is_positive else -1 if expression.is_negative else None
    if expression == 0 or expression.equals(0):
        return 0
    return 1 if expression.evalf(50) > 0 else -1


def solve_real(equations: list[Any], unknowns: list[Any]) -> list[dict[Any, Any]]:
    """The real solutions that can be written down."""
    sp = sympy()
    equations = [e for e in (sp.expand(e) for e in equations) if e != 0]
    if any(e.is_number for e in equations):
        return []
    try:
        solutions = sp.solve(equations, unknowns, dict=True) if equations else [{}]
    except NotImplementedError:
        raise NotByHandError("SymPy knows no way to solve the equations of one of the cases.") from None
    real = []
    for solution in solutions:
        values = [sp.simplify(v) for v in solution.values()]
        if all(_is_real(v) for v in values):
            real.append(dict(zip(solution.keys(), values, strict=True)))
    for solution in real:
        for v in solution.values():
            try:
                from_sympy(v)
            except TypeError:
                raise NotByHandError(f"A solution cannot be written with fractions and roots: {v!s:.60}.") from None
    return real


def _is_real(expression: Any) -> bool:
    if expression.free_symbols:
        return not expression.has(sympy().I)
    if expression.is_real is not None:
        return bool(expression.is_real)
    return abs(complex(expression.evalf(30)).imag) < 1e-20
