"""What Python finds for the page: a fitted machine as coefficients, its certificate, and f on the page's grid."""

from __future__ import annotations

import base64
import math
from itertools import pairwise
from typing import Any

import numpy as np

from ..types import Array
from .state import State, StateError, fitted, kernel_text

CELLS = 112
"""Cells of the field on a side, as in draw.js."""
_MOST_GRAM = 300  # points up to which K is sent
_SECONDS = 20.0


def answer(state: State) -> dict[str, Any]:
    """The machine of this state, as plain data; raises StateError where it cannot be fitted."""
    try:
        model = fitted(state, time_limit=_SECONDS)
        parts = _parts(state, model)
        fields = _fields(state, model)
        K = _gram(state)
    except (ValueError, TypeError) as error:
        raise StateError(str(error)) from error
    certificates = getattr(model, "certificates_", None) or [model.certificate_]
    if state.settings["machine"] == "perceptron":
        best = model.certificate_
        primal, dual = float(best.upper), float(best.lower)
        relative = (primal - max(dual, 0.0)) / primal if primal > 0 else 1.0
    else:
        primal, dual = (float(sum(getattr(c, name) for c in certificates)) for name in ("primal", "dual"))
        size = max(abs(primal), abs(dual))
        relative = max(0.0, primal - dual) / size if size else 0.0
    return {
        "parts": parts,
        "fields": [_packed(field) for field in fields],
        "K": _packed(K) if K is not None else None,
        "primal": _finite(primal),
        "dual": _finite(dual),
        "relative": _finite(relative),
        "mistakes": int(np.sum(getattr(model, "mistakes_", 0))),
        "passes": int(np.max(getattr(model, "n_iter_", 0))),
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _packed(values: Array) -> str:
    return base64.b64encode(np.ascontiguousarray(values, "<f8").tobytes()).decode()


def _gram(state: State) -> Array | None:
    from ..kernels import kernel

    if len(state.points) > _MOST_GRAM:
        return None
    return np.asarray(kernel(kernel_text(state)).resolve(state.X)(state.X, state.X), np.float64)


def _parts(state: State, model: Any) -> list[dict[str, Any]]:
    """beta, K beta and b of each machine, over all its points."""
    from ..estimators.multiclass import pairs, unpack

    n, everyone = len(state.points), np.arange(len(state.points))
    if state.settings["machine"] == "svc" and model.classes_.size > 2:
        betas = unpack(model.dual_coef_, model.n_support_.tolist())
        ends = np.cumsum([0, *model.n_support_])
        support = [model.support_[a:b] for a, b in pairwise(ends)]
        scores = model.pairwise_decision_function(state.X)
        out = []
        for k, (i, j) in enumerate(pairs(model.classes_.size)):
            rows = np.flatnonzero(np.isin(state.labels, model.classes_[[i, j]]))
            beta = np.zeros(n)
            beta[np.concatenate([support[i], support[j]])] = betas[k]
            b = float(model.intercept_[k])
            out.append(_part(model.classes_[[i, j]], rows, beta[rows], scores[rows, k] - b, b))
        return out
    beta = np.zeros(n)
    if state.settings["machine"] == "ridge":
        beta[:], score = np.ravel(model.dual_coef_), model.predict(state.X)
    else:
        beta[model.support_] = np.ravel(model.dual_coef_)
        score = model.predict(state.X) if state.settings["machine"] == "svr" else model.decision_function(state.X)
    classes = model.classes_[::-1] if hasattr(model, "classes_") else np.array([1, -1])
    b = float(np.ravel(model.intercept_)[0])
    return [_part(classes, everyone, beta, score - b, b)]


def _part(classes: Array, rows: Array, beta: Array, F: Array, b: float) -> dict[str, Any]:
    return {
        "classes": [int(c) for c in classes],
        "rows": rows.tolist(),
        "beta": _packed(beta),
        "F": _packed(F),
        "bias": b,
    }


def _fields(state: State, model: Any) -> list[Array]:
    """f of each part at the middles of the cells and of a ring around them, from the top; in regression one row."""
    x, y, half = state.view
    places = (np.arange(CELLS + 2) - 0.5) * 2 * half / CELLS - half
    if state.regression:
        return [np.asarray(model.predict((x + places)[:, None]))]
    across, down = np.meshgrid(x + places, y - places)
    grid = np.column_stack([across.ravel(), down.ravel()])
    if state.settings["machine"] == "svc" and model.classes_.size > 2:
        return list(model.pairwise_decision_function(grid).T)
    return [np.asarray(model.decision_function(grid))]
