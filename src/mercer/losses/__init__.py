"""Losses: what a mistake costs. They know neither kernels nor solvers."""

from .base import Loss
from .logistic import Logistic
from .quadratic import (
    Box,
    EpsilonInsensitive,
    HardMargin,
    Hinge,
    OneClass,
    Squared,
    SquaredHinge,
    Terms,
    violation,
)

__all__ = [
    "Box",
    "EpsilonInsensitive",
    "HardMargin",
    "Hinge",
    "Logistic",
    "Loss",
    "OneClass",
    "Squared",
    "SquaredHinge",
    "Terms",
    "violation",
]


def __dir__() -> list[str]:
    return __all__
