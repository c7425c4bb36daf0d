"""Sums of powers of one letter q with whole factors: dictionaries from exponents to factors that are not 0.

Only the terms that are there cost anything, so that exponents may be large.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from math import gcd

Terms = dict[int, int]

ONE: Terms = {0: 1}
_MOST_STEPS = 400
"""Of a division: quotients of more terms are not looked for."""
_HIGHEST = 1000
"""Exponents up to which a greatest common divisor is looked for."""


def plus(a: Terms, b: Terms) -> Terms:
    """a + b."""
    total = dict(a)
    for k, c in b.items():
        total[k] = total.get(k, 0) + c
    return {k: c for k, c in total.items() if c}


def times(a: Terms, b: Terms) -> Terms:
    """a b."""
    total: Terms = {}
    for k, c in a.items():
        for m, d in b.items():
            total[k + m] = total.get(k + m, 0) + c * d
    return {k: c for k, c in total.items() if c}


def multiplied(factors: Iterable[Terms]) -> Terms:
    """The product of all."""
    return reduce(times, factors, ONE)


def stretched(a: Terms, factor: int) -> Terms:
    """q^factor in place of q."""
    return a if factor == 1 else {k * factor: c for k, c in a.items()}


def shifted(a: Terms, shift: int, divisor: int = 1) -> Terms:
    """a q^shift / divisor, which must be whole."""
    return {k + shift: c // divisor for k, c in a.items()}


def content(a: Terms) -> int:
    """The number that divides all factors, with the sign of the lowest term."""
    return gcd(*a.values()) * (1 if a[min(a)] > 0 else -1)


def divided(a: Terms, b: Terms) -> Terms | None:
    """a / b, where it is such a sum with few terms; else None. From the lowest exponent on."""
    first, last, highest = min(b), max(b), max(a)
    rest = dict(a)
    found: Terms = {}
    while rest and len(found) < _MOST_STEPS:
        k = min(rest)
        factor, left = divmod(rest[k], b[first])
        place = k - first
        if left or place + last > highest:
            return None
        found[place] = factor
        for m, d in b.items():
            value = rest.get(place + m, 0) - factor * d
            if value:
                rest[place + m] = value
            else:
                del rest[place + m]
    return None if rest else found


def lowest(a: Terms, b: Terms) -> tuple[Terms, Terms]:
    """The quotient a / b in lowest terms, where exponents (at least 0) are not too large for that."""
    common = gcd(*a, *b) or 1
    if max(*a, *b) > _HIGHEST * common or min(len(a), len(b)) == 1:
        return a, b
    from sympy import ZZ
    from sympy.polys.euclidtools import dup_inner_gcd

    dense = [_dense({k // common: c for k, c in part.items()}) for part in (a, b)]
    _, above, below = dup_inner_gcd(*dense, ZZ)
    sign = 1 if below[-1] > 0 else -1
    return stretched(_sparse(above, sign), common), stretched(_sparse(below, sign), common)


def _dense(a: Terms) -> list[int]:
    from sympy import ZZ

    return [ZZ(a.get(k, 0)) for k in range(max(a), -1, -1)]


def _sparse(dense: list[int], sign: int) -> Terms:
    return {k: int(c) * sign for k, c in enumerate(reversed(dense)) if c}
