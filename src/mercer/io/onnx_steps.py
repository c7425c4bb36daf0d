"""Steps and wrappers of scikit-learn in ONNX's operators, in float64, where skl2onnx has them in float32 or not at all.

They are handed to skl2onnx for one model at a time; what it does for others stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..types import Array
from .onnx_kernels import Operators
from .widths import width_out

DOUBLE, INT64 = 11, 7  # the numbers of these types in ONNX


# Steps.


def impute(ops: Operators, step: Any, X: Any) -> Any:
    """The statistics in place of NaN; columns that were empty are left out, and those that had gaps say where."""
    if step.statistics_.dtype.kind != "f" or step.missing_values == step.missing_values:
        raise ValueError("only gaps in numbers, which are NaN, can be filled in")
    gaps = ops.IsNaN(X)
    whole = step.keep_empty_features or step.strategy == "constant"
    kept = np.arange(step.statistics_.size) if whole else np.flatnonzero(~np.isnan(step.statistics_))
    filled = ops.Gather(ops.Where(gaps, _double(np.nan_to_num(step.statistics_))[None], X), kept, axis=1)
    if step.indicator_ is None:
        return filled
    marks = ops.Cast(ops.Gather(gaps, step.indicator_.features_.astype(np.int64), axis=1), to=DOUBLE)
    return ops.Concat(filled, marks, axis=1)


def power(ops: Operators, step: Any, X: Any) -> Any:
    """Yeo and Johnson's powers, of each column its own, and the scaling after them."""
    if step.method != "yeo-johnson":
        raise ValueError("of PowerTransformer, only the method 'yeo-johnson' can be written")
    powers = step.lambdas_
    above = _box_cox(ops, ops.Max(X, np.zeros(1)), powers)
    below = _box_cox(ops, ops.Max(ops.Neg(X), np.zeros(1)), 2.0 - powers)
    result = ops.Sub(above, below)
    if not step.standardize:
        return result
    return ops.Div(ops.Sub(result, _double(step._scaler.mean_)), _double(step._scaler.scale_))


def _box_cox(ops: Operators, x: Any, powers: Array) -> Any:
    """((1 + x)^p - 1) / p, or log(1 + x) where p is 0; x >= 0."""
    zero = np.abs(powers) < np.finfo(np.float64).eps
    safe = np.where(zero, 1.0, powers)
    logarithm = ops.Log(ops.Add(x, np.ones(1)))
    general = ops.Div(ops.Sub(ops.Exp(ops.Mul(logarithm, safe)), np.ones(1)), safe)
    return ops.Where(zero[None], logarithm, general)


STEPS: dict[str, Callable[[Operators, Any, Any], Any]] = {"SimpleImputer": impute, "PowerTransformer": power}
"""What a step computes from X."""


# Wrappers.


def calibrate(ops: Operators, wrapper: Any, X: Any, decision: Callable[..., Any], labels: Any) -> dict[str, Any]:
    """The mean of the calibrated probabilities."""
    k, found = wrapper.classes_.size, []
    for each in wrapper.calibrated_classifiers_:
        if len(each.estimator.classes_) != k:
            raise ValueError("a fold of the calibration lacks a class")
        f = decision(ops, each.estimator, X)
        f = ops.Unsqueeze(f, np.array([1])) if k == 2 else f
        columns = [
            _calibrated(ops, calibrator, ops.Gather(f, np.array([number]), axis=1))
            for number, calibrator in enumerate(each.calibrators)
        ]
        if k == 2:
            part = ops.Concat(ops.Sub(np.ones(1), columns[0]), columns[0], axis=1)
        else:
            part = ops.Concat(*columns, axis=1)
            part = ops.Div(part, ops.MatMul(part, np.ones((k, k))))
        found.append(part)
    total = found[0]
    for part in found[1:]:
        total = ops.Add(total, part)
    mean = ops.Div(total, np.full(1, float(len(found))))
    return {"label": ops.Gather(labels, ops.ArgMax(mean, axis=1, keepdims=0)), "probabilities": mean}


def _calibrated(ops: Operators, calibrator: Any, f: Any) -> Any:
    """A column of probabilities: a sigmoid, or lines between thresholds."""
    if hasattr(calibrator, "a_"):
        steep = ops.Add(ops.Mul(f, _double([calibrator.a_])), _double([calibrator.b_]))
        return ops.Div(np.ones(1), ops.Add(np.ones(1), ops.Exp(steep)))
    if not hasattr(calibrator, "X_thresholds_"):
        raise ValueError("only sigmoid and isotonic calibration can be written")
    x, y = _double(calibrator.X_thresholds_), _double(calibrator.y_thresholds_)
    if x.size == 1:
        return ops.Add(ops.Mul(f, np.zeros(1)), y)
    within = ops.Sub(ops.Min(ops.Max(f, x[None, :-1]), x[None, 1:]), x[None, :-1])
    slopes = np.diff(y) / np.diff(x)
    return ops.Add(ops.MatMul(within, slopes[:, None]), y[:1])


def one_vs_rest(ops: Operators, wrapper: Any, X: Any, decision: Callable[..., Any], labels: Any) -> dict[str, Any]:
    """f of each class, as columns; the largest wins, or all that are positive where there may be several."""
    columns = [ops.Unsqueeze(decision(ops, machine, X), np.array([1])) for machine in wrapper.estimators_]
    f = ops.Concat(*columns, axis=1) if len(columns) > 1 else columns[0]
    positive = ops.Cast(ops.Less(np.zeros(1), f), to=INT64)
    if wrapper.multilabel_:
        return {"label": positive, "decision": f}
    winner = ops.Squeeze(positive, np.array([1])) if len(columns) == 1 else ops.ArgMax(f, axis=1, keepdims=0)
    return {"label": ops.Gather(labels, winner), "decision": f}


WRAPPERS: dict[str, Callable[..., dict[str, Any]]] = {
    "CalibratedClassifierCV": calibrate,
    "OneVsRestClassifier": one_vs_rest,
}


def _double(values: Any) -> Array:
    return np.ascontiguousarray(values, np.float64)


# What skl2onnx wants to know of a step.


def step_shape(operator: Any) -> None:
    """As many columns as it gives, in float64."""
    from skl2onnx.common.data_types import DoubleTensorType

    operator.outputs[0].type = DoubleTensorType([None, width_out(operator.raw_operator)])


def convert_step(scope: Any, operator: Any, container: Any) -> None:
    """Write one of STEPS into the graph."""
    ops, step = Operators(container.target_opset), operator.raw_operator
    result = STEPS[type(step).__name__](ops, step, ops.Cast(operator.inputs[0], to=DOUBLE))
    ops.Identity(result, output_names=[operator.outputs[0].full_name]).add_to(scope, container)
