"""Is k stationary, k(x + c, z + c) = k(x, z)? Or even radial, a function of |x - z|? By rule, and on numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..kernels import Constant, Gaussian, Kernel, Matern, Power, Product, RationalQuadratic, Scaled, Sum
from ..kernels.stationary import Stationary
from ..types import Points

_ALIKE = 1e-9  # values that differ by no more than this part are equal up to rounding


def stationary(kernel: Kernel) -> bool:
    """k(x, z) depends on x - z alone: a stationary kernel, or made of such by sums, products, powers, factors."""
    return isinstance(kernel, Stationary | Constant) or _made_of(kernel, stationary)


def radial(kernel: Kernel) -> bool:
    """k(x, z) depends on the distance |x - z| alone."""
    return isinstance(kernel, Gaussian | Matern | RationalQuadratic | Constant) or _made_of(kernel, radial)


def _made_of(kernel: Kernel, rule: Callable[[Kernel], bool]) -> bool:
    return isinstance(kernel, Sum | Product | Scaled | Power) and all(map(rule, kernel.parts()))


def invariance(kernel: Kernel, X: Points) -> str:
    """What the rules say, and the first two points before and after a move by 1; empty where none can move."""
    if not isinstance(X, np.ndarray) or X.ndim != 2 or len(X) < 2 or X.dtype.kind not in "fiub":
        return ""
    pair = X[:2].astype(np.float64)
    try:
        before, after = (float(kernel(points[:1], points[1:])[0, 0]) for points in (pair, pair + 1.0))
    except Exception:  # rows of a matrix cannot move, and a function of one's own may not know the new place
        return ""
    alike = stationary(kernel) or abs(after - before) <= _ALIKE * max(abs(after), abs(before))
    enough = next(d for d in range(4, 18) if alike or d == 17 or f"{after:.{d}g}" != f"{before:.{d}g}")
    numbers = f"k(x + 1, z + 1) = {after:.{enough}g}, k(x, z) = {before:.{enough}g}"
    if stationary(kernel):
        kind = "stationary and radial" if radial(kernel) else "stationary, not radial"
        return f"{kind}: {numbers}"
    return f"{'no rule says that it is' if alike else 'not'} stationary: {numbers}"
