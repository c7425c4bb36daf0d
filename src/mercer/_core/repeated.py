"""Equal rows of a matrix: how they are found, and how they share what they have together.

Each row gets a number: the sum of its entries' bits times a factor for each column. Equal rows have equal numbers. The
sums are integers modulo 2^64, so that their order does not matter, and a dense row has the number of a sparse one.
"""

from __future__ import annotations

from ..types import Array
from .compile import compiled, exactly_compiled

_ROUNDING = 1e-12


@compiled
def add_dense(bits: Array, factors: Array, out: Array) -> None:
    """out_i += sum_k bits_ik factors_k."""
    for i in range(bits.shape[0]):
        row, total = bits[i], out[i]
        for k in range(row.size):
            total += row[k] * factors[k]
        out[i] = total


@compiled
def add_sparse(indptr: Array, indices: Array, bits: Array, factors: Array, out: Array) -> None:
    """The same for rows of a CSR matrix, of which these are the bits of the entries."""
    for i in range(out.size):
        for k in range(indptr[i], indptr[i + 1]):
            out[i] += bits[k] * factors[indices[k]]


@exactly_compiled
def fill_up(place: Array, most: Array, left: Array, out: Array) -> None:
    """out_i <- what i, which may have most_i, takes of left[place_i]: all that there is, one after the other."""
    for i in range(place.size):
        have = left[place[i]]
        taken = most[i] if have >= most[i] * (1.0 - _ROUNDING) else have
        out[i] = taken
        left[place[i]] = have - taken if have - taken > _ROUNDING * most[i] else 0.0
