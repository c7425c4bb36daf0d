"""The steps as an animation, or as pictures: `mercer play --record`. Needs Matplotlib: `pip install 'mercer[plot]'`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from ..kernels import kernel
from ..types import Array
from .state import State, StateError, kernel_text
from .steps import Shown, steps_of

_CELLS = 112
_INK, _PAPER, _DUAL, _PRIMAL = "#1b2027", "#faf9f6", "#6749be", "#0b7a70"
_COLOURS = {1: "#1a67ad", -1: "#b95206", 2: "#27743b"}
_MARKS = {1: "o", -1: "s", 2: "^"}
_FIELD = LinearSegmentedColormap.from_list(
    "mercer", [(0, "#f1ad72"), (0.146, "#fbe0c6"), (0.5, "#fdfcfa"), (0.854, "#cfe2f4"), (1, "#86b6e1")]
)


def record(state: State, path: str | Path, frames: int = 60, pace: float = 0.5) -> int:
    """Write the first steps, at most so many: a GIF, or a folder of PNG files. The number of pictures."""
    steps = steps_of(state)[:frames]
    place = Path(path)
    if place.suffix.lower() not in (".gif", ""):
        raise StateError(f"{place.name}: an animation ends in .gif; a name without an ending is a folder of pictures.")
    with mpl.rc_context({"font.family": "sans-serif", "text.usetex": False}):
        pictures = [_picture(state, step, k, len(steps) - 1) for k, step in enumerate(steps)]
    if place.suffix:
        from PIL import Image

        images = [Image.fromarray(picture).quantize(128) for picture in pictures]
        times: dict[str, Any] = {"duration": round(1000 * pace), "loop": 0}
        images[0].save(place, save_all=True, append_images=images[1:], optimize=True, **times)
    else:
        from matplotlib.image import imsave

        place.mkdir(parents=True, exist_ok=True)
        for k, picture in enumerate(pictures):
            imsave(place / f"step{k:03d}.png", picture)
    return len(pictures)


def _field(state: State, step: Shown) -> tuple[Array, Array, Array]:
    """f at the middles of the cells; in regression the height above it."""
    x, y, half = state.view
    places = (np.arange(_CELLS) + 0.5) * 2 * half / _CELLS - half
    k = kernel(kernel_text(state)).resolve(state.X)
    if state.regression:
        f = k((x + places)[:, None], state.X) @ step.beta + step.b
        return x + places, y + places, (y + places)[:, None] - f[None, :]
    across, up = np.meshgrid(x + places, y + places)
    f = k(np.column_stack([across.ravel(), up.ravel()]), state.X) @ step.beta + step.b
    return x + places, y + places, f.reshape(across.shape)


def _picture(state: State, step: Shown, number: int, last: int) -> Any:
    """One step as pixels."""
    figure = Figure(figsize=(4.8, 5.5), dpi=100, facecolor=_PAPER)
    canvas: Any = FigureCanvasAgg(figure)
    ax = figure.add_axes((0.03, 0.15, 0.94, 0.82))
    x, y, half = state.view
    xs, ys, f = _field(state, step)
    machine = state.settings["machine"]
    scale = state.settings["epsilon"] if machine == "svr" else float(np.abs(f).mean()) or 1.0
    values = f / scale if machine in ("svr", "oneclass", "perceptron") else f
    extent = (x - half, x + half, y - half, y + half)
    ax.imshow(values / np.sqrt(1 + values**2), cmap=_FIELD, vmin=-1, vmax=1, origin="lower", extent=extent)
    for level, style in ((0.0, "solid"), (1.0, "dashed"), (-1.0, "dashed")):
        shown = level == 0.0 or machine in ("svc", "svr")
        if shown and values.min() < level < values.max():
            ax.contour(xs, ys, values, [level], colors=_INK, linestyles=style, linewidths=2 if level == 0 else 1)
    _points(ax, state, step)
    ax.set(xlim=extent[:2], ylim=extent[2:], xticks=[], yticks=[])
    for spine in ax.spines.values():
        spine.set_color("#e1ddd4")
    _bar(figure, step, machine, number, last)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()


def _points(ax: Any, state: State, step: Shown) -> None:
    weight = np.abs(step.beta)
    size = np.where(weight > 0, 36 + 110 * np.sqrt(weight / max(float(weight.max()), 1e-300)), 22)
    plain = state.regression or state.settings["machine"] == "oneclass"
    for label in (1, -1, 2):
        mine = np.full(len(state.points), label == 1) if plain else state.labels == label
        at, colour = state.points[mine], _COLOURS[label]
        ax.scatter(*at.T, s=size[mine], c=colour, marker=_MARKS[label], edgecolors="white", linewidths=1, zorder=3)
    if step.changed:
        at = state.points[list(step.changed)]
        ax.scatter(*at.T, s=260, facecolors="none", edgecolors=_DUAL, linewidths=2.2, zorder=4)


def _bar(figure: Any, step: Shown, machine: str, number: int, last: int) -> None:
    """Dual from the left, primal from the right, the relative gap between them; of a perceptron, its mistakes."""
    left, right = ("margin", "bound") if machine == "perceptron" else ("dual", "primal")
    size = max(abs(step.primal), abs(step.dual))
    gap = (step.primal - step.dual) / size if 0 < size < np.inf else 1.0
    opening = float(np.clip(gap if machine == "perceptron" else np.log10(max(gap, 1e-6)) / 6 + 1, 0, 1))
    ax = figure.add_axes((0.03, 0.035, 0.94, 0.025))
    ax.barh(0, (1 - opening) / 2, color=_DUAL)
    ax.barh(0, -(1 - opening) / 2, left=1, color=_PRIMAL)
    ax.set(xlim=(0, 1), xticks=[], yticks=[], facecolor="#efece5")
    for spine in ax.spines.values():
        spine.set_visible(False)
    figure.text(0.03, 0.09, f"{left} {step.dual:.4g}", color=_DUAL, fontsize=11, weight="bold")
    figure.text(0.97, 0.09, f"{right} {step.primal:.4g}", color=_PRIMAL, fontsize=11, weight="bold", ha="right")
    figure.text(0.5, 0.09, f"step {number} of {last}", color=_INK, fontsize=10, ha="center")
