"""What inspect is told."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


EXAMPLES = """\
  mercer inspect iris.mercer
  mercer inspect iris.mercer --json | jq .certificate
"""


def add_arguments(parser: Any) -> None:
    """What inspect is told."""
    parser.add_argument("model", metavar="MODEL", help="a model file")
