"""Small problems with constraints by hand: the Lagrangian, its derivatives, the cases of the KKT conditions."""

from __future__ import annotations

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
    condition,
    equals,
    signed,
)
from .kkt import Candidate, Case, Outcome, Program
from .lagrangian_answer import answer
from .letters import indices
from .optimality import NoSolution
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
    verdict, values = answer(program, [candidate for case in cases for candidate in case.candidates])
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
