"""What plot is told."""

from __future__ import annotations

from ..arguments import add_data, add_encoding, add_limits, add_output
from .machine import add_machine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KINDS = ("boundary", "curve", "convergence", "alphas", "gram", "feature_map")
MAPS = ("polynomial", "polar")
EXAMPLES = """\
  mercer plot iris.csv --features "petal length" "petal width" -c 10 -o iris.png     train, draw the boundary
  mercer plot iris.mercer --on iris.csv -o iris.png                                  of a saved machine
  mercer plot iris.mercer --kind convergence -o gap.pdf                              primal, dual and gap
  mercer plot iris.csv --kind gram -o gram.png
  mercer plot xor.csv --kind feature_map --scale none -o xor.png                     a line in H, and in X
"""


def add_arguments(parser: Any) -> None:
    """What plot is told."""
    add_data(parser)
    parser.add_argument("--kind", choices=KINDS, help="default: boundary where there is data, else convergence")
    parser.add_argument("--on", metavar="TABLE", help="where DATA is a model file: the points to draw it on")
    parser.add_argument("--features", nargs=2, metavar="COL", help="the two columns to draw; a plane of all without")
    parser.add_argument("--map", choices=MAPS, default="polynomial", help="feature_map: which (default: polynomial)")
    parser.add_argument("--title", help="above the picture")
    add_output(parser, "-o", "--output", required=True, help="png, pdf or svg")
    add_machine(parser)
    add_encoding(parser)
    add_limits(parser)
