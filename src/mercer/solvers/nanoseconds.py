"""The time of passes over features, of sums of their squares and of factors: by it one method is chosen over another.

These are rough times of one core; a factor of two either way costs little.
"""

from __future__ import annotations

from typing import Protocol

from .triangular import factor_work

PER_DENSE_ENTRY, PER_SPARSE_ENTRY = 0.25, 1.0
PER_ROW = 10.0
PER_PAIR = 0.5
"""Of entries of a sparse row; half of the pairs are computed."""
OF_A_PRODUCT = 0.5
"""A product takes this part of the time of a pass of coordinate descent, in which rows come in random order."""
FLOPS = 25.0
"""Multiplications of dense float64 matrices in a nanosecond."""
PASSES_PER_DIGIT = 10.0
"""So many passes make the gap a tenth, as long as nothing is known."""


class SizedRows(Protocol):
    """Features of points, or what landmarks see: n rows with so many entries in all."""

    @property
    def n(self) -> int: ...

    @property
    def entries(self) -> int: ...

    @property
    def sparse(self) -> bool: ...
    @property
    def pairs(self) -> float: ...


def of_a_pass(design: SizedRows) -> float:
    """To read all rows once."""
    return design.entries * (PER_SPARSE_ENTRY if design.sparse else PER_DENSE_ENTRY) + PER_ROW * design.n


def of_a_product(design: SizedRows) -> float:
    """To multiply all rows by a vector, and to add them up, each times what came out."""
    return OF_A_PRODUCT * of_a_pass(design)


def of_squares(design: SizedRows, rows: int, side: int) -> float:
    """To sum up z z' of some rows, in `side` coordinates, or in as many as a sparse row has entries."""
    entries = design.entries / design.n
    if design.sparse:
        return 0.5 * PER_PAIR * rows * min(design.pairs, entries * side)
    return 0.5 * rows * entries * (1.0 + side / FLOPS)


def of_a_factor(side: int) -> float:
    """To factor a matrix of this side."""
    return factor_work(side) / FLOPS
