"""Products beta K in float64, and what rounding may have done to them.

`times` sums up chunks of rows, and then their sums: fewer roundings in a row than one sum has. `exact_times` splits K
and beta into multiples of a power of two, so few that all their products and sums are exact, and a small rest: what
rounding does to that is some 1e-5 of what it would have done to all.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..types import Array, Index

_CHUNK = 64
_UNIT = 0.5 * float(np.finfo(np.float64).eps)
_MORE = 8  # roundings of a sum: those of the sums of two classes, and a few
_DIGITS, _OF_K = 53, 24  # bits of a number, and of those the part of K's

Product = Callable[[Array, Array, float], Array]
"""From beta, K, and a number that no value of K exceeds by much."""


def times(beta: Array, K: Array, top: float) -> Array:
    """beta K."""
    out, part_sum, rows = np.zeros((len(beta), K.shape[1])), _like(beta, K), np.empty((_CHUNK, K.shape[1]))
    for part in _chunks(beta):
        out += np.matmul(beta[:, part], _taken(K, part, rows), out=part_sum)
    return out


def exact_times(beta: Array, K: Array, top: float) -> Array:
    """beta K, nearly without rounding."""
    out, rest = np.zeros((2, len(beta), K.shape[1]))
    part_sum, rows, buffer = _like(beta, K), *np.empty((2, _CHUNK, K.shape[1]))
    large = 1.5 * 2.0 ** (_DIGITS - 1 - _OF_K) * float(_power(np.asarray(top)))  # adding it rounds
    coarse = coarse_part(beta)
    fine = beta - coarse
    for part in _chunks(beta):
        own = _taken(K, part, rows)
        rounded = np.add(own, large, out=buffer[: len(own)])
        rounded -= large
        out += np.matmul(coarse[:, part], rounded, out=part_sum)
        rest += np.matmul(fine[:, part], own, out=part_sum)
        rest += np.matmul(coarse[:, part], np.subtract(own, rounded, out=rounded), out=part_sum)
    return out + rest


def _like(beta: Array, K: Array) -> Array:
    """Room for a sum, used again and again: fresh memory is slow."""
    return np.empty((len(beta), K.shape[1]))


def _taken(K: Array, part: Index | slice, room: Array) -> Array:
    return K[part] if isinstance(part, slice) else np.take(K, part, axis=0, out=room[: part.size], mode="clip")


def coarse_part(beta: Array) -> Array:
    """beta by multiples of a power of two, so that sums of its products with K's have no more digits than a number."""
    bits = _DIGITS - _OF_K - 1 - max(beta.shape[1], 2).bit_length()
    unit = _power(np.abs(beta).max(axis=1, keepdims=True, initial=0.0)) * 2.0**-bits
    return np.asarray(np.rint(beta / unit) * unit)


def _power(size: Array) -> Array:
    """The least power of two above a size; 1 for 0."""
    return np.asarray(2.0 ** np.where(size > 0.0, np.ceil(np.log2(np.where(size > 0.0, size, 1.0))) + 1.0, 0.0))


def _chunks(beta: Array) -> list[Index | slice]:
    """The rows that have coefficients, some at a time; neighbours as a slice, which copies nothing."""
    used = np.flatnonzero(beta.any(axis=0))
    parts = [used[start : start + _CHUNK] for start in range(0, used.size, _CHUNK)]
    return [slice(int(p[0]), int(p[-1]) + 1) if p[-1] - p[0] == p.size - 1 else p for p in parts]


def rounding(beta: Array, root: Array) -> Array:
    """How far `times` may be from the truth, in parts of root(K_xx), for each row of beta: a product, the sum of a
    chunk, and the sums over all chunks and both classes. root holds root(K_xx) of the rows of K.
    """
    return np.asarray(_roundings(root.size) * _UNIT * (np.abs(beta) * root).sum(axis=1))


def exact_rounding(beta: Array, root: Array, norm: Array) -> Array:
    """The same of `exact_times`: that of the rest, and of the last sums, which are no larger than root(K_xx) |w|."""
    coarse, least = coarse_part(beta), float(root[root > 0.0].min(initial=np.inf))
    rest = (np.abs(beta - coarse) * root).sum(axis=1)
    rest += 2.0 * float(root.max(initial=0.0)) ** 2 * 2.0**-_OF_K * np.abs(coarse).sum(axis=1) / least
    return np.asarray(_UNIT * (4.0 * norm + _roundings(root.size) * rest))


def _roundings(n: int) -> float:
    return _CHUNK + 2 * n / _CHUNK + _MORE
