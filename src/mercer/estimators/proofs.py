"""The proof that classes cannot be separated, as a user can check it: in rows of X, and in points."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..kernels import Kernel, Linear
from ..kernels.points import take
from ..solution import Inseparable
from ..types import Array, Index, Points


def told(proof: Inseparable, y: Array, rows: Index, n: int, kernel: Kernel, points: Points) -> Inseparable:
    """The same for all n rows of X, the points of the proof, of classes y, being some of its `rows`.

    With the linear kernel also the points that meet.
    """
    weights, sides = np.zeros(n), np.zeros(n)
    weights[rows], sides[rows] = proof.weights, y
    sums = sums_of(proof.weights, y, points) if isinstance(kernel, Linear) else None
    return replace(proof, weights=weights, y=sides, sums=sums)


def sums_of(weights: Array, y: Array, points: Points) -> Array:
    """sum_i weights_i x_i over each class."""
    used = np.flatnonzero(weights)
    few, parts = take(points, used), weights[used] * (y[used] == np.array([[1.0], [-1.0]]))
    return np.asarray((few.T @ parts.T).T, np.float64)
