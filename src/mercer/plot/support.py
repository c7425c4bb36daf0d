"""The support vectors of a fitted machine: where they are, how large alpha is, and which are at their bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from ..types import Array
from .style import last_step

_AT_BOUND = 1e-6  # of C
_INSIDE = 0.05  # a point that is so far inside the margin is at its bound, whatever its weight


@dataclass(frozen=True, eq=False)
class SupportRows:
    """Rows of the training set with a coefficient: beta (the largest in size of several problems), and its bound."""

    rows: Array
    beta: Array
    bound: Array
    """Whether alpha = |beta| is at its upper bound C_i."""
    limit: float
    """C; infinite where it is not known, or where there is none."""
    bounded: bool
    """Whether alpha has an upper bound at all."""

    @property
    def alpha(self) -> Array:
        """|beta|."""
        return np.abs(self.beta)


def support_of(estimator: Any) -> SupportRows | None:
    """The support vectors of a machine, or of the last step of a pipeline; None where it has none."""
    machine = last_step(estimator)
    if not hasattr(machine, "support_") or not hasattr(machine, "dual_coef_"):
        return None
    dual = machine.dual_coef_
    layout = np.atleast_2d(np.asarray(dual.todense() if hasattr(dual, "todense") else dual, np.float64))
    largest = np.abs(layout).argmax(axis=0) if layout.size else np.zeros(0, np.intp)
    beta = layout[largest, np.arange(layout.shape[1])]
    limit = _limit(machine)
    bound = np.abs(beta) >= (1 - _AT_BOUND) * limit
    return SupportRows(np.asarray(machine.support_), beta, bound, float(np.max(limit)), _is_bounded(machine))


@dataclass(frozen=True, eq=False)
class Located:
    """Support vectors and where they are."""

    support: SupportRows
    estimator: Any
    points: Any
    """As the estimator takes them: before all steps of a pipeline."""
    rows: Array | None
    """Their rows in the data at hand; None where that is not what the machine was trained on."""

    def classes(self) -> Array | None:
        """The number of the class of each, as far as that can be known without their labels."""
        machine = last_step(self.estimator)
        if not hasattr(machine, "classes_"):  # an outlier detector: what it says of them
            return np.where(self.estimator.predict(self.points) < 0, 1, 0)
        k, sizes = len(machine.classes_), np.asarray(getattr(machine, "n_support_", ()), np.intp)
        if k == 2:
            return (self.support.beta > 0).astype(int)
        return np.repeat(np.arange(k), sizes) if len(sizes) == k and sizes.sum() == len(self.points) else None


def located_support(estimator: Any, X: Any) -> Located | None:
    """The support vectors, among the rows of X if it is what the estimator was trained on; None where they are lost."""
    support, machine = support_of(estimator), last_step(estimator)
    if support is None:
        return None
    estimator = getattr(estimator, "best_estimator_", estimator)
    before = estimator[:-1] if hasattr(estimator, "steps") and len(estimator.steps) > 1 else None
    vectors = _dense(machine.support_vectors_) if hasattr(machine, "support_vectors_") else None
    if support.rows.size > 0 and support.rows.max() < X.shape[0]:
        points = X.iloc[support.rows] if hasattr(X, "iloc") else X[support.rows]
        seen = _dense(points if before is None else before.transform(points))
        if vectors is None:  # a linear machine: its weights are made of the support vectors
            same = hasattr(machine, "coef_") and _close(machine.dual_coef_ @ seen, machine.coef_)
        else:
            same = seen.shape == vectors.shape and _close(seen, vectors)
        if same:
            return Located(support, estimator, points, support.rows)
    found = None if vectors is None else _undone(before, vectors)
    if vectors is None or found is None or found.shape[1] != X.shape[1]:
        return None
    named = type(X)(found, columns=X.columns) if hasattr(X, "iloc") else found
    return Located(support, estimator, named, None)


def _undone(before: Any, vectors: Array) -> Array | None:
    """Points that the steps of a pipeline map to these; None where a step cannot be undone."""
    if before is None:
        return vectors
    try:
        points = _dense(before.inverse_transform(vectors))
        return points if _close(_dense(before.transform(points)), vectors) else None
    except (AttributeError, ValueError, TypeError):
        return None


def _dense(part: Any) -> Array:
    return np.asarray(part.toarray() if hasattr(part, "toarray") else part, np.float64)


def _close(a: Array, b: Array) -> bool:
    return bool(np.allclose(a, b, rtol=1e-5, atol=1e-8 + 1e-6 * float(np.abs(b).max(initial=0.0))))


def inside_margin(support: SupportRows, signed: Array) -> Array:
    """Which are at their bound, also by y f(x) of each: sample weights change the bounds, and are not kept."""
    return np.asarray(support.bound | ((signed < 1 - _INSIDE) & support.bounded))


def _is_bounded(machine: Any) -> bool:
    """Not for the hard margin, and not for smooth losses."""
    if hasattr(machine, "predict_proba") or getattr(machine, "loss", "hinge") == "squared_hinge":
        return False
    return hasattr(machine, "nu") or bool(np.isfinite(getattr(machine, "C", np.inf)))


def _limit(machine: Any) -> Any:
    """C of each support vector, or of all: with the weight of its class where classes have weights that are known."""
    if not _is_bounded(machine):
        return np.inf
    if not hasattr(machine, "C"):  # one class
        return 1.0
    weight = getattr(machine, "class_weight", None)
    if weight is None:
        return float(machine.C)
    if not hasattr(machine, "n_support_"):
        return np.inf
    if isinstance(weight, str):
        known = getattr(machine, "class_weight_", None)  # scikit-learn's
        return np.inf if known is None else machine.C * np.repeat(known, machine.n_support_)
    values = compute_class_weight(weight, classes=machine.classes_, y=machine.classes_)
    return machine.C * np.repeat(values, machine.n_support_)
