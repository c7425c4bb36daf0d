"""A score or an error along the values of one parameter."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..colours import COLOURS
from ..types import Array
from .search import Scores, as_text, is_number, scores_of
from .style import INK, axes, colour, legend_outside, lightened, shape


def path(results: Any, *, x: str | None = None, ax: Any = None, title: str | None = None) -> Any:
    """Draw how good a machine is along a parameter; the best value is marked.

    `results` is what KernelRidge.path gives (the leave-one-out error for each lambda), or a fitted grid search: its
    mean score, with a band of one standard deviation over the folds, along the parameter that `x` names (by default the
    one with the most values), and a line for each value of a second parameter.
    """
    if hasattr(results, "alphas") and hasattr(results, "errors") and hasattr(results, "best"):
        return _draw_errors(results, axes(ax), title)
    scores = scores_of(results)
    chosen = scores.choose(2, [] if x is None else [x])
    if not chosen:
        raise ValueError("path needs a parameter with several values, and this search has none.")
    ax = axes(ax)
    along = chosen[0]
    values = scores.values(along)
    numbers = _numbers(values)
    lines = scores.values(chosen[1]) if len(chosen) > 1 else [None]
    for number, line in enumerate(lines[: len(COLOURS)]):
        mean, std = _along(scores, along, values, chosen[1] if len(chosen) > 1 else None, line)
        label = f"{scores.short(chosen[1])} = {as_text(line)}" if len(chosen) > 1 else None
        if len(lines) == 1:
            ax.fill_between(numbers, mean - std, mean + std, color=lightened(colour(number), 0.8), linewidth=0)
        ax.plot(numbers, mean, color=colour(number), marker=shape(number), markersize=5, linewidth=1.6, label=label)
    best = scores.best_values[along]
    _mark(ax, numbers[values.index(best)], scores.best)
    _scale(ax, numbers, values)
    ax.set(xlabel=scores.short(along), ylabel=scores.label)
    ax.set_title(title or scores.summary(), fontsize=None if title else "medium")
    if len(lines) > 1:
        legend_outside(ax, ax.get_legend_handles_labels()[0])
    return ax


def _draw_errors(results: Any, ax: Any, title: str | None) -> Any:
    """The leave-one-out error of each target along lambda."""
    alphas, errors = np.asarray(results.alphas, np.float64), np.asarray(results.errors, np.float64)
    order = np.argsort(alphas)
    alphas, errors = alphas[order], errors.reshape(alphas.size, -1)[order]
    at = int(np.argmin(np.abs(alphas - results.best)))
    for number, error in enumerate(errors.T[: len(COLOURS)]):
        style = {"color": colour(number), "marker": shape(number) if alphas.size <= 60 else ""}
        ax.plot(alphas, error, markersize=4, linewidth=1.8, label=f"target {number}", **style)
        _mark(ax, alphas[at], error[at], line=number == 0)
    ax.set_xscale("log")
    if errors.min() > 0 and errors.max() > 20 * errors.min():
        ax.set_yscale("log")
    ax.set(xlabel=r"$\lambda$", ylabel="mean squared leave-one-out error")
    found = f"best {', '.join(f'{error:.4g}' for error in errors[at][:3])} at $\\lambda$ = {alphas[at]:.3g}"
    ax.set_title(title or found, fontsize=None if title else "medium")
    if errors.shape[1] > 1:
        legend_outside(ax, ax.get_legend_handles_labels()[0])
    return ax


def _along(scores: Scores, along: str, values: list[Any], by: str | None, line: Any) -> tuple[Array, Array]:
    """The best mean score at each value, and its standard deviation over the folds."""
    mean, std = np.full(len(values), np.nan), np.zeros(len(values))
    for number, (value, score) in enumerate(zip(scores.given[along], scores.mean, strict=True)):
        place = values.index(value)
        if (by is None or scores.given[by][number] == line) and not score <= mean[place]:
            mean[place], std[place] = score, scores.std[number]
    return mean, std


def _mark(ax: Any, x: float, y: float, line: bool = True) -> None:
    if line:
        ax.axvline(x, color=INK, linestyle="dashed", linewidth=0.9, zorder=1)
    ax.scatter([x], [y], s=90, marker="o", facecolors="none", edgecolors=INK, linewidths=1.6, zorder=4)


def _numbers(values: list[Any]) -> Array:
    """The values themselves, or places for those that are no numbers."""
    return np.array(values if all(map(is_number, values)) else range(len(values)), np.float64)


def _scale(ax: Any, numbers: Array, values: list[Any]) -> None:
    """Logarithmic for values that are spread over decades; names where they are no numbers."""
    if not all(map(is_number, values)):
        ax.set_xticks(numbers, [str(value) for value in values])
    elif numbers.min() > 0 and numbers.max() >= 10 * numbers.min():
        ax.set_xscale("log")
