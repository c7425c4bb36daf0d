"""Pictures to files, without a screen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from .exits import UsageError


@contextmanager
def canvas(path: str) -> Iterator[Any]:
    """mercer.plot, to be called once within the context; what it has drawn is then saved at the path."""
    try:
        import matplotlib
    except ImportError:
        raise UsageError("Pictures need matplotlib: pip install 'mercer[plot]'.") from None
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from .. import plot
    from ..io.atomic import write_whole

    kind = Path(path).suffix.lstrip(".").lower() or "png"
    if kind not in plt.figure(0).canvas.get_supported_filetypes():
        plt.close("all")
        raise UsageError(f"{path}: pictures are written as png, pdf or svg, not as {kind!r}.")
    plt.close("all")
    try:
        yield plot
        buffer = BytesIO()
        plt.gcf().savefig(buffer, format=kind, dpi=150, bbox_inches="tight")
        write_whole(path, buffer.getvalue())
    finally:
        plt.close("all")
