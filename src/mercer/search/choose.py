"""Which setting is chosen: the one-standard-error rule, whether the winner is proven, whether it is at an edge."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from ..types import Array

_SIMPLER = {"C": 1.0, "gamma": 1.0, "alpha": -1.0, "length_scale": -1.0}  # smaller is simpler, or larger


def one_standard_error(results: dict[str, Any]) -> int:
    """For `refit=`: of the settings whose mean score is within one standard error of the best, the simplest.

    Simplest is the smallest C, then the smallest gamma (the largest alpha, or length_scale); of equals the first. The
    standard error is that of the best setting's mean over the folds.
    """
    means = np.asarray(results["mean_test_score"], float)
    folds = sum(name.startswith("split") and name.endswith("_test_score") for name in results)
    best = int(np.nanargmax(means))
    error = float(results["std_test_score"][best]) / np.sqrt(max(folds - 1, 1))
    near = np.flatnonzero(means >= means[best] - error)
    return int(min(near, key=lambda number: (*_complexity(results["params"][number]), number)))


def _complexity(settings: dict[str, Any]) -> tuple[float, ...]:
    values = {name.split("__")[-1]: value for name, value in settings.items()}
    return tuple(sign * float(values[name]) for name, sign in _SIMPLER.items() if isinstance(values.get(name), Real))


def decided(bounds: Array, best: int) -> bool:
    """Whether no other setting can be better; of equals, the first one wins."""
    least = bounds[best, 0]
    return bool((bounds[:best, 1] < least).all() and (bounds[best + 1 :, 1] <= least).all())


def at_edge(candidates: list[dict[str, Any]], best: dict[str, Any]) -> list[str]:
    """The numbers of the best setting that are the smallest or the largest of several in the grid."""
    names = []
    for name, value in best.items():
        if isinstance(value, Real) and not isinstance(value, bool):
            values = {other[name] for other in candidates if isinstance(other.get(name), Real)}
            if len(values) > 1 and value in (min(values), max(values)):
                names.append(name)
    return names
