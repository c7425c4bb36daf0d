"""The Gaussian's series by hand: infinitely many features, and what is left over after the first N."""

from __future__ import annotations

import decimal
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product as all_of
from math import factorial, prod
from typing import Any

from . import footnotes, letters
from .algebraic import from_sympy
from .exact import NotByHandError, quoted, sympy
from .features import Monomial
from .formula import (
    Call,
    Decimal,
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
    condition,
    equals,
    point,
    product,
)
from .letters import about, k, named_as, root_of
from .meaning import value
from .problem import Problem
from .steps import Prose, Section, Solution, Step, Table, say
from .world import World, exact

MOST_TERMS = 12
_MOST_FEATURES = 40
_DIGITS = 60
_k, _u, _factorial = Symbol("k"), Symbol("u"), Symbol("k!")
_N, _s, _r = Symbol("N"), Symbol("s"), Symbol("r")


@dataclass(frozen=True)
class SeriesProblem(Problem):
    """gamma of the Gaussian kernel, two points of numbers or of letters, and how many terms of the series are taken."""

    gamma: Fraction
    x: tuple[Formula, ...]
    z: tuple[Formula, ...]
    terms: int

    def solve(self) -> Solution:
        """exp(-gamma |x - z|^2) = exp(-gamma |x|^2) exp(-gamma |z|^2) sum_k (2 gamma <x, z>)^k / k!."""
        return worked(self)

    @property
    def numbers(self) -> bool:
        """Whether the points are numbers."""
        return all(isinstance(entry, Number) for entry in (*self.x, *self.z))

    def prove_bounds(self, step: Step) -> bool:
        """Every error is within its bound."""
        for count in range(1, self.terms + 1):
            world = self.world(f"terms {count}")
            error = value(Norm(Call(k, ()) - _s), world)
            if not bool(error.evalf(50) <= world.letters[_r].evalf(50)):
                return False
        return True

    @property
    def bold(self) -> tuple[Symbol, Symbol]:
        """The letters of both points: as asked for, or x and z."""
        x, z = named_as(self.x, "x")[0], named_as(self.z, "z")[0]
        return x, (z if z != x else letters.z)

    def world(self, scope: str) -> World:
        """The points are letters, or the numbers given; after so many terms there are a sum s and a bound r."""
        sp = sympy()
        kind, _, count = scope.partition(" ")
        d = len(self.x)
        u, v = (
            (letters.coordinates(d), letters.coordinates(d, "z"))
            if kind == "letters" and self.numbers
            else (self.x, self.z)
        )
        left, right = ([value(entry) for entry in p] for p in (u, v))
        gamma, inner = exact(self.gamma), sum(a * b for a, b in zip(left, right, strict=True))
        kernel = sp.exp(-gamma * sum((a - b) ** 2 for a, b in zip(left, right, strict=True)))
        points = {self.bold[0]: _vector(left), self.bold[1]: _vector(right), _u: 2 * gamma * inner}
        world = World({**points, k: lambda *_: kernel})
        if kind != "terms":
            return world
        front = sp.exp(-gamma * sum(a**2 for a in (*left, *right)))
        power = 2 * gamma * inner
        partial = front * sum(power**j / sp.factorial(j) for j in range(int(count)))
        bound = front * sp.Abs(power) ** int(count) / sp.factorial(int(count)) * sp.Max(1, sp.exp(power))
        return world.also({_N: sp.Integer(int(count)), _s: partial, _r: bound})


def _vector(entries: Sequence[Any]) -> Any:
    return sympy().ImmutableMatrix(entries) if len(entries) > 1 else entries[0]


def worked(e: SeriesProblem) -> Solution:
    """The solution, from the data alone."""
    if not isinstance(e.terms, int) or not 1 <= e.terms <= MOST_TERMS:
        raise NotByHandError(f"terms must be a whole number from 1 to {MOST_TERMS}, not {quoted(e.terms)}.")
    count = len(_exponents(len(e.x), e.terms))
    if count > _MOST_FEATURES:
        raise NotByHandError(
            f"{e.terms} terms in {len(e.x)} dimensions make {count} features, more than {_MOST_FEATURES}: take fewer "
            "terms, or mercer.features.GaussianSeries."
        )
    d = len(e.x)
    u, v = (letters.coordinates(d), letters.coordinates(d, "z")) if e.numbers else (e.x, e.z)
    sections = [_split(e, u, v), _series(e), _features(e, u, v), _remainder(e)]
    answer: dict[str, Any] = {"features": count}
    if e.numbers:
        sections.append(_numbers(e))
        answer["value"] = value(_gauss(e.gamma, e.x, e.z))
    return Solution(f"The Gaussian kernel as a series: γ = {e.gamma}", tuple(sections), answer, None, e)


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


def _split(e: SeriesProblem, x: Sequence[Formula], z: Sequence[Formula]) -> Section:
    gamma, (bold_x, bold_z) = e.gamma, e.bold
    squares, inner = (Norm(bold_x) ** 2, Norm(bold_z) ** 2), Inner(bold_x, bold_z)
    short = equals(
        Call(k, (bold_x, bold_z)),
        _exp(-gamma, Norm(bold_x - bold_z) ** 2),
        product(_exp(-gamma, squares[0]), _exp(-gamma, squares[1]), _exp(2 * gamma, inner)),
    )
    factors = product(_exp(-gamma, _squares(x)), _exp(-gamma, _squares(z)), _exp(2 * gamma, _dot(x, z)))
    written = equals(_gauss(gamma, x, z), factors)
    statement = say(
        "The square of the distance is {}, so the kernel falls into three factors:", squares[0] - 2 * inner + squares[1]
    )
    return Section("Three factors", (Step(statement, (short, written), scope="letters"),))


