"""Polar coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted

from ..types import Points
from .base import FeatureMap


class PolarMap(FeatureMap):
    """(x1, x2) -> (r, angle), the full angle in (-pi, pi]; (0, 0) -> (0, 0). Makes rings separable by a line.

    For d > 2 hyperspherical: r, then d - 2 angles in [0, pi] from each axis to the rest, then the full angle of the
    last two coordinates. For d = 1 the angle is 0 or pi.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel that the map induces.
    n_features_in_ : int
        The columns in training, where points are vectors.
    feature_names_in_ : ndarray of str
        Their names, where the data had any.
    """

    def _fit(self, X: Points) -> None:
        self._n_features_out = max(2, X.shape[1])
        self.kernel_ = self._induced()

    def _map(self, X: Points) -> Any:
        out = np.zeros((len(X), self._n_features_out), X.dtype)
        padded = X if X.shape[1] > 1 else np.hstack([X, np.zeros_like(X)])
        d = padded.shape[1]
        # |(x_j, ..., x_d)|, by hypot from the end, so that squares neither overflow nor vanish.
        rest = np.hypot.accumulate(np.abs(padded[:, ::-1]), axis=1)[:, ::-1]
        out[:, 0] = rest[:, 0]
        for j in range(d - 2):
            out[:, j + 1] = _angles(rest[:, j + 1], padded[:, j])
        # Adding 0 turns -0 into 0, whose angle is pi and not -pi.
        out[:, d - 1] = _angles(padded[:, d - 1] + 0.0, padded[:, d - 2] + 0.0)
        return out

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """r, then the angles."""
        check_is_fitted(self)
        angles = ["angle"] if self._n_features_out == 2 else [f"angle{j}" for j in range(self._n_features_out - 1)]
        return np.array(["r", *angles], dtype=object)

    def inverse_transform(self, X: Points) -> Any:
        """The points with these coordinates."""
        check_is_fitted(self)
        polar = check_array(X, dtype=[np.float64, np.float32])
        if polar.shape[1] != self._n_features_out:
            raise ValueError(f"X has {polar.shape[1]} columns, but the map gives {self._n_features_out}.")
        d = polar.shape[1]
        out = np.empty_like(polar)
        radius = polar[:, 0].copy()
        for j in range(d - 1):
            out[:, j] = radius * np.cos(polar[:, j + 1])
            radius *= np.sin(polar[:, j + 1])
        out[:, d - 1] = radius
        return out[:, : self.n_features_in_]


def _angles(y: Any, x: Any) -> Any:
    """arctan2 of numbers side by side: of others, a last digit of NumPy 2.0 depends on where they stand in memory."""
    return np.arctan2(np.ascontiguousarray(y), np.ascontiguousarray(x))
