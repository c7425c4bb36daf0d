"""The one place that chooses how a kernel's values are computed on given points."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2, sqrt

import numpy as np
from numpy.typing import DTypeLike

from .._core.forms import Form, Map, Summed
from .._core.reference import HEAVY
from ..amounts import AT_A_TIME
from ..kernels import (
    Chi2,
    Constant,
    ExpChi2,
    Gaussian,
    Intersection,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Normalized,
    Polynomial,
    Power,
    Product,
    Scaled,
    Sum,
)
from ..kernels.pairwise import rows_at_a_time
from ..kernels.points import is_sparse, overflow_checked_later, require_no_overflow, squared_norms, width
from ..types import Array, DType, Points
from .algebra import Added, Changed, Cosines, Multiplied, Rounded
from .blocks import Blocks
from .sparse import Inverted
from .tiles import Bits, Tiles
from .way import AnyWay

_LOG2E = log2(np.e)
_DENSE_ENTRIES = 60_000_000  # Smaller sets of sparse points are packed as dense ones, where values then cost less.
_NEAR = 16.0
"""gamma |x|^2, in halvings of k, up to which float64 products serve: they cost k no more than four bits."""
_FAR_SINGLE, _FAR_DOUBLE = HEAVY[np.dtype(np.float32).itemsize], 1e3
"""The same of sparse points, which have nothing but products, until too few digits are left: float32 up to where native
rows go by differences, float64 until ten of its 53 bits are lost.
"""
_PYTHON = 1e4  # Multiply-adds that a call of a Python function costs.
_PER_COORDINATE, _PER_VALUE = 4.0, 300.0  # Multiply-adds of a kernel's own `fill`.
_MATERN = Map.MATERN12, Map.MATERN32, Map.MATERN52  # by the whole part of nu


def way_of(kernel: Kernel, sets: Sequence[Points], dtype: DTypeLike, exact: bool = False) -> AnyWay:
    """How k is computed in this precision between points of these sets; the first gives their centre.

    `exact`: by differences in float64, to the last digits of small distances.
    """
    X = sets[0]
    if isinstance(kernel, Sum | Product):
        parts = [way_of(part, sets, dtype, exact) for part in (kernel.left, kernel.right)]
        return Added(parts) if isinstance(kernel, Sum) else Multiplied(parts)
    if isinstance(kernel, Scaled):
        return Changed(way_of(kernel.kernel, sets, dtype, exact), factor=kernel.factor)
    if isinstance(kernel, Power):
        return Changed(way_of(kernel.kernel, sets, dtype, exact), exponent=kernel.exponent)
    if isinstance(kernel, Normalized):
        return Cosines(kernel, way_of(kernel.kernel, sets, dtype, exact))
    form = _form(kernel)
    if form is None or not hasattr(X, "shape"):
        cost = 1.0 if isinstance(kernel, Constant) else _PYTHON if kernel.serial else _cost_of_fill(X)
        return Blocks(kernel, X, dtype, cost)
    gaussian = form.way == Summed.SQUARES and form.map == Map.EXPONENTIAL
    if gaussian and not exact and all(map(_zeros_and_ones, sets)):
        words = -(-width(X) // np.finfo(dtype).bits)
        return Bits(Form(Summed.COUNTS, Map.EXPONENTIAL, form.factor), words, dtype)
    if all(map(is_sparse, sets)):
        sparse = _sparse(kernel, form, sets, np.dtype(dtype))
        if sparse.cost <= width(X) or X.shape[0] * width(X) > _DENSE_ENTRIES:
            return sparse
    if gaussian and not exact and _by_products(form, sets, dtype):
        mean = np.asarray(X.sum(axis=0, dtype=np.float64)).reshape(-1) / X.shape[0]  # in the same order everywhere
        return Tiles(form._replace(way=Summed.PRODUCTS, factor=-2.0 * form.factor), mean, form.factor, dtype)
    return Tiles(form, np.zeros(width(X)), 0.0, dtype)


def _by_products(form: Form, sets: Sequence[Points], dtype: DTypeLike) -> bool:
    """Whether distances are taken from products, around the mean of the points. In float64 they lose no digit that
    matters where the points are near it; elsewhere they are sums of squared differences, at twice the cost. Raises
    where |x|^2 overflows.
    """
    if np.dtype(dtype) == np.float32:
        return True
    largest = 0.0
    for X in sets:
        with overflow_checked_later():
            length = squared_norms(X)
        if not np.isfinite(length).all():  # of float32
            with overflow_checked_later():
                length = squared_norms(X.astype(np.float64))
            require_no_overflow(length)
        largest = max(largest, float(length.max(initial=0.0)))
    return abs(form.factor) * largest <= _NEAR


def _is_far(form: Form, sets: Sequence[Points], dtype: DTypeLike) -> bool:
    """Whether distances of sparse points would lose digits, as differences of what each point alone adds to them."""
    if form.way not in (Summed.SQUARES, Summed.DISTANCES, Summed.CHI2_DISTANCES):
        return False
    size = squared_norms if form.way == Summed.SQUARES else _absolute_sums
    largest = max(float(size(X).max()) for X in sets)
    return not abs(form.factor) * largest <= (_FAR_SINGLE if np.dtype(dtype) == np.float32 else _FAR_DOUBLE)


def _absolute_sums(X: Points) -> Array:
    step = rows_at_a_time(X)
    parts = (abs(X[start : start + step]).sum(axis=1) for start in range(0, X.shape[0], step))
    return np.concatenate([np.asarray(part).reshape(-1) for part in parts])


def _form(kernel: Kernel) -> Form | None:
    """The kernel as the native tiles compute it; None, where they do not."""
    match kernel:
        case Linear():
            return Form(Summed.PRODUCTS)
        case Polynomial():
            return Form(Summed.PRODUCTS, Map.POWER, float(kernel.gamma), float(kernel.coef0), int(kernel.degree))
        case Gaussian():
            return Form(Summed.SQUARES, Map.EXPONENTIAL, -float(kernel.gamma) * _LOG2E)
        case Laplacian():
            return Form(Summed.DISTANCES, Map.EXPONENTIAL, -float(kernel.gamma) * _LOG2E)
        case Matern():
            return Form(Summed.SQUARES, _MATERN[int(kernel.nu)], sqrt(2.0 * kernel.nu) / float(kernel.length_scale))
        case Intersection():
            return Form(Summed.MINIMA)
        case Chi2():
            return Form(Summed.CHI2)
        case ExpChi2():
            return Form(Summed.CHI2_DISTANCES, Map.EXPONENTIAL, -float(kernel.gamma) * _LOG2E)
    return None


def _sparse(kernel: Kernel, form: Form, sets: Sequence[Points], dtype: DType) -> AnyWay:
    """Sparse points by an inverted index; what one point alone adds to the sum is its level. In float64, where float32
    would lose digits; by the kernel's own `fill`, where even that would, or where no level serves.
    """
    X, double = sets[0], np.dtype(np.float64)
    distances = form.way == Summed.SQUARES
    if (distances and form.map != Map.EXPONENTIAL) or _is_far(form, sets, double):
        return Blocks(kernel, X, dtype, _cost_of_fill(X))
    if dtype != double and _is_far(form, sets, dtype):
        return Rounded(_sparse(kernel, form, sets, double), dtype)
    if distances:
        return Inverted(form._replace(way=Summed.PRODUCTS, factor=-2.0 * form.factor), form.factor, X, dtype)
    one_sided = form.way in (Summed.DISTANCES, Summed.CHI2_DISTANCES)
    return Inverted(form, form.factor if one_sided else 0.0, X, dtype)


def _cost_of_fill(X: Points) -> float:
    return _PER_COORDINATE * width(X) + _PER_VALUE


def _zeros_and_ones(X: Points) -> bool:
    """Whether the points are bits; soon known, where they are not."""
    values = X.data if is_sparse(X) else X
    some = AT_A_TIME.sampled_rows * (width(X) if is_sparse(X) else 1)
    for start in range(0, len(values), some):
        strip = values[start : start + some]
        if not ((strip == 0) | (strip == 1)).all():
            return False
    return True
