"""The Gaussian kernel with a symbolic sigma: split into three factors, its series, and its infinitely many features."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from . import footnotes
from .algebraic import from_sympy
from .exact import require_whole, sympy
from .formula import (
    Call,
    Formula,
    Number,
    Power,
    Product,
    Quotient,
    Root,
    Series,
    Symbol,
    combination,
    condition,
    equals,
)
from .letters import k
from .problem import Problem
from .steps import Section, Solution, Step, Table, say
from .world import World

MOST_TERMS = 10
_x, _z, _sigma, _k = Symbol("x"), Symbol("z"), Symbol("sigma"), Symbol("k")
_s, _N = Symbol("s"), Symbol("N")


@dataclass(frozen=True)
class RbfProblem(Problem):
    """How many terms of the series are shown."""

    terms: int

    def solve(self) -> Solution:
        """See `rbf`."""
        return worked(self)

    def world(self, scope: str) -> World:
        """x, z and sigma are letters; s is the sum of so many products of features."""
        sp = sympy()
        x, z, sigma = (sp.Symbol(name.key, real=True) for name in (_x, _z, _sigma))
        kernel = sp.exp(-((x - z) ** 2) / (2 * sigma**2))
        front = sp.exp(-(x**2) / (2 * sigma**2)) * sp.exp(-(z**2) / (2 * sigma**2))
        partial = sum((x * z / sigma**2) ** j / sp.factorial(j) for j in range(self.terms))
        return World({k: lambda *_: kernel, _s: front * partial})

    def prove_series(self, step: Step) -> bool:
        """The terms are those of Taylor's series of exp."""
        sp, u = sympy(), sympy().Symbol("u")
        taylor = sp.series(sp.exp(u), u, 0, self.terms).removeO()
        return bool(sp.expand(taylor - sum(u**j / sp.factorial(j) for j in range(self.terms))) == 0)


def rbf(terms: int = 5) -> Solution:
    """exp(-(x - z)^2 / (2 sigma^2)) with a symbolic sigma: three factors, the series, one feature for each power."""
    sympy()
    return RbfProblem(terms).solve()


def worked(e: RbfProblem) -> Solution:
    """The solution, from the data alone."""
    require_whole("terms", e.terms, MOST_TERMS)
    sections = (_split(), _series(e), _features(e), _product(e))
    return Solution("The Gaussian kernel as a series, with σ", sections, {"terms": e.terms}, None, e)


def _exp(top: Formula, bottom: Formula) -> Formula:
    return Call("exp", (Quotient(top, bottom),))


def _split() -> Section:
    two = 2 * _sigma**2
    call = Call(k, (_x, _z))
    whole = _exp(-((_x - _z) ** 2), two)
    opened = _exp(-(_x**2) + 2 * (_x * _z) - _z**2, two)
    factors = Product((_exp(-(_x**2), two), _exp(-(_z**2), two), _exp(_x * _z, _sigma**2)))
    words = "On the line, with the square opened and the exponent shared out:"
    return Section("Three factors", (Step(say(words), (equals(call, whole, opened, factors),), scope="letters"),))


def _term(j: int) -> Formula:
    sp = sympy()
    x, z, sigma = (sp.Symbol(name.key, real=True) for name in (_x, _z, _sigma))
    return from_sympy((x * z / sigma**2) ** j / sp.factorial(j))


def _series(e: RbfProblem) -> Section:
    general = Series(Quotient(Power(_x * _z, _k), Product((Power(_sigma, 2 * _k), Symbol("k!")))), "k", "0", "∞")
    start: Formula = combination([1] * e.terms, [_term(j) for j in range(e.terms)])
    words = say("The third factor is a series; its first {} terms are the second line:", e.terms)
    shown = (condition(_exp(_x * _z, _sigma**2), "=", general), start)
    return Section("The series", (Step(words, shown, footnotes=(footnotes.SERIES_FROM_ZERO,), proof="series"),))


def _feature(letter: Symbol, j: int) -> Formula:
    from math import factorial

    front = _exp(-(letter**2), 2 * _sigma**2)
    if j == 0:
        return front
    if j == 1:
        return front * Quotient(letter, _sigma)
    below = Product((Power(_sigma, Number(Fraction(j))), Root(Number(Fraction(factorial(j))))))
    return front * Quotient(Power(letter, Number(Fraction(j))), below)


def _features(e: RbfProblem) -> Section:
    rows = tuple((say("{}", j), say("{}", _feature(_x, j))) for j in range(e.terms))
    share = Quotient(Power(_x, _k), Product((Power(_sigma, _k), Root(Symbol("k!")))))
    general = condition(Call(Symbol("φ", "k"), (_x,)), "=", _exp(-(_x**2), 2 * _sigma**2) * share)
    words = "Each term is something of x times the same of z: one feature for each k, from 0 on without end:"
    return Section("The features", (Step(say(words), (general, Table((say("k"), say("feature")), rows))),))


def _product(e: RbfProblem) -> Section:
    products = [_feature(_x, j) * _feature(_z, j) for j in range(e.terms)]
    summed = combination([1] * e.terms, products)
    words = say("The first {} features give the first terms, whose sum is called s:", e.terms)
    return Section("Their inner product", (Step(words, (equals(_s, summed),), scope="letters"),))
