"""The warning about columns that a kernel with one scale for all of them cannot serve together."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..kernels import Kernel
from ..kernels.adaptive import Adaptive
from ..kernels.points import count, is_sparse, take
from ..types import Array, Points
from .checks import level_of_caller

APART = 1000.0  # times: from there on, the column with the smaller scale is hardly seen
_ROWS = 10_000  # evenly spaced, are looked at


class ScaleWarning(UserWarning):
    """Columns have very different scales, and the kernel has one for all: what is so, and what to do in Python."""

    def __init__(self, facts: str, advice: str) -> None:
        super().__init__(facts, advice)
        self.facts, self.advice = facts, advice

    def __str__(self) -> str:
        return f"{self.facts} {self.advice}"


def advise(machine: Any, kernel: Kernel, X: Points) -> None:
    """Warn where the scales of columns differ by more than 1,000 times and the kernel has one scale for all."""
    adaptive = _adaptive(kernel)
    if adaptive is None:
        return
    pair = _far_apart(X)
    if pair is None:
        return
    large, small = (f"{_name(machine, column)} is {deviation:.4g}" for column, deviation in pair)
    facts = (
        f"The columns of X have very different scales, and {type(adaptive).__name__} has one for all, so that it "
        f"hardly sees the small ones: the standard deviation of {large}, of {small}."
    )
    advice = (
        f"Scale them first, as in make_pipeline(StandardScaler(), {type(machine).__name__}()), with MinMaxScaler where "
        "entries must be >= 0 and MaxAbsScaler where X is sparse; or silence this by "
        'warnings.simplefilter("ignore", mercer.estimators.ScaleWarning).'
    )
    warnings.warn(ScaleWarning(facts, advice), stacklevel=level_of_caller())


def _adaptive(kernel: Kernel) -> Adaptive | None:
    """The first part with one scale for all columns."""
    if isinstance(kernel, Adaptive):
        return kernel
    return next((found for part in kernel.parts() if (found := _adaptive(part)) is not None), None)


def _far_apart(X: Points) -> tuple[tuple[int, float], tuple[int, float]] | None:
    """The column with the largest standard deviation, and one whose deviation and range are far below, if any are.

    Both must be: a column that is nearly always 0 deviates little, but its scale may be that of the others.
    """
    if count(X) > _ROWS:
        X = take(X, np.linspace(0, count(X) - 1, _ROWS).astype(int))
    ranges = _ranges(X)
    moving = np.flatnonzero(ranges > 0)
    if moving.size < 2 or not ranges.max() > APART * ranges[moving].min():
        return None
    deviations = _deviations(X)
    large = moving[deviations[moving].argmax()]
    with np.errstate(all="ignore"):
        below = np.minimum(deviations[large] / deviations[moving], ranges[large] / ranges[moving])
    small = moving[below.argmax()]
    pair = ((int(large), float(deviations[large])), (int(small), float(deviations[small])))
    return pair if below.max() > APART else None


@np.errstate(all="ignore")  # what overflows is no scale to speak of, and others say so
def _ranges(X: Points) -> Array:
    """The range of each column; 0 where it is constant but for rounding."""
    rounding = 1000.0 * float(np.finfo(X.dtype).eps)
    low, high = X.min(axis=0), X.max(axis=0)
    if is_sparse(X):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    low, high = low.astype(np.float64), high.astype(np.float64)
    ranges = high - low
    ranges[~(ranges > rounding * np.maximum(np.abs(low), np.abs(high)))] = 0.0
    return np.asarray(ranges)


@np.errstate(all="ignore")
def _deviations(X: Points) -> Array:
    """The standard deviation of each column."""
    if not is_sparse(X):
        return np.asarray(X.std(axis=0, dtype=np.float64))
    mean, square = (np.asarray(part.mean(axis=0), np.float64).ravel() for part in (X, X.multiply(X)))
    return np.sqrt(np.maximum(square - mean * mean, 0.0))


def _name(machine: Any, column: int) -> str:
    names = getattr(machine, "feature_names_in_", None)
    return f"column {column}" if names is None else f"{names[column]!r}"
