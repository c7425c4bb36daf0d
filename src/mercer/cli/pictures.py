"""Pictures to files, without a screen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from .exits import UsageError


def kind_of(path: str) -> str:
    """The kind of picture that the name of a file asks for, if it can be drawn and written there."""
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:
        raise UsageError("Pictures need matplotlib: pip install 'mercer[plot]'.") from None
    from ..io import place_for

    kind = Path(path).suffix.lstrip(".").lower() or "png"
    if kind not in FigureCanvasBase.get_supported_filetypes():
        raise UsageError(f"{path}: pictures are written as png, pdf or svg, not as {kind!r}.")
    place_for(path)
    return kind


@contextmanager
def canvas(path: str) -> Iterator[Any]:
    """mercer.plot, to be called once within the context; what it has drawn is then saved at the path."""
    kind = kind_of(path)
    import matplotlib
    import matplotlib.pyplot as plt

    from .. import plot
    from ..io.atomic import write_whole

    matplotlib.use("Agg")
    try:
        yield plot
        buffer = BytesIO()
        plt.gcf().savefig(buffer, format=kind, dpi=150, bbox_inches="tight")
        write_whole(path, buffer.getvalue())
    finally:
        plt.close("all")
