"""Duality of a small problem by hand: the dual function, Slater's condition, and whether maximum and minimum agree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product as all_of
from typing import Any

from .algebraic import as_symbol, from_sympy
from .clock import within
from .dual_function import Best, DualFunction, dual_function, primal_value
from .exact import sympy
from .expression import Constraint, all_constraints, constraint, objective
from .formula import Call, Chain, Formula, Listing, Symbol, Words, chain, condition, equals, point
from .kkt import Program, is_affine
from .lagrangian import moved_in, require_small, stated
from .lagrangian_answer import symbols_of
from .optimality import nowhere_negative
from .problem import Problem
from .steps import Prose, Section, Solution, Step, Table, say
from .world import World

SECONDS = 20.0
_f, _h, _infinity, _s = Symbol("f"), Symbol("h"), Symbol("infinity"), Symbol("s")


@dataclass(frozen=True)
class DualityProblem(Problem):
    """What is minimised or maximised, under which constraints, and which variables are positive by their nature."""

    sense: str
    f: Any
    constraints: tuple[Constraint, ...]
    positive: tuple[str, ...] = ()

    @cached_property
    def program(self) -> Program:
        """The same as a program."""
        return Program(self.sense, self.f, self.constraints)

    @cached_property
    def dual(self) -> DualFunction:
        """The dual function."""
        return dual_function(self.program, self.positive)

    @cached_property
    def least(self) -> Any:
        """The value of the primal, of f itself; None where nothing is feasible."""
        return primal_value(self.program, self.positive)

    @cached_property
    def strict(self) -> tuple[Any, ...] | None:
        """A point that satisfies all inequalities strictly, and the equalities; None where none was found."""
        return _inside(self.program, self.positive, strictly=True)

    def solve(self) -> Solution:
        """See `duality`."""
        return within(SECONDS, "The algebra of this problem", lambda: worked(self))

    def prove(self, step: Step) -> bool:
        """See Problem; under the same limit of time."""
        return within(SECONDS, "The check of this problem", lambda: super(DualityProblem, self).prove(step))

    def world(self, scope: str) -> World:
        """Letters are unknowns, but for the Lagrangian and the dual function."""
        sp = sympy()
        whole = sp.expand(self.program.lagrangian)
        found: dict[Any, Any] = {Symbol("Lambda"): lambda *_: whole}
        if self.dual.value is not None:
            found[_h] = lambda *_: self.dual.value
        return World(found, functions={"Λ": lambda *_: whole})

    def prove_dual(self, step: Step) -> bool:
        """At several multipliers the Lagrangian is nowhere below h on a grid; with a minimiser, it is h there."""
        return self.dual.holds(self.program)

    def prove_extremes(self, step: Step) -> bool:
        """Where all hold the value is f; the words of the table."""
        table = step.mathematics[0]
        assert isinstance(table, Table)
        for row, place in zip(table.rows, _examples(self), strict=True):
            good = _feasible(self.program, self.positive, place)
            if row[2].parts != ("yes" if good else "no",):
                return False
        return True

    def prove_strict(self, step: Step) -> bool:
        """The point satisfies every inequality strictly and every equality."""
        assert self.strict is not None
        at = dict(zip(self.program.variables, self.strict, strict=True))
        inside = all(g.xreplace(at) < 0 for g in self.program.inequalities)
        return inside and all(sympy().simplify(h.xreplace(at)) == 0 for h in self.program.equalities)

    def prove_value(self, step: Step) -> bool:
        """No point of a fine grid that is feasible has a better value."""
        sign, least = self.program.sign, self.least
        steps = [sympy().Rational(k, 4) for k in range(-12, 13)]
        if len(self.program.variables) > 2:
            steps = steps[::4]
        for place in all_of(steps, repeat=len(self.program.variables)):
            if _feasible(self.program, self.positive, place):
                found = (sign * self.program.value(place)).evalf(20)
                if found.is_real and found < (sign * least).evalf(20) - sympy().Float("1e-12"):
                    return False
        return True


def duality(objective_: Any, constraints: Any = (), sense: str | None = None) -> Solution:
    """Lagrangian duality of a small problem: duality("min x^2", ["x >= 1"]).

    A constraint such as "y > 0" says that y is positive by its nature: it gets no multiplier. Where the dual gives less
    than the primal, or nothing, that is said.
    """
    sympy()
    given = all_constraints(constraints)
    positive = [text for text in given if isinstance(text, str) and _positive(text)]
    direction, f = objective(objective_, sense)
    own = tuple(constraint(source) for source in given if not (isinstance(source, str) and source in positive))
    names = tuple(sorted(constraint(text.replace(">", ">=")).left.name for text in positive))
    problem = DualityProblem(direction, f, own, names)
    require_small(problem.program)
    return problem.solve()


def _positive(text: str) -> bool:
    left, sign, right = text.partition(">")
    return bool(sign) and right.strip() == "0" and left.strip().isidentifier()


def _feasible(program: Program, positive: tuple[str, ...], place: tuple[Any, ...], strictly: bool = False) -> bool:
    at = dict(zip(program.variables, place, strict=True))
    if any(v.name in positive and not value > 0 for v, value in at.items()):
        return False
    for g in program.inequalities:
        found = g.xreplace(at)
        if not found.is_real or found > 0 or (strictly and found == 0):
            return False
    return all(h.xreplace(at) == 0 for h in program.equalities)


def _inside(program: Program, positive: tuple[str, ...], strictly: bool) -> tuple[Any, ...] | None:
    sp = sympy()
    steps = sorted((sp.Rational(k, 2) for k in range(-8, 9)), key=lambda v: (abs(v), -v))
    if len(program.variables) > 2:
        steps = [v for v in steps if v.is_Integer and abs(v) <= 2]
    places = all_of(steps, repeat=len(program.variables))
    return next((place for place in places if _feasible(program, positive, place, strictly)), None)


def worked(e: DualityProblem) -> Solution:
    """The solution, from the data alone."""
    program = e.program
    require_small(program)
    largest = e.dual.largest(program, e.least)
    sections = (_problem(e), moved_in(program), _extremes(e), _dual(e), _slater(e), _values(e, largest), _easier(e))
    answer: dict[str, Any] = {"primal": e.least, "dual": largest.value, "strict": e.strict}
    finite = e.least is not None and bool(largest.value.is_finite)
    answer["gap"] = program.sign * (e.least - largest.value) if finite else None
    if e.dual.value is not None:
        answer["h"] = str(e.dual.value)
    words = "maximise" if e.sense == "max" else "minimise"
    return Solution(f"Duality: {words} {_plain(program.f)}", sections, _told(answer), None, e)


def _told(answer: dict[str, Any]) -> dict[str, Any]:
    """Infinite values as words, which files can hold."""
    sp = sympy()
    words = {sp.oo: "infinity", -sp.oo: "-infinity"}
    return {name: words.get(value, value) if not isinstance(value, tuple) else value for name, value in answer.items()}


def _plain(body: Any) -> str:
    from .render.boxes import in_line

    return in_line(from_sympy(body))


def _number(value: Any) -> Formula:
    sp = sympy()
    if value in (sp.oo, -sp.oo):
        return _infinity if value == sp.oo else -_infinity
    return from_sympy(value)


def _problem(e: DualityProblem) -> Section:
    steps = [Step(say("The problem is to"), (stated(e.program),))]
    if e.positive:
        listed = Listing(tuple(condition(Symbol(name), ">", 0) for name in e.positive), ", ")
        steps.append(Step(say("where {} by its nature, without a multiplier.", listed)))
    return Section("The problem", tuple(steps))


def _at(e: DualityProblem, place: tuple[Any, ...]) -> Chain:
    return condition(point(symbols_of(e.program)), "=", point([from_sympy(entry) for entry in place]))


def _extremes(e: DualityProblem) -> Section:
    """max (or min) over the multipliers: f where feasible, infinite elsewhere."""
    program = e.program
    word = "largest" if program.sign > 0 else "least"
    title = "The Lagrangian over the multipliers"
    rule = say(
        f"Where all constraints hold, the {word} value of the Lagrangian over the multipliers is f itself, with "
        "multiplier 0 wherever a constraint is not active. Where one fails, its multiplier drives it to {}.",
        _infinity if program.sign > 0 else -_infinity,
    )  # fmt: skip
    steps = [Step(rule)]
    rows = []
    for place in _examples(e):
        at = dict(zip(program.variables, place, strict=True))
        bodies = [*program.inequalities, *program.equalities]
        values = Listing(tuple(_number(body.xreplace(at)) for body in bodies), ", ")
        good = _feasible(program, e.positive, place)
        result = (
            say("{}", _number(program.value(place)))
            if good
            else say("{}", _infinity if program.sign > 0 else -_infinity)
        )
        rows.append(
            (say("{}", point([from_sympy(v) for v in place])), say("{}", values), say("yes" if good else "no"), result)
        )
    if rows:
        header = (say("point"), say("left sides"), say("all hold"), say(f"{word} value"))
        steps.append(Step(say("For example:"), (Table(header, tuple(rows)),), proof="extremes"))
    return Section(title, tuple(steps))


def _examples(e: DualityProblem) -> list[tuple[Any, ...]]:
    sp = sympy()
    steps = [sp.Integer(k) for k in (1, 0, 2, -1, 3, -2)]
    signs = [v.name in e.positive for v in e.program.variables]
    places = [p for p in all_of(steps, repeat=len(signs)) if all(c > 0 for c, own in zip(p, signs, strict=True) if own)]
    inside = next((p for p in places if _feasible(e.program, e.positive, p)), None)
    outside = next((p for p in places if not _feasible(e.program, e.positive, p)), None)
    return [p for p in (inside, outside) if p is not None]


def _multipliers(program: Program) -> tuple[Formula, ...]:
    return tuple(as_symbol(v) for v in (*program.lambdas, *program.mus))


def _dual(e: DualityProblem) -> Section:
    """h, where it is finite, and why elsewhere it is not."""
    d, program = e.dual, e.program
    word = "least" if program.sign > 0 else "largest"
    below = -_infinity if program.sign > 0 else _infinity
    title = "The dual function"
    if d.value is None:
        words = say(
            f"The dual function is the {word} value of the Lagrangian over the variables. Here it is {{}} for all "
            f"multipliers: {d.reason}.",
            below,
        )
        return Section(title, (Step(words, proof="dual"),))
    shown: list[Formula] = []
    if d.minimiser:
        names = symbols_of(program)
        shown.append(condition(point(names), "=", point([from_sympy(v) for v in d.minimiser])))
    shown.append(equals(Call(_h, _multipliers(program)), from_sympy(d.value)))
    words = say(f"The dual function is the {word} value of the Lagrangian over the variables: {d.reason}.")
    where: Prose = Prose()
    if d.conditions:
        listed = Listing(tuple(condition(from_sympy(c), "=", 0) for c in d.conditions), ",  ")
        where = say("where {}; otherwise it is {}", listed, below)
    return Section(title, (Step(words, tuple(shown), where, scope="letters", proof="dual"),))


def _slater(e: DualityProblem) -> Section:
    program, title = e.program, "Slater's condition"
    if e.strict is not None:
        at = dict(zip(program.variables, e.strict, strict=True))
        values = tuple(chain(_number(g.xreplace(at)), "<", 0) for g in program.inequalities)
        words = "It holds: the point {} satisfies every inequality strictly" if values else "It holds: {} is feasible"
        return Section(title, (Step(say(words + ".", _at(e, e.strict)), values, proof="strict"),))
    if all(is_affine(c.body, program.variables) for c in program.constraints) and e.least is not None:
        return Section(
            title, (Step(say("All constraints are affine, so that any feasible point is enough; there is one.")),)
        )
    if e.least is None:
        return Section(title, (Step(say("It fails: no point satisfies the constraints at all.")),))
    domain = {v: sympy().Symbol(v.name, positive=True) for v in program.variables if v.name in e.positive}
    for g in program.inequalities:
        if nowhere_negative(g.xreplace(domain)):
            words = "It fails: {} is nowhere below 0, so that no point satisfies its inequality strictly."
            return Section(title, (Step(say(words, from_sympy(g))),))
    return Section(title, (Step(say("It fails: no point was found that satisfies every inequality strictly.")),))


def _values(e: DualityProblem, largest: Best) -> Section:
    """Both values, and what they say."""
    program = e.program
    primal, dual = ("minimum", "maximum") if program.sign > 0 else ("maximum", "minimum")
    title = f"{primal.capitalize()} and {dual}"
    if e.least is None:
        words = say(f"No point is feasible, and the dual has no bound: {e.dual.growth or 'its values do not end'}.")
        return Section(title, (Step(words, proof="dual"),))
    values = (Words(f"{primal} of the primal: "), _number(e.least), Words(f",   {dual} of the dual: "))
    first = Step(say("The two values:"), (Listing((*values, _number(largest.value)), ""),), proof="value")
    if largest.value == e.least:
        same = say(
            "They are the same: duality holds. The dual comes as near as one likes, but no multipliers reach it."
        )
        if largest.multipliers is not None:
            at = tuple(condition(as_symbol(m), "=", from_sympy(v)) for m, v in largest.multipliers.items())
            same = say("They are the same: duality holds. The dual has this value at {}.", Listing(at, ", "))
        return Section(title, (first, Step(same, proof="value")))
    convex = "the problem is not convex" if e.dual.value is None else "Slater's condition fails"
    gap = say(f"There is a gap: duality fails, since {convex}.")
    return Section(title, (first, Step(gap, proof="value")))


def _easier(e: DualityProblem) -> Section:
    """Whether the dual is an easier problem."""
    program, d = e.program, e.dual
    n, m = len(program.variables), len(program.lambdas) + len(program.mus)
    title = "Is the dual easier?"
    if d.value is None:
        return Section(title, (Step(say("It says nothing, and so it is of no use.")),))
    names = (*program.lambdas, *program.mus)
    quadratic = d.value.is_polynomial(*names) and (not names or sympy().Poly(d.value, *names).total_degree() <= 2)
    kind = "a polynomial of degree at most 2" if quadratic else "no polynomial of degree at most 2"
    easier = quadratic and m <= n
    verdict = "So it is no harder, and its only inequalities are signs." if easier else "So it is no easier."
    words = f"It has {m} unknown{'s' if m != 1 else ''} in place of {n}, and h is {kind}. {verdict}"
    return Section(title, (Step(say(words)),))
