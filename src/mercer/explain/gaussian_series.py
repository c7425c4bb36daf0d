"""The Gaussian's series by hand: infinitely many features, and what is left over after the first N."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product as all_of
from math import factorial, prod
from typing import Any

from ..kernels import Gaussian
from . import footnotes, letters
from .algebraic import from_sympy
from .exact import NotByHandError, fraction, sympy
from .features import Monomial
from .formula import (
    Call,
    Formula,
    Inner,
    Norm,
    Number,
    Power,
    Root,
    Series,
    Symbol,
    chain,
    column,
    combination,
    equals,
    point,
    product,
)
from .letters import about, k, root_of
from .meaning import value
from .steps import Section, Solution, Step, Table, claims, say

MOST_TERMS = 12
_MOST_FEATURES = 40
_k, _u, _factorial = Symbol("k"), Symbol("u"), Symbol("k!")


def gaussian_series(kernel: Gaussian, x: list[Formula], z: list[Formula], terms: int) -> Solution:
    """exp(-gamma |x - z|^2) = exp(-gamma |x|^2) exp(-gamma |z|^2) sum_k (2 gamma <x, z>)^k / k!."""
    if not isinstance(terms, int) or not 1 <= terms <= MOST_TERMS:
        raise NotByHandError(f"terms must be a whole number from 1 to {MOST_TERMS}, not {terms!r}.")
    gamma = fraction(kernel.gamma, "gamma")
    exponents = _exponents(len(x), terms)
    if len(exponents) > _MOST_FEATURES:
        raise NotByHandError(
            f"{terms} terms in {len(x)} dimensions make {len(exponents)} features, more than {_MOST_FEATURES}: take "
            "fewer terms, or mercer.features.GaussianSeries."
        )
    numbers = all(isinstance(entry, Number) for entry in (*x, *z))
    u, v = (letters.coordinates(len(x)), letters.coordinates(len(x), "z")) if numbers else (x, z)
    sections = [_split(gamma, u, v), _series(gamma), _features(gamma, u, v, terms), _remainder(gamma, terms)]
    answer: dict[str, Any] = {"features": len(exponents)}
    if numbers:
        sections.append(_numbers(gamma, x, z, terms))
        answer["value"] = value(_gauss(gamma, x, z))
    return Solution(f"The Gaussian kernel as a series: γ = {gamma}", tuple(sections), answer)


def _exponents(d: int, terms: int) -> list[tuple[int, ...]]:
    """All exponents a of d variables with |a| < terms: by degree, then fewest variables first."""
    small = (a for a in all_of(range(terms), repeat=d) if sum(a) < terms)
    return sorted(small, key=lambda a: (sum(a), sum(map(bool, a)), [-m for m in a]))


def _squares(x: Sequence[Formula]) -> Formula:
    return combination([1] * len(x), [entry**2 for entry in x])


def _dot(x: Sequence[Formula], z: Sequence[Formula]) -> Formula:
    return combination([1] * len(x), [a * b for a, b in zip(x, z, strict=True)])


def _exp(factor: Fraction, body: Formula) -> Formula:
    return Call("exp", (combination([factor], [body]),))


def _gauss(gamma: Fraction, x: Sequence[Formula], z: Sequence[Formula]) -> Formula:
    """exp(-gamma |x - z|^2), written out."""
    return _exp(-gamma, combination([1] * len(x), [(a - b) ** 2 for a, b in zip(x, z, strict=True)]))


def _split(gamma: Fraction, x: Sequence[Formula], z: Sequence[Formula]) -> Section:
    squares, inner = (Norm(letters.x) ** 2, Norm(letters.z) ** 2), Inner(letters.x, letters.z)
    short = equals(
        Call(k, (letters.x, letters.z)),
        _exp(-gamma, Norm(letters.x - letters.z) ** 2),
        product(_exp(-gamma, squares[0]), _exp(-gamma, squares[1]), _exp(2 * gamma, inner)),
    )
    factors = product(_exp(-gamma, _squares(x)), _exp(-gamma, _squares(z)), _exp(2 * gamma, _dot(x, z)))
    written = equals(_gauss(gamma, x, z), factors)
    statement = say(
        "The square of the distance is {}, so the kernel falls into three factors:", squares[0] - 2 * inner + squares[1]
    )
    return Section("Three factors", (Step(statement, (short, written), assertion=claims(written)),))


def _series(gamma: Fraction) -> Section:
    statement = say(
        "The last factor is a series in {}:", equals(_u, combination([2 * gamma], [Inner(letters.x, letters.z)]))
    )
    series = equals(Call("exp", (_u,)), Series(Power(_u, _k) / _factorial, "k", "0", "∞"))
    return Section("The series", (Step(statement, (series,), footnotes=(footnotes.SERIES_FROM_ZERO,)),))


def _feature(gamma: Fraction, exponents: tuple[int, ...], names: Sequence[Formula]) -> Formula:
    """sqrt((2 gamma)^|a| / a!) x^a, without the exponential in front."""
    square = (2 * gamma) ** sum(exponents) / prod(factorial(m) for m in exponents)
    return Monomial(square, exponents).feature(names)


def _features(gamma: Fraction, x: Sequence[Formula], z: Sequence[Formula], terms: int) -> Section:
    exponents = _exponents(len(x), terms)
    left, right = (column([_feature(gamma, a, names) for a in exponents]) for names in (x, z))
    if len(x) == 1:
        powers = Power(product(root_of(2 * gamma), x[0]), _k) / Root(_factorial)
        component = equals(Call(Symbol("phi", "k"), (x[0],)), product(_exp(-gamma, x[0] ** 2), powers))
        first = Step(say("So φ has a component for each k, from 0 on:"), (component,))
    else:
        component = equals(Call("φ", (letters.x,)), product(_exp(-gamma, Norm(letters.x) ** 2), left))
        first = Step(say(f"So φ has a component for each monomial. Those of degree below {terms} are"), (component,))
    factors = [(2 * gamma) ** j / factorial(j) for j in range(terms)]
    folded = equals(Inner(left, right), combination(factors, _powers(_dot(x, z), terms)))
    second = Step(
        say("The inner product of the features, without the two exponentials in front, begins the series:"),
        (folded,),
        assertion=claims(folded),
    )
    return Section("The feature map", (first, second))


def _powers(body: Formula, terms: int) -> list[Formula]:
    return [Number(Fraction(1)), body, *(body**j for j in range(2, terms))][:terms]


def _remainder(gamma: Fraction, terms: int) -> Section:
    front = _exp(-gamma, Norm(letters.x) ** 2 + Norm(letters.z) ** 2)
    power = Norm(_u) ** terms / Number(Fraction(factorial(terms)))
    bound = product(front, power, Call("max", (Number(Fraction(1)), Call("exp", (_u,)))))
    step = Step(
        say(f"After {terms} terms there remains at most (Lagrange's form)"),
        (chain(Norm(Symbol("R", str(terms))), "<=", bound),),
        say("the next derivative of exp is exp, taken at some point between 0 and {}", _u),
    )
    return Section("The remainder", (step,))


def _numbers(gamma: Fraction, x: list[Formula], z: list[Formula], terms: int) -> Section:
    sp = sympy()
    u = 2 * sp.Rational(gamma.numerator, gamma.denominator) * value(_dot(x, z))
    kernel = _gauss(gamma, x, z)
    exact, front = value(kernel), value(product(_exp(-gamma, _squares(x)), _exp(-gamma, _squares(z))))
    rows, relations = [], []
    for count in range(1, terms + 1):
        partial = front * sum((u**j / sp.factorial(j) for j in range(count)), sp.Integer(0))
        bound = front * sp.Abs(u) ** count / sp.factorial(count) * sp.Max(1, sp.exp(u))
        relations.append(chain(Norm(kernel - from_sympy(partial)), "<=", from_sympy(bound)))
        cells = (partial, sp.Abs(exact - partial), bound)
        rows.append((say("{}", count), *(say(f"{float(cell):.6g}".replace("-", "−")) for cell in cells)))
    rounded = about(from_sympy(exact))
    tail = () if rounded is None else ("~", rounded)
    shown = chain(Call(k, (letters.x, letters.z)), "=", kernel, "=", from_sympy(exact), *tail)
    step = Step(
        say("With {} and {}:", equals(letters.x, point(x)), equals(letters.z, point(z))),
        (shown, Table((say("terms"), say("sum"), say("error"), say("bound")), tuple(rows))),
        say("every error is within its bound"),
        claims(shown, *relations),
    )
    return Section("With numbers", (step,))
