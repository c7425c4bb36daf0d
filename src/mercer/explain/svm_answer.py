"""The support vector machine by hand: from the multipliers to the answer and its check."""

from __future__ import annotations

from fractions import Fraction

from . import footnotes, letters
from .cases import State, Verdict
from .exact import Vector
from .features import multiplied_out
from .formula import (
    Call,
    Chain,
    Formula,
    Inner,
    Norm,
    Number,
    Product,
    Root,
    Symbol,
    chain,
    column,
    combination,
    equals,
    matrix,
    point,
)
from .gram import is_polynomial
from .letters import HALF, about, alpha, b, coordinates, f_of, over, root_of, t, w, x_, y_
from .setting import Setting, added
from .steps import Prose, Section, Step, Table, claims, say
from .svm_cases import BALANCE, MARGIN

_a, _xi = Symbol("alpha", "i"), Symbol("xi", "i")


def multipliers(e: Setting, alpha_: Vector) -> Section:
    """The multipliers and what they say of the points."""
    rows = []
    for i, a in enumerate(alpha_):
        role = "support vector" if a else "no influence"
        if e.C is not None and a:
            role = "free support vector" if a < e.C else "support vector at C"
        rows.append((say("{}", x_(i)), say("{}", a), say(role)))
    bounds = [chain(0, "<=", a) if e.C is None else chain(0, "<=", a, "<=", e.C) for a in alpha_]
    step = Step(
        say("Points with {} are the support vectors: they alone make up f.", chain(_a, ">", 0)),
        (Table((say("point"), say("{}", _a), say("role")), tuple(rows)),),
        assertion=claims(equals(e.balance(alpha_), 0), *bounds),
    )
    return Section("The support vectors", (step,))


def weights(e: Setting, alpha_: Vector) -> Section:
    """w, or f where w lives in feature space."""
    beta = e.beta(alpha_)
    in_general = over(Product((_a, y_("i"), e.mapped(x_("i")))))
    if e.linear:
        in_letters = combination(beta, [x_(i) for i in range(e.n)])
        in_numbers = combination(beta, [e.x(i) for i in range(e.n)])
        relation = equals(w, in_general, in_letters, in_numbers, point(e.w(alpha_)))
        if not any(beta):
            relation = equals(w, in_general, point(e.w(alpha_)), point([Fraction(0)] * len(e.w(alpha_))))
        step = Step(say("The derivative by {} gave", w), (relation,), Prose(), claims(relation), (footnotes.SIGN_IN_W,))
        return Section("The weight vector", (step,))
    kernels = [Call(letters.k, (x_(i), letters.x)) for i in range(e.n)]
    summed = over(Product((_a, y_("i"), Call(letters.k, (x_("i"), letters.x)))))
    score = equals(Inner(w, e.mapped(letters.x)), summed, combination(beta, kernels))
    statement = say("{} lies in feature space. It is needed in inner products only:", equals(w, in_general))
    steps = [Step(statement, (score,), footnotes=(footnotes.LABELS_IN_F,))]
    if e.points is not None and is_polynomial(e.kernel):
        steps.append(multiplied_out(Inner(w, e.mapped(letters.x)), e.kernel, e.points, beta))
    square = e.dual.squared_norm(alpha_)
    shown = equals(Norm(w) ** 2, over(Product((_a, Symbol("alpha", "j"), Symbol("G", "ij"))), "ij"), square)
    proof = equals(Inner(column(alpha_), matrix(e.signed_gram) * column(alpha_)), square)
    steps.append(Step(say("Its length follows from the Gram matrix:"), (shown,), assertion=claims(proof)))
    return Section("The function f", tuple(steps))


def _scores_claim(e: Setting, alpha_: Vector) -> Chain:
    """K times alpha_i y_i gives the scores <w, phi(x_i)> that the step uses."""
    return equals(e.K_matrix * e.beta_column(alpha_), column(e.dual.scores(alpha_)))


def intercept(e: Setting, best: Verdict) -> Section:
    """b and t."""
    alpha_, b_ = best.alpha, best.b
    assert alpha_ is not None
    assert b_ is not None
    scores = e.dual.scores(alpha_)
    other = equals(t, -b, Number(-b_))
    convention = Step(
        say("Some lectures write the boundary as {}; then {}.", equals(Inner(w, e.mapped(letters.x)) - t, 0), other),
        assertion=claims(other, given={b: Number(b_)}),
    )
    free = best.members(State.FREE)
    note = (footnotes.FREE_ONLY,) if e.C is not None else ()
    if free:
        shown = [
            equals(b, y_(i) - Inner(w, e.mapped(x_(i))), Number(Fraction(e.y[i])) - Number(scores[i]), b_) for i in free
        ]
        step = Step(
            say("Every free support vector has {}, which fixes b:", equals(MARGIN, 1)),
            tuple(shown),
            say("they must all agree, and they do") if len(free) > 1 else Prose(),
            claims(*shown, _scores_claim(e, alpha_)),
            note,
        )
        return Section("The intercept", (step, convention))
    assert best.interval is not None
    low, high = best.interval
    middle = equals(b, HALF * (Number(low) + Number(high)), b_)
    what = "one value of b:" if low == high else "an interval. Each b in it is optimal, and the middle is taken:"
    step = Step(
        say(f"No multiplier is free, so b is bounded by the conditions of all points together. They leave {what}"),
        (chain(low, "<=", b, "<=", high), middle),
        say(
            "points with {} need {}, those with {} need {}",
            equals(_a, 0),
            chain(MARGIN, ">=", 1),
            equals(_a, letters.C),
            chain(MARGIN, "<=", 1),
        ),
        claims(chain(low, "<=", high), middle, _scores_claim(e, alpha_)),
        note,
    )
    return Section("The intercept", (step, convention))


