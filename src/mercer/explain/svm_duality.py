"""Duality of the support vector machine: the Lagrangian in its terms, the dual function, Slater, why the dual."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from . import footnotes, letters
from .cases import meeting_hulls
from .exact import sympy
from .features import degree
from .formula import (
    Call,
    Formula,
    Inner,
    Listing,
    Norm,
    Number,
    Product,
    Series,
    Symbol,
    Words,
    chain,
    combination,
    condition,
    equals,
)
from .gram import is_polynomial
from .letters import HALF, alpha_bold, b, f_of, over, w, x_, y_
from .steps import Section, Step, Table, say
from .svm_answer import conditions
from .svm_dual import data
from .svm_problem import SvmProblem
from .world import Feature, World, exact, vector

_a, _beta, _xi = Symbol("alpha", "i"), Symbol("beta", "i"), Symbol("xi", "i")
_s, _infinity = Symbol("s"), Symbol("infinity")
_beta_bold, _xi_bold = Symbol("beta", bold=True), Symbol("xi", bold=True)
SCOPES = ("free", "substituted", "unbalanced", "uncovered", "zero", "ray", "strict")


def duality(e: SvmProblem) -> tuple[Section, ...]:
    """All sections."""
    first = (data(e), _four_terms(e), _substitution(e), _dual_function(e))
    if not e.optima:
        return (*first, _no_bound(e), _why(e))
    return (*first, _largest(e), _slater(e), _equal(e), _why(e))


# What the letters stand for.


def world(e: SvmProblem, scope: str) -> World:
    """w, b, the slacks and the multipliers as letters, or as the numbers of an example; and the Lagrangian of them."""
    sp, n = sympy(), e.n
    base = e._with_labels()
    zero, s = sp.Integer(0), sp.Symbol(_s.key, real=True)
    C = exact(e.C) if e.C is not None else zero
    alphas = [sp.Symbol(letters.alpha(i).key, real=True) for i in range(n)]
    betas = [sp.Symbol(Symbol("beta", str(i + 1)).key, real=True) for i in range(n)]
    slacks = [sp.Symbol(Symbol("xi", str(i + 1)).key, real=True) for i in range(n)] if e.C is not None else [zero] * n
    w_, b_ = _any_vector(e, base), sp.Symbol("b", real=True)
    if scope == "substituted":
        alphas[-1] = -e.y[-1] * sum(t * a for t, a in zip(e.y[:-1], alphas[:-1], strict=True))
        betas = [C - a for a in alphas]
        w_ = _combined(e, base, [t * a for t, a in zip(e.y, alphas, strict=True)])
    elif scope == "unbalanced":
        alphas, slacks = [C if e.C is not None else sp.Integer(1), *[zero] * (n - 1)], [zero] * n
        betas, w_, b_ = [C - a for a in alphas], _combined(e, base, [zero] * n), s * e.y[0]
    elif scope == "uncovered":
        alphas, betas, slacks = [zero] * n, [zero] * n, [-s, *[zero] * (n - 1)]
        w_, b_ = _combined(e, base, [zero] * n), zero
    elif scope == "zero":
        alphas, betas, slacks = [2 * s, *[zero] * (n - 1)], [zero] * n, [zero] * n
        w_, b_ = _combined(e, base, [zero] * n), zero
    elif scope == "ray":
        plus, minus = meeting_hulls(e.dual)
        alphas = [s * exact(p + m) for p, m in zip(plus, minus, strict=True)]
        w_ = _combined(e, base, [t * a for t, a in zip(e.y, alphas, strict=True)])
    elif scope == "strict":
        twice = 2 if e.C is None else 0
        w_ = _combined(e, base, [twice * t * exact(a) for t, a in zip(e.y, e.alpha, strict=True)])
        b_, slacks = twice * exact(e.b), [sp.Integer(2) if e.C is not None else zero] * n
    phi, own = base.functions["φ"], base.families[Symbol("x", bold=True)]

    def f(x: Any) -> Any:
        return _inner(w_, phi(x)) + b_

    whole = _inner(w_, w_) / 2 + C * sum(slacks)
    for i in range(n):
        whole += alphas[i] * (1 - slacks[i] - e.y[i] * f(own[i])) - (betas[i] * slacks[i] if e.C is not None else 0)
    families = {Symbol("alpha"): alphas, Symbol("beta"): betas, Symbol("xi"): slacks}
    L = sum(alphas) - sum(alphas[i] * alphas[j] * exact(e.signed_gram[i][j]) for i in range(n) for j in range(n)) / 2
    functions = {"Λ": lambda *_: sp.expand(whole), "h": lambda *_: sp.expand(L)}
    found = {
        w: w_,
        b: b_,
        letters.f: f,
        alpha_bold: vector(alphas),
        _beta_bold: vector(betas),
        _xi_bold: vector(slacks),
    }
    return base.also(found, families, functions)


def _any_vector(e: SvmProblem, base: World) -> Any:
    """w as letters: its coordinates, or in feature space the factors of the points."""
    sp = sympy()
    if e.linear:
        d = len(e.vectors[0])
        names = [sp.Symbol(name.key, real=True) for name in letters.coordinates(d, "w")]
        return vector(names) if d > 1 else names[0]
    return _combined(e, base, [sp.Symbol(f"v_{i + 1}", real=True) for i in range(e.n)])


def _combined(e: SvmProblem, base: World, beta: list[Any]) -> Any:
    phi, own = base.functions["φ"], base.families[Symbol("x", bold=True)]
    total = beta[0] * phi(own[0])
    for c, x in zip(beta[1:], own[1:], strict=True):
        total = total + c * phi(x)
    return total


def _inner(left: Any, right: Any) -> Any:
    if isinstance(left, Feature):
        return left.inner(right)
    return (left.T * right)[0, 0] if hasattr(left, "shape") else left * right


# The sections.


def _call(e: SvmProblem) -> Formula:
    own = (w, b, alpha_bold) if e.C is None else (w, b, _xi_bold, alpha_bold, _beta_bold)
    return Call("Λ", own)


def _label_sum(e: SvmProblem) -> Formula:
    return over(Product((_a, y_("i"), e.mapped(x_("i")))))


def _four_terms(e: SvmProblem) -> Section:
    square, phi = HALF * Norm(w) ** 2, e.mapped(x_("i"))
    inside = 1 - y_("i") * (Inner(w, phi) + b)
    rest = -(b * over(_a * y_("i"))) + over(_a)
    separate = square - over(Product((_a, y_("i"), Inner(w, phi)))) + rest
    together = square - Inner(w, _label_sum(e)) + rest
    if e.C is None:
        shown = equals(_call(e), square + over(_a * inside), separate, together)
        words = (
            "Each constraint, as 1 minus its left side, is at most 0 and gets a multiplier. Multiplied out, four terms:"
        )
        return Section("The Lagrangian in four terms", (_step(words, shown),))
    whole = square + letters.C * over(_xi) + over(_a * (inside - _xi)) - over(_beta * _xi)
    price = over((letters.C - _a - _beta) * _xi)
    shown = equals(_call(e), whole, separate + price, together + price)
    words = (
        "Both constraints of each point, as something that is at most 0, get a multiplier. Multiplied out, four "
        "terms and one for the slacks:"
    )
    return Section("The Lagrangian in four terms", (_step(words, shown),))


def _step(words: str, shown: Formula) -> Step:
    return Step(say(words), (shown,), footnotes=(footnotes.LAGRANGIAN, footnotes.FEASIBLE), scope="free")


def _substitution(e: SvmProblem) -> Section:
    twice = Inner(w, w)
    pair = Inner(e.mapped(x_("i")), e.mapped(x_("j")))
    double = over(Product((_a, Symbol("alpha", "j"), y_("i"), y_("j"), pair)), "ij")
    shown = (
        equals(w, _label_sum(e)),
        equals(over(_a * y_("i")), 0),
        equals(_call(e), HALF * twice - twice + over(_a), over(_a) - HALF * twice, over(_a) - HALF * double),
    )
    words = "Where the derivatives are zero the first two lines hold. Put in, the terms shrink one after the other:"
    slack = (
        say("and {}, so that the slacks drop out", condition(letters.C, "=", _a + _beta))
        if e.C is not None
        else say("")
    )
    return Section("The substitution, line by line", (Step(say(words), shown, slack, scope="substituted"),))


def _dual_function(e: SvmProblem) -> Section:
    """h is minus infinity unless the equalities hold."""
    own = (alpha_bold,) if e.C is None else (alpha_bold, _beta_bold)
    double = Series(Product((_a, Symbol("alpha", "j"), Symbol("G", "ij"))), "ij")
    value = equals(Call("h", own), over(_a) - HALF * double)
    conditions_: list[Formula] = [condition(over(_a * y_("i")), "=", 0)]
    if e.C is not None:
        conditions_.append(condition(letters.C, "=", _a + _beta))
    where = Listing(tuple(conditions_), "  and  ")
    first = Step(
        say("The dual function h is the least value of the Lagrangian for given multipliers. It is", ), (value,),
        say("but only where {}; otherwise it is {}", where, Listing((Words("−"), _infinity), "")), scope="substituted",
    )  # fmt: skip
    size = Number(e.C) if e.C is not None else Number(Fraction(1))
    b_step = Step(
        say(
            "Why the first: b stands in the Lagrangian once, with the factor {}. With {}, all others 0, {} and {}",
            -over(_a * y_("i")),
            condition(letters.alpha(0), "=", size), condition(w, "=", 0),
            condition(b, "=", combination([e.y[0]], [_s])),
        ),
        (equals(_call(e), combination([size.value, -size.value], [Number(Fraction(1)), _s])),),
        say("which has no lower bound as s grows"), scope="unbalanced",
    )  # fmt: skip
    steps = [first, b_step]
    if e.C is not None:
        steps.append(
            Step(
                say("Why the second: each slack has the factor {}. With all multipliers 0 and {}",
                    letters.C - _a - _beta, condition(Symbol("xi", "1"), "=", -_s)),
                (equals(_call(e), combination([-e.C], [_s])),), say("which has no lower bound either"),
                footnotes=(footnotes.OVER_XI,), scope="uncovered",
            )
        )  # fmt: skip
    return Section("The dual function, and where its constraints come from", tuple(steps))


def _largest(e: SvmProblem) -> Section:
    """max over the multipliers of the Lagrangian is the objective, or infinity."""
    violated = Step(
        say("Where a constraint fails, its multiplier drives the Lagrangian to {}. At {}, {}, without slack, with {}:",
            _infinity, condition(w, "=", 0), condition(b, "=", 0), condition(letters.alpha(0), "=", 2 * _s)),
        (equals(_call(e), 2 * _s),), scope="zero",
    )  # fmt: skip
    rows = []
    for i in range(e.n):
        slack = max(Fraction(0), 1 - e.y[i] * (e.dual.scores(e.alpha)[i] + e.b)) if e.C is not None else Fraction(0)
        left = 1 - slack - e.y[i] * (e.dual.scores(e.alpha)[i] + e.b)
        rows.append((say("{}", x_(i)), say("{}", chain(0, ">=", left))))
    inside = 1 - y_("i") * f_of(x_("i")) if e.C is None else 1 - _xi - y_("i") * f_of(x_("i"))
    table = Table((say("point"), say("{}", inside)), tuple(rows), "i")
    kept = Step(
        say("Where all hold, every multiplier stands before something that is at most 0, so that 0 is best for it, and "
            "the largest value is the objective. So it is at the optimum:"),
        (table,), scope="solved",
    )  # fmt: skip
    return Section("The largest Lagrangian is the objective, or infinite", (violated, kept))


def _slater(e: SvmProblem) -> Section:
    inside = y_("i") * f_of(x_("i"))
    rows = []
    for i in range(e.n):
        reached = 2 * e.y[i] * (e.dual.scores(e.alpha)[i] + e.b) if e.C is None else Fraction(0)
        least = Fraction(1) if e.C is None else Fraction(-1)
        rows.append((say("{}", x_(i)), say("{}", chain(least, "<", reached))))
    table = Table((say("point"), say("{}", inside)), tuple(rows), "i")
    words = (
        "The objective is convex and the constraints are affine. Twice the solution below is feasible, even strictly:"
    )
    if e.C is not None:
        words = (
            "The objective is convex and the constraints are affine. A machine with {}, {} and all slacks 2 is "
            "feasible, even strictly, since every slack is above 0 and every left side above −1:"
        )
        return Section(
            "Slater's condition",
            (Step(say(words, condition(w, "=", 0), condition(b, "=", 0)), (table,), scope="strict"),),
        )
    return Section("Slater's condition", (Step(say(words), (table,), scope="strict"),))


def _equal(e: SvmProblem) -> Section:
    steps = conditions(e).parts[1:]
    words = say("So the least value of the primal is the largest of the dual:")
    return Section("Minimum and maximum are the same", (Step(words), *steps))


def _no_bound(e: SvmProblem) -> Section:
    plus, minus = meeting_hulls(e.dual)
    sums = [p + m for p, m in zip(plus, minus, strict=True)]
    total = sum(sums, Fraction(0))
    listed = Listing(
        tuple(condition(letters.alpha(i), "=", c * _s) for i, c in enumerate(sums) if c),
        ",  ",
    )  # fmt: skip
    words = say("No machine is feasible, so that Slater's condition fails. The dual grows for ever along {}:", listed)
    shown = (equals(over(_a * y_("i")), 0), equals(Norm(w) ** 2, 0), equals(Call("h", (alpha_bold,)), total * _s))
    why = say("the largest value of the dual is {}, as is the least of the primal, over no machine at all", _infinity)
    return Section("The dual has no bound", (Step(words, shown, why, scope="ray"),))


def _why(e: SvmProblem) -> Section:
    """The sizes of both problems."""
    n = e.n
    d: int | None = len(e.vectors[0]) if e.linear else None
    if d is None and e.points is not None and is_polynomial(e.kernel):
        from .features import monomials

        if degree(e.kernel) <= 4:
            d = len(monomials(e.kernel, len(e.points[0])))
    rows = []
    if d is not None:
        slacks = n if e.C is not None else 0
        terms = Number(Fraction(d)) + 1 + n if slacks else Number(Fraction(d)) + 1
        rows.append((say("unknowns"), say("{}", equals(terms, d + 1 + slacks)), say("{}", n)))
        rows.append((say("numbers to keep"), say("{}", equals(Number(Fraction(n)) * d, n * d)),
                     say("{}", equals(Number(Fraction(n)) ** 2, n * n))))  # fmt: skip
    else:
        rows.append((say("unknowns"), say("as many as features, and b"), say("{}", n)))
        rows.append(
            (
                say("numbers to keep"),
                say("all features of all points"),
                say("{}", equals(Number(Fraction(n)) ** 2, n * n)),
            )
        )
    kind = "coordinates" if e.linear else "features"
    rows.append(
        (say("a parameter for each of the"), say(f"{d} {kind}" if d is not None else "features"), say(f"{n} points"))
    )
    table = Table(
        (say(""), say("primal: (w, b, slacks)" if e.C is not None else "primal: (w, b)"), say("dual: multipliers")),
        tuple(rows),
    )
    words = (
        "The sizes of the two, here. The dual is worth it where there are more features than points; and it needs only "
    )
    words += "inner products, so that a kernel can take their place:"
    return Section("Why the dual", (Step(say(words), (table,)),))
