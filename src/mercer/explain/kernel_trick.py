"""The kernel trick by hand: phi(x), phi(z), their inner product multiplied out and folded into k(x, z)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb
from typing import Any

from ..kernels import Gaussian, Kernel, Polynomial
from . import footnotes, letters
from .algebraic import from_sympy
from .exact import NotByHandError, fraction, sympy
from .features import Monomial, monomials
from .formula import Call, Formula, Inner, Number, Symbol, column, combination, equals, point, product
from .gaussian_series import SeriesProblem
from .gram import any_kernel, general, is_polynomial, require_numbers
from .gram import value as kernel_value
from .letters import coordinates, k, named_as
from .meaning import value
from .problem import Problem
from .steps import Section, Solution, Step, say
from .world import World

_DIMENSION = 2
_ONE = Number(Fraction(1))


@dataclass(frozen=True)
class TrickProblem(Problem):
    """A kernel that is a polynomial, and two points: of numbers, or of letters."""

    kernel: Kernel
    left: tuple[Formula, ...]
    right: tuple[Formula, ...]

    def solve(self) -> Solution:
        """See `kernel_trick`."""
        return worked(self)

    @property
    def d(self) -> int:
        """The number of coordinates."""
        return len(self.left)

    @cached_property
    def found(self) -> list[Monomial]:
        """The features."""
        return monomials(self.kernel, self.d)

    @cached_property
    def x(self) -> tuple[Symbol, list[Symbol]]:
        """The letter of the first point, and its coordinates: as asked for, or x."""
        return named_as(self.left, "x")

    @cached_property
    def z(self) -> tuple[Symbol, list[Symbol]]:
        """The letter of the second point, and its coordinates: as asked for, or z."""
        found = named_as(self.right, "z")
        return found if found[0] != self.x[0] else (letters.z, coordinates(self.d, "z"))

    def world(self, scope: str) -> World:
        """The points are letters, or the numbers that were given."""
        sp = sympy()
        left, right = (self.left, self.right) if scope == "given" else (self.x[1], self.z[1])
        points = {self.x[0]: _vector(left), self.z[0]: _vector(right)}
        factors = [sp.sqrt(sp.Rational(t.factor.numerator, t.factor.denominator)) for t in self.found]

        def phi(v: Any) -> Any:
            entries = tuple(v) if hasattr(v, "shape") else (v,)
            powers = [sp.prod(u**m for u, m in zip(entries, term.exponents, strict=True)) for term in self.found]
            features = [c * power for c, power in zip(factors, powers, strict=True)]
            return sp.ImmutableMatrix(features) if len(features) > 1 else features[0]

        def kernel(u: Any, v: Any) -> Any:
            first, second = (tuple(p) if hasattr(p, "shape") else (p,) for p in (u, v))
            return sp.sympify(kernel_value(self.kernel, first, second))

        return World({**points, k: kernel}, functions={"φ": phi})


def _vector(entries: Sequence[Formula]) -> Any:
    found = [value(entry) for entry in entries]
    return sympy().ImmutableMatrix(found) if len(found) > 1 else found[0]


def kernel_trick(kernel: Kernel | str = Polynomial(), x: Any = None, z: Any = None, terms: int = 6) -> Solution:  # noqa: B008
    """phi(x) . phi(z) = k(x, z), multiplied out and folded: for polynomial kernels, and for the Gaussian's series.

    x and z are vectors of numbers, or of names such as "x1"; left out, they are symbols in the plane (on the line for
    the Gaussian). `terms` is the number of terms of the Gaussian series.
    """
    sympy()
    kernel = any_kernel(kernel)
    d = _dimension(x, z, 1 if isinstance(kernel, Gaussian) else _DIMENSION)
    left, right = read_point(x, d, "x"), read_point(z, d, "z")
    if not isinstance(kernel, Gaussian) and not is_polynomial(kernel):
        raise NotByHandError(
            f"{kernel!r} has no feature map that can be written down here: take a polynomial kernel (linear, poly, "
            "their sums and products) or the Gaussian."
        )
    require_numbers(kernel)
    if isinstance(kernel, Gaussian):
        return SeriesProblem(fraction(kernel.gamma, "gamma"), left, right, terms).solve()
    return TrickProblem(kernel, left, right).solve()


def worked(e: TrickProblem) -> Solution:
    """The solution, from the data alone."""
    sections = [_kernel(e), _maps(e), _folded(e)]
    if all(isinstance(entry, Number) for entry in (*e.left, *e.right)):
        sections.append(_numbers(e))
    elif [*e.left, *e.right] != [*e.x[1], *e.z[1]]:
        sections.append(_named(e))
    answer = {"features": len(e.found), "value": value(_formula(e.kernel, e.left, e.right))}
    title = f"The kernel trick: {_title(e.kernel)} in {e.d} dimension{'s' if e.d > 1 else ''}"
    return Solution(title, tuple(sections), answer, None, e)


def _title(kernel: Kernel) -> str:
    return f"polynomial of degree {kernel.degree}" if isinstance(kernel, Polynomial) else repr(kernel)


def _dimension(x: Any, z: Any, otherwise: int) -> int:
    sizes = {
        1 if isinstance(given, str) or not hasattr(given, "__len__") else len(given)
        for given in (x, z)
        if given is not None
    }
    if len(sizes) > 1:
        raise ValueError(f"x and z must have the same number of coordinates, not {min(sizes)} and {max(sizes)}.")
    return sizes.pop() if sizes else otherwise


def read_point(given: Any, d: int, letter: str) -> tuple[Formula, ...]:
    """Numbers, or symbols for names; the usual letters where nothing is given."""
    if given is None:
        return tuple(coordinates(d, letter))
    entries = [given] if isinstance(given, str) or not hasattr(given, "__len__") else list(given)
    if not entries:
        raise ValueError(f"{letter} has no coordinates.")
    return tuple(_entry(entry, letter) for entry in entries)


def _entry(entry: Any, letter: str) -> Formula:
    if isinstance(entry, Symbol):
        return entry
    name = str(entry) if isinstance(entry, str) or getattr(entry, "is_Symbol", False) else ""
    if name.isidentifier():
        stem = name.rstrip("0123456789")
        return Symbol(stem.rstrip("_"), name[len(stem) :])
    return Number(fraction(entry, f"a coordinate of {letter}"))


def _dot(x: Sequence[Formula], z: Sequence[Formula]) -> Formula:
    return combination([1] * len(x), [a * b for a, b in zip(x, z, strict=True)])


def _formula(kernel: Kernel, x: Sequence[Formula], z: Sequence[Formula]) -> Formula:
    """k(x, z) with <x, z> written out."""
    return _in_letters(kernel, _dot(x, z))


def _in_letters(kernel: Kernel, inner: Formula) -> Formula:
    return general(kernel, inner, lambda kind: Number(Fraction(0)))


def _terms(found: list[Monomial], x: Sequence[Formula], z: Sequence[Formula]) -> Formula:
    """sum_m c_m x^m z^m."""
    return combination([term.factor for term in found], [product(term.of(x), term.of(z)) for term in found])


def _kernel(e: TrickProblem) -> Section:
    (x, xs), (z, zs) = e.x, e.z
    folded = _in_letters(e.kernel, Inner(x, z))
    relation = equals(Call(k, (x, z)), folded, _formula(e.kernel, xs, zs), _terms(e.found, xs, zs))
    statement = say("The kernel multiplied out is")
    if e.d > 1:
        statement = say("With {} and {}, the kernel multiplied out is", equals(x, point(xs)), equals(z, point(zs)))
    notes = (footnotes.DEGREE,) if isinstance(e.kernel, Polynomial) else ()
    return Section("The kernel", (Step(statement, (relation,), footnotes=notes, scope="letters"),))


def _maps(e: TrickProblem) -> Section:
    maps = []
    for letter, names in (e.x, e.z):
        maps.append(equals(Call("φ", (letter,)), column([term.feature(names) for term in e.found])))
    mixed = any(sum(map(bool, term.exponents)) > 1 for term in e.found)
    words = "Each of these {} terms is something of {} times the same thing of {}. These are the features:"
    statement = say(words, len(e.found), e.x[0], e.z[0])
    if len(e.found) == 1:
        statement = say("The term is something of {} times the same thing of {}. This is the feature:", e.x[0], e.z[0])
    reason = say("the factor of a term is shared out as its square root to both sides")
    notes = (footnotes.ALL_CROSS_TERMS,) if mixed else ()
    return Section("The feature map", (Step(statement, tuple(maps), reason, notes, "letters"),))


def _folded(e: TrickProblem) -> Section:
    (x, xs), (z, zs) = e.x, e.z
    members: list[Formula] = [_terms(e.found, xs, zs)]
    if isinstance(e.kernel, Polynomial) and e.kernel.degree > 1:
        members.append(_powers(e.kernel, _dot(xs, zs)))
    members += [_formula(e.kernel, xs, zs), _in_letters(e.kernel, Inner(x, z))]
    relation = equals(Inner(Call("φ", (x,)), Call("φ", (z,))), *members)
    step = Step(say("The inner product of the features, folded:"), (relation,), scope="letters")
    count = say("Here the features are no more than the coordinates.")
    if len(e.found) > e.d:
        words = (
            "The features would cost {} products in a space of {} dimensions; the kernel needs an inner product in {}, "
            "and one power. That is the trick."
        )
        count = say(words, len(e.found), len(e.found), e.d)
    return Section("Folded into the kernel", (step, Step(count)))


def _powers(kernel: Polynomial, inner: Formula) -> Formula:
    """(c + gamma u)^p by the binomial theorem."""
    p, gamma, c = int(kernel.degree), fraction(kernel.gamma), fraction(kernel.coef0)
    factors = [comb(p, j) * c ** (p - j) * gamma**j for j in range(p + 1)]
    return combination(factors, [_ONE, inner, *(inner**j for j in range(2, p + 1))])


def _numbers(e: TrickProblem) -> Section:
    (x, _), (z, _) = e.x, e.z
    phi_x, phi_z = ([from_sympy(value(term.feature(names))) for term in e.found] for names in (e.left, e.right))
    maps = [equals(Call("φ", (point(p),)), column(features)) for p, features in ((e.left, phi_x), (e.right, phi_z))]
    exact = from_sympy(value(_formula(e.kernel, e.left, e.right)))
    inner = combination([1] * len(e.found), [a * b for a, b in zip(phi_x, phi_z, strict=True)])
    long = equals(Inner(Call("φ", (x,)), Call("φ", (z,))), inner, exact)
    short = equals(Call(k, (x, z)), _formula(e.kernel, e.left, e.right), exact)
    words = "With {} and {}, the long way and the short way:"
    statement = say(words, equals(x, point(e.left)), equals(z, point(e.right)))
    return Section("With numbers", (Step(statement, (*maps, long, short), scope="given"),))


def _named(e: TrickProblem) -> Section:
    call = Call(k, (point(e.left), point(e.right)))
    relation = equals(call, _terms(e.found, e.left, e.right), _formula(e.kernel, e.left, e.right))
    return Section(
        "With these letters", (Step(say("The same with the letters asked for:"), (relation,), scope="given"),)
    )
