"""The cases of the dual as a table, what rejects them, and what follows where none or several are accepted."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from . import letters
from .cases import Finding, State, Verdict, meeting_hulls
from .exact import Vector, dot
from .formula import (
    Formula,
    Inner,
    Listing,
    Norm,
    Number,
    Symbol,
    Words,
    chain,
    column,
    combination,
    condition,
    equals,
    formula,
    point,
    product,
)
from .letters import HALF, alpha, alphas, b, f_of, indices, over, w, x_, y_
from .steps import Prose, Section, Step, Table, say
from .svm_problem import SvmProblem, added, scope_of

IN_FULL = 16
"""Up to so many cases each one is shown."""

_a = Symbol("alpha", "i")
MARGIN = y_("i") * f_of(x_("i"))
BALANCE = condition(over(_a * y_("i")), "=", 0)
_REASONS = {
    Finding.OPTIMAL: say("accepted: every condition holds"),
    Finding.FAMILY: say("accepted: many multipliers with the same f"),
    Finding.BALANCE: say("rejected: {} cannot hold", BALANCE),
    Finding.CONTRADICTION: say("rejected: its equations contradict each other"),
    Finding.NOT_POSITIVE: say("rejected: a free point violates {}", condition(_a, ">", 0)),
    Finding.ABOVE_C: say("rejected: a free point violates {}", condition(_a, "<", letters.C)),
    Finding.MARGIN: say("rejected: violates {} where {}", condition(MARGIN, ">=", 1), condition(_a, "=", 0)),
    Finding.BEYOND: say("rejected: violates {} where {}", condition(MARGIN, "<=", 1), condition(_a, "=", letters.C)),
    Finding.NO_INTERCEPT: say("rejected: no b suits all points"),
    Finding.EMPTY: say("rejected: none of its many solutions has all free multipliers inside their bounds"),
}
_WITHOUT_NUMBERS = (Finding.OPTIMAL, Finding.FAMILY, Finding.EMPTY, Finding.BALANCE, Finding.CONTRADICTION)


def cases(e: SvmProblem) -> Section:
    """Every case, or a summary of them."""
    kinds = "is 0 or positive (free)" if e.C is None else "is 0, strictly between 0 and C (free), or C"
    statement = say(
        f"At the maximum each multiplier {kinds}. That makes {{}} cases. In each, {{}} for the free points and {{}} "
        "are a linear system for the free multipliers and b; the other conditions then accept or reject the case.",
        equals(Number(Fraction(2 if e.C is None else 3)) ** e.n, len(e.verdicts)),
        condition(MARGIN, "=", 1),
        BALANCE,
    )
    table = (_full if len(e.verdicts) <= IN_FULL else _summary)(e)
    reason = say("the dual is concave, so that these conditions are sufficient as well as necessary")
    return Section("The cases", (Step(statement, (table,), reason, proof="cases"),))


def shown_cases(step: Step) -> int:
    """How many cases a table of cases shows, or counts."""
    (table,) = step.mathematics
    assert isinstance(table, Table)
    if table.header[0] != say("cases"):
        return len(set(table.scopes))
    return sum(int(part.value) for row in table.rows for part in row[0].parts if isinstance(part, Number))


def _full(e: SvmProblem) -> Table:
    rows = []
    for verdict in e.verdicts:
        reason = _REASONS[verdict.finding]
        if verdict.finding is Finding.FAMILY and any(not (verdict.alpha or ())[i] for i in verdict.members(State.FREE)):
            reason = Prose((*reason.parts, "; those that are 0 here are positive in others"))
        if verdict.finding not in _WITHOUT_NUMBERS:
            reason = Prose(("rejected: ", *_numbers(e, verdict).parts))
        solution = say("none") if verdict.alpha is None else say("{}", _solution(verdict))
        rows.append((*_states(e, verdict), solution, reason))
    bound = () if e.C is None else ("at C",)
    header = ("free", *bound, "solution of its equations", "verdict")
    return Table(tuple(map(say, header)), tuple(rows), scopes=tuple(scope_of(v.case) for v in e.verdicts))


def _summary(e: SvmProblem) -> Table:
    counts = Counter(verdict.finding for verdict in e.verdicts)
    rows, scopes = [], []
    for finding, reason in _REASONS.items():
        if not counts[finding]:
            continue
        example = next(verdict for verdict in e.verdicts if verdict.finding is finding)
        rows.append((say("{}", counts[finding]), reason, *_states(e, example), _numbers(e, example)))
        scopes.append(scope_of(example.case))
    header = ["cases", "verdict", "for example: free", *([] if e.C is None else ["at C"]), "numbers"]
    return Table(tuple(map(say, header)), tuple(rows), scopes=tuple(scopes))


def _states(e: SvmProblem, verdict: Verdict) -> list[Prose]:
    kinds = (State.FREE,) if e.C is None else (State.FREE, State.BOUND)
    return [say("{}", indices(verdict.members(kind))) for kind in kinds]


def _solution(verdict: Verdict) -> Formula:
    assert verdict.alpha is not None
    values: list[Formula] = [equals(alpha(i), verdict.alpha[i]) for i in verdict.members(State.FREE)]
    if verdict.b is not None and verdict.interval is None:
        values.append(equals(b, verdict.b))
    return Listing(tuple(values), ", ") if values else Words("nothing is free")


def _numbers(e: SvmProblem, v: Verdict) -> Prose:
    """The numbers by which a case is accepted or rejected."""
    if v.finding in (Finding.BALANCE, Finding.CONTRADICTION):
        return Prose()
    if v.finding in _WITHOUT_NUMBERS:
        return say("{}", _solution(v))
    if v.finding is Finding.NO_INTERCEPT:
        assert v.interval is not None
        (i, j), (low, high) = v.points, v.interval
        first = chain(b, ">=!", needed_b(e, i), "=", low)
        second = chain(b, "<=!", needed_b(e, j), "=", high)
        return say("{} and {} exclude each other", first, second)
    assert v.alpha is not None
    assert v.b is not None
    (i,) = v.points
    if v.finding is Finding.NOT_POSITIVE:
        if not v.alpha[i]:
            return say("{}, so {} is not free: the case without it has this solution", equals(alpha(i), 0), x_(i))
        return say("{}", chain(alpha(i), "=", v.alpha[i], "<", 0))
    if v.finding is Finding.ABOVE_C:
        if v.alpha[i] == e.C:
            return say("{}, so {} is not free: the case with it at C has this", equals(alpha(i), letters.C, e.C), x_(i))
        return say("{}", chain(alpha(i), "=", v.alpha[i], ">", e.C))
    reached = e.y[i] * (e.dual.scores(v.alpha)[i] + v.b)
    sign = "<" if v.finding is Finding.MARGIN else ">"
    return say("{}", chain(y_(i) * f_of(x_(i)), "=", reached, sign, 1))


def needed_b(e: SvmProblem, i: int) -> Formula:
    """y_i - <w, x_i>: the b at which point i has y_i f(x_i) = 1."""
    return y_(i) - Inner(w, e.mapped(x_(i)))


def inseparable(e: SvmProblem) -> Section:
    """The proof that there is no hard margin: two convex combinations that meet."""
    plus, minus = meeting_hulls(e.dual)
    c, difference = Symbol("c", bold=True), tuple(p - m for p, m in zip(plus, minus, strict=True))
    letters_ = [e.mapped(x_(i)) for i in range(e.n)]
    displayed: tuple[Formula, ...]
    if e.linear:
        meeting = point([dot(plus, coordinate) for coordinate in zip(*e.vectors, strict=True)])
        numbers = [e.x(i) for i in range(e.n)]
        displayed = tuple(equals(combination(s, letters_), combination(s, numbers), meeting) for s in (plus, minus))
    else:
        distance = Norm(combination(plus, letters_) - combination(minus, letters_)) ** 2
        displayed = (equals(c, column(difference)), equals(distance, Inner(c, letters.K * c), 0))
    weights = Listing(tuple(chain(added(side), "=", 1) for side in (plus, minus)), ",  ")
    meet = Step(
        say(
            ("" if e.detail == "short" else "No case is accepted. The reason: ")
            + "{} of class +1 and {} of class −1 can be mixed to the same point:",
            _named(plus),
            _named(minus),
        ),
        (*displayed, weights),
        say("the weights of each mixture are positive and add up to 1"),
        scope="hulls",
    )
    end = Step(
        say(
            "If {} held for all points, f would be at least 1 at the first mixture and at most −1 at the second, "
            "because f is affine in {}. They are the same point. So the classes cannot be separated, and there is no "
            "hard margin; give C for a soft one.",
            condition(MARGIN, ">=", 1),
            e.mapped(letters.x),
        )
    )
    return Section("Not separable: the proof", (meet, end))


def _named(weights: Vector) -> Formula:
    return Listing(tuple(x_(i) for i, share in enumerate(weights) if share), ", ")


def family(e: SvmProblem) -> Section:
    """All optimal multipliers, where there are several."""
    corners = [verdict.alpha for verdict in e.optima if verdict.alpha is not None]
    if len(corners) == 2:
        s = Symbol("s")
        mixed: Formula = (1 - s) * point(corners[0]) + s * point(corners[1])
        where = say("for any {}", condition(0, "<=", s, "<=", 1))
    else:
        weights = [Symbol("s", str(i + 1)) for i in range(len(corners))]
        mixed = combination([1] * len(corners), [product(s, point(a)) for s, a in zip(weights, corners, strict=True)])
        where = say("for any weights {} that add up to 1", condition(Symbol("s", "i"), ">=", 0))
    K = letters.K
    same = equals(*(K * column(e.beta(a)) for a in corners))
    values = [equals(added(a) - HALF * formula(e.dual.squared_norm(a)), e.dual.dual_value(a)) for a in corners]
    step = Step(
        say(
            "There are ties: the optimal multipliers are not unique. The accepted cases with a single solution are the "
            "corners of the family of all optimal multipliers:"
        ),
        (condition(point(alphas(e.n)), "=", mixed),),
        where,
    )
    agree = Step(
        say("They all give the same values of f at the points, and the same value of the dual:"),
        (same, *values),
        scope="data",
    )
    first = Step(
        say("What follows uses the first of them, {}.", equals(alpha_point(e), point(e.alpha))), scope="solved"
    )
    return Section("Several optimal multipliers", (step, agree, first))


def alpha_point(e: SvmProblem) -> Formula:
    """(alpha_1, ..., alpha_n)."""
    return point(alphas(e.n))
