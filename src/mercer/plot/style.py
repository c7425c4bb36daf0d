"""What the pictures share: axes, colours that everybody can tell apart, shapes for those who cannot print them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..colours import COLOURS
from ..types import Array

_LONGEST = 28  # characters of a name in a legend
SHAPES = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p")
INK = "#222222"


def pyplot() -> Any:
    """matplotlib.pyplot, or what to do where it is missing."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Pictures need the package matplotlib: pip install 'mercer[plot]'.") from error
    return plt


def axes(ax: Any, size: tuple[float, float] = (6.4, 4.8)) -> Any:
    """The axes that were given, or those of a new figure."""
    return pyplot().subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def colour(number: int) -> str:
    """The colour of a class."""
    return COLOURS[number % len(COLOURS)]


def shape(number: int) -> str:
    """The shape of a class; with more than ten classes, another round of shapes for the same colours."""
    return SHAPES[(number + number // len(COLOURS)) % len(SHAPES)]


def class_name(label: Any) -> str:
    """A label as a legend shows it."""
    if isinstance(label, str):
        return literal(label)
    return f"class {label:g}" if isinstance(label, float) else f"class {label}"


def literal(name: str, longest: int = _LONGEST) -> str:
    """A name from the data, shortened, and without what matplotlib takes for a formula or for no entry of a legend."""
    text = (name if len(name) <= longest else f"{name[: longest - 1]}…").replace("$", r"\$")
    return f"\u2009{text}" if text.startswith("_") else text


def lightened(name: str, share: float) -> Any:
    """The colour with this share of white."""
    from matplotlib.colors import to_rgb

    return tuple((1 - share) * part + share for part in to_rgb(name))


def legend_outside(ax: Any, handles: list[Any]) -> None:
    """A legend to the right of the picture, where it covers nothing."""
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, frameon=False)


def legend_below(ax: Any, columns: int = 3) -> None:
    """A legend below the picture, of all that has a label."""
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=columns, frameon=False)


def areas(alpha: Array, largest: float, least: float) -> Array:
    """Areas of markers in proportion to alpha, up to `largest`; none is below `least`, so that nothing vanishes."""
    greatest = float(alpha.max(initial=0.0))
    return np.maximum(largest * alpha / greatest if greatest > 0 else alpha, least)


def require_fitted(estimator: Any, picture: str) -> None:
    """Raise unless there is something to draw."""
    from sklearn.utils.validation import check_is_fitted

    if not hasattr(estimator, "predict"):
        raise TypeError(f"{picture} draws a fitted estimator, which comes first, not {type(estimator).__name__}.")
    check_is_fitted(estimator)


def last_step(estimator: Any) -> Any:
    """The machine at the end of a pipeline, or in a grid search; the estimator itself otherwise."""
    estimator = getattr(estimator, "best_estimator_", estimator)
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
