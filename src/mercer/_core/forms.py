"""Form: which kernel the native tiles compute. A way sums over coordinates, a map makes values of the sums."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Summed(IntEnum):
    """What is summed up over the coordinates of two points; `COUNTS` are of bits that differ."""

    PRODUCTS = 0
    SQUARES = 1
    DISTANCES = 2
    MINIMA = 3
    CHI2 = 4
    CHI2_DISTANCES = 5
    COUNTS = 6


class Map(IntEnum):
    """What is made of a sum s.

    NONE: s. POWER: (factor s + offset)^exponent. EXPONENTIAL: 2^(factor s + the levels of both points), at most 1.
    MATERN12, 32, 52: the Matern kernels of u = factor sqrt(s).
    """

    NONE = 0
    POWER = 1
    EXPONENTIAL = 2
    MATERN12 = 3
    MATERN32 = 4
    MATERN52 = 5


class Form(NamedTuple):
    """A way and a map, with the map's numbers."""

    way: Summed
    map: Map = Map.NONE
    factor: float = 1.0
    offset: float = 0.0
    exponent: int = 1
