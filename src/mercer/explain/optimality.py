"""What proves that a stationary point is the optimum: convexity, or a bounded feasible set; or that there is none."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from .algebra import ONE, ZERO, solve
from .algebraic import as_symbol, from_sympy
from .exact import Rows, Vector, sympy
from .formula import Formula, Symbol, matrix
from .kkt import Candidate, Program, solve_real
from .meaning import value
from .steps import Assertion


@dataclass(frozen=True)
class Convex(Assertion):
    """body is convex along these directions, where the variables named are positive (and, by continuity, 0)."""

    body: Formula
    variables: tuple[Symbol, ...]
    directions: Rows
    positive: tuple[Symbol, ...] = ()

    def check(self) -> bool:
        """Every principal minor of the second derivatives is nowhere negative."""
        sp = sympy()
        variables = [sp.Symbol(v.key, real=True) for v in self.variables]
        hessian = sp.hessian(value(self.body), variables)
        N = sp.Matrix([[_exact(entry) for entry in direction] for direction in self.directions])
        reduced = N * hessian * N.T
        known = {sp.Symbol(v.key, real=True): sp.Symbol(v.key, positive=True) for v in self.positive}
        size = len(self.directions)
        return all(
            _nowhere_negative(reduced.extract(list(chosen), list(chosen)).det().subs(known))
            for k in range(1, size + 1)
            for chosen in combinations(range(size), k)
        )


def _nowhere_negative(expression: Any) -> bool:
    sp = sympy()
    return bool(expression.is_nonnegative) or bool(sp.factor(expression).is_nonnegative)


@dataclass(frozen=True)
class Bounded(Assertion):
    """The points with bodies <= 0 (or = 0 where so marked) form a bounded set."""

    bodies: tuple[Formula, ...]
    equalities: tuple[bool, ...]
    variables: tuple[Symbol, ...]

    def check(self) -> bool:
        """One constraint is a ball of sorts, or the affine ones make a polytope."""
        sp = sympy()
        variables = [sp.Symbol(v.key, real=True) for v in self.variables]
        rows: list[Vector] = []
        for body, equality in zip(self.bodies, self.equalities, strict=True):
            expression = value(body)
            for side in (expression, -expression) if equality else (expression,):
                if not side.is_polynomial(*variables):
                    continue
                poly = sp.Poly(side, *variables)
                if poly.total_degree() == 1:
                    rows.append(tuple(_fraction(sp.diff(side, v)) for v in variables))
                elif _grows_everywhere(poly, variables):
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


def symbols_of(program: Program) -> tuple[Symbol, ...]:
    """The variables as they are written."""
    return tuple(as_symbol(v) for v in program.variables)


def is_affine(body: Any, variables: tuple[Any, ...]) -> bool:
    """Of degree one at most."""
    return bool(body.is_polynomial(*variables)) and sympy().Poly(body, *variables).total_degree() <= 1


def convexity(program: Program) -> tuple[Convex, ...] | None:
    """The proofs that the problem is convex, or None."""
    sp, variables = sympy(), program.variables
    if not all(is_affine(h, variables) for h in program.equalities):
        return None
    directions = _along(list(program.equalities), variables)
    if not directions:
        return ()
    logs = [a.args[0] for a in sp.Add(program.f, *program.inequalities).atoms(sp.log)]
    logs += [p.base for p in program.f.atoms(sp.Pow) if p.exp.is_Rational and not p.exp.is_Integer]
    bounds = [-g for g in program.inequalities]
    positive = tuple(as_symbol(v) for v in variables if v in logs or v in bounds)
    curved = [program.f * program.sign, *(g for g in program.inequalities if not is_affine(g, variables))]
    proofs = tuple(Convex(from_sympy(sp.expand(body)), symbols_of(program), directions, positive) for body in curved)
    return proofs if all(proof.check() for proof in proofs) else None


def _along(equalities: list[Any], variables: tuple[Any, ...]) -> Rows:
    """A basis of the directions that keep the affine equalities."""
    sp = sympy()
    if not equalities:
        n = len(variables)
        return tuple(tuple(ONE if i == j else ZERO for j in range(n)) for i in range(n))
    rows = [[_fraction(sp.diff(h, v)) for v in variables] for h in equalities]
    return solve(rows, [ZERO] * len(rows)).directions


def boundedness(program: Program) -> Bounded | None:
    """The proof that the feasible set is bounded and closed, or None."""
    if not all(c.body.is_polynomial(*program.variables) for c in program.constraints):
        return None
    if not program.f.is_polynomial(*program.variables) or not program.constraints:
        return None
    proof = Bounded(
        tuple(from_sympy(c.body) for c in program.constraints),
        tuple(c.equality for c in program.constraints),
        symbols_of(program),
    )
    return proof if proof.check() else None


def irregular_points(program: Program) -> list[tuple[Any, ...]] | None:
    """Feasible points where the gradients of active constraints are dependent, so that multipliers need not exist.

    Affine constraints make no such trouble. None where the points cannot be listed.
    """
    sp, variables = sympy(), program.variables
    found: list[tuple[Any, ...]] = []
    g = program.inequalities
    for size in range(len(g) + 1):
        for active in combinations(range(len(g)), size):
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
                if all(sp.simplify(other.xreplace(at)).evalf(30) <= 0 for other in g):
                    found.append(tuple(at[v] for v in variables))
    return found


@dataclass(frozen=True)
class Ray(Assertion):
    """Along start + s direction, s >= some size, all constraints hold and f grows (or falls) without end."""

    f: Formula
    bodies: tuple[Formula, ...]
    equalities: tuple[bool, ...]
    variables: tuple[Symbol, ...]
    start: Vector
    direction: Vector
    sense: str

    def check(self) -> bool:
        """By the leading terms in s."""
        sp = sympy()
        s = sp.Symbol("ray parameter")
        names = [sp.Symbol(v.key, real=True) for v in self.variables]
        at = {v: _exact(a) + s * _exact(d) for v, a, d in zip(names, self.start, self.direction, strict=True)}
        growth = sp.Poly(value(self.f).subs(at), s)
        if growth.degree() < 1 or (growth.LC() > 0) != (self.sense == "max"):
            return False
        for body, equality in zip(self.bodies, self.equalities, strict=True):
            along = sp.Poly(value(body).subs(at), s)
            if equality and not along.is_zero:
                return False
            if not equality and along.LC() > 0:
                return False
        return True


def unbounded_ray(program: Program, points: list[tuple[Any, ...]]) -> Ray | None:
    """A direction in which the objective has no end, where a simple one is found."""
    variables = program.variables
    bodies = [program.f, *(c.body for c in program.constraints)]
    if not all(body.is_polynomial(*variables) for body in bodies):
        return None
    if not all(is_affine(h, variables) for h in program.equalities):
        return None
    basis = list(_along(list(program.equalities), variables))
    tries = [*basis, *(tuple(a + b for a, b in zip(u, v, strict=True)) for u, v in combinations(basis, 2))]
    tries += [tuple(a - b for a, b in zip(u, v, strict=True)) for u, v in combinations(basis, 2)]
    starts = [tuple(_fraction(c) for c in p) for p in points if all(c.is_Rational for c in p)]
    starts += _on_equalities(program)
    for start in starts:
        for direction in tries:
            for signed in (direction, tuple(-d for d in direction)):
                ray = Ray(
                    from_sympy(program.f),
                    tuple(from_sympy(c.body) for c in program.constraints),
                    tuple(c.equality for c in program.constraints),
                    symbols_of(program),
                    start,
                    signed,
                    program.sense,
                )
                if ray.check():
                    return ray
    return None


def _on_equalities(program: Program) -> list[Vector]:
    sp, variables = sympy(), program.variables
    if not program.equalities:
        return [(ZERO,) * len(variables)]
    rows = [[_fraction(sp.diff(h, v)) for v in variables] for h in program.equalities]
    right = [-_fraction(h.xreplace(dict.fromkeys(variables, sp.Integer(0)))) for h in program.equalities]
    start = solve(rows, right).particular
    return [] if start is None else [start]


@dataclass(frozen=True)
class Curvature(Assertion):
    """The matrix is "positive" or "negative" definite, or "indefinite"."""

    matrix: Formula
    shape: str

    def check(self) -> bool:
        """By SymPy's exact tests."""
        exact = value(self.matrix)
        whole = exact if hasattr(exact, "shape") else sympy().Matrix([[exact]])
        tests = {"positive": "is_positive_definite", "negative": "is_negative_definite", "indefinite": "is_indefinite"}
        return bool(getattr(whole, tests[self.shape]))


def second_order(program: Program, candidate: Candidate) -> Curvature | None:
    """The curvature of the Lagrangian along the active constraints, where it decides what a point is."""
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
    written = matrix([[from_sympy(entry) for entry in row] for row in reduced.tolist()])
    return next((c for c in (Curvature(written, k) for k in ("positive", "negative", "indefinite")) if c.check()), None)


@dataclass(frozen=True)
class NoSolution(Assertion):
    """The equations, each body = 0, have no real solution."""

    bodies: tuple[Formula, ...]
    unknowns: tuple[Symbol, ...]

    def check(self) -> bool:
        """Solve them anew."""
        sp = sympy()
        return not solve_real(
            [value(body) for body in self.bodies], [sp.Symbol(u.key, real=True) for u in self.unknowns]
        )
