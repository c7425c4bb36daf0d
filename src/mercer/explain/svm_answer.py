"""The support vector machine by hand: from the multipliers to the answer and its check."""

from __future__ import annotations

from fractions import Fraction

from . import footnotes, letters
from .cases import State
from .exact import Vector
from .formula import (
    Call,
    Chain,
    Formula,
    Inner,
    Listing,
    Norm,
    Number,
    Product,
    Root,
    Symbol,
    chain,
    combination,
    condition,
    equals,
    formula,
    point,
)
from .letters import HALF, about, alpha, b, f_of, over, root_of, t, w, x_, y_
from .sample_steps import Expansion, class_name, class_of, function_steps, new_points
from .steps import Prose, Section, Step, Table, say
from .svm_cases import BALANCE, MARGIN, needed_b
from .svm_problem import SvmProblem, added

_a, _xi = Symbol("alpha", "i"), Symbol("xi", "i")


def multipliers(e: SvmProblem) -> Section:
    """The multipliers and what they say of the points."""
    rows = tuple((say("{}", x_(i)), say("{}", a), _role(e, i)) for i, a in enumerate(e.alpha))
    table = Table((say("point"), say("{}", _a), say("role")), rows, "i")
    statement = say("Points with {} are the support vectors: they alone make up f.", condition(_a, ">", 0))
    return Section("The support vectors", (Step(statement, (table,), scope="solved"),))


def _role(e: SvmProblem, i: int) -> Prose:
    """What a point is for f, and the relation that says it."""
    a = e.alpha[i]
    if not a:
        elsewhere = any(verdict.alpha is not None and verdict.alpha[i] for verdict in e.optima)
        words = "not needed here, but a support vector in another optimum" if elsewhere else "no influence"
        return say(f"{words}: {{}}", equals(alpha(i), 0))
    if e.C is None:
        return say("support vector: {}", chain(alpha(i), ">", 0))
    if a < e.C:
        return say("free support vector: {}", chain(0, "<", alpha(i), "<", letters.C))
    return say("support vector at C: {}", equals(alpha(i), letters.C))


def weights(e: SvmProblem) -> Section:
    """w, or f where w lives in feature space."""
    beta = e.beta(e.alpha)
    in_general = over(Product((_a, y_("i"), e.mapped(x_("i")))))
    if e.linear:
        return Section("The weight vector", (weight_vector(e),))
    kernels = [Call(letters.k, (x_(i), letters.x)) for i in range(e.n)]
    summed = over(Product((_a, y_("i"), Call(letters.k, (x_("i"), letters.x)))))
    score = equals(Inner(w, e.mapped(letters.x)), summed, combination(beta, kernels))
    statement = say("{} lies in feature space. It is needed in inner products only:", equals(w, in_general))
    shown = equals(
        Norm(w) ** 2, over(Product((_a, Symbol("alpha", "j"), Symbol("G", "ij"))), "ij"), e.squared_norm(beta)
    )
    return Section(
        "The weight vector in feature space",
        (
            Step(statement, (score,), Prose(), (footnotes.LABELS_IN_F,), "solved"),
            Step(say("Its length follows from the Gram matrix:"), (shown,), scope="solved"),
        ),
    )


def weight_vector(e: SvmProblem) -> Step:
    """w = sum alpha_i y_i x_i, in numbers."""
    beta = e.beta(e.alpha)
    in_general = over(Product((_a, y_("i"), e.mapped(x_("i")))))
    members = [in_general, point(e.weights(beta))]
    if any(beta):
        in_letters = combination(beta, [e.mapped(x_(i)) for i in range(e.n)])
        members[1:1] = [in_letters, combination(beta, [e.x(i) for i in range(e.n)])]
    words = "Where the derivative with respect to {} is zero, we have"
    return Step(say(words, w), (equals(w, *members),), Prose(), (footnotes.SIGN_IN_W,), "solved")


def intercept(e: SvmProblem) -> Section:
    """b and t."""
    return Section("The intercept", (*_b(e), _other_sign(e)))


