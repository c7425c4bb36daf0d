"""What gram is told."""

from __future__ import annotations

from ..arguments import add_data, add_encoding, add_kernel, add_output, amount, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EXAMPLES = """\
  mercer gram iris.csv --kernel "rbf(gamma=scale)"             evidence: symmetry, eigenvalues, closure rules
  mercer gram iris.csv --target species --picture gram.png     and a heat map, sorted by class
  mercer gram K.npy --kernel precomputed                       of a matrix of values
  mercer gram "1,3 2,1 0,1" --kernel "poly(degree=2)"          of points as text; small ones in fractions
"""


def add_arguments(parser: Any) -> None:
    """What gram is told."""
    add_data(parser)
    add_kernel(parser, "rbf(gamma=scale)")
    add_output(parser, "--picture", "-o", help="write a heat map (png, pdf, svg)")
    parser.add_argument(
        "--points", type=whole(1), metavar="N", default=1000, help="draw so many at most (default: 1000)"
    )
    parser.add_argument("--memory", type=amount, metavar="AMOUNT", default="2GB", help="such as 500MB")
    add_encoding(parser)
