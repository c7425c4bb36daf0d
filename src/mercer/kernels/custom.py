"""A user's own: a matrix of values, a function of two objects, a feature map."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..limits import check_limits
from ..types import Array, Points
from .base import Kernel
from .pairwise import dense, dot
from .points import Domain, count, held_width, squared_norms, vectors


@dataclass(frozen=True, eq=False, repr=False)
class Precomputed(Kernel):
    """Values that are already there.

    `Precomputed()`: X is the block itself, a row per point and a column per training point, as in scikit-learn.
    `Precomputed(matrix)`: points are row numbers of the matrix, k(i, j) = matrix[i, j].

    Parameters
    ----------
    matrix : array-like of shape (n, n), default=None
        The values; None: they come in place of points.
    """

    matrix: Any = None
    symmetric = False  # nobody knows

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.matrix is not None:
            matrix = dense(vectors(self.matrix, "matrix")).view()
            if matrix.shape[0] != matrix.shape[1]:
                raise ValueError(f"Precomputed needs a square matrix, not {matrix.shape[0]} x {matrix.shape[1]}.")
            matrix.flags.writeable = False
            object.__setattr__(self, "matrix", matrix)

    @classmethod
    def of_checked(cls, matrix: Array) -> Precomputed:
        """Precomputed(matrix), of a square matrix of which each entry was looked at already."""
        kernel = cls()
        matrix = matrix.view()
        matrix.flags.writeable = False
        object.__setattr__(kernel, "matrix", matrix)
        return kernel

    @property
    def domain(self) -> Domain:
        """Rows of values, or row numbers."""
        return Domain.VALUES if self.matrix is None else Domain.OBJECTS

    def check(self, X: Points, name: str) -> None:
        """Row numbers must be row numbers."""
        if self.matrix is None:
            return
        index = np.asarray(X)
        if index.dtype.kind not in "iuf" or index.size != count(X) or np.any(index != np.floor(index)):
            raise ValueError(f"Points of Precomputed(matrix) are row numbers: {name} must be a list of integers.")
        if index.min() < 0 or index.max() >= len(self.matrix):
            raise ValueError(f"{name} has row numbers outside 0 ... {len(self.matrix) - 1}, the rows of the matrix.")

    def fill(self, A: Points, B: Points, out: Array) -> None:
        if self.matrix is None:
            out[...] = dense(A)[:, B]
        else:
            out[...] = self.matrix[np.ix_(_numbers(A), _numbers(B))]

    def scratch_width(self, X: Points) -> int:
        """Rows are cut out, not copied."""
        return 1

    def diag(self, X: Points) -> Array:
        """The diagonal of the block, which must be square."""
        if self.matrix is not None:
            return super().diag(X)
        return self(X).diagonal().copy()

    def diagonal(self, A: Points) -> Array:
        if self.matrix is None:
            return self.diag(A)
        index = _numbers(A)
        return np.asarray(self.matrix[index, index])

    def __repr__(self) -> str:
        return "Precomputed()" if self.matrix is None else f"<Precomputed {len(self.matrix)} x {len(self.matrix)}>"

    def __eq__(self, other: object) -> bool:
        both_bare = isinstance(other, Precomputed) and self.matrix is None and other.matrix is None
        return both_bare or self is other

    def __hash__(self) -> int:
        return hash(Precomputed) if self.matrix is None else id(self)


def _numbers(points: Points) -> Any:
    return np.asarray(points).reshape(-1).astype(np.intp)


def name_of(function: Any) -> str:
    """What a function is called; an object or a partial function, what it is."""
    return getattr(function, "__name__", None) or type(function).__name__


@dataclass(frozen=True, eq=False, repr=False)
class FromFunction(Kernel, names=()):
    """k(x, z) = function(x, z), for points of any kind: vectors, strings, sets, graphs. Give a list of them.

    Whether it is positive definite nobody knows: `mercer.evidence(kernel, X)` looks.

    Parameters
    ----------
    function : callable
        function(x, z), a number.
    """

    function: Callable[[Any, Any], float]
    domain_of_its_own: ClassVar[Domain] = Domain.OBJECTS
    symmetric = False
    serial = True

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"FromFunction needs a function of two points, not {self.function!r}.")

    def fill(self, A: Points, B: Points, out: Array) -> None:
        B = dense(B)
        for i, x in enumerate(dense(A)):
            for j, z in enumerate(B):
                check_limits()  # one value can take long
                out[i, j] = self._value(x, z)

    def diagonal(self, A: Points) -> Array:
        """function(x, x)."""
        return np.array([self._value(x, x) for x in dense(A)], dtype=np.float64)

    def _value(self, x: Any, z: Any) -> float:
        value = self.function(x, z)
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise TypeError(
                f"{self!r} must give one number for two points, but gave {type(value).__name__} {value!r:.60}."
            ) from None
        if not np.isfinite(number):
            raise ValueError(f"{self!r} gave {number} for the points {x!r:.60} and {z!r:.60}.")
        return number

    def __repr__(self) -> str:
        return f"<FromFunction {name_of(self.function)}>"


@dataclass(frozen=True, eq=False, repr=False)
class FromFeatures(Kernel, names=()):
    """k(x, z) = phi(x) . phi(z).

    phi is a function of one point that gives its vector of features (or of a whole set, that gives a matrix with a row
    per point), or a fitted scikit-learn transformer. Points are whatever phi takes.

    Parameters
    ----------
    phi : callable or transformer
        The feature map.
    """

    phi: Any
    domain_of_its_own: ClassVar[Domain] = Domain.OBJECTS
    serial = True

    def __post_init__(self) -> None:
        if not callable(self.phi) and not hasattr(self.phi, "transform"):
            raise TypeError(f"FromFeatures needs a function or a fitted transformer, not {self.phi!r}.")

    def features(self, X: Points) -> Any:
        """phi(X), with a row per point."""
        Z = self._transformed(X) if hasattr(self.phi, "transform") else self._called(dense(X))
        Z = vectors(Z, f"phi(X) of {self!r}")
        if count(Z) != count(X):
            raise ValueError(f"{self!r} must give one row per point: {count(X)} points, but {count(Z)} rows.")
        return Z

    def scratch_width(self, X: Points) -> int:
        """The features, where they are more than the coordinates."""
        return max(held_width(X), int(self.features(X[:1]).shape[1]))

    def _transformed(self, X: Points) -> Any:
        """phi.transform(X), with the names of the columns where phi has learned them."""
        if hasattr(self.phi, "feature_names_in_") and isinstance(X, np.ndarray):
            with suppress(ImportError):  # it has names from a data frame of another kind
                from pandas import DataFrame

                X = DataFrame(X, columns=self.phi.feature_names_in_)
        return self.phi.transform(X)

    def _called(self, points: Points) -> Array:
        """phi of each point or, where phi does not take a single point, of all of them at once."""
        try:
            first = np.atleast_1d(np.asarray(self.phi(points[0]), np.float64))
            single = first.ndim == 1
        except Exception:
            single = False
        return np.vstack([np.atleast_1d(self.phi(point)) for point in points]) if single else self.phi(points)

    def fill(self, A: Points, B: Points, out: Array) -> None:
        left, right = self.features(A), self.features(B)
        left, right = (Z.astype(out.dtype, copy=False) for Z in (left, right))
        dot(left, right, out)

    def diagonal(self, A: Points) -> Array:
        """|phi(x)|^2."""
        return squared_norms(self.features(A))

    def reason(self) -> str | None:
        return "an inner product of features"

    def __repr__(self) -> str:
        return f"<FromFeatures {name_of(self.phi)}>"