def _other_sign(e: SvmProblem) -> Step:
    boundary = condition(Inner(w, e.mapped(letters.x)) - t, "=", 0)
    words = "Some lectures write the boundary as {}; then {}."
    return Step(say(words, boundary, equals(t, -b, formula(-e.b))), scope="solved")


def from_free(e: SvmProblem, free: tuple[int, ...]) -> tuple[Chain, ...]:
    """b from each free support vector."""
    scores = e.dual.scores(e.alpha)
    return tuple(equals(b, needed_b(e, i), Number(Fraction(e.y[i])) - formula(scores[i]), e.b) for i in free)


def _b(e: SvmProblem) -> list[Step]:
    best = e.optima[0]
    free = best.members(State.FREE)
    notes = (footnotes.B_IS_NOT, *((footnotes.FREE_ONLY,) if e.C is not None else ()))
    if free:
        agree = say("they must all agree, and they do") if len(free) > 1 else Prose()
        statement = say("Every free support vector has {}, which fixes b:", condition(MARGIN, "=", 1))
        return [Step(statement, from_free(e, free), agree, notes, "solved")]
    assert best.interval is not None
    scores = e.dual.scores(e.alpha)
    ends = [Fraction(e.y[i]) - scores[i] for i in range(e.n)]
    below = [i for i, state in enumerate(best.case) if (state is State.ZERO) == (e.y[i] > 0)]
    above = [i for i in range(e.n) if i not in below]
    rows = tuple(_end_row(e, i, ends[i], i in below) for i in range(e.n))
    table = Table((say("point"), say("its condition"), say("so")), rows, "i")
    derived = Step(
        say("No multiplier is free, so b is bounded by the conditions of all points together:"),
        (table,),
        say(
            "points with {} need {}, those with {} need {}",
            condition(_a, "=", 0),
            condition(MARGIN, ">=", 1),
            condition(_a, "=", letters.C),
            condition(MARGIN, "<=", 1),
        ),
        notes,
        "solved",
    )
    return [derived, *_middle(e, [ends[i] for i in below], [ends[i] for i in above])]


def _end_row(e: SvmProblem, i: int, end: Fraction, below: bool) -> tuple[Prose, ...]:
    reached = condition(y_(i) * f_of(x_(i)), ">=" if not e.alpha[i] else "<=", 1)
    bound = chain(b, ">=" if below else "<=", needed_b(e, i), "=", end)
    why = equals(alpha(i), 0) if not e.alpha[i] else equals(alpha(i), letters.C)
    return say("{}", x_(i)), say("{}, since {}", reached, why), say("{}", bound)


def _middle(e: SvmProblem, lower: list[Fraction], upper: list[Fraction]) -> list[Step]:
    """The largest lower end, the least upper one, and the b between them."""
    low, high = max(lower), min(upper)
    ends = tuple(_extreme(*end) for end in (("max", lower, low), ("min", upper, high)) if len(end[1]) > 1)
    what = "one value of b:" if low == high else "an interval. Each b in it is optimal, and the middle is taken:"
    middle = equals(b, HALF * (formula(low) + formula(high)), e.b)
    words = f"The largest lower end and the least upper end leave {what}"
    return [
        Step(
            say(words),
            (*([Listing(ends, ",   ")] if ends else []), chain(low, "<=", b, "<=", high), middle),
            scope="solved",
        )
    ]


def _extreme(name: str, values: list[Fraction], which: Fraction) -> Chain:
    return equals(Call(name, tuple(map(formula, values))), which)


def margin(e: SvmProblem) -> Section:
    """The margin."""
    square = e.squared_norm(e.beta(e.alpha))
    if not square:
        words = "Here {}: f is the constant b, and there is neither a boundary nor a margin."
        return Section("The margin", (Step(say(words, equals(w, 0)), scope="solved"),))
    if e.linear and e.features is None:
        nearest = "The nearest points of both classes have" if e.C is None else "The points with f = ±1 have"
        return Section("The margin", (margin_step(e, say(f"{nearest} this distance from the boundary, the margin:")),))
    nearest = "The images of the nearest points" if e.C is None else "The images of points with f = ±1"
    words = (
        f"{nearest} have this distance from the hyperplane in feature space, the margin. It is a distance between "
        "images {}, not one in the picture of the points:"
    )
    return Section("The margin", (margin_step(e, say(words, Call("φ", (letters.x,)))),))


