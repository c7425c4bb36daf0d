"""Small problems with constraints by hand: the Lagrangian, its derivatives, the cases of the KKT conditions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from . import footnotes
from .algebraic import as_symbol, from_sympy
from .clock import within
from .exact import NotByHandError, sympy
from .expression import Constraint, constraint, objective
from .formula import (
    Call,
    Chain,
    Derivative,
    Formula,
    Listing,
    Number,
    Product,
    Symbol,
    Words,
    chain,
    combination,
    condition,
    equals,
    point,
    signed,
)
from .kkt import Candidate, Case, Outcome, Program
from .letters import about, indices
from .optimality import (
    Bounded,
    NoSolution,
    boundedness,
    convexity,
    irregular_points,
    is_affine,
    second_order,
    symbols_of,
    unbounded_ray,
)
from .steps import All, Assertion, Prose, Section, Solution, Step, Table, claims, say

MOST_VARIABLES, MOST_INEQUALITIES, MOST_EQUALITIES, HIGHEST_DEGREE = 4, 5, 4, 6
SECONDS = 20.0
_Lambda, _f = Symbol("Lambda"), Symbol("f")


def lagrangian(objective_: Any, constraints: Any = (), sense: str | None = None) -> Solution:
    """A small problem such as lagrangian("max x*y", ["x + y = 4"]), by Lagrange's multipliers and the KKT conditions.

    Objective and constraints are texts, or SymPy's expressions (then give sense="max" or "min"). Constraints may be
    equations or inequalities.
    """
    program = _read(objective_, constraints, sense)
    return within(SECONDS, "The algebra of this problem", lambda: _solved(program))


def _read(objective_: Any, constraints: Any, sense: str | None) -> Program:
    sp = sympy()
    if constraints is None or isinstance(constraints, str | sp.Basic):
        constraints = [] if constraints is None else [constraints]
    direction, f = objective(objective_, sense)
    program = Program(direction, f, tuple(constraint(source) for source in constraints))
    n = len(program.variables)
    if not n:
        raise ValueError("There is no variable in this problem.")
    degrees = [_degree(body, program.variables) for body in (f, *(c.body for c in program.constraints))]
    sizes = {
        "variables": (n, MOST_VARIABLES),
        "inequalities": (len(program.inequalities), MOST_INEQUALITIES),
        "equalities": (len(program.equalities), MOST_EQUALITIES),
        "as degree": (max(degrees), HIGHEST_DEGREE),
    }
    for what, (size, most) in sizes.items():
        if size > most:
            raise NotByHandError(
                f"{size} {what} is too much to work out by hand (at most {most}): use a numerical solver such as "
                "scipy.optimize.minimize."
            )
    return program


def _degree(body: Any, variables: tuple[Any, ...]) -> int:
    return int(sympy().Poly(body, *variables).total_degree()) if body.is_polynomial(*variables) else 0


def _solved(program: Program) -> Solution:
    cases = program.cases()
    verdict, values = _verdict(program, [candidate for case in cases for candidate in case.candidates])
    words = "Maximise" if program.sense == "max" else "Minimise"
    sections = (_problem(program), _lagrangian(program), _stationarity(program), _cases(program, cases), verdict)
    return Solution(f"{words} {_plain(program.f)}", sections, values)


def _plain(body: Any) -> str:
    from .render.text import in_line

    return in_line(from_sympy(body))


def _written(c: Constraint) -> Chain:
    left, sign, right = c.given
    return condition(from_sympy(left), sign, from_sympy(right))


def _standard(c: Constraint) -> Chain:
    return condition(from_sympy(c.body), "=" if c.equality else "<=", 0)


def _problem(program: Program) -> Section:
    words = Words("maximise  " if program.sense == "max" else "minimise  ")
    given: list[Formula] = [words, from_sympy(program.f)]
    if program.constraints:
        listed = Listing(tuple(_written(c) for c in program.constraints), ",  ")
        given += [Words("  subject to  "), listed]
    first = Step(say("The problem is to"), (Listing(tuple(given), ""),))
    if not program.constraints:
        return Section("The problem", (first,))
    relations = [equals(_difference(c), from_sympy(c.body)) for c in program.constraints]
    standard = Step(
        say("With everything on one side:"),
        tuple(_standard(c) for c in program.constraints),
        assertion=claims(*relations),
    )
    return Section("The problem", (first, standard))


def _difference(c: Constraint) -> Formula:
    left, sign, right = c.given
    first, second = (right, left) if sign == ">=" else (left, right)
    return from_sympy(first) - from_sympy(second)


def _lagrangian(program: Program) -> Section:
    body = from_sympy(program.f)
    for multiplier, h in zip(program.lambdas, program.equalities, strict=True):
        body = body + Product((as_symbol(multiplier), from_sympy(h)))
    for multiplier, g in zip(program.mus, program.inequalities, strict=True):
        negative, inside = signed(from_sympy(g))
        term = Product((as_symbol(multiplier), inside))
        body = body + term if (program.sign > 0) != negative else body - term
    letters = tuple(as_symbol(v) for v in (*program.variables, *program.lambdas, *program.mus))
    relation = equals(Call("Λ", letters), body)
    reason, statement = Prose(), say("Each constraint is moved into the function, with a multiplier:")
    if not program.constraints:
        statement = say("There is no constraint to move into the function:")
    if program.mus:
        sign = "plus" if program.sign > 0 else "minus"
        reason = say(f"the inequalities enter with a {sign}, so that their multipliers are at least 0 at the optimum")
    proof = claims(equals(body - from_sympy(sympy().expand(program.lagrangian)), 0))
    step = Step(statement, (relation,), reason, proof, (footnotes.GENERAL_DUAL,) if program.constraints else ())
    return Section("The Lagrangian", (step,))


def _gradient(program: Program) -> list[tuple[Symbol, Formula]]:
    sp = sympy()
    return [(as_symbol(v), from_sympy(sp.expand(sp.diff(program.lagrangian, v)))) for v in program.variables]


def _stationarity(program: Program) -> Section:
    gradient = _gradient(program)
    whole = from_sympy(sympy().expand(program.lagrangian))
    steps = [
        Step(
            say("At an optimum the derivatives by the variables are zero:"),
            tuple(condition(Derivative(_Lambda, v), "=", slope, "=", 0) for v, slope in gradient),
            assertion=claims(*(equals(Derivative(_Lambda, v), slope) for v, slope in gradient), given={_Lambda: whole}),
        )
    ]
    if program.equalities:
        words = say("The derivatives by the multipliers give the equalities back:")
        steps.append(Step(words, tuple(condition(from_sympy(h), "=", 0) for h in program.equalities)))
    if program.inequalities:
        pairs = zip(program.mus, program.inequalities, strict=True)
        products = [condition(Product((as_symbol(m), signed(from_sympy(g))[1])), "=", 0) for m, g in pairs]
        signs = Listing(tuple(chain(as_symbol(m), ">=", 0) for m in program.mus), ",  ")
        words = say("An inequality that is not active has the multiplier 0, and no multiplier is negative:")
        steps.append(Step(words, (*products, signs)))
    return Section("The conditions", tuple(steps))


def _cases(program: Program, cases: list[Case]) -> Section:
    rows: list[tuple[Prose, ...]] = []
    assertions: list[Assertion] = []
    for case in cases:
        for candidate in case.candidates:
            rows.append(_row(program, case, candidate))
            assertions.append(_solves(program, case, candidate))
        if not case.candidates:
            blank = (say("no real solution"), say(""), say("rejected: its equations have no real solution"))
            rows.append((say("{}", indices(case.active)), *blank) if program.mus else blank)
            assertions.append(_unsolvable(program, case))
    header = [say("active")] if program.mus else []
    table = Table((*header, say("solution"), say("{}", _f), say("verdict")), tuple(rows))
    count = len(cases)
    text = (
        f"Each inequality is active or not: {count} cases. In each the equations are solved; the other conditions then "
        "accept or reject the solution:"
        if program.mus
        else "The equations are solved:"
    )
    step = Step(say(text), (table,), Prose(), All(tuple(assertions)) if assertions else None)
    return Section("The cases" if program.mus else "The solution", (step,))


def _values(program: Program, case: Case, candidate: Candidate) -> list[tuple[Symbol, Formula]]:
    pairs = [*zip(program.variables, candidate.point, strict=True)]
    pairs += zip(program.lambdas, candidate.equality_multipliers, strict=True)
    pairs += [(program.mus[i], candidate.multipliers[i]) for i in case.active]
    return [(as_symbol(name), from_sympy(value)) for name, value in pairs]


def _row(program: Program, case: Case, candidate: Candidate) -> tuple[Prose, ...]:
    values = _values(program, case, candidate)
    solution = Listing(tuple(_any(name) if name == value else equals(name, value) for name, value in values), ", ")
    first = (say("{}", indices(case.active)),) if program.mus else ()
    verdict = say("accepted: every condition holds")
    if candidate.outcome is Outcome.OPEN:
        verdict = say("a whole family, whose free variables decide whether the inequalities hold")
    elif candidate.outcome is not Outcome.ACCEPTED:
        verdict = say("rejected: {}", _violation(program, candidate))
    return (*first, say("{}", solution), say("{}", from_sympy(program.value(candidate.point))), verdict)


def _any(name: Symbol) -> Formula:
    return Listing((name, Words(" arbitrary")), "")


def _violation(program: Program, candidate: Candidate) -> Chain:
    if candidate.outcome is Outcome.SIGN:
        multiplier = from_sympy(candidate.multipliers[candidate.place])
        return chain(as_symbol(program.mus[candidate.place]), "=", multiplier, "<", 0)
    g = program.inequalities[candidate.place]
    at = dict(zip(program.variables, candidate.point, strict=True))
    return chain(from_sympy(g), "=", from_sympy(sympy().simplify(g.xreplace(at))), ">", 0)


def _equations(program: Program, case: Case) -> list[Formula]:
    """What must be 0 in a case."""
    active = [program.inequalities[i] for i in case.active]
    return [*(slope for _, slope in _gradient(program)), *map(from_sympy, (*program.equalities, *active))]


def _unsolvable(program: Program, case: Case) -> Assertion:
    sp = sympy()
    off = {m: sp.Integer(0) for i, m in enumerate(program.mus) if i not in case.active}
    slopes = [sp.expand(sp.diff(program.lagrangian, v)).xreplace(off) for v in program.variables]
    bodies = [*slopes, *program.equalities, *(program.inequalities[i] for i in case.active)]
    unknowns = [*program.variables, *program.lambdas, *(program.mus[i] for i in case.active)]
    return NoSolution(tuple(map(from_sympy, bodies)), tuple(map(as_symbol, unknowns)))


def _solves(program: Program, case: Case, candidate: Candidate) -> Assertion:
    """The candidate solves the equations of its case, and violates what it is said to violate."""
    given = {name: value for name, value in _values(program, case, candidate) if name != value}
    given |= {as_symbol(m): Number(Fraction(0)) for i, m in enumerate(program.mus) if i not in case.active}
    zero = _equations(program, case)
    relations = [equals(body, 0) for body in zero if not isinstance(body, Number)]
    if candidate.outcome is Outcome.ACCEPTED:
        at = dict(zip(program.variables, candidate.point, strict=True))
        slack = [g for g in program.inequalities if not sympy().simplify(g.xreplace(at)).free_symbols]
        relations += [chain(from_sympy(g), "<=", 0) for g in slack]
        relations += [chain(from_sympy(m), ">=", 0) for m in candidate.multipliers if not m.free_symbols]
    elif candidate.outcome is not Outcome.OPEN:
        relations.append(_violation(program, candidate))
    return claims(*relations, given=given)


def _verdict(program: Program, candidates: list[Candidate]) -> tuple[Section, dict[str, Any]]:
    """What is proved of the answer."""
    kind = "maximum" if program.sense == "max" else "minimum"
    accepted = [candidate for candidate in candidates if candidate.outcome is Outcome.ACCEPTED]
    points = _unique([candidate.point for candidate in accepted])
    proofs = convexity(program)
    if proofs is not None and points:
        return _convex(program, proofs, points, kind)
    bounded = boundedness(program)
    if bounded is not None:
        extra = irregular_points(program)
        open_ = [program.value(candidate.point) for candidate in candidates if candidate.outcome is Outcome.OPEN]
        if extra is not None and _no_better(program, open_, [*points, *extra]):
            return _compact(program, bounded, points, _unique(extra), kind)
    ray = unbounded_ray(program, points)
    if ray is not None:
        s = Symbol("s")
        line = [combination([a, d], [Number(Fraction(1)), s]) for a, d in zip(ray.start, ray.direction, strict=True)]
        where = equals(point(symbols_of(program)), point(line))
        words = f"There is no {kind}: along {{}} the constraints hold for all large s, and f has no bound."
        steps = (Step(say(words, where), assertion=ray), *_local(program, accepted))
        return Section("The answer", steps), {"status": "unbounded", "solutions": tuple(points)}
    if not points:
        return _none(program), {"status": "none", "solutions": ()}
    note = say(
        f"The problem is not convex, and its feasible set is not seen to be bounded: so a global {kind} is not proved. "
        "What each point is, the second derivatives of the Lagrangian along the active constraints say."
    )
    answer = {"status": "local", "solutions": tuple(points), "values": tuple(program.value(p) for p in points)}
    return Section("The answer", (Step(note), *_local(program, accepted))), answer


def _no_better(program: Program, values: list[Any], points: list[tuple[Any, ...]]) -> bool:
    """Whether a family whose conditions are open cannot matter: its value is known, and no better than a point's."""
    if any(value.free_symbols for value in values) or (values and not points):
        return False
    best = _best_of(program, [program.value(p) for p in points]) if values else None
    return all(_best_of(program, [value, best]) == best for value in values)


