"""What proves that a stationary point is the optimum: convexity, a bounded feasible set, or a sum of the constraints.

Also what proves that there is no optimum: a ray along which f has no bound, or constraints that contradict each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from .algebra import ONE, ZERO, solve
from .exact import Rows, Vector, sympy
from .farkas import contradiction
from .kkt import Candidate, Program, is_affine
from .roots import sign, solve_real


def is_convex(program: Program) -> bool:
    """Whether f (or -f, for a maximum) and all g are convex along the directions that keep the equalities."""
    sp, variables = sympy(), program.variables
    if not all(is_affine(h, variables) for h in program.equalities):
        return False
    directions = along(program)
    logs = [a.args[0] for a in sp.Add(program.f, *program.inequalities).atoms(sp.log)]
    logs += [p.base for p in program.f.atoms(sp.Pow) if p.exp.is_Rational and not p.exp.is_Integer]
    bounds = [-g for g in program.inequalities]
    positive = {v: sp.Symbol(v.name, positive=True) for v in variables if v in logs or v in bounds}
    curved = [program.f * program.sign, *(g for g in program.inequalities if not is_affine(g, variables))]
    return all(_is_convex(body, variables, directions, positive) for body in curved)


def _is_convex(body: Any, variables: tuple[Any, ...], directions: Rows, positive: dict[Any, Any]) -> bool:
    """Every principal minor of the second derivatives is nowhere negative, where these variables are positive."""
    sp = sympy()
    if not directions:
        return True
    N = sp.Matrix([[_exact(entry) for entry in direction] for direction in directions])
    reduced = N * sp.hessian(body, variables) * N.T
    size = len(directions)
    return all(
        nowhere_negative(reduced.extract(list(chosen), list(chosen)).det().subs(positive))
        for k in range(1, size + 1)
        for chosen in combinations(range(size), k)
    )


def nowhere_negative(expression: Any) -> bool:
    """Whether SymPy sees that it is at least 0 for all values of its letters."""
    sp = sympy()
    return bool(expression.is_nonnegative) or bool(sp.factor(expression).is_nonnegative)


def along(program: Program) -> Rows:
    """A basis of the directions that keep the affine equalities."""
    variables = program.variables
    if not program.equalities:
        n = len(variables)
        return tuple(tuple(ONE if i == j else ZERO for j in range(n)) for i in range(n))
    rows = [[_fraction(sympy().diff(h, v)) for v in variables] for h in program.equalities]
    return solve(rows, [ZERO] * len(rows)).directions


def is_bounded(program: Program) -> bool:
    """Whether the feasible set is bounded and closed: a constraint is a ball of sorts, or affine ones a polytope."""
    sp, variables = sympy(), program.variables
    if not program.constraints or not all(body.is_polynomial(*variables) for body in program.bodies()):
        return False
    rows: list[Vector] = []
    for c in program.constraints:
        for side in (c.body, -c.body) if c.equality else (c.body,):
            poly = sp.Poly(side, *variables)
            if poly.total_degree() == 1:
                rows.append(tuple(_fraction(sp.diff(side, v)) for v in variables))
            elif _grows_everywhere(poly, list(variables)):
                return True
    return _positively_spanning(rows, len(variables))


def _exact(number: Fraction) -> Any:
    return sympy().Rational(number.numerator, number.denominator)


def _fraction(number: Any) -> Fraction:
    return Fraction(int(number.p), int(number.q))


def _grows_everywhere(poly: Any, variables: list[Any]) -> bool:
    """Whether the terms of highest degree are positive in every direction: squares, or a positive definite form."""
    sp = sympy()
    top = poly.total_degree()
    leading = {m: c for m, c in poly.terms() if sum(m) == top}
    if top == 2:
        form = sum(c * sp.prod(v**e for v, e in zip(variables, m, strict=True)) for m, c in leading.items())
        return bool(sp.hessian(form, variables).is_positive_definite)
    single = all(sum(map(bool, m)) == 1 and c > 0 for m, c in leading.items())
    return top % 2 == 0 and single and len(leading) == len(variables)


def _positively_spanning(rows: list[Vector], n: int) -> bool:
    """Whether {d : row . d <= 0 for all rows} is {0}: the rows have rank n, and positive weights make them vanish."""
    if not rows or solve(rows, [ZERO] * len(rows)).directions:
        return False
    covered: set[int] = set()
    for size in range(1, min(len(rows), n + 1) + 1):
        for chosen in combinations(range(len(rows)), size):
            columns = [[rows[i][j] for i in chosen] for j in range(n)]
            directions = solve(columns, [ZERO] * n).directions
            if len(directions) == 1 and (min(directions[0]) > 0 or max(directions[0]) < 0):
                covered |= set(chosen)
    return len(covered) == len(rows)


def infeasible(program: Program) -> Vector | None:
    """Weights of the affine constraints that add up to a positive number, which proves that no point satisfies them."""
    affine = [is_affine(c.body, program.variables) for c in program.constraints]
    chosen = [c for c, is_ in zip(program.constraints, affine, strict=True) if is_]
    if not chosen:
        return None
    weights = contradiction([c.body for c in chosen], [c.equality for c in chosen], list(program.variables))
    if weights is None:
        return None
    own = iter(weights)
    return tuple(next(own) if is_ else ZERO for is_ in affine)


def irregular_points(program: Program) -> list[tuple[Any, ...]] | None:
    """Feasible points where the gradients of active constraints are dependent, so that multipliers need not exist.

    Affine constraints make no such trouble. None where the points cannot be listed.
    """
    sp, variables = sympy(), program.variables
    found: list[tuple[Any, ...]] = []
    g = program.inequalities
    for active in program.choices():
        bodies = [*program.equalities, *(g[i] for i in active)]
        if all(is_affine(body, variables) for body in bodies):
            continue
        jacobian = sp.Matrix([[sp.diff(body, v) for v in variables] for body in bodies])
        minors = []
        if len(bodies) <= len(variables):
            picks = combinations(range(len(variables)), len(bodies))
            minors = [jacobian.extract(list(range(len(bodies))), list(pick)).det() for pick in picks]
        for solution in solve_real([*bodies, *minors], list(variables)):
            at = {v: solution.get(v, v) for v in variables}
            if any(entry.free_symbols for entry in at.values()):
                return None
            if all((sign(other.xreplace(at)) or 0) <= 0 for other in g):
                found.append(tuple(at[v] for v in variables))
    return found


def gradients(program: Program, at: tuple[Any, ...]) -> tuple[Any, list[tuple[int, Any]]]:
    """The gradient of f at a point, and those of the active constraints, each with its place."""
    sp, variables = sympy(), program.variables
    here = dict(zip(variables, at, strict=True))
    active = [i for i, c in enumerate(program.constraints) if sp.simplify(c.body.xreplace(here)) == 0]

    def gradient(body: Any) -> Any:
        return sp.Matrix([sp.simplify(sp.diff(body, v).xreplace(here)) for v in variables])

    return gradient(program.f), [(i, gradient(program.constraints[i].body)) for i in active]


def has_multipliers(program: Program, at: tuple[Any, ...]) -> bool:
    """Whether the gradient of f is some combination of those of the active constraints."""
    own, others = gradients(program, at)
    rows = sympy().Matrix([list(g) for _, g in others])
    return bool(rows.rank() == rows.col_join(own.T).rank())


@dataclass(frozen=True)
class Bound:
    """Weights of the constraints whose sum, without the even powers in it, is a polynomial in one variable alone.

    It is at most 0, which bounds the variable, and so f, by its outermost root.
    """

    weights: Vector
    total: Any
    polynomial: Any
    variable: Any
    root: Any


def sum_bound(program: Program) -> Bound | None:
    """A bound on f from a sum of constraints, where f is affine in one variable and depends on no other."""
    sp = sympy()
    names = sorted(program.f.free_symbols, key=str)
    if len(names) != 1 or not is_affine(program.f, program.variables):
        return None
    if not all(body.is_polynomial(*program.variables) for body in program.bodies()):
        return None
    (u,) = names
    upwards = (sp.diff(program.f, u) > 0) == (program.sense == "max")
    for weights in _sums(program):
        total = sp.expand(sum(_exact(w) * c.body for w, c in zip(weights, program.constraints, strict=True)))
        rest = _without_even_powers(total, u, program.variables)
        if rest is None or not rest.has(u):
            continue
        poly = sp.Poly(rest, u)
        lead = poly.LC() if upwards or poly.degree() % 2 == 0 else -poly.LC()
        roots = poly.real_roots()
        if lead > 0 and roots:
            return Bound(weights, total, rest, u, max(roots) if upwards else min(roots))
    return None


def _sums(program: Program) -> list[Vector]:
    """Single constraints, and pairs of them with weights that cancel a term."""
    sp, n = sympy(), len(program.constraints)
    polys = [sp.Poly(c.body, *program.variables).as_dict() for c in program.constraints]
    found = [tuple(ONE if i == j else ZERO for i in range(n)) for j in range(n)]
    for i, j in combinations(range(n), 2):
        for term in polys[i].keys() & polys[j].keys():
            ratio = -_fraction(polys[i][term]) / _fraction(polys[j][term])
            if sum(term) and ratio > 0:
                found.append(tuple(ONE if k == i else ratio if k == j else ZERO for k in range(n)))
    return found


def _without_even_powers(total: Any, u: Any, variables: tuple[Any, ...]) -> Any | None:
    """The part of the sum in u alone, where all else is at least 0: even powers with positive factors."""
    sp = sympy()
    rest: Any = sp.Integer(0)
    place = variables.index(u)
    for powers, factor in sp.Poly(total, *variables).terms():
        others = [m for k, m in enumerate(powers) if k != place]
        if not any(others):
            rest += factor * u ** powers[place]
        elif factor < 0 or any(m % 2 for m in powers):
            return None
    return rest


def unbounded_ray(program: Program, points: list[tuple[Any, ...]]) -> tuple[Vector, Vector] | None:
    """Start and direction in which the objective has no end, where a simple one is found."""
    variables = program.variables
    if not all(body.is_polynomial(*variables) for body in program.bodies()):
        return None
    if not all(is_affine(h, variables) for h in program.equalities):
        return None
    basis = list(along(program))
    tries = [*basis, *(tuple(a + b for a, b in zip(u, v, strict=True)) for u, v in combinations(basis, 2))]
    tries += [tuple(a - b for a, b in zip(u, v, strict=True)) for u, v in combinations(basis, 2)]
    starts = [tuple(_fraction(c) for c in p) for p in points if all(c.is_Rational for c in p)]
    for start in [*starts, *_on_equalities(program)]:
        for direction in tries:
            for signed in (direction, tuple(-d for d in direction)):
                s = sympy().Symbol("s", real=True)
                line = [_exact(a) + s * _exact(d) for a, d in zip(start, signed, strict=True)]
                if runs_away(program, line, s):
                    return start, signed
    return None


def runs_away(program: Program, line: list[Any], s: Any) -> bool:
    """Whether along this line, for all large s, the constraints hold and f grows (or falls) without end."""
    sp = sympy()
    at = dict(zip(program.variables, line, strict=True))
    growth = sp.Poly(program.f.xreplace(at), s)
    if growth.degree() < 1 or (growth.LC() > 0) != (program.sense == "max"):
        return False
    sides = [(sp.Poly(c.body.xreplace(at), s), c.equality) for c in program.constraints]
    return all(side.is_zero if equality else side.LC() <= 0 for side, equality in sides)


def _on_equalities(program: Program) -> list[Vector]:
    sp, variables = sympy(), program.variables
    if not program.equalities:
        return [(ZERO,) * len(variables)]
    rows = [[_fraction(sp.diff(h, v)) for v in variables] for h in program.equalities]
    constants = [
        -_fraction(sp.sympify(h.xreplace(dict.fromkeys(variables, sp.Integer(0))))) for h in program.equalities
    ]
    start = solve(rows, constants).particular
    return [] if start is None else [start]


SHAPES = {"positive": "is_positive_definite", "negative": "is_negative_definite", "indefinite": "is_indefinite"}
"""Words for a matrix, and SymPy's exact test of each."""


