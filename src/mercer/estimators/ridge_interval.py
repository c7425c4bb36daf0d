"""Intervals for new targets by jackknife+ (Barber, Candes, Ramdas, Tibshirani 2021), without fitting again.

Without point i, f would be f(x) - c_i(x) r_i: r_i is the leave-one-out residual of the point, and c_i(x) the share of
its target in f(x) (see `ridge_spread`). The interval goes from one of the n values f_without_i(x) - |r_i|, the
ceil(coverage (n + 1))-th from above, to one of the f_without_i(x) + |r_i|, the same from below.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from ..amounts import AT_A_TIME
from ..solution import Status
from ..ties import ROUNDING
from ..types import Array, Points
from .ridge_spread import FactorSpread, WeightsSpread

MOST = AT_A_TIME.drawn_rows  # Points that are left out in turn, where all are known by features.


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Points of the training that are left out in turn, and what is missed without them."""

    spread: Any
    residuals: Array
    """r_i, a column for each target."""
    points: Points = None
    """These points, where the spread does not hold them."""
    weight: Array | None = None

    def shares(self, X: Points) -> Array:
        """c_i(x), a row for each of some new points."""
        held = () if self.points is None else (self.points, self.weight)
        return np.asarray(self.spread.shares(X, *held))


def left_out_by_factor(spread: FactorSpread, beta: Array) -> LeftOut:
    """beta_i / (A^-1)_ii of all points."""
    diagonal = spread.factor.inverse_diagonal()
    if spread.ones is not None:
        diagonal = diagonal - spread.ones[:, 0] ** 2 / spread.ones.sum()
    return LeftOut(spread, _divided(beta, diagonal))


def left_out_by_features(spread: WeightsSpread, points: Points, errors: Array, weight: Array) -> LeftOut:
    """e_i / (1 - h_i) of these points, h_i being their leverages; `spread` must know all points of the training."""
    return LeftOut(spread, _divided(errors, 1.0 - spread.own_shares(points, weight)), points, weight)


def _divided(V: Array, by: Array) -> Array:
    """Infinite where the only point is left out: nothing is known without it."""
    return np.full(V.shape, np.inf) if len(V) == 1 else np.asarray(V / by[:, None])


def drawn(n: int) -> Any:
    """Which of n points are left out in turn; with a seed of its own, so that a machine always says the same."""
    return np.arange(n) if n <= MOST else np.sort(np.random.default_rng(0).permutation(n)[:MOST])


def require_coverage(coverage: Any) -> None:
    """Raise unless there can be an interval."""
    if not isinstance(coverage, float | np.floating) or not 0.5 <= coverage < 1.0:
        raise ValueError(
            f"predict_interval: coverage must be a number from 0.5 to 1 (1 excluded), such as 0.9, not {coverage!r}."
        )


def require_solved(certificates: Any) -> None:
    """Raise where a fit was stopped: its coefficients are not yet those of leave-one-out residuals."""
    for certificate in certificates:
        if certificate.status not in (Status.CONVERGED, Status.STALLED):
            raise ValueError(
                f"predict_interval needs a fit that came to its end, and this one did not ({certificate.status})."
            )


def jackknife_plus(means: Array, shares: Array, residuals: Array, coverage: float) -> tuple[Array, Array]:
    """The ends of the intervals, a row for each point and a column for each target."""
    n = len(residuals)
    rank = ceil(coverage * (n + 1) - ROUNDING)  # 0.9 * 10 is 9
    lower, upper = np.full(means.shape, -np.inf), np.full(means.shape, np.inf)
    for j, r in enumerate(residuals.T):
        if rank > n or not np.isfinite(r).all():  # so few points bound nothing
            continue
        without = means[:, j : j + 1] - shares * r
        lower[:, j] = np.partition(without - np.abs(r), n - rank, axis=1)[:, n - rank]
        upper[:, j] = np.partition(without + np.abs(r), rank - 1, axis=1)[:, rank - 1]
    return lower, upper
