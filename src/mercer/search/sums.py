"""What rounding may have done to scores beta K: sums as if with twice the digits (`_core/sums.hpp`), and plain ones."""

from __future__ import annotations

import numpy as np

from ..types import Array

_UNIT = 0.5 * float(np.finfo(np.float64).eps)
_LAST = 4.0  # roundings of the sum itself, and of the few operations that make f of it
_SAFE = 1.01


def rounding(beta: Array, root: Array, twice: Array) -> Array:
    """How far scores may be from the truth, in parts of root(K_xx), for each row of beta; beside `last_digits`.

    A plain sum of m products may lose a rounding by each product and each sum. Where `twice`, it loses m^2 roundings of
    roundings of sum_i |beta_i K_ix| (Ogita, Rump, Oishi 2005, proposition 5.5). root holds root(K_ii).
    """
    plain = _SAFE * _UNIT * (root.size + _LAST)
    return np.asarray(np.where(twice, plain**2, plain) * (np.abs(beta) * root).sum(axis=-1))


def last_digits(size: Array) -> Array:
    """What is lost where numbers of such a size are rounded once, and in the few operations that make f of them."""
    return np.asarray(_LAST * _UNIT * size)
