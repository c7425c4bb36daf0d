"""The dual function of a small problem: the least value of the Lagrangian over the variables."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product as all_of
from typing import Any

from .exact import NotByHandError, sympy
from .kkt import Outcome, Program
from .lagrangian_answer import answer
from .optimality import infeasible, nowhere_negative


@dataclass(frozen=True)
class Best:
    """The best value of the dual, and multipliers that have it; None where it is only approached, or infinite."""

    value: Any
    multipliers: dict[Any, Any] | None = None


@dataclass(frozen=True)
class DualFunction:
    """h (None: infinite everywhere), where it is finite, the minimiser, and why. Of f itself, also for a maximum."""

    value: Any
    conditions: tuple[Any, ...] = ()
    minimiser: tuple[Any, ...] = ()
    reason: str = ""
    growth: str = ""
    positive: tuple[str, ...] = ()

    def largest(self, program: Program, least: Any) -> Best:
        """The best value of h: by the multipliers of the primal's answer, or as a limit."""
        sp = sympy()
        if self.value is None:
            return Best(-sp.oo * program.sign)
        if least is None:
            return Best(sp.oo * program.sign)
        names = (*program.lambdas, *program.mus)
        if not self.value.free_symbols & set(names):
            return Best(self.value, dict.fromkeys(names, sp.Integer(0)))
        for values in _multipliers(program):
            found = sp.simplify(self.value.xreplace(values))
            fulfilled = all(sp.simplify(c.xreplace(values)) == 0 for c in self.conditions)
            if fulfilled and found == least:
                return Best(least, values)
        if len(names) != 1:
            raise NotByHandError("The best value of the dual was not found: the primal's answer has no multipliers.")
        s = sp.Symbol("s", positive=True)
        return Best(sp.limit(self.value.xreplace({names[0]: s}), s, sp.oo))

    def holds(self, program: Program) -> bool:
        """At several multipliers L >= h on a grid (for a maximum, <=); where there is a minimiser, L = h there."""
        sp, sign = sympy(), program.sign
        if self.value is None:
            return True
        names, variables = (*program.lambdas, *program.mus), program.variables
        for numbers in all_of((sp.Rational(1, 2), sp.Integer(2)), repeat=len(names)):
            at = dict(zip(names, numbers, strict=True))
            if any(c.xreplace(at) != 0 for c in self.conditions):
                continue
            h, L = self.value.xreplace(at), program.lagrangian.xreplace(at)
            if self.minimiser:
                place = {v: x.xreplace(at) for v, x in zip(variables, self.minimiser, strict=True)}
                if sp.simplify(L.xreplace(place) - h) != 0:
                    return False
            for place_ in all_of((-2, -1, 1, 3), repeat=len(variables)):
                if any(v.name in self.positive and c < 0 for v, c in zip(variables, place_, strict=True)):
                    continue
                found = L.xreplace(dict(zip(variables, map(sp.Integer, place_), strict=True)))
                if (sign * (found - h)).evalf(20) < -1e-12:
                    return False
        return True


def _multipliers(program: Program) -> list[dict[Any, Any]]:
    """The multipliers of all accepted points."""
    found = []
    for case in program.cases:
        for candidate in case.candidates:
            if candidate.outcome is Outcome.ACCEPTED:
                pairs = [*zip(program.lambdas, candidate.equality_multipliers, strict=True)]
                pairs += zip(program.mus, candidate.multipliers, strict=True)
                found.append(dict(pairs))
    return found


def primal_value(program: Program, positive: tuple[str, ...]) -> Any:
    """The best value of f under the constraints; None where nothing is feasible."""
    sp = sympy()
    if not positive and infeasible(program) is not None:
        return None
    domain = {v: sp.Symbol(v.name, positive=True) for v in program.variables if v.name in positive}
    for g in program.inequalities:
        inside = g.xreplace(domain)
        if nowhere_negative(inside) and not inside.is_positive:
            return _on_zero(program, g)
    candidates = [candidate for case in program.cases for candidate in case.candidates]
    _, values = answer(program, candidates)
    if values.get("status") != "global":
        raise NotByHandError(
            "The value of this problem is not proved, so that there is nothing to compare the dual with."
        )
    return values["value"]


