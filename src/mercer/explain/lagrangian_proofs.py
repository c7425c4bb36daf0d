"""What is proved in a small problem with constraints beyond relations between letters: read off what is shown."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from .algebraic import from_sympy
from .exact import sympy
from .formula import Chain, Decimal, Formula, Listing, Number, Symbol
from .kkt import Outcome
from .meaning import judge, same, value
from .optimality import (
    SHAPES,
    gradients,
    has_multipliers,
    irregular_points,
    is_bounded,
    is_convex,
    runs_away,
    sum_bound,
)
from .steps import Prose, Step, Table
from .world import World

if TYPE_CHECKING:
    from .kkt import Program

_ROUNDED = 1e-4
"""How far a rounded solution may be from satisfying its equations, in parts of the largest term."""


class Proofs:
    """The proofs that steps of a small problem name."""

    @cached_property
    def program(self) -> Program:
        """The problem that is solved."""
        raise NotImplementedError

    def prove_cases(self, step: Step) -> bool:
        """Every row solves the equations of its case, has its value of f, and violates what it is said to violate."""
        (table,) = step.mathematics
        assert isinstance(table, Table)
        program = self.program
        active_of = [_active(row[0]) if program.mus else () for row in table.rows]
        if sorted(set(active_of)) != sorted(program.choices()):
            return False
        return all(self._row(active, row[-3:]) for active, row in zip(active_of, table.rows, strict=True))

    def _row(self, active: tuple[int, ...], row: tuple[Prose, ...]) -> bool:
        program = self.program
        solution, shown_f, verdict = row
        if not _formulas(solution):
            from .roots import solve_real

            return not solve_real(program.equations(active), program.unknowns(active))
        values, rounded = _values(solution)
        at = {m: sympy().Integer(0) for i, m in enumerate(program.mus) if i not in active} | values
        if not all(_vanishes(body.xreplace(at), body, rounded) for body in program.equations(active)):
            return False
        (f,) = _formulas(shown_f)
        f_is = _vanishes(program.f.xreplace(at) - value(f), program.f, rounded)
        return f_is and self._verdict(verdict, active, at, rounded)

    def _verdict(self, verdict: Prose, active: tuple[int, ...], at: dict[Any, Any], rounded: bool) -> bool:
        program = self.program
        words = "".join(part for part in verdict.parts if isinstance(part, str))
        relations = [part for part in _formulas(verdict) if isinstance(part, Chain)]
        if words.startswith("rejected") and relations:
            (relation,) = relations
            names = {_symbol(name): number for name, number in at.items()}
            plain = Chain(relation.members, tuple(sign.rstrip("!") for sign in relation.signs))
            return True if rounded else judge(plain, World(names)) is True
        found = [g.xreplace(at) for i, g in enumerate(program.inequalities) if i not in active]
        found += [-program.mus[i].xreplace(at) for i in active]
        signs = [body.evalf(50) for body in found if not body.free_symbols]
        return not words.startswith("accepted") or all(number <= sympy().Float("1e-40") for number in signs)

    def _best(self, step: Step) -> bool:
        """Each point that is shown is feasible and has the value that is shown."""
        shown, where = step.mathematics
        assert isinstance(shown, Chain)
        assert isinstance(where, Listing)
        best = value(shown.members[2])
        for item in where.items:
            assert isinstance(item, Chain)
            at = dict(zip(self.program.variables, _entries(item), strict=True))
            if not same(self.program.f.xreplace(at), best) or not self._feasible(at):
                return False
        return True

    def _feasible(self, at: dict[Any, Any]) -> bool:
        sp = sympy()
        equal = all(same(h.xreplace(at), sp.Integer(0)) for h in self.program.equalities)
        found = [sp.simplify(g.xreplace(at)) for g in self.program.inequalities]
        return equal and all(v.free_symbols or v.evalf(50) <= sp.Float("1e-40") for v in found)

    def prove_convex(self, step: Step) -> bool:
        """The problem is convex, and the points are feasible."""
        return is_convex(self.program) and self._best(step)

    def prove_bounded(self, step: Step) -> bool:
        """The feasible set is bounded; and the points, if there are any, are feasible and the best there are."""
        if not is_bounded(self.program):
            return False
        if not step.mathematics:
            return not self._candidates()
        shown = step.mathematics[0]
        assert isinstance(shown, Chain)
        best = value(shown.members[2]).evalf(50)
        others = [self.program.value(point).evalf(50) for point in self._candidates()]
        margin = sympy().Float("1e-40")
        better = [v > best + margin if self.program.sense == "max" else v < best - margin for v in others]
        return not any(better) and self._best(step)

    def _candidates(self) -> list[tuple[Any, ...]]:
        """The points where an optimum may be: those of the conditions, and those that the conditions do not see."""
        accepted = [
            candidate.point
            for case in self.program.cases
            for candidate in case.candidates
            if candidate.outcome is Outcome.ACCEPTED and not any(entry.free_symbols for entry in candidate.point)
        ]
        return [*accepted, *(irregular_points(self.program) or [])]

    def prove_sum(self, step: Step) -> bool:
        """No feasible point is better than the bound, and the points shown reach it."""
        bound = sum_bound(self.program)
        if bound is None or isinstance(step.mathematics[-1], Chain):
            return bound is not None and same(value(step.mathematics[-1].members[1]), bound.root)  # type: ignore[union-attr]
        shown = step.mathematics[0]
        assert isinstance(shown, Chain)
        limit = self.program.f.xreplace({bound.variable: bound.root})
        return same(value(shown.members[2]), limit) and self._best(step)

    def prove_irregular(self, step: Step) -> bool:
        """At the point that is shown the gradient of f is no combination of those of the active constraints."""
        (where,) = _formulas(step.statement)
        assert isinstance(where, Chain)
        point = _entries(where)
        own, others = gradients(self.program, point)
        (shown,) = step.mathematics
        assert isinstance(shown, Listing)
        found = [_entries(item) for item in shown.items if isinstance(item, Chain)]
        right = found == [tuple(own), *(tuple(gradient) for _, gradient in others)]
        return right and not has_multipliers(self.program, point)

    def prove_ray(self, step: Step) -> bool:
        """Along the line that is shown f has no bound."""
        (where,) = _formulas(step.statement)
        assert isinstance(where, Chain)
        return runs_away(self.program, list(_entries(where)), sympy().Symbol("s", real=True))

    def prove_curvature(self, step: Step) -> bool:
        """The matrix has the shape that the words say."""
        (shown,) = step.mathematics
        assert isinstance(shown, Listing)
        found = value(shown.items[1])
        whole = found if hasattr(found, "shape") else sympy().Matrix([[found]])
        (words,) = step.reason.parts
        return any(f"is {word}" in str(words) and bool(getattr(whole, test)) for word, test in SHAPES.items())


def _formulas(sentence: Prose) -> list[Formula]:
    return [part for part in sentence.parts if isinstance(part, Formula)]


def _entries(where: Chain) -> tuple[Any, ...]:
    """The numbers of a relation (x, y) = (1, 2)."""
    found = value(where.members[1])
    return tuple(found) if hasattr(found, "shape") else (found,)


def _active(cell: Prose) -> tuple[int, ...]:
    (listed,) = _formulas(cell)
    assert isinstance(listed, Listing)
    return tuple(int(item.value) - 1 for item in listed.items if isinstance(item, Number))


def _values(solution: Prose) -> tuple[dict[Any, Any], bool]:
    """What a row says of its unknowns, and whether it is rounded."""
    (listed,) = _formulas(solution)
    assert isinstance(listed, Listing)
    values, rounded = {}, False
    for item in listed.items:
        if isinstance(item, Chain):
            name, number = item.members
            values[value(name)] = value(number)
            rounded = rounded or isinstance(number, Decimal)
    return values, rounded


def _vanishes(found: Any, body: Any, rounded: bool) -> bool:
    if not rounded:
        return same(found, sympy().Integer(0))
    return bool(abs(found.evalf(30)) <= _ROUNDED * max(1, *(abs(c) for c in sympy().Poly(body).coeffs())))


def _symbol(name: Any) -> Symbol:
    written = from_sympy(name)
    assert isinstance(written, Symbol)
    return written
