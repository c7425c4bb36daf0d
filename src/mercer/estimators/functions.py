"""What a fitted machine predicts with, as functions f = sum_i beta_i k(c_i, .) + b."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..function import RKHSFunction
from ..kernels import Linear
from ..kernels.points import Domain, take
from ..types import Array
from .multiclass import class_slices, pairs

Functions = RKHSFunction | tuple[RKHSFunction, ...]


def functions_of(machine: Any) -> Functions:
    """f of a fitted machine; of several problems (classes, pairs of them, targets), a tuple of theirs in order."""
    weights = getattr(machine, "_coef", None)
    biases = np.ravel(machine.intercept_)
    if weights is not None:
        return linear_functions(weights, biases)
    if machine.kernel_.domain is Domain.VALUES:
        raise AttributeError(
            "function_ needs points, and this machine was fitted to kernel values: f(x) is dual_coef_ times the values "
            "k(x_i, x) of its support_, plus intercept_."
        )
    parts = zip(_parts(machine), biases.tolist(), strict=True)
    found = [RKHSFunction(machine.kernel_, centres, beta, b) for (centres, beta), b in parts]
    return found[0] if len(found) == 1 else tuple(found)


def linear_functions(weights: Array, biases: Array) -> Functions:
    """<w, .> + b, with w as the one centre."""
    rows = np.atleast_2d(np.asarray(weights, np.float64))
    found = [RKHSFunction(Linear(), w[None], np.ones(1), b) for w, b in zip(rows, np.ravel(biases), strict=True)]
    return found[0] if len(found) == 1 else tuple(found)


def _parts(machine: Any) -> list[tuple[Any, Array]]:
    """Centres and beta of each problem."""
    if hasattr(machine, "X_fit_"):
        centres, rows = machine.X_fit_, np.reshape(machine.dual_coef_, (len(machine.dual_coef_), -1)).T
        return [_used(centres, np.arange(len(beta)), beta) for beta in rows]
    centres, sizes = machine.support_vectors_, machine.n_support_.tolist()
    betas = machine._unpack(machine.dual_coef_, sizes)
    if len(machine._blocks()) == 1:
        return [_used(centres, np.arange(len(beta)), beta) for beta in betas]
    places = [np.arange(part.start, part.stop) for part in class_slices(sizes)]
    both = [np.concatenate([places[i], places[j]]) for i, j in pairs(len(sizes))]
    return [_used(centres, rows, beta) for rows, beta in zip(both, betas, strict=True)]


def _used(centres: Any, rows: Array, beta: Array) -> tuple[Any, Array]:
    """Without the points that have no part; f = b keeps one, which says in which space it lives."""
    used = np.flatnonzero(beta)
    used = used if used.size else np.arange(min(1, len(beta)))
    return take(centres, rows[used]), beta[used]
