"""All monomials x^a of d variables up to a degree, in one order: what the polynomial and the Gaussian series share."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement
from math import factorial, prod
from typing import Any

import numpy as np

from ..types import Array, Points


@dataclass(frozen=True)
class Monomials:
    """x^a for the exponents a with |a| in `degrees`: by degree, then fewest variables first, then by variable.

    For d = 2 and degrees 0, 1, 2: 1, x1, x2, x1^2, x2^2, x1 x2.
    """

    variables: tuple[tuple[int, ...], ...]
    """Each monomial as the variables that are multiplied: x1^2 x3 is (0, 0, 2)."""

    @classmethod
    def of(cls, d: int, degrees: Any) -> Monomials:
        """The monomials of d variables with these degrees."""
        chosen: list[tuple[int, ...]] = []
        for degree in degrees:
            chosen += sorted(combinations_with_replacement(range(d), degree), key=lambda v: (len(set(v)), v))
        return cls(tuple(chosen))

    def __len__(self) -> int:
        return len(self.variables)

    @property
    def degrees(self) -> Any:
        """|a| of each."""
        return np.array([len(v) for v in self.variables])

    @property
    def multiplicities(self) -> Any:
        """a! = a_1! a_2! ... of each."""
        return np.array([prod(factorial(times) for times in Counter(v).values()) for v in self.variables], float)

    def evaluate(self, X: Points, out: Array, first: Any = 1.0) -> Any:
        """out[:, m] <- monomial m of each point, times `first` where the monomial 1 is among them."""
        known: dict[tuple[int, ...], int] = {}
        for m, v in enumerate(self.variables):
            if not v:
                out[:, m] = first
            elif v[:-1] in known:
                np.multiply(out[:, known[v[:-1]]], X[:, v[-1]], out=out[:, m])
            else:
                out[:, m] = np.prod(X[:, v], axis=1)
            known[v] = m
        return out

    def names(self, inputs: Any) -> list[str]:
        """Each as text: "1", "x0", "x0^2 x1"."""
        return [
            " ".join(str(inputs[i]) + (f"^{times}" if times > 1 else "") for i, times in sorted(Counter(v).items()))
            or "1"
            for v in self.variables
        ]


def factors(monomials: Monomials, degree: int, gamma: float, coef0: float) -> Array:
    """The factor of each x^a: sqrt(p! / (a! (p - |a|)!) gamma^|a| coef0^(p - |a|)), with p the degree."""
    size = monomials.degrees
    rest = np.array([factorial(degree - k) for k in size], float)
    multinomial = factorial(degree) / (monomials.multiplicities * rest)
    return np.asarray(np.sqrt(multinomial * gamma**size * coef0 ** (degree - size)))


@lru_cache(maxsize=8)
def polynomial_features(d: int, degree: int, gamma: float, coef0: float) -> tuple[Monomials, Array]:
    """Monomials and their factors: the features of (gamma <x, z> + coef0)^degree, coef0 >= 0, for d variables."""
    monomials = Monomials.of(d, range(degree + 1) if coef0 > 0 else [degree])
    return monomials, factors(monomials, degree, gamma, coef0)
