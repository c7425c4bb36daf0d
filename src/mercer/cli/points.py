"""Points written out on the command line: '1,3:+ 2,1:+ 0,1:-'."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..io import DataError
from .data import read


def written(text: str, labels: bool = True) -> tuple[list[list[str]], list[str]] | None:
    """Coordinates and labels (none where points have none), or None where the text is no list of points."""
    words = text.split()
    if not words or Path(text).exists() or not (":" in text or (not labels and all(map(_is_point, words)))):
        return None
    if not any(":" in word for word in words):
        return [_coordinates(word) for word in words], []
    rows = [word.rpartition(":") for word in words]
    odd = next((word for word, row in zip(words, rows, strict=True) if not (row[0] and row[2])), None)
    if odd is not None:
        raise DataError(f"{odd!r} is not a point: write coordinates and a label, such as 1,3:+")
    return [_coordinates(row[0]) for row in rows], [row[2] for row in rows]


def new_points(texts: list[str] | None) -> list[list[str]] | None:
    """The points of --new 1,2."""
    return [_coordinates(text) for text in texts] if texts else None


def _coordinates(word: str) -> list[str]:
    return [cell.strip() for cell in word.strip("()").split(",")]


def _is_point(word: str) -> bool:
    """Numbers or fractions, with commas between them."""
    cells = _coordinates(word)
    return all(cell.lstrip("+-").replace("/", "", 1).replace(".", "", 1).isdigit() for cell in cells)


def read_points(text: str, arguments: argparse.Namespace) -> tuple[list[list[Any]], list[Any]]:
    """Points and targets: written out, or from a table."""
    given = written(text)
    if given is not None:
        return given
    if written(text, labels=False) is not None:
        raise DataError(f"{text!r:.60}: points need labels, as in '1,3:+ 2,1:-'.")
    if "," in text and not Path(text).exists():
        raise DataError(f"{text!r:.60}: there is no such file, and points are written as '1,3:+ 2,1:+ 0,1:-'.")
    arguments.data = text
    table, y, _ = read(arguments).split(arguments.target)
    if table.sparse:
        return table.matrix.toarray().tolist(), y.tolist()
    return [
        list(row) for row in zip(*(table.column(i).tolist() for i in range(len(table.names))), strict=True)
    ], y.tolist()
