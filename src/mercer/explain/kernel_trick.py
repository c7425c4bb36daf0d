"""The kernel trick by hand: phi(x), phi(z), their inner product multiplied out and folded into k(x, z)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb
from typing import Any

from ..kernels import Gaussian, Kernel, Polynomial
from ..kernels import kernel as as_kernel
from . import footnotes, letters
from .algebraic import from_sympy
from .exact import NotByHandError, fraction, sympy
from .features import Monomial, monomials
from .formula import (
    Call,
    Formula,
    Inner,
    Number,
    Symbol,
    column,
    combination,
    equals,
    point,
    product,
)
from .gaussian_series import gaussian_series
from .gram import general, is_polynomial, require_numbers
from .letters import coordinates, k
from .meaning import value
from .steps import Section, Solution, Step, claims, say

_DIMENSION = 2


def kernel_trick(kernel: Kernel | str = Polynomial(), x: Any = None, z: Any = None, terms: int = 6) -> Solution:  # noqa: B008
    """phi(x) . phi(z) = k(x, z), multiplied out and folded: for polynomial kernels, and for the Gaussian's series.

    x and z are vectors of numbers, or of names such as "x1"; left out, they are symbols in the plane (on the line for
    the Gaussian). `terms` is the number of terms of the Gaussian series.
    """
    sympy()
    kernel = as_kernel(kernel)
    d = _dimension(x, z, 1 if isinstance(kernel, Gaussian) else _DIMENSION)
    left, right = read_point(x, d, "x"), read_point(z, d, "z")
    if not isinstance(kernel, Gaussian) and not is_polynomial(kernel):
        raise NotByHandError(
            f"{kernel!r} has no feature map that can be written down here: take a polynomial kernel (linear, poly, "
            "their sums and products) or the Gaussian."
        )
    require_numbers(kernel)
    if isinstance(kernel, Gaussian):
        return gaussian_series(kernel, left, right, terms)
    found = monomials(kernel, d)
    sections = [_kernel(kernel, d, found), _maps(found, d), _folded(kernel, found, d)]
    if all(isinstance(entry, Number) for entry in (*left, *right)):
        sections.append(_numbers(kernel, found, left, right))
    elif (left, right) != (coordinates(d), coordinates(d, "z")):
        sections.append(_named(kernel, found, left, right))
    answer = {"features": len(found), "value": value(_formula(kernel, left, right))}
    return Solution(
        f"The kernel trick: {_title(kernel)} in {d} dimension{'s' if d > 1 else ''}", tuple(sections), answer
    )


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


def read_point(given: Any, d: int, letter: str) -> list[Formula]:
    """Numbers, or symbols for names; the usual letters where nothing is given."""
    if given is None:
        return list(coordinates(d, letter))
    entries = [given] if isinstance(given, str) or not hasattr(given, "__len__") else list(given)
    if not entries:
        raise ValueError(f"{letter} has no coordinates.")
    return [_entry(entry, letter) for entry in entries]


def _entry(entry: Any, letter: str) -> Formula:
    name = str(entry)
    if isinstance(entry, Symbol):
        return entry
    if (isinstance(entry, str) or getattr(entry, "is_Symbol", False)) and name.isidentifier():
        stem = name.rstrip("0123456789")
        return Symbol(stem.rstrip("_"), name[len(stem) :])
    return Number(fraction(entry, f"a coordinate of {letter}"))


def _dot(x: Sequence[Formula], z: Sequence[Formula]) -> Formula:
    return combination([1] * len(x), [a * b for a, b in zip(x, z, strict=True)])


def _formula(kernel: Kernel, x: Sequence[Formula], z: Sequence[Formula]) -> Formula:
    """k(x, z) with <x, z> written out."""
    return general(kernel, _dot(x, z), lambda kind: Number(Fraction(0)))


def _terms(found: list[Monomial], x: Sequence[Formula], z: Sequence[Formula]) -> Formula:
    """sum_m c_m x^m z^m."""
    return combination([term.factor for term in found], [product(term.of(x), term.of(z)) for term in found])


def _kernel(kernel: Kernel, d: int, found: list[Monomial]) -> Section:
    x, z = coordinates(d), coordinates(d, "z")
    left = Call(k, (letters.x, letters.z))
    folded = general(kernel, Inner(letters.x, letters.z), lambda kind: Number(Fraction(0)))
    relation = equals(left, folded, _formula(kernel, x, z), _terms(found, x, z))
    statement = say(
        "With {} and {}, the kernel multiplied out is", equals(letters.x, point(x)), equals(letters.z, point(z))
    )
    return Section("The kernel", (Step(statement, (relation,), assertion=claims(relation)),))


def _maps(found: list[Monomial], d: int) -> Section:
    maps = []
    for letter, symbol in (("x", letters.x), ("z", letters.z)):
        names = coordinates(d, letter)
        maps.append(equals(Call("φ", (symbol,)), column([term.feature(names) for term in found])))
    x, z = coordinates(d), coordinates(d, "z")
    halves = [equals(term.feature(x) * term.feature(z), _terms([term], x, z)) for term in found]
    mixed = any(sum(map(bool, term.exponents)) > 1 for term in found)
    statement = say(
        f"Each of the {len(found)} terms is something of {{}} times the same thing of {{}}. These are the features:",
        letters.x,
        letters.z,
    )
    reason = say("the factor of a term is shared out as its square root to both sides")
    step = Step(statement, tuple(maps), reason, claims(*halves), (footnotes.ALL_CROSS_TERMS,) if mixed else ())
    return Section("The feature map", (step,))


def _folded(kernel: Kernel, found: list[Monomial], d: int) -> Section:
    x, z = coordinates(d), coordinates(d, "z")
    left = Inner(Call("φ", (letters.x,)), Call("φ", (letters.z,)))
    members: list[Formula] = [_terms(found, x, z)]
    if isinstance(kernel, Polynomial) and kernel.degree > 1:
        members.append(_powers(kernel, _dot(x, z)))
    members.append(_formula(kernel, x, z))
    features_x, features_z = (column([term.feature(names) for term in found]) for names in (x, z))
    relation = equals(left, *members, general(kernel, Inner(letters.x, letters.z), lambda kind: Number(Fraction(0))))
    step = Step(
        say("The inner product of the features, folded:"),
        (relation,),
        assertion=claims(equals(Inner(features_x, features_z), *members)),
    )
    count = Step(
        say(
            f"The features would cost {len(found)} products in a space of {len(found)} dimensions; the kernel needs an "
            f"inner product in {d}, and one power. That is the trick."
            if len(found) > d
            else "Here the features are no more than the coordinates."
        )
    )
    return Section("Folded into the kernel", (step, count))


def _powers(kernel: Polynomial, inner: Formula) -> Formula:
    """(c + gamma u)^p by the binomial theorem."""
    p, gamma, c = int(kernel.degree), fraction(kernel.gamma), fraction(kernel.coef0)
    factors = [comb(p, j) * c ** (p - j) * gamma**j for j in range(p + 1)]
    powers: list[Formula] = [Number(Fraction(1)), inner, *(inner**j for j in range(2, p + 1))]
    return combination(factors, powers)


def _numbers(kernel: Kernel, found: list[Monomial], x: list[Formula], z: list[Formula]) -> Section:
    phi_x, phi_z = ([from_sympy(value(term.feature(names))) for term in found] for names in (x, z))
    maps = [equals(Call("φ", (point(names),)), column(features)) for names, features in ((x, phi_x), (z, phi_z))]
    exact = from_sympy(value(_formula(kernel, x, z)))
    inner = combination([1] * len(found), [a * b for a, b in zip(phi_x, phi_z, strict=True)])
    long = equals(Inner(Call("φ", (letters.x,)), Call("φ", (letters.z,))), inner, exact)
    short = equals(Call(k, (letters.x, letters.z)), _formula(kernel, x, z), exact)
    step = Step(
        say(
            "With {} and {}, the long way and the short way:", equals(letters.x, point(x)), equals(letters.z, point(z))
        ),
        (*maps, long, short),
        assertion=claims(long, short),
    )
    return Section("With numbers", (step,))


def _named(kernel: Kernel, found: list[Monomial], x: list[Formula], z: list[Formula]) -> Section:
    relation = equals(Call(k, (point(x), point(z))), _terms(found, x, z), _formula(kernel, x, z))
    return Section(
        "With these letters",
        (Step(say("The same with the letters asked for:"), (relation,), assertion=claims(relation)),),
    )
