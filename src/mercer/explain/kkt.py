"""Small problems with constraints, solved by the cases of the KKT conditions.

    min or max f(x)   with   h_j(x) = 0,   g_i(x) <= 0

The Lagrangian is f + sum lambda_j h_j + s sum mu_i g_i with s = 1 for a minimum and -1 for a maximum, and mu_i >= 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from itertools import combinations
from typing import Any

from .exact import sympy
from .expression import Constraint
from .roots import is_implicit, satisfiable, sign, solve_real


class Outcome(Enum):
    """What became of a point of a case."""

    ACCEPTED = "accepted"
    INFEASIBLE = "violates a constraint"
    SIGN = "has a negative multiplier"
    EMPTY = "a whole family, none of which satisfies the inequalities"
    OPEN = "a whole family: its free variables decide"


@dataclass(frozen=True)
class Candidate:
    """A solution of the equations of one case, and the place of the condition that it violates, if any."""

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
        return self._named("lambda", len(self.equalities))

    @cached_property
    def mus(self) -> tuple[Any, ...]:
        """The multipliers of the inequalities."""
        return self._named("mu", len(self.inequalities))

    def _named(self, letter: str, count: int) -> tuple[Any, ...]:
        sp = sympy()
        names = [letter] if count == 1 else [f"{letter}_{i + 1}" for i in range(count)]
        return tuple(sp.Symbol(name, real=True) for name in names)

    @cached_property
    def lagrangian(self) -> Any:
        """f + sum lambda_j h_j + s sum mu_i g_i."""
        total = self.f + sum(m * h for m, h in zip(self.lambdas, self.equalities, strict=True))
        return total + self.sign * sum(m * g for m, g in zip(self.mus, self.inequalities, strict=True))

    def choices(self) -> list[tuple[int, ...]]:
        """Which inequalities may be active: those with fewest first."""
        places = range(len(self.inequalities))
        return [active for size in range(len(places) + 1) for active in combinations(places, size)]

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """All cases, solved and judged."""
        return tuple(self.case(active) for active in self.choices())

    def equations(self, active: tuple[int, ...]) -> list[Any]:
        """What must be 0 in a case."""
        off = {m: sympy().Integer(0) for i, m in enumerate(self.mus) if i not in active}
        slopes = [sympy().diff(self.lagrangian, x).xreplace(off) for x in self.variables]
        return [*slopes, *self.equalities, *(self.inequalities[i] for i in active)]

    def unknowns(self, active: tuple[int, ...]) -> list[Any]:
        """What a case is solved for."""
        return [*self.variables, *self.lambdas, *(self.mus[i] for i in active)]

    def case(self, active: tuple[int, ...]) -> Case:
        """The solutions of one case, judged by the other conditions."""
        sp = sympy()
        unknowns = self.unknowns(active)
        found: list[Candidate] = []
        for solution in solve_real(self.equations(active), unknowns):
            values = {u: solution.get(u, u) for u in unknowns}
            # Multipliers that are not unique: the cases with fewer active constraints hold the ones that matter.
            free = set().union(*(v.free_symbols for v in values.values())) & {*self.lambdas, *self.mus}
            if free:
                values = {u: sp.simplify(v.xreplace(dict.fromkeys(free, sp.Integer(0)))) for u, v in values.items()}
            candidate = Candidate(
                tuple(values[x] for x in self.variables),
                tuple(values[m] for m in self.lambdas),
                tuple(values.get(m, sp.Integer(0)) for m in self.mus),
            )
            found.append(self._judged(candidate, active))
        return Case(active, tuple(found))

    def _judged(self, candidate: Candidate, active: tuple[int, ...]) -> Candidate:
        at = dict(zip(self.variables, candidate.point, strict=True))
        slack = [0 if i in active else sign(g.xreplace(at)) for i, g in enumerate(self.inequalities)]
        if 1 in slack:
            return replace(candidate, outcome=Outcome.INFEASIBLE, place=slack.index(1))
        signs = [sign(m) if i in active else 0 for i, m in enumerate(candidate.multipliers)]
        if -1 in signs:
            return replace(candidate, outcome=Outcome.SIGN, place=signs.index(-1))
        if None not in (*slack, *signs):
            return candidate
        possible = self._possible(candidate)
        return (
            candidate if possible else replace(candidate, outcome=Outcome.OPEN if possible is None else Outcome.EMPTY)
        )

    def _possible(self, candidate: Candidate) -> bool | None:
        """Whether some values of the free variables satisfy all inequalities; None where this is not decided."""
        at = dict(zip(self.variables, candidate.point, strict=True))
        sp = sympy()
        conditions = [sp.expand(g.xreplace(at)) for g in self.inequalities] + [-m for m in candidate.multipliers]
        names = set().union(*(c.free_symbols for c in conditions))
        if len(names) == 1:
            (name,) = names
            if all(c.is_polynomial(name) for c in conditions):
                return satisfiable(conditions, name) is not None
        if all(is_affine(c, tuple(names)) for c in conditions):
            from .farkas import contradiction

            return contradiction(conditions, [False] * len(conditions), sorted(names, key=str)) is None
        return None

    def implicit(self, case: Case) -> bool:
        """Whether an accepted point has coordinates without a formula."""
        accepted = [c for c in case.candidates if c.outcome is Outcome.ACCEPTED]
        return any(is_implicit(entry) for c in accepted for entry in (*c.point, *c.multipliers))

    def value(self, point: tuple[Any, ...]) -> Any:
        """f at a point."""
        found = self.f.xreplace(dict(zip(self.variables, point, strict=True)))
        return found if is_implicit(found) else sympy().simplify(found)

    def bodies(self) -> Iterator[Any]:
        """The objective and all constraints."""
        yield self.f
        for c in self.constraints:
            yield c.body


def is_affine(body: Any, variables: tuple[Any, ...]) -> bool:
    """Of degree one at most."""
    if not variables:
        return True
    return bool(body.is_polynomial(*variables)) and sympy().Poly(body, *variables).total_degree() <= 1
