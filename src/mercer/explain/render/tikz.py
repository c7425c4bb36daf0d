"""The picture for LaTeX, in TikZ's words: no other package and no file beside it."""

from __future__ import annotations

from ..chart import Chart
from ..picture import Picture
from . import chart_tikz
from .drawing import MINUS, PLUS, Arrow, Curve, Drawing, Mark, Place

_WIDTH = 8.0
"""Centimetres."""

_PREAMBLE = rf"""\usepackage{{tikz}}
\usetikzlibrary{{arrows.meta}}
\definecolor{{plus}}{{HTML}}{{{PLUS[1:]}}}
\definecolor{{minus}}{{HTML}}{{{MINUS[1:]}}}
\tikzset{{boundary/.style={{very thick}}, margin plus/.style={{plus, thick, dashed}},
  margin minus/.style={{minus, thick, dashed}}, slack/.style={{densely dotted, thick}},
  plus point/.style={{fill=plus, draw=white, minimum size=2.4mm, inner sep=0pt}},
  minus point/.style={{fill=minus, draw=white, circle, minimum size=2.4mm, inner sep=0pt}},
  new point/.style={{fill=black, rotate=45, minimum size=2.2mm, inner sep=0pt}},
  ring/.style={{draw, circle, minimum size=4mm, inner sep=0pt}},
  outer ring/.style={{draw, circle, minimum size=5.2mm, inner sep=0pt}},
  w/.style={{-Stealth, thick}}, length/.style={{Stealth-Stealth, thick}}}}
"""


def preamble(picture: Picture | Chart) -> str:
    """What the picture needs before the document begins."""
    return chart_tikz.PREAMBLE if isinstance(picture, Chart) else _PREAMBLE


def draw(picture: Picture | Chart) -> str:
    """The picture, in the middle of the page."""
    if isinstance(picture, Chart):
        return chart_tikz.draw(picture)
    drawing = Drawing(picture)
    frame = drawing.frame
    scale = _WIDTH / (frame.right - frame.left)
    corner, opposite = _at((frame.left, frame.bottom)), _at((frame.right, frame.top))
    us, vs = frame.ticks()
    out = [
        rf"\begin{{center}}\begin{{tikzpicture}}[x={scale:.4f}cm, y={scale:.4f}cm, font=\footnotesize]",
        *(rf"\draw[black!12] ({u:.4g},{frame.bottom:.4g}) -- ({u:.4g},{frame.top:.4g});" for u in us),
        *(rf"\draw[black!12] ({frame.left:.4g},{v:.4g}) -- ({frame.right:.4g},{v:.4g});" for v in vs),
        *(rf"\node[below, black!60] at ({u:.4g},{frame.bottom:.4g}) {{${_number(u)}$}};" for u in us),
        *(rf"\node[left, black!60] at ({frame.left:.4g},{v:.4g}) {{${_number(v)}$}};" for v in vs),
        rf"\node[right, black!60] at ({frame.right:.4g},{frame.bottom:.4g}) {{$x_{{1}}$}};",
        rf"\node[above, black!60] at ({frame.left:.4g},{frame.top:.4g}) {{$x_{{2}}$}};",
        rf"\begin{{scope}}\clip {corner} rectangle {opposite};",
        *map(_curve, drawing.curves),
        r"\end{scope}",
        *map(_arrow, drawing.arrows),
        *(line for mark in drawing.marks for line in _mark(mark)),
        r"\end{tikzpicture}",
        rf"\par\smallskip{{\footnotesize {_legend(drawing)}}}\end{{center}}",
    ]
    return "\n".join(out)


def _at(place: Place) -> str:
    x, y = (round(coordinate, 9) for coordinate in place)  # mirror images are rounded alike
    return f"({x:.4g},{y:.4g})"


def _number(value: float) -> str:
    return f"{value:g}" if abs(value) > 1e-9 else "0"


def _curve(curve: Curve) -> str:
    return rf"\draw[{curve.kind}] {' -- '.join(map(_at, curve.places))};"


def _arrow(arrow: Arrow) -> str:
    letter = r"$\mathbf{w}$" if arrow.kind == "w" else "$m$"
    short = " (shortened)" if "(" in arrow.name else ""
    return rf"\draw[{arrow.kind}] {_at(arrow.start)} -- node[below right] {{{letter}{short}}} {_at(arrow.end)};"


def _mark(mark: Mark) -> list[str]:
    name, _, rest = mark.name.partition(":")
    index = rf"\mathbf{{x}}_{{{name[1:]}}}" if name[1:] else r"\mathbf{x}"
    value = rest.replace("α", r"\alpha").replace(" ", r"\,")
    label = f"${index}{':' if rest else ''}{value}$"
    rings = [rf"\node[{kind}] at {_at(mark.place)} {{}};" for kind in ("ring", "outer ring")[: mark.rings]]
    return [
        *rings,
        rf"\node[{mark.kind} point] at {_at(mark.place)} {{}};",
        rf"\node[above right=1mm] at {_at(mark.place)} {{{label}}};",
    ]


def _legend(drawing: Drawing) -> str:
    """What the shapes are, in a line of words."""
    words = {
        "plus": r"\textcolor{plus}{squares}: class $+1$",
        "minus": r"\textcolor{minus}{discs}: class $-1$",
        "ring": r"ringed: $\alpha > 0$",
        "rings": r"ringed twice: $\alpha = C$",
        "boundary": "solid: $f = 0$",
        "margin plus": r"dashed: $f = \pm 1$",
        "slack": r"dotted: $\xi$",
        "length": "$m$: the margin",
        "new": "diamond: a new point",
    }
    return "; ".join(words[kind] for kind, _ in drawing.legend if kind in words)
