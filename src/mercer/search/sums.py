"""What rounding may have done to scores beta K: sums as if with twice the digits (`_core/sums.hpp`), and plain ones."""

from __future__ import annotations

import numpy as np

from ..types import Array

_UNIT = 0.5 * float(np.finfo(np.float64).eps)
_LAST = 4.0  # roundings of the sum itself, and of the few operations that make f of it
_SAFE = 1.01


def rounding(beta: Array, root: Array, norm: Array) -> Array:
    """How far scores may be from the truth, in parts of root(K_xx), for each row of beta.

    A sum of m products loses a rounding of itself, which is no larger than root(K_xx) |w|, and m^2 roundings of
    roundings of sum_i |beta_i K_ix| (Ogita, Rump, Oishi 2005, proposition 5.5). root holds root(K_ii), norm |w|.
    """
    twice = (_SAFE * root.size * _UNIT) ** 2 * (np.abs(beta) * root).sum(axis=1)
    return np.asarray(_LAST * _UNIT * norm + twice)


def plain_rounding(beta: Array, root: Array) -> Array:
    """The same of plain sums: each product and each sum may lose a rounding."""
    return np.asarray(_SAFE * _UNIT * (root.size + _LAST) * (np.abs(beta) * root).sum(axis=1))
