"""Small problems with constraints by hand: the Lagrangian, its derivatives, the cases of the KKT conditions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from . import footnotes
from .algebraic import as_symbol, from_sympy
from .clock import within
from .exact import NotByHandError, sympy
from .expression import Constraint, all_constraints, constraint, objective
from .formula import (
    Call,
    Chain,
    Decimal,
    Derivative,
    Formula,
    Listing,
    Product,
    Symbol,
    Words,
    chain,
    condition,
    equals,
    signed,
)
from .kkt import Candidate, Case, Outcome, Program
from .lagrangian_answer import answer, require_formulas
from .lagrangian_proofs import Proofs
from .letters import indices
from .problem import Problem
from .roots import is_implicit
from .steps import Prose, Section, Solution, Step, Table, say
from .world import World

MOST_VARIABLES, MOST_INEQUALITIES, MOST_EQUALITIES, HIGHEST_DEGREE = 4, 5, 4, 6
SECONDS = 20.0
_Lambda, _f = Symbol("Lambda"), Symbol("f")


@dataclass(frozen=True)
class LagrangianProblem(Proofs, Problem):
    """What is maximised or minimised, and under which constraints."""

    sense: str
    f: Any
    constraints: tuple[Constraint, ...]

    @cached_property
    def program(self) -> Program:
        """The same as a program, with its cases."""
        return Program(self.sense, self.f, self.constraints)

    def solve(self) -> Solution:
        """See `lagrangian`."""
        return within(SECONDS, "The algebra of this problem", lambda: worked(self))

    def prove(self, step: Step) -> bool:
        """See Problem; under the same limit of time."""
        return within(SECONDS, "The check of this problem", lambda: super(LagrangianProblem, self).prove(step))

    def world(self, scope: str) -> World:
        """Letters are unknowns, but for the Lagrangian."""
        whole = sympy().expand(self.program.lagrangian)
        return World({_Lambda: lambda *_: whole}, functions={"Λ": lambda *_: whole})


def lagrangian(objective_: Any, constraints: Any = (), sense: str | None = None, dual: bool = False) -> Solution:
    """A small problem such as lagrangian("max x*y", ["x + y = 4"]), by Lagrange's multipliers and the KKT conditions.

    Objective and constraints are texts, or SymPy's expressions (then give sense="max" or "min"). Constraints may be
    equations or inequalities. With dual=True, the dual function and whether duality holds (see `duality`).
    """
    if dual:
        from .duality import duality

        return duality(objective_, constraints, sense)
    return read_problem(objective_, constraints, sense).solve()


def read_problem(objective_: Any, constraints: Any, sense: str | None = None) -> LagrangianProblem:
    """The problem, from texts or SymPy's expressions, where it is small enough."""
    sympy()
    direction, f = objective(objective_, sense)
    problem = LagrangianProblem(direction, f, tuple(map(constraint, all_constraints(constraints))))
    require_small(problem.program)
    return problem


def require_small(program: Program) -> None:
    """Raise where a problem is too large to work out by hand, before anything is computed."""
    n = len(program.variables)
    if not n:
        raise ValueError("There is no variable in this problem.")
    degrees = [_degree(body, program.variables) for body in program.bodies()]
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


def _degree(body: Any, variables: tuple[Any, ...]) -> int:
    return int(sympy().Poly(body, *variables).total_degree()) if body.is_polynomial(*variables) else 0


def worked(problem: LagrangianProblem) -> Solution:
    """The solution, from the data alone."""
    program = problem.program
    require_small(program)
    cases = program.cases
    candidates = [candidate for case in cases for candidate in case.candidates]
    require_formulas(candidates)
    verdict, values = answer(program, candidates)
    words = "Maximise" if program.sense == "max" else "Minimise"
    sections = (_problem(program), moved_in(program), _stationarity(program), _cases(program, cases), verdict)
    return Solution(f"{words} {_plain(program.f)}", sections, values, None, problem)


def _plain(body: Any) -> str:
    from .render.boxes import in_line

    return in_line(from_sympy(body))


def _written(c: Constraint) -> Chain:
    return condition(from_sympy(c.left), c.sign, from_sympy(c.right))


def stated(program: Program) -> Formula:
    """The problem as it was given."""
    words = Words("maximise  " if program.sense == "max" else "minimise  ")
    given: list[Formula] = [words, from_sympy(program.f)]
    if program.constraints:
        listed = Listing(tuple(_written(c) for c in program.constraints), ",  ")
        given += [Words("  subject to  "), listed]
    return Listing(tuple(given), "")


def _problem(program: Program) -> Section:
    first = Step(say("The problem is to"), (stated(program),))
    if not program.constraints:
        return Section("The problem", (first,))
    relations = tuple(_standard(c) for c in program.constraints)
    return Section("The problem", (first, Step(say("With everything on one side:"), relations, scope="letters")))


def _standard(c: Constraint) -> Chain:
    """Everything on one side, and put together where there is something to put together."""
    first, second = (c.right, c.left) if c.sign == ">=" else (c.left, c.right)
    body, sign = from_sympy(c.body), "=!" if c.equality else "<=!"
    if first - second == c.body:
        return chain(body, sign, 0)
    return chain(from_sympy(first) - from_sympy(second), "=", body, sign, 0)


