"""f of one feature: the curve, its tube or its standard deviation, and the points."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..types import Array
from .plane import as_points
from .style import INK, areas, axes, colour, last_step, legend_outside, lightened, require_fitted
from .support import support_of

_FINE = 500
_POINT, _LARGEST = 14.0, 90.0


def curve(estimator: Any, X: Any, y: Any, *, ax: Any = None, title: str | None = None, legend: bool = True) -> Any:
    """Draw a fitted regressor of one feature: f(x), and the points X with their targets y.

    For SVR the tube f(x) +- epsilon is dashed and support vectors are as large as alpha, hollow at the bound C. A
    regressor with predict(X, return_std=True) gets a band of two standard deviations: for KernelRidge, where it expects
    about 95% of new targets.
    """
    require_fitted(estimator, "curve")
    X = as_points(X)
    if X.shape[1] != 1:
        raise ValueError(f"curve draws one feature, but X has {X.shape[1]}: see mercer.plot.boundary.")
    x, targets = np.asarray(X, np.float64)[:, 0], np.asarray(y, np.float64)
    if targets.shape != x.shape:
        raise ValueError(f"One target per point is needed: X has {x.size} rows, but y the shape {targets.shape}.")
    ax = axes(ax, (7.4, 4.4))
    pad = 0.04 * (np.ptp(x) or 1.0)
    line = np.linspace(x.min() - pad, x.max() + pad, _FINE)
    points = type(X)(line[:, None], columns=X.columns) if hasattr(X, "iloc") else line[:, None]
    f = np.asarray(estimator.predict(points), np.float64)
    _draw_band(ax, estimator, points, line, f)
    ax.plot(line, f, color=colour(0), linewidth=2.0, label="f(x)", zorder=3)
    _draw_targets(ax, estimator, x, targets)
    name = X.columns[0] if hasattr(X, "iloc") else "x"
    ax.set(xlabel=str(name), ylabel="target", xlim=(line[0], line[-1]))
    if title:
        ax.set_title(title)
    if legend:
        legend_outside(ax, ax.get_legend_handles_labels()[0])
    return ax


def _draw_band(ax: Any, estimator: Any, points: Any, line: Array, f: Array) -> None:
    machine = last_step(estimator)
    epsilon = getattr(machine, "epsilon", None)
    if epsilon:
        ax.plot(line, f - epsilon, color=INK, linestyle="dashed", linewidth=1.0, label="tube, f(x) ± epsilon")
        ax.plot(line, f + epsilon, color=INK, linestyle="dashed", linewidth=1.0)
        return
    try:
        deviation = np.asarray(estimator.predict(points, return_std=True)[1], np.float64)
    except TypeError:  # predict has no such option
        return
    ax.fill_between(
        line, f - 2 * deviation, f + 2 * deviation, facecolor=lightened(colour(0), 0.8), edgecolor=colour(0),
        linewidth=0.6, label="f(x) ± 2 standard\ndeviations",
    )  # fmt: skip


def _draw_targets(ax: Any, estimator: Any, x: Array, targets: Array) -> None:
    support = support_of(estimator)
    plain = np.ones(x.size, bool)
    if support is not None and support.rows.max(initial=-1) < x.size:
        plain[support.rows] = False
        sizes = areas(support.alpha, _LARGEST, _POINT)
        for at_bound, label, fill in (
            (False, "free support vectors", colour(1)),
            (True, "at the bound C", lightened(colour(1), 0.9)),
        ):
            rows = support.rows[support.bound == at_bound]
            if rows.size:
                ax.scatter(
                    x[rows], targets[rows], s=sizes[support.bound == at_bound], marker="s", facecolors=[fill],
                    edgecolors=[colour(1) if at_bound else INK], linewidths=1.1, label=label, zorder=4,
                )  # fmt: skip
    if plain.any():
        ax.scatter(x[plain], targets[plain], s=_POINT, color="#555555", linewidths=0, label="points", zorder=2)
