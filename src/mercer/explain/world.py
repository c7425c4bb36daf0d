"""What the letters of a worked solution stand for, found from its data alone.

A relation that is shown is checked by putting in, for every letter, what it stands for: x_1 the first point, K the Gram
matrix, w the vector of feature space, f the function. Nothing of this is kept in the solution that is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from .exact import sympy
from .exponential import Exponential, as_exponential
from .formula import Symbol

Family = Sequence[Any]


@dataclass(frozen=True)
class World:
    """Letters without an index, families of letters with one (x_i is a list, K_ij a list of lists), named functions.

    `at` says for which point an index stands, counted from 0.
    """

    letters: Mapping[Symbol, Any] = field(default_factory=dict)
    families: Mapping[Symbol, Family] = field(default_factory=dict)
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    at: Mapping[str, int] = field(default_factory=dict)

    def where(self, **at: int) -> World:
        """The same, with indices that stand for these points."""
        return replace(self, at={**self.at, **at})

    def also(
        self,
        letters: Mapping[Symbol, Any] | None = None,
        families: Mapping[Symbol, Family] | None = None,
        functions: Mapping[str, Callable[..., Any]] | None = None,
    ) -> World:
        """The same, with more letters."""
        return replace(
            self,
            letters={**self.letters, **(letters or {})},
            families={**self.families, **(families or {})},
            functions={**self.functions, **(functions or {})},
        )

    def family(self, letter: Symbol) -> Family | None:
        """The values of a letter with an index, or None where it has none."""
        return self.families.get(Symbol(letter.name, "", letter.bold)) if letter.index else None

    def tokens(self, letter: Symbol) -> tuple[str, ...]:
        """The indices of a letter, one by one: i, j of K_ij; 12 of x_12."""
        members = self.family(letter)
        nested = members and isinstance(members[0], list | tuple)
        return tuple(letter.index) if nested else (letter.index,)

    def size(self, letter: Symbol, token: str) -> int:
        """How many values an index of this letter runs over."""
        members = self.family(letter)
        assert members is not None
        return len(members)


@dataclass(frozen=True)
class Feature:
    """A vector of feature space, sum_i c_i phi(x_i): only its inner products are known, by the kernel."""

    kernel: Callable[[Any, Any], Any]
    terms: tuple[tuple[Any, Any], ...]
    """Pairs of a factor and a point."""

    def __add__(self, other: Any) -> Feature:
        if other == 0:
            return self
        return Feature(self.kernel, (*self.terms, *other.terms)) if isinstance(other, Feature) else NotImplemented

    __radd__ = __add__

    def __mul__(self, factor: Any) -> Feature:
        return Feature(self.kernel, tuple((factor * c, x) for c, x in self.terms))

    __rmul__ = __mul__

    def __neg__(self) -> Feature:
        return self * -1

    def __truediv__(self, divisor: Any) -> Feature:
        inverse: Any = 1 / divisor
        return self.__mul__(inverse)

    def inner(self, other: Feature) -> Any:
        """<u, v> = sum_ij c_i d_j k(x_i, z_j)."""
        total: Any = sympy().Integer(0)
        for c, x in self.terms:
            for d, z in other.terms:
                total += c * d * self.kernel(x, z)
        return total

    def is_zero(self) -> bool:
        """Whether every point has the factor 0, or the length is 0."""
        factors: dict[Any, Any] = {}
        for c, x in self.terms:
            factors[x] = factors.get(x, 0) + c
        if all(multiplied_out(c) == 0 for c in factors.values()):
            return True
        return bool(multiplied_out(self.inner(self)) == 0)


def exact(number: Fraction | int | Exponential) -> Any:
    """A fraction, or a number with exp, as SymPy's."""
    if isinstance(number, Exponential):
        return number.to_sympy()
    number = Fraction(number)
    return sympy().Rational(number.numerator, number.denominator)


def with_exp(number: Any) -> Any:
    """A number of SymPy's in which there is exp of fractions, but no root: as one of ours, whose sign is sure.

    None where it is another.
    """
    sp = sympy()
    if not (getattr(number, "is_number", False) and number.has(sp.exp, sp.E)):
        return None
    try:
        return as_exponential(number)
    except TypeError:
        return None


def multiplied_out(number: Any) -> Any:
    """The same expression multiplied out; where there is exp in it, as one quotient."""
    found = with_exp(number)
    return sympy().expand(number) if found is None else exact(found)


def root(square: Any) -> Any:
    """The square root of a number; with exp in it, as it stands: SymPy would ask at length what it is."""
    sp = sympy()
    return sp.Pow(square, sp.Rational(1, 2), evaluate=not square.has(sp.exp, sp.E))


def vector(numbers: Sequence[Any]) -> Any:
    """A column of SymPy's."""
    return sympy().ImmutableMatrix([exact(v) if isinstance(v, Fraction | int | Exponential) else v for v in numbers])