def margin(e: Setting, alpha_: Vector, b_: Fraction) -> Section:
    """The margin, and f as it is used."""
    square = e.dual.squared_norm(alpha_)
    steps = []
    if e.linear and e.points is not None:
        names = coordinates(len(e.points[0]))
        function = equals(f_of(letters.x), combination([*e.w(alpha_), b_], [*names, Number(Fraction(1))]))
        steps.append(Step(say("The answer is {}. A new point belongs to the class of the sign of f.", function)))
    if not square:
        constant = say("Here {}: f is the constant b, and there is neither boundary nor margin.", equals(w, 0))
        return Section("The margin", (*steps, Step(constant)))
    inside: Formula = Number(square)
    if e.linear and len(e.w(alpha_)) > 1:
        inside = combination([1] * len(e.w(alpha_)), [Number(v) ** 2 for v in e.w(alpha_)])
    exact = root_of(1 / square)
    rounded = about(exact)
    tail = () if rounded is None else ("~", rounded)
    relation = chain(Symbol("m"), "=", 1 / Norm(w), "=", 1 / Root(inside), "=", exact, *tail)
    nearest = "The nearest points of both classes have" if e.C is None else "The points with f = ±1 have"
    steps.append(
        Step(say(f"{nearest} this distance from the boundary, the margin:"), (relation,), assertion=claims(relation))
    )
    return Section("The margin", tuple(steps))


def conditions(e: Setting, alpha_: Vector, b_: Fraction) -> Section:
    """Every KKT condition, and primal = dual."""
    scores = e.dual.scores(alpha_)
    reached = tuple(sign * (score + b_) for sign, score in zip(e.y, scores, strict=True))
    slacks = tuple(max(Fraction(0), 1 - m) for m in reached)
    relations = [_scores_claim(e, alpha_), equals(e.balance(alpha_), 0)]
    rows = []
    for i, (a, m, slack) in enumerate(zip(alpha_, reached, slacks, strict=True)):
        relations.append(equals(e.y[i] * (Number(scores[i]) + Number(b_)), m))
        relations.append(equals(Number(a) * (Number(m) - 1 + Number(slack)), 0))
        if e.C is not None:
            relations.append(equals((Number(e.C) - Number(a)) * Number(slack), 0))
        condition, why = _condition(e, i, a)
        relations.append(chain(m, condition.signs[0], 1))
        slack_cell = () if e.C is None else (say("{}", slack),)
        rows.append((say("{}", x_(i)), say("{}", a), say("{}", m), *slack_cell, say("{}, since {}", condition, why)))
    header = [
        say("point"),
        say("{}", _a),
        say("{}", MARGIN),
        *([] if e.C is None else [say("{}", _xi)]),
        say("condition"),
    ]
    table = Step(
        say("Every point satisfies its condition, every multiplier its bounds, and {}:", BALANCE),
        (Table(tuple(header), tuple(rows)),),
        say("for each point the multiplier, or what its constraint has to spare, is 0"),
        claims(*relations),
    )
    return Section("Check", (table, *_values(e, alpha_, slacks)))


def _condition(e: Setting, i: int, a: Fraction) -> tuple[Chain, Formula]:
    body = y_(i) * f_of(x_(i))
    if a == 0:
        return chain(body, ">=", 1), equals(alpha(i), 0)
    if a == e.C:
        return chain(body, "<=", 1), equals(alpha(i), letters.C)
    return equals(body, 1), chain(alpha(i), ">", 0) if e.C is None else chain(0, "<", alpha(i), "<", letters.C)


def _values(e: Setting, alpha_: Vector, slacks: Vector) -> tuple[Step, Step]:
    half_square = HALF * Number(e.dual.squared_norm(alpha_))
    best = e.dual.dual_value(alpha_)
    if e.C is None:
        primal = equals(HALF * Norm(w) ** 2, half_square, best)
    else:
        with_slacks = half_square + Number(e.C) * added(slacks)
        primal = equals(HALF * Norm(w) ** 2 + letters.C * over(_xi), with_slacks, best)
    dual = equals(over(_a) - HALF * Norm(w) ** 2, added(alpha_) - half_square, best)
    return (
        Step(say("The value of the primal is"), (primal,), assertion=claims(primal)),
        Step(say("The value of the dual is the same, which proves both optimal:"), (dual,), assertion=claims(dual)),
    )