def _on_zero(program: Program, g: Any) -> Any:
    """A left side that is never negative can only be 0: f where it is."""
    sp = sympy()
    for v in program.variables:
        roots = sp.solve(sp.numer(sp.together(g)), v)
        if len(roots) == 1 and not roots[0].free_symbols:
            value = program.f.xreplace({v: roots[0]})
            if not value.free_symbols:
                return sp.simplify(value)
    raise NotByHandError("The feasible points of this problem could not be found by hand.")


def dual_function(program: Program, positive: tuple[str, ...]) -> DualFunction:
    """h by second derivatives that are constant or definite, or by a lower bound that is approached."""
    sp, sign, variables = sympy(), program.sign, program.variables
    L = sp.expand(sign * program.lagrangian)
    if not L.is_polynomial(*variables) or sp.Poly(L, *variables).total_degree() > 2:
        return _approached(program, positive)
    if positive:
        raise NotByHandError("A positive variable in a quadratic problem: write it as a constraint, such as y >= 0.")
    H = sp.hessian(L, variables)
    zero = dict.fromkeys(variables, sp.Integer(0))
    c = sp.Matrix([sp.diff(L, v).xreplace(zero) for v in variables])
    constant = L.xreplace(zero)
    if not H.free_symbols:
        if not H.is_positive_semidefinite:
            return DualFunction(None, reason="the Lagrangian has a direction in which it bends the wrong way")
        conditions = tuple(entry for v in H.nullspace() if (entry := sp.expand((v.T * c)[0, 0])) != 0)
        inverse = H.pinv()
        reason = "it is convex in the variables, and least where its derivatives are zero"
    else:
        positive_ = {m: sp.Symbol(m.name, positive=True) for m in program.mus}
        minors = [H[:k, :k].det().xreplace(positive_) for k in range(1, len(variables) + 1)]
        if not all(sp.factor(minor).is_positive for minor in minors):
            raise NotByHandError("The Lagrangian is not seen to be convex for all multipliers above 0.")
        conditions, inverse = (), H.inv()
        reason = "for positive multipliers it is convex in the variables, and least where its derivatives are zero"
    best = [sp.simplify(entry) for entry in -(inverse * c)]
    if sign < 0:
        reason = reason.replace("convex", "concave").replace("least", "largest")
    value = sp.simplify(constant - (c.T * inverse * c)[0, 0] / 2)
    unique = not conditions and (H.det() != 0)
    return DualFunction(
        sign * sp.expand(value) if value.is_polynomial(*program.lambdas, *program.mus) else sign * sp.together(value),
        conditions, tuple(best) if unique else (), reason, _growth(program),
    )  # fmt: skip


def _growth(program: Program) -> str:
    weights = infeasible(program)
    if weights is None:
        return ""
    told = ", ".join(f"{w} s" for w in weights)
    return f"it grows for ever along the multipliers ({told}), which add the constraints up to a contradiction"


def _approached(program: Program, positive: tuple[str, ...]) -> DualFunction:
    """A lower bound of the Lagrangian, for all multipliers, that it comes near to along a curve."""
    sp, variables = sympy(), program.variables
    domain = {v: sp.Symbol(v.name, positive=True) for v in variables if v.name in positive}
    real = {m: sp.Symbol(m.name, positive=True) for m in program.mus}
    f = sp.sympify(program.sign * program.f).xreplace(domain)
    if program.equalities or not all(nowhere_negative(g.xreplace(domain)) for g in program.inequalities):
        raise NotByHandError("The dual function of this problem has no formula that is found here: take squares.")
    if not (f.is_positive or f.is_nonnegative):
        raise NotByHandError("The dual function of this problem has no formula that is found here: take squares.")
    s = sp.Symbol("s", positive=True)
    whole = sp.sympify(program.sign * program.lagrangian).xreplace(real)
    for powers in all_of((1, 3, 4, -1, 0), repeat=len(variables)):
        curve = {v: s**p for v, p in zip(variables, powers, strict=True)}
        if sp.limit(whole.xreplace(curve), s, sp.oo) == 0:
            told = ", ".join(f"{v} = {s**p}" for v, p in zip(variables, powers, strict=True)).replace("**", "^")
            return DualFunction(
                sp.Integer(0), reason=f"no part of it is below 0, and along {told} it comes as near to 0 as one likes",
                positive=positive,
            )  # fmt: skip
    raise NotByHandError("The dual function of this problem has no formula that is found here: take squares.")
