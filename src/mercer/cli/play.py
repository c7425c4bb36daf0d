"""mercer play: the page where kernel machines move."""

from __future__ import annotations

import argparse
import json
import webbrowser
from pathlib import Path
from typing import Any

from ..archives.atomic import write_whole
from ..io import DataError
from ..play.export import document
from ..play.link import from_link
from ..play.server import PlayServer
from ..play.state import StateError, of_points
from ..play.worked import MOST_POINTS, worked
from .exits import Exit, UsageError
from .output import note
from .places import require_place
from .points import read_points


def run(arguments: argparse.Namespace) -> int:
    """Serve the page, write it, or record its steps."""
    if arguments.export and arguments.record:
        raise UsageError("--export and --record: give one of them.")
    if arguments.data and arguments.link:
        raise UsageError("DATA and --link both say what the page opens with: give one of them.")
    try:
        state = _state(arguments)
    except StateError as error:
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
    if arguments.link:
        return from_link(arguments.link)
    if arguments.data is None:
        return None

    X, y = read_points(arguments.data, arguments)
    return of_points(X, y)


def _export(arguments: argparse.Namespace, state: Any) -> None:
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
    with PlayServer(arguments.port, state) as server:
        try:
            print(json.dumps({"url": server.url}) if arguments.json else server.url, flush=True)
            if not arguments.no_browser:
                webbrowser.open(server.url)
            server.serve_forever(poll_interval=0.1)
        except KeyboardInterrupt:
            return
