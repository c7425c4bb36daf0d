"""The scores of a grid search over two parameters, as a heat map."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ties import first_largest
from .search import as_text, scores_of
from .style import INK, axes

_WRITTEN = 80  # cells; with more, their numbers would be too small to read


def grid(search: Any, *, x: str | None = None, y: str | None = None, ax: Any = None, title: str | None = None) -> Any:
    """Draw the mean cross-validation score over two parameters of a fitted grid search (or of its cv_results_).

    `x` and `y` name the parameters, by the whole name or its end ("C", "gamma"); by default they are the two with the
    most values. Over any further parameters the best score is taken. The frame marks the best cell.
    """
    scores = scores_of(search)
    chosen = scores.choose(2, [name for name in (x, y) if name is not None])
    across, up = (chosen if x or not y else chosen[::-1]) if len(chosen) == 2 else (None, None)
    if across is None or up is None:
        raise ValueError(
            f"grid draws two parameters, and this search has {len(scores.names)} with several values: "
            "see mercer.plot.path for one."
        )
    ax = axes(ax, (6.8, 5.0))
    table = scores.table(across, up)
    columns, rows = scores.values(across), scores.values(up)
    image = ax.imshow(table, origin="lower", aspect="auto", cmap="cividis", interpolation="nearest")
    ax.set_xticks(range(len(columns)), [as_text(value) for value in columns], rotation=45 if len(columns) > 7 else 0)
    ax.set_yticks(range(len(rows)), [as_text(value) for value in rows])
    ax.set(xlabel=scores.short(across), ylabel=scores.short(up))
    ax.figure.colorbar(image, ax=ax, label=scores.label, shrink=0.9)
    _write_values(ax, table, image)
    if np.isfinite(table).any():
        row, column = np.unravel_index(first_largest(table.ravel()), table.shape)
        _frame(ax, int(column), int(row))
    ax.set_title(title or scores.summary(), fontsize=None if title else "medium")
    return ax


def _frame(ax: Any, column: int, row: int) -> None:
    from matplotlib.patches import Rectangle

    for width, edge in ((4.5, "white"), (2.0, INK)):
        ax.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, linewidth=width, edgecolor=edge, zorder=3))


def _write_values(ax: Any, table: Any, image: Any) -> None:
    """The score of each cell, dark on light cells and light on dark ones."""
    if table.size > _WRITTEN:
        return
    text = "{:.3f}".format if np.nanmax(np.abs(table)) < 10 else "{:.3g}".format
    for (row, column), value in np.ndenumerate(table):
        if np.isfinite(value):
            light = image.norm(value) > 0.55
            ax.text(
                column, row, text(value), ha="center", va="center", fontsize="small", color=INK if light else "white"
            )
