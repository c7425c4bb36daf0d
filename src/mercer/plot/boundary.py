"""The decision boundary in a plane: regions, margins, and the support vectors with alpha as their size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter
from sklearn.base import is_outlier_detector

from ..types import Array
from .plane import Plane, as_points, plane_of
from .style import (
    INK,
    areas,
    axes,
    class_name,
    colour,
    last_step,
    legend_below,
    legend_outside,
    lightened,
    require_fitted,
    shape,
)
from .support import Located, inside_margin, located_support

_FINE = 360  # points of the grid along each axis
_POINT, _LARGEST = 16.0, 110.0  # areas of markers, in square points
_FEW, _MANY = 10, 500  # points; fewer get more room around them, and of more each is smaller
_MARGINS = ("SVC", "LinearSVC", "NuSVC")  # machines for which y f(x) = 1 means something


def boundary(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    features: Sequence[Any] | None = None,
    projection: Any = None,
    ax: Any = None,
    title: str | None = None,
    legend: bool = True,
) -> Any:
    """Draw where a fitted estimator changes its mind, with the points X (labels or targets y) on top.

    Of two features it is the plane itself. Of more, either `features` names two (by number or by the column of a data
    frame; the others are held at their medians), or it is the plane through the mean along the two directions of
    largest variance (all features scaled alike), or along those that `projection` gives, an array (2, d). Points are
    drawn where they fall on the plane.

    The line is f = 0, the dashed lines are the margins f = -1 and f = 1. Support vectors are as large as alpha, filled
    where they are free (0 < alpha < C) and hollow at the bound C. They are drawn also on other data than that of the
    training, unless a step of a pipeline cannot be undone. Any estimator with predict will do: a classifier of any
    number of classes, an outlier detector, or a regressor, whose values are shown by colour.
    """
    require_fitted(estimator, "boundary")
    X = as_points(X)
    if y is not None and len(y) != X.shape[0]:
        raise ValueError(f"One label per point is needed: X has {X.shape[0]} rows, but y {len(y)}.")
    plane = plane_of(X, features, projection)
    ax = axes(ax, (7.0, 4.8))
    uv = plane.coordinates(X)
    grid = _Grid(uv, plane, estimator)
    classes = getattr(estimator, "classes_", None)
    if classes is None and not is_outlier_detector(estimator):
        _draw_values(ax, grid, uv, y, legend)
        _mark_regression(ax, plane, located_support(estimator, X), legend)
        handles = []
    else:
        found, names = _codes(estimator, X, y, classes)
        handles = _draw_regions(ax, grid, names, last_step(estimator))
        handles = _draw_points(ax, estimator, X, plane, found, names) + handles
    ax.set(xlabel=plane.labels[0], ylabel=plane.labels[1], xlim=grid.limits[0], ylim=grid.limits[1])
    if title:
        ax.set_title(title)
    if legend and handles:
        legend_outside(ax, handles)
    return ax


class _Grid:
    """A grid over the plane, and what the estimator says there."""

    def __init__(self, uv: Array, plane: Plane, estimator: Any) -> None:
        low, high = uv.min(axis=0), uv.max(axis=0)
        pad = (0.2 if len(uv) < _FEW else 0.07) * np.where(high > low, high - low, 1.0)
        self.limits = list(zip((low - pad).tolist(), (high + pad).tolist(), strict=True))
        self.u, self.v = (np.linspace(*limits, _FINE) for limits in self.limits)
        points = plane.points(np.column_stack([part.ravel() for part in np.meshgrid(self.u, self.v)]))
        self.outlier = is_outlier_detector(estimator)
        self.classes = getattr(estimator, "classes_", np.array([-1, 1]) if self.outlier else None)
        self.scores = self._score(estimator, points)
        if self.scores is None:
            self.values = np.asarray(estimator.predict(points)).reshape(_FINE, _FINE)

    def _score(self, estimator: Any, points: Any) -> Array | None:
        """f on the grid, of two classes; None where there is no f, or more classes."""
        if self.classes is None or len(self.classes) != 2 or not hasattr(estimator, "decision_function"):
            return None
        f = np.asarray(estimator.decision_function(points), np.float64).reshape(_FINE, _FINE)
        return -f if self.outlier else f  # positive for the second colour


def _codes(estimator: Any, X: Any, y: Any, classes: Any) -> tuple[Array, list[str]]:
    """The class of each point as a number, given or (without y) predicted; and the names of the classes."""
    known = y is not None
    labels = np.asarray(y) if known else np.asarray(estimator.predict(X))
    if classes is None:  # an outlier detector: +1 and -1
        if known and not set(np.unique(labels)) <= {-1, 1}:
            raise ValueError("Labels for an outlier detector are 1 (inliers) and -1 (outliers).")
        return (labels < 0).astype(int), ["inlier", "outlier"]
    places = {label: number for number, label in enumerate(np.asarray(classes).tolist())}
    unknown = set(labels.tolist()) - set(places)
    if unknown:
        raise ValueError(f"y has the label {sorted(unknown, key=str)[0]!r}, which the estimator does not know.")
    return np.array([places[label] for label in labels.tolist()]), [class_name(label) for label in places]


def _draw_regions(ax: Any, grid: _Grid, names: list[str], machine: Any) -> list[Any]:
    """A tint for each class, the boundary and the margins; the entries of the legend for the lines."""
    from matplotlib.colors import ListedColormap
    from matplotlib.lines import Line2D

    boundary_line = Line2D([], [], color=INK, linewidth=1.6, label="boundary, f(x) = 0")
    if grid.scores is None:
        classes = np.asarray(grid.classes).tolist()
        codes = np.vectorize({label: number for number, label in enumerate(classes)}.get, otypes=[int])(grid.values)
        tints = ListedColormap([lightened(colour(number), 0.78) for number in range(len(names))])
        ax.pcolormesh(
            grid.u, grid.v, codes, cmap=tints, vmin=-0.5, vmax=len(names) - 0.5, shading="nearest", rasterized=True
        )
        for number in range(len(names)):  # smoothed, since the grid would show in the lines
            inside = gaussian_filter((codes == number).astype(np.float64), 1.5, mode="nearest")
            ax.contour(grid.u, grid.v, inside, levels=[0.5], colors=INK, linewidths=1.4)
        boundary_line.set_label("boundary")
        return [boundary_line]
    f = grid.scores
    margins = type(machine).__name__ in _MARGINS
    reach = max(float(np.abs(f).max()), 1.0) * 1.01
    levels = [-reach, -1.0, 0.0, 1.0, reach] if margins else [-reach, 0.0, reach]
    shades = [(0, 0.68), (0, 0.86), (1, 0.86), (1, 0.68)] if margins else [(0, 0.78), (1, 0.78)]
    ax.contourf(grid.u, grid.v, f, levels=levels, colors=[lightened(colour(c), share) for c, share in shades])
    ax.contour(grid.u, grid.v, f, levels=[0.0], colors=INK, linewidths=1.6)
    if not margins:
        return [boundary_line]
    ax.contour(grid.u, grid.v, f, levels=[-1.0, 1.0], colors=INK, linewidths=1.1, linestyles="dashed")
    return [boundary_line, Line2D([], [], color=INK, linewidth=1.1, linestyle="dashed", label="margins, f(x) = ±1")]


def _draw_points(ax: Any, estimator: Any, X: Any, plane: Plane, codes: Array, names: list[str]) -> list[Any]:
    """The points of each class, and the support vectors as large as alpha; the entries of the legend."""
    from matplotlib.lines import Line2D

    uv, located = plane.coordinates(X), located_support(estimator, X)
    plain = np.ones(len(uv), bool)
    if located is not None and located.rows is not None:
        plain[located.rows] = False
    share = max(min(1.0, _MANY / len(uv)), 0.25)  # of the area, where there are many points
    handles = []
    for number, name in enumerate(names):
        own = codes == number
        style: dict[str, Any] = {"marker": shape(number), "color": colour(number)}
        ax.scatter(*uv[own & plain].T, s=share * _POINT, linewidths=0, alpha=0.75, zorder=2, **style)
        handles.append(Line2D([], [], linestyle="", markersize=6, label=name, **style))
    if located is None or located.support.rows.size == 0:
        return handles
    of_class = located.classes() if located.rows is None else codes[located.rows]
    if of_class is None:
        return handles
    bound = located.support.bound
    if len(names) == 2 and type(last_step(estimator)).__name__ in _MARGINS:
        f = np.asarray(estimator.decision_function(located.points))
        bound = inside_margin(located.support, np.where(of_class == 1, f, -f))
    places, sizes = plane.coordinates(located.points), areas(located.support.alpha, share * _LARGEST, share * _POINT)
    for number in range(len(names)):
        for at_bound in (True, False):
            chosen = (of_class == number) & (bound == at_bound)
            fill = (lightened(colour(number), 0.9), colour(number)) if at_bound else (colour(number), INK)
            ax.scatter(
                *places[chosen].T, s=sizes[chosen], marker=shape(number), facecolors=[fill[0]], edgecolors=[fill[1]],
                linewidths=1.2, zorder=3 if at_bound else 4, label="at the bound" if at_bound else "free",
            )  # fmt: skip
    grey = "#8A8A8A"
    kind = "free support vectors" if located.support.bounded else "support vectors"
    pieces: dict[str, dict[str, Any]] = {
        kind: {"markerfacecolor": grey, "markeredgecolor": INK},
        "at the bound C": {"markerfacecolor": "white", "markeredgecolor": grey},
    }
    shown = [not bound.all(), bool(bound.any())]
    for (label, look), there in zip(pieces.items(), shown, strict=True):
        if there:
            handles.append(Line2D([], [], linestyle="", marker="o", markersize=8, label=label, **look))
    return [*handles, Line2D([], [], linestyle="", label="(their area: alpha)")]


def _draw_values(ax: Any, grid: _Grid, uv: Array, y: Any, legend: bool) -> None:
    """A regressor: its values as colours, and the points with their targets in the same colours."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    values = np.asarray(grid.values, np.float64)
    seen = values if y is None else np.append(values, np.asarray(y, np.float64))
    norm = Normalize(float(seen.min()), float(seen.max()))
    ax.contourf(grid.u, grid.v, values, levels=20, cmap="cividis", norm=norm)
    targets = {"color": "white"} if y is None else {"c": np.asarray(y, np.float64), "cmap": "cividis", "norm": norm}
    ax.scatter(*uv.T, s=_POINT + 8, edgecolors="white", linewidths=0.7, zorder=2, **targets)
    if legend:
        both = ScalarMappable(norm, "cividis")  # what is filled is f alone, and the targets may lie beyond
        ax.figure.colorbar(both, ax=ax, label="f(x), and the targets of the points", shrink=0.9)


def _mark_regression(ax: Any, plane: Plane, located: Located | None, legend: bool) -> None:
    """Rings around the support vectors, their area in proportion to alpha."""
    if located is None or located.support.rows.size == 0:
        return
    sizes = 40.0 + areas(located.support.alpha, _LARGEST, 0.0)
    label = "support vectors (the ring grows with alpha)"
    places = plane.coordinates(located.points)
    ax.scatter(*places.T, s=sizes, facecolors="none", edgecolors=INK, linewidths=1.0, zorder=3, label=label)
    if legend:
        legend_below(ax)
