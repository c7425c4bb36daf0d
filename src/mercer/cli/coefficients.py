"""What a small machine has learned, in numbers: w, b, and the coefficients of its points."""

from __future__ import annotations

from typing import Any

import numpy as np

MOST = 10
"""So many numbers are printed, and no more."""


def coefficients(machine: Any) -> dict[str, Any]:
    """w, b and alpha (beta where they have signs, a for ridge regression), of which there are at most ten."""
    found: dict[str, Any] = {}
    weights = getattr(machine, "coef_", None) if _has_weights(machine) else None
    if weights is not None and np.size(weights) <= MOST:
        found["w"] = np.asarray(weights)
    if hasattr(machine, "intercept_") and np.size(machine.intercept_) <= MOST:
        found["b"] = np.ravel(machine.intercept_)
    return found | _of_points(machine)


def _has_weights(machine: Any) -> bool:
    try:
        return machine.coef_ is not None
    except AttributeError:
        return False


def _of_points(machine: Any) -> dict[str, Any]:
    """By the number of the row, from 1."""
    beta = getattr(machine, "dual_coef_", None)
    if beta is None or np.size(beta) > MOST:
        return {}
    if hasattr(machine, "X_fit_"):
        return {} if np.ndim(beta) > 1 else {"a": {str(i + 1): float(v) for i, v in enumerate(beta)}}
    if len(beta) != 1:
        return {}
    multipliers = type(machine).__name__ in ("SVC", "LinearSVC", "Perceptron", "KernelPerceptron")
    values = np.abs(beta[0]) if multipliers else beta[0]
    rows = {str(int(i) + 1): float(v) for i, v in sorted(zip(machine.support_, values, strict=True))}
    return {"multipliers" if multipliers else "beta": rows}


def in_words(data: dict[str, Any]) -> dict[str, str]:
    """Rows of the report: short lists of numbers."""
    rows = {}
    if "w" in data:
        scaled = " of the scaled columns" if data.get("scaled") else ""
        rows["w"] = "; ".join(_numbers(row) for row in np.atleast_2d(data["w"])) + scaled
    if "b" in data:
        rows["b"] = ", ".join(f"{v:.6g}" for v in data["b"])
    for name, shown in (("multipliers", "alpha"), ("beta", "beta"), ("a", "a")):
        if name in data:
            rows[shown] = ", ".join(f"{v:.6g} (row {i})" for i, v in data[name].items())
    return rows


def _numbers(row: Any) -> str:
    return f"({', '.join(f'{v:.6g}' for v in row)})"
