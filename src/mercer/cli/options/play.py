"""What play is told."""

from __future__ import annotations

from ..arguments import add_format, add_output, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EXAMPLES = """\
  mercer play                                   opens the page in the browser; Ctrl-C ends it
  mercer play points.csv                        with these points: two columns of numbers and a label
  mercer play --export page.html                the page as one file: no network, no Python
  mercer play "1,3:+ 2,1:+ 0,1:-" --export three.html    with the exact worked solution of these points inside
  mercer play --link "...#k=linear&s=0&pts=..." --record steps.gif    the steps of a page, as an animation
"""
FRAMES = 60


def add_arguments(parser: Any) -> None:
    """What play is told."""
    parser.add_argument("data", metavar="DATA", nargs="?", help="a table, or points such as '1,3:+ 2,1:+ 0,1:-'")
    parser.add_argument("--link", metavar="LINK", help="the state of a page: a link that was copied from it")
    parser.add_argument("--no-browser", action="store_true", help="print the address, open nothing")
    parser.add_argument("--port", type=whole(0), metavar="N", default=0, help="default: any that is free")
    add_output(parser, "--export", help="write the page as one file and end")
    parser.add_argument("--record", metavar="FILE", help="the steps as an animated GIF, or as pictures in a folder")
    parser.add_argument(
        "--frames", type=whole(1), metavar="N", default=FRAMES, help=f"--record: steps, at most (default: {FRAMES})"
    )
    group = parser.add_argument_group("data")
    group.add_argument(
        "--target",
        metavar="COL",
        help="the column of labels (default: the one called target, label, class or y, else the last)",
    )
    add_format(group)
