"""The support vector machine on phi(x) itself, beside the kernel: w is a vector, with roots."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from . import footnotes, letters
from .exact import NotByHandError
from .features import Monomial, combined, expansion, images, mapping
from .formula import Call, Formula, Inner, Norm, Number, Product, Symbol, combination, equals, matrix, point, product
from .letters import HALF, b, coordinates, f_of, k, over, w, x_, y_
from .sample import MOST_FEATURES
from .sample_steps import renamed
from .steps import Prose, Section, Step, Table, say
from .svm_answer import answer
from .world import World

if TYPE_CHECKING:
    from .svm_problem import SvmProblem

_a = Symbol("alpha", "i")


def features_of(e: SvmProblem) -> list[Monomial]:
    """The features of the kernel, where they can be written down."""
    if e.monomials is None:
        raise NotByHandError(
            f"detail='features' writes phi(x) out: it needs points and a polynomial kernel with at most "
            f"{MOST_FEATURES} features, not {e.kernel!r}."
        )
    return e.monomials


def world(e: SvmProblem, solved: World) -> World:
    """The features as the map of the kernel gives them, w added up from them, and f as <w, phi(x)> + b."""
    phi = mapping(features_of(e))
    own = [phi(x) for x in solved.families[Symbol("x", bold=True)]]
    w_: Any = own[0] * 0
    for number, sign, image in zip(solved.families[Symbol("alpha")], e.y, own, strict=True):
        w_ = w_ + sign * number * image
    intercept = solved.letters[b]

    def f(x: Any) -> Any:
        return (w_.T * phi(x))[0, 0] + intercept

    return solved.also({w: w_, letters.f: f}, functions={"φ": phi})


def in_features(e: SvmProblem) -> tuple[Section, ...]:
    """The features, the machine on them, and the same by the kernel."""
    return (_map(e), _weights(e), _values(e), _function(e), *answer(e)[1:])


def _map(e: SvmProblem) -> Section:
    terms = features_of(e)
    assert e.points is not None
    names = coordinates(len(e.points[0]))
    general = equals(Call("φ", (letters.x,)), point([term.feature(names) for term in terms]))
    rows = tuple(
        (say("{}", x_(i)), say("{}", point(x)), say("{}", s), say("{}", image))
        for i, (x, s, image) in enumerate(zip(e.points, e.y, images(terms, e.points), strict=True))
    )
    header = (say("point"), say("{}", x_("i")), say("{}", y_("i")), say("{}", Call("φ", (x_("i"),))))
    first = Step(
        say("The kernel has the features"), (general,), footnotes=(footnotes.ALL_CROSS_TERMS,), scope="explicit"
    )
    told = Prose((*say("The points in feature space:").parts, *renamed(e.labels)))
    second = Step(told, (Table(header, rows, "i"),), scope="explicit")
    inner = Inner(Call("φ", (x_("i"),)), Call("φ", (x_("j"),)))
    same = equals(inner, Call(k, (x_("i"), x_("j"))), Symbol("K", "ij"))
    words = (
        "Their inner products are the values of the kernel. So the linear machine on the features has the same dual, "
        "number by number, and the same multipliers:"
    )
    third = Step(say(words), (same, equals(letters.K, matrix(e.K))), scope="explicit")
    return Section("The features", (first, second, third))


def _weights(e: SvmProblem) -> Section:
    terms, beta = features_of(e), e.beta(e.alpha)
    assert e.points is not None
    members: list[Formula] = [over(Product((_a, y_("i"), Call("φ", (x_("i"),)))))]
    if any(beta):
        members.append(combination(beta, [Call("φ", (x_(i),)) for i in range(e.n)]))
    first = equals(w, *members, point(combined(terms, e.points, beta)))
    double = over(Product((_a, Symbol("alpha", "j"), Symbol("G", "ij"))), "ij")
    second = equals(Norm(w) ** 2, double, e.squared_norm(beta))
    steps = (
        Step(say("With the multipliers of the dual, {} is a vector:", w), (first,), scope="explicit"),
        Step(say("Its length by components is the one by the Gram matrix:"), (second,), scope="explicit"),
    )
    return Section("The weight vector", steps)


def _values(e: SvmProblem) -> Section:
    """Each point by w and by kernels, and that w is the best: its primal value is the dual one."""
    scores = e.dual.scores(e.alpha)
    by_w = Inner(w, Call("φ", (x_("i"),))) + b
    by_k = over(Product((Symbol("alpha", "j"), y_("j"), Call(k, (x_("j"), x_("i"))))), "j") + b
    rows = tuple(
        (
            say("{}", x_(i)),
            say("{}", e.alpha[i]),
            say("{}", score + e.b),
            say("{}", score + e.b),
            say("{}", s * (score + e.b)),
        )
        for i, (s, score) in enumerate(zip(e.y, scores, strict=True))
    )
    header = (say("point"), say("{}", _a), say("{}", by_w), say("{}", by_k), say("{}", y_("i") * f_of(x_("i"))))
    table = Step(say("Every point, by the vector and by the kernel:"), (Table(header, rows, "i"),), scope="explicit")
    slack = () if e.C is None else (letters.C * over(Symbol("xi", "i")),)
    primal = HALF * Norm(w) ** 2 + slack[0] if slack else HALF * Norm(w) ** 2
    dual = over(_a) - HALF * Norm(w) ** 2
    value = e.dual.dual_value(e.alpha)
    words = "The primal value of the vector is the value of the dual, so that no other vector is better:"
    proof = Step(say(words), (equals(primal, value, dual),), scope="explicit")
    return Section("The same machine twice", (table, proof))


def _function(e: SvmProblem) -> Section:
    terms, beta = features_of(e), e.beta(e.alpha)
    assert e.points is not None
    names = coordinates(len(e.points[0]))
    weights = zip(combined(terms, e.points, beta), terms, strict=True)
    parts = [product(weight, term.feature(names)) for weight, term in weights if weight != Number(Fraction(0))]
    inner = combination([*[1] * len(parts), e.b], [*parts, Number(Fraction(1))])
    shown = equals(f_of(letters.x), Inner(w, Call("φ", (letters.x,))) + b, inner)
    multiplied = equals(f_of(letters.x), expansion(e.kernel, e.points, beta, names, e.b)[1])
    steps = [
        Step(say("The function is linear in the features"), (shown,), scope="explicit"),
        Step(say("and a polynomial in the coordinates:"), (multiplied,), scope="explicit"),
    ]
    words = "The vector has {} numbers; the kernel form has one for each of {} support vectors."
    count = Step(say(words, len(terms), sum(1 for a in e.alpha if a)))
    return Section("The function", (*steps, count))
