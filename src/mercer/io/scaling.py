"""Scalers as one affine map of each column, and as the file that LIBSVM's svm-scale reads."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from ..types import Array


def affine(steps: list[Any], machine: Any) -> tuple[Array, Array] | None:
    """(slope, offset) of each column, so that the scalers, one after the other, are slope x + offset; None for none."""
    kept = [step for step in steps if step is not None and step != "passthrough"]
    if not kept:
        return None
    slope, offset = np.ones(machine.n_features_in_), np.zeros(machine.n_features_in_)
    for step in kept:
        a, c = _of_scaler(step)
        slope, offset = a * slope, a * offset + c
    return slope, offset


def _of_scaler(step: Any) -> tuple[Any, Any]:
    if isinstance(step, StandardScaler):
        a = 1.0 if step.scale_ is None else 1.0 / step.scale_
        return a, -a * step.mean_ if step.with_mean else 0.0  # mean_ is there in either case
    if isinstance(step, RobustScaler):
        a = 1.0 if step.scale_ is None else 1.0 / step.scale_
        return a, 0.0 if step.center_ is None else -a * step.center_
    if isinstance(step, MinMaxScaler) and not step.clip:
        return step.scale_, step.min_
    if isinstance(step, MaxAbsScaler):
        return 1.0 / step.scale_, 0.0
    raise ValueError(
        f"LIBSVM can scale columns, but it has nothing for {step!r}: transform the data first, and give the last step."
    )


def svm_scale_text(slope: Array, offset: Array) -> str:
    """The two values of each column that svm-scale is to map to -1 and 1."""
    low, high = (-1.0 - offset) / slope, (1.0 - offset) / slope
    rows = [f"{number} {a!r} {b!r}" for number, (a, b) in enumerate(zip(low.tolist(), high.tolist(), strict=True), 1)]
    return "\n".join(["x", "-1 1", *rows, ""])
