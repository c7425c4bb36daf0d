"""A grid that finds its own place: it starts around C = 1 and the scale of the data, grows wherever the best setting is
at its edge, and is refined around the best at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.pipeline import Pipeline

from ..kernels import Kernel
from ..kernels import kernel as as_kernel
from ..ties import first_largest
from .settings import last_step, prefix_of

SCALES = ("gamma", "length_scale")
_STEP = 4.0  # between neighbouring values, of the start
_FARTHEST = 10  # steps from the start, at most
Place = tuple[float, ...]
Scores = Callable[[list[dict[str, Any]]], list[float]]
"""From settings to their mean scores, NaN where time was up."""


class AutoGrid:
    """Settings at places: steps of C, and of gamma or length_scale, away from where the grid starts."""

    def __init__(self, estimator: Any, X: Any, y: Any) -> None:
        machine, prefix = last_step(estimator), prefix_of(estimator)
        self.names, self.starts = [f"{prefix}C"], [_unit(machine, y)]
        path = scale_path(getattr(machine, "kernel", None))
        if path:
            self.names.append(f"{prefix}kernel__{path}")
            self.starts.append(_scale(estimator, X, y, path))
        self.scored: dict[Place, float] = {}

    def settings(self, place: Place) -> dict[str, Any]:
        """Values with four digits, for people to read."""
        both = zip(self.names, self.starts, place, strict=True)
        return {name: float(f"{start * _STEP**steps:.4g}") for name, start, steps in both}

    def search(self, scores: Scores) -> list[dict[str, Any]]:
        """Score places until the best is inside, then its neighbours at half steps; all settings, in order."""
        axes = [[-1.0, 0.0, 1.0] for _ in self.names]
        while self._score(list(product(*axes)), scores):
            grown = False
            for axis, here in zip(axes, self.best(), strict=True):
                if here in (axis[0], axis[-1]) and abs(here) < _FARTHEST:
                    axis.append(here + (1.0 if here == axis[-1] else -1.0))
                    axis.sort()
                    grown = True
            if not grown:
                halves = [[here - 0.5, here, here + 0.5] for here in self.best()]
                self._score(list(product(*halves)), scores)
                break
        return [self.settings(place) for place in sorted(self.scored)]

    def best(self) -> Place:
        """The best place; of equals the one with the smallest C."""
        places = sorted(self.scored)
        return places[first_largest([self.scored[place] for place in places])]

    def _score(self, places: list[Place], scores: Scores) -> bool:
        """Score what is new; whether there was time for all of it."""
        new = [place for place in places if place not in self.scored]
        found = scores([self.settings(place) for place in new])
        self.scored |= {place: score for place, score in zip(new, found, strict=True) if not np.isnan(score)}
        return not np.isnan(found).any()


def scale_path(kernel: Any) -> str:
    """The nested name of the first gamma or length_scale of a kernel; empty where it has neither."""
    if kernel is None:
        return ""
    return next((name for name in as_kernel(kernel).get_params() if name.split("__")[-1] in SCALES), "")


def _scale(estimator: Any, X: Any, y: Any, path: str) -> float:
    """The value that fits the scale of the data, as the steps before the machine make it."""
    machine = last_step(estimator)
    if isinstance(estimator, Pipeline):
        X = clone(estimator[:-1]).fit_transform(X, y)
    kernel: Kernel = as_kernel(machine.kernel)
    X, _ = clone(machine)._admit_both(X, y, kernel)
    return float(kernel.resolve(X).get_params()[path])


def _unit(machine: Any, y: Any) -> float:
    """Where C starts: 1, or the spread of numbers to predict."""
    if not is_regressor(machine):
        return 1.0
    spread = float(np.std(np.asarray(y, np.float64)))
    return spread if spread > 0.0 else 1.0
