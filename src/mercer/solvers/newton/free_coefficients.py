"""Newton steps of the coefficients between their bounds (an active set method), where steps of pairs gain little; see
_core/reference/free_step.py.
"""

from __future__ import annotations

from math import cbrt

from ..._core.core import CHOICE
from ...types import Array

core = CHOICE.functions

_MOST = 6  # steps in a row


def newton_steps(
    K: Array, diag: Array, F: Array, beta: Array, lo: Array, hi: Array, eps: Array, bias: bool, most: int, work: float
) -> float:
    """Some steps, where no more than `most` coefficients are free, and while there is work left (in cubes of their
    number); how much work is left is returned. Names are as in _core/pairs.py; beta and F are changed in place.
    """
    for _ in range(_MOST):
        free, again = core.free_step(K, diag, F, beta, lo, hi, eps, (bias, min(most, int(cbrt(max(work, 0.0))))))
        work -= float(free) ** 3
        if not again:
            break
    return work
