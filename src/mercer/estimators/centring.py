"""Linear machines with a free bias, trained around the mean of the points.

With sum beta = 0, f(x) = <w, x> + b is <w, x - m> + (b + <w, m>), whatever m is, with the same beta. Far from the
origin <x, z> has few digits left for what tells points apart; around their mean it has all of them.

Points around a mean are float64, whatever the user's are: rounded to float32 they would be other points, with another
best answer, and what is certified is f on the points as given.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..amounts import SHARE
from ..kernels import Kernel, Linear
from ..kernels.points import is_sparse
from ..memory import DOUBLE
from ..problem import Task
from ..types import Array, Points

_FAR = 100.0  # A squared mean that is larger than so many times the variance takes digits from <x, z>.


def centre_of(kernel: Kernel, X: Points, tasks: Sequence[Task], room: float) -> Array | None:
    """The mean of the points, where all problems are the same around it and there is room (bytes) for a float64 copy of
    them; else None.
    """
    if not isinstance(kernel, Linear) or is_sparse(X) or DOUBLE * X.size > room:
        return None
    if not all(task.bias and not task.mass for task in tasks):
        return None
    with np.errstate(all="ignore"):
        centre = X.mean(axis=0, dtype=np.float64)
    return centre if np.isfinite(centre).all() else None


def far_centre(X: Points, weight: Array, budget: int) -> Array | None:
    """For ridge regression: the weighted mean, where points are far from the origin and memory has room for a copy."""
    if is_sparse(X) or DOUBLE * X.size > SHARE.little * budget:
        return None
    mass = weight.sum()
    with np.errstate(all="ignore"):  # of huge values there may be no mean
        mean = np.asarray(weight @ X / mass)
        moved = X - mean
        variance = float(np.einsum("ij,ij,i->", moved, moved, weight)) / mass
        return mean if _FAR * variance < mean @ mean < np.inf else None
