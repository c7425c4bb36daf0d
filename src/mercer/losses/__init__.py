"""Losses: what a mistake costs, one file per family. They know neither kernels nor solvers."""

from .base import Loss, Terms
from .logistic import Logistic
from .margin import HardMargin, Hinge, OneClass, SquaredHinge
from .regression import EpsilonInsensitive, Squared

__all__ = [
    "EpsilonInsensitive",
    "HardMargin",
    "Hinge",
    "Logistic",
    "Loss",
    "OneClass",
    "Squared",
    "SquaredHinge",
    "Terms",
]


def __dir__() -> list[str]:
    return __all__
