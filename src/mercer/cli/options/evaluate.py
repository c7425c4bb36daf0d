"""What evaluate is told."""

from __future__ import annotations

from ..arguments import add_data, add_scoring

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EXAMPLES = """\
  mercer evaluate iris.mercer test.csv
  mercer evaluate iris.mercer test.csv --scoring f1_macro,matthews_corrcoef --picture mistakes.png
  mercer evaluate houses.mercer test.csv --target price --json
"""


def add_arguments(parser: Any) -> None:
    """What evaluate is told."""
    parser.add_argument("model", metavar="MODEL", help="a file that train has written")
    add_data(parser)
    group = parser.add_argument_group("scores")
    add_scoring(group)
    group.add_argument("--picture", metavar="FILE", help="draw the table of mistakes (png, pdf, svg)")
    group.add_argument("--force", action="store_true", help="replace a file of another kind too")
