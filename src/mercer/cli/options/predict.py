"""What predict is told."""

from __future__ import annotations

from ..arguments import add_data, add_output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EXAMPLES = """\
  mercer predict iris.mercer new.csv                  CSV on stdout, one line for each row
  mercer predict iris.mercer new.csv -o out.csv --decision
  cat new.csv | mercer predict iris.mercer - --json
"""


def add_arguments(parser: Any) -> None:
    """What predict is told."""
    parser.add_argument("model", metavar="MODEL", help="a file that train has written")
    add_data(parser, target=False)
    add_output(parser, "-o", "--output", help="where the CSV goes (default: stdout)")
    parser.add_argument("--decision", action="store_true", help="also the values of the decision function")
    parser.add_argument("--proba", action="store_true", help="also the probability of each class")
    parser.add_argument("--std", action="store_true", help="also the standard deviation of a new target (ridge)")
    parser.add_argument(
        "--interval", type=float, metavar="COVERAGE", help="also the ends of intervals that hold new targets (ridge)"
    )
