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
class Support:
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


def support_of(estimator: Any) -> Support | None:
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
    return Support(np.asarray(machine.support_), beta, bound, float(np.max(limit)), _is_bounded(machine))


def inside_margin(support: Support, signed: Array) -> Array:
    """Which are at their bound, also by y f(x) of each: sample weights change the bounds, and are not kept."""
    return np.asarray(support.bound | ((signed < 1 - _INSIDE) & support.bounded))


def _is_bounded(machine: Any) -> bool:
    """Not for the hard margin, and not for squared losses."""
    return bool(np.isfinite(getattr(machine, "C", np.inf))) and getattr(machine, "loss", "hinge") == "hinge"


def _limit(machine: Any) -> Any:
    """C of each support vector, or of all: with the weight of its class where classes have weights that are known."""
    if hasattr(machine, "nu") and not hasattr(machine, "C"):
        return 1.0
    if not _is_bounded(machine):
        return np.inf
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