def moved_in(program: Program) -> Section:
    """The Lagrangian: each constraint moved into the function."""
    body = from_sympy(program.f)
    for multiplier, h in zip(program.lambdas, program.equalities, strict=True):
        body = body + Product((as_symbol(multiplier), from_sympy(h)))
    for multiplier, g in zip(program.mus, program.inequalities, strict=True):
        negative, inside = signed(from_sympy(g))
        term = Product((as_symbol(multiplier), inside))
        body = body + term if (program.sign > 0) != negative else body - term
    letters = tuple(as_symbol(v) for v in (*program.variables, *program.lambdas, *program.mus))
    reason, statement = Prose(), say("Each constraint is moved into the function, with a multiplier:")
    if not program.constraints:
        statement = say("There is no constraint to move into the function:")
    if program.mus:
        sign = "plus" if program.sign > 0 else "minus"
        reason = say(f"the inequalities enter with a {sign}, so that their multipliers are at least 0 at the optimum")
    notes = (footnotes.GENERAL_DUAL, footnotes.FEASIBLE) if program.constraints else ()
    step = Step(statement, (equals(Call("Λ", letters), body),), reason, notes, "letters")
    return Section("The Lagrangian", (step,))


def _stationarity(program: Program) -> Section:
    sp = sympy()
    gradient = [(as_symbol(v), from_sympy(sp.expand(sp.diff(program.lagrangian, v)))) for v in program.variables]
    steps = [
        Step(
            say("At an optimum the derivatives with respect to the variables are zero:"),
            tuple(chain(Derivative(_Lambda, v), "=", slope, "=!", 0) for v, slope in gradient),
            scope="letters",
        )
    ]
    if program.equalities:
        words = say("The derivatives with respect to the multipliers give the equalities back:")
        pairs = zip(program.lambdas, program.equalities, strict=True)
        shown = [chain(Derivative(_Lambda, as_symbol(m)), "=", from_sympy(h), "=!", 0) for m, h in pairs]
        steps.append(Step(words, tuple(shown), scope="letters"))
    if program.inequalities:
        pairs = zip(program.mus, program.inequalities, strict=True)
        products = [condition(Product((as_symbol(m), signed(from_sympy(g))[1])), "=", 0) for m, g in pairs]
        signs = Listing(tuple(condition(as_symbol(m), ">=", 0) for m in program.mus), ",  ")
        words = say("An inequality that is not active has the multiplier 0, and no multiplier is negative:")
        steps.append(Step(words, (*products, signs)))
    return Section("The conditions", tuple(steps))


def _cases(program: Program, cases: tuple[Case, ...]) -> Section:
    rows: list[tuple[Prose, ...]] = []
    for case in cases:
        rows += [_row(program, case, candidate) for candidate in case.candidates]
        if not case.candidates:
            blank = (say("no real solution"), say(""), say("rejected: its equations have no real solution"))
            rows.append((say("{}", indices(case.active)), *blank) if program.mus else blank)
    header = [say("active")] if program.mus else []
    table = Table((*header, say("solution"), say("{}", _f), say("verdict")), tuple(rows))
    statement = say("The equations are solved:")
    if program.mus:
        statement = say(
            "Each inequality is active or not: {} cases. In each the equations are solved; the other conditions then "
            "accept or reject the solution:",
            len(cases),
        )
    step = Step(statement, (table,), proof="cases")
    return Section("The cases" if program.mus else "The solution", (step,))


def _row(program: Program, case: Case, candidate: Candidate) -> tuple[Prose, ...]:
    pairs = [*zip(program.variables, candidate.point, strict=True)]
    pairs += zip(program.lambdas, candidate.equality_multipliers, strict=True)
    pairs += [(program.mus[i], candidate.multipliers[i]) for i in case.active]
    solution = Listing(tuple(_valued(as_symbol(name), value) for name, value in pairs), ", ")
    first = (say("{}", indices(case.active)),) if program.mus else ()
    verdict = say("accepted: every condition holds")
    if candidate.outcome is Outcome.OPEN:
        verdict = say("a whole family, whose free variables decide whether the inequalities hold")
    elif candidate.outcome is Outcome.EMPTY:
        verdict = say("rejected: no values of the free variables satisfy all inequalities")
    elif candidate.outcome is not Outcome.ACCEPTED:
        verdict = say("rejected: {}", _violation(program, candidate))
    return (*first, say("{}", solution), say("{}", number(program.value(candidate.point))), verdict)


def number(value: Any) -> Formula:
    """An exact number, or a rounded one where it is a root without a formula."""
    return Decimal(f"{float(value):.6g}") if is_implicit(value) else from_sympy(value)


def _valued(name: Symbol, value: Any) -> Formula:
    if value.is_Symbol and as_symbol(value) == name:
        return Listing((name, Words(" arbitrary")), "")
    return condition(name, "~" if is_implicit(value) else "=", number(value))


def _violation(program: Program, candidate: Candidate) -> Chain:
    if candidate.outcome is Outcome.SIGN:
        found = candidate.multipliers[candidate.place]
        sign = "~" if is_implicit(found) else "="
        return condition(as_symbol(program.mus[candidate.place]), sign, number(found), "<", 0)
    g = program.inequalities[candidate.place]
    at = dict(zip(program.variables, candidate.point, strict=True))
    found = g.xreplace(at)
    if is_implicit(found):
        return condition(from_sympy(g), "~", number(found), ">", 0)
    return condition(from_sympy(g), "=", from_sympy(sympy().simplify(found)), ">", 0)
