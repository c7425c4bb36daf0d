"""The dual coefficients: who carries the answer, and who is at the bound."""

from __future__ import annotations

from typing import Any

import numpy as np

from .style import INK, axes, colour, last_step, legend_below, lightened, require_fitted
from .support import SupportRows, support_of


def alphas(estimator: Any, *, ax: Any = None, title: str | None = None) -> Any:
    """Draw the coefficient of each support vector, largest first: those of one class up, those of the other down.

    The dashed lines are the bounds C and -C; bars that reach them are lighter and hatched. Of a pipeline it is the last
    step; of several classes, the largest coefficient in size of each support vector.
    """
    require_fitted(estimator, "alphas")
    support = support_of(estimator)
    if support is None:
        raise TypeError(f"alphas needs a machine with support vectors, not {type(last_step(estimator)).__name__}.")
    ax = axes(ax)
    few = support.rows.size <= 200  # enough room for edges and hatches
    order = np.argsort(-support.beta, kind="stable")
    beta, bound = support.beta[order], support.bound[order]
    places = np.arange(1, beta.size + 1)
    for number, own in enumerate((beta < 0, beta > 0)):
        for at_bound in (False, True):
            chosen = own & (bound == at_bound)
            if chosen.any():
                ax.bar(
                    places[chosen], beta[chosen], width=0.8 if few else 1.0, color=_fill(number, at_bound),
                    edgecolor=colour(number), linewidth=0.8 if few else 0.0, hatch="//" if at_bound and few else None,
                    label=_label(number, at_bound, support.bounded),
                )  # fmt: skip
    ax.axhline(0.0, color=INK, linewidth=0.8)
    if np.isfinite(support.limit) and bound.any():
        for sign in (1, -1):
            if (sign * beta > 0).any():
                ax.axhline(sign * support.limit, color=INK, linewidth=1.0, linestyle="dashed")
    ax.set(xlabel="support vectors, sorted", ylabel=r"$\beta_i$", xlim=(0, beta.size + 1))
    ax.margins(y=0.08)
    ax.set_title(title or _counts(estimator, support), fontsize=None if title else "medium")
    if beta.size:
        legend_below(ax, columns=2)
    return ax


def _fill(number: int, at_bound: bool) -> Any:
    return lightened(colour(number), 0.75) if at_bound else colour(number)


def _label(number: int, at_bound: bool, bounded: bool) -> str:
    sign = "positive" if number else "negative"
    return f"{sign}, {'at the bound' if at_bound else 'free'}" if bounded else sign


def _counts(estimator: Any, support: SupportRows) -> str:
    """How many points are of which kind."""
    shape = getattr(last_step(estimator), "shape_fit_", None)
    count, at_bound = support.rows.size, int(support.bound.sum())
    text = f"{count} support vectors" + (f" of {shape[0]} points" if shape else "")
    return f"{text}: {count - at_bound} free, {at_bound} at the bound" if support.bounded else text
