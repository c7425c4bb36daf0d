"""A chart for LaTeX, in TikZ's words."""

from __future__ import annotations

from ..chart import Chart, Panel
from .plotting import COLOUR, MARKS, Stroke, shapes, ticks

_WIDTH, _HEIGHT = 7.2, 5.2
"""Centimetres of a panel."""

PREAMBLE = "\n".join(
    [
        r"\usepackage{tikz}",
        r"\usetikzlibrary{arrows.meta}",
        *(rf"\definecolor{{chart {name}}}{{HTML}}{{{colour[1:]}}}" for name, colour in COLOUR.items()),
        "",
    ]
)


def draw(chart: Chart) -> str:
    """The panels, two in a line."""
    return "\n".join([r"\begin{center}", *map(_panel, chart.panels), r"\end{center}"])


def _panel(panel: Panel) -> str:
    from .latex import escape

    found = shapes(panel)
    left, right, bottom, top = found.window
    x, y = _WIDTH / (right - left), _HEIGHT / (top - bottom)
    if panel.equal:
        x = y = min(x, y)

    def at(place: tuple[float, float]) -> str:
        return f"({(place[0] - left) * x:.3f},{(place[1] - bottom) * y:.3f})"

    def stroke(part: Stroke) -> str:
        style = f"chart {part.kind}, " + {"faint": "thin", "dashed": "dashed", "arrow": "-Stealth, thick"}.get(
            part.kind, "thick"
        )
        return rf"\draw[{style}] {' -- '.join(map(at, part.places))};"

    out = [
        r"\begin{tikzpicture}[font=\footnotesize]",
        rf"\node[above] at ({(right - left) * x / 2:.3f},{(top - bottom) * y + 0.2:.3f}) {{{escape(panel.title)}}};",
        *(rf"\draw[black!12] {at((u, bottom))} -- {at((u, top))};" for u in ticks(left, right)),
        *(rf"\draw[black!12] {at((left, v))} -- {at((right, v))};" for v in ticks(bottom, top)),
        *(rf"\node[below, black!60] at {at((u, bottom))} {{${_number(u)}$}};" for u in ticks(left, right)),
        *(rf"\node[left, black!60] at {at((left, v))} {{${_number(v)}$}};" for v in ticks(bottom, top)),
        rf"\node[below right, black!60] at {at((right, bottom))} {{{escape(panel.axes[0])}}};",
        rf"\node[above left, black!60] at {at((left, top))} {{{escape(panel.axes[1])}}};",
        rf"\begin{{scope}}\clip {at((left, bottom))} rectangle {at((right, top))};",
        *map(stroke, found.strokes),
        *(_spot(spot.kind, at(spot.place)) for spot in found.spots),
        r"\end{scope}",
        *(
            rf"\node[right] at (0.6,{-0.75 - 0.42 * row:.2f}) {{{escape(name)}}};" + _sample(kind, -0.75 - 0.42 * row)
            for row, (kind, name) in enumerate(found.legend)
        ),
        r"\end{tikzpicture}",
    ]
    return "\n".join(out)


def _spot(kind: str, at: str) -> str:
    shape = {"plus": "rectangle, minimum size=2.2mm", "minus": "circle, minimum size=2.2mm"}.get(
        kind, "circle, minimum size=1.2mm" if kind == "dot" else "diamond, minimum size=2mm"
    )
    shape = shape.replace("diamond", "rectangle, rotate=45")
    return rf"\node[fill=chart {kind}, {shape}, inner sep=0pt] at {at} {{}};"


def _sample(kind: str, y: float) -> str:
    if kind in MARKS:
        return _spot(kind, f"(0.3,{y:.2f})")
    return rf"\draw[chart {kind}, {'dashed' if kind == 'dashed' else 'thick'}] (0,{y:.2f}) -- (0.55,{y:.2f});"


def _number(value: float) -> str:
    return f"{value:.6g}" if abs(value) > 1e-12 else "0"
