"""Pictures to files, without a screen."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from .. import plot
from ..archives.atomic import write_whole
from .exits import UsageError
from .places import require_place


def kind_of(path: str) -> str:
    """The kind of picture that the name of a file asks for, if it can be drawn."""
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:
        raise UsageError("Pictures need matplotlib: pip install 'mercer[plot]'.") from None
    kind = Path(path).suffix.lstrip(".").lower() or "png"
    if kind not in FigureCanvasBase.get_supported_filetypes():
        raise UsageError(f"{path}: pictures are written as png, pdf or svg, not as {kind!r}.")
    return kind


def require_picture(arguments: argparse.Namespace, path: str, inputs: Sequence[str | None]) -> None:
    """Raise where no picture can be drawn, or none may be written; see `require_place`."""
    kind_of(path)
    require_place(arguments, path, "picture", inputs)


@contextmanager
def canvas(path: str) -> Iterator[Any]:
    """mercer.plot, to be called once within the context; what it has drawn is then saved at the path."""
    kind = kind_of(path)
    import matplotlib
    import matplotlib.pyplot as plt

    matplotlib.use("Agg")
    try:
        yield plot
        buffer = BytesIO()
        plt.gcf().savefig(buffer, format=kind, dpi=150, bbox_inches="tight")
        write_whole(path, buffer.getvalue())
    finally:
        plt.close("all")