def margin_step(e: SvmProblem, statement: Prose) -> Step:
    """m = 1 / |w|."""
    beta = e.beta(e.alpha)
    square = e.squared_norm(beta)
    inside: Formula = formula(square)
    if e.linear and len(e.weights(beta)) > 1:
        inside = combination([1] * len(e.weights(beta)), [formula(v) ** 2 for v in e.weights(beta)])
    shown = root_of(1 / square)
    rounded = about(shown)
    tail = () if rounded is None else ("~", rounded)
    relation = chain(Symbol("m"), "=", 1 / Norm(w), "=", 1 / Root(inside), "=", shown, *tail)
    return Step(statement, (relation,), scope="solved")


def conditions(e: SvmProblem) -> Section:
    """Every KKT condition, and primal = dual."""
    scores = e.dual.scores(e.alpha)
    reached = tuple(sign * (score + e.b) for sign, score in zip(e.y, scores, strict=True))
    slacks = tuple(max(Fraction(0), 1 - m) for m in reached)
    rows = []
    for i, (a, m, slack) in enumerate(zip(e.alpha, reached, slacks, strict=True)):
        relation, why = _condition(e, i, a)
        slack_cell = () if e.C is None else (say("{}", slack),)
        rows.append((say("{}", x_(i)), say("{}", a), say("{}", m), *slack_cell, say("{}, since {}", relation, why)))
    slack_head = [] if e.C is None else [say("{}", _xi)]
    header = (say("point"), say("{}", _a), say("{}", MARGIN), *slack_head, say("condition"))
    balance = equals(*BALANCE.members)
    table = Step(
        say("Every point satisfies its condition, every multiplier its bounds, and {}:", balance),
        (Table(header, tuple(rows), "i"),),
        say("for each point its multiplier is 0, or its constraint holds with equality"),
        scope="solved",
    )
    return Section("Check", (table, *_values(e, slacks)))


def _condition(e: SvmProblem, i: int, a: Fraction) -> tuple[Chain, Formula]:
    body = y_(i) * f_of(x_(i))
    if a == 0:
        return chain(body, ">=", 1), equals(alpha(i), 0)
    if a == e.C:
        return chain(body, "<=", 1), equals(alpha(i), letters.C)
    return equals(body, 1), chain(alpha(i), ">", 0) if e.C is None else chain(0, "<", alpha(i), "<", letters.C)


def _values(e: SvmProblem, slacks: Vector) -> tuple[Step, Step]:
    half_square = HALF * formula(e.squared_norm(e.beta(e.alpha)))
    best = e.dual.dual_value(e.alpha)
    if e.C is None:
        primal = equals(HALF * Norm(w) ** 2, half_square, best)
    else:
        with_slacks = half_square + formula(e.C) * added(slacks)
        primal = equals(HALF * Norm(w) ** 2 + letters.C * over(_xi), with_slacks, best)
    dual = equals(over(_a) - HALF * Norm(w) ** 2, added(e.alpha) - half_square, best)
    return (
        Step(say("The value of the primal is"), (primal,), scope="solved"),
        Step(say("The value of the dual is the same, which proves both optimal:"), (dual,), scope="solved"),
    )


def answer(e: SvmProblem) -> list[Section]:
    """f as it is used, and the classes of new points."""
    beta = e.beta(e.alpha)
    steps = function_steps(e, f_of(letters.x), beta, e.b, "solved")
    if e.squared_norm(beta):
        rule = say("A new point belongs to the class of the sign of f.")
    elif e.b:
        rule = Prose((f"f has the same sign everywhere: every point is put into class {class_name(e.labels, e.b)}.",))
    else:
        rule = say("f is 0 everywhere: it decides nothing.")
    sections = [Section("The answer", (*steps, Step(rule)))]
    return sections + new_points(e, Expansion(_a * y_("i"), beta, e.b, lambda f: class_of(e.labels, f)))
