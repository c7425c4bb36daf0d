"""The dual of ridge regression in full: J(a) term by term, and the derivatives of linear and quadratic forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import footnotes
from .exact import sympy
from .formula import (
    Call,
    Derivative,
    Formula,
    Inner,
    Symbol,
    Transposed,
    chain,
    column,
    combination,
    condition,
    equals,
    matrix,
)
from .letters import HALF, K, a_bold, lam, over, quadratic_form, t_bold, w, x_
from .steps import Section, Step, Table, say
from .world import World, exact

if TYPE_CHECKING:
    from .ridge import RidgeProblem

SCOPES = ("terms", "derivatives")
_J, _I, _s = Symbol("J"), Symbol("I", bold=True), Symbol("s", "i")
_ti, _ai = Symbol("t", "i"), Symbol("a", "i")
_p, _q = Symbol("p"), Symbol("q")


def duality(e: RidgeProblem) -> tuple[Section, ...]:
    """The sections between the Gram matrix and the linear system."""
    return _sizes(e), _terms(e), _derivatives(e), _system(e)


def world(e: RidgeProblem, base: World) -> World:
    """The coefficients a are letters; w = sum a_i phi(x_i), s_i = <w, phi(x_i)>, J of them."""
    sp = sympy()
    a = [sp.Symbol(Symbol("a", str(i + 1)).key, real=True) for i in range(e.n)]
    column_ = sp.ImmutableMatrix(a)
    K_ = base.letters[K]
    scores = list(K_ * column_)
    t = base.letters[t_bold]
    square = (column_.T * K_ * column_)[0, 0]
    J = sum((s - v) ** 2 for s, v in zip(scores, t, strict=True)) / 2 + exact(e.weight) / 2 * square
    linear = (column_.T * t)[0, 0]
    phi, own = base.functions["φ"], base.families[Symbol("x", bold=True)]
    w_ = a[0] * phi(own[0])
    for c, x in zip(a[1:], own[1:], strict=True):
        w_ = w_ + c * phi(x)
    found: dict[Symbol, Any] = {a_bold: column_, w: w_, _J: lambda *_: sp.expand(J)}
    found |= {_p: lambda *_: linear, _q: lambda *_: sp.expand(square)}
    if e.linear:
        found[e.design] = sp.ImmutableMatrix([[exact(v) for v in x] for x in e.vectors])
    families = {Symbol("a"): a, Symbol("s"): scores}
    return base.also(found, families)


def _sizes(e: RidgeProblem) -> Section:
    m: Any = len(e.vectors[0]) if e.linear else len(e.monomials) if e.monomials is not None else "M"
    n = e.n
    rows = [
        (e.design, f"{n} × {m}", "the rows are the points" if e.linear else "the rows are the features of the points"),
        (w, f"{m} × 1", "one weight for each feature"),
        (a_bold, f"{n} × 1", "one coefficient for each point"),
        (K, f"{n} × {n}", "the Gram matrix"),
        (t_bold, f"{n} × 1", "the targets"),
    ]
    table = Table(
        (say("letter"), say("size"), say("")), tuple((say("{}", a), say(size), say(what)) for a, size, what in rows)
    )
    shown = condition(K, "=", e.design * Transposed(e.design))
    entry = condition(Symbol("K", "ij"), "=", Inner(e.mapped(x_("i")), e.mapped(x_("j"))))
    words = say("The sizes, with {} points and {} features:", n, m) if isinstance(m, int) else say("The sizes:")
    return Section("The sizes", (Step(words, (table, shown, entry)),))


def _terms(e: RidgeProblem) -> Section:
    """J with w = sum a_i phi(x_i) put in: four terms, each in a and K."""
    aT = Transposed(a_bold)
    phi = e.mapped(x_("i"))
    start = equals(Call(_J, (a_bold,)), HALF * over((Inner(w, phi) - _ti) ** 2) + HALF * lam * Inner(w, w))
    opened = equals(
        Call(_J, (a_bold,)),
        HALF * over(_s**2) - over(_s * _ti) + HALF * over(_ti**2) + HALF * lam * Inner(w, w),
    )
    first = equals(HALF * over(_s**2), HALF * (aT * K * K * a_bold))
    second = equals(-over(_s * _ti), -(aT * K * t_bold))
    third = equals(HALF * over(_ti**2), HALF * (Transposed(t_bold) * t_bold))
    fourth = equals(HALF * lam * Inner(w, w), HALF * lam * (aT * K * a_bold))
    result = equals(
        Call(_J, (a_bold,)),
        HALF * (aT * K * K * a_bold)
        - aT * K * t_bold
        + HALF * (Transposed(t_bold) * t_bold)
        + HALF * lam * (aT * K * a_bold),
    )
    numbers, Phi = Call("φ", (x_("i"),)), Symbol("Phi", bold=True)
    inside = numbers * Transposed(numbers)
    outer = condition(_s**2, "=", _s * Transposed(_s), "=", aT * Phi * inside * Transposed(Phi) * a_bold)
    summed = condition(Transposed(Phi) * Phi, "=", over(inside))
    words = (
        "The first term. A number is its own transpose, so that its square can be written with the outer product of "
        "the features, whose sum over all points is {}:"
    )
    note = (footnotes.SECOND_TERM,)
    steps = (
        Step(say("With {}:", equals(w, over(_ai * phi))), (start,), scope="terms"),
        Step(say("Opened, with {}:", equals(_s, Inner(w, phi))), (opened,), scope="terms"),
        Step(say(words, summed), (outer,)),
        Step(say("That gives"), (first,), scope="terms"),
        Step(say("The second term is linear in {}:", a_bold), (second,), footnotes=note, scope="terms"),
        Step(say("The third does not depend on {}:", a_bold), (third,), scope="terms"),
        Step(say("The fourth is the squared length of {}:", w), (fourth,), scope="terms"),
        Step(say("Together, in {} alone:", a_bold), (result,), scope="terms"),
    )
    return Section("The dual form, term by term", steps)


def _derivatives(e: RidgeProblem) -> Section:
    """d(a't)/da = t and d(a'Ka)/da = 2Ka, by components."""
    symbols = [Symbol("a", str(i + 1)) for i in range(e.n)]
    linear = equals(Call(_p, (a_bold,)), Transposed(a_bold) * t_bold, combination(e.t, symbols))
    square = equals(Call(_q, (a_bold,)), Transposed(a_bold) * K * a_bold, quadratic_form(e.K, symbols))
    by_linear = tuple(equals(Derivative(_p, s), t) for s, t in zip(symbols, e.t, strict=True))
    doubled = [[2 * v for v in row] for row in e.K]
    by_square = tuple(
        equals(Derivative(_q, s), combination(row, symbols)) for s, row in zip(symbols, doubled, strict=True)
    )
    steps = (
        Step(say("A linear form, written out:"), (linear,), scope="derivatives"),
        Step(say("Its derivatives, one by one, are the entries of {}:", t_bold), by_linear, scope="derivatives"),
        Step(say("A quadratic form, written out:"), (square,), scope="derivatives"),
        Step(say("Its derivatives are the rows of {}:", 2 * (K * a_bold)), by_square,
             say("each mixed term comes twice, since {} is symmetric", K), scope="derivatives"),
        Step(say("So"), (equals(2 * (K * a_bold), matrix(doubled) * column(symbols)),), scope="derivatives"),
    )  # fmt: skip
    return Section("The derivatives, by components", steps)


def _system(e: RidgeProblem) -> Section:
    gradient = K * K * a_bold - K * t_bold + lam * K * a_bold
    folded = K * ((K + lam * _I) * a_bold - t_bold)
    shown: Formula = chain(Derivative(_J, a_bold), "=!", gradient, "=", folded, "=!", 0)
    solved = condition((K + lam * _I) * a_bold, "=", t_bold)
    words = "So the derivative of J is zero where"
    return Section(
        "The linear system",
        (Step(say(words), (shown, solved), footnotes=(footnotes.INVERTIBLE,), scope="terms"),),
    )
