"""Kernels that know the scale of the data: a parameter may be a word, for which `resolve` finds a number."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import Any, ClassVar, Self

from ..params import require_number
from ..types import Array, Points
from .base import Kernel
from .points import count, row_weights, vectors


class Adaptive(Kernel, names=()):
    """A kernel with one scale for all columns: gamma or length_scale, a number > 0 or a word.

    A kernel of your own writes `size`. Gamma is 1 over it, a length scale is the size itself.
    """

    adapts: ClassVar[str] = "gamma"
    words: ClassVar[tuple[str, ...]] = ("scale", "median")

    def __post_init__(self) -> None:
        super().__post_init__()
        value = getattr(self, self.adapts)
        if not isinstance(value, str):
            require_number(self, self.adapts, above=0)
        elif value not in self.words:
            words = ", ".join(repr(word) for word in self.words[:-1])
            raise ValueError(
                f"{type(self).__name__}: {self.adapts} must be a number > 0, {words} or {self.words[-1]!r}, "
                f"not {value!r}."
            )

    def size(self, word: str, X: Points, weight: Array) -> float:
        """What the word stands for: a typical distance of points, as the kernel measures it; 0 where all are one."""
        raise NotImplementedError(
            f"{type(self).__name__} must say how far apart points are: def size(self, word, X, weight)."
        )

    def require_resolved(self) -> None:
        if isinstance(getattr(self, self.adapts), str):
            raise ValueError(
                f"{self!r} waits for training data: call kernel.resolve(X) first, or give {self.adapts} as a number."
            )

    def resolve(self, X: Points, sample_weight: Any = None) -> Self:
        """See Kernel.resolve; rows of weight 0 do not count, and a weight of 2 counts as two rows."""
        word = getattr(self, self.adapts)
        if not isinstance(word, str):
            return self
        X = vectors(X)
        self.check(X, "X")
        size = self.size(word, X, row_weights(sample_weight, count(X)))
        if size == 0.0:  # all points are one: any number gives the same kernel
            size = 1.0
        if not isfinite(size) or not isfinite(1.0 / size):
            raise ValueError(f"{self.adapts}={word!r} overflows on this data: its values are too large or too small.")
        return replace(self, **{self.adapts: 1.0 / size if self.adapts == "gamma" else size})  # type: ignore[type-var]
