"""The perceptron's derivation: four forms of one algorithm, w as a double sum, the run in features and by kernel."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from . import footnotes, letters
from .chart import Chart, Panel, Trace, rounded, window
from .exact import sympy
from .features import Monomial, combined, images, mapping
from .formula import (
    Call,
    Formula,
    Inner,
    Listing,
    Number,
    Product,
    Sum,
    Symbol,
    Words,
    chain,
    combination,
    condition,
    equals,
    point,
)
from .letters import f_of, k, over, w, x_, y_
from .steps import Prose, Section, Step, Table, say
from .world import World, exact

if TYPE_CHECKING:
    from .perceptron import PerceptronProblem

MOST_PANELS = 6
_a, _aj, _eta = Symbol("alpha", "i"), Symbol("alpha", "j"), Symbol("eta")


def derivation(e: PerceptronProblem) -> tuple[Section, ...]:
    """All sections after the data."""
    return (_four_forms(), _double_sum(e), _counts(e), *_features(e), *_side_by_side(e))


def features_of(e: PerceptronProblem) -> list[Monomial] | None:
    """The features of a polynomial kernel, where they can be shown."""
    return None if e.linear else e.monomials


def explicit_world(e: PerceptronProblem, base: World, number: int) -> World:
    """w as a vector of features: f before a look, w after it, found by adding feature vectors."""
    sp = sympy()
    phi = mapping(features_of(e) or [])
    own = [phi(x) for x in base.families[Symbol("x", bold=True)]]
    w_ = sp.zeros(len(own[0]), 1).as_immutable()
    for look in range(number + 1):
        i = look % e.n
        before = w_
        if e.y[i] * sp.expand((w_.T * own[i])[0, 0]) <= 0:
            w_ = w_ + exact(e.eta) * e.y[i] * own[i]
    place = dict(zip(base.families[Symbol("x", bold=True)], own, strict=True))
    found = {letters.f: lambda x: sp.expand((before.T * place[x])[0, 0]), w: w_}
    return base.also(found, functions={"φ": lambda x: place[x]}).where(i=number % e.n)


def _four_forms() -> Section:
    """The algorithm with w, with alpha, with phi and with k, line by line."""
    phi = [Call("φ", (x_(i),)) for i in ("j", "i")]

    def summed(inner: Formula) -> Formula:
        return over(Product((_aj, y_("j"), inner)), "j")

    tests = [
        y_("i") * Inner(w, x_("i")), y_("i") * summed(Inner(x_("j"), x_("i"))), y_("i") * summed(Inner(*phi)),
        y_("i") * summed(Call(k, (x_("j"), x_("i")))),
    ]  # fmt: skip
    moves = [chain(w, ":=", w + Product((_eta, y_("i"), x_("i")))), *[chain(_a, ":=", _a + 1)] * 3]
    names = ("with w (primal)", "with α (dual)", "with φ", "with k (kernel)")
    rows: list[tuple[Prose, ...]] = [tuple(say(name) for name in ("converged := 0",) * 4)]
    rows.append(tuple(say("while not converged:") for _ in range(4)))
    rows.append(tuple(say("· converged := 1") for _ in range(4)))
    rows.append(tuple(say("· for each point i:") for _ in range(4)))
    rows.append(tuple(say("· · if {}", condition(test, "<=", 0)) for test in tests))
    rows.append(tuple(say("· · then {}", move) for move in moves))
    rows.append(tuple(say("· · and converged := 0") for _ in range(4)))
    table = Table(tuple(map(say, names)), tuple(rows))
    words = "The algorithm in its four forms, side by side. Only the test and the move differ:"
    return Section("One algorithm, four forms", (Step(say(words), (table,)),))


def _double_sum(e: PerceptronProblem) -> Section:
    """w after all looks, as the sum over points and looks of an indicator."""
    test = Listing((y_("i") * Inner(Symbol("w", "(j)", True), e.mapped(x_("i"))), Words(" ≤ 0")), "")
    indicator = Listing((Words("1{"), test, Words("}")), "")
    body = Listing((Words("Σⱼ "), indicator, Words(" "), Product((y_("i"), e.mapped(x_("i"))))), "")
    general = Listing((Symbol("w", "(K)", True), Words(" = "), Words("Σᵢ "), body), "")
    header = [say("look j"), say("i"), say("{}", y_("i") * f_of(x_("i"))), say("indicator"), say("adds")]
    header += [say("{} after", w)] if e.linear else []
    rows, scopes = [], []
    for number, look in enumerate(e.run.looks):
        added = (
            say("{}", point([e.eta * e.y[look.i] * v for v in e.vectors[look.i]])) if e.linear else _image(e, look.i)
        )
        cells = [say("{}", number + 1), say("{}", look.i + 1), say("{}", look.score), say("{}", int(look.mistake))]
        cells.append(added if look.mistake else say("nothing"))
        if e.linear:
            cells.append(say("{}", point(e.weights(e.run.beta(look.alpha)))))
        rows.append(tuple(cells))
        scopes.append(f"look {number}")
    table = Table(tuple(header), tuple(rows), scopes=tuple(scopes))
    rate = say("times the step {}", condition(_eta, "=", e.eta)) if e.eta != 1 else say("with the step 1")
    words = "Each look at a point adds it, with its label, where the indicator of a mistake is 1. So, after K looks:"
    steps = (
        Step(say(words), (general,), rate, footnotes=(footnotes.LABELS_IN_RUN,)),
        Step(say("Row by row of this run:"), (table,), proof="indicators"),
    )
    return Section("w as a double sum", steps)


def _image(e: PerceptronProblem, i: int) -> Prose:
    return say("{}", combination([e.eta * e.y[i]], [e.mapped(x_(i))]))


def _counts(e: PerceptronProblem) -> Section:
    """The inner sum is the number of mistakes."""
    rows = []
    for i in range(e.n):
        marks = [int(look.mistake) for look in e.run.looks if look.i == i]
        numbers = tuple(Number(Fraction(m)) for m in marks)
        summed: Formula = Sum(numbers) if len(numbers) > 1 else numbers[0]
        rows.append((say("{}", x_(i)), say("{}", equals(summed, sum(marks)))))
    table = Table((say("point"), say("{}", _a)), tuple(rows), "i")
    first = Step(say("For each point the sum over its looks is the number of its mistakes:"), (table,), scope="end")
    plain = over(Product((_a, y_("i"), e.mapped(x_("i")))))
    general = plain if e.eta == 1 else _eta * plain
    members: list[Formula] = [general]
    if e.linear:
        members += [combination(e.beta, [e.x(i) for i in range(e.n)]), point(e.weights(e.beta))]
    else:
        members.append(combination(e.beta, [e.mapped(x_(i)) for i in range(e.n)]))
    if not any(e.beta):
        members = [general, Number(Fraction(0))]
    second = Step(say("So the double sum is a sum over points, the dual form:"), (equals(w, *members),), scope="end")
    return Section("The counts", (first, second))


def _features(e: PerceptronProblem) -> list[Section]:
    """phi of every point, and two components that show the classes apart."""
    terms = features_of(e)
    if terms is None:
        return []
    assert e.points is not None
    shown = zip(e.y, images(terms, e.points), strict=True)
    rows = tuple((say("{}", x_(i)), say("{}", y), say("{}", image)) for i, (y, image) in enumerate(shown))
    table = Table((say("point"), say("{}", y_("i")), say("{}", Call("φ", (x_("i"),)))), rows, "i")
    steps = [Step(say("The features of all points:"), (table,), scope="explicit 0")]
    pair = apart(e, terms)
    if pair is not None:
        p, q = pair
        pairs = images([terms[p], terms[q]], e.points)
        order = sorted(range(e.n), key=lambda i: e.y[i])
        cells = tuple((say("{}", e.y[i]), say("{}", x_(i)), say("{}", pairs[i])) for i in order)
        words = (
            f"By components {p + 1} and {q + 1} alone the classes are apart: component {q + 1} has a gap between them."
        )
        steps.append(Step(say(words), (Table((say("class"), say("point"), say("components")), cells),), proof="apart"))
    return [Section("The points in feature space", tuple(steps))]


def apart(e: PerceptronProblem, terms: list[Monomial]) -> tuple[int, int] | None:
    """The first component q in which one class is above the other, and another one p, not constant, to draw it with."""
    assert e.points is not None
    values = [[t.at(x) for x in e.points] for t in terms]
    for q, row in enumerate(values):
        plus = [v for v, s in zip(row, e.y, strict=True) if s > 0]
        minus = [v for v, s in zip(row, e.y, strict=True) if s < 0]
        if min(plus) > max(minus) or min(minus) > max(plus):
            others = [p for p, own in enumerate(values) if p != q and len(set(own)) > 1]
            return (others[0], q) if others else None
    return None


def _side_by_side(e: PerceptronProblem) -> list[Section]:
    """The run in features, where w is a vector with roots, and by the kernel."""
    terms = features_of(e)
    if terms is None or len(e.run.looks) > 40:
        return []
    assert e.points is not None
    rows, scopes = [], []
    for number, look in enumerate(e.run.looks):
        vector_ = point(combined(terms, e.points, e.run.beta(look.alpha)))
        rows.append((say("{}", number + 1), say("{}", look.i + 1), say("{}", look.score), say("{}", vector_)))
        scopes.append(f"explicit {number}")
    header = (say("look"), say("i"), say("{}", y_("i") * f_of(x_("i"))), say("{} after", w))
    words = (
        "The primal perceptron on the features, with w written out. Its inner products are the kernel's values, so "
        "that it makes the same mistakes as the kernel perceptron above:"
    )
    table = Table(header, tuple(rows), scopes=tuple(scopes))
    return [Section("On the features themselves", (Step(say(words), (table,), proof="same"),))]


def panels(e: PerceptronProblem) -> Chart | None:
    """The line and w after each mistake, side by side."""
    if not e.linear or e.points is None or len(e.vectors[0]) != 2:
        return None
    moves = [(number, look) for number, look in enumerate(e.run.looks, 1) if look.mistake]
    if len(moves) > MOST_PANELS:
        moves = [*moves[: MOST_PANELS - 1], moves[-1]]
    zero = (Fraction(0), Fraction(0))
    found = []
    box = window([*((x[0], x[1]) for x in e.vectors), zero], Fraction(1, 3))
    reach = max(abs(side) for side in box) * 2
    for number, look in moves:
        a, c = e.weights(e.run.beta(look.alpha))
        size = max(abs(a), abs(c))
        parts = [
            Trace(tuple(x for x, s in zip(e.vectors, e.y, strict=True) if s > 0), "plus", "class +1"),
            Trace(tuple(x for x, s in zip(e.vectors, e.y, strict=True) if s < 0), "minus", "class −1"),
        ]
        if size:
            along = (rounded(-c / size * reach), rounded(a / size * reach))
            parts.append(Trace(((-along[0], -along[1]), along), "main", "⟨w, x⟩ = 0"))
            share = min(Fraction(1), reach / 4 / size)
            name = "w" if share == 1 else "w (shortened)"
            parts.append(Trace((zero, (rounded(share * a), rounded(share * c))), "arrow", name))
        parts.append(Trace((e.vectors[look.i],), "star"))
        found.append(Panel(f"look {number}: mistake on point {look.i + 1}", ("x₁", "x₂"), box, tuple(parts), True))
    words = "the line and its weight vector after each mistake; the point of the mistake is marked"
    return Chart(tuple(found), words) if found else None
