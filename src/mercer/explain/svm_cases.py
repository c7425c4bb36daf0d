"""The cases of the dual as a table, what rejects them, and what follows where none or several are accepted."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from . import letters
from .cases import CasesHold, Finding, State, Verdict, meeting_hulls
from .exact import dot
from .formula import (
    Chain,
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
    equals,
    point,
    product,
)
from .letters import HALF, alpha, alphas, b, f_of, indices, over, x_, y_
from .setting import Setting, added
from .steps import All, Prose, Section, Step, Table, claims, say

IN_FULL = 16
"""Up to so many cases each one is shown."""

_a = Symbol("alpha", "i")
MARGIN = y_("i") * f_of(x_("i"))
BALANCE = equals(over(_a * y_("i")), 0)
_REASONS = {
    Finding.OPTIMAL: say("accepted: every condition holds"),
    Finding.FAMILY: say("accepted: many multipliers with the same f"),
    Finding.BALANCE: say("rejected: {} cannot hold", BALANCE),
    Finding.CONTRADICTION: say("rejected: its equations contradict each other"),
    Finding.NOT_POSITIVE: say("rejected: violates {} of a free point", chain(_a, ">", 0)),
    Finding.ABOVE_C: say("rejected: violates {} of a free point", chain(_a, "<", letters.C)),
    Finding.MARGIN: say("rejected: violates {} where {}", chain(MARGIN, ">=", 1), equals(_a, 0)),
    Finding.BEYOND: say("rejected: violates {} where {}", chain(MARGIN, "<=", 1), equals(_a, letters.C)),
    Finding.NO_INTERCEPT: say("rejected: no b suits all points"),
    Finding.EMPTY: say("rejected: none of its many solutions has all free multipliers inside their bounds"),
}
_WITHOUT_NUMBERS = (Finding.OPTIMAL, Finding.FAMILY, Finding.EMPTY, Finding.BALANCE, Finding.CONTRADICTION)


def cases(e: Setting) -> Section:
    """Every case, or a summary of them."""
    kinds = "is 0 or positive" if e.C is None else "is 0, strictly between 0 and C (free), or C"
    statement = say(
        f"At the maximum each multiplier {kinds}. That makes {{}} cases. In each, {{}} for the free points and {{}} "
        "are a linear system for the free multipliers and b; the other conditions then accept or reject the case.",
        equals(Number(Fraction(2 if e.C is None else 3)) ** e.n, len(e.verdicts)),
        equals(MARGIN, 1),
        BALANCE,
    )
    table, relations = (_full if len(e.verdicts) <= IN_FULL else _summary)(e)
    assertion = All((CasesHold(e.dual, e.verdicts), *(claims(relation) for relation in relations)))
    reason = say("the dual is concave, so that these conditions are sufficient as well as necessary")
    return Section("The cases", (Step(statement, (table,), reason, assertion),))


def _full(e: Setting) -> tuple[Table, list[Chain]]:
    rows, relations = [], []
    for verdict in e.verdicts:
        numbers, relation = _numbers(e, verdict)
        short = (
            _REASONS[verdict.finding] if verdict.finding in _WITHOUT_NUMBERS else Prose(("rejected: ", *numbers.parts))
        )
        solution = say("none") if verdict.alpha is None else say("{}", _solution(verdict))
        rows.append((*_states(e, verdict), solution, short))
        relations += relation
    header = (
        ("free", "solution of its equations", "verdict") if e.C is None else ("free", "at C", "solution", "verdict")
    )
    return Table(tuple(map(say, header)), tuple(rows)), relations


def _summary(e: Setting) -> tuple[Table, list[Chain]]:
    counts = Counter(verdict.finding for verdict in e.verdicts)
    rows, relations = [], []
    for finding, reason in _REASONS.items():
        if not counts[finding]:
            continue
        example = next(verdict for verdict in e.verdicts if verdict.finding is finding)
        numbers, relation = _numbers(e, example)
        rows.append((say("{}", counts[finding]), reason, *_states(e, example), numbers))
        relations += relation
    header = ["cases", "verdict", "for example: free", *([] if e.C is None else ["at C"]), "numbers"]
    return Table(tuple(map(say, header)), tuple(rows)), relations


def _states(e: Setting, verdict: Verdict) -> list[Prose]:
    kinds = (State.FREE,) if e.C is None else (State.FREE, State.BOUND)
    return [say("{}", indices(verdict.members(kind))) for kind in kinds]


def _solution(verdict: Verdict) -> Formula:
    assert verdict.alpha is not None
    values: list[Formula] = [equals(alpha(i), verdict.alpha[i]) for i in verdict.members(State.FREE)]
    if verdict.b is not None and verdict.interval is None:
        values.append(equals(b, verdict.b))
    return Listing(tuple(values), ", ") if values else Words("nothing is free")


def _numbers(e: Setting, v: Verdict) -> tuple[Prose, list[Chain]]:
    """The numbers by which a case is accepted or rejected, and the relations that say it."""
    if v.finding in (Finding.BALANCE, Finding.CONTRADICTION):
        return Prose(), []
    if v.finding in _WITHOUT_NUMBERS:
        return say("{}", _solution(v)), []
    if v.finding is Finding.NO_INTERCEPT:
        assert v.interval is not None
        low, high = v.interval
        return say("{} and {} exclude each other", chain(b, ">=", low), chain(b, "<=", high)), [chain(low, ">", high)]
    assert v.alpha is not None
    assert v.b is not None
    (i,) = v.points
    if v.finding is Finding.NOT_POSITIVE:
        relation = chain(alpha(i), "=", v.alpha[i], "<=", 0)
    elif v.finding is Finding.ABOVE_C:
        relation = chain(alpha(i), "=", v.alpha[i], ">=", e.C)
    else:
        reached = e.y[i] * (e.dual.scores(v.alpha)[i] + v.b)
        relation = chain(y_(i) * f_of(x_(i)), "=", reached, "<" if v.finding is Finding.MARGIN else ">", 1)
    return say("{}", relation), [relation]


def inseparable(e: Setting) -> Section:
    """The proof that there is no hard margin: two convex combinations that meet."""
    plus, minus = meeting_hulls(e.dual)
    positive, negative = (indices([i for i, share in enumerate(side) if share]) for side in (plus, minus))
    c, difference = Symbol("c", bold=True), tuple(p - m for p, m in zip(plus, minus, strict=True))
    given: dict[Symbol, Formula] = {letters.K: e.K_matrix, c: column(difference)}
    letters_ = [e.mapped(x_(i)) for i in range(e.n)]
    if e.linear and e.points is not None:
        meeting = point([dot(plus, coordinate) for coordinate in zip(*e.points, strict=True)])
        numbers = [e.x(i) for i in range(e.n)]
        shown = [equals(combination(side, letters_), combination(side, numbers), meeting) for side in (plus, minus)]
        displayed = tuple(shown)
    else:
        distance = Norm(combination(plus, letters_) - combination(minus, letters_)) ** 2
        shown = [equals(distance, Inner(c, letters.K * c), 0)]
        displayed = (equals(c, column(difference)), shown[0])
    meet = Step(
        say(
            "No case is accepted. The reason: a mixture of the points {} of class +1 is the same point as a mixture of "
            "the points {} of class −1:",
            positive,
            negative,
        ),
        displayed,
        say("the weights of each mixture are positive and add up to 1"),
        claims(*shown, equals(added(plus), 1), equals(added(minus), 1), *_positive(plus, minus), given=given),
    )
    end = Step(
        say(
            "If {} held for all points, f would be at least 1 at the first mixture and at most −1 at the second, "
            "because f is affine in {}. They are the same point. So the classes cannot be separated, and there is no "
            "hard margin; give C for a soft one.",
            chain(MARGIN, ">=", 1),
            e.mapped(letters.x),
        )
    )
    return Section("Not separable: the proof", (meet, end))


def _positive(*sides: tuple[Fraction, ...]) -> list[Chain]:
    return [chain(share, ">", 0) for side in sides for share in side if share]


def family(e: Setting, best: Verdict, others: list[Verdict]) -> Section:
    """All optimal multipliers, where there are several."""
    corners = [verdict.alpha for verdict in (best, *others) if verdict.alpha is not None]
    if len(corners) == 2:
        s = Symbol("s")
        mixed: Formula = (1 - s) * point(corners[0]) + s * point(corners[1])
        condition = say("for any {}", chain(0, "<=", s, "<=", 1))
    else:
        weights = [Symbol("s", str(i + 1)) for i in range(len(corners))]
        mixed = combination([1] * len(corners), [product(s, point(a)) for s, a in zip(weights, corners, strict=True)])
        condition = say("for any weights {} that add up to 1", chain(Symbol("s", "i"), ">=", 0))
    same = [equals(e.K_matrix * e.beta_column(a), e.K_matrix * e.beta_column(corners[0])) for a in corners[1:]]
    value = e.dual.dual_value(corners[0])
    equal = [equals(added(a) - HALF * Number(e.dual.squared_norm(a)), value) for a in corners]
    step = Step(
        say(
            "There are ties: the optimal multipliers are not unique. The accepted cases with a single solution are the "
            "corners of the family of all optimal multipliers:"
        ),
        (equals(point(alphas(e.n)), mixed),),
        Prose((*condition.parts, "; they all give the same function f, and the same value of the dual")),
        claims(*same, *equal),
    )
    return Section("Several optimal multipliers", (step, Step(say("What follows uses the first of them."))))