def _best_of(program: Program, values: list[Any]) -> Any:
    return (max if program.sense == "max" else min)(reversed(values), key=lambda v: v.evalf(40))


def _none(program: Program) -> Section:
    """No point satisfies the conditions: what could still be an optimum."""
    steps = [Step(say("No point satisfies all conditions."))]
    unseen = (
        irregular_points(program) if not all(is_affine(c.body, program.variables) for c in program.constraints) else []
    )
    if unseen:
        listed = Listing(tuple(_at(program, p) for p in unseen), ",  ")
        words = "But they do not see points where the gradients of active constraints are dependent: {}. Look at these."
        steps.append(Step(say(words, listed)))
    if not program.f.is_polynomial(*program.variables):
        steps.append(Step(say("Nor do they see points where f has no derivative.")))
    return Section("The answer", tuple(steps))


def _unique(points: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return list(dict.fromkeys(points))


def _at(program: Program, p: tuple[Any, ...]) -> Formula:
    return equals(point(symbols_of(program)), point([from_sympy(entry) for entry in p]))


def _best(
    program: Program, points: list[tuple[Any, ...]], kind: str, why: Prose, proofs: tuple[Assertion, ...]
) -> Section:
    best = program.value(points[0])
    exact = from_sympy(best)
    rounded = about(exact) if not best.free_symbols else None
    shown = equals(_f, exact) if rounded is None else chain(_f, "=", exact, "~", rounded)
    checks: list[Assertion] = [*proofs] if rounded is None else [*proofs, claims(shown)]
    for p in points:
        pairs = zip(symbols_of(program), map(from_sympy, p), strict=True)
        given = {name: entry for name, entry in pairs if name != entry}
        checks.append(claims(equals(from_sympy(program.f), exact), given=given))
    where = Listing(tuple(_at(program, p) for p in points), "  and  ")
    return Section("The answer", (Step(say(f"The {kind} is"), (shown, where), why, All(tuple(checks))),))


def _convex(program: Program, proofs: Any, points: list[tuple[Any, ...]], kind: str) -> tuple[Section, dict[str, Any]]:
    shape = "concave" if program.sense == "max" else "convex"
    where = " where the equalities hold" if program.equalities else ""
    words = say(
        f"f is {shape}{where}, and the feasible set is convex: the conditions suffice, and the {kind} is global"
    )
    if not proofs:
        words = say("the equalities leave no other point")
    section = _best(program, points, kind, words, proofs)
    return section, {"status": "global", "solutions": tuple(points), "value": program.value(points[0])}


def _compact(
    program: Program, bounded: Bounded, points: list[tuple[Any, ...]], extra: list[tuple[Any, ...]], kind: str
) -> tuple[Section, dict[str, Any]]:
    everything = _unique([*points, *extra])
    if not everything:
        words = say(
            "The feasible set is bounded and closed. If it had a point, f would have an optimum on it, and that would "
            "satisfy the conditions. So no point satisfies all constraints."
        )
        return Section("The answer", (Step(words, assertion=bounded),)), {"status": "infeasible", "solutions": ()}
    values = [program.value(p) for p in everything]
    best = _best_of(program, values)
    chosen = [p for p, v in zip(everything, values, strict=True) if sympy().simplify(v - best) == 0]
    words = say(f"the feasible set is bounded and closed, so a {kind} exists, and of all candidates this is the best")
    order = [chain(from_sympy(v), "<=" if program.sense == "max" else ">=", from_sympy(best)) for v in values]
    section = _best(program, chosen, kind, words, (bounded, claims(*order)))
    if extra:
        listed = Listing(tuple(_at(program, p) for p in extra), ",  ")
        note = Step(say("Also looked at: {}, where the gradients of the active constraints are dependent.", listed))
        section = Section(section.title, (note, *section.parts))
    return section, {"status": "global", "solutions": tuple(chosen), "value": best}


def _local(program: Program, accepted: list[Candidate]) -> list[Step]:
    """What the accepted points are, by the second derivatives."""
    kinds = {"positive": "a strict local minimum", "negative": "a strict local maximum", "indefinite": "a saddle"}
    steps = []
    for candidate in accepted:
        where = _at(program, candidate.point)
        f = equals(_f, from_sympy(program.value(candidate.point)))
        curvature = second_order(program, candidate)
        if curvature is None:
            words = say("The point {}, with {}: the second derivatives do not decide what it is.", where, f)
            steps.append(Step(words))
            continue
        words = say(f"The point {{}}, with {{}}, is {kinds[curvature.shape]}:", where, f)
        along = Words("second derivatives of Λ along the active constraints:  ")
        shown = Listing((along, curvature.matrix), "")
        definite = curvature.shape if curvature.shape == "indefinite" else f"{curvature.shape} definite"
        steps.append(Step(words, (shown,), say(f"this matrix is {definite}"), curvature))
    return steps
