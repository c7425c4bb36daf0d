"""The Gram matrix as a heat map."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..types import Array
from .style import axes, literal

_LONGEST, _CROWDED = 18, 32  # characters of a label, and of all labels side by side
_FEW = 10  # points whose values are written into the picture
_MOST = 30  # classes that have room on an axis


def gram(K: Array, labels: Any = None, ax: Any = None, title: str | None = None) -> Any:
    """Draw K; with labels, points of one class stand together, and lines part the classes (where there are not many).

    Labels that are numbers are sorted as numbers.
    """
    K = np.asarray(K)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"A Gram matrix is square, but K has shape {K.shape}.")
    if not np.isfinite(K).all():
        i, j = np.argwhere(~np.isfinite(K))[0]
        raise ValueError(f"K[{i}, {j}] is {K[i, j]}: a Gram matrix has finite values.")
    labels = None if labels is None else np.asarray(labels)
    if labels is not None and labels.shape != (len(K),):
        raise ValueError(f"One label per point is needed: K has {len(K)} rows, but labels {labels.shape}.")
    ax = axes(ax, (6.4, 5.4))
    if labels is None:
        _count(ax)
    else:
        order = np.argsort(labels, kind="stable")
        K = K[np.ix_(order, order)]
        _part_classes(ax, labels[order])
    spread = float(np.abs(K).max())
    signed = K.min() < 0
    limits = {"vmin": -spread, "vmax": spread} if signed else {"vmin": 0, "vmax": spread}
    image = ax.imshow(K, cmap="RdBu_r" if signed else "viridis", interpolation="nearest", **limits)
    ax.figure.colorbar(image, ax=ax, label="$k(x_i, x_j)$", shrink=0.85)
    if len(K) <= _FEW:
        _write(ax, K, image)
    if title:
        ax.set_title(title)
    return ax


def _write(ax: Any, K: Array, image: Any) -> None:
    """The numbers of a small matrix, dark on light and light on dark."""
    for (i, j), value in np.ndenumerate(K):
        red, green, blue, _ = image.cmap(image.norm(value))
        ink = "black" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else "white"
        ax.text(j, i, f"{value:.4g}".replace("-", "\N{MINUS SIGN}"), ha="center", va="center", color=ink, fontsize=9)


def _count(ax: Any) -> None:
    """Whole numbers on both axes."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def _part_classes(ax: Any, labels: Array) -> None:
    """Lines between the classes of sorted labels, and their names in the middle of each."""
    classes, starts = np.unique(labels, return_index=True)
    if len(classes) > _MOST:
        _count(ax)
        return
    bounds = np.append(starts, len(labels))
    for bound in bounds[1:-1]:
        ax.axhline(bound - 0.5, color="white", linewidth=0.6)
        ax.axvline(bound - 0.5, color="white", linewidth=0.6)
    middles = (bounds[:-1] + bounds[1:]) / 2 - 0.5
    names = [f"{label:g}" if isinstance(label, float) else literal(str(label), _LONGEST) for label in classes.tolist()]
    upright = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if sum(map(len, names)) > _CROWDED else {}
    ax.set_xticks(middles, names, **upright)
    ax.set_yticks(middles, names)
    ax.tick_params(length=0)
