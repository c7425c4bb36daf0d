"""ONNX models: a fitted machine, or a pipeline that ends in one, as a graph that any ONNX runtime can run.

skl2onnx converts scikit-learn's steps, and knows Mercer's machines once this module is imported: nothing has to be
registered. The machines are written here from ONNX's own operators, in float64:
k(x, x_i) for all support vectors, times the coefficients, plus b. (ONNX has an operator for support vector machines,
but it is float32, and knows few kernels.)
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..archives.atomic import write_whole
from ..estimators import SVC, SVR, KernelLogistic, KernelPerceptron, KernelRidge, LinearSVC, OneClassSVM, Perceptron
from ..estimators.machine import Machine
from ..estimators.multiclass import class_slices, pairs
from ..kernels.points import Domain, is_sparse
from ..ties import ROUNDING
from ..types import Array
from .onnx_check import tried
from .onnx_kernels import Operators, block
from .onnx_steps import DOUBLE, INT64, STEPS, WRAPPERS, convert_step, step_shape
from .registry import ESTIMATORS, class_of, name_of

_INSTALL = "ONNX export needs the packages skl2onnx and onnxruntime: pip install 'mercer[onnx]'."


def to_onnx(estimator: Any, path: str | os.PathLike[str], dtype: Any = np.float64) -> Path:
    """Write a fitted machine, or a pipeline that ends in one, as an ONNX model with one input X, rows of `dtype`; where
    some columns hold texts, with an input for each column of the data frame.

    The model is tried in onnxruntime before it is written: it predicts what the pipeline predicts, or a ValueError
    names the step that cannot be written. A classifier's outputs are `label` and `decision`, the values of
    decision_function, and `probabilities` where it has them; a regressor's is `prediction`.
    """
    try:
        import onnxruntime  # noqa: F401
        import skl2onnx  # noqa: F401
    except ImportError as error:
        raise ImportError(_INSTALL) from error
    if np.dtype(dtype) not in (np.float64, np.float32):
        raise ValueError(f"dtype must be float64 or float32, not {dtype!r}.")
    estimator = getattr(estimator, "best_estimator_", estimator)  # of a search
    check_is_fitted(estimator)
    machines = list(_machines(estimator))
    if not machines:
        known = ", ".join(cls.__name__ for cls in _CONVERTERS)
        last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
        name = name_of(last, ESTIMATORS) or type(last).__name__
        raise TypeError(f"No ONNX form is known of {name}: the last step must be one of Mercer's own {known}.")
    for machine in machines:
        _require_written(machine)
    _register()
    return write_whole(path, tried(estimator, dtype, f"Mercer {type(machines[0]).__name__}", _own_ways()))


def _machines(estimator: Any) -> Iterator[Any]:
    """The fitted machines of Mercer that a pipeline ends in, or that wrappers at its end hold."""
    if estimator is None:
        return
    if isinstance(estimator, tuple(_CONVERTERS)):
        yield estimator
    elif hasattr(estimator, "steps"):
        yield from _machines(estimator.steps[-1][1])
    else:
        held = [getattr(estimator, name, ()) for name in ("calibrated_classifiers_", "estimators_")]
        parts = [part for several in held for part in several]
        for part in [*parts, getattr(estimator, "regressor_", None)]:
            yield from _machines(getattr(part, "estimator", part))


def _require_written(machine: Any) -> None:
    if isinstance(machine, Machine) and machine.kernel_.domain is not Domain.VECTORS:
        raise ValueError(f"An ONNX model takes rows of numbers, and {machine.kernel_!r} is not a kernel of such.")
    if getattr(machine, "variant", None) == "voted":
        raise ValueError(
            "The votes of a perceptron cannot be written as an ONNX model: fit it with variant='averaged'."
        )


# What a machine computes, in operators.


def _scores(ops: Operators, machine: Any, X: Any) -> Any:
    """f(x) of each problem, as columns."""
    weights = getattr(machine, "coef_", None)  # of a linear machine
    if weights is not None:
        return ops.Add(ops.MatMul(X, _double(weights.T)), _double(machine.intercept_))
    return _sums(ops, machine, X, machine.support_vectors_, _columns(machine))


def _sums(ops: Operators, machine: Any, X: Any, vectors: Any, coefficients: Array) -> Any:
    """sum_i beta_i k(x_i, x) + b for each column of coefficients."""
    vectors = _double(vectors.toarray() if is_sparse(vectors) else vectors)
    if len(vectors) == 0:  # f is constant
        vectors, coefficients = np.zeros((1, machine.n_features_in_)), np.zeros((1, coefficients.shape[1]))
    sums = ops.MatMul(block(machine.kernel_, ops, X, vectors), coefficients)
    return ops.Add(sums, _double(np.atleast_1d(machine.intercept_)))


def _columns(machine: Any) -> Array:
    """The coefficients of each problem as a column over all support vectors."""
    if not (isinstance(machine, SVC) and machine._paired()):
        return _double(machine.dual_coef_.T)
    places = class_slices(machine.n_support_.tolist())
    columns = np.zeros((len(machine.support_), machine.intercept_.size))
    for number, (i, j) in enumerate(pairs(machine.classes_.size)):
        columns[places[i], number] = machine.dual_coef_[j - 1, places[i]]
        columns[places[j], number] = machine.dual_coef_[i, places[j]]
    return columns


def _votes(ops: Operators, scores: Any, k: int) -> Any:
    """As `multiclass.cast` and `decision`: the pairs that each class wins, and less than 1/3 for by how much."""
    first, second = (np.eye(k)[[pair[side] for pair in pairs(k)]] for side in (0, 1))
    lost = ops.Cast(ops.Less(scores, np.zeros(1)), to=DOUBLE)
    won = ops.Add(ops.MatMul(lost, second - first), first.sum(axis=0))
    margin = ops.MatMul(scores, first - second)
    return ops.Add(won, ops.Div(margin, ops.Mul(ops.Add(ops.Abs(margin), np.ones(1)), np.full(1, 3.0))))


def _classify(ops: Operators, machine: Any, X: Any) -> dict[str, Any]:
    scores = _scores(ops, machine, X)
    if machine.classes_.size == 2:
        decision = ops.Squeeze(scores, np.array([1]))
        winner = ops.Cast(ops.Less(np.zeros(1), decision), to=INT64)
    else:
        paired = isinstance(machine, SVC) and machine._paired()
        decision = _votes(ops, scores, machine.classes_.size) if paired else scores
        winner = ops.ArgMax(decision, axis=1, keepdims=0)
    return {"label": ops.Gather(_plain(machine.classes_), winner), "decision": decision}


def _estimate(ops: Operators, machine: Any, X: Any) -> dict[str, Any]:
    """A classifier with probabilities: 1 / (1 + exp(-f)) of each class, divided by their sum."""
    found = _classify(ops, machine, X)
    f = found["decision"]
    if machine.classes_.size == 2:
        f = ops.MatMul(ops.Unsqueeze(f, np.array([1])), np.array([[-1.0, 1.0]]))
    soft = ops.Log(ops.Add(ops.Exp(ops.Neg(ops.Abs(f))), np.ones(1)))  # log(1 + exp(-f)), which never overflows
    logarithm = ops.Neg(ops.Add(ops.Max(ops.Neg(f), np.zeros(1)), soft))
    return found | {"probabilities": ops.Softmax(logarithm, axis=1)}


def _regress(ops: Operators, machine: Any, X: Any) -> dict[str, Any]:
    return {"prediction": ops.Squeeze(_scores(ops, machine, X), np.array([1]))}


def _regress_ridge(ops: Operators, machine: Any, X: Any) -> dict[str, Any]:
    several = machine.dual_coef_.ndim == 2
    coefficients = _double(machine.dual_coef_ if several else machine.dual_coef_[:, None])
    values = _sums(ops, machine, X, machine.X_fit_, coefficients)
    return {"prediction": values if several else ops.Squeeze(values, np.array([1]))}


def _find_outliers(ops: Operators, machine: Any, X: Any) -> dict[str, Any]:
    f = ops.Squeeze(_scores(ops, machine, X), np.array([1]))
    rounding = _double(ROUNDING * np.abs(machine.intercept_))
    decision = ops.Mul(f, ops.Cast(ops.Less(rounding, ops.Abs(f)), to=DOUBLE))
    outlier = ops.Cast(ops.Less(decision, np.zeros(1)), to=INT64)
    return {"label": ops.Sub(np.array([1]), ops.Mul(outlier, np.array([2]))), "decision": decision}


_CONVERTERS = {
    SVC: _classify, LinearSVC: _classify, Perceptron: _classify, KernelPerceptron: _classify, KernelLogistic: _estimate,
    SVR: _regress, KernelRidge: _regress_ridge, OneClassSVM: _find_outliers,
}  # fmt: skip


def _double(values: Any) -> Array:
    return np.ascontiguousarray(values, np.float64)


def _plain(classes: Array) -> Array:
    """Labels as ONNX has them: int64, float64 or strings."""
    if classes.dtype.kind in "biu":
        return classes.astype(np.int64)
    return _double(classes) if classes.dtype.kind == "f" else np.array([str(label) for label in classes])


# What skl2onnx wants to know of a class: its outputs, their types, and how they are computed.


def _register() -> None:
    from skl2onnx import update_registered_converter

    for cls, compute in _CONVERTERS.items():
        update_registered_converter(
            cls, f"Mercer{cls.__name__}", _set_types, partial(_convert, compute), parser=_declare_outputs
        )


def _register_dropins() -> None:
    """scikit-learn's classes with Mercer's solvers are written as their originals are."""
    from skl2onnx._supported_operators import sklearn_operator_name_map as names

    from .. import dropin

    for ours in (dropin.SVC, dropin.SVR, dropin.OneClassSVM, dropin.LinearSVC):
        original = next(cls for cls in ours.__mro__ if cls.__module__.startswith("sklearn."))
        names[ours] = names[original]


def _own_ways() -> dict[str, Any]:
    """What is written here of scikit-learn's steps and wrappers, for one conversion."""
    steps = [class_of(name, ESTIMATORS) for name in STEPS]
    wrappers = [class_of(name, ESTIMATORS) for name in WRAPPERS]
    return {
        "custom_conversion_functions": dict.fromkeys(steps, convert_step)
        | {cls: partial(_convert, _wrapped) for cls in wrappers},
        "custom_shape_calculators": dict.fromkeys(steps, step_shape) | dict.fromkeys(wrappers, _set_types),
        "custom_parsers": dict.fromkeys(wrappers, _declare_outputs),
    }


