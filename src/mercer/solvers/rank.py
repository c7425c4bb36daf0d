"""Features for smooth kernels: K = F F' up to rounding, with few columns.

A smooth kernel on points of few coordinates has a rank, as far as float64 can tell, of some dozens or hundreds, however
many points there are. With a large C steps of pairs then crawl: what two neighbours can do together is next to nothing,
and Newton steps of all free coefficients meet a singular matrix. In terms of w = F'beta the problem is small, and
Newton steps in w (coordinate.py, proximal.py) solve it. K - F F' is positive semidefinite and of the size of rounding,
so that the answer is one of the problem itself; the certificate is, as always, that of K.
"""

from __future__ import annotations

from math import isqrt

import numpy as np

from ..gram import Gram, LowRankGram
from ..gram.pivoted import pivoted_cholesky
from ..kernels.points import Chosen, Domain

_LEFT = 1e-15  # of the largest K_ii: what F F' may leave
_MOST = 1000  # columns
_PART = 3  # and no more than one for so many points: else steps in w are no easier


def features_up_to_rounding(gram: Gram) -> LowRankGram | None:
    """F F' with few columns, where that is K up to rounding and there is room for it; else None."""
    if gram.kernel is None or gram.kernel.domain is Domain.VALUES or gram.doubt is not None:
        return None
    most = int(min(_MOST, gram.n // _PART, gram.room // (32 * gram.n), isqrt(gram.room // 32)))
    if most < 1:
        return None
    points = gram.points[:] if isinstance(gram.points, Chosen) else gram.points
    F, pivots = pivoted_cholesky(gram.kernel, points, most, np.random.default_rng(0), left=_LEFT)
    if pivots.size == most or not pivots.size:
        return None
    return LowRankGram(np.ascontiguousarray(F), f"low rank: {pivots.size} features are K up to rounding")
