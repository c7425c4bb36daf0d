"""How a fit came about: primal and dual close in on the best value, and the gap goes down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..solution import Solution, Step
from ..types import Array
from .style import INK, axes, colour, last_step, legend_below, lightened

_FAR, _SHOWN = 3.0, 1000.0  # times the best value: what asks for a logarithm, and how far it goes


def convergence(fit: Any, x: str = "rounds", *, ax: Any = None, title: str | None = None) -> Any:
    """Draw primal, dual and relative gap of a fit against "rounds" or "seconds".

    `fit` is a fitted estimator (a pipeline, a grid search), a Solution, or its history. Of several problems, the one
    with the most rounds is drawn. The best possible value lies in the band between the curves.
    """
    if x not in ("rounds", "seconds"):
        raise ValueError(f"x must be 'rounds' or 'seconds', not {x!r}.")
    steps = _history(fit)
    ax = axes(ax)
    at = np.array([step.iteration if x == "rounds" else step.seconds for step in steps], np.float64)
    primal, dual, gap = (
        np.array([getattr(step, name) for step in steps], np.float64) for name in ("primal", "dual", "relative_gap")
    )
    marker = "o" if len(steps) <= 30 else ""
    name = "primal" if np.isfinite(primal).any() else "primal (infinite so far)"
    ax.plot(at, primal, color=colour(1), marker=marker, markersize=4, linewidth=1.6, label=name)
    ax.plot(at, dual, color=colour(0), marker=marker and "s", markersize=4, linewidth=1.6, label="dual")
    ax.set(xlabel="round" if x == "rounds" else "seconds", ylabel="objective")
    _scale(ax, primal, dual)
    _draw_band(ax, at, primal, dual)
    _draw_gap(ax, at, gap)
    if x == "rounds":
        ax.xaxis.get_major_locator().set_params(integer=True)
    if title:
        ax.set_title(title)
    legend_below(ax)
    return ax


def _draw_band(ax: Any, at: Array, primal: Array, dual: Array) -> None:
    """Where the best possible value lies; a bound that has no place on a logarithmic axis is at its lower end."""
    best = np.minimum.accumulate(np.where(np.isfinite(primal), primal, np.inf))
    bound = np.maximum.accumulate(np.where(np.isfinite(dual), dual, -np.inf))
    shown = np.isfinite(best) & np.isfinite(bound)
    if ax.get_yscale() == "log":
        bound = np.maximum(bound, ax.get_ylim()[0])
    ax.fill_between(at[shown], bound[shown], best[shown], color=lightened(colour(0), 0.88), linewidth=0)


def _draw_gap(ax: Any, at: Array, gap: Array) -> None:
    """The relative gap on an axis of its own, with its line in the legend of the other."""
    shown = (gap > 0) & np.isfinite(gap)
    if not shown.any():
        return
    right, style = ax.twinx(), {"color": INK, "linestyle": "dotted", "linewidth": 1.6}
    style |= {"marker": "D" if shown.sum() == 1 else "", "markersize": 4}  # a line of one point is invisible
    right.plot(at[shown], gap[shown], **style)
    right.set(yscale="log", ylabel="relative gap (dotted)")
    ax.plot([], [], label="relative gap (right axis)", **style)


def _history(fit: Any) -> Sequence[Step]:
    """The steps of whatever was given."""
    found = getattr(last_step(fit), "solution_", fit)
    if isinstance(found, tuple | list) and found and all(isinstance(one, Solution) for one in found):
        found = max(found, key=lambda solution: len(solution.history))
    steps = getattr(found, "history", found)
    if not isinstance(steps, Sequence) or not all(isinstance(step, Step) for step in steps):
        raise TypeError(f"convergence takes a fitted machine, a Solution or its history, not {type(fit).__name__}.")
    if not steps:
        raise ValueError("There is no history to draw: the machine was read from a file, or solved in one step.")
    return steps


def _scale(ax: Any, primal: Array, dual: Array) -> None:
    """Logarithmic where values are positive and far apart; otherwise a window around the last three quarters."""
    bottom = float(dual[-1])
    top = float(np.max(primal, where=np.isfinite(primal), initial=bottom))
    if bottom > 0 and (top > _FAR * bottom or dual.min() < bottom / _FAR):
        least = float(np.min(dual, where=dual > 0, initial=bottom))
        ax.set_yscale("log", nonpositive="mask")
        ax.set_ylim(0.8 * max(least, bottom / _SHOWN), 1.25 * min(top, _SHOWN * bottom))
    elif np.isfinite(top) and np.isfinite(bottom):
        late = slice(len(primal) // 4, None)
        low = float(np.min(dual[late], where=np.isfinite(dual[late]), initial=bottom))
        high = float(np.max(primal[late], where=np.isfinite(primal[late]), initial=bottom))
        pad = 0.08 * (high - low) or 0.05 * abs(high) or 1.0
        ax.set_ylim(low - pad, high + pad)
