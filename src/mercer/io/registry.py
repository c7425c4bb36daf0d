"""What a model file may hold: an explicit list of classes, and the shapes that their arrays must have together.

A file names a class by a name of this list; where that class lives is written here and never in the file. A new
estimator is one line.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from ..kernels import Kernel
from ..kernels.points import Domain

_MACHINE = {"support_vectors_": "s d", "dual_coef_": "r s", "support_": "s", "intercept_": "p"}
_LABELS = {"classes_": "k"}

ESTIMATORS: dict[str, tuple[str, dict[str, str]]] = {
    "SVC": ("mercer.estimators", _MACHINE | _LABELS | {"n_support_": "k"}),
    "SVR": ("mercer.estimators", _MACHINE),
    "OneClassSVM": ("mercer.estimators", _MACHINE),
    "KernelLogistic": ("mercer.estimators", _MACHINE | _LABELS),
    "LinearSVC": (
        "mercer.estimators",
        _LABELS | {"_coef": "p d", "intercept_": "p", "dual_coef_": "p s", "support_": "s"},
    ),
    "Perceptron": ("mercer.estimators", _LABELS | {"coef_": "p d", "intercept_": "p"}),
    "KernelPerceptron": ("mercer.estimators", _LABELS | _MACHINE | {"dual_coef_": "p s"}),
    "KernelRidge": ("mercer.estimators", {"X_fit_": "n d", "dual_coef_": "n m?", "intercept_": "m?"}),
    "PolynomialMap": ("mercer.features", {}),
    "PolarMap": ("mercer.features", {}),
    "PrototypeMap": ("mercer.features", {}),
    "GaussianSeries": ("mercer.features", {}),
    "RandomFourier": ("mercer.features", {"frequencies_": "d m"}),
    "Nystrom": ("mercer.features", {"landmarks_": "l d", "whitening_": "l m"}),
    "SpectralMap": ("mercer.features", {}),
    "Encoder": ("mercer.io.encode", {}),
    "Pipeline": ("sklearn.pipeline", {}),
    "StandardScaler": ("sklearn.preprocessing", {"mean_": "d", "scale_": "d", "var_": "d"}),
    "MinMaxScaler": ("sklearn.preprocessing", {"min_": "d", "scale_": "d", "data_min_": "d", "data_max_": "d"}),
    "MaxAbsScaler": ("sklearn.preprocessing", {"scale_": "d", "max_abs_": "d"}),
    "RobustScaler": ("sklearn.preprocessing", {"center_": "d", "scale_": "d"}),
    "Normalizer": ("sklearn.preprocessing", {}),
}
"""Name: the module, and the dimensions of arrays. A letter stands for one number throughout, d for n_features_in_; a
dimension with ? may be absent."""

VALUES = {
    "Certificate": "mercer.solution",
    "WorstCertificate": "mercer.estimators.certificates",
    "RidgeCertificate": "mercer.estimators.ridge_certificate",
    "Solution": "mercer.solution",
    "Inseparable": "mercer.solution",
    "MarginCertificate": "mercer.online",
    "Held": "mercer.online",
    "Monomials": "mercer.kernels.monomials",
    "Expansion": "mercer.kernels.expansion",
    "Expanded": "mercer.estimators.expanded",
    "RidgePath": "mercer.estimators.ridge_path",
    "WeightsSpread": "mercer.estimators.ridge_spread",
    "Inverse": "mercer.solvers.weights",
}
"""Frozen dataclasses that fitted estimators hold."""

FORGOTTEN = {"FactorSpread": "mercer.estimators.ridge_spread"}
"""Large, and made anew where it is needed: stored as None."""

RECORDS = {"Step": "mercer.solution", "Update": "mercer.online"}
"""Small values of which estimators hold long tuples: stored as columns."""


def name_of(value: Any, table: Any) -> str | None:
    """The name under which the class of a value stands in a table; None where it does not."""
    name = type(value).__name__
    return name if name in table and type(value) is class_of(name, table) else None


def class_of(name: str, table: Any) -> Any:
    """The class of that name."""
    home = table[name]
    return getattr(import_module(home if isinstance(home, str) else home[0]), name)


def require_consistent(name: str, estimator: Any) -> None:
    """Raise where the arrays of an estimator do not belong together: compiled code relies on their shapes."""
    lengths: dict[str, int] = {}
    state = vars(estimator)
    if isinstance(state.get("n_features_in_"), int):
        lengths["d"] = state["n_features_in_"]
    for attribute, letters in ESTIMATORS[name][1].items():
        value = state.get(attribute)
        if value is None or (attribute in ("support_vectors_", "X_fit_") and _values_given(state)):
            continue
        shape, wanted = np.shape(value), letters.split()
        if len(shape) != len(wanted) and len(shape) != sum(not letter.endswith("?") for letter in wanted):
            raise ValueError(f"{attribute} of {name} must have {len(wanted)} dimension(s), not {len(shape)}")
        for length, letter in zip(shape, wanted, strict=False):
            if lengths.setdefault(letter[0], length) != length:
                raise ValueError(f"{attribute} of {name} has shape {shape}, which does not go with its other arrays")
    if "kernel_" in state and not isinstance(state["kernel_"], Kernel):
        raise ValueError(f"kernel_ of {name} is no kernel")
    for attribute in ESTIMATORS[name][1]:
        value = state.get(attribute)
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and not np.isfinite(value).all():
            raise ValueError(f"{attribute} of {name} holds values that are no finite numbers")
    if state.get("_held") is not None:
        _require_votes(state)
    if state.get("_expanded") is not None:
        _require_expanded(state)


def _require_votes(state: dict[str, Any]) -> None:
    """What a perceptron with a kernel goes on from, and votes with."""
    held, shape = state["_held"], np.shape(state["dual_coef_"])
    if {np.shape(held.signs), np.shape(held.weights), np.shape(held.stamps)} != {shape}:
        raise ValueError("the points that a perceptron holds do not go with its coefficients")
    sequence = state.get("_sequence")
    if sequence is None:
        return
    inside = sequence.ndim == 2 and len(sequence) == 3 and sequence.dtype.kind == "i"
    if not inside or not all(((part >= 0) & (part < n)).all() for part, n in zip(sequence[:2], shape, strict=True)):
        raise ValueError("the votes of a perceptron are of points that it does not hold")


def _require_expanded(state: dict[str, Any]) -> None:
    """Features of a polynomial kernel: as many as there are weights, before any of them is computed."""
    from ..estimators.expanded import Expanded
    from ..kernels.expansion import MOST, Expansion

    held, kernel, d = state["_expanded"], state.get("kernel_"), state.get("n_features_in_")
    if not isinstance(held, Expanded) or not isinstance(held.expansion, Expansion) or held.expansion.kernel != kernel:
        raise ValueError("the features of a machine are not those of its kernel")
    p = np.shape(state["intercept_"])
    numbers = (held.weights, held.biases, held.expansion.centre)
    if any(np.asarray(part).dtype.kind != "f" or not np.isfinite(part).all() for part in numbers):
        raise ValueError("the weights of a machine are no finite numbers")
    width = held.expansion.kernel.size(d) - (0 if held.expansion.whole is True else 1) if isinstance(d, int) else 0
    if not 0 < width <= MOST or np.shape(held.weights) != (*p, width) or np.shape(held.biases) != p:
        raise ValueError("the weights of a machine do not go with its features")
    if np.shape(held.expansion.centre) != (d,):
        raise ValueError("the centre of a machine is not one of its points")


def _values_given(state: dict[str, Any]) -> bool:
    """Whether the kernel takes rows of its own values, so that no support vectors are kept."""
    kernel = state.get("kernel_")
    return isinstance(kernel, Kernel) and kernel.domain is Domain.VALUES