def _series(e: SeriesProblem) -> Section:
    bold_x, bold_z = e.bold
    statement = say(
        "The last factor is a series in {}:",
        condition(_u, "=", combination([2 * e.gamma], [Inner(bold_x, bold_z)])),
    )
    series = condition(Call("exp", (_u,)), "=", Series(Power(_u, _k) / _factorial, "k", "0", "∞"))
    return Section("The series", (Step(statement, (series,), footnotes=(footnotes.SERIES_FROM_ZERO,)),))


def _feature(gamma: Fraction, exponents: tuple[int, ...], names: Sequence[Formula]) -> Formula:
    """sqrt((2 gamma)^|a| / a!) x^a, without the exponential in front."""
    square = (2 * gamma) ** sum(exponents) / prod(factorial(m) for m in exponents)
    return Monomial(square, exponents).feature(names)


def _features(e: SeriesProblem, x: Sequence[Formula], z: Sequence[Formula]) -> Section:
    gamma, terms, bold_x = e.gamma, e.terms, e.bold[0]
    exponents = _exponents(len(x), terms)
    left, right = (column([_feature(gamma, a, names) for a in exponents]) for names in (x, z))
    if len(x) == 1:
        powers = Power(product(root_of(2 * gamma), x[0]), _k) / Root(_factorial)
        component = condition(Call(Symbol("phi", "k"), (x[0],)), "=", product(_exp(-gamma, x[0] ** 2), powers))
        first = Step(say("So φ has a component for each k, from 0 on:"), (component,))
    else:
        component = condition(Call("φ", (bold_x,)), "=", product(_exp(-gamma, Norm(bold_x) ** 2), left))
        first = Step(say(f"So φ has a component for each monomial. Those of degree below {terms} are"), (component,))
    factors = [(2 * gamma) ** j / factorial(j) for j in range(terms)]
    folded = equals(Inner(left, right), combination(factors, _powers(_dot(x, z), terms)))
    second = Step(
        say("The inner product of the features, without the two exponentials in front, begins the series:"),
        (folded,),
        scope="letters",
    )
    return Section("The feature map", (first, second))


def _powers(body: Formula, terms: int) -> list[Formula]:
    return [Number(Fraction(1)), body, *(body**j for j in range(2, terms))][:terms]


def _remainder(e: SeriesProblem) -> Section:
    gamma, terms, (bold_x, bold_z) = e.gamma, e.terms, e.bold
    front = _exp(-gamma, Norm(bold_x) ** 2 + Norm(bold_z) ** 2)
    power = Norm(_u) ** terms / Number(Fraction(factorial(terms)))
    bound = product(front, power, Call("max", (Number(Fraction(1)), Call("exp", (_u,)))))
    step = Step(
        say(f"After {terms} terms there remains at most (Lagrange's form)"),
        (condition(Norm(Symbol("R", str(terms))), "<=", bound),),
        say("the next derivative of exp is exp, taken at some point between 0 and {}", _u),
    )
    return Section("The remainder", (step,))


def _numbers(e: SeriesProblem) -> Section:
    bold_x, bold_z = e.bold
    rows = tuple((say("{}", count), *map(_rounded, cells)) for count, cells in enumerate(_sums(e), 1))
    shown_k = Call(k, (bold_x, bold_z))
    header = (say("{} terms", _N), say("sum {}", _s), say("error {}", Norm(shown_k - _s)), say("bound {}", _r))
    table = Table(header, rows, scopes=tuple(f"terms {count}" for count in range(1, e.terms + 1)))
    kernel = _gauss(e.gamma, e.x, e.z)
    written = from_sympy(value(kernel))
    rounded = about(written)
    tail = () if rounded is None else ("~", rounded)
    statement = say("With {} and {}:", equals(bold_x, point(e.x)), equals(bold_z, point(e.z)))
    shown = chain(shown_k, "=", kernel, "=", written, *tail)
    step = Step(statement, (shown, table), say("every error is within its bound"), scope="given", proof="bounds")
    return Section("With numbers", (step,))


def _sums(e: SeriesProblem) -> list[tuple[decimal.Decimal, ...]]:
    """Sum, error and bound after each number of terms, in decimals of many digits."""
    with decimal.localcontext() as context:
        context.prec = _DIGITS
        x, z = ([_decimal(entry) for entry in p] for p in (e.x, e.z))
        gamma = decimal.Decimal(e.gamma.numerator) / e.gamma.denominator
        front = (-gamma * sum(c * c for c in (*x, *z))).exp()
        u = 2 * gamma * sum(a * b for a, b in zip(x, z, strict=True))
        found: list[tuple[decimal.Decimal, ...]] = []
        whole, partial, term = front * u.exp(), decimal.Decimal(0), front
        for count in range(1, e.terms + 1):
            partial, term = partial + term, term * u / count
            found.append((partial, abs(whole - partial), abs(term) * max(decimal.Decimal(1), u.exp())))
    return found


def _decimal(entry: Formula) -> decimal.Decimal:
    assert isinstance(entry, Number)
    return decimal.Decimal(entry.value.numerator) / entry.value.denominator


def _rounded(number: decimal.Decimal) -> Prose:
    """Six digits."""
    return say("{}", Decimal(f"{float(number):.6g}"))
