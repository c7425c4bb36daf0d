"""A chart as SVG: panels side by side, each with its axes and its legend."""

from __future__ import annotations

from html import escape

from ..chart import Chart, Panel
from .plotting import COLOUR, MARKS, Shapes, Spot, Stroke, shapes, ticks

_WIDTH, _HEIGHT, _PAD, _LEGEND = 380.0, 300.0, 34.0, 16.0
_PER_ROW = 2


def draw(chart: Chart) -> str:
    """The chart as an SVG element."""
    columns = min(_PER_ROW, len(chart.panels))
    found = [_Panel(panel) for panel in chart.panels]
    heights = [max(panel.height for panel in found[start : start + columns]) for start in range(0, len(found), columns)]
    parts = []
    for place, panel in enumerate(found):
        x, y = _WIDTH * (place % columns), sum(heights[: place // columns])
        parts.append(f'<g transform="translate({x:g} {y:g})">{panel.whole()}</g>')
    size = f"0 0 {_WIDTH * columns:g} {sum(heights):g}"
    label = escape(chart.words)
    return (
        f'<svg class="picture" viewBox="{size}" role="img" aria-label="{label}">'
        f"<title>{label}</title>{''.join(parts)}</svg>"
    )


class _Panel:
    """Places of one panel on the page."""

    def __init__(self, panel: Panel) -> None:
        self.panel, self.shapes = panel, shapes(panel)
        left, right, bottom, top = self.shapes.window
        self.wide, self.tall = _WIDTH - 2 * _PAD, _HEIGHT - 2 * _PAD
        self.x_scale, self.y_scale = self.wide / (right - left), self.tall / (top - bottom)
        if panel.equal:
            self.x_scale = self.y_scale = min(self.x_scale, self.y_scale)
            self.wide, self.tall = (right - left) * self.x_scale, (top - bottom) * self.y_scale
        self.height = self.tall + 2 * _PAD + _LEGEND * len(self.shapes.legend)

    def at(self, place: tuple[float, float]) -> tuple[float, float]:
        left, _, _, top = self.shapes.window
        return _PAD + (place[0] - left) * self.x_scale, _PAD + (top - place[1]) * self.y_scale

    def whole(self) -> str:
        clip = f"c{int(self.wide)}x{int(self.tall)}"
        box = f'x="{_PAD:g}" y="{_PAD:g}" width="{self.wide:.1f}" height="{self.tall:.1f}"'
        inside = "".join([*map(self._stroke, self.shapes.strokes), *map(self._spot, self.shapes.spots)])
        return (
            f'<defs><clipPath id="{clip}"><rect {box}/></clipPath></defs>{self._axes()}'
            f'<g clip-path="url(#{clip})">{inside}</g>{self._legend(self.shapes)}'
        )

    def _axes(self) -> str:
        left, right, bottom, top = self.shapes.window
        end_x, end_y = _PAD + self.wide, _PAD + self.tall
        parts = [_text(_PAD + self.wide / 2, _PAD - 14, self.panel.title, "name", "middle")]
        for u in ticks(left, right):
            x, _ = self.at((u, bottom))
            parts.append(_line(x, _PAD, x, end_y, "axis" if abs(u) < 1e-12 else "grid"))
            parts.append(_text(x, end_y + 11, _number(u), "tick", "middle"))
        for v in ticks(bottom, top):
            _, y = self.at((left, v))
            parts.append(_line(_PAD, y, end_x, y, "axis" if abs(v) < 1e-12 else "grid"))
            parts.append(_text(_PAD - 4, y + 3, _number(v), "tick", "end"))
        first, second = self.panel.axes
        parts.append(_text(end_x, end_y + 22, first, "legend", "end"))
        return "".join([*parts, _text(_PAD - 26, _PAD - 6, second, "legend", "start")])

    def _stroke(self, stroke: Stroke) -> str:
        places = [self.at(place) for place in stroke.places]
        path = f"M{'L'.join(f'{x:.1f} {y:.1f}' for x, y in places)}"
        head = _head(places[-2], places[-1]) if stroke.kind == "arrow" else ""
        return f'<path d="{path}" {_pen(stroke.kind)}/>{head}'

    def _spot(self, spot: Spot) -> str:
        return _mark(spot.kind, *self.at(spot.place))

    def _legend(self, found: Shapes) -> str:
        parts = []
        for row, (kind, name) in enumerate(found.legend):
            x, y = _PAD + 8, self.tall + 2 * _PAD + _LEGEND * row - 4
            shape = _mark(kind, x, y) if kind in MARKS else f'<path d="M{x - 9} {y:.1f}h18" {_pen(kind)}/>'
            parts.append(shape + _text(x + 15, y + 4, name, "legend", "start"))
        return "".join(parts)


def _pen(kind: str) -> str:
    wide = {"faint": "1", "path": "1.4", "dashed": "1.2"}.get(kind, "1.8")
    dashes = ' stroke-dasharray="5 4"' if kind == "dashed" else ""
    return f'fill="none" stroke="{COLOUR[kind]}" stroke-width="{wide}"{dashes}'


def _mark(kind: str, x: float, y: float) -> str:
    if kind == "plus":
        return f'<rect class="dot plus" x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10"/>'
    if kind == "star":
        return f'<path d="M{x - 6:.1f} {y:.1f}h12M{x:.1f} {y - 6:.1f}v12" stroke="#222222" stroke-width="2"/>'
    radius = "5.6" if kind == "minus" else "2.6"
    ink = 'class="dot minus"' if kind == "minus" else 'fill="#222222"'
    return f'<circle {ink} cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>'


def _head(start: tuple[float, float], end: tuple[float, float]) -> str:
    (a, b), (c, d) = start, end
    size = max(((c - a) ** 2 + (d - b) ** 2) ** 0.5, 1e-9)
    u, v = (c - a) / size, (d - b) / size
    one, two = (c - 7 * u + 3 * v, d - 7 * v - 3 * u), (c - 7 * u - 3 * v, d - 7 * v + 3 * u)
    return f'<path fill="#222222" d="M{c:.1f} {d:.1f}L{one[0]:.1f} {one[1]:.1f}L{two[0]:.1f} {two[1]:.1f}Z"/>'


def _number(value: float) -> str:
    return f"{value:.6g}".replace("-", "−") if abs(value) > 1e-12 else "0"


def _text(x: float, y: float, text: str, kind: str, anchor: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _line(a: float, b: float, c: float, d: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{a:.1f}" y1="{b:.1f}" x2="{c:.1f}" y2="{d:.1f}"/>'
