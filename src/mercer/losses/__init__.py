"""Losses: what a mistake costs, one file per family. They know neither kernels nor solvers."""

from .base import Box, Loss, Terms, violation
from .logistic import Logistic
from .margin import HardMargin, Hinge, OneClass, SquaredHinge
from .regression import EpsilonInsensitive, Squared

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
