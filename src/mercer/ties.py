"""Which of several is chosen must not depend on how a CPU adds up: values that are nearly equal are a tie."""

from __future__ import annotations

from typing import Any

import numpy as np

ROUNDING = 1e-9
"""In parts of the largest value: what other vectors, another BLAS or other threads may change, and much more."""


def first_largest(values: Any, within: float | None = None) -> int:
    """The number of the first value that is no more than `within` below the largest; NaN is the least of all."""
    values = np.where(np.isnan(values), -np.inf, values)
    largest = float(values.max())
    if within is None:
        within = ROUNDING * abs(largest) if np.isfinite(largest) else 0.0
    return int(np.argmax(values >= largest - within))
