"""Names for what functions take and give."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
"""A NumPy array."""

Points: TypeAlias = Any
"""A set of points: a float array with a row per point, a CSR matrix, or a list of objects (see kernels/points.py)."""

DType: TypeAlias = np.dtype[Any]
"""A precision: float32 or float64."""

Index: TypeAlias = NDArray[np.intp]
"""Row numbers."""
