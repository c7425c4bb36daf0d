"""What rounding may do to scores, as loops and whoever reads their answers count it."""

from __future__ import annotations

import numpy as np

from ..types import Array

UNIT = 0.5 * float(np.finfo(np.float64).eps)
LAST = 4.0  # roundings of a sum itself, and of the few operations that make f of it


def last_digits(size: Array) -> Array:
    """What is lost where numbers of such a size are rounded once, and in the few operations that make f of them."""
    return np.asarray(LAST * UNIT * size)
