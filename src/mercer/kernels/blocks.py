"""Kernels as scikit-learn's users have them: a function of two matrices, a kernel of a Gaussian process."""

from __future__ import annotations

import sys
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..params import split_nested
from ..types import Array, Points
from .base import Kernel
from .custom import name_of
from .pairwise import dense
from .points import Domain, common_dtype, count

_DIAGONAL = 32  # points whose block is computed for its diagonal
_MEANT = (
    "A function that is a kernel takes two matrices and gives the matrix of all values, as in scikit-learn; a function "
    "of two points becomes a kernel by FromFunction(f)."
)


@dataclass(frozen=True, eq=False, repr=False)
class FromBlocks(Kernel, names=()):
    """k(X, Z) = function(X, Z), a function of two sets of points that gives the matrix, as scikit-learn's are.

    It is called with parts of both sets, so each value may depend on its two points alone. Whether it is positive
    definite nobody knows: `mercer.evidence(kernel, X)` looks.

    Parameters
    ----------
    function : callable
        function(X, Z), an array with a row for each point of X and a column for each of Z.
    """

    function: Callable[[Any, Any], Any]
    symmetric = False
    serial = True
    tiles = 8  # of the function's own

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"{type(self).__name__} needs a function of two matrices, not {self.function!r}.")

    def fill(self, A: Points, B: Points, out: Array) -> None:
        out[...] = self._values(A, B)

    def diagonal(self, A: Points) -> Array:
        """Of small blocks."""
        out = np.empty(count(A), common_dtype(A))
        for start in range(0, count(A), _DIAGONAL):
            part = A[start : start + _DIAGONAL]
            out[start : start + _DIAGONAL] = self._values(part, part).diagonal()
        return out

    def _values(self, A: Points, B: Points) -> Array:
        """What the function gives, if that is a matrix of numbers with a row and a column per point."""
        expected = (count(A), count(B))
        try:
            values = np.asarray(dense(self.function(A, B)))
        except (TypeError, ValueError, IndexError, AttributeError) as error:
            sets = " and ".join(" x ".join(map(str, np.shape(X))) for X in (A, B))
            raise ValueError(f"{self!r} cannot be computed for matrices of {sets}: {error}. {_MEANT}") from error
        if values.shape != expected:
            shape = " x ".join(map(str, values.shape)) or "one number"
            raise ValueError(
                f"{self!r} must give a matrix of {expected[0]} x {expected[1]} for {expected[0]} and {expected[1]} "
                f"points, but gave {shape}. {_MEANT}"
            )
        if values.dtype.kind not in "fiub" or not np.isfinite(values).all():
            raise ValueError(f"{self!r} must give finite numbers, but some of its values are none.")
        return values

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {name_of(self.function)}>"


@dataclass(frozen=True, eq=False, repr=False)
class FromGaussianProcess(FromBlocks, names=()):
    """k(X, Z) of a kernel of sklearn.gaussian_process.kernels, with its hyperparameters as they are.

    WhiteKernel is 0 between two sets of points, here as there: the noise is alpha of KernelRidge.

    Parameters
    ----------
    function : sklearn.gaussian_process.kernels.Kernel
        The kernel of scikit-learn's.
    """

    symmetric = True

    def __post_init__(self) -> None:
        if not is_process(self.function):
            raise TypeError(f"FromGaussianProcess needs a kernel of scikit-learn's, not {self.function!r}.")
        ours = [value for value in self.function.get_params().values() if isinstance(value, Kernel)]  # type: ignore[attr-defined]
        if ours:
            raise TypeError(f"{ours[0]!r} is Mercer's: begin the sum or product with it, as in Gaussian() + RBF().")
        object.__setattr__(self, "function", deepcopy(self.function))  # it can be changed in place

    @property
    def domain(self) -> Domain:
        """Vectors, or whatever it was made for."""
        return Domain.VECTORS if self.function.requires_vector_input else Domain.OBJECTS  # type: ignore[attr-defined]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The kernel and, if deep, its hyperparameters as function__length_scale."""
        inner = self.function.get_params() if deep else {}  # type: ignore[attr-defined]
        return {"function": self.function} | {f"function__{name}": value for name, value in inner.items()}

    def with_params(self, **params: Any) -> Self:
        """A copy with other values."""
        own, nested = split_nested(params)
        changed = type(self)(own.pop("function", self.function))
        changed.function.set_params(**nested.pop("function", {}))  # type: ignore[attr-defined]
        return super(FromGaussianProcess, changed).with_params(**own, **nested)

    def _values(self, A: Points, B: Points) -> Array:
        return super()._values(dense(A), dense(B))

    def reason(self) -> str | None:
        return "built by sums, products and powers from kernels of this kind" if _certain(self.function) else None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.function!r}>"


def is_process(value: Any) -> bool:
    """Whether it is a kernel of scikit-learn's Gaussian processes (asked without importing them)."""
    module = sys.modules.get("sklearn.gaussian_process.kernels")
    return module is not None and isinstance(value, module.Kernel)


def _certain(kernel: Any) -> bool:
    """Whether it is surely positive definite; ExpSineSquared, of the Euclidean distance, is not in the plane."""
    name = type(kernel).__name__ if type(kernel).__module__ == "sklearn.gaussian_process.kernels" else ""
    if name == "Exponentiation":
        return kernel.exponent in range(1, 100) and _certain(kernel.kernel)
    if name in ("Sum", "Product"):
        return _certain(kernel.k1) and _certain(kernel.k2)
    return name in ("RBF", "Matern", "RationalQuadratic", "ConstantKernel", "DotProduct", "WhiteKernel")
