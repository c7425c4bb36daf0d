"""Kernels of the dot product <x, z>."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..params import require_integer, require_number
from ..types import Array, Points
from .base import Kernel, raise_to
from .pairwise import dot, squared_norms


@dataclass(frozen=True)
class Linear(Kernel):
    """k(x, z) = <x, z>."""

    def fill(self, A: Points, B: Points, out: Array) -> None:
        dot(A, B, out)

    def diagonal(self, A: Points) -> Array:
        """|x|^2."""
        return squared_norms(A)

    def reason(self) -> str | None:
        return "an inner product"

    def features(self, X: Points) -> Any:
        """The points themselves."""
        return X


@dataclass(frozen=True)
class Polynomial(Kernel, names=("poly", "polynomial")):
    """k(x, z) = (gamma <x, z> + coef0)^degree."""

    degree: int = 2
    gamma: float = 1.0
    coef0: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_integer(self, "degree", at_least=1)
        require_number(self, "gamma", above=0)
        require_number(self, "coef0")

    def fill(self, A: Points, B: Points, out: Array) -> None:
        dot(A, B, out)
        out *= self.gamma
        out += self.coef0
        raise_to(out, self.degree)

    def diagonal(self, A: Points) -> Array:
        """(gamma |x|^2 + coef0)^degree."""
        values = self.gamma * squared_norms(A) + self.coef0
        raise_to(values, self.degree)
        return values

    def reason(self) -> str | None:
        if self.coef0 < 0:
            return None
        return "a product of sums of an inner product and a constant >= 0"
