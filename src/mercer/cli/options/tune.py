"""What tune is told."""

from __future__ import annotations

from ..arguments import add_data, add_encoding, add_limits, add_output, add_scoring, finite_positive, whole
from .machine import add_machine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EXAMPLES = """\
  mercer tune iris.csv                                         C from 0.1 to 1000, gamma around 'scale', 5 folds
  mercer tune iris.csv --C-range 1 100 --gamma-range 0.01 1 --steps 7 --picture grid.png
  mercer tune houses.csv --model svr -o houses.mercer          and train the best on all rows
"""


def add_arguments(parser: Any) -> None:
    """What tune is told."""
    add_data(parser)
    add_output(parser, "-o", "--output", help="train the best on all rows and save it here")
    parser.add_argument("--picture", metavar="FILE", help="draw the grid (png, pdf, svg)")
    group = parser.add_argument_group("grid")
    ends: dict[str, Any] = {"type": finite_positive, "nargs": 2, "metavar": ("LOW", "HIGH")}
    group.add_argument("--C-range", dest="C_range", **ends, help="default: 0.1 1000 (ridge, alpha: 0.0001 10)")
    group.add_argument("--gamma-range", dest="gamma_range", **ends, help="default: 1/16 to 16 times 'scale'")
    group.add_argument(
        "--length-scale-range", dest="length_scale_range", **ends,
        help="of kernels that have it in place of gamma; default: 1/4 to 4 times 'scale'",
    )  # fmt: skip
    group.add_argument("--steps", type=whole(1), default=5, metavar="N", help="values of each (default: 5)")
    group.add_argument(
        "--scale-steps", type=whole(1), metavar="N", help="values of gamma or length_scale, where they are to be others"
    )
    group.add_argument(
        "--cv", "-v", type=whole(2), metavar="K", dest="cv", help="folds (default: 5; ridge: leave one out)"
    )
    add_scoring(group)
    add_machine(parser)
    add_encoding(parser)
    add_limits(parser)
