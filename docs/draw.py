"""Runs the documents and draws their pictures, each by the code that follows it: `python docs/draw.py`."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

ROOT = Path(__file__).parents[1]
DOCUMENTS = ["README.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md"))]
_PIECE = re.compile(r"!\[[^]]*\]\((?P<picture>[^)]+\.png)\)|```python\n(?P<code>.*?)```", re.DOTALL)


def run(document: str, folder: Path | None = None) -> dict:
    """Run all code of a document, one block after the other; save its pictures in the folder, if one is given.

    Returns the names that the code has left behind.
    """
    names: dict = {}
    picture = None
    for piece in _PIECE.finditer((ROOT / document).read_text()):
        if piece["picture"]:
            picture = Path(piece["picture"]).name
            continue
        exec(compile(piece["code"], document, "exec"), names)
        if picture:
            if not plt.get_fignums():
                raise AssertionError(f"{document}: the code after {picture} draws nothing.")
            if folder is not None:
                plt.gcf().savefig(folder / picture, dpi=110)
        picture = None
        plt.close("all")
    if picture:
        raise AssertionError(f"{document}: no code follows {picture}.")
    return names


if __name__ == "__main__":
    from mercer.play.export import document as page

    (ROOT / "docs" / "play.html").write_text(page(), encoding="utf-8")
    os.chdir(tempfile.mkdtemp())  # what the documents save is not kept
    for document in DOCUMENTS:
        run(document, ROOT / "docs")
