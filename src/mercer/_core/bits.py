"""Points of zeros and ones as bits: |x - z|^2 is the number of coordinates that differ, a count of bits.

The count is exact and costs a few operations for 64 coordinates; a table gives the kernel's value for each count.
"""

from __future__ import annotations

import numpy as np

from ..types import Array
from .compile import compiled, exactly_compiled

_u = np.uint64
_ONE, _TWO, _FOUR, _LAST = _u(1), _u(2), _u(4), _u(56)
_M1, _M2, _M4, _ALL = _u(0x5555555555555555), _u(0x3333333333333333), _u(0x0F0F0F0F0F0F0F0F), _u(0x0101010101010101)
_COLUMNS = 1024


@exactly_compiled
def pack_sparse(indptr: Array, indices: Array, words: Array) -> None:
    """words[w, i] <- the coordinates 64 w ... 64 w + 63 of point i, one bit each, from the columns of its ones."""
    for i in range(indptr.size - 1):
        for k in range(indptr[i], indptr[i + 1]):
            words[indices[k] >> 6, i] |= _ONE << _u(indices[k] & 63)


@exactly_compiled
def pack_dense(X: Array, words: Array) -> None:
    """The same from rows of zeros and ones."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            if X[i, j] != 0:
                words[j >> 6, i] |= _ONE << _u(j & 63)


@compiled
def add_differing(word: int, column: Array, counts: Array) -> None:
    """counts_j += the number of bits in which `word` and column_j differ. (LLVM knows this sum of bits by sight.)"""
    mine = _u(word)
    for j in range(column.size):
        x = mine ^ column[j]
        x = x - ((x >> _ONE) & _M1)
        x = (x & _M2) + ((x >> _TWO) & _M2)
        x = (x + (x >> _FOUR)) & _M4
        counts[j] += (x * _ALL) >> _LAST


@compiled
def look_up(counts: Array, table: Array, out: Array) -> None:
    """out_j <- table[counts_j]."""
    for j in range(out.size):
        out[j] = table[counts[j]]


@compiled
def rows_of_counts(A: Array, B: Array, table: Array, out: Array, at: Array, start: int, stop: int) -> None:
    """out[at[i], j] <- table[bits in which a_i and b_j differ] for j from start to stop."""
    counts = np.empty(_COLUMNS, np.uint64)
    for left in range(start, stop, _COLUMNS):
        right = min(stop, left + _COLUMNS)
        count = counts[: right - left]
        for i in range(A.shape[1]):
            count[:] = 0
            for w in range(A.shape[0]):
                add_differing(A[w, i], B[w][left:right], count)
            look_up(count, table, out[at[i]][left:right])


@compiled
def sums_of_counts(A: Array, v: Array, B: Array, table: Array, out: Array, start: int, stop: int) -> None:
    """out[j] <- sum_i v_i table[bits in which a_i and b_j differ] for j from start to stop, in float64."""
    counts = np.empty(_COLUMNS, np.uint64)
    for left in range(start, stop, _COLUMNS):
        right = min(stop, left + _COLUMNS)
        count, total = counts[: right - left], out[left:right]
        total[:] = 0.0
        for i in range(A.shape[1]):
            count[:] = 0
            for w in range(A.shape[0]):
                add_differing(A[w, i], B[w][left:right], count)
            factor = v[i]
            for j in range(total.size):
                total[j] += factor * table[count[j]]
