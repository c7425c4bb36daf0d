"""mercer play: the page where kernel machines move."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from .arguments import add_format, add_output, whole

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
    group.add_argument("--target", metavar="COL", help="the column of labels (default: the last one)")
    add_format(group)


def run(arguments: argparse.Namespace) -> int:
    """Serve the page, write it, or record its steps."""
    from ..play.state import StateError
    from .exits import Exit, UsageError

    if arguments.export and arguments.record:
        raise UsageError("--export and --record: give one of them.")
    if arguments.data and arguments.link:
        raise UsageError("DATA and --link both say what the page opens with: give one of them.")
    try:
        state = _state(arguments)
    except StateError as error:
        from ..io import DataError

        raise DataError(str(error)) from error
    if arguments.export:
        _export(arguments, state)
    elif arguments.record:
        _record(arguments, state)
    else:
        _serve(arguments, state)
    return Exit.FINE


def _state(arguments: argparse.Namespace) -> Any:
    """What the page opens with; None for its own first example."""
    from ..play.link import from_link
    from ..play.state import of_points

    if arguments.link:
        return from_link(arguments.link)
    if arguments.data is None:
        return None
    from .explain import read_points

    X, y = read_points(arguments.data, arguments)
    return of_points(X, y)


def _export(arguments: argparse.Namespace, state: Any) -> None:
    from ..io.atomic import write_whole
    from ..play.export import document
    from ..play.state import StateError
    from ..play.worked import MOST_POINTS, worked
    from .output import note
    from .places import require_place

    require_place(arguments, arguments.export, "page", [arguments.data])
    solution = None
    if state is not None and len(state.points) <= MOST_POINTS:
        try:
            solution = worked(state)
        except StateError as error:
            note(arguments, f"note: without a worked solution: {error}")
    write_whole(arguments.export, document(state, solution))
    note(arguments, f"written to {arguments.export}.")
    if arguments.json:
        print(json.dumps({"output": arguments.export, "worked": solution is not None}))


def _record(arguments: argparse.Namespace, state: Any) -> None:
    from .exits import UsageError
    from .output import note
    from .places import require_place

    try:
        from ..play.record import record
    except ImportError as error:
        raise UsageError(f"Pictures need Matplotlib: pip install 'mercer[plot]' ({error}).") from None
    if state is None:
        raise UsageError("--record needs what to record: DATA, or --link with a link from the page.")
    if Path(arguments.record).suffix:
        require_place(arguments, arguments.record, "picture", [arguments.data])
    written = record(state, arguments.record, arguments.frames)
    note(arguments, f"{written} pictures written to {arguments.record}.")
    if arguments.json:
        print(json.dumps({"output": arguments.record, "frames": written}))


def _serve(arguments: argparse.Namespace, state: Any) -> None:
    """Until Ctrl-C, which is how it is meant to end."""
    import webbrowser

    from ..play.server import PlayServer

    with PlayServer(arguments.port, state) as server:
        try:
            print(json.dumps({"url": server.url}) if arguments.json else server.url, flush=True)
            if not arguments.no_browser:
                webbrowser.open(server.url)
            server.serve_forever(poll_interval=0.1)
        except KeyboardInterrupt:
            return
