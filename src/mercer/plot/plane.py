"""A plane through the space of the points: two of the features, or a projection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ..types import Array
from .style import literal

_LONGEST = 48  # characters of the name of an axis


class Plane(Protocol):
    """Two coordinates for each point, and a point for each pair of coordinates."""

    labels: tuple[str, str]

    def coordinates(self, X: Any) -> Array:
        """(n, 2)."""

    def points(self, uv: Array) -> Any:
        """The points of the plane with these coordinates, as the estimator takes them."""


class TwoFeatures:
    """Two features; the others are held at their medians (at the most frequent value where they are not numbers)."""

    def __init__(self, X: Any, features: Sequence[Any]) -> None:
        self.frame = X if hasattr(X, "iloc") else None
        names = list(X.columns) if self.frame is not None else [f"x{_subscript(j + 1)}" for j in range(X.shape[1])]
        self.columns = [self._number(feature, names) for feature in features]
        if len(set(self.columns)) != 2:
            raise ValueError(f"features must be two different features, not {list(features)!r}.")
        self.labels = (literal(str(names[self.columns[0]]), _LONGEST), literal(str(names[self.columns[1]]), _LONGEST))
        if self.frame is None:
            self.held: Any = np.median(X, axis=0)
        else:
            self.held = {name: _middle(X[name]) for name in names}

    @staticmethod
    def _number(feature: Any, names: list[Any]) -> int:
        if feature in names:
            return names.index(feature)
        if isinstance(feature, int | np.integer) and -len(names) <= feature < len(names):
            return int(feature) % len(names)
        raise ValueError(f"There is no feature {feature!r} among the {len(names)}: {', '.join(map(str, names[:10]))}.")

    def coordinates(self, X: Any) -> Array:
        """See Plane."""
        chosen = X.iloc[:, self.columns].to_numpy() if hasattr(X, "iloc") else X[:, self.columns]
        return np.asarray(chosen, np.float64)

    def points(self, uv: Array) -> Any:
        """See Plane."""
        if self.frame is None:
            X = np.tile(self.held, (len(uv), 1))
            X[:, self.columns] = uv
            return X
        X = self.frame.iloc[np.zeros(len(uv), np.intp)].reset_index(drop=True)
        for name, value in self.held.items():
            X[name] = value
        for column, values in zip(self.columns, uv.T, strict=True):
            X[X.columns[column]] = values
        return X


class Projection:
    """The plane through the mean along two directions: by default those of largest variance of the scaled features."""

    def __init__(self, X: Any, directions: Any = None) -> None:
        self.frame = X if hasattr(X, "iloc") else None
        numbers = np.asarray(X, np.float64)
        self.mean, self.scale = numbers.mean(axis=0), np.ones(numbers.shape[1])
        if directions is None:
            self.scale = _spread(numbers)
            _, sizes, rows = np.linalg.svd((numbers - self.mean) / self.scale, full_matrices=False)
            self.directions = rows[:2]
            shares = 100 * sizes**2 / max(float((sizes**2).sum()), np.finfo(float).tiny)
            first, second = (f"{share:.0f}% of the variance" for share in shares[:2])
            self.labels = (f"first principal direction ({first})", f"second principal direction ({second})")
        else:
            given = np.asarray(directions, np.float64)
            if given.shape != (2, numbers.shape[1]) or np.linalg.matrix_rank(given) < 2:
                raise ValueError(f"projection must be two directions of {numbers.shape[1]} numbers, not {given.shape}.")
            self.directions = np.linalg.qr(given.T)[0].T
            self.directions *= np.sign(np.sum(self.directions * given, axis=1))[:, None]
            self.labels = ("first direction", "second direction")

    def coordinates(self, X: Any) -> Array:
        """See Plane."""
        return np.asarray((np.asarray(X, np.float64) - self.mean) / self.scale @ self.directions.T)

    def points(self, uv: Array) -> Any:
        """See Plane."""
        X = self.mean + self.scale * (uv @ self.directions)
        return X if self.frame is None else type(self.frame)(X, columns=self.frame.columns)


def plane_of(X: Any, features: Sequence[Any] | None, projection: Any) -> Plane:
    """The plane to draw: of two features, of a projection, or (with two columns) all there is."""
    width = X.shape[1]
    if features is not None and projection is not None:
        raise ValueError("Give features or projection, not both.")
    if features is not None:
        return TwoFeatures(X, features)
    if width < 2:
        raise ValueError("boundary needs two features or more; of one feature, mercer.plot.curve draws f.")
    if projection is None and width == 2:
        return TwoFeatures(X, (0, 1))
    return Projection(X, None if isinstance(projection, str) or projection is None else projection)


def as_points(X: Any) -> Any:
    """Rows and columns: a data frame as it is, anything else as a dense array."""
    if hasattr(X, "iloc"):
        return X
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"X must have rows and columns, but its shape is {X.shape}.")
    return X


def _spread(numbers: Array) -> Array:
    """The standard deviation of each column; 1 for those that are constant."""
    spread = numbers.std(axis=0)
    return np.where(spread > 1e-12 * np.abs(numbers).max(axis=0), spread, 1.0)


def _middle(values: Any) -> Any:
    """The median of numbers, the most frequent of anything else."""
    return values.median() if values.dtype.kind in "iufb" else values.mode().iloc[0]


def _subscript(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))
