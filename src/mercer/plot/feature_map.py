"""A feature map as two pictures: the points before phi, and after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..colours import COLOURS
from ..types import Array
from .plane import Projection, as_points
from .style import INK, class_name, colour, pyplot, shape

_LINES = 13  # of the grid that shows how phi bends the plane
_SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉"
_SMOOTH = 80  # points of each line
_FINE = 201  # places along each side, where f is computed for its boundary
_C = 100.0  # of the machine that draws a line


def feature_map(
    phi: Any,
    X: Any,
    y: Any = None,
    *,
    components: Sequence[int] | None = None,
    boundary: bool = False,
    ax: Any = None,
    title: str | None = None,
) -> Any:
    """Draw points X (with labels y) before and after phi, a feature map or any transformer; it is fitted if need be.

    `components` chooses two or three of the features of phi. By default it is all of them where there are two. Where
    there are more, it is the two that tell the classes y apart best or, without y, the two directions of largest
    variance of phi(X). Of points in the plane, a grid shows how phi bends it. With `boundary`, a support vector machine
    draws its line between two classes in the two features shown, and beside it the curve that this line is before phi:
    a classifier in feature space is one of the points too. `ax` is a pair of axes (the second with
    projection="3d" for three components); the pair is returned.
    """
    X = np.asarray(as_points(X), np.float64)
    phi = _fitted(phi, X, y)
    codes, names = _classes(y, len(X))
    after = _Image(phi, X, codes, components)
    left, right = _pair(ax, after.dimensions)
    before = Projection(X) if X.shape[1] > 2 else None
    plane = before.coordinates(X) if before else X if X.shape[1] == 2 else np.column_stack([X, np.zeros(len(X))])
    if X.shape[1] == 2 and after.dimensions == 2:
        _draw_grid(left, right, X, after)
    for axes, points in ((left, plane), (right, after(X))):
        for number, name in enumerate(names):
            own = codes == number
            depth = {"depthshade": False} if points.shape[1] == 3 else {"zorder": 3}
            axes.scatter(
                *points[own].T, s=24, color=colour(number), marker=shape(number), edgecolors="white", linewidths=0.4,
                label=name, **depth,
            )  # fmt: skip
    if boundary:
        _draw_boundary(left, right, X, after, codes, names)
    labels = before.labels if before else ("x₁", "x₂") if X.shape[1] == 2 else ("x", "")
    left.set(xlabel=labels[0], ylabel=labels[1], title="before")
    right.set(xlabel=after.labels[0], ylabel=after.labels[1], title=title or f"after {type(phi).__name__}")
    if after.dimensions == 3:
        right.set_zlabel(after.labels[2])
    if X.shape[1] == 1:
        left.set_yticks([])
    if len(names) > 1:
        left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=min(len(names), 5), frameon=False)
    return left, right


class _Image:
    """phi, followed by the choice of what is shown."""

    def __init__(self, phi: Any, X: Array, codes: Array, components: Sequence[int] | None) -> None:
        self.phi = phi
        values = self._map(X)
        count = values.shape[1]
        self.chosen = components
        if components is None and count <= 2:
            self.chosen = list(range(count))
        elif components is None and codes.any():
            self.chosen = sorted(np.argsort(-_separation(values, codes), kind="stable")[:2].tolist())
        self.projection: Projection | None = None
        if self.chosen is None:
            self.projection = Projection(values)
            first, second = (label[label.index("(") :] for label in self.projection.labels)
            self.labels = [f"first principal direction {first}", f"second principal direction {second}"]
            self.dimensions = 2
            return
        if not 1 <= len(self.chosen) <= 3 or not all(-count <= c < count for c in self.chosen):
            raise ValueError(f"components must be two or three of the {count} features of phi, not {components!r}.")
        self.dimensions = max(2, len(self.chosen))
        self.labels = [_feature_names(phi, count)[c] for c in self.chosen] + [""] * (2 - len(self.chosen))

    def _map(self, X: Array) -> Array:
        values = self.phi.transform(X)
        return np.asarray(values.toarray() if hasattr(values, "toarray") else values, np.float64)

    def __call__(self, X: Array) -> Array:
        values = self._map(X)
        if self.projection is not None:
            return self.projection.coordinates(values)
        assert self.chosen is not None
        values = values[:, list(self.chosen)]
        return values if values.shape[1] > 1 else np.column_stack([values, np.zeros(len(values))])


def _fitted(phi: Any, X: Array, y: Any) -> Any:
    from sklearn.base import clone
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if not hasattr(phi, "transform"):
        raise TypeError(f"phi must be a feature map, such as mercer.features.PolynomialMap(), not {phi!r}.")
    try:
        check_is_fitted(phi)
    except NotFittedError:
        return clone(phi).fit(X, y)
    return phi


def _pair(ax: Any, dimensions: int) -> tuple[Any, Any]:
    """Two axes: those given, or new ones."""
    if ax is None:
        figure = pyplot().figure(figsize=(9.6, 4.6), layout="constrained")
        left = figure.add_subplot(1, 2, 1)
        return left, figure.add_subplot(1, 2, 2, projection="3d" if dimensions == 3 else None)
    if not hasattr(ax, "__len__") or len(ax) != 2:
        raise ValueError("feature_map draws two pictures: ax must be a pair of axes.")
    if dimensions == 3 and not hasattr(ax[1], "zaxis"):
        raise ValueError("Three components need axes with projection='3d'.")
    return ax[0], ax[1]


def _classes(y: Any, n: int) -> tuple[Array, list[str]]:
    if y is None:
        return np.zeros(n, np.intp), ["points"]
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise ValueError(f"One label per point is needed: X has {n} rows, but y the shape {labels.shape}.")
    names, codes = np.unique(labels, return_inverse=True)
    if names.size > 2 * len(COLOURS):
        raise ValueError(f"y has {names.size} different values: labels of a few classes are expected.")
    return codes, [class_name(name) for name in names.tolist()]


def _draw_grid(left: Any, right: Any, X: Array, after: _Image) -> None:
    """The lines of a square grid, and their images."""
    low, high = X.min(axis=0), X.max(axis=0)
    pad = 0.05 * np.where(high > low, high - low, 1.0)
    low, high = low - pad, high + pad
    run = np.linspace(0, 1, _SMOOTH)
    for across in (0, 1):
        for place in np.linspace(low[across], high[across], _LINES):
            line = np.empty((_SMOOTH, 2))
            line[:, across], line[:, 1 - across] = place, low[1 - across] + run * (high - low)[1 - across]
            for axes, points in ((left, line), (right, after(line))):
                axes.plot(*points.T, color=INK, alpha=0.18, linewidth=0.7, zorder=1)


def _draw_boundary(left: Any, right: Any, X: Array, after: _Image, codes: Array, names: list[str]) -> None:
    """The line f = 0 in the two features that are shown, and what it is in the plane of the points."""
    from ..estimators import SVC

    if len(names) != 2 or after.dimensions != 2 or X.shape[1] != 2:
        raise ValueError("boundary=True draws a line between two classes of points in the plane, in two features.")
    machine = SVC("linear", C=_C).fit(after(X), codes)
    for axes, image in ((right, lambda places: places), (left, after)):
        (left_, right_), (bottom, top) = low, high = axes.get_xlim(), axes.get_ylim()
        u, v = np.meshgrid(np.linspace(left_, right_, _FINE), np.linspace(bottom, top, _FINE))
        f = machine.decision_function(image(np.column_stack([u.ravel(), v.ravel()]))).reshape(u.shape)
        axes.contour(u, v, f, [-1, 0, 1], colors=INK, linestyles=["dashed", "solid", "dashed"], linewidths=[1, 2, 1])
        axes.contourf(u, v, f, [-np.inf, 0, np.inf], colors=[colour(0), colour(1)], alpha=0.1)
        axes.set(xlim=low, ylim=high)


def _separation(values: Array, codes: Array) -> Array:
    """Of each feature, the variance between the classes in parts of that within them; -1 where it is constant."""
    means = np.stack([values[codes == c].mean(axis=0) for c in np.unique(codes)])
    inner = ((values - means[np.unique(codes, return_inverse=True)[1]]) ** 2).mean(axis=0)
    between = np.bincount(codes)[np.unique(codes)] @ (means - values.mean(axis=0)) ** 2 / len(values)
    parts = np.where(between > 1e-12 * values.var(axis=0).max(), between / np.maximum(inner, 1e-300), 0.0)
    return np.where(np.ptp(values, axis=0) > 0.0, parts, -1.0)


def _feature_names(phi: Any, count: int) -> list[str]:
    try:
        inputs = [f"x{_SUBSCRIPTS[j + 1]}" for j in range(phi.n_features_in_)] if phi.n_features_in_ <= 9 else None
        found = [str(name).replace("^2", "²").replace("^3", "³") for name in phi.get_feature_names_out(inputs)]
        factors = getattr(phi, "coefficients_", np.ones(count))
        return [_with_factor(factor, name) for factor, name in zip(factors.tolist(), found, strict=True)]
    except (AttributeError, ValueError, NotImplementedError):
        return [f"feature {number}" for number in range(count)]


def _with_factor(factor: float, name: str) -> str:
    """√2 x₁: a feature with the factor that phi gives it."""
    square = factor**2
    if abs(square - 1.0) < 1e-9:
        return name
    whole = round(square)
    if abs(square - whole) > 1e-9 * square or not whole:
        shown = f"{factor:.3g}"
    else:
        root = round(factor)
        shown = str(root) if root**2 == whole else f"√{whole}"
    return shown if name == "1" else f"{shown} {name}"
