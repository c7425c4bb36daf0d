"""Which of several is chosen must not depend on how a CPU adds up: values that are nearly equal are a tie."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

ROUNDING = 1e-9
"""In parts of the largest value: what other vectors, another BLAS or other threads may change, and much more."""


def signed(vectors: Any) -> Any:
    """Eigenvectors, in place, with that of their two signs by which the first largest entry is positive: LAPACK has no
    favourite.
    """
    sizes = np.abs(vectors)
    rows = (sizes >= (1.0 - ROUNDING) * sizes.max(axis=0)).argmax(axis=0)
    vectors *= np.where(vectors[rows, np.arange(vectors.shape[1])] < 0.0, -1.0, 1.0)
    return vectors


def first_largest(values: Any, within: float | None = None) -> int:
    """The number of the first value that is no more than `within` below the largest; NaN is the least of all."""
    values = np.asarray(values)
    largest = float(np.fmax.reduce(values))  # NaN only where all are, and then nothing is as large
    if within is None:
        within = ROUNDING * abs(largest) if isfinite(largest) else 0.0
    return int((values >= largest - within).argmax())
