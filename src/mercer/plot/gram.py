"""The Gram matrix as a heat map."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..types import Array
from .style import axes


def gram(K: Array, labels: Any = None, ax: Any = None, title: str | None = None) -> Any:
    """Draw K; with labels, points of one class stand together, and lines part the classes."""
    K = np.asarray(K)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"A Gram matrix is square, but K has shape {K.shape}.")
    if not np.isfinite(K).all():
        i, j = np.argwhere(~np.isfinite(K))[0]
        raise ValueError(f"K[{i}, {j}] is {K[i, j]}: a Gram matrix has finite values.")
    ax = axes(ax, (6.4, 5.4))
    if labels is not None:
        labels = np.asarray(labels)
        if labels.shape != (len(K),):
            raise ValueError(f"One label per point is needed: K has {len(K)} rows, but labels {labels.shape}.")
        order = np.argsort(labels, kind="stable")
        K = K[np.ix_(order, order)]
        classes, starts = np.unique(labels[order], return_index=True)
        bounds = np.append(starts, len(K))
        for bound in bounds[1:-1]:
            ax.axhline(bound - 0.5, color="white", linewidth=0.6)
            ax.axvline(bound - 0.5, color="white", linewidth=0.6)
        middles = (bounds[:-1] + bounds[1:]) / 2 - 0.5
        ax.set_xticks(middles, classes)
        ax.set_yticks(middles, classes)
        ax.tick_params(length=0)
    spread = float(np.abs(K).max())
    signed = K.min() < 0
    limits = {"vmin": -spread, "vmax": spread} if signed else {"vmin": 0, "vmax": spread}
    image = ax.imshow(K, cmap="RdBu_r" if signed else "viridis", interpolation="nearest", **limits)
    ax.figure.colorbar(image, ax=ax, label="$k(x_i, x_j)$", shrink=0.85)
    if title:
        ax.set_title(title)
    return ax