def _wrapped(ops: Operators, wrapper: Any, X: Any) -> dict[str, Any]:
    """What a wrapper makes of the decisions of its machines."""
    return WRAPPERS[type(wrapper).__name__](ops, wrapper, X, _decision, _plain(wrapper.classes_))


def _decision(ops: Operators, machine: Any, X: Any) -> Any:
    if not isinstance(machine, tuple(_CONVERTERS)) or not hasattr(machine, "classes_"):
        raise ValueError(f"it is around a {type(machine).__name__}; put the steps before the machine in front of it")
    return _classify(ops, machine, X)["decision"]


def _output_types(machine: Any) -> dict[str, Any]:
    from skl2onnx.common.data_types import DoubleTensorType, Int64TensorType, StringTensorType

    if not hasattr(machine, "classes_") and not isinstance(machine, OneClassSVM):
        several = machine.dual_coef_.shape[1:] if isinstance(machine, KernelRidge) else ()
        return {"prediction": DoubleTensorType([None, *several])}
    if isinstance(machine, OneClassSVM):
        return {"label": Int64TensorType([None]), "decision": DoubleTensorType([None])}
    kinds = {"i": Int64TensorType, "f": DoubleTensorType, "U": StringTensorType}
    k = machine.classes_.size
    label = kinds[_plain(machine.classes_).dtype.kind]([None])
    if type(machine).__name__ == "CalibratedClassifierCV":
        return {"label": label, "probabilities": DoubleTensorType([None, k])}
    if type(machine).__name__ == "OneVsRestClassifier":
        several = machine.multilabel_
        f = DoubleTensorType([None, len(machine.estimators_)])
        return {"label": Int64TensorType([None, k]) if several else label, "decision": f}
    found = {"label": label, "decision": DoubleTensorType([None] if k == 2 else [None, k])}
    return found | ({"probabilities": DoubleTensorType([None, k])} if hasattr(machine, "predict_proba") else {})


def _declare_outputs(scope: Any, machine: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    operator = scope.declare_local_operator(f"Mercer{type(machine).__name__}", machine)
    operator.inputs = inputs
    for name, kind in _output_types(machine).items():
        operator.outputs.append(scope.declare_local_variable(name, kind))
    return operator.outputs


def _set_types(operator: Any) -> None:
    for variable, kind in zip(operator.outputs, _output_types(operator.raw_operator).values(), strict=True):
        variable.type = kind


def _convert(compute: Any, scope: Any, operator: Any, container: Any) -> None:
    ops = Operators(container.target_opset)
    X = ops.Cast(operator.inputs[0], to=DOUBLE)
    results = compute(ops, operator.raw_operator, X)
    for variable, result in zip(operator.outputs, results.values(), strict=True):
        ops.Identity(result, output_names=[variable.full_name]).add_to(scope, container)


with suppress(ImportError):  # importing this module is all that skl2onnx needs to know Mercer's machines
    _register()
    _register_dropins()
