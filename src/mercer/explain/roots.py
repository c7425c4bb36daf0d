"""Systems of equations, solved exactly: the real solutions, in fractions and roots where there are such."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from .algebraic import from_sympy
from .exact import NotByHandError, sympy

_DIGITS = 60
_SURE = 40
"""A number of sixty digits that is not 0 in the first forty has a sign; otherwise it is open."""


def solve_real(equations: list[Any], unknowns: list[Any]) -> list[dict[Any, Any]]:
    """The real solutions. Where a polynomial has no formula for its roots, they are SymPy's CRootOf."""
    sp = sympy()
    equations = [e for e in (sp.expand(e) for e in equations) if e != 0]
    if any(e.is_number for e in equations):
        return []
    found = _by_elimination(equations, unknowns)
    if found is None:
        try:
            found = sp.solve(equations, unknowns, dict=True) if equations else [{}]
        except NotImplementedError:
            raise NotByHandError("SymPy knows no way to solve the equations of one of the cases.") from None
    real = []
    for solution in found:
        values = {name: v if is_implicit(v) else sp.simplify(v) for name, v in solution.items()}
        if all(_is_real(v) for v in values.values()):
            real.append(values)
    for solution in real:
        for v in solution.values():
            require_written(v)
    return real


def require_written(number: Any) -> None:
    """Raise where a solution has a form that nobody would write."""
    if is_implicit(number):
        return
    try:
        from_sympy(number)
    except TypeError:
        raise NotByHandError(f"A solution cannot be written with fractions and roots: {number!s:.60}.") from None


def is_implicit(number: Any) -> bool:
    """Whether it is a root of a polynomial without a formula."""
    return bool(number.has(sympy().CRootOf))


def sign(expression: Any) -> int | None:
    """-1, 0 or 1, exactly; None where free variables leave it open."""
    sp = sympy()
    if is_implicit(expression):
        number = expression.evalf(_DIGITS)
        if abs(number) < sp.Float(10) ** -_SURE:
            raise NotByHandError("Whether a root without a formula satisfies a condition with equality is not decided.")
        return 1 if number > 0 else -1
    expression = sp.simplify(expression)
    if expression.free_symbols:
        return 1 if expression.is_positive else -1 if expression.is_negative else None
    if expression == 0 or expression.equals(0):
        return 0
    return 1 if expression.evalf(50) > 0 else -1


def _by_elimination(equations: list[Any], unknowns: list[Any]) -> list[dict[Any, Any]] | None:
    """By a basis of the ideal in which the last unknown stands alone and gives all others; None where there is none."""
    sp = sympy()
    order = list(reversed(unknowns))
    if not equations or not all(e.is_polynomial(*order) and _is_rational(e, order) for e in equations):
        return None
    basis = sp.groebner(equations, *order, order="lex", domain="QQ").exprs
    if basis == [1]:
        return []
    last = order[-1]
    others: dict[Any, Any] = {}
    for name in order[:-1]:
        own = [g for g in basis if g.has(name) and sp.degree(g, name) == 1 and g.free_symbols <= {name, last}]
        own = [g for g in own if not sp.diff(g, name).free_symbols]
        if len(own) != 1:
            return None
        others[name] = sp.solve(own[0], name)[0]
    alone = [g for g in basis if g.free_symbols == {last}]
    if len(alone) != 1 or len(basis) != len(order):
        return None
    found = []
    for root in _roots(alone[0], last):
        found.append({last: root} | {name: _put_in(body, last, root) for name, body in others.items()})
    return found


def _is_rational(expression: Any, unknowns: list[Any]) -> bool:
    return all(c.is_Rational for c in sympy().Poly(expression, *unknowns).coeffs())


def _put_in(body: Any, name: Any, root: Any) -> Any:
    sp = sympy()
    return body.xreplace({name: root}) if is_implicit(root) else sp.radsimp(sp.expand(body.xreplace({name: root})))


def _roots(polynomial: Any, name: Any) -> list[Any]:
    """The real roots: by formula where the factors have one that is short."""
    sp = sympy()
    found: list[Any] = []
    for factor, _ in sp.factor_list(polynomial, name)[1]:
        formulas = sp.roots(factor, name, cubics=False, quartics=False, quintics=False)
        if sum(formulas.values()) == sp.degree(factor, name):
            found += [root for root in formulas if _is_real(root)]
        else:
            found += sp.Poly(factor, name).real_roots()
    return sorted(found, key=lambda root: root.evalf(30))


def _is_real(expression: Any) -> bool:
    if is_implicit(expression):
        return True  # only real roots are taken
    if expression.free_symbols:
        return not expression.has(sympy().I)
    if expression.is_real is not None:
        return bool(expression.is_real)
    return abs(complex(expression.evalf(30)).imag) < 1e-20


def satisfiable(conditions: list[Any], name: Any) -> Any | None:
    """A value of the one variable at which every condition, a polynomial, is at most 0; None where there is none.

    Between neighbouring roots no condition changes its sign, so the roots and one point between each two decide.
    """
    sp = sympy()
    roots = {root for c in conditions if c.has(name) for root in sp.Poly(c, name).real_roots()}
    ordered = sorted(roots, key=lambda root: root.evalf(30))
    places: list[Any] = [sp.Integer(0)]
    if ordered:
        between = [sp.nsimplify((a + b).evalf(20) / 2, rational=True) for a, b in pairwise(ordered)]
        places = [sp.floor(ordered[0]) - 1, *ordered, *between, sp.ceiling(ordered[-1]) + 1]
    for place in places:
        if all((sign(sp.sympify(c).xreplace({name: place})) or 0) <= 0 for c in conditions):
            return place
    return None
