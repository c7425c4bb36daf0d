"""Who was taken for whom: a table of counts as a heat map."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..types import Array
from .style import axes, literal

_LONGEST = 18  # characters of a label
_MOST = 30  # classes whose counts are written


def confusion(counts: Array, labels: Any, ax: Any = None, title: str | None = None) -> Any:
    """Draw counts[i, j], how often the class labels[i] was taken for labels[j]; the colour is its part of the row."""
    counts = np.asarray(counts)
    names = [literal(str(label), _LONGEST) for label in np.asarray(labels).tolist()]
    if counts.shape != (len(names), len(names)):
        raise ValueError(f"A table of {len(names)} classes is square, but counts has the shape {counts.shape}.")
    parts = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    ax = axes(ax, (6.0, 5.4))
    image = ax.imshow(parts, cmap="Blues", vmin=0.0, vmax=1.0)
    ax.figure.colorbar(image, ax=ax, label="part of the row", shrink=0.85)
    if len(names) <= _MOST:
        for (i, j), count in np.ndenumerate(counts):
            ink = "white" if parts[i, j] > 0.5 else "black"
            ax.text(j, i, str(count), ha="center", va="center", color=ink, fontsize=9)
        ax.set_xticks(range(len(names)), names, rotation=45, ha="right", rotation_mode="anchor")
        ax.set_yticks(range(len(names)), names)
    ax.set_xlabel("predicted")
    ax.set_ylabel("true")
    ax.tick_params(length=0)
    if title:
        ax.set_title(title)
    return ax