def second_order(program: Program, candidate: Candidate) -> tuple[Any, str] | None:
    """The second derivatives of the Lagrangian along the active constraints, and their shape, where it decides."""
    sp, variables = sympy(), program.variables
    if any(entry.free_symbols for entry in candidate.point):
        return None
    at = dict(zip(variables, candidate.point, strict=True))
    at |= dict(zip(program.lambdas, candidate.equality_multipliers, strict=True))
    at |= dict(zip(program.mus, candidate.multipliers, strict=True))
    tight = [i for i, g in enumerate(program.inequalities) if sp.simplify(g.xreplace(at)) == 0]
    bodies = [*program.equalities, *(program.inequalities[i] for i in tight)]
    N = sp.eye(len(variables))
    if bodies:
        jacobian = sp.Matrix([[sp.diff(body, v).xreplace(at) for v in variables] for body in bodies])
        if jacobian.rank() < len(bodies) or any(candidate.multipliers[i] == 0 for i in tight):
            return None
        if not jacobian.nullspace():
            return None
        N = sp.Matrix.hstack(*jacobian.nullspace())
    reduced = sp.simplify(N.T * sp.hessian(program.lagrangian, variables).xreplace(at) * N)
    shape = next((word for word, test in SHAPES.items() if getattr(reduced, test)), None)
    return None if shape is None else (reduced, shape)
